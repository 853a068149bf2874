//! The slow model: lists and maps, no code of sim-cache.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sim_cache::MemoryConfig;
use sim_cache::config::ReplacementKind;
use sim_core::MemKind;

/// Accesses to it fault.
pub(crate) const UNMAPPED_PAGE: u64 = 20;
/// No cache keeps it.
pub(crate) const NON_CACHEABLE_PAGE: u64 = 21;

/// A least-recently-used list: the front leaves first.
pub(crate) struct LruList {
    entries: VecDeque<u64>,
    size: usize,
}

impl LruList {
    fn new(size: usize) -> LruList {
        LruList { entries: VecDeque::new(), size }
    }

    fn find(&mut self, page: u64) -> bool {
        let Some(i) = self.entries.iter().position(|p| *p == page) else { return false };
        self.entries.remove(i);
        self.entries.push_back(page);
        true
    }

    fn add(&mut self, page: u64) {
        if self.entries.len() == self.size {
            self.entries.pop_front();
        }
        self.entries.push_back(page);
    }
}

/// One set: the line in each way, and the ways in the order of their last use.
#[derive(Clone, Default)]
pub(crate) struct Set {
    ways: Vec<Option<(u64, bool)>>,
    uses: Vec<usize>,
    distance: Vec<u8>,
}

/// A cache as a map from set number to set.
pub(crate) struct Cache {
    sets: BTreeMap<u64, Set>,
    n_sets: u64,
    n_ways: usize,
    policy: ReplacementKind,
}

impl Cache {
    fn new(bytes: u64, ways: u32, policy: ReplacementKind) -> Cache {
        let n_sets = bytes / 64 / u64::from(ways);
        Cache { sets: BTreeMap::new(), n_sets, n_ways: ways as usize, policy }
    }

    fn set(&mut self, line: u64) -> &mut Set {
        let n_ways = self.n_ways;
        self.sets.entry(line % self.n_sets).or_insert_with(|| Set {
            ways: vec![None; n_ways],
            uses: Vec::new(),
            distance: vec![0; n_ways],
        })
    }

    fn way(&mut self, line: u64) -> Option<usize> {
        self.set(line).ways.iter().position(|w| w.is_some_and(|(l, _)| l == line))
    }

    fn holds(&mut self, line: u64) -> bool {
        self.way(line).is_some()
    }

    /// A demand lookup.
    fn find(&mut self, line: u64) -> bool {
        let Some(way) = self.way(line) else { return false };
        let set = self.set(line);
        set.uses.push(way);
        set.distance[way] = 0;
        true
    }

    fn make_dirty(&mut self, line: u64) {
        let way = self.way(line).expect("the line is there");
        self.set(line).ways[way] = Some((line, true));
    }

    /// Adds an absent line; what it pushes out.
    fn add(&mut self, line: u64, dirty: bool) -> Option<(u64, bool)> {
        let policy = self.policy;
        let set = self.set(line);
        let way = set.ways.iter().position(Option::is_none).unwrap_or_else(|| set.victim(policy));
        let old = set.ways[way].replace((line, dirty));
        set.uses.push(way);
        set.distance[way] = 2;
        old
    }

    fn remove(&mut self, line: u64) -> Option<bool> {
        let way = self.way(line)?;
        self.set(line).ways[way].take().map(|(_, dirty)| dirty)
    }

    pub(crate) fn lines(&self) -> u64 {
        self.sets.values().map(|s| s.ways.iter().flatten().count() as u64).sum()
    }
}

impl Set {
    fn victim(&mut self, policy: ReplacementKind) -> usize {
        let n = self.ways.len();
        match policy {
            ReplacementKind::Lru => {
                let last_use = |way: &usize| self.uses.iter().rposition(|w| w == way);
                (0..n).min_by_key(last_use).expect("there are ways")
            }
            ReplacementKind::TreePlru => self.colder_half(0, n),
            ReplacementKind::Rrip => loop {
                if let Some(way) = self.distance.iter().position(|d| *d == 3) {
                    break way;
                }
                self.distance.iter_mut().for_each(|d| *d += 1);
            },
            ReplacementKind::Random => unreachable!("random victims cannot be foretold"),
        }
    }

    /// At every split the half that was not used last.
    fn colder_half(&self, low: usize, high: usize) -> usize {
        if high - low == 1 {
            return low;
        }
        let middle = usize::midpoint(low, high);
        match self.uses.iter().rev().find(|way| (low..high).contains(*way)) {
            Some(last) if *last < middle => self.colder_half(middle, high),
            _ => self.colder_half(low, middle),
        }
    }
}

/// A line whose stores are merged.
pub(crate) struct OpenLine {
    line: u64,
    bytes: BTreeSet<u64>,
    held: bool,
}

