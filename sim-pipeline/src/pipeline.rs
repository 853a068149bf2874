//! The core: owns the units and passes each operation once through the stages, in program order.
//!
//! fetch, decode -> rename -> dispatch -> issue -> execute or memory -> complete -> retire. The order
//! of the stages lives in `Pipeline::place` and nowhere else.

use crate::branch::{Branch, BranchUnit};
use crate::calendar::Calendar;
use crate::clocks::Clocks;
use crate::config::PipelineConfig;
use crate::critical_path::CriticalPath;
use crate::dispatch::{Way, uops_of};
use crate::elements::LastElements;
use crate::exception::ExceptionState;
use crate::execute::{Done, PendingStore};
use crate::frontend::{Arrival, FrontEnd};
use crate::load_banks::LoadBanks;
use crate::lsu::{self, LoadStoreUnit, StoreTimes};
use crate::op::{Op, Step, aborts};
use crate::rename_wait::raise_memory_stall;
use crate::restart::{BreaksOff, Ending};
use crate::retire::InOrder;
use crate::scoreboard::Scoreboard;
use crate::short_way::{
    DOUBLE, DOUBLE_LOAD_UPDATE, DOUBLE_STORE_UPDATE, JOINED, LOAD, LOAD_UPDATE, PLAIN, RENAMED,
    RIDING, SINGLE, STORE,
};
use crate::slots::{SlotLedger, SlotUse};
use crate::stamp::Stamp;
use crate::steering::Steering;
use crate::tell::Aftermath;
use crate::wait_timeline::WaitTimeline;
use crate::window::{Blocked, EntryTimes, Window};
use crate::wrong_path::Guess;
use sim_core::time::NEVER;
use sim_core::{
    Cycle, EventSink, InstFlags, InstId, LostSlots, MemoryPort, NullSink, OpLife, PmuEvent,
    Privilege, StallCause,
};
use sim_isa::{BranchKind, Fusion, Inst, Program, Rename, Shape, Special, UopCounts};

/// The instruction before, for fusion; by default none that may take a partner.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Previous {
    id: InstId,
    /// Where the instruction behind it stands.
    next_pc: u64,
    fusion: Fusion,
}

/// The out-of-order core.
#[derive(Clone, Debug)]
pub struct Pipeline {
    pub(crate) config: PipelineConfig,
    pub(crate) front: FrontEnd,
    pub(crate) branches: BranchUnit,
    pub(crate) window: Window,
    pub(crate) pipes: Calendar,
    pub(crate) steering: Steering,
    pub(crate) load_banks: LoadBanks,
    pub(crate) scoreboard: Scoreboard,
    pub(crate) lsu: LoadStoreUnit,
    pub(crate) retire: InOrder,
    pub(crate) slots: SlotLedger,
    /// What each operation in flight waited for, and what rename did.
    pub(crate) path: CriticalPath,
    pub(crate) waits: WaitTimeline,
    pub(crate) guess: Guess,
    pub(crate) last_elements: LastElements,
    pub(crate) previous: Previous,
    /// Level, and where exceptions go.
    pub(crate) exceptions: ExceptionState,
    pub(crate) clocks: Clocks,
    /// The level that a follower of the run was told last.
    pub(crate) told_privilege: Option<Privilege>,
    /// Instructions of the right path that began, while somebody follows the run.
    pub(crate) begun: u64,
    /// The life of the instruction placed last.
    pub(crate) life: OpLife,
}

impl Pipeline {
    /// An empty core at cycle 0. The configuration must have no [`PipelineConfig::problems`].
    pub fn new(config: &PipelineConfig) -> Pipeline {
        let config = &config.built();
        Pipeline {
            front: FrontEnd::new(&config.front_end, &config.branch, config.ideal.fetch),
            branches: BranchUnit::new(&config.branch),
            window: Window::new(config),
            pipes: Calendar::new(config.ideal.pipes),
            steering: Steering::new(config.dispatch.integer_pipe),
            load_banks: LoadBanks::new(config.execute.load_banks),
            scoreboard: Scoreboard::default(),
            lsu: LoadStoreUnit::new(&config.execute),
            retire: InOrder::new(config.window.retire_width),
            slots: SlotLedger::default(),
            path: CriticalPath::new(config.window.rob),
            waits: WaitTimeline::default(),
            guess: Guess::default(),
            last_elements: LastElements::default(),
            config: config.clone(),
            previous: Previous::default(),
            exceptions: ExceptionState::default(),
            clocks: Clocks::new(),
            told_privilege: None,
            begun: 0,
            life: OpLife::default(),
        }
    }

