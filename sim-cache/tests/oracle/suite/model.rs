//! The slow model: one core after the other, without time. Lines fetched in the current group of
//! operations are "arriving". Every expectation is the guide's text or a numbered decision.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sim_cache::config::BusUnit;
use sim_cache::{MemoryConfig, MemoryType, PageTarget, SemanticsConfig};

use super::cache::{Cache, Line};
use super::geometry::Geometry;
use super::home::{Holders, QueuedSnoop};
use super::l2::Stream;
use super::tlb::{LruList, Space};
use super::world::World;

/// Line whose stores are merged.
pub(crate) struct OpenLine {
    pub(crate) line: u64,
    pub(crate) bytes: BTreeSet<u64>,
    pub(crate) held: bool,
}

/// Private state of one core.
pub(crate) struct Core {
    pub(crate) space: Space,
    pub(crate) itlb: LruList,
    pub(crate) dtlb: LruList,
    /// Pages, and the last-level tables of walks.
    pub(crate) l2_tlb: Vec<LruList>,
    pub(crate) l1i: Cache,
    pub(crate) l1d: Cache,
    pub(crate) l2: Cache,
    pub(crate) arriving: BTreeSet<u64>,
    pub(crate) open: VecDeque<OpenLine>,
    pub(crate) full_lines: u32,
    pub(crate) number: usize,
    /// Snoops that the core has not answered yet.
    pub(crate) queued_snoops: Vec<QueuedSnoop>,
    /// Line that the last load-exclusive marked.
    pub(crate) marked: Option<u64>,
    /// Streams of the L2's prefetcher, the most recent last.
    pub(crate) streams: Vec<Stream>,
    /// Line of the last store whose address was known.
    pub(crate) stored_line: Option<u64>,
}

impl Core {
    fn new(number: usize, config: &MemoryConfig, seed: u64) -> Core {
        let (l1i, l1d, l2) = (&config.l1i, &config.l1d, &config.l2);
        let l2_tlb_sets = config.l2_tlb.entries / config.l2_tlb.ways;
        Core {
            space: Space::default(),
            itlb: LruList::new(config.itlb.entries),
            dtlb: LruList::new(config.dtlb.entries),
            l2_tlb: (0..l2_tlb_sets).map(|_| LruList::new(config.l2_tlb.ways)).collect(),
            l1i: Cache::of_core(l1i.size_bytes, l1i.ways, l1i.replacement, seed),
            l1d: Cache::of_core(l1d.size_bytes, l1d.ways, l1d.replacement, seed ^ 1),
            l2: Cache::of_core(l2.line_bytes(), l2.line_ways(), l2.replacement, seed ^ 2),
            arriving: BTreeSet::new(),
            open: VecDeque::new(),
            stored_line: None,
            full_lines: 0,
            number,
            queued_snoops: Vec::new(),
            marked: None,
            streams: Vec::new(),
        }
    }
}

/// Machine and counts.
pub(crate) struct Oracle {
    pub(crate) counts: BTreeMap<&'static str, u64>,
    pub(crate) config: MemoryConfig,
    pub(crate) semantics: SemanticsConfig,
    pub(crate) world: World,
    /// Core that acts, and the other one if there is one.
    pub(crate) core: Core,
    pub(crate) other: Option<Core>,
    /// Holders of each line.
    pub(crate) holders: BTreeMap<u64, Holders>,
    /// Lines that an external agent holds alone.
    pub(crate) external: BTreeSet<u64>,
    /// Lines with an entry in each set of the snoop filters, and the way that is replaced next.
    pub(crate) filter: BTreeMap<u64, (Vec<Option<u64>>, usize)>,
    pub(crate) slc: Option<Cache>,
    pub(crate) tag_checks: bool,
    /// Tag of each 16 bytes of memory; 0 if absent.
    pub(crate) tags: BTreeMap<u64, u64>,
}

/// Direction of an access, for the half of the sums that counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Fetch,
    Read,
    /// Read of a location that is written next. It counts as a read and needs write permission.
    ReadToWrite,
    Write,
}

