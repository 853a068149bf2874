//! The translation tables: size and memory type of the page of each address.
//!
//! The configuration gives a rule for all addresses; a page map of the trace gives single pages and
//! blocks. Sizes are those of the main TLB (TRM 5.2.2): a block of 1 GB is split into 512 MB. The
//! contiguous hint has no effect (assumed: the manual does not name it). Not modeled: physical
//! addresses, which are those of the program.

use sim_trace::{PageMap as RecordedMap, PageMemory};

use super::config::PagesConfig;
use super::micro_tlb::PAGE_SHIFT;

/// Level of page descriptors.
pub(crate) const LAST_LEVEL: u32 = 3;

/// Bits of a page number: addresses of 48 bits, and one for the upper half.
pub(crate) const PAGE_BITS: u32 = 37;

/// Size of the page or block that one TLB entry maps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PageSize {
    /// A page of 4 KB.
    #[default]
    K4,
    /// A page of 64 KB.
    K64,
    /// A block of 2 MB.
    M2,
    /// A block of 512 MB, or half of one of 1 GB.
    M512,
}

impl PageSize {
    /// Returns the bits of an address within the page, without those of a page of 4 KB.
    #[inline]
    pub(crate) fn bits(self) -> u32 {
        match self {
            PageSize::K4 => 0,
            PageSize::K64 => 4,
            PageSize::M2 => 9,
            PageSize::M512 => 17,
        }
    }

    /// Returns the largest size that a mapping of this many bytes fills.
    fn within(bytes: u64) -> PageSize {
        match bytes {
            0..0x1_0000 => PageSize::K4,
            0x1_0000..0x20_0000 => PageSize::K64,
            0x20_0000..0x2000_0000 => PageSize::M2,
            _ => PageSize::M512,
        }
    }
}

/// Memory type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryType {
    /// Normal, write-back cacheable.
    Cacheable,
    /// Normal, not cacheable.
    NonCacheable,
    /// Device.
    Device,
}

/// Size of the pages of one stage's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Granule {
    /// Size of a page.
    pub(crate) page: PageSize,
    /// Address bits that one level resolves: log2 of the descriptors of a table.
    pub(crate) level_bits: u32,
    /// First level of stage 1, for addresses of 48 bits.
    pub(crate) first_level: u32,
    /// First level of stage 2, for addresses of 40 bits (TRM 5.1): tables of the level above are
    /// concatenated.
    pub(crate) first_level2: u32,
}

impl Granule {
    const K4: Granule =
        Granule { page: PageSize::K4, level_bits: 9, first_level: 0, first_level2: 1 };
    const K64: Granule =
        Granule { page: PageSize::K64, level_bits: 13, first_level: 1, first_level2: 2 };

    fn of(bytes: u64) -> Granule {
        if bytes == 65_536 { Granule::K64 } else { Granule::K4 }
    }

    /// Returns the level of the descriptor that maps a page or block of this many bytes.
    fn level_of(self, bytes: u64) -> u32 {
        let bits = bytes.max(1).ilog2().saturating_sub(PAGE_SHIFT + self.page.bits());
        LAST_LEVEL - (bits / self.level_bits).min(2)
    }
}

/// Translation of a page by stage 1, or by both stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Size of its TLB entry.
    pub(crate) size: PageSize,
    /// Level of its descriptor of stage 1.
    pub(crate) level: u32,
    /// It is valid in every address space.
    pub(crate) is_global: bool,
}

/// Page or block of a recorded map, by page numbers.
#[derive(Clone, Copy, Debug)]
struct Entry {
    first: u64,
    last: u64,
    leaf: Leaf,
    memory: MemoryType,
}

/// Pages of one memory type.
#[derive(Clone, Copy, Debug)]
struct Uncached {
    first: u64,
    last: u64,
    memory: MemoryType,
}

/// The tables of both stages.
#[derive(Clone, Debug)]
pub(crate) struct PageMap {
    /// Granule of stage 1.
    pub(crate) granule: Granule,
    /// Granule of stage 2, if it is on.
    pub(crate) stage2: Option<Granule>,
    /// Translation of pages without an entry. Assumed: the upper half is global.
    rule: Leaf,
    /// Entries of a recorded map, ascending.
    entries: Box<[Entry]>,
    /// Configured pages that no cache keeps; of two that overlap, the later one counts.
    uncached: Vec<Uncached>,
    /// First and last page that is not cacheable: a quick test.
    span: (u64, u64),
}

/// Span of no pages.
const NO_PAGES: (u64, u64) = (u64::MAX, 0);

/// Returns the page number of an address.
fn page_of(addr: u64) -> u64 {
    addr >> PAGE_SHIFT & ((1 << PAGE_BITS) - 1)
}

impl PageMap {
    /// Creates a map without single entries.
    pub(crate) fn new(config: &PagesConfig) -> PageMap {
        let granule = Granule::of(config.page_bytes);
        let bytes = config.block_bytes.max(config.page_bytes);
        let stage2 = (config.stage2_page_bytes > 0).then(|| Granule::of(config.stage2_page_bytes));
        let (size, level) = (PageSize::within(bytes), granule.level_of(bytes));
        let mut map = PageMap {
            granule,
            stage2,
            rule: Leaf { size, level, is_global: false },
            entries: Box::default(),
            uncached: Vec::new(),
            span: NO_PAGES,
        };
        for (ranges, memory) in [
            (&config.non_cacheable, MemoryType::NonCacheable),
            (&config.device, MemoryType::Device),
        ] {
            map.uncached.extend(ranges.iter().map(|range| Uncached {
                first: page_of(range.first),
                last: page_of(range.end - 1),
                memory,
            }));
        }
        map.set_span();
        map
    }

