//! Fetches: L1 instruction cache, its linefills, and the prefetch of the next line. TRM 2.1.1.
//!
//! The cache is looked up beside the micro-TLB (VIPT). A fetch that misses, and the first use of a
//! prefetched line, request the next line of the page. Assumed: while an older prefetch is
//! outstanding, the fetch unit is throttled and drops the new one, which PREFETCH_LINEFILL_DROP
//! counts (CPUACTLR.IFUTHDIS; the manual publishes no rule). A fetch that waits for a prefetched
//! line counts as refill, as its lookup missed.

use crate::event::{A53Event, A53Sink};
use crate::seen::{FetchedFrom, Purpose, Seen};

use super::cache::{LINE_SHIFT, LineState};
use super::cluster::Cluster;
use super::page_map::MemoryType;
use super::supply::Request;
use super::translate::Side;

/// Lines of a page.
const PAGE_LINES: u64 = 64;

/// Result of a fetch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fetched {
    /// Cycle in which the translation is present.
    pub(crate) translated: u64,
    /// Cycle in which the instructions are present.
    pub(crate) ready: u64,
}

impl Cluster {
    /// Fetches the line of an address without a tag at `now`.
    pub(crate) fn fetch_line<S: A53Sink>(
        &mut self,
        core: usize,
        addr: u64,
        now: u64,
        sink: &mut S,
    ) -> Fetched {
        let line = addr >> LINE_SHIFT;
        let translated = self.translate(core, Side::Fetch, addr, now, sink);
        let memory = self.memory_at(addr);
        if memory != MemoryType::Cacheable {
            let ready = self.fetch_uncached(core, addr, memory, translated, sink);
            return Fetched { translated, ready };
        }
        sink.raise(A53Event::L1I_CACHE, now, 1);
        let l1i = &mut self.cores[core].l1i;
        let found = l1i.find(line);
        let held = found.map(|entry| l1i.state(entry)).filter(|own| !own.has(LineState::FAULTY));
        let ready = match found {
            Some(entry) if l1i.state(entry).has(LineState::FAULTY) => {
                self.find_l1i_error(core, line, translated, sink);
                self.fill_l1i(core, line, translated, sink)
            }
            Some(entry) => {
                let ready = l1i.ready(entry).max(translated);
                if l1i.state(entry).has(LineState::PREFETCHED) {
                    l1i.set_state(entry, LineState::CLEAN);
                    if ready > translated {
                        sink.raise(A53Event::L1I_CACHE_REFILL, translated, 1);
                    }
                    self.prefetch_next(core, line, translated, sink);
                }
                ready
            }
            None => self.fill_l1i(core, line, translated, sink),
        };
        sink.see(Seen::Fetched(match held {
            Some(_) if ready == translated => FetchedFrom::L1i,
            Some(state) if state.has(LineState::PREFETCHED) => FetchedFrom::LatePrefetch,
            Some(_) => FetchedFrom::LineInFlight,
            None => FetchedFrom::Refill,
        }));
        Fetched { translated, ready }
    }

    fn fill_l1i<S: A53Sink>(&mut self, core: usize, line: u64, at: u64, sink: &mut S) -> u64 {
        sink.raise(A53Event::L1I_CACHE_REFILL, at, 1);
        let slot = self.cores[core].fetch_buffers.find(at);
        sink.see(Seen::Requested(Purpose::Fetch));
        let supply = self.supply(core, line, Request::Fetch, slot.from, sink);
        let state = self.errors.of_l1i();
        let units = &mut self.cores[core];
        units.l1i.insert(line, state, slot.from, supply.complete());
        units.l1i.find(line);
        units.fetch_buffers.hold(slot, supply.complete() + 1);
        self.prefetch_next(core, line, slot.from, sink);
        supply.first
    }

    fn prefetch_next<S: A53Sink>(&mut self, core: usize, line: u64, at: u64, sink: &mut S) {
        let next = line + 1;
        let units = &mut self.cores[core];
        let is_other_page = next.is_multiple_of(PAGE_LINES);
        if !self.rules.fetch_next_line || is_other_page || units.l1i.probe(next).is_some() {
            return;
        }
        let slot = units.fetch_prefetches.find(at);
        if slot.from > at {
            sink.see(Seen::FetchPrefetchDropped);
            sink.raise(A53Event::PREFETCH_LINEFILL_DROP, at, 1);
            return;
        }
        sink.see(Seen::Requested(Purpose::FetchPrefetch));
        let supply = self.supply(core, next, Request::Fetch, at, sink);
        let state = self.errors.of_l1i().with(LineState::PREFETCHED);
        let units = &mut self.cores[core];
        units.l1i.insert(next, state, at, supply.complete());
        units.fetch_prefetches.hold(slot, supply.complete() + 1);
    }
}
