//! Table walks: the descriptors that a walk reads, its stages, and its new entries in the L2 TLB.
//! PMU guide 3.2.18, 4.1.6, 4.1.9, 4.1.10; decisions A14 and A15.
//!
//! A walk begins at the deepest table for which a partial entry exists, and leaves one partial
//! entry, for the last table that it read. With stage 2, each descriptor is at an intermediate
//! address. A stage 2 walk for a descriptor counts in `DTLB_WALK` for any requester; stage 2 of the
//! output address belongs to the walk itself. Not modeled: partial entries of stage 2, descriptors
//! that stage 2 refuses.

use sim_core::{Cycle, EventSink, LineAddr, Notice, PmuEvent};

use crate::core_memory::CoreMemory;
use crate::uncore::Uncore;
use crate::units::address_space::Key;
use crate::units::l2_tlb::EntryKind;
use crate::units::mapping::{Granule, LAST_LEVEL};
use crate::units::request::L2Request;
use crate::units::requester::Requester;
use crate::units::tag_array::RefillTime;
use crate::units::tlb::Translation;
use crate::units::walker::{descriptor_line, page_of_descriptor, stage2_descriptor_line};

/// First table of a walk: its level, and when its address is known.
#[derive(Clone, Copy, Debug)]
struct KnownTable {
    level: u32,
    at: Cycle,
}

/// Returns log2 of the bytes that the table of a level covers.
pub(crate) fn table_shift(granule: Granule, level: u32) -> u32 {
    granule.level_shift(level - 1)
}