    /// Enters the map of a trace. One of 16 KB granules, which the core does not have, is walked as
    /// one of 4 KB.
    pub(crate) fn record(&mut self, recorded: &RecordedMap) {
        let granule = Granule::of(recorded.granule());
        if granule != self.granule {
            self.rule = Leaf { size: granule.page, level: LAST_LEVEL, is_global: false };
            self.granule = granule;
        }
        let entry = |entry: &sim_trace::PageEntry| {
            let bytes = entry.unit_bytes(recorded.granule());
            let bytes = if bytes < 65_536 { 4096 } else { bytes };
            let leaf = Leaf {
                size: PageSize::within(bytes),
                level: granule.level_of(bytes),
                is_global: entry.global,
            };
            let memory = match entry.memory {
                PageMemory::Cacheable => MemoryType::Cacheable,
                PageMemory::NonCacheable => MemoryType::NonCacheable,
                PageMemory::Device => MemoryType::Device,
            };
            let last = entry.virt + (entry.bytes - 1);
            Entry { first: page_of(entry.virt), last: page_of(last), leaf, memory }
        };
        self.entries = recorded.entries().iter().map(entry).collect();
        self.set_span();
    }

    fn set_span(&mut self) {
        let recorded = self.entries.iter().filter(|entry| entry.memory != MemoryType::Cacheable);
        let recorded = recorded.map(|entry| (entry.first, entry.last));
        let configured = self.uncached.iter().map(|range| (range.first, range.last));
        self.span = recorded
            .chain(configured)
            .fold(NO_PAGES, |span, pages| (span.0.min(pages.0), span.1.max(pages.1)));
    }

    /// Returns the translation of a page by stage 1.
    #[inline]
    pub(crate) fn leaf(&self, page: u64) -> Leaf {
        let page = page & ((1 << PAGE_BITS) - 1);
        match self.entry(page) {
            Some(entry) => entry.leaf,
            None => Leaf { is_global: page >> (PAGE_BITS - 1) != 0, ..self.rule },
        }
    }

    /// Returns the recorded entry of a page.
    fn entry(&self, page: u64) -> Option<&Entry> {
        if self.entries.is_empty() {
            return None;
        }
        let after = self.entries.partition_point(|entry| entry.first <= page);
        self.entries[..after].last().filter(|entry| page <= entry.last)
    }

    /// Returns whether some memory is not cacheable.
    #[inline(always)]
    pub(crate) fn has_uncached(&self) -> bool {
        self.span != NO_PAGES
    }

    /// Returns the memory type of an address.
    #[inline(always)]
    pub(crate) fn memory_of(&self, addr: u64) -> MemoryType {
        let page = page_of(addr);
        let is_outside = page < self.span.0 || page > self.span.1;
        if is_outside { MemoryType::Cacheable } else { self.memory_within(page) }
    }

    #[inline(never)]
    fn memory_within(&self, page: u64) -> MemoryType {
        let is_here = |range: &&Uncached| (range.first..=range.last).contains(&page);
        if let Some(range) = self.uncached.iter().rev().find(is_here) {
            return range.memory;
        }
        self.entry(page).map_or(MemoryType::Cacheable, |entry| entry.memory)
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::AsidFrom;
    use super::*;
    use sim_trace::PageEntry;

    fn map(page_bytes: u64, block_bytes: u64) -> PageMap {
        PageMap::new(&PagesConfig {
            page_bytes,
            block_bytes,
            stage2_page_bytes: 0,
            asid_from: AsidFrom::Lower,
            non_cacheable: Vec::new(),
            device: Vec::new(),
        })
    }

    #[test]
    fn a_block_is_mapped_at_its_level() {
        for (page_bytes, block_bytes, size, level) in [
            (4096, 0, PageSize::K4, 3),
            (4096, 2 << 20, PageSize::M2, 2),
            (4096, 1 << 30, PageSize::M512, 1),
            (65_536, 0, PageSize::K64, 3),
            (65_536, 512 << 20, PageSize::M512, 2),
        ] {
            let leaf = map(page_bytes, block_bytes).leaf(5);
            assert_eq!((leaf.size, leaf.level, leaf.is_global), (size, level, false));
        }
    }

    #[test]
    fn a_recorded_entry_comes_before_the_rule() {
        let virt = 0xFFFF_8000_0020_0000;
        let block = PageEntry { virt, bytes: 2 << 20, global: true, ..PageEntry::default() };
        let device = PageEntry {
            virt: 0x9000,
            bytes: 4096,
            memory: PageMemory::Device,
            ..PageEntry::default()
        };
        let mut map = map(4096, 0);
        map.record(&RecordedMap::new(4096, vec![block, device]).expect("a map"));
        let leaf = map.leaf(virt >> PAGE_SHIFT | 0x1FF);
        assert_eq!((leaf.size, leaf.level, leaf.is_global), (PageSize::M2, 2, true));
        assert_eq!(map.leaf((virt >> PAGE_SHIFT) + 0x200).size, PageSize::K4);
        assert_eq!(map.memory_of(0x9FFF), MemoryType::Device);
        assert_eq!(map.memory_of(0xA000), MemoryType::Cacheable);
    }
}
