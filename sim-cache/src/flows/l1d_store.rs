//! Stores: translation at issue, the cache write when they leave the store queue; write streaming
//! and `DC ZVA`. PMU guide flows 5.2 and 5.5.

use sim_core::{
    AccessOutcome, Cycle, DataSource, EventSink, FlowEdge, LINE_BYTES, LineAddr, MemKind, MemReply,
    MemRequest, Notice, PmuEvent, VirtAddr,
};

use crate::core_memory::CoreMemory;
use crate::flows::access_events::{raise_store_lookup, raise_write};
use crate::flows::alignment::misaligned_on_device;
use crate::flows::fragment::{Fragment, Fragments, is_one_fragment, operations, spans};
use crate::flows::l1d_load::{Operation, hit_reply};
use crate::flows::mte::TagHalf;
use crate::flows::translate::Translated;
use crate::uncore::Uncore;
use crate::units::bus::BytesMoved;
use crate::units::indexed::Indexed;
use crate::units::mapping::MemoryType;
use crate::units::requester::Requester;
use crate::units::tag_array::Defect;
use crate::units::write_stream::Drain;

impl CoreMemory {
    /// Performs the address half of a store: memory accesses and translations of its fragments.
    #[inline]
    pub(crate) fn translate_store<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let MemRequest { addr, bytes, .. } = request;
        if request.kind == MemKind::ZeroLine {
            let line = VirtAddr(addr.0 & !(LINE_BYTES - 1));
            let whole = Fragment { addr: line, bytes: LINE_BYTES as u32 };
            return self.translate_store_fragment(&request, whole, now, uncore, sink);
        }
        if is_one_fragment(addr, bytes) {
            let whole = Fragment { addr, bytes };
            return self.translate_store_fragment(&request, whole, now, uncore, sink);
        }
        // The smallest granule in use decides, whatever block maps the bytes (decision A17).
        let shift = uncore.page_map.page_shift();
        let mut whole = MemReply::NOTHING;
        for _ in operations(addr, bytes).filter(|part| spans(part.addr, part.bytes, shift)) {
            sink.raise(PmuEvent::ST_ALIGN_LAT);
            whole.outcome.add(AccessOutcome::SPLIT);
        }
        for fragment in Fragments::of(addr, bytes) {
            let part = self.translate_store_fragment(&request, fragment, now, uncore, sink);
            whole.join(part);
            if part.outcome.has(AccessOutcome::FAULT) {
                break;
            }
        }
        whole
    }

    #[inline]
    fn translate_store_fragment<S: EventSink>(
        &mut self,
        request: &MemRequest,
        fragment: Fragment,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let addr = fragment.addr;
        sink.notify(Notice::At(now));
        raise_store_lookup(sink);
        let key = self.space.key(uncore.page_map.page_of(addr));
        if let Some(frame) = self.dtlb.plain_hit(key, now) {
            sink.notify(Notice::Edge(FlowEdge::StoreTlbHit));
            let line = Indexed::virtually(addr, uncore.page_map.line_in(addr, frame));
            self.prefetch_for_store(request.kind, line, now, uncore, sink);
            return hit_reply(now + 1);
        }
        match self.translate(Requester::Write, addr, now, uncore, sink) {
            Ok(translated) => {
                if translated.target.memory == MemoryType::Cacheable {
                    let line = uncore.page_map.line_in(addr, translated.target.frame);
                    let line = Indexed::virtually(addr, line);
                    self.prefetch_for_store(request.kind, line, translated.start, uncore, sink);
                }
                if let Some(fault) = misaligned_on_device(request, addr, translated, uncore) {
                    return fault;
                }
                let mut reply = translated.reply(translated.start + 1);
                let tags = request.tags;
                let checked = uncore.check_tag(TagHalf::Write, tags, fragment, translated, sink);
                reply.outcome.add(checked);
                reply
            }
            Err(fault) => fault,
        }
    }

    /// Performs the data half of a store.
    #[inline]
    pub(crate) fn store<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let MemRequest { pc, addr, bytes, .. } = request;
        if is_one_fragment(addr, bytes) {
            let bytes = bytes.max(1);
            return self.store_fragment(pc, Fragment { addr, bytes }, now, uncore, sink);
        }
        let mut whole = MemReply::NOTHING;
        for fragment in Fragments::of(addr, bytes) {
            let part = self.store_fragment(pc, fragment, now, uncore, sink);
            whole.join(part);
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
        let translated = match translation_of_store(fragment.addr, now, uncore) {
            Ok(translated) => translated,
            Err(fault) => return fault,
        };
        if translated.target.memory != MemoryType::Cacheable {
            return self.store_uncached(fragment, translated, uncore, sink);
        }
        sink.notify(Notice::At(now));
        raise_write(sink);
        let physical = uncore.page_map.line_in(fragment.addr, translated.target.frame);
        let line = Indexed::virtually(fragment.addr, physical);
        let operation = Operation {
            pc,
            addr: fragment.addr,
            line,
            requester: Requester::Write,
            consumes: false,
        };
        let mask = fragment.line_mask();
        let Some(entry) = self.l1d.lookup(line) else {
            return self.store_miss(operation, mask, translated, uncore, sink);
        };
        let state = self.l1d.state(entry).with_dirty(true);
        self.l1d.set_state(entry, state);
        let mut reply = hit_reply(now + 1);
        if state.is_plain_for_write_at(now) {
            sink.notify(Notice::Edge(FlowEdge::L1dWriteHit));
        } else {
            // The write waits for the line in flight and is done one cycle after the line arrives.
            reply = self.l1d_wait(operation, entry, translated, uncore, sink);
            reply.done = state.refill_time().at(now) + 1;
            if state.is_shared() {
                reply = self.own_for_write(physical, reply, uncore, sink);
            }
            if state.is_in_l1i() {
                self.invalidate_l1i(physical);
            }
        }
        let drains = self.write_streams.write(physical, mask, false);
        if drains != [None, None] {
            self.drain(drains, now, uncore, sink);
        }
        reply
    }

    /// Requests ownership for a write that hit a line which other cores may hold. The write is done
    /// when the other cores have removed their copies.
    pub(crate) fn own_for_write<S: EventSink>(
        &mut self,
        line: LineAddr,
        reply: MemReply,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let granted = self.upgrade(line, reply.done + self.latencies.l2_lookup, uncore, sink);
        if self.is_ideal_beyond_l1() {
            return reply;
        }
        MemReply { done: granted + 1, ..reply }
    }

    #[cold]
    #[inline(never)]
    fn store_miss<S: EventSink>(
        &mut self,
        operation: Operation,
        mask: u64,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        self.drain_idle(translated.start, uncore, sink);
        let physical = operation.line.physical;
        let hold = self.write_streams.can_hold(physical);
        if hold {
            self.recall_for_stream(physical, translated.start, sink);
        }
        let drains = self.write_streams.write(physical, mask, hold);
        self.write_streams.wrote(physical, translated.start);
        let taken = self.drain(drains, translated.start, uncore, sink);
        if hold {
            self.repair_l1d_set(self.l1d.set_of(operation.line), sink);
            sink.notify(Notice::Edge(FlowEdge::L1dWriteStream));
            return translated.reply(taken + 1);
        }
        self.l1d_miss(operation, translated, uncore, sink)
    }

    /// Sends merged lines to the L2. Returns the cycle at which the L2 accepts the last full one.
    pub(crate) fn drain<S: EventSink>(
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

    /// Sends all merged stores to the L2, oldest first. Returns the cycle in which the caches hold
    /// them, or 0 if there are no merged stores.
    pub(crate) fn drain_all<S: EventSink>(
        &mut self,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Cycle {
        let mut done = 0;
        while let Some(held) = self.write_streams.take_first() {
            done = done.max(self.drain_one(held, now, uncore, sink));
        }
        done
    }

    /// Sends stores to the L2 that have waited too long for the rest of their line.
    pub(crate) fn drain_idle<S: EventSink>(
        &mut self,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) {
        while let Some(held) = self.write_streams.take_idle(now) {
            self.drain_one(held, now, uncore, sink);
        }
    }

    fn drain_one<S: EventSink>(
        &mut self,
        held: Drain,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Cycle {
        if held.full {
            self.write_full_line(held.line, now, uncore, sink)
        } else {
            self.write_part_line(held.line, now, uncore, sink)
        }
    }

    /// Sends the merged stores of a line to the L2 before the line is read.
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

    /// Performs `DC ZVA`: writes the whole line without reading it (decision A36).
    pub(crate) fn zero_line<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let translated = match translation_of_store(request.addr, now, uncore) {
            Ok(translated) => translated,
            Err(fault) => return fault,
        };
        if translated.target.memory != MemoryType::Cacheable {
            return self.write_uncached(translated, LINE_BYTES, uncore, sink);
        }
        sink.raise(PmuEvent::L1D_CACHE_WR);
        let line = uncore.page_map.physical(request.addr, translated.target).line();
        let indexed = Indexed::virtually(request.addr, line);
        if let Some(entry) = self.l1d.lookup(indexed) {
            sink.notify(Notice::Edge(FlowEdge::L1dWriteHit));
            let state = self.l1d.state(entry);
            let arrives = state.refill_time().at(now);
            // Errors in the old data no longer matter.
            self.l1d.set_state(entry, state.with_dirty(true).with_defect(Defect::None));
            if state.is_prefetched() {
                self.l1d.first_use(entry, arrives > now);
            }
            if state.is_in_l1i() {
                self.invalidate_l1i(line);
            }
            let reply = translated.reply(arrives + 1);
            if state.is_shared() {
                return self.own_for_write(line, reply, uncore, sink);
            }
            return reply;
        }
        self.repair_l1d_set(self.l1d.set_of(indexed), sink);
        sink.notify(Notice::Edge(FlowEdge::L1dWriteStream));
        // The write replaces a copy in another set and bytes of the line that are still merged.
        self.l1d.remove(line);
        self.write_streams.take(line);
        translated.reply(self.write_full_line(line, now, uncore, sink) + 1)
    }

    /// Stores to memory that no cache holds. The store is done when its last transaction has left.
    fn store_uncached<S: EventSink>(
        &mut self,
        fragment: Fragment,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let mut whole = MemReply::NOTHING;
        let parts = self.bus.uncached_parts(fragment.addr, fragment.bytes.into());
        for (part, bytes) in parts.enumerate() {
            if part > 0 {
                // Each part counts like a part of a load (4.6.8).
                sink.raise(PmuEvent::MEM_ACCESS_WR);
            }
            whole.join(self.write_uncached(translated, bytes, uncore, sink));
        }
        whole
    }

    /// Writes memory that no cache holds, without waiting for an answer. Only the bus counts it.
    pub(crate) fn write_uncached<S: EventSink>(
        &mut self,
        translated: Translated,
        bytes: u64,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let at = translated.start + self.latencies.l2_lookup;
        uncore.count_uncached_write(self.number, bytes);
        let leaves = self.bus.transaction(PmuEvent::BUS_ACCESS_WR, bytes, at, sink);
        self.bus.note_moved(BytesMoved { read: 0, written: bytes });
        let done = leaves.max(translated.start + 1);
        MemReply { source: DataSource::Device, ..translated.reply(done) }
    }
}

/// Returns the translation that the store queue kept for a store. No TLB lookup is repeated.
#[inline]
fn translation_of_store(
    addr: VirtAddr,
    now: Cycle,
    uncore: &Uncore,
) -> Result<Translated, MemReply> {
    let page = uncore.page_map.page_of(addr);
    match uncore.page_map.lookup(page) {
        Some(target) => {
            Ok(Translated { target, start: now, cycles: 1, outcome: AccessOutcome::default() })
        }
        None => Err(MemReply { done: now + 1, outcome: AccessOutcome::FAULT, ..MemReply::NOTHING }),
    }
}
