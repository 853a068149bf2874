//! Tag checks (Memory Tagging Extension). PMU guide 4.6.12 to 4.6.14.
//!
//! Bits 59 to 56 of an address are its tag, and each 16 bytes of memory have one. An access whose
//! tags differ ends in a synchronous abort if it retires. Translation ignores the top byte, so only
//! this file reads the tag. In the upper half of the addresses tag 15 is not checked (kernels set
//! `TCR_EL1.TCMA1`). Not modeled: asynchronous reporting, and the path of the tags through the
//! caches.

use sim_core::{AccessOutcome, EventSink, PmuEvent, TagUse, VirtAddr};

use crate::flows::fragment::Fragment;
use crate::flows::translate::Translated;
use crate::memory_system::MemorySystem;
use crate::uncore::Uncore;
use crate::units::page_map::PageTarget;

/// Position of the tag in an address.
const TAG_SHIFT: u32 = 56;
/// Set in addresses of the upper half.
const UPPER_HALF: u64 = 1 << 55;

/// Half of `MEM_ACCESS_CHECKED` that counts an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagHalf {
    /// A read.
    Read,
    /// A write.
    Write,
}

/// Returns the tag of an address.
fn tag_of(addr: VirtAddr) -> u8 {
    (addr.0 >> TAG_SHIFT & 0xF) as u8
}

fn is_exempt(addr: VirtAddr) -> bool {
    addr.0 & UPPER_HALF != 0 && tag_of(addr) == 0xF
}

impl Uncore {
    /// Checks the tags of one memory operation at a translated address. Returns the failure, if
    /// any.
    #[inline]
    pub(crate) fn check_tag<S: EventSink>(
        &self,
        half: TagHalf,
        tags: TagUse,
        operation: Fragment,
        translated: Translated,
        sink: &mut S,
    ) -> AccessOutcome {
        let target = translated.target;
        if target.tagged && self.tags.checks && tags == TagUse::Checked {
            return self.check_tagged(half, operation, target, sink);
        }
        AccessOutcome::default()
    }

    #[cold]
    fn check_tagged<S: EventSink>(
        &self,
        half: TagHalf,
        operation: Fragment,
        target: PageTarget,
        sink: &mut S,
    ) -> AccessOutcome {
        let Fragment { addr, bytes } = operation;
        if is_exempt(addr) {
            return AccessOutcome::default();
        }
        match half {
            TagHalf::Read => sink.raise(PmuEvent::MEM_ACCESS_RD_CHECKED),
            TagHalf::Write => sink.raise(PmuEvent::MEM_ACCESS_WR_CHECKED),
        }
        let first = self.page_map.physical(addr, target);
        if self.tags.matches(first, bytes.into(), tag_of(addr)) {
            return AccessOutcome::default();
        }
        AccessOutcome::TAG_MISMATCH.with(AccessOutcome::FAULT)
    }

    /// Sets the tag of the granules to the tag of the address, as `STG` does.
    pub(crate) fn write_tags(&mut self, addr: VirtAddr, bytes: u32) {
        self.log_needs_all();
        if let Some(target) = self.page_map.lookup(self.page_map.page_of(addr)) {
            let first = self.page_map.physical(addr, target);
            self.tags.set(first, bytes.into(), tag_of(addr));
        }
    }
}

impl MemorySystem {
    /// Sets the allocation tag of the memory at `addr`, in whole granules of 16 bytes. Has no
    /// effect where the page faults.
    pub fn set_tag(&mut self, addr: VirtAddr, bytes: u64, tag: u8) {
        if let Some(target) = self.page_target(addr) {
            let first = self.uncore.page_map.physical(addr, target);
            self.uncore.tags.set(first, bytes, tag);
        }
    }

    /// Switches tag checks of accesses to tagged pages on or off (`SCTLR_EL1.TCF`, `PSTATE.TCO`).
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