impl Oracle {
    pub(crate) fn new(geometry: &Geometry) -> Oracle {
        let config = geometry.tables.memory.clone();
        Oracle {
            counts: BTreeMap::new(),
            core: Core::new(0, &config, geometry.seed),
            other: geometry.two_cores.then(|| Core::new(1, &config, geometry.seed)),
            holders: BTreeMap::new(),
            external: BTreeSet::new(),
            filter: BTreeMap::new(),
            slc: system_level_cache(&config, geometry.seed ^ 3),
            tag_checks: geometry.tag_checks,
            tags: BTreeMap::new(),
            semantics: geometry.tables.semantics,
            world: geometry.world.clone(),
            config,
        }
    }

    /// Starts a new group of operations: everything fetched so far has arrived.
    pub(crate) fn settle(&mut self) {
        self.core.arriving.clear();
        if let Some(other) = &mut self.other {
            other.arriving.clear();
        }
        if self.config.l1d.merge_idle_cycles == 0 {
            return;
        }
        // A group is longer than any store waits for the rest of its line.
        let acting = self.core.number;
        for number in 0..=usize::from(self.other.is_some()) {
            self.switch_to(number);
            self.drain_all();
        }
        self.switch_to(acting);
    }

    pub(crate) fn count(&mut self, events: &[&'static str]) {
        for event in events {
            *self.counts.entry(event).or_default() += 1;
        }
    }

    /// Counts one bus transaction with `bytes` bytes of data (A09, key `bus-unit`).
    pub(crate) fn bus(&mut self, half: &'static str, bytes: u64) {
        let units = self.bus_units(bytes);
        for event in ["BUS_ACCESS", half] {
            *self.counts.entry(event).or_default() += units;
        }
    }

    /// Counts a snoop or its answer, which is neither read nor write (A08).
    pub(crate) fn bus_of_others(&mut self, bytes: u64) {
        *self.counts.entry("BUS_ACCESS").or_default() += self.bus_units(bytes);
    }

    fn bus_units(&self, bytes: u64) -> u64 {
        match self.semantics.bus_unit {
            BusUnit::Transaction => 1,
            BusUnit::Beats => bytes.div_ceil(self.config.bus.beat_bytes.into()),
        }
    }

    /// Returns the line of an address whose page has this target.
    pub(crate) fn line_of(&self, addr: u64, target: PageTarget) -> u64 {
        (target.frame * self.world.page_bytes + addr % self.world.page_bytes) / 64
    }
}

pub(crate) fn is_cacheable(target: PageTarget) -> bool {
    target.memory == MemoryType::Cacheable
}

/// Returns whether Device memory refuses an access that is not aligned to its element.
pub(crate) fn is_refused(target: PageTarget, addr: u64, element: u64) -> bool {
    target.memory == MemoryType::Device && !addr.is_multiple_of(element)
}

pub(crate) fn clean(number: u64) -> Line {
    Line { number, dirty: false, prefetched: false, shared: false }
}

/// Returns the set of a line: the slice by the exclusive-or of all groups of index bits, the set
/// within it by the bits above them.
pub(crate) fn home_set(line: u64, slices: u64, sets: u64) -> u64 {
    let (mut slice, mut rest) = (0, line);
    while rest > 0 && slices > 1 {
        slice ^= rest % slices;
        rest /= slices;
    }
    slice * sets + line / slices % sets
}

fn system_level_cache(config: &MemoryConfig, seed: u64) -> Option<Cache> {
    let slc = &config.slc;
    if slc.slice_bytes == 0 {
        return None;
    }
    let slices = u64::from(slc.slices);
    let sets = slc.slice_bytes / 64 / u64::from(slc.ways);
    let index = move |line: u64| home_set(line, slices, sets);
    Some(Cache::new(slc.ways, slc.replacement, seed, index))
}

/// Returns memory operations of 16 bytes each, across lines: address and length.
pub(crate) fn operations(addr: u64, bytes: u64) -> Vec<(u64, u64)> {
    (0..bytes.div_ceil(16)).map(|n| (addr + 16 * n, (bytes - 16 * n).min(16))).collect()
}

/// Returns memory operations of 16 bytes each, cut at lines: address and length, found byte by byte
/// (A11).
pub(crate) fn parts(addr: u64, bytes: u64) -> Vec<(u64, u64)> {
    let mut parts: Vec<(u64, u64)> = Vec::new();
    for byte in addr..addr + bytes {
        let starts = (byte - addr).is_multiple_of(16) || byte.is_multiple_of(64);
        match parts.last_mut() {
            Some((_, length)) if !starts => *length += 1,
            _ => parts.push((byte, 1)),
        }
    }
    parts
}
