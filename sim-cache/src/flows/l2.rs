//! The L2 cache and the bus transactions of its misses. PMU guide flows 5.7 and 5.8, sections 4.4
//! to 4.6.
//!
//! The L2 is strictly inclusive of both L1 caches: an L2 victim removes its L1 copies (decision
//! A43). Not modeled: banks.

use sim_core::{Cycle, DataSource, EventSink, FlowEdge, LINE_BYTES, LineAddr, Notice, PmuEvent};

use crate::config::{StoreMissDirection, WalkReads};
use crate::core_memory::CoreMemory;
use crate::flows::ras::check_l2_data;
use crate::uncore::{Uncore, UncoreReply};
use crate::units::cache::Victim;
use crate::units::indexed::Indexed;
use crate::units::replacement::Insertion;
use crate::units::request::{CoherenceRequest, L2Request};
use crate::units::tag_array::{Defect, EntryIndex, LineState, RefillTime, arriving_defect};

/// Reply of the L2 to a read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct L2Reply {
    /// Cycle at which the L1 can use the line.
    pub(crate) ready: Cycle,
    /// Supplier of the data.
    pub(crate) source: DataSource,
    /// The request left the core.
    pub(crate) missed: bool,
    /// Other cores may have a copy.
    pub(crate) shared: bool,
    /// The data is poisoned.
    pub(crate) poisoned: bool,
    /// The request missed, or is the first use of a line that the L2's prefetcher fetched.
    pub(crate) trains: bool,
}

/// Edges of the decisions of flow 5.7 or flow 5.8.
struct L2Edges {
    hit: FlowEdge,
    miss: FlowEdge,
    remote: FlowEdge,
    local: FlowEdge,
    victim: FlowEdge,
    no_victim: FlowEdge,
}

const READ_EDGES: L2Edges = L2Edges {
    hit: FlowEdge::L2ReadHit,
    miss: FlowEdge::L2ReadMiss,
    remote: FlowEdge::L2ReadRemote,
    local: FlowEdge::L2ReadLocal,
    victim: FlowEdge::L2ReadVictim,
    no_victim: FlowEdge::L2ReadNoVictim,
};

const WRITE_EDGES: L2Edges = L2Edges {
    hit: FlowEdge::L2WriteHit,
    miss: FlowEdge::L2WriteMiss,
    remote: FlowEdge::L2WriteRemote,
    local: FlowEdge::L2WriteLocal,
    victim: FlowEdge::L2WriteVictim,
    no_victim: FlowEdge::L2WriteNoVictim,
};

impl L2Edges {
    fn data_from(&self, source: DataSource) -> FlowEdge {
        if source == DataSource::Remote { self.remote } else { self.local }
    }

    fn allocated(&self, sent_out: bool) -> FlowEdge {
        if sent_out { self.victim } else { self.no_victim }
    }
}

