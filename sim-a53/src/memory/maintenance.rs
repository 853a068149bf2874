//! Maintenance of caches and TLBs. TRM 2.1.6, 5.2, 6.2.
//!
//! Assumed: an operation first empties the store buffer, in which it waits; its time is that of an
//! L2 lookup, and of a write to memory where data goes there. Operations on the whole shareability
//! domain reach every core of the cluster. An operation on a TLB means the current VMID, except
//! those on everything; one on an intermediate page or on both stages empties the IPA cache of it,
//! too.

use sim_core::{CacheOp, Maintenance, TlbScope};

use crate::event::{A53Event, A53Sink};

use super::cache::{ADDRESS_MASK, LINE_SHIFT, LineState, Victim};
use super::cluster::{Cluster, CoreUnits};
use super::main_tlb::PageKey;
use super::translate::Side;

/// First bit of the ASID in the operand of `TLBI` and in a table base register.
const ASID_SHIFT: u32 = 48;
/// Bits of a page number in the operand of `TLBI`.
const PAGE_MASK: u64 = (1 << 44) - 1;

impl Cluster {
    /// Performs an operation with an operand in Arm's format. Returns the cycle in which it is
    /// done.
    pub(crate) fn perform<S: A53Sink>(
        &mut self,
        core: usize,
        what: Maintenance,
        operand: u64,
        now: u64,
        sink: &mut S,
    ) -> u64 {
        let addr = operand & ADDRESS_MASK;
        match what {
            Maintenance::DataByAddress(op) => {
                let at = self.drain_stores(core, now, sink);
                let at = self.translate(core, Side::Data, addr, at, sink);
                self.data_by_address(op, addr >> LINE_SHIFT, at, sink)
            }
            Maintenance::DataBySetWay(op) => {
                let at = self.drain_stores(core, now, sink);
                self.data_by_set_way(core, op, operand, at, sink)
            }
            Maintenance::InstByAddress => {
                let at = self.translate(core, Side::Data, addr, now, sink);
                for units in &mut self.cores {
                    units.l1i.remove(addr >> LINE_SHIFT);
                }
                self.l2.first_beat(at)
            }
            Maintenance::InstAll { broadcast } => {
                self.each_core(core, broadcast, |units| units.l1i.clear());
                self.l2.first_beat(now)
            }
            Maintenance::Tlb { scope, broadcast } => {
                self.each_core(core, broadcast, |units| invalidate_tlbs(units, scope, operand));
                self.l2.first_beat(now)
            }
            Maintenance::Translate { .. } => self.translate(core, Side::Data, addr, now, sink),
            Maintenance::TableBase { upper } => {
                if upper == self.rules.asid_in_upper {
                    self.cores[core].space.asid = operand >> ASID_SHIFT;
                }
                self.cores[core].clear_micro_tlbs();
                now
            }
            Maintenance::Stage2TableBase => {
                self.cores[core].space.vmid = operand >> ASID_SHIFT & 0xFF;
                self.cores[core].clear_micro_tlbs();
                now
            }
        }
    }

    fn each_core(&mut self, core: usize, broadcast: bool, mut apply: impl FnMut(&mut CoreUnits)) {
        for (index, units) in self.cores.iter_mut().enumerate() {
            if broadcast || index == core {
                apply(units);
            }
        }
    }

    /// Applies an operation to the copies of a line in all caches of the cluster.
    fn data_by_address<S: A53Sink>(
        &mut self,
        op: CacheOp,
        line: u64,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        let looked_up = self.l2.first_beat(at);
        let removes = matches!(op, CacheOp::Invalidate | CacheOp::CleanInvalidate);
        let mut dirty = false;
        for core in 0..self.cores.len() {
            dirty |= self.clean_l1d(core, line, removes);
        }
        if op == CacheOp::Invalidate {
            self.l2.remove(line);
            return looked_up;
        }
        if dirty {
            sink.raise(A53Event::L1D_CACHE_WB, at, 1);
        }
        if op == CacheOp::CleanToUnification && self.l2.is_present() {
            if dirty {
                self.snoop.share(line, usize::MAX, false);
                let replaced = self.l2.write(line, true, looked_up, looked_up);
                self.retire_l2_victim(replaced, looked_up, sink);
            }
            return looked_up;
        }
        let l2_dirty = self.l2.clean(line);
        if removes {
            self.l2.remove(line);
        }
        self.write_cleaned(dirty, l2_dirty, looked_up, sink)
    }

