//! Memory access of an instruction, as the load/store unit requests it.

use crate::op::Op;
use crate::route::Route;
use crate::stages::sve_elements::active_bytes;
use sim_core::time::NEVER;
use sim_core::{Activity, MemKind, MemRequest, VirtAddr};
use sim_isa::MemShape;

/// Returns the access that an instruction makes. Returns `None` without an address, for an atomic
/// on a wrong path, and if no element is active.
#[inline(always)]
pub(crate) fn request_of<R: Route>(op: &Op<'_>) -> Option<MemRequest> {
    let (pc, addr) = (VirtAddr(op.pc), VirtAddr(op.addr?));
    let MemShape { register_bytes, exclusive, tags, .. } = op.inst.mem;
    let mut bytes = u32::from(op.inst.mem.bytes.max(1));
    if R::IS_ORDINARY {
        let kind = if R::MAY_STORE { MemKind::Store } else { MemKind::Load };
        let request = MemRequest::new(pc, addr, bytes, kind);
        return Some(MemRequest { element_bytes: register_bytes.into(), tags, ..request });
    }
    // Cache and TLB maintenance makes its own request (`maintenance_of`).
    let kind = op.inst.access_kind()?;
    if op.inst.mem.op.is_atomic() && op.squash != NEVER {
        // An atomic changes memory, so a wrong path does not perform it.
        return None;
    }
    if op.flags.activity() != Activity::All {
        bytes = active_bytes(&op.inst.mem, op.flags.activity(), op.flags.active_elements());
        if bytes == 0 {
            return None;
        }
    }
    let request = MemRequest::new(pc, addr, bytes, kind);
    // Only an architecturally executed load marks the monitor; on a wrong path it is a plain load.
    let exclusive = exclusive && op.squash == NEVER;
    Some(MemRequest { element_bytes: register_bytes.into(), exclusive, tags, ..request })
}
