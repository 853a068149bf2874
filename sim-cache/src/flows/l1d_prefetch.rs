//! L1 D-cache refills without a load or store: preload instructions and the hardware prefetcher.
//! PMU guide 4.1.2, 4.2.1; decisions A04 and A12.

use sim_core::{
    AccessOutcome, Cycle, EventSink, LINE_SHIFT, MemKind, MemReply, MemRequest, VirtAddr,
};

use crate::core_memory::CoreMemory;
use crate::flows::l1d_load::{Operation, RefillCause};
use crate::flows::l2::L2Reply;
use crate::flows::translate::Translated;
use crate::uncore::Uncore;
use crate::units::indexed::Indexed;
use crate::units::mapping::MemoryType;
use crate::units::request::L2Request;
use crate::units::requester::Requester;

impl CoreMemory {
    /// Performs a preload instruction: it fills TLB and caches, but does not count as a load or
    /// store.
    pub(crate) fn preload<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let for_write = matches!(
            request.kind,
            MemKind::PrefetchStore | MemKind::PrefetchOuter { for_write: true }
        );
        let requester = if for_write { Requester::Write } else { Requester::Read };
        let translated = match self.translate_uncounted(requester, request.addr, now, uncore, sink)
        {
            Ok(translated) => translated,
            // A preload never faults: it has no effect.
            Err(fault) => {
                let outcome = AccessOutcome(fault.outcome.0 & !AccessOutcome::FAULT.0);
                return MemReply { done: now + 1, outcome, ..fault };
            }
        };
        // The instruction does not wait for the line.
        let mut reply = translated.reply(now + 1);
        let line = uncore.page_map.physical(request.addr, translated.target).line();
        let cacheable = translated.target.memory == MemoryType::Cacheable;
        if !cacheable {
            return reply;
        }
        let line = Indexed::virtually(request.addr, line);
        let start = translated.start;
        let l2 = if matches!(request.kind, MemKind::PrefetchOuter { .. }) {
            self.preload_l2(line, start, uncore, sink)
        } else if self.l1d.lookup(line).is_none() {
            Some(self.refill_l1d(line, RefillCause::Preload, start, uncore, sink))
        } else {
            None
        };
        if let Some(l2) = l2 {
            reply.source = l2.source;
            reply.outcome.add(AccessOutcome::L1_MISS);
            if l2.missed {
                reply.outcome.add(AccessOutcome::L2_MISS);
            }
        }
        reply
    }

    /// Performs a preload for the L2 or an outer cache. The L2 is the core's last cache, and every
    /// read allocates in it (PMU guide 3.2.5). The L1 D-cache does not change. Returns the reply of
    /// the L2, or `None` if the L1 D-cache already holds the line.
    fn preload_l2<S: EventSink>(
        &mut self,
        line: Indexed,
        start: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Option<L2Reply> {
        if self.l1d.find(line).is_some() {
            return None;
        }
        let line = line.physical;
        self.drain_held_line(line, start, uncore, sink);
        let at = start + self.latencies.l1d_hit;
        let l2 = self.read_l2(L2Request::Preload, line, at, uncore, sink);
        if l2.trains {
            self.train_l2_prefetcher(line, at, uncore, sink);
        }
        Some(l2)
    }

    /// Trains the prefetcher with a miss or the first use of a prefetched line, and issues its
    /// prefetches.
    pub(crate) fn train_prefetcher<S: EventSink>(
        &mut self,
        operation: Operation,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) {
        if !self.prefetch.l1d {
            return;
        }
        let run = self.prefetcher.train(operation.pc.0, operation.addr.line());
        let Some(run) = run else { return };
        let now = translated.start;
        if self.prefetch.l2_page_cross {
            self.name_next_page(operation, translated, uncore, sink);
        }
        for step in 0..run.count {
            let line = run.first.wrapping_add_signed(run.stride * i64::from(step));
            // A prefetch never waits for a register.
            if !self.l1d_mshrs.is_free(now) {
                return;
            }
            self.prefetch_line(
                operation.requester,
                VirtAddr(line << LINE_SHIFT),
                now,
                uncore,
                sink,
            );
        }
    }

    /// Passes the next page of a stream to the prefetcher of the L2, which has only physical
    /// addresses.
    fn name_next_page<S: EventSink>(
        &mut self,
        operation: Operation,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) {
        let shift = uncore.page_map.page_shift();
        let line = uncore.page_map.physical(operation.addr, translated.target).line();
        let Some(step) = self.l2_streams.lacks_next_page(line, shift - LINE_SHIFT) else { return };
        let next = VirtAddr(operation.addr.0.wrapping_add_signed(step.signum() << shift));
        let found =
            self.translate_prefetch(operation.requester, next, translated.start, uncore, sink);
        if let Some(found) = found.filter(|found| found.target.memory == MemoryType::Cacheable) {
            let next = uncore.page_map.physical(next, found.target).line();
            self.l2_streams.name_next_page(line, next, shift - LINE_SHIFT);
        }
    }

    fn prefetch_line<S: EventSink>(
        &mut self,
        requester: Requester,
        addr: VirtAddr,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) {
        let translated = self.translate_prefetch(requester, addr, now, uncore, sink);
        let Some(translated) = translated else { return };
        let line = uncore.page_map.physical(addr, translated.target).line();
        let line = Indexed::virtually(addr, line);
        let cacheable = translated.target.memory == MemoryType::Cacheable;
        if cacheable && self.l1d.find(line).is_none() {
            self.refill_l1d(line, RefillCause::Prefetch, translated.start, uncore, sink);
        }
    }
}