    /// Rates of the system counter and of the core, for `CNT_CYCLES`; without them it stays 0.
    pub fn set_clocks(&mut self, counter_hz: u64, core_hz: u64) {
        self.clocks.set_rates(counter_hz, core_hz);
    }

    /// Does not find the roots of lost slots: all of the back end are [`sim_core::RootCause::Latency`]. Counts, cycles and
    /// causes stay the same, and the run takes less time.
    pub fn skip_roots(&mut self) {
        self.path.turn_off();
        self.window.queues().forget_inputs();
    }

    /// The rename clock: the machine advances the core on which it is lowest.
    #[inline]
    pub fn cycle(&self) -> Cycle {
        self.window.cycle()
    }

    /// Empty rename slots so far, by cause and root.
    pub fn lost_slots(&self) -> &LostSlots {
        self.slots.lost()
    }

    /// Runs one instruction of the right path, and the wrong path behind it if it is a branch that
    /// was mispredicted. Raises every event of guide sections 4.7 to 4.10 and 4.13 for it.
    pub fn run_inst<M: MemoryPort, S: EventSink>(
        &mut self,
        step: &Step<'_>,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) -> &OpLife {
        if S::FOLLOWS_RUN {
            self.tell_privilege(sink);
            self.begun += 1;
        }
        let flags = step.inst.flags;
        let (id, pc) = (step.inst.id, program.pc(step.inst.id));
        let mut arrival = self.bring(id, pc, program, memory, sink);
        let inst = program.inst(id);
        let computes = inst.shape == Shape::Plain && inst.branch == BranchKind::None;
        let as_always = flags == InstFlags::default() && arrival.fault.is_none();
        if !S::FOLLOWS_RUN && computes && as_always {
            // Nothing of what follows below can happen to it.
            self.place(&Op::right_path(step, program), &arrival, memory, sink);
            return &self.life;
        }
        self.order_load(step, &mut arrival, program, memory, sink);
        let mut op = Op::right_path(step, program);
        let (branch, special) = (Branch::of(pc, op.inst), op.inst.special);
        if let (Some(cause), true) = (arrival.fault, op.retires) {
            return self.instruction_abort(&{ op }, arrival, cause, sink);
        }
        let generated = self.generates(op.inst);
        op.retires &= self.completes(generated);
        let placed = self.place(&op, &arrival, memory, sink);
        debug_assert!(placed, "the right path is never squashed");
        self.note_address(&op, step);
        let breaks_off = if op.retires && !self.life.retired {
            BreaksOff::Aborted
        } else if flags.has(InstFlags::DISCONTINUITY) {
            BreaksOff::Elsewhere
        } else {
            BreaksOff::No
        };
        // A branch that was not completed has gone nowhere: nothing resolves, nothing is counted.
        let (operand, completes) = (op.addr, op.retires);
        let returns = branch.kind == BranchKind::ExceptionReturn;
        let resolves = branch.kind != BranchKind::None && completes && !returns;
        if S::FOLLOWS_RUN && !resolves {
            let exception = generated.is_some() || breaks_off == BreaksOff::Aborted;
            let taken = returns && completes;
            let behind = Aftermath { exception, taken, ..Aftermath::default() };
            self.tell(program.inst(id), flags, behind, memory, sink);
        }
        if resolves {
            let next = step.next_pc.filter(|_| breaks_off == BreaksOff::No);
            self.resolve(branch, self.life.complete, next, program, memory, sink);
        }
        let ends = special != Special::None || generated.is_some();
        if ends || breaks_off != BreaksOff::No || returns {
            let (inst, next_pc) = (program.inst(id), step.next_pc);
            let ending = Ending { inst, operand, generated, breaks_off, next_pc };
            self.after(&ending, memory, sink);
        }
        if S::FOLLOWS_RUN {
            self.settle_clocks(sink);
        }
        &self.life
    }

    /// Remembers what an access of the right path touched, for guesses on wrong paths.
    #[inline(always)]
    fn note_address(&mut self, op: &Op<'_>, step: &Step<'_>) {
        let Some(addr) = op.addr else { return };
        self.guess.learn(op.id, addr);
        if op.inst.mem.elements > 0 {
            self.last_elements.learn(op.id, step.inst, step.more);
        }
    }

