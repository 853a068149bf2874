//! Allocation tags and their check (Memory Tagging Extension). PMU guide 4.6.12 to 4.6.14.
//!
//! Bits 59 to 56 of an address are its tag, every 16 bytes of memory have one, and an access whose tags
//! differ ends in a synchronous abort if it retires. Translation ignores the top byte, so the tag is
//! looked at here and nowhere else. In the upper half of the addresses tag 15 is not checked (as kernels
//! set `TCR_EL1.TCMA1`). Not modeled: asynchronous reporting, and the tags' own way through the caches.

use sim_core::{EventSink, Happened, MemReply, PmuEvent, TagUse, VirtAddr};

use crate::flows::fragment::Fragment;
use crate::flows::translate::Translated;
use crate::memory_system::MemorySystem;
use crate::uncore::Uncore;
use crate::units::page_map::PageTarget;

/// Position of the tag in an address.
const TAG_SHIFT: u32 = 56;
/// Set in addresses of the upper half.
const UPPER_HALF: u64 = 1 << 55;

/// Which half of `MEM_ACCESS_CHECKED` an access is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagHalf {
    /// A read.
    Read,
    /// A write.
    Write,
}

/// The tag of an address.
fn tag_of(addr: VirtAddr) -> u8 {
    (addr.0 >> TAG_SHIFT & 0xF) as u8
}

fn is_exempt(addr: VirtAddr) -> bool {
    addr.0 & UPPER_HALF != 0 && tag_of(addr) == 0xF
}

impl Uncore {
    /// Checks one memory operation in memory with this target, and tells its reply when it fails.
    #[inline]
    pub(crate) fn check_tag<S: EventSink>(
        &self,
        half: TagHalf,
        tags: TagUse,
        operation: Fragment,
        translated: Translated,
        reply: &mut MemReply,
        sink: &mut S,
    ) {
        let target = translated.target;
        if target.tagged && self.tags.checks && tags == TagUse::Checked {
            self.check_tagged(half, operation, target, reply, sink);
        }
    }

    #[cold]
    fn check_tagged<S: EventSink>(
        &self,
        half: TagHalf,
        operation: Fragment,
        target: PageTarget,
        reply: &mut MemReply,
        sink: &mut S,
    ) {
        let Fragment { addr, bytes } = operation;
        if is_exempt(addr) {
            return;
        }
        match half {
            TagHalf::Read => sink.raise(PmuEvent::MEM_ACCESS_RD_CHECKED),
            TagHalf::Write => sink.raise(PmuEvent::MEM_ACCESS_WR_CHECKED),
        }
        let first = self.page_map.physical(addr, target);
        if !self.tags.matches(first, bytes.into(), tag_of(addr)) {
            reply.happened.add(Happened::TAG_MISMATCH);
            reply.happened.add(Happened::FAULT);
        }
    }

    /// `STG` and kin: the granules get the tag of the address.
    pub(crate) fn write_tags(&mut self, addr: VirtAddr, bytes: u32) {
        if let Some(target) = self.page_map.lookup(self.page_map.page_of(addr)) {
            let first = self.page_map.physical(addr, target);
            self.tags.set(first, bytes.into(), tag_of(addr));
        }
    }
}

impl MemorySystem {
    /// Gives the memory at `addr` an allocation tag; parts of 16 bytes are whole. Nothing happens where
    /// the page faults.
    pub fn set_tag(&mut self, addr: VirtAddr, bytes: u64, tag: u8) {
        if let Some(target) = self.page_target(addr) {
            let first = self.uncore.page_map.physical(addr, target);
            self.uncore.tags.set(first, bytes, tag);
        }
    }

    /// Switches the checks of accesses to pages that are tagged (`SCTLR_EL1.TCF`, `PSTATE.TCO`).
    pub fn set_tag_checks(&mut self, on: bool) {
        self.uncore.tags.checks = on;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_tag_of_the_upper_half_is_exempt() {
        assert!(is_exempt(VirtAddr(0xFFFF_8000_0000_1000)));
        assert!(!is_exempt(VirtAddr(0x0F00_0000_0000_1000)));
        assert!(!is_exempt(VirtAddr(0xF3FF_8000_0000_1000)));
        assert_eq!(tag_of(VirtAddr(0x0500_0000_0000_1000)), 5);
    }
}
