//! Code image of the recorded program, page by page. Wrong paths fetch from it.

use std::collections::BTreeMap;

use crate::layout::u32_at;

/// Code pages by virtual address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeImage {
    page_bytes: u32,
    pages: BTreeMap<u64, Box<[u8]>>,
}

impl CodeImage {
    /// Creates an empty image with pages of `page_bytes` bytes.
    pub(crate) fn new(page_bytes: u32) -> CodeImage {
        CodeImage { page_bytes, pages: BTreeMap::new() }
    }

    /// Adds or replaces the page at `va`.
    pub(crate) fn insert(&mut self, va: u64, bytes: &[u8]) {
        self.pages.insert(va, bytes.into());
    }

    /// Returns the size of a page in bytes.
    pub fn page_bytes(&self) -> u32 {
        self.page_bytes
    }

    /// Returns the number of pages.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Returns true if the image has no pages.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Returns the page that begins at `va`.
    pub fn page(&self, va: u64) -> Option<&[u8]> {
        self.pages.get(&va).map(AsRef::as_ref)
    }

    /// Returns all pages as (address, bytes), in order of address.
    pub fn pages(&self) -> impl ExactSizeIterator<Item = (u64, &[u8])> {
        self.pages.iter().map(|(&va, bytes)| (va, bytes.as_ref()))
    }

    /// Returns the instruction word at `pc`, if its page is known and `pc` is a multiple of 4.
    pub fn word_at(&self, pc: u64) -> Option<u32> {
        let within = pc & u64::from(self.page_bytes - 1);
        if !pc.is_multiple_of(4) {
            return None;
        }
        self.page(pc - within).map(|page| u32_at(page, within as usize))
    }

    /// Returns true if the image holds exactly `words` at `pc`.
    pub(crate) fn holds(&self, pc: u64, words: &[u32]) -> bool {
        words.iter().zip((pc..).step_by(4)).all(|(&word, pc)| self.word_at(pc) == Some(word))
    }
}
