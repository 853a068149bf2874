//! Elements of an SVE memory access: the active ones, the address of each, and the suppressed
//! faults (Arm ARM, SVE memory accesses; PMU guide 4.13).
//!
//! A gather or scatter makes one access per active element. Any other instruction makes one access,
//! from its first active byte to its last. A predicate with no active element makes none. If a
//! trace does not give the addresses of a gather, its elements are assumed to be consecutive.

use crate::op::Op;
use crate::op::{ExecResult, PendingStore};
use crate::pipeline::Pipeline;
use crate::units::lsu::StoreTimes;
use crate::units::stamp::Stamp;
use sim_core::{
    AccessOutcome, Activity, Cycle, EventSink, LINE_SHIFT, MemReply, MemRequest, MemoryPort,
    PmuEvent, VirtAddr,
};
use sim_isa::{Faulting, Inst, MemShape, StaticEvents};

/// Returns whether the instruction accesses memory element by element.
#[inline]
pub(crate) fn is_by_element(inst: &Inst) -> bool {
    inst.mem.scattered || inst.mem.faulting != Faulting::Every
}

/// Returns the bytes from the first active element of a contiguous access to the last.
pub(crate) fn active_bytes(mem: &MemShape, activity: Activity, elements: u16) -> u32 {
    let bytes = u32::from(mem.bytes);
    match (activity, elements) {
        (Activity::None, _) => 0,
        (Activity::All, _) | (Activity::Partial, 0) => bytes,
        (Activity::Partial, active) => {
            let span = u16::BITS - active.leading_zeros() - active.trailing_zeros();
            let of_one = bytes / u32::from(mem.elements.max(1));
            bytes.min(span * of_one.max(1))
        }
    }
}

/// Returns one request for each active element, in element order.
pub(crate) fn requests<'a>(
    op: &'a Op<'_>,
    first: MemRequest,
) -> impl Iterator<Item = MemRequest> + 'a {
    let mem = &op.inst.mem;
    let given = 1 + op.more.len();
    let (count, bytes) = if !mem.scattered {
        (1, first.bytes)
    } else if op.flags.activity() == Activity::All {
        (given.max(mem.elements.into()), mem.align.into())
    } else {
        (given, mem.align.into())
    };
    (0..count).map(move |i| {
        let after = |last: u64, n: usize| last.wrapping_add(n as u64 * u64::from(bytes));
        let addr = match i.checked_sub(1) {
            None => first.addr.0,
            Some(k) => op.more.get(k).copied().unwrap_or_else(|| {
                let last = op.more.last().copied().unwrap_or(first.addr.0);
                after(last, i + 1 - given)
            }),
        };
        MemRequest { addr: VirtAddr(addr), bytes, ..first }
    })
}

/// Returns whether the instruction suppresses the fault of element number `element`.
pub(crate) fn is_suppressed(
    faulting: Faulting,
    element: usize,
    request: &MemRequest,
    reply: &MemReply,
) -> bool {
    match faulting {
        Faulting::Every => false,
        Faulting::Never => true,
        Faulting::First if element > 0 => true,
        Faulting::First => {
            let end = request.addr.0.wrapping_add(u64::from(request.element_bytes) - 1);
            let is_whole = end >> LINE_SHIFT == request.addr.0 >> LINE_SHIFT;
            is_whole && reply.outcome.has(AccessOutcome::FAULT_AFTER_FIRST)
        }
    }
}

