//! Lines from outside an L1 cache: from the L2 cache, another core, or external memory.
//!
//! The snoop control unit looks up the L2 tags and the duplicate L1 data tags together. The L2
//! cache supplies if both have the line (TRM 7.2). Events are those of the manual, table 12.28;
//! assumed: a bus access is a beat of 128 bits between core and snoop control unit, and an external
//! request is a read, or a write that passes the L2 cache by, for the core that causes it.

use crate::event::{A53Event, A53Sink};
use crate::seen::{Seen, Source};

use super::cache::{LineState, Victim};
use super::cluster::Cluster;

/// Beats of a line: four of 128 bits (TRM 7.3.2).
pub(crate) const BEATS: u64 = 4;

/// Purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// The line enters the L1 data cache to be read.
    Read,
    /// The line enters the L1 data cache to be written: no other copy stays.
    Write,
    /// The line enters the L1 instruction cache.
    Fetch,
    /// A non-temporal load: the line does not enter an L1 cache.
    NonTemporal,
    /// The walker reads a descriptor; the line enters the L1 data cache.
    Walk,
}

/// Answer to a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Supply {
    /// Cycle of the first beat, with the critical word.
    pub(crate) first: u64,
    /// State of the line in the L1 data cache.
    pub(crate) state: LineState,
}

impl Supply {
    /// Returns the cycle in which the whole line is present.
    pub(crate) fn complete(self) -> u64 {
        self.first + BEATS - 1
    }
}

impl Cluster {
    /// Requests a line that missed an L1 cache at `at`.
    pub(crate) fn supply<S: A53Sink>(
        &mut self,
        core: usize,
        line: u64,
        request: Request,
        at: u64,
        sink: &mut S,
    ) -> Supply {
        let supply = self.find_line(core, line, request, at, sink);
        if self.is_free(request) { Supply { first: at, ..supply } } else { supply }
    }

    /// Finds a line outside the L1 cache that requests it.
    fn find_line<S: A53Sink>(
        &mut self,
        core: usize,
        line: u64,
        request: Request,
        at: u64,
        sink: &mut S,
    ) -> Supply {
        sink.raise(A53Event::BUS_ACCESS, at, BEATS);
        sink.raise(A53Event::BUS_ACCESS_LD, at, BEATS);
        let begin = if self.is_free(request) { at } else { self.l2.begin(at) };
        if self.l2.is_present() {
            sink.raise(A53Event::L2D_CACHE, begin, 1);
        }
        self.check_snoop_filter(line, begin, sink);
        if let Some((state, ready)) = self.l2.lookup(line) {
            sink.see(Seen::Supplied(Source::L2));
            let state = self.check_l2(line, state, begin, sink);
            let state = self.take_from_l2(core, line, request, state);
            return Supply { first: self.l2.first_beat(begin.max(ready)), state };
        }
        let own = if request == Request::Fetch { usize::MAX } else { core };
        if let Some(copy) = self.snoop.find(line, own) {
            sink.see(Seen::Supplied(match copy.core == core {
                true => Source::OwnL1d,
                false => Source::OtherCore,
            }));
            if copy.core != core {
                sink.raise(A53Event::EXT_SNOOP, begin, 1);
            }
            let first = self.snoop.first_beat(copy, self.l2.first_beat(begin));
            let state = self.take_from_core(core, line, request, copy.dirty);
            self.enter_l2(line, request, begin, first, sink);
            return Supply { first, state };
        }
        sink.see(Seen::Supplied(Source::Memory));
        let first = self.read_memory(core, request, begin, sink);
        self.enter_l2(line, request, begin, first, sink);
        Supply { first, state: LineState::CLEAN }
    }

    /// Changes the copies in the cluster for a hit of the L2 cache. Returns the state in the L1.
    fn take_from_l2(
        &mut self,
        core: usize,
        line: u64,
        request: Request,
        l2_state: LineState,
    ) -> LineState {
        match request {
            Request::Fetch | Request::NonTemporal => LineState::CLEAN,
            Request::Write => {
                self.l2.remove(line);
                let dirty = self.snoop.invalidate(line, core);
                l2_state.with_if(dirty, LineState::DIRTY)
            }
            Request::Read | Request::Walk if self.snoop.find(line, core).is_some() => {
                self.snoop.share(line, core, false);
                LineState::SHARED
            }
            Request::Read | Request::Walk => {
                self.l2.remove(line);
                l2_state
            }
        }
    }

