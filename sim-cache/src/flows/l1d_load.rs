//! Loads and the refill of the L1 D-cache. PMU guide flows 5.1 and 5.4.
//!
//! Each fragment of a request is one memory operation (decision A11). A line in flight has one
//! cause: a later access to it waits and refills nothing (decision A04). Not modeled: bank
//! conflicts, and the wait for a way when all lines of a set are in flight (at most 3 refills of
//! 10,000).

use sim_core::{
    AccessOutcome, Cycle, DataSource, EventSink, FlowEdge, LINE_SHIFT, MemReply, MemRequest,
    Notice, PmuEvent, VirtAddr,
};

use crate::core_memory::CoreMemory;
use crate::flows::access_events::{raise_load_lookup, raise_plain_load};
use crate::flows::alignment::misaligned_on_device;
use crate::flows::fragment::{
    Fragment, Fragments, is_misaligned_128, is_one_fragment, operations, spans,
};
use crate::flows::l2::L2Reply;
use crate::flows::mte::TagHalf;
use crate::flows::ras::Checked;
use crate::flows::translate::Translated;
use crate::uncore::Uncore;
use crate::units::bus::BytesMoved;
use crate::units::indexed::Indexed;
use crate::units::mapping::MemoryType;
use crate::units::replacement::Insertion;
use crate::units::request::L2Request;
use crate::units::requester::Requester;
use crate::units::tag_array::{EntryIndex, LineState, RefillTime};

/// Memory operation as the prefetcher sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    /// Program counter of the instruction.
    pub(crate) pc: VirtAddr,
    /// First byte.
    pub(crate) addr: VirtAddr,
    /// Line of the first byte.
    pub(crate) line: Indexed,
    /// Direction of the access, for the translations of prefetches that it trains (decision A12).
    pub(crate) requester: Requester,
    /// The operation uses the stored data, so an error in the data matters.
    pub(crate) consumes: bool,
}

/// Cause of an L1 D-cache refill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefillCause {
    /// A load.
    Load,
    /// The read of a near atomic. The write follows, so the core requests the only copy of the
    /// line.
    Atomic,
    /// A store.
    Store,
    /// A preload instruction.
    Preload,
    /// The hardware prefetcher.
    Prefetch,
}

