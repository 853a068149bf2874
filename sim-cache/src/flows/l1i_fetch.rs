//! Instruction fetches: L1 I-cache and its next-line prefetcher. PMU guide flows 5.3 and 5.6.
//!
//! An I-side prefetch counts as a fetch (decision A35). Not modeled: the D-cache lookup of a
//! missing fetch (PMU guide 3.2.12), which no event counts.

use sim_core::{
    AccessOutcome, Cycle, EventSink, FlowEdge, LINE_BYTES, MemReply, Notice, PmuEvent, VirtAddr,
};

use crate::core_memory::CoreMemory;
use crate::flows::fragment::Fragment;
use crate::flows::l1d_load::hit_reply;
use crate::flows::l2::L2Reply;
use crate::flows::translate::Translated;
use crate::uncore::Uncore;
use crate::units::indexed::Indexed;
use crate::units::mapping::MemoryType;
use crate::units::replacement::Insertion;
use crate::units::request::L2Request;
use crate::units::requester::Requester;
use crate::units::tag_array::{Defect, EntryIndex, LineState, RefillTime};

impl CoreMemory {
    /// Performs one instruction fetch inside one line.
    #[inline(always)]
    pub(crate) fn fetch<S: EventSink>(
        &mut self,
        pc: VirtAddr,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        sink.raise(PmuEvent::L1I_TLB);
        // Fast path of nearly all fetches: it raises the same events as the full flow.
        let key = self.space.key(uncore.page_map.page_of(pc));
        if let Some(frame) = self.itlb.plain_hit(key, now)
            && let line = Indexed::virtually(pc, uncore.page_map.line_in(pc, frame))
            && self.l1i.plain_hit_again(line, now)
        {
            sink.notify(Notice::Edge(FlowEdge::FetchTlbHit));
            sink.raise(PmuEvent::L1I_CACHE);
            sink.notify(Notice::Edge(FlowEdge::L1iHit));
            return hit_reply(now + self.latencies.l1i_hit);
        }
        self.fetch_full_flow(pc, now, uncore, sink)
    }

    /// Performs flows 5.3 and 5.6, after their first event.
    #[inline(never)]
    fn fetch_full_flow<S: EventSink>(
        &mut self,
        pc: VirtAddr,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let translated = match self.translate(Requester::Fetch, pc, now, uncore, sink) {
            Ok(translated) => translated,
            Err(fault) => return fault,
        };
        if translated.target.memory != MemoryType::Cacheable {
            let line = VirtAddr(pc.0 & !(LINE_BYTES - 1));
            let whole = Fragment { addr: line, bytes: LINE_BYTES as u32 };
            return self.read_uncached(whole, translated, uncore, sink);
        }
        sink.notify(Notice::At(translated.start));
        sink.raise(PmuEvent::L1I_CACHE);
        let line = uncore.page_map.physical(pc, translated.target).line();
        let line = Indexed::virtually(pc, line);
        if let Some(entry) = self.l1i.lookup(line) {
            let state = self.l1i.state(entry);
            if state.is_plain_at(translated.start) {
                sink.notify(Notice::Edge(FlowEdge::L1iHit));
                return translated.reply(translated.start + self.latencies.l1i_hit);
            }
            if state.is_defective() && !self.l1i_line_stays(line, sink) {
                return self.fetch_miss(line, translated, uncore, sink);
            }
            return self.fetch_waits(line, entry, translated, uncore, sink);
        }
        self.fetch_miss(line, translated, uncore, sink)
    }

    /// Handles a found line that is in flight, or prefetched and used for the first time.
    fn fetch_waits<S: EventSink>(
        &mut self,
        line: Indexed,
        entry: EntryIndex,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let state = self.l1i.state(entry);
        sink.notify(Notice::Edge(FlowEdge::L1iHit));
        let hit = translated.start + self.latencies.l1i_hit;
        let arrives = state.refill_time().at(translated.start);
        let mut reply = translated.reply(hit.max(arrives));
        if arrives > hit {
            self.stats.fetch_wait(state.source());
            reply.source = state.source();
            reply.outcome.add(AccessOutcome::L1_MISS);
        }
        if state.is_prefetched() {
            self.l1i.first_use(entry, arrives > hit);
            self.prefetch_next_fetch(line, translated.start, uncore, sink);
        }
        if state.defect() == Defect::Poisoned {
            reply.outcome.add(AccessOutcome::FAULT.with(AccessOutcome::EXTERNAL));
        }
        reply
    }

