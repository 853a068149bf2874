//! Content of the translation tables: physical page and memory type of each virtual page.
//!
//! Unmapped pages get a synthetic, deterministic physical page. Scenarios, and traces with a page
//! map, map pages, blocks and contiguous ranges explicitly (PMU guide 3.2.18). Pages are counted in
//! units of 4 KiB for every granule. Not modeled: separate tables for each table base or VMID (all
//! address spaces see the same mappings), more than 48 address bits.

use rustc_hash::{FxHashMap, FxHashSet};
use sim_core::{LINE_SHIFT, LineAddr, PhysAddr, VirtAddr};
use thiserror::Error;

use crate::config::{PageMapping, PagesConfig};
use crate::units::mapping::{
    ADDRESS_BITS, BadMapping, FRAME_BITS, FRAME_SHIFT, Granule, LAST_LEVEL, Leaf, Mapping,
    MemoryType, PAGE_BITS, Permissions,
};

/// Target of a virtual page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageTarget {
    /// Physical address in units of 4 KiB, whatever the size of the page.
    pub frame: u64,
    /// Memory type.
    pub memory: MemoryType,
    /// Normal Tagged memory: accesses are checked against allocation tags when checking is on.
    pub tagged: bool,
}

/// Error: an address in a page that is mapped to fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("address 0x{:x} is not mapped; map its page first", .0.0)]
pub struct NotMapped(pub VirtAddr);

/// Aligned piece of the address space: log2 of its bytes, and its number among pieces of this size.
type Extent = (u32, u64);

fn extent(shift: u32, page: u64) -> Extent {
    (shift, page >> (shift - FRAME_SHIFT))
}

/// Tables of one stage: a rule, and explicit entries.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    granule: Granule,
    /// log2 of the pages or blocks that the rule maps, and their level.
    unit: (u32, u32),
    mapping: PageMapping,
    seed: u64,
    /// Memory that the rule maps is tagged, as in stage 2, which has no tag attributes.
    tagged: bool,
    /// Explicit mappings; `None` is a page without a valid descriptor.
    explicit: FxHashMap<Extent, Option<Mapping>>,
    /// log2 of the sizes of all pieces that were ever mapped explicitly, ascending.
    sizes: Vec<u32>,
    /// Larger pieces with a separately mapped part, which no single descriptor maps any more.
    split: FxHashSet<Extent>,
}

impl Tables {
    fn new(granule: Granule, unit_level: u32, mapping: PageMapping, seed: u64) -> Tables {
        Tables {
            granule,
            unit: (granule.level_shift(unit_level), unit_level),
            mapping,
            seed,
            tagged: false,
            explicit: FxHashMap::default(),
            sizes: Vec::new(),
            split: FxHashSet::default(),
        }
    }

    /// Returns the granule of the tables.
    pub(crate) fn granule(&self) -> Granule {
        self.granule
    }

    /// Returns the translation of a page; `None` is a translation or address size fault.
    pub(crate) fn leaf(&self, page: u64) -> Option<Leaf> {
        for shift in &self.sizes {
            if let Some(entry) = self.explicit.get(&extent(*shift, page)) {
                return self.explicit_leaf(entry.as_ref()?, page);
            }
        }
        let (shift, level) = self.unsplit(self.unit, page);
        Some(Leaf {
            shift,
            level,
            frame: self.rule(page),
            memory: MemoryType::Cacheable,
            tagged: self.tagged,
            global: false,
            permissions: Permissions::default(),
        })
    }

    fn explicit_leaf(&self, mapping: &Mapping, page: u64) -> Option<Leaf> {
        let place = self.granule.place(mapping).expect("a mapping was checked when it was entered");
        let whole = Leaf::of(mapping, place.0, place.1, page)?;
        let (shift, level) = self.unsplit(place, page);
        Some(Leaf { shift, level, ..whole })
    }

    /// Returns the sizes that a mapping may have, ascending.
    fn extents(&self) -> impl Iterator<Item = u32> {
        let granule = self.granule;
        let levels = granule.leaf_levels();
        levels.flat_map(move |level| [granule.level_shift(level), granule.contiguous_shift(level)])
    }

    /// Returns the piece around a page that one descriptor or contiguous range still maps, and its
    /// level.
    fn unsplit(&self, place: (u32, u32), page: u64) -> (u32, u32) {
        if self.split.is_empty() || !self.split.contains(&extent(place.0, page)) {
            return place;
        }
        let levels: Vec<u32> = self.granule.leaf_levels().filter(|l| *l >= place.1).collect();
        let whole = levels.into_iter().rev().find(|level| {
            let shift = self.granule.level_shift(*level);
            shift < place.0 && !self.split.contains(&extent(shift, page))
        });
        let level = whole.unwrap_or(LAST_LEVEL);
        (self.granule.level_shift(level), level)
    }

