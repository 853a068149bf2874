//! The pages of code that the engine reported, including the data that programs load from between
//! their instructions.

use super::wire::PAGE_BYTES;
use sim_trace::MappedFile;
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

    /// Returns whether one of the `size` bytes from `addr` on lies in a page that is known.
    pub(crate) fn has_page_of(&self, addr: u64, size: u64) -> bool {
        let page = |addr: u64| addr / PAGE_BYTES;
        let last = page(addr.saturating_add(size.saturating_sub(1)));
        let pages = page(addr)..=last;
        // A damaged symbol may be larger than all of the code.
        if last - page(addr) > self.pages.len() as u64 {
            return self.pages.keys().any(|known| pages.contains(&page(*known)));
        }
        pages.into_iter().any(|page| self.pages.contains_key(&(page * PAGE_BYTES)))
    }

    /// Returns whether the pages that `file` holds are equal to those of its content `bytes`.
    pub(crate) fn is_in(&self, file: &MappedFile, bytes: &[u8]) -> bool {
        let known = |(addr, page): (&u64, &Vec<u8>)| {
            let at = addr.checked_sub(file.start).filter(|at| *at < file.bytes)?;
            let from = usize::try_from(file.offset.checked_add(at)?).ok()?;
            let content = bytes.get(from..)?;
            let length = content.len().min(page.len());
            Some(content[..length] == page[..length])
        };
        self.pages.iter().filter_map(known).all(|is_same| is_same)
    }

    /// Returns the `N` bytes at `addr`, if they lie in a page that is known.
    pub(crate) fn bytes<const N: usize>(&self, addr: u64) -> Option<[u8; N]> {
        let page = self.pages.get(&(addr & !(PAGE_BYTES - 1)))?;
        page.get((addr % PAGE_BYTES) as usize..)?.first_chunk().copied()
    }
}