    /// Entries of buffers, queues and registers that operations still hold in `cycle`.
    pub fn entries_held(&self, cycle: Cycle) -> usize {
        self.window.held(cycle)
    }

    /// Counts both clocks up to the first slot that is not settled; what they count in all is the same.
    pub fn settle_clocks<S: EventSink>(&mut self, sink: &mut S) {
        self.clocks.close(self.slots.next_cycle(), sink);
    }

    /// Ends a counting window: all slots before the returned cycle are settled and counted.
    pub fn cut_window<S: EventSink>(&mut self, sink: &mut S) -> Cycle {
        let end = self.slots.cut(StallCause::FetchWidth, sink);
        self.front.not_before(end);
        self.clocks.close(end, sink);
        end
    }

    /// The core stays awake with nothing to do until this cycle.
    pub fn idle_until<S: EventSink>(&mut self, cycle: Cycle, sink: &mut S) -> Cycle {
        let end = cycle.max(self.retire.cycle() + 1).max(self.clocks.awake_from());
        let end = self.slots.run_dry(end, StallCause::FetchEnd, sink);
        self.front.not_before(end);
        end
    }

    /// Time outside the counted part, up to `cycle`: its slots are counted nowhere. Returns how long it is.
    pub fn pause_until(&mut self, cycle: Cycle) -> Cycle {
        let from = self.slots.next_cycle();
        let end = self.slots.run_dry(cycle, StallCause::FetchEnd, &mut NullSink);
        self.clocks.close(end, &mut NullSink);
        self.front.not_before(end);
        end - from
    }

    /// Ends the run: the window drains, the last slots are settled and counted.
    pub fn finish<S: EventSink>(&mut self, sink: &mut S) -> Cycle {
        self.drain(sink)
    }

    /// The window drains, nothing behind it: its slots and the clocks are counted up to the returned cycle.
    pub fn drain<S: EventSink>(&mut self, sink: &mut S) -> Cycle {
        let end = self.idle_until(0, sink);
        self.clocks.close(end, sink);
        end
    }

