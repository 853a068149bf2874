//! Checks of allocation tags: accesses to tagged pages, one tag per 16 bytes of memory.

use sim_cache::PageTarget;

use super::model::Oracle;

/// Address bits that select memory: all but the top byte.
const PLACE: u64 = (1 << 56) - 1;

/// Returns the address without its tag.
pub(crate) fn bare(addr: u64) -> u64 {
    addr & PLACE
}

fn tag_of(addr: u64) -> u64 {
    addr >> 56 & 15
}

impl Oracle {
    /// Counts the check of one memory operation. Returns `false` if it fails.
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

    /// Changes the tag of memory.
    pub(crate) fn set_tag(&mut self, addr: u64, tag: u8) {
        if let Some(target) = self.world.target(addr) {
            let byte = target.frame * self.world.page_bytes + addr % self.world.page_bytes;
            self.tags.insert(byte / 16, tag.into());
        }
    }
}
