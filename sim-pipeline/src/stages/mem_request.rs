//! The access that an instruction makes, as the load/store unit asks the memory system for it.

use crate::op::Op;
use crate::stages::sve_elements::active_bytes;
use sim_core::time::NEVER;
use sim_core::{Activity, MemKind, MemRequest, VirtAddr};
use sim_isa::MemShape;

/// The access that an instruction makes, if its address is known.
#[inline(always)]
pub(crate) fn request_of(op: &Op<'_>) -> Option<MemRequest> {
    let addr = op.addr?;
    // Maintenance makes its own request (`maintenance_of`).
    let kind = op.inst.access_kind()?;
    if op.inst.mem.op.is_atomic() && op.squash != NEVER {
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

/// As [`request_of`], for an access of this kind that has a [`sim_isa::PathClass`] of its own.
#[inline(always)]
pub(crate) fn simple_request(op: &Op<'_>, kind: MemKind) -> Option<MemRequest> {
    let addr = VirtAddr(op.addr?);
    let MemShape { bytes, register_bytes, tags, .. } = op.inst.mem;
    let request = MemRequest::new(VirtAddr(op.pc), addr, bytes.max(1).into(), kind);
    Some(MemRequest { element_bytes: register_bytes.into(), tags, ..request })
}
