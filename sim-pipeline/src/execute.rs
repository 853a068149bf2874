//! Dispatch, issue and execution of one instruction's micro-operations (PMU guide 3.2.2).
//!
//! Each micro-operation waits in its issue queue until what its role needs is there and one of its
//! pipes has a free cycle. A result that an older path needs late (accumulators) is written twice:
//! when everybody may read it, and when an accumulator operand of its family may.

use crate::calendar::PipeRequest;
use crate::dispatch::Way;
use crate::elements::is_by_element;
use crate::lsu::{Forward, StoreTimes};
use crate::maintain::give_up_exclusive;
use crate::op::Op;
use crate::pipeline::Pipeline;
use crate::request::{is_atomic, request_of, simple_request};
use crate::scoreboard::{Scoreboard, SourcesReady};
use sim_core::time::NEVER;
use sim_core::{
    Cycle, DataSource, EventSink, InstFlags, MemKind, MemReply, MemRequest, MemoryPort,
};
use sim_isa::{Inst, MemOp, PipeMask, Reg, Rename, Role, Shape, Special, UopCounts, UopGroup};

/// Load-to-use of an L1 hit for general registers; what a load's latency has more is added behind
/// the memory system's reply.
const LOAD_TO_USE: Cycle = 4;
/// A load that takes this much longer than a hit is one that waits for memory.
const LONG_LOAD: Cycle = 20;

/// How an instruction executed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    /// Cycle in which the first micro-operation issued.
    pub(crate) issue: Cycle,
    /// Cycle in which the last result is there.
    pub(crate) complete: Cycle,
    /// What the memory system answered.
    pub(crate) reply: MemReply,
    /// The access that a store makes when it leaves the store queue.
    pub(crate) store: Option<PendingStore>,
    /// The atomic that it was.
    pub(crate) atomic: Option<MemRequest>,
    /// It waited for memory much longer than for a hit.
    pub(crate) waits_for_memory: bool,
}

/// A store on its way to the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingStore {
    /// The access.
    pub(crate) request: MemRequest,
    /// When its address can be compared with.
    pub(crate) known: Cycle,
    /// When its data is there.
    pub(crate) data: Cycle,
    /// A store-release.
    pub(crate) release: bool,
}

/// What is known of the groups of micro-operations of an instruction before it is looked at.
#[derive(Clone, Copy)]
pub(crate) struct Groups {
    /// The roles of all, two or three, of a load or store, of which each takes a pipe for a cycle and nothing
    /// else; none if they are not known.
    pub(crate) roles: &'static [Role],
    /// Each is one micro-operation.
    pub(crate) are_ones: bool,
}

impl Groups {
    const UNKNOWN: Groups = Groups { roles: &[], are_ones: false };

    /// They are those of an access that has a [`Shape`] of its own.
    #[inline(always)]
    fn are_simple(self) -> bool {
        !self.roles.is_empty()
    }

    /// What is known of the sources.
    #[inline(always)]
    fn sources(self, inst: &Inst, scoreboard: &Scoreboard) -> SourcesReady {
        match self.roles {
            [] => scoreboard.sources(inst),
            [Role::Load, ..] => SourcesReady { address: scoreboard.all_sources(inst), data: 0 },
            _ => scoreboard.store_sources(inst),
        }
    }
}

/// Progress among the micro-operations of one instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// First cycle after dispatch.
    earliest: Cycle,
    ready: SourcesReady,
    /// Everything behind an authentication or the loads of this instruction waits for this.
    chained: Cycle,
    first_issue: Cycle,
    last_issue: Cycle,
    /// The last destination is the base register and is written already.
    base_written: bool,
    pub(crate) result: Cycle,
}

