//! The pages of a sequence: few, near each other, with aliases and pages of every kind.

use std::collections::BTreeMap;

use sim_cache::{MemoryType, PageTarget};
use sim_core::DataSource;

use super::random::Random;
use super::tags::bare;

/// Ordinary pages side by side, so that accesses cross from one to the next.
const NEIGHBORS: u64 = 14;
/// Number of the first page.
const FIRST: u64 = 16;
/// Pages so far apart share no table of any granule.
const FAR: u64 = 1 << 13;

/// A page, a contiguous range of pages, or a block, and what the tables say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// Its first page, virtual, and the number of its pages.
    pub(crate) page: u64,
    pub(crate) pages: u64,
    /// The level of its descriptors; 3 for pages.
    pub(crate) level: u32,
    /// Its first physical page; `None` faults.
    pub(crate) frame: Option<u64>,
    pub(crate) memory: MemoryType,
    pub(crate) tagged: bool,
    /// For every address space.
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

/// Virtual memory, and who supplies the lines of some frames.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) regions: Vec<Region>,
    /// Frames whose lines always come from the same place.
    pub(crate) suppliers: BTreeMap<u64, DataSource>,
    pub(crate) page_bytes: u64,
}

/// Pages of a contiguous range, and of a block, by the size of a page.
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
        // In between, so that an access may cross into each of them.
        regions[5].frame = None;
        regions[8].memory = MemoryType::NonCacheable;
        regions[11].memory = MemoryType::Device;
        for tagged in [4, 6, 7] {
            regions[tagged].tagged = true;
        }
        (regions[1].global, regions[7].global) = (true, true);
        (regions[9].read_only, regions[2].no_exec) = (true, true);
        // Aliases: a second page for an ordinary frame, and for frames that random picks. Virtual pages differ in
        // the bits by which an L1 cache chooses a set.
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

    /// The region of an address; sequences stay inside of some.
    pub(crate) fn region(&self, addr: u64) -> Region {
        self.find(addr).expect("sequences stay on the pages of the world")
    }

    fn find(&self, addr: u64) -> Option<Region> {
        let page = bare(addr) / self.page_bytes;
        self.regions.iter().find(|r| (r.page..r.page + r.pages).contains(&page)).copied()
    }

    /// Where the page of an address goes by its region; the frame in pages of the granule.
    pub(crate) fn target_by(&self, region: Region, addr: u64) -> Option<PageTarget> {
        let within = bare(addr) / self.page_bytes - region.page;
        let Region { memory, tagged, .. } = region;
        Some(PageTarget { frame: region.frame? + within, memory, tagged })
    }

    pub(crate) fn target(&self, addr: u64) -> Option<PageTarget> {
        self.target_by(self.region(addr), addr)
    }

    /// Who supplies a line, if that is fixed.
    pub(crate) fn supplier(&self, line: u64) -> Option<DataSource> {
        self.suppliers.get(&(line / self.lines_of_page())).copied()
    }

    pub(crate) fn lines_of_page(&self) -> u64 {
        self.page_bytes / 64
    }

    /// The pages of a region that sequences use.
    pub(crate) fn used_pages(region: &Region) -> Vec<u64> {
        let within = [0, 1, 7, region.pages - 1].into_iter().filter(|page| *page < region.pages);
        let mut pages: Vec<u64> = within.map(|page| region.page + page).collect();
        pages.dedup();
        pages
    }

    /// Line numbers inside a page that sequences use: its ends, and both sides of 4 KiB.
    pub(crate) fn used_lines(&self) -> Vec<u64> {
        let last = self.lines_of_page();
        let mut lines: Vec<u64> = (0..6).chain(62..66).chain(last - 4..last).collect();
        lines.retain(|line| *line < last);
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// An address in a line that sequences use; often in the line of `near`.
    pub(crate) fn any_addr(&self, near: u64, random: &mut Random) -> u64 {
        if random.chance(30) {
            return near / 64 * 64 + random.below(64);
        }
        self.any_line(random) + random.below(64)
    }

    /// The first byte of a line that sequences use.
    pub(crate) fn any_line(&self, random: &mut Random) -> u64 {
        let region = random.pick(&self.regions);
        let page = random.pick(&World::used_pages(&region));
        page * self.page_bytes + random.pick(&self.used_lines()) * 64
    }

    /// An address from which `bytes` bytes stay in the world.
    pub(crate) fn any_start(&self, bytes: u64, near: u64, random: &mut Random) -> u64 {
        loop {
            let addr = self.any_addr(near, random);
            if self.find(addr + bytes - 1).is_some() {
                return addr;
            }
        }
    }
}