impl CoreMemory {
    /// Performs a load, including its translation.
    #[inline(always)]
    pub(crate) fn load<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let MemRequest { addr, bytes, element_bytes, .. } = request;
        if is_one_fragment(addr, bytes) && !is_misaligned_128(addr, element_bytes) {
            return self.load_fragment(&request, Fragment { addr, bytes }, now, uncore, sink);
        }
        self.load_split(request, now, uncore, sink)
    }

    /// Performs a load of several operations, or one that takes two cycles.
    #[inline(never)]
    fn load_split<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let MemRequest { addr, bytes, element_bytes, .. } = request;
        let is_misaligned = is_misaligned_128(addr, element_bytes);
        let mut whole = MemReply::NOTHING;
        for operation in operations(addr, bytes) {
            let spans_lines = spans(operation.addr, operation.bytes, LINE_SHIFT);
            let is_split = spans_lines || is_misaligned;
            let split_cycles = if is_split { self.latencies.split } else { 0 };
            if is_split {
                // Counted once for each read that is split, for whatever reason (decision A19).
                sink.notify(Notice::At(now));
                sink.raise(PmuEvent::LD_ALIGN_LAT);
                whole.outcome.add(AccessOutcome::SPLIT);
            }
            for fragment in Fragments::of(operation.addr, operation.bytes) {
                let is_later_line = fragment.addr.line() != operation.addr.line();
                let start = if is_later_line { now + split_cycles } else { now };
                sink.notify(Notice::At(start));
                let mut part = self.load_fragment(&request, fragment, start, uncore, sink);
                if !spans_lines {
                    part.done += split_cycles;
                }
                whole.join(part);
                if part.outcome.has(AccessOutcome::FAULT) {
                    if fragment.addr.line() != addr.line() {
                        whole.outcome.add(AccessOutcome::FAULT_AFTER_FIRST);
                    }
                    return whole;
                }
            }
        }
        whole
    }

    /// Performs one memory operation of a load.
    #[inline(always)]
    fn load_fragment<S: EventSink>(
        &mut self,
        request: &MemRequest,
        fragment: Fragment,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        raise_load_lookup(sink);
        // Fast path of nearly all loads: it raises the same events as the full flow, without its
        // branches.
        if self.read_is_plain(fragment.addr, now, uncore) {
            raise_plain_load(sink);
            return hit_reply(now + self.latencies.l1d_hit);
        }
        self.load_full_flow(request, fragment, now, uncore, sink)
    }

    /// Performs flows 5.1 and 5.4, after their first events.
    #[inline(never)]
    fn load_full_flow<S: EventSink>(
        &mut self,
        request: &MemRequest,
        fragment: Fragment,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let addr = fragment.addr;
        let translated = match self.translate(Requester::Read, addr, now, uncore, sink) {
            Ok(translated) => translated,
            Err(fault) => return fault,
        };
        if translated.target.memory != MemoryType::Cacheable {
            if let Some(fault) = misaligned_on_device(request, addr, translated, uncore) {
                return fault;
            }
            return self.read_uncached(fragment, translated, uncore, sink);
        }
        let line = uncore.page_map.physical(addr, translated.target).line();
        let operation = Operation {
            pc: request.pc,
            addr,
            line: Indexed::virtually(addr, line),
            requester: Requester::Read,
            consumes: true,
        };
        let mut reply = self.read_l1d(operation, translated, uncore, sink);
        reply.outcome.add(uncore.check_tag(
            TagHalf::Read,
            request.tags,
            fragment,
            translated,
            sink,
        ));
        reply
    }

    /// Performs flow 5.4 of a translated read.
    #[inline]
    fn read_l1d<S: EventSink>(
        &mut self,
        operation: Operation,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        sink.notify(Notice::At(translated.start));
        sink.raise(PmuEvent::L1D_CACHE_RD);
        let Some(entry) = self.l1d.lookup(operation.line) else {
            return self.l1d_miss(operation, translated, uncore, sink);
        };
        if self.l1d.state(entry).is_plain_at(translated.start) {
            sink.notify(Notice::Edge(FlowEdge::L1dReadHit));
            return translated.reply(translated.start + self.latencies.l1d_hit);
        }
        self.l1d_wait(operation, entry, translated, uncore, sink)
    }

    /// Handles a found line that is in flight, defective, or prefetched and used for the first
    /// time.
    #[inline(never)]
    pub(crate) fn l1d_wait<S: EventSink>(
        &mut self,
        operation: Operation,
        entry: EntryIndex,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        if self.l1d.state(entry).is_defective() {
            return self.l1d_defective(operation, entry, translated, uncore, sink);
        }
        self.l1d_arrives(operation, entry, translated, uncore, sink)
    }

    /// Handles an error in the line or in a tag of its set.
    #[cold]
    fn l1d_defective<S: EventSink>(
        &mut self,
        operation: Operation,
        entry: EntryIndex,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let mut found = AccessOutcome::default();
        if let (true, Some((line, _))) =
            (self.l1d.state(entry).has_tag_defect(), self.l1d.content(entry))
        {
            self.repair_l1d_set(entry.set, sink);
            found.add(AccessOutcome::ERROR);
            if self.l1d.probe(line).is_none() {
                let mut reply = self.l1d_miss(operation, translated, uncore, sink);
                reply.outcome.add(found);
                return reply;
            }
        }
        let checked = self.check_l1d_data(entry, sink);
        let mut reply = self.l1d_arrives(operation, entry, translated, uncore, sink);
        reply.outcome.add(found);
        if checked == Checked::Corrected {
            // The corrected line is read once more.
            reply.done += self.latencies.l1d_hit;
        }
        if operation.consumes {
            checked.add_to(&mut reply);
        }
        reply
    }

    /// Returns the reply of a hit, which waits for a line in flight. Records the first use of a
    /// prefetched line.
    fn l1d_arrives<S: EventSink>(
        &mut self,
        operation: Operation,
        entry: EntryIndex,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        for edge in operation.hit_edges() {
            sink.notify(Notice::Edge(*edge));
        }
        let state = self.l1d.state(entry);
        let hit = translated.start + self.latencies.l1d_hit;
        let arrives = state.refill_time().at(translated.start);
        let mut reply = translated.reply(hit.max(arrives));
        if arrives > hit {
            reply.source = state.source();
            reply.outcome.add(AccessOutcome::L1_MISS);
            if operation.requester == Requester::Read {
                self.waits.load_for_line(operation.pc, translated.start, arrives - hit);
            }
        }
        if state.is_prefetched() {
            self.l1d.first_use(entry, arrives > hit);
            if !operation.is_store() {
                self.train_prefetcher(operation, translated, uncore, sink);
            }
        }
        reply
    }

    /// Refills the line of a demand miss and trains the prefetcher.
    #[cold]
    #[inline(never)]
    pub(crate) fn l1d_miss<S: EventSink>(
        &mut self,
        operation: Operation,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let cause = operation.refill_cause();
        sink.notify(Notice::Edge(cause.edges().miss));
        let l2 = self.refill_l1d(operation.line, cause, translated.start, uncore, sink);
        if cause == RefillCause::Atomic {
            // The write after the read finds the line.
            sink.notify(Notice::Edge(FlowEdge::L1dWriteHit));
        }
        if cause == RefillCause::Load {
            self.waits.load(operation.pc, translated.start);
        }
        let mut reply = MemReply { source: l2.source, ..translated.reply(l2.ready) };
        reply.outcome.add(AccessOutcome::L1_MISS);
        reply.outcome.add(AccessOutcome::L1_REFILL);
        if l2.missed {
            reply.outcome.add(AccessOutcome::L2_MISS);
        }
        if l2.poisoned && operation.consumes {
            reply.outcome.add(AccessOutcome::FAULT.with(AccessOutcome::EXTERNAL));
        }
        if cause != RefillCause::Store {
            self.train_prefetcher(operation, translated, uncore, sink);
        }
        reply
    }

    /// Refills an absent line of the L1 D-cache: flows 5.4 and 5.5, steps 2 to 4.
    pub(crate) fn refill_l1d<S: EventSink>(
        &mut self,
        line: Indexed,
        cause: RefillCause,
        start: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> L2Reply {
        let physical = line.physical;
        if self.l1d.has_broken_tags() {
            self.repair_l1d_set(self.l1d.set_of(line), sink);
        }
        if self.write_streams.holds_any() {
            self.drain_held_line(physical, start, uncore, sink);
            self.drain_idle(start, uncore, sink);
        }
        let register = self.l1d_mshrs.find(start);
        let at = register.from + self.latencies.l1d_hit;
        self.waits.begin(register.from - start);
        let mut reply = self.read_l2(cause.l2_request(), physical, at, uncore, sink);
        if !reply.missed {
            self.recall_alias(physical, &mut reply, sink);
        }
        let mut arrives = reply.ready;
        if self.is_ideal_beyond_l1() {
            (arrives, reply.ready) = (start, start + self.latencies.l1d_hit);
            self.waits.begin(0);
        }
        self.l1d_mshrs.hold(register, arrives);
        sink.notify(Notice::At(reply.ready));
        if let Some(refill) = cause.refill_event() {
            sink.raise(refill);
            sink.raise(inner_or_outer(reply.source));
            sink.notify(Notice::Edge(cause.edges().data_from(reply.source)));
        }
        let state = LineState::refilled(RefillTime::between(start, arrives), reply.source)
            .with_dirty(cause == RefillCause::Store)
            .with_shared(reply.shared)
            .with_in_l1i(self.in_l1i(physical))
            .with_defect(self.errors.l1d_defect(reply.poisoned))
            .with_prefetched(cause == RefillCause::Prefetch);
        let victim = self.l1d.allocate(line, state, cause.insertion()).filter(|v| v.dirty);
        if cause == RefillCause::Store && state.is_in_l1i() {
            self.invalidate_l1i(physical);
        }
        sink.notify(Notice::Edge(cause.edges().allocated(victim.is_some())));
        if let Some(victim) = victim {
            sink.raise(PmuEvent::L1D_CACHE_WB_VICTIM);
            let poisoned = self.check_written_back(victim.defect, sink);
            self.write_back_to_l2(victim.line, poisoned, sink);
        }
        if reply.trains && cause != RefillCause::Store {
            self.train_l2_prefetcher(physical, at, uncore, sink);
        }
        reply
    }

    /// Reads memory that no cache holds: only the bus counts it, once per transaction.
    pub(crate) fn read_uncached<S: EventSink>(
        &mut self,
        fragment: Fragment,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let at = translated.start + self.latencies.l2_lookup;
        let line = uncore.page_map.physical(fragment.addr, translated.target).line();
        // A response reports data from another chip, whether a cache holds the data or not (4.6.4).
        let is_remote = uncore.is_remote(line);
        let mut leaves = at;
        let parts = self.bus.uncached_parts(fragment.addr, fragment.bytes.max(1).into());
        for (part, bytes) in parts.enumerate() {
            if part > 0 {
                // Each transaction that the bus interface makes of the access is a memory access
                // (4.6.7).
                sink.raise(PmuEvent::MEM_ACCESS_RD);
            }
            leaves = leaves.max(self.bus.transaction(PmuEvent::BUS_ACCESS_RD, bytes, at, sink));
            self.bus.note_moved(BytesMoved { read: bytes, written: 0 });
            uncore.count_uncached_read(self.number, bytes);
            if is_remote {
                sink.raise(PmuEvent::REMOTE_ACCESS);
            }
        }
        let done = uncore.access_uncached(self.number, leaves) + self.latencies.fill;
        MemReply { source: DataSource::Device, ..translated.reply(done) }
    }
}