    /// One instruction through all stages: false when its path was squashed before it got a slot.
    #[inline(always)]
    pub(crate) fn place<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        arrival: &Arrival,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        // What is handed to another function stands in memory: a copy does, so that all others stay in registers.
        if !op.flags.executes_as_always() {
            return self.place_any(&{ *op }, &{ *arrival }, memory, sink);
        }
        match op.inst.shape {
            Shape::Plain if !arrival.fused => {
                self.place_short::<PLAIN, M, S>(op, arrival, memory, sink)
            }
            Shape::Plain if !op.inst.rides_along => {
                self.place_short::<JOINED, M, S>(op, arrival, memory, sink)
            }
            Shape::Plain => self.place_apart::<RIDING, M, S>(&{ *op }, &{ *arrival }, memory, sink),
            Shape::Load if !arrival.fused => {
                self.place_short::<LOAD, M, S>(op, arrival, memory, sink)
            }
            Shape::LoadUpdate if !arrival.fused => {
                self.place_apart::<LOAD_UPDATE, M, S>(&{ *op }, &{ *arrival }, memory, sink)
            }
            Shape::Store if !arrival.fused => {
                self.place_apart::<STORE, M, S>(&{ *op }, &{ *arrival }, memory, sink)
            }
            Shape::Single if !arrival.fused => {
                self.place_apart::<SINGLE, M, S>(&{ *op }, &{ *arrival }, memory, sink)
            }
            Shape::Double if !arrival.fused => {
                self.place_apart::<DOUBLE, M, S>(&{ *op }, &{ *arrival }, memory, sink)
            }
            Shape::DoubleLoadUpdate if !arrival.fused => {
                self.place_apart::<DOUBLE_LOAD_UPDATE, M, S>(&{ *op }, &{ *arrival }, memory, sink)
            }
            Shape::DoubleStoreUpdate if !arrival.fused => {
                self.place_apart::<DOUBLE_STORE_UPDATE, M, S>(&{ *op }, &{ *arrival }, memory, sink)
            }
            Shape::Renamed if !arrival.fused => match self.window.way(op.inst) {
                Way::AtRename => self.place_short::<RENAMED, M, S>(op, arrival, memory, sink),
                _ => self.place_short::<PLAIN, M, S>(op, arrival, memory, sink),
            },
            _ => self.place_any(&{ *op }, &{ *arrival }, memory, sink),
        }
    }

    /// The arrows of the core are the lines of this function.
    #[inline(never)]
    pub(crate) fn place_any<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        arrival: &Arrival,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        self.path.begin();
        let way = self.way(op.inst, arrival.fused);
        let Some((rename, mops)) = self.rename(op, way, arrival, memory, sink) else {
            return false;
        };
        sink.at(rename);
        self.raise_speculative(op, mops, sink);
        let mut done = self.execute(op, way, rename, memory, sink);
        let issue = match op.inst.n_uop_groups {
            // What takes no pipe, a barrier, goes on to its unit all the same.
            0 => rename + self.config.window.rename_to_issue_cycles,
            _ => done.issue,
        };
        self.raise_issued(op, issue, sink);
        if op.inst.mem.exclusive && issue <= op.squash {
            sink.at(rename);
            lsu::raise_exclusive_outcome(op, done.reply.happened, sink);
        }
        let retires = op.retires && !aborts(op, &done);
        let retired = self.complete(op, &done, mops, retires, sink);
        let drained =
            if retires { self.store(op, false, &mut done, retired, memory, sink) } else { retired };
        let drained = Stamp::new(drained + 1, self.path.now());
        let times = EntryTimes { retired: self.free_at(op, retired + 1), sent: done.sent, drained };
        self.window.take_entries(op.inst, way, self.mops_left(op, mops), times);
        self.life = OpLife {
            written: if done.store.is_some() && retires { drained.cycle() - 1 } else { 0 },
            retired: retires,
            mops: mops as u8,
            ..op.life(arrival, rename, &done, retired)
        };
        true
    }

    /// One instruction through the front end. It shares the MOP of the one before it if it comes along
    /// with it: one that waits for its line takes a slot of its own, but the end of a fetch group
    /// does not part a pair.
    #[inline(always)]
    pub(crate) fn bring<M: MemoryPort, S: EventSink>(
        &mut self,
        id: InstId,
        pc: u64,
        program: &Program,
        memory: &mut M,
        sink: &mut S,
    ) -> Arrival {
        let inst = program.inst(id);
        let Previous { id: first, next_pc, fusion } = self.previous;
        // Nobody can predict which is the second of a pair: only those are looked at whose words must be.
        let pairs = match fusion.leads(inst.fusion) {
            Some(leads) => leads & (next_pc == pc),
            None => next_pc == pc && sim_isa::fuses(program.inst(first), inst),
        };
        let mut arrival = self.front.place(id, pc, pairs, memory, sink);
        arrival.fused |=
            pairs && (arrival.late == StallCause::FetchWidth || arrival.at <= self.window.cycle());
        self.front.decoded(pc, id, if arrival.fused { 0 } else { inst.n_mops });
        // A pair takes no third partner.
        let fusion = if arrival.fused { Fusion::default() } else { inst.fusion };
        self.previous = Previous { id, next_pc: pc.wrapping_add(4), fusion };
        arrival
    }

    /// How the instruction goes on from rename.
    #[inline]
    fn way(&self, inst: &Inst, fused: bool) -> Way {
        if fused && inst.rides_along { Way::WithPartner } else { self.window.way(inst) }
    }

    /// Rename slots for all MOPs: the cycle of the first and how many got one before a squash.
    #[inline]
    fn rename<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        way: Way,
        arrival: &Arrival,
        memory: &mut M,
        sink: &mut S,
    ) -> Option<(Cycle, u32)> {
        if arrival.fused {
            return self.join(op, way, arrival);
        }
        let mut first = 0;
        let mut uops = uops_of(op.inst, way);
        let mops = u32::from(op.inst.n_mops);
        for mop in 0..mops {
            let blocked = if mop == 0 {
                self.window.blocker(op.inst, way, arrival.at)
            } else {
                self.window.rob_blocker(mop as usize)
            };
            let uops = std::mem::take(&mut uops);
            let Some(cycle) = self.enter_slot(op.squash, uops, arrival, blocked, memory, sink)
            else {
                return (mop > 0).then_some((first, mop));
            };
            if mop == 0 {
                first = cycle;
                self.front.renamed(cycle);
                self.pipes.advance(cycle);
            }
        }
        if way == Way::AtRename && op.inst.rename == Rename::Move {
            self.window.moved();
        }
        Some((first, mops))
    }

    /// The slot of one MOP, given what it waits for; `None` when its path is squashed before. The first MOP
    /// brings all micro-operations.
    #[inline(always)]
    pub(crate) fn enter_slot<M: MemoryPort, S: EventSink>(
        &mut self,
        squash: Cycle,
        uops: UopCounts,
        arrival: &Arrival,
        blocked: Blocked,
        memory: &mut M,
        sink: &mut S,
    ) -> Option<Cycle> {
        let slot = self.window.slot(uops, blocked);
        let (cycle, sent) = (slot.until, slot.until <= squash);
        let stands_from = self.slots.stands_from(arrival.at);
        if cycle > stands_from && self.path.is_on() {
            self.note_wait(stands_from, squash, slot);
        }
        let (arrive, late) = (arrival.at, arrival.late);
        let used = SlotUse { arrive, leave: cycle.min(squash), sent, late, blocked: slot.by };
        let idle = self.slots.enter(used, &self.waits, sink).back_end;
        if idle.1 > idle.0 {
            raise_memory_stall(idle, memory, sink);
        }
        if !sent {
            // Rename is in order: nothing younger gets a slot either.
            self.window.hold_until(squash + 1, slot.by, self.waits.last());
            self.front.renamed(squash);
            return None;
        }
        self.window.take_slot(uops, slot);
        Some(cycle)
    }

    /// The second half of a fused pair goes on in its partner's slot, or later if what it needs is not
    /// free: what comes behind it waits as well.
    #[inline(always)]
    pub(crate) fn join(
        &mut self,
        op: &Op<'_>,
        way: Way,
        arrival: &Arrival,
    ) -> Option<(Cycle, u32)> {
        let slot = self.window.partner_slot(op.inst, way, arrival.at);
        if slot.until > self.window.cycle() && self.path.is_on() {
            self.note_wait(self.window.cycle(), op.squash, slot);
        }
        if slot.until > op.squash {
            self.window.hold_until(op.squash + 1, slot.by, self.waits.last());
            return None;
        }
        self.window.take_partner_slot(uops_of(op.inst, way), slot);
        self.pipes.advance(slot.until);
        Some((slot.until, 0))
    }

    /// Of an instruction that is complete, how many MOPs have not taken their entries yet: on the right path all
    /// but the last have.
    #[inline]
    pub(crate) fn mops_left(&self, op: &Op<'_>, mops: u32) -> u32 {
        if op.squash == NEVER { mops.min(1) } else { mops }
    }

    /// Completion and retirement of all MOPs: the cycle in which the last one leaves the window.
    #[inline]
    pub(crate) fn complete<S: EventSink>(
        &mut self,
        op: &Op<'_>,
        done: &Done,
        mops: u32,
        retires: bool,
        sink: &mut S,
    ) -> Cycle {
        if op.squash != NEVER {
            return op.squash;
        }
        let by = self.path.now();
        let mut retired = if mops == 0 { self.retire.wait(done.complete, by) } else { 0 };
        for mop in 0..mops {
            if mop > 0 {
                self.window.take_bare_mop(self.retire.stamp(retired + 1));
            }
            retired = self.retire.place(done.complete, by);
        }
        if retires {
            sink.at(retired);
            sink.raise(PmuEvent::INST_RETIRED);
            sink.count(PmuEvent::OP_RETIRED, mops.into());
        }
        retired
    }

    /// A store leaves the store queue for the cache after it has retired: the cycle in which its
    /// entry is free. `is_simple` of a store that has a [`Shape`] of its own.
    #[inline(always)]
    pub(crate) fn store<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        is_simple: bool,
        done: &mut Done,
        retired: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) -> Cycle {
        let Some(store) = done.store else { return retired };
        if !is_simple && op.inst.mem.scattered {
            let last = self.store_elements(&{ *op }, store, retired, memory, sink);
            done.sent = self.lsu.last_sent();
            done.reply.written(last);
            return last.done;
        }
        let PendingStore { request, known, data, release } = store;
        let release = !is_simple && release;
        let mut drain = self.lsu.drain_pieces(&request, retired, release);
        if release {
            drain = drain.max(lsu::push_merged(op.pc, drain, memory, sink));
        }
        done.sent = self.lsu.last_sent();
        let reply = memory.access(request, drain, sink);
        let mut written = reply.done.max(drain);
        if release {
            // Nor does its own line wait for other stores: who takes the lock must see it.
            written = written.max(lsu::push_merged(op.pc, written, memory, sink));
        }
        done.reply.written(reply);
        let data = Stamp::new(data, self.path.now());
        let times = StoreTimes { known, data, drained: written };
        self.lsu.stored(request.addr.0, request.bytes.into(), times);
        if release {
            self.lsu.released(written);
        }
        written
    }
}
