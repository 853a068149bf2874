//! The pages of a sequence: few, near each other, with aliases and pages of every kind.

use std::collections::BTreeMap;

use sim_cache::{MemoryType, PageTarget};
use sim_core::DataSource;

use super::random::Random;

/// Ordinary pages side by side, so that accesses cross from one to the next.
const NEIGHBORS: u64 = 14;
/// Number of the first page.
const FIRST: u64 = 16;
/// Pages so far apart share no table of any granule.
const FAR: u64 = 1 << 13;

/// Virtual pages, what the tables say about them, and who supplies the lines of some frames.
#[derive(Clone, Debug)]
pub(crate) struct World {
    /// Virtual page number and its target; `None` faults.
    pub(crate) pages: Vec<(u64, Option<PageTarget>)>,
    /// Frames whose lines always come from the same place.
    pub(crate) suppliers: BTreeMap<u64, DataSource>,
    pub(crate) page_bytes: u64,
}

impl World {
    pub(crate) fn new(page_bytes: u64, random: &mut Random) -> World {
        let mut pages = Vec::new();
        let normal = |frame| Some(PageTarget { frame, ..PageTarget::default() });
        let outside = |memory| move |frame| Some(PageTarget { frame, memory, tagged: false });
        for i in 0..NEIGHBORS {
            pages.push((FIRST + i, normal(100 + i)));
        }
        // In between, so that an access may cross into each of them.
        pages[5].1 = None;
        pages[8].1 = outside(MemoryType::NonCacheable)(108);
        pages[11].1 = outside(MemoryType::Device)(111);
        for frame in [104, 106, 107] {
            for target in pages.iter_mut().filter_map(|page| page.1.as_mut()) {
                target.tagged |= target.frame == frame;
            }
        }
        for i in 1..4 {
            pages.push((FIRST + i * FAR, normal(200 + 8 * i)));
        }
        // Aliases: a second page for an ordinary frame, and for two frames that random picks.
        pages.push((FIRST + 40, normal(100)));
        pages.push((FIRST + 2 * FAR + 9, normal(100 + random.below(5))));
        pages.push((FIRST + 41, normal(101 + random.below(4))));
        pages.push((FIRST + FAR + 1, None));
        let suppliers = BTreeMap::from([(103, DataSource::Remote), (112, DataSource::Peer)]);
        World { pages, suppliers, page_bytes }
    }

    pub(crate) fn target(&self, page: u64) -> Option<PageTarget> {
        let known = self.pages.iter().find(|(number, _)| *number == page);
        known.expect("sequences stay on the pages of the world").1
    }

    /// Who supplies a line, if that is fixed.
    pub(crate) fn supplier(&self, line: u64) -> Option<DataSource> {
        self.suppliers.get(&(line / self.lines_of_page())).copied()
    }

    pub(crate) fn lines_of_page(&self) -> u64 {
        self.page_bytes / 64
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
        let page = random.pick(&self.pages).0;
        page * self.page_bytes + random.pick(&self.used_lines()) * 64
    }

    /// An address from which `bytes` bytes stay on pages of the world.
    pub(crate) fn any_start(&self, bytes: u64, near: u64, random: &mut Random) -> u64 {
        loop {
            let addr = self.any_addr(near, random);
            let last_page = (addr + bytes - 1) / self.page_bytes;
            if self.pages.iter().any(|(number, _)| *number == last_page) {
                return addr;
            }
        }
    }
}