/// Returns the reply of an access that hits the L1 TLB and the L1 cache.
#[inline(always)]
pub(crate) fn hit_reply(done: Cycle) -> MemReply {
    let outcome = AccessOutcome::default();
    MemReply { done, translation_cycles: 1, source: DataSource::L1, outcome }
}

/// Returns the half of `L1D_CACHE_REFILL` that counts data from `source` (decision A03).
fn inner_or_outer(source: DataSource) -> PmuEvent {
    if source.is_outside() {
        PmuEvent::L1D_CACHE_REFILL_OUTER
    } else {
        PmuEvent::L1D_CACHE_REFILL_INNER
    }
}

/// Edges that a refill reports in its flow.
#[derive(Clone, Copy, Debug)]
struct RefillEdges {
    miss: FlowEdge,
    outer: FlowEdge,
    inner: FlowEdge,
    victim: FlowEdge,
    no_victim: FlowEdge,
}

const READ_EDGES: RefillEdges = RefillEdges {
    miss: FlowEdge::L1dReadMiss,
    outer: FlowEdge::L1dReadOuter,
    inner: FlowEdge::L1dReadInner,
    victim: FlowEdge::L1dReadVictim,
    no_victim: FlowEdge::L1dReadNoVictim,
};

const WRITE_EDGES: RefillEdges = RefillEdges {
    miss: FlowEdge::L1dWriteMiss,
    outer: FlowEdge::L1dWriteOuter,
    inner: FlowEdge::L1dWriteInner,
    victim: FlowEdge::L1dWriteVictim,
    no_victim: FlowEdge::L1dWriteNoVictim,
};

