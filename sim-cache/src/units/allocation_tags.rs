//! The allocation tags of memory (Memory Tagging Extension), one for every 16 bytes.

use rustc_hash::FxHashMap;
use sim_core::PhysAddr;

/// log2 of the bytes that share an allocation tag.
const GRANULE_SHIFT: u32 = 4;

/// Allocation tags of all memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllocationTags {
    /// Tags by number of the 16-byte granule; an absent granule has tag 0.
    granules: FxHashMap<u64, u8>,
    pub(crate) checks: bool,
}

/// Returns the numbers of the granules of `bytes` bytes.
fn granules(first: PhysAddr, bytes: u64) -> std::ops::RangeInclusive<u64> {
    first.0 >> GRANULE_SHIFT..=(first.0 + bytes.max(1) - 1) >> GRANULE_SHIFT
}

impl AllocationTags {
    pub(crate) fn matches(&self, first: PhysAddr, bytes: u64, tag: u8) -> bool {
        granules(first, bytes)
            .all(|granule| self.granules.get(&granule).copied().unwrap_or(0) == tag)
    }

    pub(crate) fn set(&mut self, first: PhysAddr, bytes: u64, tag: u8) {
        for granule in granules(first, bytes) {
            self.granules.insert(granule, tag & 0xF);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_over_two_granules_needs_both_tags() {
        let mut tags = AllocationTags::default();
        tags.set(PhysAddr(0x1000), 16, 5);
        assert!(tags.matches(PhysAddr(0x1008), 8, 5));
        assert!(!tags.matches(PhysAddr(0x1009), 8, 5));
        tags.set(PhysAddr(0x1010), 1, 5);
        assert!(tags.matches(PhysAddr(0x1009), 8, 5));
        assert!(tags.matches(PhysAddr(0x1020), 16, 0), "memory begins with tag 0");
    }
}
