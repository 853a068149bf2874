//! State without counting: how a directed test or a scenario reaches its initial state.

use sim_core::{DataSource, LineAddr, NullSink, Snoop, VirtAddr};

use crate::core_memory::CoreMemory;
use crate::memory_system::{CorePort, MemorySystem};
use crate::uncore::Uncore;
use crate::units::cache::Victim;
use crate::units::indexed::Indexed;
use crate::units::level_names::{CacheLevel, TlbLevel};
use crate::units::memory_stats::MemoryStats;
use crate::units::page_map::{NotMapped, PageTarget};
use crate::units::prefetch_stats::PrefetchStats;
use crate::units::replacement::Insertion;
use crate::units::tag_array::{LineState, RefillTime};
use crate::units::tlb::Translation;

impl MemorySystem {
    /// Puts the translation of `addr` into one TLB of a core.
    ///
    /// # Errors
    ///
    /// [`NotMapped`] when the page faults.
    pub fn warm_tlb(
        &mut self,
        core: usize,
        addr: VirtAddr,
        level: TlbLevel,
    ) -> Result<(), NotMapped> {
        let page = self.uncore.page_map.page_of(addr);
        let leaf = self.uncore.page_map.leaf(page).ok_or(NotMapped(addr))?;
        let core = &mut self.cores[core];
        let key = core.space.key(page);
        let translation = Translation::new(key, &leaf, RefillTime::default());
        match level {
            TlbLevel::L1i if !core.itlb.holds(key) => core.itlb.allocate(key, translation),
            TlbLevel::L1d if !core.dtlb.holds(key) => core.dtlb.allocate(key, translation),
            TlbLevel::L2 if !core.l2_tlb.holds(key) => {
                core.l2_tlb.allocate(key, leaf.shift, translation);
            }
            _ => {}
        }
        Ok(())
    }

    /// Puts the line of `addr` into one cache, clean or dirty. Victims are evicted as usual.
    ///
    /// # Errors
    ///
    /// [`NotMapped`] when the page faults.
    pub fn place_line(
        &mut self,
        core: usize,
        addr: VirtAddr,
        level: CacheLevel,
        dirty: bool,
    ) -> Result<(), NotMapped> {
        let line = self.line_of(addr)?;
        let number = core;
        let CorePort { core, uncore, .. } = self.port(core);
        match level {
            CacheLevel::Slc => {
                uncore.keep_at_home(line, dirty, 0);
            }
            CacheLevel::L2 => core.place_in_l2(line, dirty, uncore),
            CacheLevel::L1d => {
                core.place_in_l2(line, false, uncore);
                core.place_in_l1d(Indexed::virtually(addr, line), dirty);
            }
            CacheLevel::L1i => {
                core.place_in_l2(line, dirty, uncore);
                let indexed = Indexed::virtually(addr, line);
                if core.l1i.find(indexed).is_none() {
                    core.l1i.allocate(indexed, LineState::default(), Insertion::Demand);
                    core.mark_in_l1i(line);
                }
            }
        }
        if level != CacheLevel::Slc {
            self.restore_coherence(number, line);
        }
        Ok(())
    }

    /// Marks the line of `addr` as shared with other agents, so that a store has to request it.
    /// Places it in the L2 first if it is absent.
    ///
    /// # Errors
    ///
    /// [`NotMapped`] when the page faults.
    pub fn share_line(&mut self, core: usize, addr: VirtAddr) -> Result<(), NotMapped> {
        let line = self.line_of(addr)?;
        let CorePort { core, uncore, .. } = self.port(core);
        let number = core.number;
        core.place_in_l2(line, false, uncore);
        core.change_copies(line, |state| state.with_dirty(false));
        self.restore_coherence(number, line);
        self.uncore.note_external_snoop(number, Snoop::Shared, line);
        self.cores[number].change_copies(line, |state| state.with_shared(true));
        Ok(())
    }

    /// Maps the page of `addr`, or makes it fault with `None`. TLBs keep their entries.
    pub fn map_page(&mut self, addr: VirtAddr, target: Option<PageTarget>) {
        let page = self.uncore.page_map.page_of(addr);
        self.uncore.page_map.map(page, target);
    }

    /// Returns the current physical page of the page of `addr`.
    pub fn page_target(&self, addr: VirtAddr) -> Option<PageTarget> {
        self.uncore.page_map.lookup(self.uncore.page_map.page_of(addr))
    }

    /// Fixes the supplier of the line of `addr` for L2 misses; `None` restores the model's rule.
    ///
    /// # Errors
    ///
    /// [`NotMapped`] when the page faults.
    pub fn set_data_source(
        &mut self,
        addr: VirtAddr,
        source: Option<DataSource>,
    ) -> Result<(), NotMapped> {
        let line = self.line_of(addr)?;
        self.uncore.set_supplier(line, source);
        Ok(())
    }