    /// Removes the dirt of a line in an L1 data cache, or the line. Returns whether it was dirty.
    fn clean_l1d(&mut self, core: usize, line: u64, removes: bool) -> bool {
        let l1d = self.snoop.l1d(core);
        let Some(entry) = l1d.probe(line) else { return false };
        let state = l1d.state(entry);
        if removes {
            l1d.remove(line);
        } else {
            l1d.set_state(entry, state.without(LineState::DIRTY));
        }
        state.has(LineState::DIRTY)
    }

    /// Writes a cleaned line to memory. Returns the cycle in which memory has it.
    fn write_cleaned<S: A53Sink>(
        &mut self,
        l1_dirty: bool,
        l2_dirty: bool,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        if l2_dirty {
            sink.raise(A53Event::L2D_CACHE_WB, at, 1);
        }
        if !l1_dirty && !l2_dirty {
            return at;
        }
        let leaves = self.bus.write(at);
        self.bus.complete(leaves, false)
    }

    /// Applies an operation to one set and way: level 1 is the core's own data cache.
    fn data_by_set_way<S: A53Sink>(
        &mut self,
        core: usize,
        op: CacheOp,
        operand: u64,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        let level = operand >> 1 & 7;
        let set = (operand & 0xFFFF_FFFF) >> LINE_SHIFT;
        let removes = matches!(op, CacheOp::Invalidate | CacheOp::CleanInvalidate);
        let writes = op != CacheOp::Invalidate;
        if level == 0 {
            // Four ways: the way number has the two top bits.
            let Some(line) = self.snoop.l1d(core).line_at(set, operand >> 30 & 3) else {
                return at;
            };
            let dirty = self.clean_l1d(core, line, removes);
            if dirty && writes {
                return self.evict(Victim { line, state: LineState::DIRTY }, at, sink);
            }
            return at + 1;
        }
        let looked_up = self.l2.first_beat(at);
        // Sixteen ways: the way number has the four top bits.
        let Some(line) = self.l2.line_at(set, operand >> 28 & 15) else { return looked_up };
        let dirty = self.l2.clean(line);
        if removes {
            self.l2.remove(line);
        }
        self.write_cleaned(false, dirty && writes, looked_up, sink)
    }
}

/// Removes entries of a core. Any operation empties the micro-TLBs (TRM 5.2.1).
fn invalidate_tlbs(units: &mut CoreUnits, scope: TlbScope, operand: u64) {
    units.clear_micro_tlbs();
    let asid = operand >> ASID_SHIFT;
    let page = operand & PAGE_MASK;
    let vmid = units.space.vmid;
    match scope {
        TlbScope::All => {
            units.remove(|_| true, true);
            units.walker.ipa_cache.remove(|_| true);
        }
        TlbScope::Vmid { stage2 } => {
            units.remove(|key| key.vmid() == vmid, true);
            if stage2 {
                units.walker.ipa_cache.remove(|key| key.vmid() == vmid);
            }
        }
        TlbScope::Asid => {
            units.remove(|key| key.vmid() == vmid && !key.is_global() && key.asid() == asid, true)
        }
        TlbScope::Page { last_level } => units
            .remove(|key| key.vmid() == vmid && key.is_of(asid) && key.covers(page), !last_level),
        TlbScope::PageAnyAsid { last_level } => {
            units.remove(|key| key.vmid() == vmid && key.covers(page), !last_level);
        }
        // Entries of both stages stay in the main TLB: the architecture wants another operation.
        TlbScope::IntermediatePage => {
            units.walker.ipa_cache.remove(|key| key.vmid() == vmid && key.covers(page));
        }
    }
}

impl CoreUnits {
    fn clear_micro_tlbs(&mut self) {
        self.fetch_micro_tlb.clear();
        self.data_micro_tlb.clear();
    }

    /// Removes entries from the main TLB, and from the walk cache if `tables`.
    fn remove(&mut self, removes: impl Fn(PageKey) -> bool, tables: bool) {
        self.main_tlb.remove(&removes);
        if tables {
            self.walker.cache.remove(&removes);
        }
    }
}
