//! Data accesses: L1 D-cache, its prefetcher, write streaming. PMU guide flows 5.1, 5.2, 5.4, 5.5.
//!
//! Each fragment of a request is one memory operation (decision A11). A line in flight has one cause:
//! whoever meets it waits and refills nothing (decision A04). Not modeled: bank conflicts.

use sim_core::{
    Cycle, DataSource, EventSink, Happened, LINE_BYTES, LINE_SHIFT, LineAddr, MemKind, MemReply,
    MemRequest, PmuEvent, VirtAddr,
};

use crate::fragment::{Fragment, Fragments, is_misaligned_128, is_one_fragment, spans};
use crate::hierarchy::CoreMemory;
use crate::l2::{L2Reply, L2Request};
use crate::page_map::MemoryType;
use crate::replacement::Insertion;
use crate::tag_array::{Arrival, LineState, Place};
use crate::translate::{Asker, Translated};
use crate::uncore::Uncore;
use crate::write_stream::Drain;

/// log2 of the smallest translation granule: a store that spans it is split (decision A17).
const GRANULE_SHIFT: u32 = 12;

/// Why a line comes into the L1 D-cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RefillCause {
    Load,
    Store,
    Preload,
    Prefetch,
}

/// Adds the reply of one more fragment: the slowest decides, everything that happened is kept.
fn join(whole: &mut MemReply, part: MemReply) {
    if part.done >= whole.done {
        whole.done = part.done;
    }
    whole.source = whole.source.max(part.source);
    whole.translation_cycles = whole.translation_cycles.max(part.translation_cycles);
    whole.happened.add(part.happened);
}

/// What a reply starts from: nothing yet.
fn nothing() -> MemReply {
    MemReply { source: DataSource::StoreQueue, ..MemReply::default() }
}