impl CoreMemory {
    /// Walks the tables and refills the L2 TLB. Returns the translation and when it is known, or
    /// when the fault is known.
    pub(crate) fn walk<S: EventSink>(
        &mut self,
        requester: Requester,
        key: Key,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Result<(Translation, Cycle), Cycle> {
        sink.notify(Notice::At(at));
        sink.raise(requester.walk());
        let slot = self.walker.find_slot(at);
        let stage1 = uncore.page_map.stage1().leaf(key.page());
        let last = stage1.map_or(LAST_LEVEL, |leaf| leaf.level);
        let mut end = self.walk_stage1(requester, key, last, slot.from, uncore, sink);
        if let Some(leaf) = stage1 {
            end = self.walk_output(requester, leaf.frame, end, uncore, sink);
        }
        self.walker.hold(slot, end);
        self.stats.walk(requester, end - slot.from);
        let leaf = stage1.and_then(|leaf| uncore.page_map.through_stage2(leaf)).ok_or(end)?;
        if requester.is_refused(leaf.permissions) {
            return Err(end);
        }
        let translation = Translation::new(key, &leaf, RefillTime::between(at, end));
        self.l2_tlb.allocate(key, leaf.shift, translation);
        sink.notify(Notice::At(end));
        sink.raise(requester.l2_refill());
        Ok((translation, end))
    }

    /// Reads the descriptors of stage 1 down to level `last`. A fault is detected in the last
    /// table.
    fn walk_stage1<S: EventSink>(
        &mut self,
        requester: Requester,
        key: Key,
        last: u32,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Cycle {
        let granule = uncore.page_map.stage1().granule();
        let known = self.known_table(granule, key, last, at);
        let (mut table_at, mut end) = (known.at, known.at);
        for level in known.level..=last {
            table_at = end;
            let line = descriptor_line(granule, key, level);
            let start = self.find_descriptor(requester, line, end, uncore, sink);
            end = self.read_descriptor(line, start + self.latencies.walk_level, uncore, sink);
        }
        if self.walker.keeps_partial && known.level < last {
            let refill = RefillTime::between(at, table_at);
            let (kind, shift) = (EntryKind::Partial(last), table_shift(granule, last));
            self.l2_tlb.allocate_step(kind, key, shift, refill);
            if self.semantics.partial_walks_count {
                sink.raise(requester.l2_refill());
            }
        }
        end
    }

    /// Returns the deepest table on the path to level `last` for which a partial entry exists, or
    /// the first table.
    fn known_table(&mut self, granule: Granule, key: Key, last: u32, at: Cycle) -> KnownTable {
        let first = granule.first_level();
        if self.walker.keeps_partial {
            for level in (first + 1..=last).rev() {
                let (kind, shift) = (EntryKind::Partial(level), table_shift(granule, level));
                if let Some(refill) = self.l2_tlb.lookup_step(kind, key, shift) {
                    return KnownTable { level, at: refill.at(at) };
                }
            }
        }
        KnownTable { level: first, at }
    }

    /// Translates the address of a stage 1 descriptor through stage 2, from the L2 TLB or by its
    /// own walk.
    fn find_descriptor<S: EventSink>(
        &mut self,
        requester: Requester,
        line: LineAddr,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Cycle {
        let Some(stage2) = uncore.page_map.stage2() else { return at };
        let granule = stage2.granule();
        let page = page_of_descriptor(line);
        let key = self.space.intermediate_key(page);
        let looked_up = at + self.latencies.l2_tlb;
        if let Some(refill) = self.l2_tlb.lookup_step(EntryKind::Stage2, key, granule.shift()) {
            sink.notify(Notice::Edge(requester.edges().descriptor_known));
            return refill.at(looked_up);
        }
        sink.notify(Notice::Edge(requester.edges().descriptor_walk));
        sink.raise(PmuEvent::DTLB_WALK);
        let end = self.walk_stage2(granule, page, LAST_LEVEL, looked_up, uncore, sink);
        let refill = RefillTime::between(at, end);
        self.l2_tlb.allocate_step(EntryKind::Stage2, key, granule.shift(), refill);
        sink.raise(requester.l2_refill());
        end
    }

    /// Translates the output address through stage 2. This is part of the walk, so its result
    /// counts as a partial entry.
    fn walk_output<S: EventSink>(
        &mut self,
        requester: Requester,
        page: u64,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Cycle {
        let Some(stage2) = uncore.page_map.stage2() else { return at };
        let granule = stage2.granule();
        let leaf = stage2.leaf(page);
        let key = self.space.intermediate_key(page);
        let shift = leaf.map_or(granule.shift(), |leaf| leaf.shift);
        let looked_up = at + self.latencies.l2_tlb;
        if let Some(refill) = self.l2_tlb.lookup_step(EntryKind::Stage2, key, shift) {
            return refill.at(looked_up);
        }
        let last = leaf.map_or(LAST_LEVEL, |leaf| leaf.level);
        let end = self.walk_stage2(granule, page, last, looked_up, uncore, sink);
        if leaf.is_some() && self.walker.keeps_partial {
            let refill = RefillTime::between(at, end);
            self.l2_tlb.allocate_step(EntryKind::Stage2, key, shift, refill);
            if self.semantics.partial_walks_count {
                sink.raise(requester.l2_refill());
            }
        }
        end
    }

    fn walk_stage2<S: EventSink>(
        &mut self,
        granule: Granule,
        page: u64,
        last: u32,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Cycle {
        (granule.first_level()..=last).fold(at, |end, level| {
            let line = stage2_descriptor_line(granule, page, level);
            self.read_descriptor(line, end + self.latencies.walk_level, uncore, sink)
        })
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

    /// Enters the partial entries for the first `levels` levels of a walk, for setups.
    pub(crate) fn warm_walk_cache(&mut self, granule: Granule, key: Key, levels: u32) {
        let first = granule.first_level();
        for level in first + 1..=(first + levels).min(LAST_LEVEL) {
            let (kind, shift) = (EntryKind::Partial(level), table_shift(granule, level));
            if self.l2_tlb.lookup_step(kind, key, shift).is_none() {
                self.l2_tlb.allocate_step(kind, key, shift, RefillTime::default());
            }
        }
    }
}
