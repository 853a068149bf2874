//! The short outcome: what most instructions are, through the same stages as `Pipeline::schedule_general`, without
//! what cannot happen to them ([`sim_isa::PathClass`]).

use crate::op::ExecResult;
use crate::op::{Op, aborts};
use crate::pipeline::Pipeline;
use crate::stages::events::{raise_instruction_events, raise_simple_events};
use crate::stages::execute::Groups;
use crate::units::dispatch::{RenameOutcome, uops_of};
use crate::units::frontend::FetchTiming;
use crate::units::rename::StoreWait;
use crate::units::stamp::Stamp;
use sim_core::time::NEVER;
use sim_core::{Cycle, EventSink, Happened, MemoryPort, OpLife, PmuEvent};
use sim_isa::{MemOp, Rename, Role, StaticEvents, UopCounts};

/// One micro-operation that computes, in a slot of its own.
pub(crate) const PLAIN: u8 = 0;
/// One load, in a slot of its own.
pub(crate) const LOAD: u8 = 1;
/// One micro-operation that computes, in the slot of the instruction with which it makes a fused pair.
pub(crate) const JOINED: u8 = 2;
/// A load that updates its base, in a slot of its own.
pub(crate) const LOAD_UPDATE: u8 = 3;
/// A store, in a slot of its own.
pub(crate) const STORE: u8 = 4;
/// Any micro-operations, in a slot of their own.
pub(crate) const SINGLE: u8 = 5;
/// What renaming does, in a slot of its own.
pub(crate) const RENAMED: u8 = 6;
/// Any micro-operations, in two slots of their own.
pub(crate) const DOUBLE: u8 = 7;
/// One of those: a load that updates its base.
pub(crate) const DOUBLE_LOAD_UPDATE: u8 = 8;
/// One of those: a store that updates its base.
pub(crate) const DOUBLE_STORE_UPDATE: u8 = 9;
/// What the micro-operation of its partner in a fused pair does.
pub(crate) const RIDING: u8 = 10;

/// It shares the slot of the instruction with which it makes a fused pair.
const fn is_second(kind: u8) -> bool {
    matches!(kind, JOINED | RIDING)
}

/// It takes two slots.
const fn is_double(kind: u8) -> bool {
    matches!(kind, DOUBLE | DOUBLE_LOAD_UPDATE | DOUBLE_STORE_UPDATE)
}

/// What is known of its groups of micro-operations.
const fn groups_of(kind: u8) -> Groups {
    let roles: &[Role] = match kind {
        LOAD_UPDATE | DOUBLE_LOAD_UPDATE => &[Role::Load, Role::BaseUpdate],
        STORE => &[Role::StoreAddr, Role::StoreData],
        DOUBLE_STORE_UPDATE => &[Role::StoreAddr, Role::StoreData, Role::BaseUpdate],
        _ => &[],
    };
    Groups { roles, are_ones: matches!(kind, LOAD_UPDATE | STORE | DOUBLE_STORE_UPDATE) }
}

/// It may read or write memory.
const fn accesses(kind: u8) -> bool {
    !matches!(kind, PLAIN | JOINED | RIDING | RENAMED)
}

/// It is a load of a shape of its own.
const fn loads(kind: u8) -> bool {
    matches!(kind, LOAD | LOAD_UPDATE | DOUBLE_LOAD_UPDATE)
}

/// It is a load or store of a shape of its own.
const fn is_simple(kind: u8) -> bool {
    loads(kind) || matches!(kind, STORE | DOUBLE_STORE_UPDATE)
}

/// It may take an entry of the store queue.
const fn may_store(kind: u8) -> bool {
    matches!(kind, STORE | SINGLE | DOUBLE | DOUBLE_STORE_UPDATE)
}

/// How it goes on from rename.
const fn outcome_of(kind: u8) -> RenameOutcome {
    match kind {
        RENAMED => RenameOutcome::Eliminated,
        RIDING => RenameOutcome::Fused,
        _ => RenameOutcome::Dispatched,
    }
}

