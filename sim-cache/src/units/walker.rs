//! The table walker: its parallel walks, and the addresses of the descriptors that a walk reads.
//!
//! PMU guide 3.2.18, 4.1.9. The tables themselves are not stored: `page_map` defines their content,
//! and this file the address of each descriptor.

use sim_core::{Cycle, LINE_SHIFT, LineAddr};

use crate::config::WalkerConfig;
use crate::units::address_space::Key;
use crate::units::mapping::{FRAME_BITS, FRAME_SHIFT, Granule, LAST_LEVEL};
use crate::units::mshr::{FreeRegister, Mshrs};

/// Table addresses lie above the 48 bits of data addresses and never alias a data line.
const TABLE_SPACE: u64 = 1 << 51;
/// Table addresses of stage 2, above those of stage 1.
const STAGE2_SPACE: u64 = TABLE_SPACE | 1 << 50;
/// First address bit of the level, which gives the tables of each level their own space.
const LEVEL_SHIFT: u32 = 46;
/// First line number bit of the ASID, above all addresses: each ASID has its own tables.
const ASID_LINE_SHIFT: u32 = 46;
/// Bit at which page numbers are folded: intermediate pages of descriptors have more bits.
const FOLD_SHIFT: u32 = 40;

/// Slots for parallel walks.
#[derive(Clone, Debug)]
pub(crate) struct Walker {
    slots: Mshrs,
    /// Walks look up partial entries in the L2 TLB and leave new ones there.
    pub(crate) keeps_partial: bool,
}

impl Walker {
    /// Creates an idle walker.
    pub(crate) fn new(config: &WalkerConfig) -> Walker {
        Walker { slots: Mshrs::new(config.walks), keeps_partial: config.walk_cache }
    }

    /// Returns the slot in which a walk requested at `at` can start. Has no side effects.
    pub(crate) fn find_slot(&self, at: Cycle) -> FreeRegister {
        self.slots.find(at)
    }

    /// Holds the slot of a walk until `end`.
    pub(crate) fn hold(&mut self, slot: FreeRegister, end: Cycle) {
        self.slots.hold(slot, end);
    }
}

fn descriptor(granule: Granule, space: u64, page: u64, level: u32) -> LineAddr {
    let index = page >> (granule.level_shift(level) - FRAME_SHIFT);
    let level_space = u64::from(LAST_LEVEL - level) << LEVEL_SHIFT;
    LineAddr((space | level_space | index << 3) >> LINE_SHIFT)
}

/// Returns the line of the stage 1 descriptor of a level. The lower half has tables for each ASID.
pub(crate) fn descriptor_line(granule: Granule, key: Key, level: u32) -> LineAddr {
    let line = descriptor(granule, TABLE_SPACE, key.page(), level);
    let is_upper = key.page() >> FRAME_BITS != 0;
    let asid = if is_upper { 0 } else { u64::from(key.asid()) };
    LineAddr(line.0 | asid << ASID_LINE_SHIFT)
}

/// Returns the line of the stage 2 descriptor of a level for an intermediate page.
pub(crate) fn stage2_descriptor_line(granule: Granule, page: u64, level: u32) -> LineAddr {
    let folded = (page ^ page >> FOLD_SHIFT) & ((1 << FOLD_SHIFT) - 1);
    descriptor(granule, STAGE2_SPACE, folded, level)
}

/// Returns the intermediate page of a stage 1 descriptor.
pub(crate) fn page_of_descriptor(line: LineAddr) -> u64 {
    line.0 >> (FRAME_SHIFT - LINE_SHIFT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granule() -> Granule {
        Granule::of(4096).expect("a granule")
    }

    #[test]
    fn neighboring_pages_share_the_line_of_their_last_descriptor() {
        let line = |page, level| descriptor_line(granule(), Key(page), level);
        assert_eq!(line(8, 3), line(15, 3));
        assert_ne!(line(8, 3), line(16, 3));
        assert_ne!(line(0, 3), line(0, 2));
        assert_ne!(page_of_descriptor(line(0, 3)), page_of_descriptor(line(0x200, 3)));
    }

    #[test]
    fn each_asid_has_its_own_tables_but_the_upper_half_is_shared() {
        let line = |key| descriptor_line(granule(), key, 3);
        let asid = 1 << crate::units::mapping::PAGE_BITS;
        assert_ne!(line(Key(8)), line(Key(8 | asid)));
        let upper = 1 << FRAME_BITS;
        assert_eq!(line(Key(upper | 8)), line(Key(upper | 8 | asid)));
        assert_ne!(line(Key(upper | 8)), line(Key(8)));
    }

    #[test]
    fn descriptors_of_the_two_stages_never_alias() {
        for level in 0..=LAST_LEVEL {
            let first = descriptor_line(granule(), Key(0), level);
            let second = stage2_descriptor_line(granule(), page_of_descriptor(first), level);
            assert!(first != second && second.0 >> (50 - LINE_SHIFT) & 1 == 1);
        }
    }
}
