//! Address translation: L1 TLB, L2 TLB, table walk. PMU guide flows 5.1 to 5.3.
//!
//! The caller counts the L1 TLB lookup, because preloads and prefetches look it up without counting
//! (decision A12). Faulting walks refill nothing (decision A15). Permissions are checked at the end
//! of a walk and at every L1 TLB hit: an L2 TLB hit refills the L1 TLB first.

use sim_core::{AccessOutcome, Cycle, DataSource, EventSink, FlowEdge, MemReply, Notice, VirtAddr};

use crate::config::PageCross;
use crate::core_memory::CoreMemory;
use crate::uncore::Uncore;
use crate::units::address_space::Key;
use crate::units::page_map::PageTarget;
use crate::units::requester::Requester;
use crate::units::tag_array::RefillTime;
use crate::units::tlb::Translation;

/// Successful translation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Translated {
    /// Physical page and attributes.
    pub(crate) target: PageTarget,
    /// Cycle in which the access continues; the request's own cycle on an L1 TLB hit.
    pub(crate) start: Cycle,
    /// Cycles spent, 1 for an L1 TLB hit.
    pub(crate) cycles: u32,
    /// TLB miss and walk, if any.
    pub(crate) outcome: AccessOutcome,
}

impl Translated {
    /// Returns the reply of an access that the L1 serves; the caller changes the fields that
    /// differ.
    #[inline]
    pub(crate) fn reply(self, done: Cycle) -> MemReply {
        let (translation_cycles, outcome) = (self.cycles, self.outcome);
        MemReply { done, translation_cycles, source: DataSource::L1, outcome }
    }
}

/// Edges of an `AT` instruction.
struct AtEdges {
    hit: FlowEdge,
    miss: FlowEdge,
    walk_done: FlowEdge,
    walk_fault: FlowEdge,
}

const AT_READ_EDGES: AtEdges = AtEdges {
    hit: FlowEdge::LoadAtHit,
    miss: FlowEdge::LoadAtMiss,
    walk_done: FlowEdge::LoadAtWalkDone,
    walk_fault: FlowEdge::LoadAtWalkFault,
};

const AT_WRITE_EDGES: AtEdges = AtEdges {
    hit: FlowEdge::StoreAtHit,
    miss: FlowEdge::StoreAtMiss,
    walk_done: FlowEdge::StoreAtWalkDone,
    walk_fault: FlowEdge::StoreAtWalkFault,
};

/// Returns the cycles from `now` to `start`, plus the one cycle of an L1 TLB hit.
fn cycles_spent(now: Cycle, start: Cycle) -> u32 {
    u32::try_from(start - now).unwrap_or(u32::MAX).saturating_add(1)
}

