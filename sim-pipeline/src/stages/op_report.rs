//! Reports operations and changes of exception level to the sink. These reports do not change the
//! core's behavior, and compile away for a sink that does not observe operations.

use crate::pipeline::Pipeline;
use sim_core::operation::{AccessKind, AccessShape, BranchCourse};
use sim_core::{
    AccessOutcome, Cycle, DataSource, EventSink, InstFlags, LoadWait, MemoryPort, Notice,
    OpTimeline, Operation, OperationKind, PmuEvent, VirtAddr,
};
use sim_isa::{BranchKind, Inst, Program, Reg, RegFile, Role, StaticEvents};

/// Known outcome of an instruction after its execution.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpOutcome {
    /// Set for a taken branch.
    pub(crate) taken: bool,
    /// Actual target of a branch.
    pub(crate) target: Option<u64>,
    /// Set if the branch was mispredicted.
    pub(crate) mispredicted: bool,
    /// Set if the instruction generates an exception.
    pub(crate) exception: bool,
}

/// Events of instructions that compute in floating point.
const FLOATING: StaticEvents = StaticEvents(
    StaticEvents::bit(PmuEvent::FP_HP_SPEC).0
        | StaticEvents::bit(PmuEvent::FP_SP_SPEC).0
        | StaticEvents::bit(PmuEvent::FP_DP_SPEC).0,
);

fn branch_of(inst: &Inst, outcome: OpOutcome) -> BranchCourse {
    use BranchKind::{Call, Conditional, ExceptionReturn, Indirect, IndirectCall, Return};
    let kind = inst.branch;
    BranchCourse {
        conditional: kind == Conditional,
        indirect: matches!(kind, Indirect | IndirectCall | Return | ExceptionReturn),
        call: matches!(kind, Call | IndirectCall),
        function_return: kind == Return,
        exception_return: kind == ExceptionReturn,
        taken: outcome.taken,
        target: outcome.target,
    }
}

fn access_of(inst: &Inst, timeline: &OpTimeline) -> Option<AccessShape> {
    let kind = inst.mem.op.reported_kind()?;
    Some(AccessShape {
        kind,
        exclusive: inst.mem.exclusive,
        ordered: inst.mem.ordered,
        aligned: timeline.addr.is_multiple_of(u64::from(inst.mem.align.max(1))),
        scattered: inst.mem.scattered,
        bytes: inst.mem.bytes,
    })
}

fn kind_of(inst: &Inst, timeline: &OpTimeline, outcome: OpOutcome) -> OperationKind {
    if inst.branch != BranchKind::None {
        return OperationKind::Branch(branch_of(inst, outcome));
    }
    access_of(inst, timeline).map_or(OperationKind::Other, OperationKind::Access)
}

/// Returns what a load that missed the L1 D-cache waited for.
fn load_wait<M: MemoryPort>(timeline: &OpTimeline, kind: OperationKind, memory: &M) -> LoadWait {
    let OperationKind::Access(shape) = kind else { return LoadWait::default() };
    let is_of_memory =
        timeline.source != DataSource::StoreQueue && timeline.outcome.has(AccessOutcome::L1_MISS);
    if shape.kind != AccessKind::Load || !is_of_memory {
        return LoadWait::default();
    }
    memory.load_wait(VirtAddr(timeline.pc), timeline.issue)
}

impl Pipeline {
    /// Reports the instruction scheduled last.
    pub(crate) fn report_op<M: MemoryPort, S: EventSink>(
        &self,
        inst: &Inst,
        flags: InstFlags,
        outcome: OpOutcome,
        memory: &M,
        sink: &mut S,
    ) {
        if !S::OBSERVES_OPS || sink.counts_only() {
            return;
        }
        self.report_details(inst, flags, outcome, memory, sink);
    }

    /// Reports the instruction scheduled last with its timeline.
    fn report_details<M: MemoryPort, S: EventSink>(
        &self,
        inst: &Inst,
        flags: InstFlags,
        outcome: OpOutcome,
        memory: &M,
        sink: &mut S,
    ) {
        let timeline = OpTimeline { mispredicted: outcome.mispredicted, ..self.timeline };
        let kind = kind_of(inst, &timeline, outcome);
        let physical = match kind {
            OperationKind::Access(_) if flags.has(InstFlags::HAS_ADDR) || timeline.addr != 0 => {
                memory.physical(VirtAddr(timeline.addr))
            }
            _ => None,
        };
        let mut registers = inst.srcs().iter().chain(inst.dsts());
        sink.notify(Notice::Operation(&Operation {
            timeline,
            number: self.begun.saturating_sub(1),
            privilege: self.exceptions.privilege,
            base_ready: self.base_ready(inst),
            kind,
            wait: load_wait(&timeline, kind, memory),
            physical,
            exception: outcome.exception,
            conditional: inst.branch == BranchKind::Conditional || inst.srcs().contains(&Reg::NZCV),
            simd: inst.is_sve || registers.any(|reg| reg.file() == RegFile::Vector),
            floating: inst.events.0 & FLOATING.0 != 0,
            sve: inst.is_sve,
            predicated: inst.mem.elements > 0 || inst.srcs().iter().any(|reg| reg.is_predicate()),
            activity: flags.activity(),
        }));
    }

    /// Returns when the base register that the instruction scheduled last updates is readable.
    fn base_ready(&self, inst: &Inst) -> Cycle {
        let updates = inst.uops().iter().any(|group| group.role == Role::BaseUpdate);
        let base = inst.dsts().last().filter(|_| updates);
        base.map_or(0, |base| self.scoreboard.ready(*base).cycle())
    }

    /// Reports the branch scheduled last.
    pub(crate) fn report_branch<M: MemoryPort, S: EventSink>(
        &self,
        outcome: OpOutcome,
        program: &Program,
        memory: &M,
        sink: &mut S,
    ) {
        if S::OBSERVES_OPS {
            let inst = program.inst(self.timeline.inst);
            self.report_op(inst, InstFlags::default(), outcome, memory, sink);
        }
    }

    /// Reports the exception level of the core if it differs from the level reported last.
    pub(crate) fn report_privilege<S: EventSink>(&mut self, sink: &mut S) {
        let privilege = self.exceptions.privilege;
        if self.reported_privilege != Some(privilege) {
            self.reported_privilege = Some(privilege);
            sink.notify(Notice::Privilege(privilege));
        }
    }
}