impl CoreMemory {
    /// Reads a line for an L1 cache or the walker. Refills the L2 on a miss.
    pub(crate) fn read_l2<S: EventSink>(
        &mut self,
        request: L2Request,
        line: LineAddr,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> L2Reply {
        let is_free = self.is_ideal_beyond_l1() && request.is_data();
        let needs_port = !request.stays_in_l2() && !is_free;
        let at = if needs_port { self.l2_port.book(at) } else { at };
        if self.counts_in_l2(request) {
            sink.notify(Notice::At(at));
            sink.raise(self.lookup_event(request));
        }
        match self.l2.lookup(Indexed::physically(line)) {
            Some(entry) => {
                self.l2_edge(request, |edges| edges.hit, sink);
                self.l2_hit(request, line, entry, at, uncore, sink)
            }
            None => self.refill_l2(request, line, at, uncore, sink),
        }
    }

    fn l2_hit<S: EventSink>(
        &mut self,
        request: L2Request,
        line: LineAddr,
        entry: EntryIndex,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> L2Reply {
        let looked_up = at + self.latencies.l2_lookup;
        let state = self.l2.state(entry);
        let trains = state.is_prefetched();
        if trains {
            self.l2.first_use(entry, state.refill_time().at(at) > at);
        }
        let arrives = state.refill_time().at(at);
        // The data of a line in flight comes from outside (decision A03).
        let (ready, source) = if arrives > at {
            let ready = looked_up.max(arrives + self.latencies.fill);
            self.waits.for_line(ready - looked_up);
            (ready, state.source())
        } else {
            (looked_up, DataSource::L2)
        };
        let shared = state.is_shared();
        let poisoned = check_l2_data(&mut self.l2, entry);
        let reply = L2Reply { ready, source, missed: false, shared, poisoned, trains };
        if shared && request.writes() {
            let granted = self.upgrade(line, looked_up, uncore, sink);
            return L2Reply { ready: ready.max(granted), shared: false, ..reply };
        }
        reply
    }

    /// Requests ownership of a present line that other cores may share, for a write: one write
    /// transaction without data. Returns the cycle at which the core owns the line.
    pub(crate) fn upgrade<S: EventSink>(
        &mut self,
        line: LineAddr,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Cycle {
        let slot = self.l2_queue.find(at);
        let leaves = self.bus.transaction(PmuEvent::BUS_ACCESS_WR, 0, slot.from, sink);
        let granted =
            uncore.request_without_data(self.number, line, CoherenceRequest::Upgrade, leaves);
        let granted = if self.is_ideal_beyond_l2() { at } else { granted };
        self.l2_queue.hold(slot, granted);
        self.change_copies(line, |state| state.with_shared(false));
        granted
    }

    fn refill_l2<S: EventSink>(
        &mut self,
        request: L2Request,
        line: LineAddr,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> L2Reply {
        self.l2_edge(request, |edges| edges.miss, sink);
        let looked_up = at + self.latencies.l2_lookup;
        let slot = self.l2_queue.find(looked_up);
        self.waits.for_buffer(slot.from - looked_up);
        let event = self.bus_event(request);
        let leaves = self.bus.transaction(event, LINE_BYTES, slot.from, sink);
        let reply = uncore.read(self.number, line, request.coherence_request(), leaves);
        let arrives = self.bus.receive_line(reply.arrives);
        self.stats.line(request, reply.source);
        let is_ideal = self.is_ideal_beyond_l2() && request.is_data();
        let (arrives, ready) =
            if is_ideal { (at, looked_up) } else { (arrives, arrives + self.latencies.fill) };
        if !is_ideal {
            self.l2_misses.add(leaves, arrives);
        }
        sink.notify(Notice::At(arrives));
        self.count_l2_refill(request, reply, sink);
        let poisoned = uncore.is_poisoned(line);
        let state = LineState::refilled(RefillTime::between(at, arrives), reply.source)
            .with_dirty(reply.dirty)
            .with_defect(arriving_defect(poisoned))
            .with_shared(reply.shared)
            .with_prefetched(request.stays_in_l2());
        let insertion = match request {
            L2Request::L1Prefetch | L2Request::L2Prefetch | L2Request::StorePrefetch => {
                Insertion::Prefetch
            }
            _ => Insertion::Demand,
        };
        let victim = self.l2.allocate(Indexed::physically(line), state, insertion);
        let filled = if is_ideal { arrives } else { self.filled_at(arrives, victim, leaves) };
        self.l2_queue.hold(slot, filled);
        let sent_out = victim.is_some_and(|v| self.evict_from_l2(v, leaves, uncore, sink));
        self.l2_edge(request, |edges| edges.allocated(sent_out), sink);
        L2Reply {
            ready,
            source: reply.source,
            missed: true,
            shared: reply.shared,
            poisoned,
            trains: true,
        }
    }

    /// Counts steps 2 to 4 of flows 5.7 and 5.8, and the last level events of section 4.5.
    fn count_l2_refill<S: EventSink>(&self, request: L2Request, reply: UncoreReply, sink: &mut S) {
        self.l2_edge(request, |edges| edges.data_from(reply.source), sink);
        if reply.source == DataSource::Remote {
            sink.raise(PmuEvent::REMOTE_ACCESS);
        }
        if self.semantics.extllc {
            sink.raise(PmuEvent::LL_CACHE_RD);
            if reply.source != DataSource::Slc {
                sink.raise(PmuEvent::LL_CACHE_MISS_RD);
            }
        }
        if self.counts_in_l2(request) {
            sink.raise(PmuEvent::L2D_CACHE_REFILL);
            sink.raise(PmuEvent::L2D_CACHE_REFILL_RD);
        }
    }

    /// Evicts a victim from the L2 together with its L1 copies: step 5 of both flows. Returns
    /// whether it was written out.
    pub(crate) fn evict_from_l2<S: EventSink>(
        &mut self,
        victim: Victim,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> bool {
        sink.notify(Notice::At(at));
        self.l1i.remove(victim.line);
        let l1d = self.l1d.remove(victim.line).filter(|state| state.is_dirty());
        let l1d_dirty = l1d.is_some();
        let mut poisoned = matches!(victim.defect, Defect::Uncorrectable | Defect::Poisoned);
        let recalled = if l1d_dirty { FlowEdge::L1dRecalled } else { FlowEdge::L1dNotRecalled };
        sink.notify(Notice::Edge(recalled));
        if let Some(state) = l1d {
            sink.raise(PmuEvent::L1D_CACHE_WB_VICTIM);
            poisoned = self.check_written_back(state.defect(), sink);
            sink.raise(PmuEvent::L2D_CACHE_WR);
            sink.notify(Notice::Edge(FlowEdge::L2WriteHit));
        }
        let dirty = victim.dirty || l1d_dirty;
        let written_out = dirty || self.semantics.clean_victims_count;
        // The victim waits for a slot of its buffer or of the queue and holds it until the home
        // node has the line. A CHI copy-back is a transaction, like a read.
        let slot = self.write_backs.as_ref().unwrap_or(&self.l2_queue).find(at);
        let mut leaves = slot.from;
        if written_out {
            sink.raise(PmuEvent::L2D_CACHE_WB_VICTIM);
            leaves = self.bus.transaction(PmuEvent::BUS_ACCESS_WR, LINE_BYTES, leaves, sink);
        }
        let sent = self.bus.send_line(leaves);
        if dirty || poisoned {
            uncore.note_poison(victim.line, poisoned);
        }
        let taken = uncore.accept_victim(self.number, victim.line, dirty, sent);
        let end = if self.is_ideal_beyond_l2() { sent } else { taken };
        self.write_backs.as_mut().unwrap_or(&mut self.l2_queue).hold(slot, end);
        written_out
    }

    /// Returns when the line that arrives at `arrives` is in the L2, and its entry of the queue is
    /// free: its victim, which leaves at `leaves` at the earliest, must have room in the buffer of
    /// victims. The L1 gets the line when it arrives.
    ///
    /// No wait is circular: an entry of the queue waits for one of the buffer, this for the home
    /// node, the home node for the write queue of memory, and that for its channel alone.
    fn filled_at(&self, arrives: Cycle, victim: Option<Victim>, leaves: Cycle) -> Cycle {
        match (&self.write_backs, victim) {
            (Some(buffer), Some(_)) => arrives.max(buffer.find(leaves).from),
            _ => arrives,
        }
    }

    /// Writes a dirty L1 D-cache victim to the L2, which holds its line by inclusion (decision
    /// A02).
    pub(crate) fn write_back_to_l2<S: EventSink>(
        &mut self,
        line: LineAddr,
        poisoned: bool,
        sink: &mut S,
    ) {
        sink.raise(PmuEvent::L2D_CACHE_WR);
        sink.notify(Notice::Edge(FlowEdge::L2WriteHit));
        let entry = self.l2.probe(line).expect("the L2 includes every line of the L1 D-cache");
        let state = self.l2.state(entry).with_dirty(true);
        self.l2.set_state(entry, state.with_defect(arriving_defect(poisoned)));
    }

    /// Writes a whole line that no L1 holds, without reading it (decision A36). Returns the cycle
    /// at which the L2 has accepted it.
    pub(crate) fn write_full_line<S: EventSink>(
        &mut self,
        line: LineAddr,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Cycle {
        self.invalidate_l1i(line);
        self.stats.streamed_writes += 1;
        let (requested, at) = (at, self.l2_write_port.book(at));
        sink.notify(Notice::At(at));
        sink.raise(PmuEvent::L2D_CACHE_WR);
        let looked_up = at + self.latencies.l2_lookup;
        let taken = if self.is_ideal_beyond_l1() { requested } else { at };
        if let Some(entry) = self.l2.lookup(Indexed::physically(line)) {
            sink.notify(Notice::Edge(FlowEdge::L2WriteHit));
            let state = self.l2.state(entry).with_dirty(true).with_defect(Defect::None);
            self.l2.set_state(entry, state);
            if state.is_shared() {
                self.upgrade(line, looked_up, uncore, sink);
            }
            return taken;
        }
        let slot = self.l2_queue.find(looked_up);
        let leaves = self.bus.transaction(PmuEvent::BUS_ACCESS_WR, 0, slot.from, sink);
        let claimed =
            uncore.request_without_data(self.number, line, CoherenceRequest::Claim, leaves);
        let is_ideal = self.is_ideal_beyond_l2();
        sink.notify(Notice::Edge(FlowEdge::L2WriteMiss));
        sink.notify(Notice::Edge(FlowEdge::L2WriteClaim));
        self.stats.streamed_lines += 1;
        self.stats.claimed_lines += 1;
        sink.notify(Notice::At(claimed));
        sink.raise(PmuEvent::L2D_CACHE_REFILL);
        let state =
            LineState::refilled(RefillTime::between(at, at), DataSource::L2).with_dirty(true);
        let victim = self.l2.allocate(Indexed::physically(line), state, Insertion::Demand);
        let filled = if is_ideal { at } else { self.filled_at(claimed, victim, leaves) };
        self.l2_queue.hold(slot, filled);
        let sent_out = victim.is_some_and(|v| self.evict_from_l2(v, leaves, uncore, sink));
        sink.notify(Notice::Edge(WRITE_EDGES.allocated(sent_out)));
        if is_ideal { taken } else { leaves - self.latencies.l2_lookup }
    }

    /// Writes a part of a line that no L1 holds. Reads the line if it is absent. Returns the cycle
    /// at which the line is present.
    pub(crate) fn write_part_line<S: EventSink>(
        &mut self,
        line: LineAddr,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Cycle {
        self.invalidate_l1i(line);
        self.stats.streamed_writes += 1;
        let at = self.l2_write_port.book(at);
        sink.notify(Notice::At(at));
        sink.raise(PmuEvent::L2D_CACHE_WR);
        let mut done = at + self.latencies.l2_lookup;
        match self.l2.lookup(Indexed::physically(line)) {
            Some(entry) => {
                sink.notify(Notice::Edge(FlowEdge::L2WriteHit));
                if self.l2.state(entry).is_shared() {
                    done = self.upgrade(line, done, uncore, sink);
                }
            }
            None => {
                self.stats.streamed_lines += 1;
                done = self.refill_l2(L2Request::Store, line, at, uncore, sink).ready;
            }
        }
        let entry = self.l2.probe(line).expect("the line was just found or refilled");
        self.l2.set_state(entry, self.l2.state(entry).with_dirty(true));
        done
    }

    /// Reports a decision of the flow that counts the request, if any flow counts it.
    fn l2_edge<S: EventSink>(
        &self,
        request: L2Request,
        decided: impl Fn(&L2Edges) -> FlowEdge,
        sink: &mut S,
    ) {
        if self.counts_in_l2(request) {
            let write = self.counts_as_write(request);
            sink.notify(Notice::Edge(decided(if write { &WRITE_EDGES } else { &READ_EDGES })));
        }
    }

    fn counts_in_l2(&self, request: L2Request) -> bool {
        match request {
            L2Request::L1Prefetch | L2Request::L2Prefetch | L2Request::StorePrefetch => {
                self.semantics.prefetch_counts_in_l2
            }
            L2Request::Walk => self.semantics.walk_reads == WalkReads::L2Counted,
            _ => true,
        }
    }

    /// Returns whether a request counts as a write, by flow 5.8 and decision A07.
    fn counts_as_write(&self, request: L2Request) -> bool {
        request == L2Request::Store && self.semantics.store_miss_l2 == StoreMissDirection::Write
    }

    fn lookup_event(&self, request: L2Request) -> PmuEvent {
        if self.counts_as_write(request) { PmuEvent::L2D_CACHE_WR } else { PmuEvent::L2D_CACHE_RD }
    }

    fn bus_event(&self, request: L2Request) -> PmuEvent {
        if self.counts_as_write(request) {
            PmuEvent::BUS_ACCESS_WR
        } else {
            PmuEvent::BUS_ACCESS_RD
        }
    }
}
