//! Cache maintenance: `DC` and `IC`, by address and by set and way. PMU guide 3.2.11, 4.2.3,
//! 4.2.12, 4.2.13, 4.4.9 to 4.4.11; decisions A01, A16, A40.
//!
//! Cleaning a line counts as a write-back of each cache whose dirty data moves. Invalidation by
//! address counts as an invalidation of each cache that had the line. The lookups count in no
//! event; neither does the message to the other agents, because it moves no data. `DC ISW` also
//! cleans, as `HCR_EL2.SWIO` is fixed to require on cores of this family.

use sim_core::mesh_counts::DvmEvent;
use sim_core::{
    CacheOp, Cycle, EventSink, LINE_BYTES, LINE_SHIFT, LineAddr, Maintenance, MemReply, Notice,
    PmuEvent, Snoop, VirtAddr,
};

use crate::core_memory::CoreMemory;
use crate::flows::ras::check_l2_data;
use crate::memory_system::{CorePort, MemorySystem};
use crate::uncore::Uncore;
use crate::units::cache::Cache;
use crate::units::level_names::CacheLevel;
use crate::units::requester::Requester;
use crate::units::tag_array::EntryIndex;

/// Returns whether the operation keeps modified data.
fn cleans(op: CacheOp) -> bool {
    op != CacheOp::Invalidate
}

/// Returns whether the operation removes every copy.
fn invalidates(op: CacheOp) -> bool {
    matches!(op, CacheOp::Invalidate | CacheOp::CleanInvalidate)
}

/// Returns the snoop that the other cores receive. Instruction fetches are coherent at the L2
/// without one.
fn snoop_of(op: CacheOp) -> Option<Snoop> {
    match op {
        CacheOp::Invalidate => Some(Snoop::Invalidate),
        CacheOp::Clean => Some(Snoop::Clean),
        CacheOp::CleanToUnification => None,
        CacheOp::CleanInvalidate => Some(Snoop::CleanInvalidate),
    }
}

/// Returns the bit position of the way in the operand of an operation by set and way.
fn way_shift(ways: u32) -> u32 {
    32 - ways.next_power_of_two().trailing_zeros()
}

/// Returns the entry of `cache` that an operand by set and way names.
fn entry_of(operand: u64, cache: &Cache) -> EntryIndex {
    let (sets, ways) = cache.shape();
    let set = (operand >> LINE_SHIFT) as u32 & (sets - 1);
    let way = (operand & u64::from(u32::MAX)).checked_shr(way_shift(ways)).unwrap_or(0) as u32;
    EntryIndex { set, way: way % ways }
}

impl MemorySystem {
    /// Returns the Xt value of a `DC` by set and way for the entry of `addr` in the L1 D-cache or
    /// the L2. Returns `None` if the line is absent.
    pub fn set_way_operand(&self, core: usize, addr: VirtAddr, level: CacheLevel) -> Option<u64> {
        let line = self.line_of(addr).ok()?;
        let (cache, level) = match level {
            CacheLevel::L1d => (&self.cores[core].l1d, 0),
            CacheLevel::L2 => (&self.cores[core].l2, 1),
            CacheLevel::L1i | CacheLevel::Slc => return None,
        };
        let EntryIndex { set, way } = cache.probe(line)?;
        let (_, ways) = cache.shape();
        let way = u64::from(way) << way_shift(ways);
        Some(way | u64::from(set) << LINE_SHIFT | level << 1)
    }
}