    /// Handles an error in a line of the L1 I-cache or in a tag of its set. Parity corrects
    /// nothing, so a defective line is removed (PMU guide 3.2.20). Returns `false` if the line has
    /// to be fetched again.
    #[cold]
    fn l1i_line_stays<S: EventSink>(&mut self, line: Indexed, sink: &mut S) -> bool {
        self.repair_l1i_tags(line, sink);
        let Some(entry) = self.l1i.find(line) else { return false };
        if matches!(self.l1i.state(entry).defect(), Defect::None | Defect::Poisoned) {
            return true;
        }
        sink.raise(PmuEvent::MEMORY_ERROR);
        self.l1i.remove(line.physical);
        false
    }

    /// Performs a fetch that missed the L1 I-cache: requests the line from the L2, then prefetches
    /// the next one. Returns the reply of the refill.
    #[cold]
    #[inline(never)]
    fn fetch_miss<S: EventSink>(
        &mut self,
        line: Indexed,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let l2 = self.refill_l1i(line, translated.start, false, uncore, sink);
        self.stats.fetch_wait(l2.source);
        let mut reply = translated.reply(l2.ready);
        reply.source = l2.source;
        reply.outcome.add(AccessOutcome::L1_MISS);
        reply.outcome.add(AccessOutcome::L1_REFILL);
        if l2.missed {
            reply.outcome.add(AccessOutcome::L2_MISS);
        }
        if l2.poisoned {
            reply.outcome.add(AccessOutcome::FAULT.with(AccessOutcome::EXTERNAL));
        }
        self.prefetch_next_fetch(line, translated.start, uncore, sink);
        reply
    }

    /// Refills a line of the L1 I-cache. In a tiny L2, prefetches that follow may evict the line
    /// again.
    fn refill_l1i<S: EventSink>(
        &mut self,
        line: Indexed,
        start: Cycle,
        prefetched: bool,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> L2Reply {
        if self.l1i.has_broken_tags() {
            self.repair_l1i_tags(line, sink);
        }
        sink.notify(Notice::Edge(FlowEdge::L1iMiss));
        self.drain_held_line(line.physical, start, uncore, sink);
        let register = self.l1i_mshrs.find(start);
        let at = register.from + self.latencies.l1i_hit;
        let reply = self.read_l2(L2Request::Fetch, line.physical, at, uncore, sink);
        self.stats.next_line_lines += u64::from(prefetched && reply.missed);
        self.l1i_mshrs.hold(register, reply.ready);
        sink.notify(Notice::At(reply.ready));
        sink.raise(PmuEvent::L1I_CACHE_REFILL);
        let defect = self.errors.l1i_defect(reply.poisoned);
        let state = LineState::refilled(RefillTime::between(start, reply.ready), reply.source)
            .with_defect(defect);
        // Instruction lines are never dirty, so a victim needs no write-back.
        self.l1i.allocate(line, state.with_prefetched(prefetched), insertion_of(prefetched));
        self.mark_in_l1i(line.physical);
        if reply.trains {
            self.train_l2_prefetcher(line.physical, at, uncore, sink);
        }
        reply
    }

    /// Prefetches the next line of the same page if a register is free.
    fn prefetch_next_fetch<S: EventSink>(
        &mut self,
        line: Indexed,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) {
        let next = line.next();
        let page_lines = (1 << uncore.page_map.page_shift()) / LINE_BYTES;
        let is_other_page = next.physical.0.is_multiple_of(page_lines);
        if !self.prefetch.l1i || is_other_page || !self.l1i_mshrs.is_free(at) {
            return;
        }
        self.stats.next_line_lookups += 1;
        sink.notify(Notice::At(at));
        sink.raise(PmuEvent::L1I_TLB);
        sink.notify(Notice::Edge(FlowEdge::FetchTlbHit));
        sink.raise(PmuEvent::L1I_CACHE);
        if self.l1i.find(next).is_none() {
            self.refill_l1i(next, at, true, uncore, sink);
        } else {
            sink.notify(Notice::Edge(FlowEdge::L1iHit));
        }
    }
}

fn insertion_of(prefetched: bool) -> Insertion {
    if prefetched { Insertion::Prefetch } else { Insertion::Demand }
}
