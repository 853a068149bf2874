//! Alignment faults: Device memory accepts naturally aligned accesses only (Arm architecture,
//! "Alignment of data accesses"; PMU guide 4.11.6 counts the abort).
//!
//! The fault is detected after translation, before anything leaves the core. It belongs to the
//! stage whose attributes make the memory Device.

use sim_core::{AccessOutcome, DataSource, MemKind, MemReply, MemRequest, VirtAddr};

use crate::flows::translate::Translated;
use crate::uncore::Uncore;
use crate::units::mapping::MemoryType;

/// Returns the reply of an access whose part at `addr` has an alignment fault, or `None`. `DC ZVA`
/// to Device memory always faults.
#[inline]
pub(crate) fn misaligned_on_device(
    request: &MemRequest,
    addr: VirtAddr,
    translated: Translated,
    uncore: &Uncore,
) -> Option<MemReply> {
    let is_device = translated.target.memory == MemoryType::Device;
    let is_fault = is_device && (!request.is_aligned() || request.kind == MemKind::ZeroLine);
    is_fault.then(|| refused(addr, translated, uncore))
}

#[cold]
fn refused(addr: VirtAddr, translated: Translated, uncore: &Uncore) -> MemReply {
    let page = uncore.page_map.page_of(addr);
    let stage1 = uncore.page_map.stage1().leaf(page);
    let by_stage1 = stage1.is_none_or(|leaf| leaf.memory == MemoryType::Device);
    let fault = if by_stage1 {
        AccessOutcome::FAULT
    } else {
        AccessOutcome::FAULT.with(AccessOutcome::STAGE_2)
    };
    let mut reply = MemReply { source: DataSource::L1, ..translated.reply(translated.start + 1) };
    reply.outcome.add(fault);
    reply
}