impl CorePort<'_> {
    /// Performs one operation, whose Xt value is `operand`. Returns when it takes effect.
    pub(crate) fn maintain<S: EventSink>(
        &mut self,
        what: Maintenance,
        operand: VirtAddr,
        now: Cycle,
        sink: &mut S,
    ) -> MemReply {
        let (core, uncore) = (&mut *self.core, &mut *self.uncore);
        match what {
            Maintenance::DataByAddress(op) => core.maintain_line(op, operand, now, uncore, sink),
            Maintenance::DataBySetWay(op) => {
                let done = core.maintain_place(op, operand.0, now, uncore, sink);
                MemReply { done, ..MemReply::default() }
            }
            Maintenance::InstByAddress => self.invalidate_inst_line(operand, now, sink),
            Maintenance::InstAll { broadcast } => {
                core.l1i.clear();
                let done = now + core.latencies.l1i_hit;
                let mut reply = MemReply { done, ..MemReply::default() };
                if broadcast {
                    uncore.count_broadcast(core.number, DvmEvent::Pici);
                    reply = core.send_dvm_operation(done, uncore).unwrap_or(reply);
                    self.peers().for_each(|peer| peer.l1i.clear());
                }
                reply
            }
            Maintenance::Tlb { .. }
            | Maintenance::Translate { .. }
            | Maintenance::TableBase { .. }
            | Maintenance::Stage2TableBase => self.maintain_translation(what, operand, now, sink),
        }
    }

    /// Performs `IC IVAU` in all cores.
    fn invalidate_inst_line<S: EventSink>(
        &mut self,
        addr: VirtAddr,
        now: Cycle,
        sink: &mut S,
    ) -> MemReply {
        let (core, uncore) = (&mut *self.core, &mut *self.uncore);
        let translated = match core.translate_uncounted(Requester::Read, addr, now, uncore, sink) {
            Ok(translated) => translated,
            Err(fault) => return fault,
        };
        let line = uncore.page_map.physical(addr, translated.target).line();
        let ready = translated.start + core.latencies.l2_lookup;
        uncore.count_broadcast(core.number, DvmEvent::Pici);
        core.l1i.remove(line);
        let reply = match core.send_dvm_operation(ready, uncore) {
            Some(sent) => {
                let mut reply = translated.reply(sent.done);
                reply.outcome.add(sent.outcome);
                reply
            }
            None => {
                let leaves = core.bus.message(ready);
                translated.reply(uncore.round_trip(core.number, line, leaves))
            }
        };
        self.peers().for_each(|peer| {
            peer.l1i.remove(line);
        });
        reply
    }
}

impl CoreMemory {
    /// Performs `DC` by address in this core and informs the other agents.
    fn maintain_line<S: EventSink>(
        &mut self,
        op: CacheOp,
        addr: VirtAddr,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        // Invalidation loses data, so it needs write permission.
        let requester = if op == CacheOp::Invalidate { Requester::Write } else { Requester::Read };
        let translated = match self.translate_uncounted(requester, addr, now, uncore, sink) {
            Ok(translated) => translated,
            Err(fault) => return fault,
        };
        let line = uncore.page_map.physical(addr, translated.target).line();
        self.drain_held_line(line, translated.start, uncore, sink);
        let held = self.l2.probe(line).is_some();
        if self.l1d.has_broken_tags() {
            self.repair_l1d_tags(line, sink);
        }
        let at = translated.start + self.latencies.l1d_hit;
        let mut cleaned = at;
        if cleans(op) {
            cleaned = self.clean_l1d(line, at, sink);
            if op != CacheOp::CleanToUnification {
                cleaned = self.clean_l2(line, cleaned, uncore, sink);
            }
        }
        if invalidates(op) {
            self.invalidate_copies(line, sink);
            uncore.drop_holder(self.number, line);
        }
        let leaves = self.bus.message(cleaned.max(at + self.latencies.l2_lookup));
        translated.reply(match snoop_of(op) {
            Some(snoop) => uncore.broadcast(self.number, snoop, line, held, leaves),
            None => uncore.round_trip(self.number, line, leaves),
        })
    }

