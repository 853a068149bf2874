//! Order in which stores leave for the caches. Barriers, releases and atomics flush the stores that
//! are being merged. An access with a forbidden address is not made.

use crate::op::Op;
use crate::pipeline::Pipeline;
use sim_core::time::NEVER;
use sim_core::{
    AccessOutcome, Cycle, EventSink, MemKind, MemReply, MemRequest, MemoryPort, PmuEvent, TagUse,
    VirtAddr,
};
use sim_isa::{BarrierScope, Inst, MemOp};

/// Flushes the stores that wait in the memory system for the rest of their line. Returns when the
/// caches have them, or 0 if there are none.
#[inline(never)]
pub(crate) fn push_merged<M: MemoryPort, S: EventSink>(
    pc: u64,
    at: Cycle,
    memory: &mut M,
    sink: &mut S,
) -> Cycle {
    let request = MemRequest::new(VirtAddr(pc), VirtAddr(0), 1, MemKind::DrainStores);
    memory.access(request, at, sink).done
}

impl Pipeline {
    /// Flushes the stores that wait for the rest of their line, at the end of the stream in `now`.
    pub fn push_stores<M: MemoryPort, S: EventSink>(
        &mut self,
        now: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) {
        let at = now.max(self.lsu.all_done());
        let pushed = push_merged(0, at, memory, sink);
        self.lsu.maintained(pushed);
    }

    /// Flushes merging stores for a barrier that orders stores: none may wait for younger stores.
    pub(crate) fn push_before_barrier<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        memory: &mut M,
        sink: &mut S,
    ) {
        let orders_stores = op.inst.barrier_scope() != BarrierScope::Loads;
        if op.squash == NEVER && orders_stores {
            let pushed = push_merged(op.pc, self.lsu.all_done(), memory, sink);
            self.lsu.maintained(pushed);
        }
    }

    /// Flushes merging stores for an atomic with release semantics. Such an atomic is observed
    /// after all older operations.
    pub(crate) fn push_before_atomic<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        at: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) {
        if op.inst.mem.op.is_atomic() && op.inst.events.contains(PmuEvent::RC_ST_SPEC) {
            let pushed = push_merged(op.pc, at, memory, sink);
            self.lsu.maintained(pushed);
        }
    }

    /// Returns the reply of an access that faults because of its address alone. Nothing is
    /// translated then.
    #[inline]
    pub(crate) fn refuse_misaligned(&self, op: &Op<'_>, issue: Cycle) -> Option<MemReply> {
        let addr = op.addr?;
        // A trace records what was executed: its machine may have set `SCTLR_EL1.nAA`.
        let is_refused = self.has_handlers() && is_misaligned(op.inst, addr);
        let fault =
            MemReply { done: issue + 1, outcome: AccessOutcome::FAULT, ..MemReply::default() };
        is_refused.then_some(fault)
    }
}

/// Returns whether the access takes an alignment fault in Normal memory, with `SCTLR_EL1.A` and
/// `nAA` 0 (Arm ARM B2.5.2, FEAT_LSE2). Acquires, releases, exclusives and atomics must stay inside
/// 16 aligned bytes; stores of tags must begin at a granule.
fn is_misaligned(inst: &Inst, addr: u64) -> bool {
    let mem = &inst.mem;
    let at_once = mem.ordered || mem.exclusive || mem.op.is_atomic();
    let stores_tags =
        mem.tags == TagUse::Writes && mem.op == MemOp::Store && !inst.stores_tag_block();
    at_once && addr % 16 + u64::from(mem.bytes) > 16 || stores_tags && !addr.is_multiple_of(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether the instruction is refused at each of these offsets from an address aligned
    /// to 16 bytes.
    fn refused<const N: usize>(word: u32, offsets: [u64; N]) -> [bool; N] {
        let inst = sim_isa::decode(word);
        offsets.map(|offset| is_misaligned(&inst, 0x1000 + offset))
    }

    /// Arm ARM B2.5.2, FEAT_LSE2.
    #[test]
    fn ordered_exclusive_and_atomic_accesses_stay_inside_16_aligned_bytes() {
        let offsets = [0, 3, 8, 9, 15];
        let of_eight_bytes = [false, false, false, true, true];
        for (word, name) in [
            (0xc8df_fc41, "ldar x1, [x2]"),
            (0xc89f_fc41, "stlr x1, [x2]"),
            (0xc85f_7c41, "ldxr x1, [x2]"),
            (0xf821_0040, "ldadd x1, x0, [x2]"),
            (0xf821_005f, "stadd x1, [x2]"),
            (0xf821_8040, "swp x1, x0, [x2]"),
        ] {
            assert_eq!(refused(word, offsets), of_eight_bytes, "{name}");
        }
        assert_eq!(refused(0xc87f_0440, [0, 1, 8]), [false, true, true], "ldxp x0, x1, [x2]");
        assert_eq!(refused(0xf940_0041, offsets), [false; 5], "ldr x1, [x2]");
        assert_eq!(refused(0xf900_0041, offsets), [false; 5], "str x1, [x2]");
    }

    #[test]
    fn tag_stores_must_begin_at_a_granule_unless_they_align_their_address() {
        let offsets = [0, 8, 16];
        for (word, name) in [
            (0xd920_0820, "stg x0, [x1]"),
            (0xd9a0_0820, "st2g x0, [x1]"),
            (0xd960_0820, "stzg x0, [x1]"),
            (0x6900_0440, "stgp x0, x1, [x2]"),
        ] {
            assert_eq!(refused(word, offsets), [false, true, false], "{name}");
        }
        for (word, name) in [
            (0xd9a0_0020, "stgm x0, [x1]"),
            (0xd920_0020, "stzgm x0, [x1]"),
            (0xd960_0020, "ldg x0, [x1]"),
            (0xd50b_7480, "dc gzva, x0"),
            (0xd50b_7420, "dc zva, x0"),
        ] {
            assert_eq!(refused(word, offsets), [false; 3], "{name}");
        }
    }
}
