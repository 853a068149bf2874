//! The content of caches and TLBs around some addresses, for viewers. Reading it changes nothing.

use sim_core::{Cycle, DataSource, LineAddr, VirtAddr};

use crate::core_memory::CoreMemory;
use crate::memory_system::MemorySystem;
use crate::units::cache::Cache;
use crate::units::indexed::Indexed;
use crate::units::tag_array::EntryIndex;

/// A line in a way of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldLine {
    /// Physical address of the line, in lines.
    pub line: LineAddr,
    /// The line differs from memory.
    pub dirty: bool,
    /// A prefetcher requested it, and no access has used it yet.
    pub prefetched: bool,
    /// Another core may have a copy.
    pub shared: bool,
    /// Cycle in which its data arrives, or arrived.
    pub ready: Cycle,
    /// Supplier of its data.
    pub source: DataSource,
}

/// One set of a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldSet {
    /// Number of the set.
    pub set: u32,
    /// Its ways; `None` is an empty way.
    pub ways: Vec<Option<HeldLine>>,
    /// Way that the next line replaces if no way is empty.
    pub victim: u32,
}

/// A translation in a TLB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldPage {
    /// Virtual address of the page that was looked for.
    pub page: VirtAddr,
    /// Cycle in which the entry can be used.
    pub ready: Cycle,
    /// Number of entries that were used after it; the one with most is replaced first.
    pub age: u32,
}

/// Content of one core's units around some addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Sets of the L1 D-cache, in the order of their numbers.
    pub l1d: Vec<HeldSet>,
    /// Sets of the L1 I-cache.
    pub l1i: Vec<HeldSet>,
    /// Sets of the L2.
    pub l2: Vec<HeldSet>,
    /// Lines in the system level cache, and whether they are dirty.
    pub slc: Vec<(LineAddr, bool)>,
    /// Lines that other cores hold.
    pub others: Vec<LineAddr>,
    /// Entries of the L1 D-side TLB for the pages of the addresses.
    pub l1d_tlb: Vec<HeldPage>,
    /// Entries of the L1 I-side TLB.
    pub l1i_tlb: Vec<HeldPage>,
    /// Entries of the L2 TLB.
    pub l2_tlb: Vec<HeldPage>,
}

impl MemorySystem {
    /// Returns the content of the sets and TLB entries that `addrs` of `core` use.
    ///
    /// # Panics
    ///
    /// When there is no such core, or it is not awake.
    pub fn contents(&self, core: usize, addrs: &[VirtAddr]) -> Contents {
        let memory = &self.cores[core];
        let lines: Vec<Indexed> = addrs
            .iter()
            .filter_map(|addr| Some(Indexed::virtually(*addr, self.line_of(*addr).ok()?)))
            .collect();
        let physical = |line: &Indexed| Indexed::physically(line.physical);
        let own: Vec<Indexed> = lines.iter().map(physical).collect();
        let mut contents = Contents {
            l1d: sets(&memory.l1d, &lines),
            l1i: sets(&memory.l1i, &lines),
            l2: sets(&memory.l2, &own),
            ..Contents::default()
        };
        let mut distinct: Vec<LineAddr> = own.iter().map(|line| line.physical).collect();
        distinct.sort_unstable();
        distinct.dedup();
        for line in distinct {
            contents.slc.extend(self.uncore.slc_state(line).map(|dirty| (line, dirty)));
            if self.uncore.is_held_elsewhere(core, line) {
                contents.others.push(line);
            }
        }
        self.translations(memory, addrs, &mut contents);
        contents
    }

    fn translations(&self, memory: &CoreMemory, addrs: &[VirtAddr], contents: &mut Contents) {
        let map = &self.uncore.page_map;
        let mut pages: Vec<u64> = addrs.iter().map(|addr| map.page_of(*addr)).collect();
        pages.sort_unstable();
        pages.dedup();
        for page in pages {
            let key = memory.space.key(page);
            let held = |(ready, age)| HeldPage { page: VirtAddr(page << 12), ready, age };
            contents.l1d_tlb.extend(memory.dtlb.entry(key).map(held));
            contents.l1i_tlb.extend(memory.itlb.entry(key).map(held));
            contents.l2_tlb.extend(memory.l2_tlb.entry(key).map(held));
        }
    }
}

/// Returns the sets of these lines, each once.
fn sets(cache: &Cache, lines: &[Indexed]) -> Vec<HeldSet> {
    let mut numbers: Vec<u32> = lines.iter().map(|line| cache.set_of(*line)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let (_, ways) = cache.shape();
    let victims = cache.next_victims(&numbers);
    let held = |(set, victim): (u32, u32)| {
        let line = |way: u32| {
            let (line, state) = cache.content(EntryIndex { set, way })?;
            Some(HeldLine {
                line,
                dirty: state.is_dirty(),
                prefetched: state.is_prefetched(),
                shared: state.is_shared(),
                ready: state.refill_time().ready,
                source: state.source(),
            })
        };
        HeldSet { set, ways: (0..ways).map(line).collect(), victim }
    };
    numbers.into_iter().zip(victims).map(held).collect()
}
