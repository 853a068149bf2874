//! Dispatch, issue and execution of the micro-operations of one instruction (PMU guide 3.2.2).
//!
//! Each micro-operation waits in its issue queue until the inputs of its role are ready and one of
//! its pipes is free. The scoreboard stores two cycles for a result with late forwarding
//! (accumulators): one for all readers, one for an accumulator operand of its family.

use crate::op::{ExecResult, Op, PendingStore};
use crate::pipeline::Pipeline;
use crate::route::{Executes, Route};
use crate::stages::mem_request::request_of;
use crate::stages::sve_elements::is_by_element;
use crate::stages::system_ops::clear_monitor;
use crate::units::critical_path::Executed;
use crate::units::dispatch::RenameOutcome;
use crate::units::lsu::{Forward, StoreTimes};
use crate::units::pipes::PipeRequest;
use crate::units::scoreboard::SourcesReady;
use crate::units::stamp::{OpRef, Stamp};
use sim_core::time::NEVER;
use sim_core::{
    AccessOutcome, Cycle, DataSource, EventSink, InstFlags, MemKind, MemReply, MemRequest,
    MemoryPort, RootCause,
};
use sim_isa::{Inst, MemOp, PipeMask, Reg, Rename, Role, UopCounts, UopGroup};

/// Load-to-use latency of an L1 hit for general registers, in cycles. Extra latency of a load is
/// added after the memory system's reply.
const LOAD_TO_USE: Cycle = 4;

/// Progress of the micro-operations of one instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// First cycle after dispatch.
    pub(crate) earliest: Cycle,
    pub(crate) ready: SourcesReady,
    /// Cycle in which the authentication or the loads of this instruction are done. All later
    /// micro-operations wait for it.
    chained: Cycle,
    first_issue: Cycle,
    last_issue: Cycle,
    /// Last input that a micro-operation waited for.
    needs: Stamp,
    /// Issue cycle of the micro-operation that waited for `needs`.
    needs_issue: Cycle,
    /// Set if the last destination is the base register and is already written.
    base_written: bool,
    pub(crate) result: Cycle,
}