impl Pipeline {
    /// Performs a gather, a first-fault load or a non-fault load that issues in `issue`. A
    /// suppressed fault ends it. Returns the outcome of its elements, with `done` the cycle in
    /// which the last is ready.
    #[cold]
    #[inline(never)]
    pub(crate) fn load_elements<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        first: MemRequest,
        issue: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) -> MemReply {
        let faulting = op.inst.mem.faulting;
        let element_bytes = op.inst.mem.align.into();
        let mut whole = MemReply::NOTHING;
        for (i, request) in requests(op, first).enumerate() {
            let mut part = self.read(request, issue, &mut ExecResult::default(), memory, sink);
            let faults = part.outcome.has(AccessOutcome::FAULT);
            let request = MemRequest { element_bytes, ..request };
            if faults && is_suppressed(faulting, i, &request, &part) {
                sink.raise(PmuEvent::SVE_LDFF_FAULT_SPEC);
                part.outcome.remove(AccessOutcome::FAULT);
                whole.join(part);
                break;
            }
            whole.join(part);
            if faults {
                break;
            }
        }
        whole
    }

    /// Translates the elements of a scatter.
    #[cold]
    #[inline(never)]
    pub(crate) fn translate_elements<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        first: MemRequest,
        issue: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) -> MemReply {
        let mut whole = MemReply::NOTHING;
        for request in requests(op, first) {
            whole.join(memory.translate_store(request, issue, sink));
            if whole.outcome.has(AccessOutcome::FAULT) {
                break;
            }
        }
        whole
    }

    /// Sends the elements of a scatter that retires in `retired` from the store queue, one by one.
    /// Returns the outcome, with `done` the cycle in which the cache has the last.
    #[cold]
    #[inline(never)]
    pub(crate) fn store_elements<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        store: PendingStore,
        retired: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) -> MemReply {
        let mut all = MemReply { done: retired, ..MemReply::NOTHING };
        for request in requests(op, store.request) {
            let drain = self.lsu.drain_pieces(&request, retired, store.release);
            let reply = memory.access(request, drain, sink);
            let drained = reply.done.max(drain);
            let data = Stamp::new(store.data, self.path.now());
            let times = StoreTimes { known: store.known, data, drained };
            self.lsu.stored(request.addr.0, request.bytes.into(), times);
            all.join(MemReply { done: drained, ..reply });
        }
        all
    }
}

/// Counts an SVE operation by its governing predicate if the predicate was not all TRUE. Returns
/// the events that remain to be counted.
#[cold]
pub(crate) fn raise_predicate<S: EventSink>(
    events: StaticEvents,
    activity: Activity,
    mops: u32,
    sink: &mut S,
) -> StaticEvents {
    let full = StaticEvents::bit(PmuEvent::SVE_PRED_FULL_SPEC);
    let event = match activity {
        Activity::All => return events,
        Activity::None => PmuEvent::SVE_PRED_EMPTY_SPEC,
        Activity::Partial => PmuEvent::SVE_PRED_PARTIAL_SPEC,
    };
    if events.0 & full.0 != 0 {
        sink.count(event, mops.into());
    }
    StaticEvents(events.0 & !full.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(word: u32) -> MemShape {
        sim_isa::decode(word).mem
    }

    #[test]
    fn a_partial_access_goes_from_its_first_active_byte_to_its_last() {
        let cases: [(u32, &str, u16, u32); 6] = [
            (0xa540_a820, "ld1w {z0.s}, p2/z, [x1]", 0b0001, 4),
            (0xa540_a820, "ld1w {z0.s}, p2/z, [x1]", 0b1010, 12),
            (0xa540_a820, "ld1w {z0.s}, p2/z, [x1]", 0, 16),
            (0xa400_a820, "ld1b {z0.b}, p2/z, [x1]", 0x00f0, 4),
            (0xa460_a820, "ld1b {z0.d}, p2/z, [x1]", 0b10, 1),
            (0xa520_e820, "ld2w {z0.s, z1.s}, p2/z, [x1]", 0b0011, 16),
        ];
        for (word, text, active, bytes) in cases {
            assert_eq!(active_bytes(&shape(word), Activity::Partial, active), bytes, "{text}");
        }
        assert_eq!(active_bytes(&shape(0xa540_a820), Activity::None, 0), 0);
    }

    #[test]
    fn only_operations_with_a_governing_predicate_raise_predicate_events() {
        let mut counts = sim_core::Counts::default();
        let add = sim_isa::decode(0x0423_0040).events; // add z0.b, z2.b, z3.b
        assert_eq!(raise_predicate(add, Activity::None, 1, &mut counts), add);
        assert_eq!(counts.value(PmuEvent::SVE_PRED_SPEC), 0);
    }
}