    /// Changes the copies of other cores for a direct transfer. Returns the state in the L1.
    fn take_from_core(
        &mut self,
        core: usize,
        line: u64,
        request: Request,
        dirty: bool,
    ) -> LineState {
        match request {
            Request::Write => {
                self.snoop.invalidate(line, core);
                LineState::CLEAN.with_if(dirty, LineState::DIRTY)
            }
            Request::Fetch => {
                self.snoop.share(line, usize::MAX, false);
                LineState::CLEAN
            }
            Request::NonTemporal => LineState::CLEAN,
            Request::Read | Request::Walk => {
                self.snoop.share(line, core, true);
                LineState::SHARED.with_if(dirty, LineState::DIRTY)
            }
        }
    }

    /// Enters a fetched line, or one of a non-temporal load from memory, into the L2 cache.
    fn enter_l2<S: A53Sink>(
        &mut self,
        line: u64,
        request: Request,
        at: u64,
        first: u64,
        sink: &mut S,
    ) {
        let held_elsewhere =
            request == Request::NonTemporal && self.snoop.find(line, usize::MAX).is_some();
        if matches!(request, Request::Fetch | Request::NonTemporal) && !held_elsewhere {
            let victim = self.write_l2(line, false, at, first);
            self.retire_l2_victim(victim, at, sink);
        }
    }

    /// Reads a line from external memory after a lookup of the L2 cache that began at `begin`.
    /// Returns the cycle of the first beat.
    fn read_memory<S: A53Sink>(
        &mut self,
        core: usize,
        request: Request,
        begin: u64,
        sink: &mut S,
    ) -> u64 {
        let at = self.l2.leaves(begin);
        if self.l2.is_present() {
            sink.raise(A53Event::L2D_CACHE_REFILL, at, 1);
        }
        sink.raise(A53Event::EXT_MEM_REQ, at, 1);
        match request {
            _ if self.is_free_beyond_l2(request) => self.l2.first_beat(begin),
            Request::Fetch | Request::Walk => self.bus.read(at),
            Request::Read | Request::Write | Request::NonTemporal => self.bus.read_data(core, at),
        }
    }

    /// Writes back a dirty line that leaves the L2 cache. Returns the cycle in which its place is
    /// free.
    pub(crate) fn retire_l2_victim<S: A53Sink>(
        &mut self,
        victim: Option<Victim>,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        match victim {
            Some(victim) if victim.state.has(LineState::DIRTY) => {
                sink.see(Seen::L2VictimWritten);
                sink.raise(A53Event::L2D_CACHE_WB, at, 1);
                self.write_memory(at)
            }
            _ => at,
        }
    }

    /// Moves a line that leaves an L1 data cache at `at`. Returns the cycle in which it has left.
    ///
    /// A clean line enters the L2 cache as a dirty one does (TRM 7.6). Assumed: only the dirty one
    /// counts as write-back.
    pub(crate) fn evict<S: A53Sink>(&mut self, victim: Victim, at: u64, sink: &mut S) -> u64 {
        let dirty = victim.state.has(LineState::DIRTY);
        sink.see(Seen::Evicted { dirty, moved: dirty || self.l2.is_present() });
        if dirty {
            sink.raise(A53Event::L1D_CACHE_WB, at, 1);
        }
        if !dirty && !self.l2.is_present() {
            return at;
        }
        sink.raise(A53Event::BUS_ACCESS, at, BEATS);
        sink.raise(A53Event::BUS_ACCESS_ST, at, BEATS);
        if !self.l2.is_present() {
            return self.write_memory(at);
        }
        let begin = self.begin_l2_write(at);
        sink.raise(A53Event::L2D_CACHE, begin, 1);
        let replaced = self.write_l2(victim.line, dirty, begin, begin);
        self.retire_l2_victim(replaced, begin, sink)
    }
}
