//! Checks of allocation tags: accesses to tagged pages, 16 bytes of memory under one tag.

use sim_cache::PageTarget;

use super::model::Oracle;

/// Bits of an address that choose memory: the top byte does not.
const PLACE: u64 = (1 << 56) - 1;

/// The address without its tag.
pub(crate) fn bare(addr: u64) -> u64 {
    addr & PLACE
}

fn tag_of(addr: u64) -> u64 {
    addr >> 56 & 15
}

impl Oracle {
    /// Counts the check of one memory operation; false when it fails.
    pub(crate) fn check_tag(
        &mut self,
        half: &'static str,
        addr: u64,
        bytes: u64,
        target: PageTarget,
    ) -> bool {
        if !self.tag_checks || !target.tagged {
            return true;
        }
        self.count(&["MEM_ACCESS_CHECKED", half]);
        let first = target.frame * self.world.page_bytes + addr % self.world.page_bytes;
        let tag = |byte: u64| self.tags.get(&(byte / 16)).copied().unwrap_or(0);
        (first..first + bytes).all(|byte| tag(byte) == tag_of(addr))
    }

    /// Memory gets another tag.
    pub(crate) fn set_tag(&mut self, addr: u64, tag: u8) {
        if let Some(target) = self.world.target(addr) {
            let byte = target.frame * self.world.page_bytes + addr % self.world.page_bytes;
            self.tags.insert(byte / 16, tag.into());
        }
    }
}
