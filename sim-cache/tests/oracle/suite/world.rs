//! Pages of a sequence: few and near each other, with aliases and pages of every kind.

use std::collections::BTreeMap;

use sim_cache::{MemoryType, PageTarget};
use sim_core::DataSource;

use super::random::Random;
use super::tags::bare;

/// Number of consecutive ordinary pages, so that accesses cross from one to the next.
const NEIGHBORS: u64 = 14;
/// Number of the first page.
const FIRST: u64 = 16;
/// Distance in pages at which two pages share no table of any granule.
const FAR: u64 = 1 << 13;

/// Page, contiguous range of pages, or block, with its attributes in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// First virtual page, and the number of pages.
    pub(crate) page: u64,
    pub(crate) pages: u64,
    /// Level of its descriptors; 3 for pages.
    pub(crate) level: u32,
    /// First physical page; `None` faults.
    pub(crate) frame: Option<u64>,
    pub(crate) memory: MemoryType,
    pub(crate) tagged: bool,
    /// Valid for every address space.
    pub(crate) global: bool,
    pub(crate) read_only: bool,
    pub(crate) no_exec: bool,
}

impl Region {
    fn page(page: u64, frame: u64) -> Region {
        Region {
            page,
            pages: 1,
            level: 3,
            frame: Some(frame),
            memory: MemoryType::Cacheable,
            tagged: false,
            global: false,
            read_only: false,
            no_exec: false,
        }
    }
}

/// Virtual memory, and the suppliers of the lines of some frames.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) regions: Vec<Region>,
    /// Frames whose lines always come from the same supplier.
    pub(crate) suppliers: BTreeMap<u64, DataSource>,
    pub(crate) page_bytes: u64,
}

/// Returns the pages of a contiguous range, and of a block, by the size of a page.
fn range_and_block(page_bytes: u64) -> (u64, u64) {
    match page_bytes {
        4096 => (16, 512),
        16_384 => (128, 2048),
        _ => (32, 8192),
    }
}

impl World {
    pub(crate) fn new(page_bytes: u64, random: &mut Random) -> World {
        let mut regions: Vec<Region> =
            (0..NEIGHBORS).map(|i| Region::page(FIRST + i, 100 + i)).collect();
        // Special pages lie between others, so that an access may cross into each of them.
        regions[5].frame = None;
        regions[8].memory = MemoryType::NonCacheable;
        regions[11].memory = MemoryType::Device;
        for tagged in [4, 6, 7] {
            regions[tagged].tagged = true;
        }
        (regions[1].global, regions[7].global) = (true, true);
        (regions[9].read_only, regions[2].no_exec) = (true, true);
        // Aliases: a second page for an ordinary frame, and for randomly selected frames. The
        // virtual pages differ in the bits that select a set of an L1 cache.
        regions.push(Region::page(FIRST + 40, 100));
        regions.push(Region::page(FIRST + 2 * FAR + 9, 100 + random.below(4)));
        regions.push(Region::page(FIRST + 42, 100 + random.below(4)));
        regions.push(Region { global: true, ..Region::page(FIRST + 41, 101 + random.below(3)) });
        regions.push(Region { frame: None, ..Region::page(FIRST + FAR + 1, 0) });
        for i in 1..4 {
            regions.push(Region::page(FIRST + i * FAR, 200 + 8 * i));
        }
        let (range, block) = range_and_block(page_bytes);
        regions.push(Region { pages: range, ..Region::page(4 * FAR, 8 * FAR) });
        regions.push(Region { pages: block, level: 2, ..Region::page(5 * FAR, 9 * FAR) });
        let global = Region { pages: range, global: true, ..Region::page(6 * FAR, 10 * FAR) };
        regions.push(Region { no_exec: true, ..global });
        let suppliers = BTreeMap::from([(103, DataSource::Remote), (112, DataSource::Peer)]);
        World { regions, suppliers, page_bytes }
    }

    /// Returns the region of an address; sequences use mapped regions only.
    pub(crate) fn region(&self, addr: u64) -> Region {
        self.find(addr).expect("sequences use mapped pages")
    }

    fn find(&self, addr: u64) -> Option<Region> {
        let page = bare(addr) / self.page_bytes;
        self.regions.iter().find(|r| (r.page..r.page + r.pages).contains(&page)).copied()
    }

    /// Returns the target of the page of an address in its region; the frame in pages of the
    /// granule.
    pub(crate) fn target_by(&self, region: Region, addr: u64) -> Option<PageTarget> {
        let within = bare(addr) / self.page_bytes - region.page;
        let Region { memory, tagged, .. } = region;
        Some(PageTarget { frame: region.frame? + within, memory, tagged })
    }

    pub(crate) fn target(&self, addr: u64) -> Option<PageTarget> {
        self.target_by(self.region(addr), addr)
    }

    /// Returns the fixed supplier of a line, if any.
    pub(crate) fn supplier(&self, line: u64) -> Option<DataSource> {
        self.suppliers.get(&(line / self.lines_of_page())).copied()
    }

    pub(crate) fn lines_of_page(&self) -> u64 {
        self.page_bytes / 64
    }

    /// Returns the pages of a region that sequences use.
    pub(crate) fn used_pages(region: &Region) -> Vec<u64> {
        let within = [0, 1, 7, region.pages - 1].into_iter().filter(|page| *page < region.pages);
        let mut pages: Vec<u64> = within.map(|page| region.page + page).collect();
        pages.dedup();
        pages
    }

    /// Returns the lines inside a page that sequences use: its ends, and both sides of 4 KiB.
    pub(crate) fn used_lines(&self) -> Vec<u64> {
        let last = self.lines_of_page();
        let mut lines: Vec<u64> = (0..6).chain(62..66).chain(last - 4..last).collect();
        lines.retain(|line| *line < last);
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// Returns an address in a line that sequences use; often in the line of `near`.
    pub(crate) fn any_addr(&self, near: u64, random: &mut Random) -> u64 {
        if random.chance(30) {
            return near / 64 * 64 + random.below(64);
        }
        self.any_line(random) + random.below(64)
    }

    /// Returns the first byte of a line that sequences use.
    pub(crate) fn any_line(&self, random: &mut Random) -> u64 {
        let region = random.pick(&self.regions);
        let page = random.pick(&World::used_pages(&region));
        page * self.page_bytes + random.pick(&self.used_lines()) * 64
    }

    /// Returns the address of a range of `bytes` bytes in mapped regions.
    pub(crate) fn any_start(&self, bytes: u64, near: u64, random: &mut Random) -> u64 {
        loop {
            let addr = self.any_addr(near, random);
            if self.find(addr + bytes - 1).is_some() {
                return addr;
            }
        }
    }
}
