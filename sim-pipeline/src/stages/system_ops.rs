//! Cache and TLB maintenance and context writes on their way through the core (PMU guide 3.2.11,
//! 3.2.19, 4.1.3).
//!
//! These operations leave through the store queue when all older operations have retired, so they
//! never run on a wrong path. Only a `DSB` waits for their completion, in all cores if they are
//! broadcast. Without the value of Xt, an operation that needs it is counted as an instruction and
//! has no effect.

use crate::op::ExecResult;
use crate::op::Op;
use crate::pipeline::Pipeline;
use crate::stages::execute::Progress;
use sim_core::time::NEVER;
use sim_core::{
    AccessOutcome, Cycle, EventSink, Maintenance, MemKind, MemRequest, MemoryPort, Notice,
    PmuEvent, Privilege, VirtAddr,
};
use sim_isa::{BankName, ContextWrite};

impl Pipeline {
    /// Sends maintenance that is ready in `ready` to the memory system.
    #[cold]
    #[inline(never)]
    pub(crate) fn maintain<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        ready: Cycle,
        at: &mut Progress,
        done: &mut ExecResult,
        memory: &mut M,
        sink: &mut S,
    ) {
        let Some((what, request)) = self.maintenance_of(op) else { return };
        let certain = ready.max(self.retire.cycle());
        let start = self.lsu.drain(certain, true);
        done.reply = memory.access(request, start, sink);
        at.result = at.result.max(certain + 1);
        self.lsu.maintained(done.reply.done);
        if done.reply.outcome.has(AccessOutcome::UNSYNCHRONIZED) {
            self.lsu.sent_to_all();
        }
        if maintains_code(what) {
            self.front.clear_mop_cache();
        }
    }

    /// Makes a `DSB`, ready in cycle `ready`, wait until all cores have performed the maintenance
    /// that this core sent them.
    #[cold]
    #[inline(never)]
    pub(crate) fn synchronize<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        ready: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) {
        if op.squash == NEVER && op.retires && op.inst.completes_maintenance() {
            self.synchronize_at(op.pc, ready, memory, sink);
        }
    }

    fn synchronize_at<M: MemoryPort, S: EventSink>(
        &mut self,
        pc: u64,
        ready: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) -> Cycle {
        let start = ready.max(self.retire.cycle()).max(self.lsu.all_done());
        let request = MemRequest::new(VirtAddr(pc), VirtAddr(0), 1, MemKind::Synchronize);
        let done = memory.access(request, start, sink).done;
        self.lsu.synchronized(done);
        done
    }

    /// Completes maintenance of all cores before another thread gets this one, as the `DSB` in a
    /// kernel's switch of threads does. Returns the cycle from which the core is free.
    pub fn complete_maintenance<M: MemoryPort, S: EventSink>(
        &mut self,
        memory: &mut M,
        sink: &mut S,
    ) -> Cycle {
        if self.lsu.is_unsynchronized() { self.synchronize_at(0, 0, memory, sink) } else { 0 }
    }

    /// Returns the kind of maintenance and its request. Returns `None` if it may not retire, if its
    /// operand is not known, or if it concerns another exception level.
    pub(crate) fn maintenance_of(&self, op: &Op<'_>) -> Option<(Maintenance, MemRequest)> {
        let what = op.inst.maintenance?;
        let operand = op.inst.maintenance_operand(op.addr);
        let (Some(operand), NEVER, true) = (operand, op.squash, op.retires) else { return None };
        if !self.concerns_this_level(op.inst.context_write) {
            return None;
        }
        let kind = MemKind::Maintain(what);
        Some((what, MemRequest::new(VirtAddr(op.pc), VirtAddr(operand), 1, kind)))
    }

    /// Returns whether the write affects the current level. A table base written under another
    /// level's name translates nothing for the running program.
    fn concerns_this_level(&self, write: Option<ContextWrite>) -> bool {
        match write {
            Some(ContextWrite::TableBase(BankName::El12)) => false,
            Some(ContextWrite::TableBase(BankName::El2)) => self.exceptions.privilege.level == 2,
            _ => true,
        }
    }
}

/// Returns whether this maintenance can change the instructions that follow or their translations.
pub(crate) fn maintains_code(what: Maintenance) -> bool {
    matches!(
        what,
        Maintenance::InstByAddress
            | Maintenance::InstAll { .. }
            | Maintenance::Tlb { .. }
            | Maintenance::TableBase { .. }
            | Maintenance::Stage2TableBase
    )
}

/// Clears the exclusive monitor, for `CLREX` and for a store-exclusive that failed.
#[cold]
pub(crate) fn clear_monitor<M: MemoryPort, S: EventSink>(
    pc: u64,
    at: Cycle,
    memory: &mut M,
    sink: &mut S,
) {
    let request = MemRequest::new(VirtAddr(pc), VirtAddr(0), 1, MemKind::ClearExclusive);
    memory.access(request, at, sink);
}

/// Raises `TTBR_WRITE_RETIRED` and `CID_WRITE_RETIRED` for writes under EL1 names, also if
/// `HCR_EL2.E2H` redirects them. Writes under EL12 names, which exist only with E2H, count too
/// (decision A31). Raises `SW_INCR` for each write of `PMSWINC_EL0`, whichever counters its operand
/// names.
pub(crate) fn raise_context_write<S: EventSink>(
    register: ContextWrite,
    operand: Option<u64>,
    privilege: Privilege,
    sink: &mut S,
) {
    let (ContextWrite::TableBase(name) | ContextWrite::ContextId(name)) = register else {
        sink.raise(PmuEvent::SW_INCR);
        if let Some(counters) = operand {
            sink.notify(Notice::SoftwareIncrement(counters as u32));
        }
        return;
    };
    let counts = match name {
        BankName::El1 => privilege.level >= 1,
        BankName::El12 => privilege.level >= 2 && privilege.e2h,
        BankName::El2 => false,
    };
    if !counts {
        return;
    }
    match register {
        ContextWrite::TableBase(_) => sink.raise(PmuEvent::TTBR_WRITE_RETIRED),
        _ => sink.raise(PmuEvent::CID_WRITE_RETIRED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use BankName::{El1, El2, El12};
    use sim_core::Counts;

    /// Returns how often the write counts at levels 0 to 3, without and with `HCR_EL2.E2H`.
    fn counting(name: BankName) -> [[u64; 4]; 2] {
        [false, true].map(|e2h| {
            [0, 1, 2, 3].map(|level| {
                let privilege = Privilege { level, e2h, ..Privilege::default() };
                let mut counts = Counts::default();
                for write in [ContextWrite::TableBase(name), ContextWrite::ContextId(name)] {
                    raise_context_write(write, Some(0), privilege, &mut counts);
                }
                let found = [PmuEvent::TTBR_WRITE_RETIRED, PmuEvent::CID_WRITE_RETIRED];
                let [base, context] = found.map(|event| counts.value(event));
                assert_eq!(base, context, "both writes count equally");
                base
            })
        })
    }

    #[test]
    fn writes_count_under_el1_names_and_as_a_host_under_el12_names() {
        assert_eq!(counting(El1), [[0, 1, 1, 1]; 2]);
        assert_eq!(counting(El12), [[0, 0, 0, 0], [0, 0, 1, 1]]);
        assert_eq!(counting(El2), [[0; 4]; 2]);
    }
}