    /// Performs `DC` by set and way in the cache that the operand names, in this core only.
    fn maintain_place<S: EventSink>(
        &mut self,
        op: CacheOp,
        operand: u64,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Cycle {
        let at = now + self.latencies.l1d_hit;
        if operand >> 1 & 0b111 == 0 {
            let entry = entry_of(operand, &self.l1d);
            let Some((line, _)) = self.l1d.content(entry) else { return at };
            self.repair_l1d_set(entry.set, sink);
            let cleaned = self.clean_l1d(line, at, sink);
            if invalidates(op) {
                self.l1d.remove(line);
            }
            return cleaned;
        }
        let at = at + self.latencies.l2_lookup;
        if operand >> 1 & 0b111 > 1 {
            // The core has no third cache level (guide 3.2.21).
            return at;
        }
        let entry = entry_of(operand, &self.l2);
        let Some((line, _)) = self.l2.content(entry) else { return at };
        if !invalidates(op) {
            return self.clean_l2(line, at, uncore, sink);
        }
        // The L1 copies leave with the L2 line that includes them, their data first.
        let cleaned = self.clean_l1d(line, at, sink);
        let cleaned = self.clean_l2(line, cleaned, uncore, sink);
        self.l1i.remove(line);
        self.l1d.remove(line);
        self.l2.remove(line);
        uncore.drop_holder(self.number, line);
        cleaned
    }

    /// Writes modified data of the L1 D-cache to the L2. Returns when the L2 holds it.
    fn clean_l1d<S: EventSink>(&mut self, line: LineAddr, at: Cycle, sink: &mut S) -> Cycle {
        let Some(entry) = self.l1d.probe(line) else { return at };
        let state = self.l1d.state(entry);
        let here = state.refill_time().at(at);
        if !state.is_dirty() {
            return here;
        }
        sink.notify(Notice::At(here));
        sink.raise(PmuEvent::L1D_CACHE_WB_CLEAN);
        let poisoned = self.check_l1d_data(entry, sink).is_lost();
        self.write_back_to_l2(line, poisoned, sink);
        self.l1d.set_state(entry, self.l1d.state(entry).with_dirty(false));
        here + self.latencies.l2_lookup
    }

    /// Writes modified data of the L2 out. Returns when it has left.
    fn clean_l2<S: EventSink>(
        &mut self,
        line: LineAddr,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Cycle {
        let Some(entry) = self.l2.probe(line) else { return at };
        let state = self.l2.state(entry);
        let here = state.refill_time().at(at);
        if !state.is_dirty() {
            return here;
        }
        sink.notify(Notice::At(here));
        sink.raise(PmuEvent::L2D_CACHE_WB_CLEAN);
        let leaves = self.bus.transaction(PmuEvent::BUS_ACCESS_WR, LINE_BYTES, here, sink);
        let sent = self.bus.send_line(leaves);
        uncore.note_poison(line, check_l2_data(&mut self.l2, entry));
        uncore.accept_clean(self.number, line, sent);
        self.l2.set_state(entry, self.l2.state(entry).with_dirty(false));
        sent
    }

    /// Removes every copy. A line in both caches counts once in each (decision A40).
    fn invalidate_copies<S: EventSink>(&mut self, line: LineAddr, sink: &mut S) {
        self.l1i.remove(line);
        if self.l1d.remove(line).is_some() {
            sink.raise(PmuEvent::L1D_CACHE_INVAL);
        }
        if self.l2.remove(line).is_some() {
            sink.raise(PmuEvent::L2D_CACHE_INVAL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ReplacementKind;

    #[test]
    fn an_operand_names_the_entry_it_was_built_from() {
        let cache = Cache::new(64 * 1024, 4, ReplacementKind::Lru, 0);
        let entry = EntryIndex { set: 0x55, way: 3 };
        let operand = 3 << 30 | 0x55 << 6;
        assert_eq!(entry_of(operand, &cache), entry);
        let direct = Cache::new(4096, 1, ReplacementKind::Lru, 0);
        assert_eq!(entry_of(0x7 << 6, &direct), EntryIndex { set: 7, way: 0 });
    }
}