    /// Maps the piece that holds `page`, replacing all mappings inside it; `None` makes its page
    /// fault.
    fn map(&mut self, page: u64, mapping: Option<Mapping>) -> Result<(), BadMapping> {
        let shift = match &mapping {
            Some(mapping) => self.granule.place(mapping)?.0,
            None => self.granule.shift(),
        };
        let place = extent(shift, page);
        let is_inside = |(s, number): &Extent| *s <= shift && number >> (shift - s) == place.1;
        // A large map is entered from blocks down to pages, so no mapping lies inside a new one.
        if self.sizes.first().is_some_and(|smallest| *smallest < shift) {
            self.explicit.retain(|known, _| !is_inside(known));
            self.split.retain(|known| !is_inside(known));
        }
        if let Err(at) = self.sizes.binary_search(&shift) {
            self.sizes.insert(at, shift);
        }
        self.explicit.insert(place, mapping);
        let larger: Vec<u32> = self.extents().filter(|s| *s > shift).collect();
        self.split.extend(larger.into_iter().map(|s| extent(s, page)));
        Ok(())
    }

    /// Returns the physical page of a page without an explicit mapping.
    #[inline]
    fn rule(&self, page: u64) -> u64 {
        let page = page & ((1 << FRAME_BITS) - 1);
        match self.mapping {
            PageMapping::Identity => page,
            PageMapping::Mixed => {
                let bits = self.unit.0 - FRAME_SHIFT;
                self.mix(page >> bits) << bits | page & ((1 << bits) - 1)
            }
        }
    }

    /// Returns a bijective mix of a page number: odd factors and shifted exclusive-ors are
    /// invertible.
    #[inline]
    fn mix(&self, page: u64) -> u64 {
        let mask = (1 << (ADDRESS_BITS - self.unit.0)) - 1;
        let mut mixed = page ^ self.seed & mask;
        mixed = mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) & mask;
        mixed ^= mixed >> 17;
        mixed = mixed.wrapping_mul(0xD6E8_FEB8_6659_FD93) & mask;
        mixed ^ mixed >> 15
    }
}

/// Both stages of translation, from virtual page to physical page.
#[derive(Clone, Debug)]
pub(crate) struct PageMap {
    stage1: Tables,
    stage2: Option<Tables>,
}

impl PageMap {
    /// Creates a map without explicit entries and without stage 2. The configuration was validated.
    pub(crate) fn new(config: &PagesConfig, seed: u64) -> PageMap {
        let granule = Granule::of(config.page_bytes).expect("the configuration was checked");
        let level = granule.level_of(config.block_bytes).unwrap_or(LAST_LEVEL);
        PageMap { stage1: Tables::new(granule, level, config.mapping, seed), stage2: None }
    }

    /// Returns log2 of the page size of stage 1.
    #[inline]
    pub(crate) fn page_shift(&self) -> u32 {
        self.stage1.granule.shift()
    }

    /// Returns the tables of stage 1.
    pub(crate) fn stage1(&self) -> &Tables {
        &self.stage1
    }

    /// Returns the tables of stage 2, if it is on.
    pub(crate) fn stage2(&self) -> Option<&Tables> {
        self.stage2.as_ref()
    }

    /// Returns the number of the 4 KiB page of an address. Higher bits only select the half of the
    /// address space.
    #[inline(always)]
    pub(crate) fn page_of(&self, addr: VirtAddr) -> u64 {
        addr.0 >> FRAME_SHIFT & ((1 << PAGE_BITS) - 1)
    }

    /// Returns the physical address of `addr` in a page with this target.
    #[inline]
    pub(crate) fn physical(&self, addr: VirtAddr, target: PageTarget) -> PhysAddr {
        let offset = addr.0 & ((1 << FRAME_SHIFT) - 1);
        PhysAddr(target.frame << FRAME_SHIFT | offset)
    }

    /// Returns the line of `addr` in a page with this physical page number.
    #[inline(always)]
    pub(crate) fn line_in(&self, addr: VirtAddr, frame: u64) -> LineAddr {
        let offset = addr.0 & ((1 << FRAME_SHIFT) - 1);
        LineAddr(frame << (FRAME_SHIFT - LINE_SHIFT) | offset >> LINE_SHIFT)
    }

    /// Returns the target of a page; `None` is a fault.
    #[inline]
    pub(crate) fn lookup(&self, page: u64) -> Option<PageTarget> {
        if self.stage1.explicit.is_empty() && self.stage2.is_none() {
            return Some(PageTarget { frame: self.stage1.rule(page), ..PageTarget::default() });
        }
        let Leaf { frame, memory, tagged, .. } = self.leaf(page)?;
        Some(PageTarget { frame, memory, tagged })
    }