impl Pipeline {
    /// Executes the instruction renamed in `rename`.
    #[inline(always)]
    pub(crate) fn execute<R: Route, M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        outcome: RenameOutcome,
        rename: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) -> ExecResult {
        match (R::EXECUTES, outcome) {
            (Executes::Alu, _) => self.compute(op, rename),
            (Executes::Load, _) => self.load_alone::<R, M, S>(op, rename, memory, sink),
            (_, RenameOutcome::Eliminated) => self.rename_only(op, rename),
            (_, RenameOutcome::Fused) => self.complete_fused(op, rename),
            (_, RenameOutcome::Dispatched) => {
                self.execute_groups::<R, M, S>(op, rename, memory, sink)
            }
        }
    }

    /// Issues and executes all micro-operations of the instruction renamed in `rename`.
    #[inline(always)]
    fn execute_groups<R: Route, M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        rename: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) -> ExecResult {
        let inst = op.inst;
        let earliest = rename + self.config.window.rename_to_issue_cycles;
        let mut at = Progress {
            earliest,
            ready: self.sources_of::<R>(inst),
            chained: 0,
            first_issue: NEVER,
            last_issue: earliest,
            needs: Stamp::new(earliest, OpRef::NONE),
            needs_issue: earliest,
            base_written: false,
            result: rename + 1,
        };
        let mut done = ExecResult::default();
        let roles = R::ROLES;
        let only_cycles = inst.uops().iter().all(UopGroup::takes_only_a_cycle);
        debug_assert!(roles.is_empty() || only_cycles);
        if let [first, second, rest @ ..] = roles {
            self.run_group::<R, M, S>(op, 0, *first, &mut at, &mut done, memory, sink);
            self.run_group::<R, M, S>(op, 1, *second, &mut at, &mut done, memory, sink);
            if let [third] = rest {
                self.run_group::<R, M, S>(op, 2, *third, &mut at, &mut done, memory, sink);
            }
        } else {
            for i in 0..usize::from(inst.n_uop_groups) {
                let role = inst.uops[i].role;
                self.run_group::<R, M, S>(op, i, role, &mut at, &mut done, memory, sink);
            }
            self.run_special(op, &mut at, &mut done, memory, sink);
            if let Some(atomic) = done.atomic {
                // The next access to the location waits for the atomic.
                let (known, drained) = (at.first_issue, at.result);
                let times = StoreTimes { known, data: self.result(drained), drained };
                self.lsu.stored(atomic.addr.0, atomic.bytes.into(), times);
            }
        }
        match roles {
            [] => self.write_results(inst, &at),
            [Role::Load, ..] => {
                let dsts = inst.dsts();
                let result = self.result(at.result);
                dsts[..dsts.len() - 1].iter().for_each(|dst| self.scoreboard.write(*dst, result));
            }
            // A store writes no register except its base.
            _ => {}
        }
        // A barrier has no micro-operation and is done in its slot.
        done.issue = if at.first_issue == NEVER { rename } else { at.first_issue };
        done.complete = at.result.max(done.complete);
        self.note_executed(op, &at, &done);
        done
    }

    /// Returns a stamp of this operation for a result that is ready in `cycle`.
    #[inline(always)]
    fn result(&self, cycle: Cycle) -> Stamp {
        Stamp::new(cycle, self.path.now())
    }

    /// Records the last input that the operation waited for. For a load that reads from an older
    /// store, that is the store's data.
    #[inline(always)]
    fn note_executed(&mut self, op: &Op<'_>, at: &Progress, done: &ExecResult) {
        let misses = done.reply.outcome.has(AccessOutcome::L1_TLB_MISS);
        let (needs, issue) = match done.forwarded.cycle() {
            data if data > at.needs_issue => (done.forwarded, data),
            _ => (at.needs, at.needs_issue),
        };
        self.path.note(Executed {
            inst: op.id,
            needs,
            issue,
            root: done.root,
            translation: if misses { done.reply.translation_cycles } else { 0 },
        });
    }

    /// Executes an instruction of [`sim_isa::PathClass::Alu`]: one micro-operation that waits for
    /// all sources.
    #[inline(always)]
    pub(crate) fn compute(&mut self, op: &Op<'_>, rename: Cycle) -> ExecResult {
        let (inst, group) = (op.inst, &op.inst.uops[0]);
        let earliest = Stamp::new(rename + self.config.window.rename_to_issue_cycles, OpRef::NONE);
        let needs = self.scoreboard.all_sources(inst).max(earliest);
        let flag_port = group.flag_port;
        let request = PipeRequest { flag_port, ..PipeRequest::cycle_of(group.pipes) };
        let issue = self.issue_one(request, inst.by_queue, needs, op.squash);
        let complete = (rename + 1).max(issue + Cycle::from(group.latency));
        if inst.accumulate.family == 0 {
            self.scoreboard.write_all(inst, self.result(complete));
        } else {
            self.write(inst, inst.dsts(), complete, issue.max(earliest.cycle()));
        }
        let root = RootCause::Latency;
        self.path.note(Executed { inst: op.id, needs, issue, root, translation: 0 });
        ExecResult { issue, complete, ..ExecResult::default() }
    }

    /// Executes an instruction of [`sim_isa::PathClass::Load`]: one load whose sources all form
    /// its address.
    #[inline(always)]
    fn load_alone<R: Route, M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        rename: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) -> ExecResult {
        let (inst, mut done) = (op.inst, ExecResult::default());
        let earliest = rename + self.config.window.rename_to_issue_cycles;
        let address = self.scoreboard.all_sources(inst);
        let floor = self.load_floor::<R>(op).max(Stamp::new(earliest, OpRef::NONE));
        let needs = address.max(floor);
        debug_assert!(inst.uops[0].takes_only_a_cycle());
        let request = PipeRequest::cycle_of(inst.uops[0].pipes);
        let issue = self.issue_one(request, inst.by_queue, needs, op.squash);
        let mut at = Progress {
            earliest,
            ready: SourcesReady { address, data: Stamp::default() },
            chained: 0,
            first_issue: issue,
            last_issue: issue,
            needs,
            needs_issue: issue,
            base_written: false,
            result: rename + 1,
        };
        let latency = inst.uops[0].latency.into();
        self.load::<R, M, S>(op, (issue, latency), &mut at, &mut done, memory, sink);
        self.scoreboard.write_all(inst, self.result(at.result));
        (done.issue, done.complete) = (issue, at.result);
        self.note_executed(op, &at, &done);
        done
    }

    /// Executes moves, zeroing idioms and hints that rename completes: they take a slot and no
    /// pipe.
    #[inline]
    pub(crate) fn rename_only(&mut self, op: &Op<'_>, rename: Cycle) -> ExecResult {
        let inst = op.inst;
        match (inst.rename, inst.dsts(), inst.srcs()) {
            (Rename::Move, [dst, ..], [src, ..]) => self.scoreboard.copy(*dst, *src),
            (_, dsts, _) => {
                dsts.iter().for_each(|dst| self.scoreboard.write(*dst, Stamp::default()));
            }
        }
        let (root, needs) = (RootCause::Latency, Stamp::new(rename, OpRef::NONE));
        self.path.note(Executed { inst: op.id, needs, issue: rename, root, translation: 0 });
        ExecResult { issue: rename, complete: rename + 1, ..ExecResult::default() }
    }

    /// Completes a fused instruction that has no micro-operation. It is complete when the partner's
    /// result, which it overwrites, is ready.
    #[inline(always)]
    pub(crate) fn complete_fused(&mut self, op: &Op<'_>, rename: Cycle) -> ExecResult {
        let ready = op.inst.dsts().iter().map(|dst| self.scoreboard.ready(*dst));
        let ready = ready.max().unwrap_or_default();
        let (root, issue) = (RootCause::Latency, ready.cycle());
        self.path.note(Executed { inst: op.id, needs: ready, issue, root, translation: 0 });
        ExecResult { issue: rename, complete: ready.cycle(), ..ExecResult::default() }
    }

    #[expect(clippy::too_many_arguments, reason = "the stage's inputs, its outputs, the two ports")]
    /// Executes all micro-operations of one group with this role.
    #[inline(always)]
    fn run_group<R: Route, M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        number: usize,
        role: Role,
        at: &mut Progress,
        done: &mut ExecResult,
        memory: &mut M,
        sink: &mut S,
    ) {
        let (group, entry) = (&op.inst.uops[number], op.inst.queue_entries[number]);
        let needs = match role {
            // Address arithmetic and authentication before an access need the address sources; the
            // rest is data.
            Role::Before if op.inst.mem.op != MemOp::None => at.ready.address,
            Role::Compute | Role::Before => at.ready.all(),
            Role::Load => at.ready.address.max(self.load_floor::<R>(op)),
            Role::StoreAddr => at.ready.address.max(self.lsu.ordering().floor_stamp()),
            Role::StoreData => at.ready.data,
            Role::BaseUpdate => at.ready.address,
            // A lane load merges into its old destination, which is a data source.
            Role::AfterLoad => self.result(at.result).max(at.ready.data),
        };
        let needs = needs.max(Stamp::new(at.earliest, OpRef::NONE));
        let needs =
            if role == Role::BaseUpdate { needs } else { needs.max(self.result(at.chained)) };
        let request = match role {
            _ if R::ROLES.is_empty() => Pipeline::request_for(group),
            _ => PipeRequest::cycle_of(group.pipes),
        };
        let issue = match R::ROLES.is_empty() {
            true => self.issue(group.count, request, entry, needs, op.squash),
            false => self.issue_one(request, entry, needs, op.squash),
        };
        at.first_issue = at.first_issue.min(issue);
        at.last_issue = at.last_issue.max(issue);
        // A part that follows another part of the same instruction has no wait of its own.
        if role != Role::BaseUpdate && needs >= at.needs && needs.by() != self.path.now() {
            (at.needs, at.needs_issue) = (needs, issue);
        }
        if group.occupancy > 1 {
            done.root = RootCause::Unpipelined;
        }
        let result = issue + Cycle::from(group.latency);
        match role {
            Role::Compute | Role::AfterLoad => at.result = at.result.max(result),
            Role::Before => at.chained = result,
            Role::BaseUpdate => self.update_base(op.inst, at, result),
            Role::Load => {
                let times = (issue, Cycle::from(group.latency));
                self.load::<R, M, S>(op, times, at, done, memory, sink);
            }
            Role::StoreAddr => self.store_address::<R, M, S>(op, issue, at, done, memory, sink),
            Role::StoreData => {
                at.result = at.result.max(issue + 1);
                if let Some(store) = &mut done.store {
                    store.data = store.data.max(issue + 1);
                }
            }
        }
    }

    /// Issues `count` micro-operations of a group. Returns the cycle of the last one.
    #[inline(always)]
    fn issue(
        &mut self,
        count: u8,
        request: PipeRequest,
        entry: UopCounts,
        needs: Stamp,
        squash: Cycle,
    ) -> Cycle {
        let mut last = needs.cycle();
        if request.pipes == PipeMask::NONE {
            return last;
        }
        for _ in 0..count {
            last = last.max(self.issue_one(request, entry, needs, squash));
        }
        last
    }

    /// Issues one micro-operation, which takes `entry` of the issue queues. Returns its cycle.
    #[inline(always)]
    fn issue_one(
        &mut self,
        request: PipeRequest,
        entry: UopCounts,
        needs: Stamp,
        squash: Cycle,
    ) -> Cycle {
        let request = PipeRequest { pipes: self.steering.choose(request.pipes), ..request };
        let issue = self.pipes.reserve(request, needs.cycle(), squash);
        self.rename_stage.queues().take(entry, needs, issue, squash);
        issue
    }

    /// Returns the pipe request of a micro-operation of this group.
    #[inline]
    fn request_for(group: &UopGroup) -> PipeRequest {
        let (pipes, flag_port) = (group.pipes, group.flag_port);
        PipeRequest { pipes, occupancy: group.occupancy.into(), flag_port }
    }

    #[inline(always)]
    fn update_base(&mut self, inst: &Inst, at: &mut Progress, result: Cycle) {
        if let Some(base) = inst.dsts().last() {
            self.scoreboard.write(*base, self.result(result));
            at.base_written = true;
        }
    }

    /// Performs the memory half of a load or of an atomic.
    #[inline(always)]
    fn load<R: Route, M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        (issue, latency): (Cycle, Cycle),
        at: &mut Progress,
        done: &mut ExecResult,
        memory: &mut M,
        sink: &mut S,
    ) {
        at.result = at.result.max(issue + latency);
        let request = request_of::<R>(op);
        let (Some(request), true) = (request, issue <= op.squash) else { return };
        if !R::IS_ORDINARY {
            if let Some(fault) = self.refuse_misaligned(op, issue) {
                done.reply = fault;
                return;
            }
            self.push_before_atomic(op, issue, memory, sink);
        }
        done.reply = if !R::IS_ORDINARY && is_by_element(op.inst) {
            // The FFR keeps the bits that older loads cleared, so its new value depends on the old
            // one.
            at.result = at.result.max(at.ready.data.cycle());
            self.load_elements(&{ *op }, request, issue, memory, sink)
        } else {
            self.read(request, issue, done, memory, sink)
        };
        let data = done.reply.done;
        let extra = latency.saturating_sub(LOAD_TO_USE);
        done.root = RootCause::of_load(done.reply.source);
        if !R::IS_ORDINARY && op.inst.mem.op.is_preload() {
            return;
        }
        at.result = at.result.max(data + extra);
        if R::IS_ORDINARY {
            self.lsu.finished(at.result);
        } else {
            self.finish_access(op.inst, at.result);
        }
    }

    /// Performs one reading access, with forwarding from the store queue.
    #[inline(always)]
    pub(crate) fn read<M: MemoryPort, S: EventSink>(
        &mut self,
        request: MemRequest,
        issue: Cycle,
        done: &mut ExecResult,
        memory: &mut M,
        sink: &mut S,
    ) -> MemReply {
        let is_atomic = request.kind.is_atomic();
        let (addr, bytes) = (request.addr.0, u64::from(request.bytes));
        let start = match is_atomic {
            true => self.lsu.settled(addr, bytes, issue),
            false => self.load_banks.read(addr, issue),
        };
        let mut reply = memory.access(request, start, sink);
        match self.lsu.forward(addr, bytes, issue) {
            _ if is_atomic => done.atomic = Some(request),
            Forward::None => {}
            Forward::Hit { done: ready, data } => {
                (reply.done, reply.source) = (ready, DataSource::StoreQueue);
                done.forwarded = data;
            }
            Forward::Wait(cycle) => reply.done = reply.done.max(cycle),
        }
        reply
    }

    /// Performs the address half of a store: translation. The access itself follows after
    /// retirement.
    #[inline(always)]
    fn store_address<R: Route, M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        issue: Cycle,
        at: &mut Progress,
        done: &mut ExecResult,
        memory: &mut M,
        sink: &mut S,
    ) {
        at.result = at.result.max(issue + 1);
        if !R::IS_ORDINARY && self.has_no_access(op, issue, at, done, memory, sink) {
            return;
        }
        let (Some(request), true) = (request_of::<R>(op), issue <= op.squash) else { return };
        let is_release = !R::IS_ORDINARY && op.inst.mem.ordered;
        let reply = if !R::IS_ORDINARY && request.kind == MemKind::AtomicStore {
            done.atomic = Some(request);
            self.push_before_atomic(op, issue, memory, sink);
            let start = self.lsu.settled(request.addr.0, request.bytes.into(), issue);
            memory.access(request, start, sink)
        } else {
            let data = issue + 1;
            done.store = Some(PendingStore { request, known: issue, data, release: is_release });
            if !R::IS_ORDINARY && op.inst.mem.scattered {
                self.translate_elements(&{ *op }, request, issue, memory, sink)
            } else {
                memory.translate_store(request, issue, sink)
            }
        };
        done.reply = reply;
        at.result = at.result.max(reply.done);
        if is_release {
            // A store-release is observed only after all older operations.
            at.result = at.result.max(self.lsu.ordering().done);
        }
        self.lsu.finished(at.result);
    }

    /// Handles a store that makes no access when its address issues: maintenance, a forbidden
    /// address, or a store-exclusive that failed. Returns `false` for all other stores.
    #[inline(always)]
    fn has_no_access<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        issue: Cycle,
        at: &mut Progress,
        done: &mut ExecResult,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        if op.inst.mem.op == MemOp::Maintenance {
            self.maintain(&{ *op }, issue, at, done, memory, sink);
            return true;
        }
        if let Some(fault) = self.refuse_misaligned(op, issue) {
            done.reply = fault;
            return true;
        }
        let failed = op.flags.has(InstFlags::EXCLUSIVE_FAILED);
        if failed && op.retires {
            clear_monitor(op.pc, issue, memory, sink);
        }
        failed
    }

    /// Returns when the sources of an instruction are ready.
    #[inline(always)]
    fn sources_of<R: Route>(&self, inst: &Inst) -> SourcesReady {
        match R::ROLES {
            [] => self.scoreboard.sources(inst),
            [Role::Load, ..] => {
                let address = self.scoreboard.all_sources(inst);
                SourcesReady { address, data: Stamp::default() }
            }
            _ => self.scoreboard.store_sources(inst),
        }
    }

    /// Writes all destinations that are not written yet.
    #[inline]
    fn write_results(&mut self, inst: &Inst, at: &Progress) {
        let dsts = inst.dsts();
        let n = dsts.len() - usize::from(at.base_written);
        self.write(inst, &dsts[..n], at.result, at.last_issue);
    }

    /// Writes these destinations. Their values are ready in `result`; the last micro-operation
    /// issued in `last_issue`.
    #[inline]
    fn write(&mut self, inst: &Inst, dsts: &[Reg], result: Cycle, last_issue: Cycle) {
        let (accumulate, result) = (inst.accumulate, self.result(result));
        for dst in dsts {
            if accumulate.family != 0 {
                let early = self.result(last_issue + Cycle::from(accumulate.latency));
                self.scoreboard.write_accumulator(*dst, result, accumulate.family, early);
            } else {
                self.scoreboard.write(*dst, result);
            }
        }
    }
}
