//! The access that an instruction makes, as the load/store unit asks the memory system for it.

use crate::op::Op;
use crate::stages::sve_elements::active_bytes;
use sim_core::time::NEVER;
use sim_core::{Activity, MemKind, MemRequest, VirtAddr};
use sim_isa::{Inst, MemOp, MemShape};

/// The access that an instruction makes, if its address is known.
#[inline(always)]
pub(crate) fn request_of(op: &Op<'_>) -> Option<MemRequest> {
    let addr = op.addr?;
    let kind = match op.inst.mem.op {
        MemOp::Load => MemKind::Load,
        MemOp::Store => MemKind::Store,
        MemOp::AtomicLoad => MemKind::AtomicLoad,
        MemOp::AtomicStore => MemKind::AtomicStore,
        MemOp::AtomicSwap => MemKind::AtomicSwap,
        preload @ (MemOp::PrefetchLoad | MemOp::PrefetchStore) => preload_kind(preload, op.inst),
        MemOp::ZeroLine => MemKind::ZeroLine,
        // Maintenance has a outcome of its own.
        MemOp::None | MemOp::PrefetchInst | MemOp::Maintenance => return None,
    };
    if is_atomic(kind) && op.squash != NEVER {
        // An atomic changes memory: it is not performed on a wrong path.
        return None;
    }
    let mut bytes = u32::from(op.inst.mem.bytes.max(1));
    if op.flags.activity() != Activity::All {
        bytes = active_bytes(&op.inst.mem, op.flags.activity(), op.flags.active_elements());
        if bytes == 0 {
            return None;
        }
    }
    let request = MemRequest::new(VirtAddr(op.pc), VirtAddr(addr), bytes, kind);
    let MemShape { register_bytes, exclusive, tags, .. } = op.inst.mem;
    // Only what is architecturally executed marks the monitor: on a wrong path it is a plain load.
    let exclusive = exclusive && op.squash == NEVER;
    Some(MemRequest { element_bytes: register_bytes.into(), exclusive, tags, ..request })
}

/// Which cache a preload is for.
fn preload_kind(preload: MemOp, inst: &Inst) -> MemKind {
    let for_write = preload == MemOp::PrefetchStore;
    match () {
        () if inst.preloads_outer() => MemKind::PrefetchOuter { for_write },
        () if for_write => MemKind::PrefetchStore,
        () => MemKind::PrefetchLoad,
    }
}

/// As [`request_of`], for an access of this kind that has a [`sim_isa::PathClass`] of its own.
#[inline(always)]
pub(crate) fn simple_request(op: &Op<'_>, kind: MemKind) -> Option<MemRequest> {
    let addr = VirtAddr(op.addr?);
    let MemShape { bytes, register_bytes, tags, .. } = op.inst.mem;
    let request = MemRequest::new(VirtAddr(op.pc), addr, bytes.max(1).into(), kind);
    Some(MemRequest { element_bytes: register_bytes.into(), tags, ..request })
}

/// True for accesses that read and write memory at once.
#[inline]
pub(crate) fn is_atomic(kind: MemKind) -> bool {
    matches!(kind, MemKind::AtomicLoad | MemKind::AtomicStore | MemKind::AtomicSwap)
}