    /// Returns the translation of a page by both stages; `None` is a fault of either.
    pub(crate) fn leaf(&self, page: u64) -> Option<Leaf> {
        self.through_stage2(self.stage1.leaf(page)?)
    }

    /// Returns the result of stage 2 for a translation of stage 1; `None` is a fault of stage 2.
    pub(crate) fn through_stage2(&self, stage1: Leaf) -> Option<Leaf> {
        let Some(stage2) = &self.stage2 else { return Some(stage1) };
        Some(stage1.then(stage2.leaf(stage1.frame)?))
    }

    /// Maps one page of the granule in stage 1, or makes it fault with `None`.
    pub(crate) fn map(&mut self, page: u64, target: Option<PageTarget>) {
        let bytes = self.stage1.granule.bytes();
        let mapping = target.map(|target| Mapping {
            memory: target.memory,
            tagged: target.tagged,
            ..Mapping::normal(PhysAddr(target.frame << FRAME_SHIFT & !(bytes - 1)), bytes)
        });
        self.stage1.map(page, mapping).expect("a page of the granule can be mapped");
    }

    /// Maps a page, block or contiguous range in stage 1.
    ///
    /// # Errors
    ///
    /// [`BadMapping`] when the tables cannot express it.
    pub(crate) fn map_block(&mut self, page: u64, mapping: Mapping) -> Result<(), BadMapping> {
        self.stage1.map(page, Some(mapping))
    }

    /// Switches stage 2 on. It maps every intermediate address to itself, including tagged memory.
    ///
    /// # Errors
    ///
    /// [`BadMapping::Granule`] when there is no such granule.
    pub(crate) fn enable_stage2(&mut self, granule_bytes: u64) -> Result<(), BadMapping> {
        let granule = Granule::of(granule_bytes).ok_or(BadMapping::Granule(granule_bytes))?;
        let tables = Tables::new(granule, LAST_LEVEL, PageMapping::Identity, 0);
        self.stage2 = Some(Tables { tagged: true, ..tables });
        Ok(())
    }