impl CoreMemory {
    /// A load, with translation.
    #[inline]
    pub(crate) fn load<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let MemRequest { pc, addr, bytes, .. } = request;
        if is_one_fragment(addr, bytes) && !is_misaligned_128(addr, bytes) {
            return self.load_fragment(pc, addr, now, uncore, sink);
        }
        self.load_split(request, now, uncore, sink)
    }

    /// A load of several operations, or one that takes two cycles.
    #[inline(never)]
    fn load_split<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let MemRequest { pc, addr, bytes, .. } = request;
        let spans_lines = spans(addr, bytes, LINE_SHIFT);
        let mut split_cycles = 0;
        if spans_lines || is_misaligned_128(addr, bytes) {
            sink.raise(PmuEvent::LD_ALIGN_LAT);
            split_cycles = self.latencies.split;
        }
        let mut whole = nothing();
        for fragment in Fragments::of(addr, bytes) {
            let second_line = fragment.addr.line() != addr.line();
            let start = if second_line { now + split_cycles } else { now };
            let part = self.load_fragment(pc, fragment.addr, start, uncore, sink);
            join(&mut whole, part);
            if part.happened.has(Happened::FAULT) {
                return whole;
            }
        }
        if !spans_lines {
            whole.done += split_cycles;
        }
        whole
    }

    #[inline]
    fn load_fragment<S: EventSink>(
        &mut self,
        pc: VirtAddr,
        addr: VirtAddr,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        sink.raise(PmuEvent::MEM_ACCESS_RD);
        sink.raise(PmuEvent::L1D_TLB_RD);
        let translated = match self.translate(Asker::Read, addr, now, uncore, sink) {
            Ok(translated) => translated,
            Err(fault) => return fault,
        };
        if translated.target.memory != MemoryType::Cacheable {
            return self.read_uncached(translated, 16, uncore, sink);
        }
        sink.raise(PmuEvent::L1D_CACHE_RD);
        let line = uncore.page_map.physical(addr, translated.target).line();
        let Some(place) = self.l1d.lookup(line) else {
            return self.l1d_miss(pc, addr, line, RefillCause::Load, translated, uncore, sink);
        };
        if self.l1d.state(place).is_plain_at(translated.start) {
            return MemReply {
                done: translated.start + self.latencies.l1d_hit,
                translation_cycles: translated.cycles,
                source: DataSource::L1,
                happened: translated.happened,
            };
        }
        self.l1d_wait(pc, addr, place, translated, uncore, sink)
    }

    /// The line is in flight, or was prefetched and is used for the first time.
    fn l1d_wait<S: EventSink>(
        &mut self,
        pc: VirtAddr,
        addr: VirtAddr,
        place: Place,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let state = self.l1d.state(place);
        let hit = translated.start + self.latencies.l1d_hit;
        let arrives = state.arrival().at(translated.start);
        let mut reply = MemReply {
            done: hit.max(arrives),
            translation_cycles: translated.cycles,
            source: DataSource::L1,
            happened: translated.happened,
        };
        if arrives > hit {
            reply.source = state.source();
            reply.happened.add(Happened::L1_MISS);
        }
        if state.is_prefetched() {
            self.l1d.set_state(place, state.with_prefetched(false));
            self.train_prefetcher(pc, addr, translated, uncore, sink);
        }
        reply
    }

    #[cold]
    #[inline(never)]
    #[expect(
        clippy::too_many_arguments,
        reason = "one place for the miss of loads, stores, atomics"
    )]
    fn l1d_miss<S: EventSink>(
        &mut self,
        pc: VirtAddr,
        addr: VirtAddr,
        line: LineAddr,
        cause: RefillCause,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let l2 = self.refill_l1d(line, cause, translated.start, uncore, sink);
        let mut happened = translated.happened;
        happened.add(Happened::L1_MISS);
        happened.add(Happened::L1_REFILL);
        if l2.missed {
            happened.add(Happened::L2_MISS);
        }
        self.train_prefetcher(pc, addr, translated, uncore, sink);
        let cycles = translated.cycles;
        MemReply { done: l2.ready, translation_cycles: cycles, source: l2.source, happened }
    }

    /// Brings an absent line into the L1 D-cache: flows 5.4 and 5.5, steps 2 to 4.
    fn refill_l1d<S: EventSink>(
        &mut self,
        line: LineAddr,
        cause: RefillCause,
        start: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> L2Reply {
        self.drain_held_line(line, start, uncore, sink);
        let begin = self.l1d_mshrs.free_from(start);
        let at = begin + self.latencies.l1d_hit;
        let reply = self.read_l2(cause.l2_request(), line, at, uncore, sink);
        self.l1d_mshrs.hold(begin, reply.ready);
        if let Some(refill) = cause.refill_event() {
            sink.raise(refill);
            sink.raise(inner_or_outer(reply.source));
        }
        let state = LineState::arriving(Arrival::between(start, reply.ready), reply.source)
            .with_dirty(cause == RefillCause::Store)
            .with_prefetched(cause == RefillCause::Prefetch);
        let victim = self.l1d.allocate(line, state, cause.insertion());
        if let Some(victim) = victim.filter(|v| v.dirty) {
            sink.raise(PmuEvent::L1D_CACHE_WB_VICTIM);
            self.write_back_to_l2(victim.line, sink);
        }
        if reply.missed {
            self.prefetch_next_l2_lines(line, at, uncore, sink);
        }
        reply
    }

    /// The address half of a store: memory accesses and translations of its fragments.
    #[inline]
    pub(crate) fn translate_store<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let (addr, bytes) = store_range(request);
        if is_one_fragment(addr, bytes) || request.kind == MemKind::ZeroLine {
            return self.translate_store_fragment(addr, now, uncore, sink);
        }
        if spans(addr, bytes, GRANULE_SHIFT) {
            sink.raise(PmuEvent::ST_ALIGN_LAT);
        }
        let mut whole = nothing();
        for fragment in Fragments::of(addr, bytes) {
            let part = self.translate_store_fragment(fragment.addr, now, uncore, sink);
            join(&mut whole, part);
            if part.happened.has(Happened::FAULT) {
                break;
            }
        }
        whole
    }

    #[inline]
    fn translate_store_fragment<S: EventSink>(
        &mut self,
        addr: VirtAddr,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        sink.raise(PmuEvent::MEM_ACCESS_WR);
        sink.raise(PmuEvent::L1D_TLB_WR);
        match self.translate(Asker::Write, addr, now, uncore, sink) {
            Ok(translated) => MemReply {
                done: translated.start + 1,
                translation_cycles: translated.cycles,
                source: DataSource::L1,
                happened: translated.happened,
            },
            Err(fault) => fault,
        }
    }

    /// The data half of a store, when it leaves the store queue.
    #[inline]
    pub(crate) fn store<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let mut whole = nothing();
        for fragment in Fragments::of(request.addr, request.bytes) {
            let part = self.store_fragment(request.pc, fragment, now, uncore, sink);
            join(&mut whole, part);
        }
        whole
    }

    #[inline]
    fn store_fragment<S: EventSink>(
        &mut self,
        pc: VirtAddr,
        fragment: Fragment,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let translated = match self.translation_of_store(fragment.addr, now, uncore) {
            Ok(translated) => translated,
            Err(fault) => return fault,
        };
        if translated.target.memory != MemoryType::Cacheable {
            return self.write_uncached(translated, fragment.bytes.into(), uncore, sink);
        }
        sink.raise(PmuEvent::L1D_CACHE_WR);
        let line = uncore.page_map.physical(fragment.addr, translated.target).line();
        let mask = fragment.line_mask();
        if let Some(place) = self.l1d.lookup(line) {
            let state = self.l1d.state(place);
            self.l1d.set_state(place, state.with_dirty(true));
            let drains = self.write_streams.write(line, mask, false);
            self.drain(drains, now, uncore, sink);
            if state.is_plain_at(now) {
                return stored(now + 1, translated);
            }
            // The write joins the line in flight.
            let reply = self.l1d_wait(pc, fragment.addr, place, translated, uncore, sink);
            return MemReply { done: state.arrival().at(now) + 1, ..reply };
        }
        self.store_miss(pc, fragment, line, translated, uncore, sink)
    }

    #[cold]
    #[inline(never)]
    fn store_miss<S: EventSink>(
        &mut self,
        pc: VirtAddr,
        fragment: Fragment,
        line: LineAddr,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let now = translated.start;
        let hold = self.write_streams.can_hold(line);
        let drains = self.write_streams.write(line, fragment.line_mask(), hold);
        let taken = self.drain(drains, now, uncore, sink);
        if hold {
            return stored(taken + 1, translated);
        }
        self.l1d_miss(pc, fragment.addr, line, RefillCause::Store, translated, uncore, sink)
    }

    /// Sends merged lines to the L2; when the last is taken.
    fn drain<S: EventSink>(
        &mut self,
        drains: [Option<Drain>; 2],
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Cycle {
        let mut taken = now;
        for drain in drains.into_iter().flatten() {
            if drain.full {
                taken = taken.max(self.write_full_line(drain.line, now, uncore, sink));
            } else {
                self.write_part_line(drain.line, now, uncore, sink);
            }
        }
        taken
    }

    /// A read wants a line whose stores are still being merged: they go down first.
    pub(crate) fn drain_held_line<S: EventSink>(
        &mut self,
        line: LineAddr,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) {
        let held = self.write_streams.take(line);
        self.drain([held, None], now, uncore, sink);
    }

    /// `DC ZVA`: writes the whole line without reading it (decision A36).
    pub(crate) fn zero_line<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let translated = match self.translation_of_store(request.addr, now, uncore) {
            Ok(translated) => translated,
            Err(fault) => return fault,
        };
        if translated.target.memory != MemoryType::Cacheable {
            return self.write_uncached(translated, LINE_BYTES, uncore, sink);
        }
        sink.raise(PmuEvent::L1D_CACHE_WR);
        let line = uncore.page_map.physical(request.addr, translated.target).line();
        if let Some(place) = self.l1d.lookup(line) {
            self.l1d.set_state(place, self.l1d.state(place).with_dirty(true));
            return stored(self.l1d.state(place).arrival().at(now) + 1, translated);
        }
        // Bytes of the line that are still being merged are overwritten.
        self.write_streams.take(line);
        stored(self.write_full_line(line, now, uncore, sink) + 1, translated)
    }

    /// A near atomic: one read and one write of the L1 D-cache (decision A20).
    pub(crate) fn atomic<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let mut whole = nothing();
        for fragment in Fragments::of(request.addr, request.bytes) {
            let part = self.atomic_fragment(request, fragment.addr, now, uncore, sink);
            join(&mut whole, part);
            if part.happened.has(Happened::FAULT) {
                break;
            }
        }
        whole
    }

    fn atomic_fragment<S: EventSink>(
        &mut self,
        request: MemRequest,
        addr: VirtAddr,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let translated = match self.translate_atomic(request.kind, addr, now, uncore, sink) {
            Ok(translated) => translated,
            Err(fault) => return fault,
        };
        if translated.target.memory != MemoryType::Cacheable {
            // A far atomic: done outside, one bus write.
            let reply = self.write_uncached(translated, 16, uncore, sink);
            return MemReply { done: uncore.access_uncached(reply.done), ..reply };
        }
        sink.raise(PmuEvent::L1D_CACHE_RD);
        sink.raise(PmuEvent::L1D_CACHE_WR);
        let line = uncore.page_map.physical(addr, translated.target).line();
        let reply = match self.l1d.lookup(line) {
            Some(place) => self.l1d_wait(request.pc, addr, place, translated, uncore, sink),
            // The read comes first, so the refill is the read's.
            None => {
                let cause = RefillCause::Load;
                self.l1d_miss(request.pc, addr, line, cause, translated, uncore, sink)
            }
        };
        if let Some(place) = self.l1d.probe(line) {
            self.l1d.set_state(place, self.l1d.state(place).with_dirty(true));
        }
        reply
    }

    /// Counts the memory accesses of an atomic, and one TLB lookup for each of them.
    fn translate_atomic<S: EventSink>(
        &mut self,
        kind: MemKind,
        addr: VirtAddr,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Result<Translated, MemReply> {
        let mut read = None;
        if kind != MemKind::AtomicStore {
            sink.raise(PmuEvent::MEM_ACCESS_RD);
            sink.raise(PmuEvent::L1D_TLB_RD);
            read = Some(self.translate(Asker::Read, addr, now, uncore, sink)?);
        }
        if kind == MemKind::AtomicSwap
            && let Some(read) = read
        {
            return Ok(read);
        }
        sink.raise(PmuEvent::MEM_ACCESS_WR);
        sink.raise(PmuEvent::L1D_TLB_WR);
        let write = self.translate(Asker::Write, addr, now, uncore, sink)?;
        Ok(read.unwrap_or(write))
    }

    /// A preload instruction: fills, but is no load or store (decisions A04, A12).
    pub(crate) fn preload<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let for_write = request.kind == MemKind::PrefetchStore;
        let asker = if for_write { Asker::Write } else { Asker::Read };
        let addr = request.addr;
        let translated = match self.translate(asker, addr, now, uncore, sink) {
            Ok(translated) => translated,
            // A preload never faults: it does nothing.
            Err(fault) => {
                let happened = Happened(fault.happened.0 & !Happened::FAULT.0);
                return MemReply { done: now + 1, happened, ..fault };
            }
        };
        let mut reply = stored(now + 1, translated);
        let line = uncore.page_map.physical(addr, translated.target).line();
        let cacheable = translated.target.memory == MemoryType::Cacheable;
        if cacheable && self.l1d.lookup(line).is_none() {
            let l2 = self.refill_l1d(line, RefillCause::Preload, translated.start, uncore, sink);
            reply.source = l2.source;
            reply.happened.add(Happened::L1_MISS);
            if l2.missed {
                reply.happened.add(Happened::L2_MISS);
            }
        }
        reply
    }

    /// The prefetcher hears of a miss and asks for lines ahead.
    fn train_prefetcher<S: EventSink>(
        &mut self,
        pc: VirtAddr,
        addr: VirtAddr,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) {
        if !self.prefetch.l1d {
            return;
        }
        let Some(run) = self.prefetcher.train(pc.0, addr.line()) else { return };
        for step in 0..run.count {
            let line = run.first.wrapping_add_signed(run.stride * i64::from(step));
            let ahead = VirtAddr(line << LINE_SHIFT);
            // A prefetch never waits for a register.
            if self.l1d_mshrs.free_from(translated.start) > translated.start {
                return;
            }
            self.prefetch_line(ahead, translated.start, uncore, sink);
        }
    }

    fn prefetch_line<S: EventSink>(
        &mut self,
        addr: VirtAddr,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) {
        let Some(translated) = self.translate_prefetch(addr, now, uncore, sink) else { return };
        let line = uncore.page_map.physical(addr, translated.target).line();
        let cacheable = translated.target.memory == MemoryType::Cacheable;
        if cacheable && self.l1d.probe(line).is_none() {
            self.refill_l1d(line, RefillCause::Prefetch, translated.start, uncore, sink);
        }
    }

    /// What the store queue keeps of a store's translation; nothing is looked up again.
    #[inline]
    fn translation_of_store(
        &self,
        addr: VirtAddr,
        now: Cycle,
        uncore: &Uncore,
    ) -> Result<Translated, MemReply> {
        let page = uncore.page_map.page_of(addr);
        let Some(target) = uncore.page_map.lookup(page) else {
            return Err(MemReply { done: now + 1, happened: Happened::FAULT, ..nothing() });
        };
        Ok(Translated { target, start: now, cycles: 1, happened: Happened::default() })
    }

    /// A read of memory that no cache keeps: only the bus counts it.
    pub(crate) fn read_uncached<S: EventSink>(
        &mut self,
        translated: Translated,
        bytes: u64,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        self.bus.count(PmuEvent::BUS_ACCESS_RD, bytes, sink);
        let leaves = self.bus.start(translated.start + self.latencies.l2_lookup);
        let done = uncore.access_uncached(leaves) + self.latencies.fill;
        MemReply { source: DataSource::Device, ..stored(done, translated) }
    }

    /// A write of memory that no cache keeps: sent and forgotten.
    fn write_uncached<S: EventSink>(
        &mut self,
        translated: Translated,
        bytes: u64,
        _uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        self.bus.count(PmuEvent::BUS_ACCESS_WR, bytes, sink);
        let leaves = self.bus.start(translated.start + self.latencies.l2_lookup);
        MemReply { source: DataSource::Device, ..stored(leaves, translated) }
    }
}

