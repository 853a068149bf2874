//! Linefills of the L1 data cache: of loads, stores, software prefetches, and the prefetcher.
//!
//! Loads and stores share a few buffers, prefetches have their own (assumed; the bus takes eight
//! data linefills of a core, TRM 7.3.1, which three and five add up to).

use crate::event::{A53Event, A53Sink};
use crate::seen::{Purpose, Seen};

use super::cache::LineState;
use super::cluster::Cluster;
use super::supply::{Request, Supply};

/// Linefill that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linefill {
    /// Cycle in which a buffer took it.
    pub(crate) start: u64,
    /// Cycle of the critical word.
    pub(crate) first: u64,
    /// Cycle in which the line is complete.
    pub(crate) complete: u64,
}

impl Cluster {
    /// Begins a linefill at or after `at`.
    pub(crate) fn linefill<S: A53Sink>(
        &mut self,
        core: usize,
        line: u64,
        request: Request,
        at: u64,
        sink: &mut S,
    ) -> Linefill {
        if self.is_ideal_beyond_l1() {
            let supply = self.supply(core, line, request, at, sink);
            self.enter_l1d(core, line, supply, LineState::CLEAN, at, sink);
            return Linefill { start: at, first: supply.first, complete: supply.complete() };
        }
        let at = self.set_free_from(core, line, at);
        let slot = self.cores[core].linefills.find(at);
        let supply = self.supply(core, line, request, slot.from, sink);
        let end = self.enter_l1d(core, line, supply, LineState::CLEAN, slot.from, sink);
        self.cores[core].linefills.hold(slot, end);
        Linefill { start: slot.from, first: supply.first, complete: supply.complete() }
    }

    /// Reads a descriptor that missed the L1 data cache. Returns the cycle of its word.
    pub(crate) fn walk_linefill<S: A53Sink>(
        &mut self,
        core: usize,
        line: u64,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        let at = self.set_free_from(core, line, at);
        sink.see(Seen::Requested(Purpose::Walk));
        let supply = self.supply(core, line, Request::Walk, at, sink);
        self.enter_l1d(core, line, supply, LineState::CLEAN, at, sink);
        supply.first
    }

    /// Passes an access to the prefetcher, and begins the prefetches that it asks for.
    pub(crate) fn train<S: A53Sink>(
        &mut self,
        core: usize,
        line: u64,
        is_miss: bool,
        request: Request,
        at: u64,
        sink: &mut S,
    ) {
        if request == Request::Write && !self.rules.store_streams {
            return;
        }
        let Some(stream) = self.cores[core].prefetcher.access(line, is_miss) else { return };
        loop {
            let slot = self.cores[core].prefetcher.buffers.find(at);
            if slot.from > at {
                return;
            }
            let Some(line) = self.cores[core].prefetcher.next_line(stream) else { return };
            if self.snoop.l1d(core).probe(line).is_some() {
                continue;
            }
            sink.see(Seen::Requested(Purpose::DataPrefetch));
            sink.raise(A53Event::PREFETCH_LINEFILL, at, 1);
            let supply = self.supply(core, line, request, at, sink);
            let end = self.enter_l1d(core, line, supply, LineState::PREFETCHED, at, sink);
            self.cores[core].prefetcher.buffers.hold(slot, end);
        }
    }

    /// Returns the first cycle at or after `at` in which no victim is leaving the set of a line.
    fn set_free_from(&mut self, core: usize, line: u64, at: u64) -> u64 {
        let set = self.snoop.l1d(core).set_of(line);
        self.cores[core].sets[set].free_from(at)
    }

    /// Enters a line into the L1 data cache and moves the victim out. Returns the cycle in which
    /// the buffer of the linefill is free.
    fn enter_l1d<S: A53Sink>(
        &mut self,
        core: usize,
        line: u64,
        supply: Supply,
        properties: LineState,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        let complete = supply.complete();
        let state = supply.state.with(properties).with(self.errors.of_l1d());
        let l1d = self.snoop.l1d(core);
        let set = l1d.set_of(line);
        let Some(victim) = l1d.insert(line, state, at, complete) else {
            return complete + 1;
        };
        let gone = self.evict(victim, complete, sink);
        let first = supply.first;
        self.cores[core].sets[set].take(first, first + self.rules.set_cycles);
        gone.max(first + self.rules.victim_cycles)
    }
}