    /// Maps intermediate pages in stage 2, or makes one fault with `None`. Has no effect without
    /// stage 2.
    ///
    /// # Errors
    ///
    /// [`BadMapping`] when the tables cannot express it.
    pub(crate) fn map_stage2(
        &mut self,
        ipa: PhysAddr,
        mapping: Option<Mapping>,
    ) -> Result<(), BadMapping> {
        let page = ipa.0 >> FRAME_SHIFT;
        self.stage2.as_mut().map_or(Ok(()), |stage2| stage2.map(page, mapping))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(mapping: PageMapping, page_bytes: u64, block_bytes: u64) -> PageMap {
        let asid_from = crate::config::TableBaseRegister::Lower;
        PageMap::new(&PagesConfig { page_bytes, mapping, block_bytes, asid_from }, 42)
    }

    #[test]
    fn mixed_pages_never_share_a_frame() {
        let map = map(PageMapping::Mixed, 4096, 0);
        let pages = (0..20_000).chain((1 << 36) - 20_000..1 << 36);
        let mut frames: Vec<u64> =
            pages.map(|page| map.lookup(page).expect("no page is unmapped").frame).collect();
        frames.sort_unstable();
        frames.dedup();
        assert_eq!(frames.len(), 40_000);
        assert!(frames.iter().all(|frame| *frame < 1 << 36));
    }

    #[test]
    fn a_larger_page_or_block_of_the_rule_is_contiguous_in_physical_memory() {
        for (page_bytes, block_bytes) in [(16_384, 0), (65_536, 0), (4096, 2 << 20)] {
            let map = map(PageMapping::Mixed, page_bytes, block_bytes);
            let units = page_bytes.max(block_bytes) >> FRAME_SHIFT;
            let frame = |page| map.lookup(page).expect("mapped").frame;
            let first = frame(5 * units);
            assert_eq!(first % units, 0);
            assert_eq!(frame(6 * units - 1), first + units - 1);
            assert_ne!(frame(6 * units), first + units, "the next one is not adjacent");
            let leaf = map.leaf(5 * units).expect("mapped");
            assert_eq!(1 << (leaf.shift - FRAME_SHIFT), units);
        }
    }

    #[test]
    fn an_explicit_entry_wins_and_may_be_a_fault() {
        let mut map = map(PageMapping::Identity, 4096, 0);
        map.map(8, None);
        map.map(9, Some(PageTarget { frame: 3, memory: MemoryType::Device, tagged: false }));
        assert_eq!(map.lookup(8), None);
        let target = map.lookup(9).expect("page 9 is mapped");
        assert_eq!(map.physical(VirtAddr(0x9123), target), PhysAddr(0x3123));
        assert_eq!(map.lookup(7).map(|t| t.frame), Some(7));
    }

    #[test]
    fn a_page_mapped_inside_a_block_splits_it_and_a_new_block_replaces_both() {
        let mut map = map(PageMapping::Identity, 4096, 0);
        let block = Mapping::normal(PhysAddr(0x4000_0000), 2 << 20);
        map.map_block(0x200, block).expect("a block");
        let shift = |map: &PageMap, page| map.leaf(page).map(|leaf| (leaf.shift, leaf.level));
        assert_eq!(shift(&map, 0x3FF), Some((21, 2)));
        map.map(0x205, None);
        assert_eq!(shift(&map, 0x205), None);
        assert_eq!(shift(&map, 0x3FF), Some((12, 3)), "the block became a table of pages");
        assert_eq!(map.lookup(0x3FF).map(|t| t.frame), Some(0x401FF), "that map the same memory");
        assert_eq!(shift(&map, 0x400), Some((12, 3)));
        map.map_block(0x200, block).expect("a block");
        assert_eq!(shift(&map, 0x205), Some((21, 2)));
    }

    #[test]
    fn an_output_address_above_48_bits_is_a_fault() {
        let mut map = map(PageMapping::Identity, 4096, 0);
        map.map_block(8, Mapping::normal(PhysAddr(1 << 48), 4096)).expect("a page");
        assert_eq!(map.leaf(8), None);
    }

    #[test]
    fn two_stages_give_the_smaller_size_and_the_stricter_attributes() {
        let mut map = map(PageMapping::Identity, 4096, 0);
        map.enable_stage2(65_536).expect("a granule");
        map.map_block(0, Mapping::normal(PhysAddr(0x20_0000), 2 << 20)).expect("a block");
        let device = Mapping {
            memory: MemoryType::Device,
            read_only: true,
            ..Mapping::normal(PhysAddr(0x7000_0000), 65_536)
        };
        map.map_stage2(PhysAddr(0x21_0000), Some(device)).expect("a page of 64 KiB");
        let leaf = map.leaf(0x13).expect("mapped in both");
        assert_eq!((leaf.shift, leaf.level, leaf.frame), (16, 2, 0x70003));
        assert_eq!((leaf.memory, leaf.permissions.read_only), (MemoryType::Device, true));
        map.map_stage2(PhysAddr(0x22_0000), None).expect("a page");
        assert_eq!(map.leaf(0x20), None);
    }

    #[test]
    fn the_rest_of_a_split_block_is_mapped_by_the_largest_unsplit_blocks() {
        let mut map = map(PageMapping::Identity, 4096, 0);
        let shift = |map: &PageMap, page| map.leaf(page).map(|leaf| (leaf.shift, leaf.level));
        let gib = Mapping::normal(PhysAddr(0x4000_0000), 1 << 30);
        map.map_block(0x4_0000, gib).expect("a block of the first level");
        map.map(0x4_0205, None);
        assert_eq!(shift(&map, 0x4_0204), Some((12, 3)), "in the table of pages");
        assert_eq!(shift(&map, 0x4_0400), Some((21, 2)), "beside it");
        assert_eq!(shift(&map, 0x4_0000), Some((21, 2)));
    }

    #[test]
    fn the_rest_of_a_split_contiguous_range_is_mapped_by_its_blocks() {
        let mut map = map(PageMapping::Identity, 4096, 0);
        let shift = |map: &PageMap, page| map.leaf(page).map(|leaf| (leaf.shift, leaf.level));
        let block = Mapping::normal(PhysAddr(0x4000_0000), 2 << 20);
        map.map_block(0, Mapping { contiguous: true, ..block }).expect("16 blocks");
        assert_eq!(shift(&map, 0x400), Some((25, 2)));
        map.map(0x205, None);
        assert_eq!(shift(&map, 0x204), Some((12, 3)));
        assert_eq!(shift(&map, 0x400), Some((21, 2)));
    }

    #[test]
    fn a_new_block_leaves_pages_outside_it_as_they_are() {
        let mut map = map(PageMapping::Identity, 4096, 0);
        map.map(8, None);
        map.map_block(0x200, Mapping::normal(PhysAddr(0x4000_0000), 2 << 20)).expect("a block");
        assert_eq!(map.leaf(8), None);
    }

    #[test]
    fn default_stage_2_keeps_tagged_memory_tagged() {
        let mut map = map(PageMapping::Identity, 4096, 0);
        map.map(8, Some(PageTarget { frame: 8, memory: MemoryType::Cacheable, tagged: true }));
        map.enable_stage2(4096).expect("a granule");
        assert_eq!(
            [7, 8].map(|page| map.lookup(page).map(|t| t.tagged)),
            [Some(false), Some(true)]
        );
    }
}