/// One core and what lies below, without time; lines fetched in the current group are "arriving".
pub(crate) struct Oracle {
    pub(crate) counts: BTreeMap<&'static str, u64>,
    itlb: LruList,
    dtlb: LruList,
    l2_tlb: BTreeMap<u64, LruList>,
    l2_tlb_sets: u64,
    l2_tlb_ways: usize,
    pub(crate) l1i: Cache,
    pub(crate) l1d: Cache,
    pub(crate) l2: Cache,
    slc: Cache,
    pub(crate) arriving: BTreeSet<u64>,
    open: VecDeque<OpenLine>,
    full_lines: u32,
    stream_after: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Fetch,
    Read,
    Write,
}

impl Oracle {
    pub(crate) fn new(config: &MemoryConfig) -> Oracle {
        let (l1i, l1d, l2, slc) = (&config.l1i, &config.l1d, &config.l2, &config.slc);
        Oracle {
            counts: BTreeMap::new(),
            itlb: LruList::new(config.itlb.entries as usize),
            dtlb: LruList::new(config.dtlb.entries as usize),
            l2_tlb: BTreeMap::new(),
            l2_tlb_sets: u64::from(config.l2_tlb.entries / config.l2_tlb.ways),
            l2_tlb_ways: config.l2_tlb.ways as usize,
            l1i: Cache::new(l1i.size_bytes, l1i.ways, l1i.replacement),
            l1d: Cache::new(l1d.size_bytes, l1d.ways, l1d.replacement),
            l2: Cache::new(l2.size_bytes, l2.ways, l2.replacement),
            slc: Cache::new(slc.slice_bytes, slc.ways, slc.replacement),
            arriving: BTreeSet::new(),
            open: VecDeque::new(),
            full_lines: 0,
            stream_after: l1d.write_stream_lines,
        }
    }

