//! Translation: micro-TLB, main TLB, walk. TRM 5.2.
//!
//! Every page has 4 KB and maps to itself. Assumed: one lookup of the main TLB at a time, one walk
//! at a time.

use crate::event::{A53Event, A53Sink};
use crate::seen::Seen;

use super::cache::LineState;
use super::cluster::Cluster;
use super::main_tlb::PageKey;
use super::micro_tlb::PAGE_SHIFT;
use super::walker::{LAST_LEVEL, descriptor_line};

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
        let key = PageKey::of_page(page, self.cores[core].asid);
        let main = &mut self.cores[core].main_tlb;
        let start = main.taken.free_from(now);
        let looked_up = start + self.rules.refill_cycles;
        main.taken.take(start, looked_up);
        let is_hit = if main.take_error(key) {
            sink.raise(A53Event::TLB_ERR, looked_up, 1);
            sink.raise(A53Event::MEMORY_ERROR, looked_up, 1);
            false
        } else {
            main.holds(key)
        };
        sink.see(Seen::MicroTlbMissed { is_fetch: side == Side::Fetch, walks: !is_hit });
        let ready = if is_hit { looked_up } else { self.walk(core, key, looked_up, sink) };
        let units = &mut self.cores[core];
        let (micro_tlb, event) = match side {
            Side::Fetch => (&mut units.fetch_micro_tlb, A53Event::L1I_TLB_REFILL),
            Side::Data => (&mut units.data_micro_tlb, A53Event::L1D_TLB_REFILL),
        };
        micro_tlb.fill(page, ready);
        sink.raise(event, ready, 1);
        ready
    }

    /// Walks the tables for a page. Returns the cycle in which the last descriptor is read.
    fn walk<S: A53Sink>(&mut self, core: usize, key: PageKey, at: u64, sink: &mut S) -> u64 {
        let walker = &self.cores[core].walker;
        let start = walker.taken.free_from(at);
        let first_level = walker.first_level(key);
        sink.see(Seen::Walked { from_walk_cache: first_level == LAST_LEVEL });
        let mut done = start;
        for level in first_level..=LAST_LEVEL {
            done = self.read_descriptor(core, descriptor_line(key, level), done, sink);
        }
        let units = &mut self.cores[core];
        units.walker.taken.take(start, done);
        if first_level < LAST_LEVEL {
            units.walker.cache.fill(key.table());
        }
        units.main_tlb.fill(key);
        if self.errors.of_tlb() {
            self.cores[core].main_tlb.spoil(key);
        }
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
        arrives + self.cores[core].walker.read_cycles
    }
}
