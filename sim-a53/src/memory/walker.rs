//! The table walker: its walk cache, and the addresses of descriptors. TRM 5.2.3, 5.2.4.
//!
//! Pages have 4 KB and map to themselves. The tables are synthetic: four levels at fixed addresses
//! above all data addresses, so that no data line is a table line. The walk cache
//! has the address of the last table, so that a hit leaves one level to read.

use super::main_tlb::{PageKey, TlbArray};
use super::slots::Taken;

/// First address bit of the region of each level, above all data addresses and ASIDs.
const REGION_SHIFT: u32 = 59;
/// First address bit of the ASID: the last tables of one address space have 2^40 bytes.
const ASID_SHIFT: u32 = 42;

/// Level of page descriptors.
pub(crate) const LAST_LEVEL: u32 = 3;

/// Walk cache, and the period of the last walk.
#[derive(Clone, Debug)]
pub(crate) struct Walker {
    /// Tables whose address is known.
    pub(crate) cache: TlbArray,
    /// Period of the last walk. Assumed: one walk at a time (TRM 7.3.1: one walk read at a time).
    pub(crate) taken: Taken,
    /// Cycles of a descriptor read that hits the L1 data cache.
    pub(crate) read_cycles: u64,
}

impl Walker {
    /// Returns the first level that a walk has to read.
    pub(crate) fn first_level(&self, key: PageKey) -> u32 {
        if self.cache.holds(key.table()) { LAST_LEVEL } else { 0 }
    }
}

/// Returns the line of the descriptor of a page at a level.
pub(crate) fn descriptor_line(key: PageKey, level: u32) -> u64 {
    let above_last = LAST_LEVEL - level;
    let index = key.page() >> (9 * above_last);
    let region = u64::from(above_last + 1) << REGION_SHIFT;
    let table = region | index << 3 | key.asid() << ASID_SHIFT;
    table >> super::cache::LINE_SHIFT
}

#[cfg(test)]
mod tests {
    use super::{PageKey, descriptor_line};

    #[test]
    fn eight_neighboring_pages_share_the_line_of_their_last_descriptor() {
        let line = |page, level| descriptor_line(PageKey::of_page(page, 0), level);
        assert_eq!(line(8, 3), line(15, 3));
        assert_ne!(line(8, 3), line(16, 3));
        assert_eq!(line(8, 2), line(8 + 7 * 512, 2));
        let lines: Vec<u64> = (0..4).map(|level| line(0, level)).collect();
        assert!(lines.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