    fn count(&mut self, events: &[&'static str]) {
        for event in events {
            *self.counts.entry(event).or_default() += 1;
        }
    }

    /// Flows 5.1 to 5.3 after the L1 TLB event; false for a fault.
    fn translate(&mut self, way: Way, page: u64) -> bool {
        let l1 = if way == Way::Fetch { &mut self.itlb } else { &mut self.dtlb };
        if l1.find(page) {
            return true;
        }
        let write = way == Way::Write;
        self.count(&["L2D_TLB", if write { "L2D_TLB_WR" } else { "L2D_TLB_RD" }]);
        let ways = self.l2_tlb_ways;
        let set = page % self.l2_tlb_sets;
        let found = self.l2_tlb.entry(set).or_insert_with(|| LruList::new(ways)).find(page);
        if !found {
            self.count(&[if way == Way::Fetch { "ITLB_WALK" } else { "DTLB_WALK" }]);
            if page == UNMAPPED_PAGE {
                return false;
            }
            self.l2_tlb.entry(set).or_insert_with(|| LruList::new(ways)).add(page);
            let half = if write { "L2D_TLB_REFILL_WR" } else { "L2D_TLB_REFILL_RD" };
            self.count(&["L2D_TLB_REFILL", half]);
        }
        match way {
            Way::Fetch => {
                self.itlb.add(page);
                self.count(&["L1I_TLB_REFILL"]);
            }
            Way::Read => {
                self.dtlb.add(page);
                self.count(&["L1D_TLB_REFILL", "L1D_TLB_REFILL_RD"]);
            }
            Way::Write => {
                self.dtlb.add(page);
                self.count(&["L1D_TLB_REFILL", "L1D_TLB_REFILL_WR"]);
            }
        }
        true
    }

    /// Flows 5.7 and 5.8; true when the data comes from outside.
    fn read_l2(&mut self, line: u64, is_store: bool, is_code: bool) -> bool {
        self.count(&["L2D_CACHE", if is_store { "L2D_CACHE_WR" } else { "L2D_CACHE_RD" }]);
        if self.l2.find(line) {
            return self.arriving.contains(&line);
        }
        self.refill_l2(line, is_store, is_code);
        true
    }

    fn refill_l2(&mut self, line: u64, is_store: bool, is_code: bool) {
        self.count(&["BUS_ACCESS", if is_store { "BUS_ACCESS_WR" } else { "BUS_ACCESS_RD" }]);
        self.count(&[
            "L2D_CACHE_REFILL",
            "L2D_CACHE_REFILL_RD",
            "L2D_CACHE_LMISS_RD",
            "LL_CACHE_RD",
        ]);
        let mut dirty = false;
        if self.slc.holds(line) {
            if is_code {
                self.slc.find(line);
            } else {
                dirty = self.slc.remove(line) == Some(true);
            }
        } else {
            self.count(&["LL_CACHE_MISS_RD"]);
        }
        self.arriving.insert(line);
        self.add_to_l2(line, dirty);
    }

    fn add_to_l2(&mut self, line: u64, dirty: bool) {
        let Some((old, old_dirty)) = self.l2.add(line, dirty) else { return };
        self.l1i.remove(old);
        let l1_dirty = self.l1d.remove(old) == Some(true);
        if l1_dirty {
            self.count(&["L1D_CACHE_WB", "L1D_CACHE_WB_VICTIM", "L2D_CACHE", "L2D_CACHE_WR"]);
        }
        let leaves_dirty = old_dirty || l1_dirty;
        if leaves_dirty {
            self.count(&["L2D_CACHE_WB", "L2D_CACHE_WB_VICTIM", "BUS_ACCESS", "BUS_ACCESS_WR"]);
        }
        if !self.slc.find(old) {
            self.slc.add(old, leaves_dirty);
        } else if leaves_dirty {
            self.slc.make_dirty(old);
        }
    }

    /// `None` for a preload.
    fn refill_l1d(&mut self, line: u64, demand: Option<Way>) {
        self.drain_if_held(line);
        let is_store = demand == Some(Way::Write);
        let outside = self.read_l2(line, is_store, false);
        if let Some(way) = demand {
            self.count(&["L1D_CACHE_REFILL"]);
            self.count(&[if outside {
                "L1D_CACHE_REFILL_OUTER"
            } else {
                "L1D_CACHE_REFILL_INNER"
            }]);
            match way {
                Way::Write => self.count(&["L1D_CACHE_REFILL_WR"]),
                _ => self.count(&["L1D_CACHE_REFILL_RD", "L1D_CACHE_LMISS_RD"]),
            }
        }
        if let Some((old, true)) = self.l1d.add(line, is_store) {
            self.count(&["L1D_CACHE_WB", "L1D_CACHE_WB_VICTIM", "L2D_CACHE", "L2D_CACHE_WR"]);
            self.l2.make_dirty(old);
        }
    }

    fn load_part(&mut self, addr: u64) -> bool {
        self.count(&["MEM_ACCESS", "MEM_ACCESS_RD", "L1D_TLB", "L1D_TLB_RD"]);
        if !self.translate(Way::Read, addr / 4096) {
            return false;
        }
        if addr / 4096 == NON_CACHEABLE_PAGE {
            self.count(&["BUS_ACCESS", "BUS_ACCESS_RD"]);
            return true;
        }
        self.count(&["L1D_CACHE", "L1D_CACHE_RD"]);
        if !self.l1d.find(addr / 64) {
            self.refill_l1d(addr / 64, Some(Way::Read));
        }
        true
    }

    pub(crate) fn load(&mut self, addr: u64, bytes: u64) {
        if addr / 64 != (addr + bytes - 1) / 64 || (bytes >= 16 && !addr.is_multiple_of(4)) {
            self.count(&["LD_ALIGN_LAT", "LDST_ALIGN_LAT"]);
        }
        for (part, _) in parts(addr, bytes) {
            if !self.load_part(part) {
                return;
            }
        }
    }

    pub(crate) fn store(&mut self, addr: u64, bytes: u64) {
        if addr / 4096 != (addr + bytes - 1) / 4096 {
            self.count(&["ST_ALIGN_LAT", "LDST_ALIGN_LAT"]);
        }
        for (part, _) in parts(addr, bytes) {
            self.count(&["MEM_ACCESS", "MEM_ACCESS_WR", "L1D_TLB", "L1D_TLB_WR"]);
            if !self.translate(Way::Write, part / 4096) {
                return;
            }
        }
        for (part, bytes) in parts(addr, bytes) {
            self.store_part(part, bytes);
        }
    }

    fn store_part(&mut self, addr: u64, bytes: u64) {
        if addr / 4096 == NON_CACHEABLE_PAGE {
            self.count(&["BUS_ACCESS", "BUS_ACCESS_WR"]);
            return;
        }
        self.count(&["L1D_CACHE", "L1D_CACHE_WR"]);
        let line = addr / 64;
        let hit = self.l1d.find(line);
        if hit {
            self.l1d.make_dirty(line);
        }
        let known = self.open.iter().find(|open| open.line == line).map(|open| open.held);
        let streaming = self.stream_after > 0 && self.full_lines >= self.stream_after;
        let hold = !hit && known.unwrap_or(streaming);
        self.merge(line, addr % 64..addr % 64 + bytes, hold);
        if !hit && !hold {
            self.refill_l1d(line, Some(Way::Write));
        }
    }

    /// Notes the bytes of a store; full lines, and the oldest of five, are closed.
    fn merge(&mut self, line: u64, bytes: std::ops::Range<u64>, hold: bool) {
        if self.stream_after == 0 {
            return;
        }
        if !self.open.iter().any(|open| open.line == line) {
            if self.open.len() == 4 {
                self.close(0, true);
            }
            self.open.push_back(OpenLine { line, bytes: BTreeSet::new(), held: hold });
        }
        let at = self.open.iter().position(|open| open.line == line).expect("just opened");
        self.open[at].bytes.extend(bytes);
        if self.open[at].bytes.len() == 64 {
            self.close(at, true);
        }
    }

    fn close(&mut self, at: usize, write: bool) {
        let Some(open) = self.open.remove(at) else { return };
        let full = open.bytes.len() == 64;
        self.full_lines = if full { self.full_lines + 1 } else { 0 };
        if open.held && write && full {
            self.write_full_line(open.line);
        } else if open.held && write {
            self.count(&["L2D_CACHE", "L2D_CACHE_WR"]);
            if !self.l2.find(open.line) {
                self.refill_l2(open.line, true, false);
            }
            self.l2.make_dirty(open.line);
        }
    }

    fn held(&self, line: u64) -> Option<usize> {
        self.open.iter().position(|open| open.line == line && open.held)
    }

    fn drain_if_held(&mut self, line: u64) {
        if let Some(at) = self.held(line) {
            self.close(at, true);
        }
    }

    fn write_full_line(&mut self, line: u64) {
        self.count(&["L2D_CACHE", "L2D_CACHE_WR"]);
        if self.l2.find(line) {
            self.l2.make_dirty(line);
            return;
        }
        self.count(&["L2D_CACHE_REFILL", "BUS_ACCESS", "BUS_ACCESS_WR"]);
        self.slc.remove(line);
        self.arriving.remove(&line);
        self.add_to_l2(line, true);
    }

    pub(crate) fn zero_line(&mut self, addr: u64) {
        self.count(&["MEM_ACCESS", "MEM_ACCESS_WR", "L1D_TLB", "L1D_TLB_WR"]);
        if !self.translate(Way::Write, addr / 4096) {
            return;
        }
        if addr / 4096 == NON_CACHEABLE_PAGE {
            self.count(&["BUS_ACCESS", "BUS_ACCESS_WR"]);
            return;
        }
        self.count(&["L1D_CACHE", "L1D_CACHE_WR"]);
        if self.l1d.find(addr / 64) {
            self.l1d.make_dirty(addr / 64);
            return;
        }
        if let Some(at) = self.held(addr / 64) {
            self.close(at, false);
        }
        self.write_full_line(addr / 64);
    }

    pub(crate) fn atomic(&mut self, kind: MemKind, addr: u64) {
        let page = addr / 4096;
        if kind != MemKind::AtomicStore {
            self.count(&["MEM_ACCESS", "MEM_ACCESS_RD", "L1D_TLB", "L1D_TLB_RD"]);
            if !self.translate(Way::Read, page) {
                return;
            }
        }
        if kind != MemKind::AtomicSwap {
            self.count(&["MEM_ACCESS", "MEM_ACCESS_WR", "L1D_TLB", "L1D_TLB_WR"]);
            if !self.translate(Way::Write, page) {
                return;
            }
        }
        if page == NON_CACHEABLE_PAGE {
            self.count(&["BUS_ACCESS", "BUS_ACCESS_WR"]);
            return;
        }
        self.count(&["L1D_CACHE", "L1D_CACHE", "L1D_CACHE_RD", "L1D_CACHE_WR"]);
        if !self.l1d.find(addr / 64) {
            self.refill_l1d(addr / 64, Some(Way::Read));
        }
        self.l1d.make_dirty(addr / 64);
    }

    pub(crate) fn preload(&mut self, way: Way, addr: u64) {
        let cacheable = self.translate(way, addr / 4096) && addr / 4096 != NON_CACHEABLE_PAGE;
        if cacheable && !self.l1d.find(addr / 64) {
            self.refill_l1d(addr / 64, None);
        }
    }

    pub(crate) fn fetch(&mut self, pc: u64) {
        self.count(&["L1I_TLB"]);
        if !self.translate(Way::Fetch, pc / 4096) {
            return;
        }
        if pc / 4096 == NON_CACHEABLE_PAGE {
            self.count(&["BUS_ACCESS", "BUS_ACCESS_RD"]);
            return;
        }
        self.count(&["L1I_CACHE"]);
        if !self.l1i.find(pc / 64) {
            self.drain_if_held(pc / 64);
            self.read_l2(pc / 64, false, true);
            self.count(&["L1I_CACHE_REFILL", "L1I_CACHE_LMISS"]);
            self.l1i.add(pc / 64, false);
        }
    }
}

/// Memory operations of 16 bytes each, cut at lines: address and length, found byte by byte.
fn parts(addr: u64, bytes: u64) -> Vec<(u64, u64)> {
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