impl CoreMemory {
    /// Translates `addr` for a counted access. The error is the reply of a faulting access.
    #[inline]
    pub(crate) fn translate<S: EventSink>(
        &mut self,
        requester: Requester,
        addr: VirtAddr,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Result<Translated, MemReply> {
        let key = self.space.key(uncore.page_map.page_of(addr));
        if let Some(entry) = self.l1_tlb(requester).lookup(key) {
            sink.notify(Notice::Edge(requester.edges().hit));
            return use_entry(requester, &entry, key, now, uncore);
        }
        sink.notify(Notice::Edge(requester.edges().miss));
        self.translate_l1_miss(requester, key, now, uncore, sink)
    }

    /// Translates for preloads and prefetches, which look up the L1 TLB without counting.
    pub(crate) fn translate_uncounted<S: EventSink>(
        &mut self,
        requester: Requester,
        addr: VirtAddr,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Result<Translated, MemReply> {
        let key = self.space.key(uncore.page_map.page_of(addr));
        if let Some(entry) = self.l1_tlb(requester).lookup(key) {
            return use_entry(requester, &entry, key, now, uncore);
        }
        sink.notify(Notice::Edge(requester.edges().uncounted_miss));
        self.translate_l1_miss(requester, key, now, uncore, sink)
    }

    #[inline]
    fn l1_tlb(&mut self, requester: Requester) -> &mut crate::units::tlb::L1Tlb {
        if requester == Requester::Fetch { &mut self.itlb } else { &mut self.dtlb }
    }

    #[cold]
    fn translate_l1_miss<S: EventSink>(
        &mut self,
        requester: Requester,
        key: Key,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Result<Translated, MemReply> {
        let edges = requester.edges();
        sink.notify(Notice::At(now));
        sink.raise(requester.l2_lookup());
        let looked_up = self.book_l2_tlb(now);
        let mut outcome = AccessOutcome::L1_TLB_MISS;
        let (found, start) = match self.l2_tlb.lookup(key) {
            Some(entry) => {
                sink.notify(Notice::Edge(edges.l2_hit));
                (entry, entry.usable_at(looked_up))
            }
            None => {
                sink.notify(Notice::Edge(edges.l2_miss));
                outcome.add(AccessOutcome::WALK);
                let walked = self.walk(requester, key, looked_up, uncore, sink);
                sink.notify(Notice::Edge(if walked.is_ok() {
                    edges.walk_done
                } else {
                    edges.walk_fault
                }));
                walked.map_err(|end| faulted(now, end, outcome, refusal(requester, key, uncore)))?
            }
        };
        let (start, outcome) = match self.ideal.translation {
            true => (now, AccessOutcome::default()),
            false => (start, outcome),
        };
        let translation = found.with_refill_time(RefillTime::between(now, start));
        self.l1_tlb(requester).allocate(key, translation);
        sink.notify(Notice::At(start));
        sink.raise(requester.l1_refill());
        if requester.is_refused(found.permissions) {
            return Err(faulted(now, start, outcome, refusal(requester, key, uncore)));
        }
        let cycles = cycles_spent(now, start);
        Ok(Translated { target: found.target(key), start, cycles, outcome })
    }

    /// Books a lookup of the L2 TLB, whose parallel lookups are limited. Returns when it is done.
    fn book_l2_tlb(&mut self, now: Cycle) -> Cycle {
        let free = self.l2_tlb_lookups.find(now);
        let done = free.from + self.latencies.l2_tlb;
        self.l2_tlb_lookups.hold(free, done);
        done
    }

    /// Performs `AT`: L2 TLB and walk, without an access and without the L1 TLB (decision A16). A
    /// fault is its result, not an exception.
    pub(crate) fn address_translate<S: EventSink>(
        &mut self,
        write: bool,
        addr: VirtAddr,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let (requester, edges) = if write {
            (Requester::Write, AT_WRITE_EDGES)
        } else {
            (Requester::Read, AT_READ_EDGES)
        };
        let key = self.space.key(uncore.page_map.page_of(addr));
        sink.raise(requester.l2_lookup());
        let looked_up = self.book_l2_tlb(now);
        let mut outcome = AccessOutcome::default();
        let end = match self.l2_tlb.lookup(key) {
            Some(entry) => {
                sink.notify(Notice::Edge(edges.hit));
                entry.usable_at(looked_up)
            }
            None => {
                sink.notify(Notice::Edge(edges.miss));
                outcome.add(AccessOutcome::WALK);
                let walked = self.walk(requester, key, looked_up, uncore, sink);
                sink.notify(Notice::Edge(if walked.is_ok() {
                    edges.walk_done
                } else {
                    edges.walk_fault
                }));
                match walked {
                    Ok((_, end)) | Err(end) => end,
                }
            }
        };
        let translation_cycles = cycles_spent(now, end);
        MemReply { done: end + 1, translation_cycles, source: DataSource::L1, outcome }
    }

    /// Translates for the L1 D prefetcher, within the limits of `l1d-page-cross`.
    pub(crate) fn translate_prefetch<S: EventSink>(
        &mut self,
        requester: Requester,
        addr: VirtAddr,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Option<Translated> {
        let key = self.space.key(uncore.page_map.page_of(addr));
        let may_go_on = self.dtlb.holds(key)
            || match self.prefetch.page_cross {
                PageCross::Stop => false,
                PageCross::L2Tlb => self.l2_tlb.holds(key),
                PageCross::Walk => true,
            };
        if !may_go_on {
            return None;
        }
        let translated = self.translate_uncounted(requester, addr, now, uncore, sink);
        let outcome = match &translated {
            Ok(translated) => translated.outcome,
            Err(fault) => fault.outcome,
        };
        self.stats.prefetch_translation(outcome);
        translated.ok()
    }
}

/// Returns the translation of an L1 TLB hit, which may wait for a translation in flight.
#[inline]
fn use_entry(
    requester: Requester,
    entry: &Translation,
    key: Key,
    now: Cycle,
    uncore: &Uncore,
) -> Result<Translated, MemReply> {
    let start = entry.usable_at(now);
    // A wait for a translation in flight is a miss that was merged into another (A13).
    let outcome = if start > now { AccessOutcome::L1_TLB_MISS } else { AccessOutcome::default() };
    if requester.is_refused(entry.permissions) {
        return Err(faulted(now, start, outcome, refusal(requester, key, uncore)));
    }
    Ok(Translated { target: entry.target(key), start, cycles: cycles_spent(now, start), outcome })
}

/// Returns the stage that refuses an access. The tables decide, because a TLB entry holds only the
/// combined permissions of both stages.
#[cold]
fn refusal(requester: Requester, key: Key, uncore: &Uncore) -> AccessOutcome {
    let stage1 = uncore.page_map.stage1().leaf(key.page());
    let by_stage1 = stage1.is_none_or(|leaf| requester.is_refused(leaf.permissions));
    if by_stage1 || uncore.page_map.stage2().is_none() {
        return AccessOutcome::FAULT;
    }
    AccessOutcome::FAULT.with(AccessOutcome::STAGE_2)
}

/// Returns the reply of an access whose translation ended in a fault at `end`.
fn faulted(now: Cycle, end: Cycle, outcome: AccessOutcome, refusal: AccessOutcome) -> MemReply {
    MemReply {
        done: end,
        translation_cycles: cycles_spent(now, end),
        source: DataSource::L1,
        outcome: outcome.with(refusal),
    }
}