/// First byte and length of what a store writes.
fn store_range(request: MemRequest) -> (VirtAddr, u32) {
    (request.addr, request.bytes.max(1))
}

/// A reply without data from a cache beyond the L1.
fn stored(done: Cycle, translated: Translated) -> MemReply {
    MemReply {
        done,
        translation_cycles: translated.cycles,
        source: DataSource::L1,
        happened: translated.happened,
    }
}

/// The part of `L1D_CACHE_REFILL` by where the data came from (decision A03).
fn inner_or_outer(source: DataSource) -> PmuEvent {
    if source.is_outside() {
        PmuEvent::L1D_CACHE_REFILL_OUTER
    } else {
        PmuEvent::L1D_CACHE_REFILL_INNER
    }
}

impl RefillCause {
    fn l2_request(self) -> L2Request {
        match self {
            RefillCause::Load => L2Request::Load,
            RefillCause::Store => L2Request::Store,
            RefillCause::Preload => L2Request::Preload,
            RefillCause::Prefetch => L2Request::L1Prefetch,
        }
    }

    fn refill_event(self) -> Option<PmuEvent> {
        match self {
            RefillCause::Load => Some(PmuEvent::L1D_CACHE_REFILL_RD),
            RefillCause::Store => Some(PmuEvent::L1D_CACHE_REFILL_WR),
            RefillCause::Preload | RefillCause::Prefetch => None,
        }
    }

    fn insertion(self) -> Insertion {
        if self == RefillCause::Prefetch { Insertion::Prefetch } else { Insertion::Demand }
    }
}
