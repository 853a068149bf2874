//! The table walker: its caches, and the addresses of descriptors. TRM 5.2.3, 5.2.4.
//!
//! The tables are synthetic: up to four levels of stage 1 and three of stage 2 at fixed addresses
//! above all data addresses, so that no data line is a table line. The walk cache has the address
//! of the last table, so that a hit leaves one level to read; a walk that ends at a block enters
//! nothing (TRM 5.2.4). The IPA cache has results of stage 2, for descriptors of stage 1 and for
//! the page itself (TRM 5.2.3). Assumed: the walk cache has the physical address of the table, and
//! the tables of stage 1 lie scattered over 1 GB of intermediate addresses.

use super::main_tlb::{PageKey, TlbArray};
use super::page_map::{Granule, LAST_LEVEL, Leaf, PAGE_BITS, PageSize};
use super::slots::Taken;

/// First address bit of the region of each level, above all data addresses and ASIDs.
const REGION_SHIFT: u32 = 59;
/// First address bit of the ASID, or the VMID: the last tables of one space have 2^40 bytes.
const SPACE_SHIFT: u32 = 42;
/// Number of the region of the last level of stage 2: those before are of stage 1.
const STAGE2_REGION: u32 = 5;
/// Bits of the number of a table of stage 1 that are mixed: its page is anywhere in 1 GB.
const MIXED: u64 = (1 << 18) - 1;

/// Walk cache, IPA cache, and the period of the last walk.
#[derive(Clone, Debug)]
pub(crate) struct Walker {
    /// Tables whose address is known.
    pub(crate) cache: TlbArray,
    /// Intermediate pages whose physical address is known.
    pub(crate) ipa_cache: TlbArray,
    /// Period of the last walk. Assumed: one walk at a time (TRM 7.3.1: one walk read at a time).
    pub(crate) taken: Taken,
    /// Cycles of a descriptor read that hits the L1 data cache.
    pub(crate) read_cycles: u64,
}

/// Walk of stage 1 for one page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    pub(crate) page: u64,
    pub(crate) leaf: Leaf,
    pub(crate) key: PageKey,
}

impl Walk {
    /// Returns the key of the last table in the walk cache; `None` if the walk ends at a block.
    pub(crate) fn table(&self, granule: Granule) -> Option<PageKey> {
        let table = if granule.page == PageSize::K4 { PageSize::M2 } else { PageSize::M512 };
        (self.leaf.level == LAST_LEVEL).then(|| self.key.table(self.page, table))
    }

    /// Returns the number of the descriptor at a level among those of its level.
    #[inline]
    fn index(&self, granule: Granule, level: u32) -> u64 {
        let page = self.page & ((1 << PAGE_BITS) - 1);
        page >> granule.page.bits() >> (granule.level_bits * (LAST_LEVEL - level))
    }

    /// Returns the line of the descriptor at a level.
    #[inline]
    pub(crate) fn descriptor_line(&self, granule: Granule, level: u32) -> u64 {
        let region = u64::from(LAST_LEVEL - level + 1) << REGION_SHIFT;
        let index = self.index(granule, level);
        (region | index << 3 | self.key.asid() << SPACE_SHIFT) >> super::cache::LINE_SHIFT
    }

    /// Returns the number of the intermediate page, of 4 KB, that has the descriptor at a level.
    pub(crate) fn descriptor_page(&self, granule: Granule, level: u32) -> u64 {
        let table = self.index(granule, level) >> 9 ^ self.key.asid() << 16;
        let number = table << 2 | u64::from(LAST_LEVEL - level);
        // An odd factor is invertible: two tables never share a page.
        let page = number & !MIXED | number.wrapping_mul(0x2_5A6D) & MIXED;
        1 << (PAGE_BITS - 1) | page
    }
}

/// Returns the line of the descriptor of stage 2 of an intermediate page of 4 KB at a level.
pub(crate) fn descriptor2_line(granule: Granule, page: u64, level: u32, vmid: u64) -> u64 {
    let above_last = LAST_LEVEL - level;
    let page = page & ((1 << PAGE_BITS) - 1);
    let index = page >> granule.page.bits() >> (granule.level_bits * above_last);
    let region = u64::from(above_last + STAGE2_REGION) << REGION_SHIFT;
    (region | index << 3 | vmid << SPACE_SHIFT) >> super::cache::LINE_SHIFT
}

#[cfg(test)]
mod tests {
    use super::super::config::{AsidFrom, PagesConfig};
    use super::super::main_tlb::Space;
    use super::super::page_map::PageMap;
    use super::*;

    #[test]
    fn eight_neighboring_pages_share_the_line_of_their_last_descriptor() {
        let map = PageMap::new(&PagesConfig {
            page_bytes: 4096,
            block_bytes: 0,
            stage2_page_bytes: 0,
            asid_from: AsidFrom::Lower,
            non_cacheable: Vec::new(),
            device: Vec::new(),
        });
        let line = |page, level| {
            let leaf = map.leaf(page);
            let walk = Walk { page, leaf, key: PageKey::of_page(page, leaf, Space::default()) };
            walk.descriptor_line(map.granule, level)
        };
        assert_eq!(line(8, 3), line(15, 3));
        assert_ne!(line(8, 3), line(16, 3));
        assert_eq!(line(8, 2), line(8 + 7 * 512, 2));
        let lines: Vec<u64> = (0..4).map(|level| line(0, level)).collect();
        assert!(lines.windows(2).all(|pair| pair[0] != pair[1]));
        let granule = map.granule;
        let second: Vec<u64> = (1..4).map(|level| descriptor2_line(granule, 0, level, 0)).collect();
        assert!(second.iter().all(|line| !lines.contains(line)));
    }
}