impl Pipeline {
    /// Executes the instruction renamed in `rename`.
    #[inline]
    pub(crate) fn execute<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        way: Way,
        rename: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) -> Done {
        let inst = op.inst;
        match way {
            Way::Issue if inst.shape == Shape::Plain => {
                let (issue, complete) = self.compute(op, rename);
                return Done { issue, complete, ..Done::default() };
            }
            Way::Issue => {}
            Way::AtRename => return self.rename_only(inst, rename),
            Way::WithPartner => return self.ride(inst, rename),
        }
        self.execute_groups(op, Groups::UNKNOWN, rename, memory, sink)
    }

    /// Issues and executes all micro-operations of the instruction renamed in `rename`. What is known of its groups
    /// is not decided here.
    #[inline(always)]
    pub(crate) fn execute_groups<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        groups: Groups,
        rename: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) -> Done {
        let inst = op.inst;
        let earliest = rename + self.config.window.rename_to_issue_cycles;
        let mut at = Progress {
            earliest,
            ready: groups.sources(inst, &self.scoreboard),
            chained: 0,
            first_issue: NEVER,
            last_issue: earliest,
            base_written: false,
            result: rename + 1,
        };
        let mut done = Done::default();
        let roles = groups.roles;
        debug_assert!(roles.is_empty() || roles.len() == inst.uops().len());
        debug_assert!(roles.is_empty() || inst.special == Special::None);
        debug_assert!(!groups.are_ones || inst.uops().iter().all(UopGroup::is_one));
        let only_cycles = inst.uops().iter().all(UopGroup::takes_only_a_cycle);
        debug_assert!(roles.is_empty() || only_cycles);
        if let [first, second, rest @ ..] = roles {
            self.run_group(op, (0, groups), *first, &mut at, &mut done, memory, sink);
            self.run_group(op, (1, groups), *second, &mut at, &mut done, memory, sink);
            if let [third] = rest {
                self.run_group(op, (2, groups), *third, &mut at, &mut done, memory, sink);
            }
        } else {
            for i in 0..usize::from(inst.n_uop_groups) {
                let role = inst.uops[i].role;
                self.run_group(op, (i, groups), role, &mut at, &mut done, memory, sink);
            }
            self.run_special(op, &mut at, &mut done, memory, sink);
            if let Some(atomic) = done.atomic {
                // The next access of the location comes behind it.
                let times =
                    StoreTimes { known: at.first_issue, data: at.result, drained: at.result };
                self.lsu.stored(atomic.addr.0, atomic.bytes.into(), times);
            }
        }
        match roles {
            [] => self.write_results(inst, &at),
            [Role::Load, ..] => {
                let dsts = inst.dsts();
                dsts[..dsts.len() - 1]
                    .iter()
                    .for_each(|dst| self.scoreboard.write(*dst, at.result));
            }
            // A store makes no value but that of its base.
            _ => {}
        }
        // A barrier has no micro-operation: it is done in its slot.
        done.issue = if at.first_issue == NEVER { rename } else { at.first_issue };
        done.complete = at.result.max(done.complete);
        done
    }

    /// Executes an instruction of [`Shape::Plain`], one micro-operation that waits for all sources: when it
    /// issued and when its result is there.
    #[inline(always)]
    pub(crate) fn compute(&mut self, op: &Op<'_>, rename: Cycle) -> (Cycle, Cycle) {
        let (inst, group) = (op.inst, &op.inst.uops[0]);
        let earliest = rename + self.config.window.rename_to_issue_cycles;
        let needs = self.scoreboard.all_sources(inst).max(earliest);
        let request = self.cycle_for(group, group.flag_port);
        let issue = self.issue_one(request, inst.by_queue, needs, op.squash);
        let result = (rename + 1).max(issue + Cycle::from(group.latency));
        if inst.accumulate.family == 0 {
            self.scoreboard.write_all(inst, result);
        } else {
            self.write(inst, inst.dsts(), result, issue.max(earliest));
        }
        (issue, result)
    }

    /// Executes an instruction of [`Shape::Load`]: one load whose sources all form its address.
    #[inline(always)]
    pub(crate) fn load_alone<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        rename: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) -> Done {
        let (inst, mut done) = (op.inst, Done::default());
        let earliest = rename + self.config.window.rename_to_issue_cycles;
        let address = self.scoreboard.all_sources(inst);
        let needs = address.max(self.load_floor(op, true)).max(earliest);
        debug_assert!(inst.uops[0].takes_only_a_cycle());
        let request = PipeRequest::cycle_of(inst.uops[0].pipes);
        let issue = self.issue_one(request, inst.by_queue, needs, op.squash);
        let mut at = Progress {
            earliest,
            ready: SourcesReady { address, data: 0 },
            chained: 0,
            first_issue: issue,
            last_issue: issue,
            base_written: false,
            result: rename + 1,
        };
        let latency = inst.uops[0].latency.into();
        self.load(op, true, (issue, latency), &mut at, &mut done, memory, sink);
        self.scoreboard.write_all(inst, at.result);
        (done.issue, done.complete) = (issue, at.result);
        done
    }

    /// Moves and zeroes that renaming does, and hints: a slot, no pipe.
    #[inline]
    pub(crate) fn rename_only(&mut self, inst: &Inst, rename: Cycle) -> Done {
        match (inst.rename, inst.dsts(), inst.srcs()) {
            (Rename::Move, [dst, ..], [src, ..]) => self.scoreboard.copy(*dst, *src),
            (_, dsts, _) => dsts.iter().for_each(|dst| self.scoreboard.write(*dst, 0)),
        }
        Done { issue: rename, complete: rename + 1, ..Done::default() }
    }

    /// A riding instruction: it is done when the value that it overwrites is there, which its partner made.
    #[inline(always)]
    pub(crate) fn ride(&self, inst: &Inst, rename: Cycle) -> Done {
        let ready = inst.dsts().iter().map(|dst| self.scoreboard.ready(*dst));
        Done { issue: rename, complete: ready.max().unwrap_or(0), ..Done::default() }
    }

    #[expect(clippy::too_many_arguments, reason = "the stage's inputs, its outputs, the two ports")]
    /// All micro-operations of one group of this role.
    #[inline(always)]
    fn run_group<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        (number, groups): (usize, Groups),
        role: Role,
        at: &mut Progress,
        done: &mut Done,
        memory: &mut M,
        sink: &mut S,
    ) {
        let (group, entry) = (&op.inst.uops[number], op.inst.queue_entries[number]);
        let needs = match role {
            // Address arithmetic and authentication in front of an access: the rest is data.
            Role::Before if op.inst.mem.op != MemOp::None => at.ready.address,
            Role::Compute | Role::Before => at.ready.all(),
            Role::Load => at.ready.address.max(self.load_floor(op, groups.are_simple())),
            Role::StoreAddr => at.ready.address.max(self.lsu.order().floor),
            Role::StoreData => at.ready.data,
            Role::BaseUpdate => at.ready.address,
            // A lane load merges into its old destination, a data source.
            Role::AfterLoad => at.result.max(at.ready.data),
        };
        let needs = needs.max(at.earliest);
        let needs = if role == Role::BaseUpdate { needs } else { needs.max(at.chained) };
        let request = match role {
            _ if groups.roles.is_empty() => self.request_for(group),
            Role::BaseUpdate => self.cycle_for(group, false),
            _ => PipeRequest::cycle_of(group.pipes),
        };
        let issue = match groups.are_ones {
            true => self.issue_one(request, entry, needs, op.squash),
            false => self.issue(group.count, request, entry, needs, op.squash),
        };
        at.first_issue = at.first_issue.min(issue);
        at.last_issue = at.last_issue.max(issue);
        let result = issue + Cycle::from(group.latency);
        match role {
            Role::Compute | Role::AfterLoad => at.result = at.result.max(result),
            Role::Before => at.chained = result,
            Role::BaseUpdate => self.update_base(op.inst, at, result),
            Role::Load => {
                let times = (issue, Cycle::from(group.latency));
                self.load(op, groups.are_simple(), times, at, done, memory, sink);
            }
            Role::StoreAddr if groups.are_simple() => {
                self.simple_store_address(op, issue, at, done, memory, sink);
            }
            Role::StoreAddr => self.store_address(op, issue, at, done, memory, sink),
            Role::StoreData => {
                at.result = at.result.max(issue + 1);
                if let Some(store) = &mut done.store {
                    store.data = store.data.max(issue + 1);
                }
            }
        }
    }

    /// Issues so many micro-operations of a group and returns the cycle of the last one.
    #[inline(always)]
    fn issue(
        &mut self,
        count: u8,
        request: PipeRequest,
        entry: UopCounts,
        needs: Cycle,
        squash: Cycle,
    ) -> Cycle {
        if request.pipes == PipeMask::NONE {
            return needs;
        }
        let mut last = needs;
        for _ in 0..count {
            last = last.max(self.issue_one(request, entry, needs, squash));
        }
        last
    }

    /// Issues one micro-operation, which takes `entry` of the issue queues.
    #[inline(always)]
    fn issue_one(
        &mut self,
        request: PipeRequest,
        entry: UopCounts,
        needs: Cycle,
        squash: Cycle,
    ) -> Cycle {
        let issue = self.pipes.book(request, needs, squash);
        self.window.queues().take(entry, issue.min(squash));
        issue
    }

    /// What a micro-operation of this group asks of the pipes.
    #[inline]
    fn request_for(&self, group: &UopGroup) -> PipeRequest {
        let cycle = self.cycle_for(group, group.flag_port);
        PipeRequest { occupancy: group.occupancy.into(), ..cycle }
    }

    /// The same of one that takes its pipe for a cycle.
    #[inline(always)]
    fn cycle_for(&self, group: &UopGroup, flag_port: bool) -> PipeRequest {
        let pipes = if group.pipes == PipeMask::I { self.integer_pipes } else { group.pipes };
        PipeRequest { flag_port, ..PipeRequest::cycle_of(pipes) }
    }

    fn update_base(&mut self, inst: &Inst, at: &mut Progress, result: Cycle) {
        if let Some(base) = inst.dsts().last() {
            self.scoreboard.write(*base, result);
            at.base_written = true;
        }
    }

    /// The memory half of a load or of an atomic; `is_simple` of a load that has a [`Shape`] of its own.
    #[expect(clippy::too_many_arguments, reason = "the stage's inputs, its outputs, the two ports")]
    #[inline(always)]
    fn load<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        is_simple: bool,
        (issue, latency): (Cycle, Cycle),
        at: &mut Progress,
        done: &mut Done,
        memory: &mut M,
        sink: &mut S,
    ) {
        at.result = at.result.max(issue + latency);
        let request = if is_simple { simple_request(op, MemKind::Load) } else { request_of(op) };
        let (Some(request), true) = (request, issue <= op.squash) else { return };
        done.reply = if !is_simple && is_by_element(op.inst) {
            // The FFR keeps what older loads cleared in it: its new value needs the old one.
            at.result = at.result.max(at.ready.data);
            self.load_elements(&{ *op }, request, issue, memory, sink)
        } else {
            self.read(request, issue, done, memory, sink)
        };
        let data = done.reply.done;
        let extra = latency.saturating_sub(LOAD_TO_USE);
        done.waits_for_memory = data > issue + LONG_LOAD;
        if !is_simple && matches!(op.inst.mem.op, MemOp::PrefetchLoad | MemOp::PrefetchStore) {
            return;
        }
        at.result = at.result.max(data + extra);
        if is_simple {
            self.lsu.finished(at.result);
        } else {
            self.order(op.inst, at.result);
        }
    }

    /// One access that reads, with what the store queue has of it.
    #[inline(always)]
    pub(crate) fn read<M: MemoryPort, S: EventSink>(
        &mut self,
        request: MemRequest,
        issue: Cycle,
        done: &mut Done,
        memory: &mut M,
        sink: &mut S,
    ) -> MemReply {
        let is_atomic = is_atomic(request.kind);
        let (addr, bytes) = (request.addr.0, u64::from(request.bytes));
        let start = if is_atomic { self.lsu.settled(addr, bytes, issue) } else { issue };
        let mut reply = memory.access(request, start, sink);
        match self.lsu.forward(addr, bytes, issue) {
            _ if is_atomic => done.atomic = Some(request),
            Forward::None => {}
            Forward::Hit(cycle) => (reply.done, reply.source) = (cycle, DataSource::StoreQueue),
            Forward::Wait(cycle) => reply.done = reply.done.max(cycle),
        }
        reply
    }

    /// As [`Pipeline::store_address`], of a store that has a [`Shape`] of its own.
    #[inline(always)]
    fn simple_store_address<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        issue: Cycle,
        at: &mut Progress,
        done: &mut Done,
        memory: &mut M,
        sink: &mut S,
    ) {
        at.result = at.result.max(issue + 1);
        let request = simple_request(op, MemKind::Store);
        let (Some(request), true) = (request, issue <= op.squash) else { return };
        let known = issue + 1;
        done.store = Some(PendingStore { request, known, data: known, release: false });
        done.reply = memory.translate_store(request, issue, sink);
        at.result = at.result.max(done.reply.done);
        self.lsu.finished(at.result);
    }

    /// The address half of a store: translation; the access itself comes after retirement.
    #[inline(always)]
    fn store_address<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        issue: Cycle,
        at: &mut Progress,
        done: &mut Done,
        memory: &mut M,
        sink: &mut S,
    ) {
        at.result = at.result.max(issue + 1);
        if op.inst.mem.op == MemOp::Maintenance {
            return self.maintain(&{ *op }, issue, at, done, memory, sink);
        }
        if op.flags.has(InstFlags::EXCLUSIVE_FAILED) {
            if op.retires {
                give_up_exclusive(op.pc, issue, memory, sink);
            }
            return;
        }
        let (Some(request), true) = (request_of(op), issue <= op.squash) else { return };
        let is_release = op.inst.mem.ordered;
        let reply = if request.kind == MemKind::AtomicStore {
            done.atomic = Some(request);
            let start = self.lsu.settled(request.addr.0, request.bytes.into(), issue);
            memory.access(request, start, sink)
        } else {
            let known = issue + 1;
            done.store = Some(PendingStore { request, known, data: known, release: is_release });
            if op.inst.mem.scattered {
                self.translate_elements(&{ *op }, request, issue, memory, sink)
            } else {
                memory.translate_store(request, issue, sink)
            }
        };
        done.reply = reply;
        at.result = at.result.max(reply.done);
        if is_release {
            // A store-release is seen only after everything older.
            at.result = at.result.max(self.lsu.order().done);
        }
        self.lsu.finished(at.result);
    }

    /// Notes a finished access for barriers, and holds younger ones behind a load-acquire.
    #[inline]
    fn order(&mut self, inst: &Inst, data: Cycle) {
        self.lsu.finished(data);
        if inst.mem.ordered {
            self.lsu.hold_until(data);
        }
    }

    /// Barriers and system register accesses.
    #[inline(always)]
    fn run_special<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        at: &mut Progress,
        done: &mut Done,
        memory: &mut M,
        sink: &mut S,
    ) {
        match op.inst.special {
            Special::DataMemoryBarrier => self.lsu.order_memory(op.inst),
            Special::DataSyncBarrier => at.result = at.result.max(self.lsu.all_done()),
            Special::SystemWrite => {
                let start = at.earliest.max(at.ready.all()).max(self.retire.cycle());
                at.result = at.result.max(start + self.config.execute.system_write_cycles);
                self.maintain(&{ *op }, start, at, done, memory, sink);
            }
            Special::SystemRead => {
                let start = at.earliest.max(at.ready.all());
                at.result = at.result.max(start + self.config.execute.system_read_cycles);
            }
            _ => {}
        }
    }

    /// Writes all destinations that are not written yet.
    #[inline]
    fn write_results(&mut self, inst: &Inst, at: &Progress) {
        let dsts = inst.dsts();
        let n = dsts.len() - usize::from(at.base_written);
        self.write(inst, &dsts[..n], at.result, at.last_issue);
    }

    /// Writes these destinations: their values are there in `result`, the last micro-operation issued in
    /// `last_issue`.
    #[inline]
    fn write(&mut self, inst: &Inst, dsts: &[Reg], result: Cycle, last_issue: Cycle) {
        let accumulate = inst.accumulate;
        for dst in dsts {
            if accumulate.family != 0 {
                let early = last_issue + Cycle::from(accumulate.latency);
                self.scoreboard.write_accumulator(*dst, result, accumulate.family, early);
            } else {
                self.scoreboard.write(*dst, result);
            }
        }
    }
}