/// Edges of a preload or prefetch. Its refill is not an access of flow 5.4; its victim joins the
/// flow's last step.
const FILL_EDGES: RefillEdges = RefillEdges {
    victim: FlowEdge::L1dFillVictim,
    no_victim: FlowEdge::L1dFillNoVictim,
    ..READ_EDGES
};

impl RefillEdges {
    fn data_from(self, source: DataSource) -> FlowEdge {
        if source.is_outside() { self.outer } else { self.inner }
    }

    fn allocated(self, dirty_victim: bool) -> FlowEdge {
        if dirty_victim { self.victim } else { self.no_victim }
    }
}

impl Operation {
    /// Returns the hit edges of flows 5.4 and 5.5. An atomic has one of each.
    fn hit_edges(self) -> &'static [FlowEdge] {
        match self.refill_cause() {
            RefillCause::Store => &[FlowEdge::L1dWriteHit],
            RefillCause::Atomic => &[FlowEdge::L1dReadHit, FlowEdge::L1dWriteHit],
            _ => &[FlowEdge::L1dReadHit],
        }
    }

    /// Returns whether this is the write of a store. A store trains no prefetcher here: it
    /// prefetches its line once the address is known (`store_prefetch`).
    fn is_store(self) -> bool {
        self.refill_cause() == RefillCause::Store
    }

    fn refill_cause(self) -> RefillCause {
        match (self.requester, self.consumes) {
            (Requester::Write, true) => RefillCause::Atomic,
            (Requester::Write, false) => RefillCause::Store,
            _ => RefillCause::Load,
        }
    }
}

impl RefillCause {
    fn l2_request(self) -> L2Request {
        match self {
            RefillCause::Load => L2Request::Load,
            RefillCause::Atomic => L2Request::Atomic,
            RefillCause::Store => L2Request::Store,
            RefillCause::Preload => L2Request::Preload,
            RefillCause::Prefetch => L2Request::L1Prefetch,
        }
    }

    fn edges(self) -> RefillEdges {
        match self {
            RefillCause::Load | RefillCause::Atomic => READ_EDGES,
            RefillCause::Store => WRITE_EDGES,
            RefillCause::Preload | RefillCause::Prefetch => FILL_EDGES,
        }
    }

    fn refill_event(self) -> Option<PmuEvent> {
        match self {
            RefillCause::Load | RefillCause::Atomic => Some(PmuEvent::L1D_CACHE_REFILL_RD),
            RefillCause::Store => Some(PmuEvent::L1D_CACHE_REFILL_WR),
            RefillCause::Preload | RefillCause::Prefetch => None,
        }
    }

    fn insertion(self) -> Insertion {
        if self == RefillCause::Prefetch { Insertion::Prefetch } else { Insertion::Demand }
    }
}