    /// Empties every cache, TLB and queue. Page mappings and fixed data sources stay.
    pub fn flush_all(&mut self) {
        for core in self.cores.iter_mut() {
            let (prefetch, space) = (core.prefetch, core.space.clone());
            *core = CoreMemory::new(&self.config, self.semantics, core.number, self.seed);
            (core.prefetch, core.space) = (prefetch, space);
        }
        self.uncore.flush(&self.config, self.seed);
    }

    /// Empties the TLBs of all cores, including partial walk entries. Caches stay.
    pub fn flush_tlbs(&mut self) {
        for core in self.cores.iter_mut() {
            let empty = CoreMemory::new(&self.config, self.semantics, core.number, self.seed);
            (core.itlb, core.dtlb, core.l2_tlb) = (empty.itlb, empty.dtlb, empty.l2_tlb);
        }
    }

    /// Switches all hardware prefetchers of all cores on or off.
    pub fn set_prefetch(&mut self, on: bool) {
        for core in self.cores.iter_mut() {
            (core.prefetch.l1d, core.prefetch.l1i, core.prefetch.l2) = (on, on, on);
        }
    }

    /// Returns whether the line of `addr` is dirty in a cache, or `None` if it is absent. An L1
    /// cache is searched only in the set of this address.
    pub fn line_is_dirty(&self, core: usize, addr: VirtAddr, level: CacheLevel) -> Option<bool> {
        let line = self.line_of(addr).ok()?;
        let core = &self.cores[core];
        let indexed = Indexed::virtually(addr, line);
        let (cache, entry) = match level {
            CacheLevel::Slc => return self.uncore.slc_state(line),
            CacheLevel::L2 => (&core.l2, core.l2.probe(line)),
            CacheLevel::L1d => (&core.l1d, core.l1d.find(indexed)),
            CacheLevel::L1i => (&core.l1i, core.l1i.find(indexed)),
        };
        entry.map(|entry| cache.state(entry).is_dirty())
    }

    /// Returns the number of lines in a core's caches: L1I, L1D, L2.
    pub fn resident_lines(&self, core: usize) -> [u64; 3] {
        let core = &self.cores[core];
        [core.l1i.occupied(), core.l1d.occupied(), core.l2.occupied()]
    }

    /// Returns the outcomes of a core's prefetched lines so far.
    pub fn prefetch_stats(&self, core: usize) -> PrefetchStats {
        let CoreMemory { l1d, l1i, l2, .. } = &self.cores[core];
        PrefetchStats { l1d: l1d.prefetches(), l1i: l1i.prefetches(), l2: l2.prefetches() }
    }

    /// Returns the totals of a core's private memory so far.
    pub fn memory_stats(&self, core: usize) -> MemoryStats {
        let core = &self.cores[core];
        core.stats.with_moved(core.bus.moved())
    }

    /// Returns the number of unused prefetched lines in a core's caches: L1I, L1D, L2.
    pub fn unused_prefetches(&self, core: usize) -> [u64; 3] {
        let CoreMemory { l1d, l1i, l2, .. } = &self.cores[core];
        [l1i, l1d, l2].map(|level| level.lines().filter(|(_, s)| s.is_prefetched()).count() as u64)
    }

    /// Returns whether the L2 of a core holds every line of its L1 caches.
    pub fn is_inclusive(&self, core: usize) -> bool {
        let core = &self.cores[core];
        core.l1i.lines().chain(core.l1d.lines()).all(|(line, _)| core.l2.probe(line).is_some())
    }

    pub(crate) fn line_of(&self, addr: VirtAddr) -> Result<LineAddr, NotMapped> {
        let target = self.page_target(addr).ok_or(NotMapped(addr))?;
        Ok(self.uncore.page_map.physical(addr, target).line())
    }
}

impl CoreMemory {
    fn place_in_l2(&mut self, line: LineAddr, dirty: bool, uncore: &mut Uncore) {
        if let Some(entry) = self.l2.probe(line) {
            let state = self.l2.state(entry);
            self.l2.set_state(entry, state.with_dirty(state.is_dirty() | dirty));
            return;
        }
        let state = LineState::default().with_dirty(dirty);
        if let Some(victim) = self.l2.allocate(Indexed::physically(line), state, Insertion::Demand)
        {
            self.evict_from_l2(victim, 0, uncore, &mut NullSink);
        }
    }

    fn place_in_l1d(&mut self, line: Indexed, dirty: bool) {
        if let Some(entry) = self.l1d.find(line) {
            let state = self.l1d.state(entry);
            self.l1d.set_state(entry, state.with_dirty(state.is_dirty() | dirty));
            return;
        }
        self.recall_for_stream(line.physical, 0, &mut NullSink);
        let fetched = self.in_l1i(line.physical);
        let state = LineState::default().with_dirty(dirty).with_in_l1i(fetched);
        let victim = self.l1d.allocate(line, state, Insertion::Demand);
        if let Some(Victim { line, dirty: true, defect }) = victim {
            let poisoned = self.check_written_back(defect, &mut NullSink);
            self.write_back_to_l2(line, poisoned, &mut NullSink);
        }
    }
}
