//! Address translation: L1 TLB, L2 TLB, table walk. PMU guide flows 5.1 to 5.3.
//!
//! The lookup of the L1 TLB is counted by the caller, because preloads and prefetches look it up
//! without counting (decision A12). Faulting walks refill nothing (decision A15).

use sim_core::{Cycle, DataSource, EventSink, Happened, LineAddr, MemReply, PmuEvent, VirtAddr};

use crate::config::PageCross;
use crate::hierarchy::CoreMemory;
use crate::l2::L2Request;
use crate::page_map::PageTarget;
use crate::tag_array::Arrival;
use crate::tlb::Translation;
use crate::uncore::Uncore;

/// Who asks for a translation: decides the TLB, and the half of the sums that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// Instruction fetch.
    Fetch,
    /// Data read.
    Read,
    /// Data write.
    Write,
}

/// A translation that succeeded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Translated {
    /// Where the page goes.
    pub(crate) target: PageTarget,
    /// The cycle in which the access goes on; the request's own on an L1 TLB hit.
    pub(crate) start: Cycle,
    /// Cycles spent, 1 for an L1 TLB hit.
    pub(crate) cycles: u32,
    /// TLB miss and walk, if any.
    pub(crate) happened: Happened,
}

impl Translated {
    /// The reply of an access that the L1 serves; the caller changes what is different.
    #[inline]
    pub(crate) fn reply(self, done: Cycle) -> MemReply {
        let (translation_cycles, happened) = (self.cycles, self.happened);
        MemReply { done, translation_cycles, source: DataSource::L1, happened }
    }
}

impl Asker {
    fn l2_lookup(self) -> PmuEvent {
        if self == Asker::Write { PmuEvent::L2D_TLB_WR } else { PmuEvent::L2D_TLB_RD }
    }

    fn l2_refill(self) -> PmuEvent {
        if self == Asker::Write { PmuEvent::L2D_TLB_REFILL_WR } else { PmuEvent::L2D_TLB_REFILL_RD }
    }

    fn l1_refill(self) -> PmuEvent {
        match self {
            Asker::Fetch => PmuEvent::L1I_TLB_REFILL,
            Asker::Read => PmuEvent::L1D_TLB_REFILL_RD,
            Asker::Write => PmuEvent::L1D_TLB_REFILL_WR,
        }
    }

    fn walk(self) -> PmuEvent {
        if self == Asker::Fetch { PmuEvent::ITLB_WALK } else { PmuEvent::DTLB_WALK }
    }
}

/// Cycles from `now` to `start`, at least the one of an L1 TLB hit.
fn cycles_spent(now: Cycle, start: Cycle) -> u32 {
    u32::try_from(start - now).unwrap_or(u32::MAX).saturating_add(1)
}

impl CoreMemory {
    /// Translates `addr`; the error is the reply of an access that faults.
    #[inline]
    pub(crate) fn translate<S: EventSink>(
        &mut self,
        asker: Asker,
        addr: VirtAddr,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Result<Translated, MemReply> {
        let page = uncore.page_map.page_of(addr);
        let l1 = if asker == Asker::Fetch { &mut self.itlb } else { &mut self.dtlb };
        let Some(entry) = l1.lookup(page) else {
            return self.translate_l1_miss(asker, page, now, uncore, sink);
        };
        let start = entry.usable_at(now);
        // Waiting for a translation on its way is a miss that was merged into another (A13).
        let happened = if start > now { Happened::L1_TLB_MISS } else { Happened::default() };
        let cycles = cycles_spent(now, start);
        Ok(Translated { target: entry.target, start, cycles, happened })
    }

    #[cold]
    fn translate_l1_miss<S: EventSink>(
        &mut self,
        asker: Asker,
        page: u64,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Result<Translated, MemReply> {
        sink.raise(asker.l2_lookup());
        let looked_up = now + self.latencies.l2_tlb;
        let mut happened = Happened::L1_TLB_MISS;
        let (target, start) = match self.l2_tlb.lookup(page) {
            Some(entry) => (entry.target, entry.usable_at(looked_up)),
            None => {
                happened.add(Happened::WALK);
                let walked = self.walk(asker, page, looked_up, uncore, sink);
                walked.map_err(|end| faulted(now, end, happened))?
            }
        };
        let translation = Translation { target, arrival: Arrival::between(now, start) };
        let l1 = if asker == Asker::Fetch { &mut self.itlb } else { &mut self.dtlb };
        l1.allocate(page, translation);
        sink.raise(asker.l1_refill());
        Ok(Translated { target, start, cycles: cycles_spent(now, start), happened })
    }

    /// Walks the tables; the target and when it is known, or when the fault is known.
    fn walk<S: EventSink>(
        &mut self,
        asker: Asker,
        page: u64,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Result<(PageTarget, Cycle), Cycle> {
        sink.raise(asker.walk());
        let slot = self.walker.find_slot(at);
        let mut end = slot.from;
        for left in (0..self.walker.reads_needed(page)).rev() {
            let line = self.walker.descriptor_line(page, left);
            end = self.read_descriptor(line, end + self.latencies.walk_level, uncore, sink);
        }
        self.walker.hold(slot, end);
        if self.walker.remember(page) && self.semantics.partial_walks_count {
            sink.raise(asker.l2_refill());
        }
        let target = uncore.page_map.lookup(page).ok_or(end)?;
        self.l2_tlb.allocate(page, target, Arrival::between(at, end));
        sink.raise(asker.l2_refill());
        Ok((target, end))
    }

    fn read_descriptor<S: EventSink>(
        &mut self,
        line: LineAddr,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Cycle {
        if self.walks_read_l2() {
            self.read_l2(L2Request::Walk, line, at, uncore, sink).ready
        } else {
            at + self.latencies.walk_read
        }
    }

    /// Translates for the L1 D prefetcher, as far as it is allowed to go for a translation.
    pub(crate) fn translate_prefetch<S: EventSink>(
        &mut self,
        asker: Asker,
        addr: VirtAddr,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Option<Translated> {
        let page = uncore.page_map.page_of(addr);
        let may_go_on = self.dtlb.holds(page)
            || match self.prefetch.page_cross {
                PageCross::Stop => false,
                PageCross::L2Tlb => self.l2_tlb.holds(page),
                PageCross::Walk => true,
            };
        if may_go_on { self.translate(asker, addr, now, uncore, sink).ok() } else { None }
    }
}

/// The reply of an access whose translation ended in a fault at `end`.
fn faulted(now: Cycle, end: Cycle, happened: Happened) -> MemReply {
    let mut happened = happened;
    happened.add(Happened::FAULT);
    MemReply {
        done: end,
        translation_cycles: cycles_spent(now, end),
        source: DataSource::L1,
        happened,
    }
}
