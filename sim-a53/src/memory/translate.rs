//! Translation: micro-TLB, main TLB, walk. TRM 5.2.
//!
//! Every page maps to itself. With stage 2, a walk is nested: the address of each descriptor of
//! stage 1 and the page itself are translated by stage 2. Assumed: one lookup of the main TLB at a
//! time, one walk at a time.

use crate::event::{A53Event, A53Sink};
use crate::seen::Seen;

use super::cache::LineState;
use super::cluster::Cluster;
use super::main_tlb::PageKey;
use super::micro_tlb::PAGE_SHIFT;
use super::page_map::{LAST_LEVEL, Leaf};
use super::walker::{Walk, descriptor2_line};

/// Side of the core that a micro-TLB serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Fetches.
    Fetch,
    /// Loads and stores.
    Data,
}

impl Cluster {
    /// Translates an address. Returns the cycle in which the translation is present: `now` on a hit
    /// of the micro-TLB.
    #[inline]
    pub(crate) fn translate<S: A53Sink>(
        &mut self,
        core: usize,
        side: Side,
        addr: u64,
        now: u64,
        sink: &mut S,
    ) -> u64 {
        let units = &mut self.cores[core];
        let micro_tlb = match side {
            Side::Fetch => &mut units.fetch_micro_tlb,
            Side::Data => &mut units.data_micro_tlb,
        };
        match micro_tlb.lookup(addr >> PAGE_SHIFT) {
            Some(ready) => ready.max(now),
            None => self.refill_micro_tlb(core, side, addr >> PAGE_SHIFT, now, sink),
        }
    }

    fn refill_micro_tlb<S: A53Sink>(
        &mut self,
        core: usize,
        side: Side,
        page: u64,
        now: u64,
        sink: &mut S,
    ) -> u64 {
        let walk = self.walk_of(core, page);
        let main = &mut self.cores[core].main_tlb;
        let start = main.taken.free_from(now);
        let is_present = main.holds(walk.key);
        let further = main.sizes_before(walk.key, is_present) * self.rules.size_cycles;
        let looked_up = match self.rules.ideal.translation {
            true => now,
            false => start + self.rules.refill_cycles + further,
        };
        main.taken.take(start, looked_up);
        let is_hit = if main.take_error(walk.key) {
            sink.raise(A53Event::TLB_ERR, looked_up, 1);
            sink.raise(A53Event::MEMORY_ERROR, looked_up, 1);
            false
        } else {
            is_present
        };
        sink.see(Seen::MicroTlbMissed { is_fetch: side == Side::Fetch, walks: !is_hit });
        let ready = if is_hit { looked_up } else { self.walk(core, &walk, looked_up, sink) };
        let units = &mut self.cores[core];
        let (micro_tlb, event) = match side {
            Side::Fetch => (&mut units.fetch_micro_tlb, A53Event::L1I_TLB_REFILL),
            Side::Data => (&mut units.data_micro_tlb, A53Event::L1D_TLB_REFILL),
        };
        micro_tlb.fill(page, walk.leaf.size, ready);
        sink.raise(event, ready, 1);
        ready
    }

    /// Returns what translates a page, and its key in the main TLB. Its entry has the smaller size
    /// of both stages.
    #[inline]
    pub(crate) fn walk_of(&self, core: usize, page: u64) -> Walk {
        let leaf = self.map.leaf(page);
        let size = self.map.stage2.map_or(leaf.size, |stage2| leaf.size.min(stage2.page));
        let leaf = Leaf { size, ..leaf };
        Walk { page, leaf, key: PageKey::of_page(page, leaf, self.cores[core].space) }
    }

    /// Walks the tables for a page. Returns the cycle in which the last descriptor is read.
    fn walk<S: A53Sink>(&mut self, core: usize, walk: &Walk, at: u64, sink: &mut S) -> u64 {
        let granule = self.map.granule;
        let table = walk.table(granule);
        let walker = &self.cores[core].walker;
        let is_free = self.rules.ideal.translation;
        let start = if is_free { at } else { walker.taken.free_from(at) };
        let is_known = table.is_some_and(|table| walker.cache.holds(table));
        let first_level = if is_known { LAST_LEVEL } else { granule.first_level };
        sink.see(Seen::Walked { from_walk_cache: is_known });
        let mut done = start;
        let has_stage2 = self.map.stage2.is_some();
        for level in first_level..=walk.leaf.level {
            if has_stage2 && !is_known {
                let page = walk.descriptor_page(granule, level);
                done = self.translate_stage2(core, page, done, sink);
            }
            done = self.read_descriptor(core, walk.descriptor_line(granule, level), done, sink);
        }
        if has_stage2 {
            done = self.translate_stage2(core, walk.page, done, sink);
        }
        let units = &mut self.cores[core];
        units.walker.taken.take(start, done);
        if let Some(table) = table.filter(|_| !is_known) {
            units.walker.cache.fill(table);
        }
        units.main_tlb.fill(walk.key);
        if self.errors.of_tlb() {
            self.cores[core].main_tlb.spoil(walk.key);
        }
        done
    }

    /// Translates an intermediate page of 4 KB by stage 2, if that is on. Returns the cycle in
    /// which the physical address is known. Assumed: a hit of the IPA cache takes no time of its
    /// own.
    fn translate_stage2<S: A53Sink>(
        &mut self,
        core: usize,
        page: u64,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        let Some(granule) = self.map.stage2 else { return at };
        let vmid = self.cores[core].space.vmid;
        let key = PageKey::of_intermediate(page, granule.page, vmid);
        if self.cores[core].walker.ipa_cache.holds(key) {
            return at;
        }
        let mut done = at;
        for level in granule.first_level2..=LAST_LEVEL {
            let line = descriptor2_line(granule, page, level, vmid);
            done = self.read_descriptor(core, line, done, sink);
        }
        self.cores[core].walker.ipa_cache.fill(key);
        done
    }

    /// Looks a descriptor up in the L1 data cache. A miss counts as refill (assumed, as for the
    /// Cortex-A55).
    fn read_descriptor<S: A53Sink>(
        &mut self,
        core: usize,
        line: u64,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        sink.raise(A53Event::L1D_CACHE, at, 1);
        let l1d = self.snoop.l1d(core);
        let found = l1d.probe(line);
        let is_faulty = found.is_some_and(|entry| l1d.state(entry).has(LineState::FAULTY));
        sink.see(Seen::Descriptor { hit: found.is_some() && !is_faulty });
        let arrives = match found {
            Some(entry) if !is_faulty => l1d.ready(entry).max(at),
            _ => {
                if is_faulty {
                    self.find_l1d_error(core, line, at, sink);
                }
                sink.raise(A53Event::L1D_CACHE_REFILL, at, 1);
                self.walk_linefill(core, line, at, sink)
            }
        };
        if self.rules.ideal.translation {
            at
        } else {
            arrives + self.cores[core].walker.read_cycles
        }
    }
}
