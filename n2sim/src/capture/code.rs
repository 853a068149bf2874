//! The pages of code that the engine reported, including the data that programs load from between
//! their instructions.

use super::wire::PAGE_BYTES;
use std::collections::HashMap;

/// Pages by address.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pages: HashMap<u64, Vec<u8>>,
}

impl Code {
    /// Stores the current content of the page at `addr`.
    pub(crate) fn page(&mut self, addr: u64, bytes: Vec<u8>) {
        self.pages.insert(addr, bytes);
    }

    /// Returns the `N` bytes at `addr`, if they lie in a page that is known.
    pub(crate) fn bytes<const N: usize>(&self, addr: u64) -> Option<[u8; N]> {
        let page = self.pages.get(&(addr & !(PAGE_BYTES - 1)))?;
        page.get((addr % PAGE_BYTES) as usize..)?.first_chunk().copied()
    }
}