impl Pipeline {
    /// One instruction through all stages: false when its path was squashed before it got a slot.
    ///
    /// Inlined where it is called, so that on the right path nothing asks for a squash, and what is handed from
    /// stage to stage stays in registers; what is rarer goes through [`Pipeline::schedule_fast_outlined`].
    #[inline(always)]
    pub(crate) fn schedule_fast<const KIND: u8, M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        arrival: &FetchTiming,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        self.path.begin();
        // Of one MOP: what is free now nothing else takes before it does, at its end.
        let has_entries =
            !is_second(KIND) && self.rename_stage.has_entries(op.inst, outcome_of(KIND));
        let slot = match KIND {
            _ if is_second(KIND) => {
                self.share_slot(op, outcome_of(KIND), arrival).map(|(cycle, _)| cycle)
            }
            _ => self.rename_one::<KIND, M, S>(op, has_entries, arrival, memory, sink),
        };
        let Some(rename) = slot else { return false };
        let mops = match KIND {
            _ if is_second(KIND) => 0,
            _ if is_double(KIND) => 1 + u32::from(self.rename_second(op, arrival, memory, sink)),
            _ => 1,
        };
        sink.at(rename);
        if !S::ADDS_UP {
            self.raise_speculative(op, mops, sink);
        }
        let mut done = match KIND {
            LOAD => self.load_alone(op, rename, memory, sink),
            RENAMED => self.rename_only(op, rename),
            RIDING => self.complete_fused(op, rename),
            PLAIN | JOINED => self.compute(op, rename),
            _ => self.execute_groups(op, groups_of(KIND), rename, memory, sink),
        };
        if S::ADDS_UP {
            self.add_up_speculative::<KIND, S>(op, (mops, done.issue), sink);
        } else {
            self.raise_issued(op, done.issue, sink);
        }
        let faults = match KIND {
            _ if is_simple(KIND) => done.reply.happened.has(Happened::FAULT),
            _ => accesses(KIND) && aborts(op, &done),
        };
        let retires = op.retires && !faults;
        let retired = match KIND {
            _ if op.squash != NEVER => op.squash,
            _ if is_double(KIND) => self.complete(op, &done, mops, retires, sink),
            _ => self.retire_one::<KIND, S>(&done, retires, sink),
        };
        debug_assert!(may_store(KIND) || !op.inst.stores, "{:?} stores", op.inst.path_class);
        let stores = may_store(KIND) && retires && done.store.is_some();
        let drained = match stores {
            true => self.store(op, is_simple(KIND), &mut done, retired, memory, sink),
            false => retired,
        };
        let drained = (done.sent, Stamp::new(drained + 1, self.path.now()));
        self.take_entries_of::<KIND>(op, (mops, has_entries), retired, drained);
        if S::ADDS_UP {
            self.note_end::<KIND>(op, &done, retires, retired);
        } else {
            let (mops, written) = (mops as u8, if stores { drained.1.cycle() - 1 } else { 0 });
            let life = op.life(arrival, rename, &done, retired);
            self.life = OpLife { mops, written, retired: retires, ..life };
        }
        true
    }

    /// The same, as one function for both paths: for what is rarer. All ways together do not fit the host's
    /// first-level cache for instructions.
    #[inline(never)]
    pub(crate) fn schedule_fast_outlined<const KIND: u8, M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        arrival: &FetchTiming,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        self.schedule_fast::<KIND, M, S>(op, arrival, memory, sink)
    }

    /// The slot of the first MOP of an instruction, nearly always its only one.
    #[inline(always)]
    fn rename_one<const KIND: u8, M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        has_entries: bool,
        arrival: &FetchTiming,
        memory: &mut M,
        sink: &mut S,
    ) -> Option<Cycle> {
        let outcome = outcome_of(KIND);
        let blocked = self.rename_stage.blocker_if(has_entries, op.inst, outcome, arrival.at);
        let uops = uops_of(op.inst, outcome);
        let slot = self.enter_slot(op.squash, uops, arrival, blocked, memory, sink)?;
        self.front.renamed(slot);
        self.pipes.advance(slot);
        if KIND == RENAMED && op.inst.rename == Rename::Move {
            self.rename_stage.moved();
        }
        Some(slot)
    }

    /// The slot of the second MOP: false when its path was squashed before it got one.
    #[inline]
    fn rename_second<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        arrival: &FetchTiming,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        let blocked = self.rename_stage.rob_blocker(1);
        let no_uops = UopCounts::default();
        self.enter_slot(op.squash, no_uops, arrival, blocked, memory, sink).is_some()
    }

    /// As `Pipeline::raise_speculative` and `Pipeline::raise_issued` in one, for a sink that adds up.
    #[inline(always)]
    fn add_up_speculative<const KIND: u8, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        (mops, issue): (u32, Cycle),
        sink: &mut S,
    ) {
        if op.squash != NEVER && issue > op.squash {
            return self.raise_speculative(op, mops, sink);
        }
        self.raise_executed(mops, sink);
        if is_second(KIND) {
            sink.executed(&op.inst.tally.first(StaticEvents::PER_INST));
        } else {
            sink.executed(&op.inst.tally);
        }
        if is_double(KIND) && mops == 2 {
            sink.executed(&op.inst.tally.behind(StaticEvents::PER_INST));
        }
        if is_simple(KIND) {
            return raise_simple_events(op, issue, sink);
        }
        self.raise_elements(op, sink);
        if accesses(KIND) && op.inst.mem.op != MemOp::None {
            raise_instruction_events(op, issue, sink);
        }
    }

    /// Takes what it holds until it has retired, its entry of the store queue until it is drained.
    #[inline(always)]
    fn take_entries_of<const KIND: u8>(
        &mut self,
        op: &Op<'_>,
        (mops, has_entries): (u32, bool),
        retired: Cycle,
        (sent, free): (Stamp, Stamp),
    ) {
        let retired = self.free_at(op, retired + 1);
        if may_store(KIND) && op.inst.stores {
            self.rename_stage.take_store(StoreWait { free, sent, retired });
        }
        match KIND {
            RIDING => {}
            JOINED => self.rename_stage.take_joined(op.inst, retired),
            _ if is_double(KIND) => {
                let left = self.mops_left(op, mops);
                self.rename_stage.take_mops(op.inst, RenameOutcome::Dispatched, left, retired);
            }
            _ => {
                let inst = (op.inst, outcome_of(KIND));
                self.rename_stage.take_mop(has_entries, inst, retired);
            }
        }
    }

    /// Completion and retirement: the cycle in which it leaves the window.
    #[inline(always)]
    fn retire_one<const KIND: u8, S: EventSink>(
        &mut self,
        done: &ExecResult,
        retires: bool,
        sink: &mut S,
    ) -> Cycle {
        let retired = match KIND {
            _ if is_second(KIND) => self.retire.wait(done.complete, self.path.now()),
            _ => self.retire.place(done.complete, self.path.now()),
        };
        if retires {
            sink.at(retired);
            sink.raise(PmuEvent::INST_RETIRED);
            sink.count(PmuEvent::OP_RETIRED, u64::from(!is_second(KIND)));
        }
        retired
    }

    /// Of a life that nobody hears of: what the core itself asks for.
    #[inline(always)]
    fn note_end<const KIND: u8>(
        &mut self,
        op: &Op<'_>,
        done: &ExecResult,
        retires: bool,
        retired: Cycle,
    ) {
        let life = &mut self.life;
        life.complete = done.complete;
        if op.squash != NEVER {
            // Of a wrong path only its branches ask, when they issue and when they resolve.
            life.issue = done.issue;
            return;
        }
        (life.pc, life.retire, life.retired) = (op.pc, retired, retires);
        life.happened = if accesses(KIND) { done.reply.happened } else { Happened::default() };
    }
}
