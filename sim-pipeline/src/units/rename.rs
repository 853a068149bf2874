//! Rename and dispatch: five slots per cycle, and everything an operation must hold to take one
//! (reorder buffer, registers, load/store queues, issue queues, dispatch width).

use crate::config::PipelineConfig;
use crate::units::dispatch::{self, RenameOutcome, uops_of};
use crate::units::issue_queue::{IssueQueues, IssueWait};
use crate::units::resource::Ring;
use crate::units::rob::{AllocationLog, LogMark};
use crate::units::slots::SLOTS;
use crate::units::stamp::{OpRef, Stamp};
use sim_core::{Cycle, InstId, RootCause, StallCause};
use sim_isa::{Inst, RegFile, Rename, RenameResources, ResourceKind, UopCounts};

/// What holds an instruction back at rename, if anything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DispatchStall {
    /// First cycle in which everything it needs is free.
    pub until: Cycle,
    /// The last thing to become free.
    pub by: StallCause,
    /// What that waits for; only what is known where `by` is found.
    pub awaited: Awaited,
}

/// What the entry that is freed next waits for. How it is read depends on the [`StallCause`] beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Awaited(u32);

impl Awaited {
    /// Rename itself is held, or nothing is full: [`RenameStage::held_for`] knows more.
    const FLOOR: Awaited = Awaited(u32::MAX);

    /// The operation for which retirement waits.
    #[inline]
    fn retirement(op: OpRef) -> Awaited {
        Awaited(op.0.into())
    }

    /// What the micro-operation that leaves an issue queue next waits for.
    #[inline]
    pub(crate) fn issue(wait: IssueWait) -> Awaited {
        Awaited(u32::from(wait.input.0) | u32::from(wait.for_pipe) << 16)
    }

    /// The operation given to [`Awaited::retirement`].
    pub(crate) fn of_retirement(self) -> OpRef {
        OpRef(self.0 as u16)
    }

    /// The wait given to [`Awaited::issue`].
    pub(crate) fn of_issue(self) -> IssueWait {
        IssueWait { input: OpRef(self.0 as u16), for_pipe: (self.0 >> 16) as u16 }
    }

    /// Rename is held.
    pub(crate) fn is_floor(self) -> bool {
        self == Awaited::FLOOR
    }
}

/// The wait of the store that leaves the store queue next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StoreWait {
    /// When its entry is free, and the store.
    pub free: Stamp,
    /// When it left for the cache, and what held it until then; 0 if it never did.
    pub sent: Stamp,
    /// When it retired, and the operation for which retirement waited.
    pub retired: Stamp,
}

/// What one MOP takes of the reorder buffer.
const ONE_MOP: RenameResources = RenameResources::of(ResourceKind::Rob, 1);

/// What `inst` holds besides its reorder buffer entries.
#[inline]
fn entries_of(inst: &Inst, outcome: RenameOutcome) -> RenameResources {
    if outcome == RenameOutcome::Dispatched { inst.entries } else { RenameResources::default() }
}

/// Where everything that is taken in order stands, to come back to after a wrong path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RenameMark {
    log: LogMark,
    stores: usize,
}

/// Rename slots and the resources behind them.
#[derive(Clone, Debug)]
pub(crate) struct RenameStage {
    limits: UopCounts,
    dispatched: UopCounts,
    cycle: Cycle,
    used: usize,
    /// What held the last operation that was held: those behind it wait for the same.
    held_by: StallCause,
    floor: Cycle,
    floor_cause: StallCause,
    floor_root: (RootCause, Option<InstId>),
    /// What is free again at retirement.
    log: AllocationLog,
    stores: Ring,
    /// What each entry of the store queue waits for.
    store_waits: Box<[StoreWait]>,
    queues: IssueQueues,
    /// MOPs renamed so far, and the number of the first that may be a move done at rename.
    mops: u64,
    next_move: u64,
    move_interval: u64,
}

impl RenameStage {
    /// An empty window at cycle 0.
    pub(crate) fn new(config: &PipelineConfig) -> RenameStage {
        let w = &config.window;
        RenameStage {
            limits: dispatch::limits(&config.dispatch),
            dispatched: UopCounts::default(),
            cycle: 0,
            used: 0,
            held_by: StallCause::DispatchWidth,
            floor: 0,
            floor_cause: StallCause::Serialise,
            floor_root: (RootCause::Barrier, None),
            log: AllocationLog::new(w),
            stores: Ring::new(w.store_queue),
            store_waits: vec![StoreWait::default(); w.store_queue].into_boxed_slice(),
            queues: IssueQueues::new(w),
            mops: 0,
            next_move: 0,
            move_interval: w.move_interval.into(),
        }
    }

    /// The rename clock: cycle of the last slot taken.
    #[inline]
    pub(crate) fn cycle(&self) -> Cycle {
        self.cycle
    }

    /// No slot before this cycle, because of `cause`: a serializing operation holds rename, or an
    /// older operation of a wrong path never got its slot. `root` is what that waits for, and the instruction.
    pub(crate) fn hold_until(
        &mut self,
        cycle: Cycle,
        cause: StallCause,
        root: (RootCause, Option<InstId>),
    ) {
        if cycle > self.floor {
            (self.floor, self.floor_cause, self.floor_root) = (cycle, cause, root);
        }
    }

    /// What [`RenameStage::hold_until`] said, if rename is held until `end`.
    pub(crate) fn held_for(&self, end: Cycle) -> (RootCause, Option<InstId>) {
        if self.floor >= end { self.floor_root } else { (RootCause::Latency, None) }
    }

    /// The store that leaves the store queue next.
    pub(crate) fn oldest_store(&self) -> StoreWait {
        self.store_waits[self.stores.mark()]
    }

    /// How `inst` goes on from rename. Of some MOPs in a row only one register move is done there;
    /// the others take an integer pipe.
    #[inline]
    pub(crate) fn rename_outcome(&self, inst: &Inst) -> RenameOutcome {
        match inst.rename {
            Rename::Normal => RenameOutcome::Dispatched,
            Rename::Move if self.mops < self.next_move => RenameOutcome::Dispatched,
            Rename::Move | Rename::Zero | Rename::Nop => RenameOutcome::Eliminated,
        }
    }

    /// What the first MOP of `inst`, which arrives in `arrive`, waits for.
    #[inline(always)]
    pub(crate) fn blocker(
        &self,
        inst: &Inst,
        outcome: RenameOutcome,
        arrive: Cycle,
    ) -> DispatchStall {
        self.blocker_if(self.has_entries(inst, outcome), inst, outcome, arrive)
    }

    /// True when the entries that the first MOP of `inst` takes are free, whatever the cycle.
    #[inline(always)]
    pub(crate) fn has_entries(&self, inst: &Inst, outcome: RenameOutcome) -> bool {
        self.log.has(entries_of(inst, outcome).plus(ONE_MOP))
    }

    /// As [`RenameStage::blocker`], for what has its entries or has not.
    #[inline(always)]
    pub(crate) fn blocker_if(
        &self,
        has_entries: bool,
        inst: &Inst,
        outcome: RenameOutcome,
        arrive: Cycle,
    ) -> DispatchStall {
        let mut blocked = self.floor(arrive);
        if !has_entries {
            let entries = entries_of(inst, outcome).plus(ONE_MOP);
            blocked = self.last_entry(inst, entries, blocked);
        }
        if outcome == RenameOutcome::Dispatched {
            self.queues_blocker(inst, blocked)
        } else {
            blocked
        }
    }

    /// The cycle in which the second half of a fused pair, which arrives in `arrive`, goes on: it needs
    /// neither slot nor reorder buffer entry, but everything else.
    #[inline(always)]
    pub(crate) fn partner_slot(
        &self,
        inst: &Inst,
        outcome: RenameOutcome,
        arrive: Cycle,
    ) -> DispatchStall {
        let blocked = self.floor(arrive);
        if outcome != RenameOutcome::Dispatched {
            return blocked;
        }
        let late = !self.log.has(inst.entries);
        let blocked = if late { self.last_entry(inst, inst.entries, blocked) } else { blocked };
        let blocked = self.queues_blocker(inst, blocked);
        if blocked.until == self.cycle && !self.fits(uops_of(inst, outcome)) {
            return self.next_cycle();
        }
        blocked
    }

    /// First cycle in which something that arrives in `arrive` may go on at all.
    #[inline(always)]
    fn floor(&self, arrive: Cycle) -> DispatchStall {
        let until = arrive.max(self.cycle);
        if self.floor > until {
            DispatchStall { until: self.floor, by: self.floor_cause, awaited: Awaited::FLOOR }
        } else {
            DispatchStall { until, by: self.held_by, awaited: Awaited::FLOOR }
        }
    }

    /// This cycle's dispatch takes no more of this type.
    #[inline]
    fn next_cycle(&self) -> DispatchStall {
        let (until, by) = (self.cycle + 1, StallCause::DispatchWidth);
        DispatchStall { until, by, awaited: Awaited::FLOOR }
    }

    /// What the store queue and the issue queues add to it.
    #[inline(always)]
    fn queues_blocker(&self, inst: &Inst, mut blocked: DispatchStall) -> DispatchStall {
        if inst.stores && self.stores.free_at() > blocked.until {
            let (until, by) = (self.stores.free_at(), StallCause::StoreQueue);
            blocked = DispatchStall { until, by, awaited: Awaited::default() };
        }
        self.queues.blocker(inst, blocked)
    }

    /// Which of these entries is the last to be free, and when.
    #[inline(never)]
    fn last_entry(
        &self,
        inst: &Inst,
        entries: RenameResources,
        mut blocked: DispatchStall,
    ) -> DispatchStall {
        let mut wait = |kind: ResourceKind, nth: usize, by: StallCause| {
            let free = self.log.free_at_nth(kind, nth);
            if free.cycle() > blocked.until {
                let awaited = Awaited::retirement(free.by());
                blocked = DispatchStall { until: free.cycle(), by, awaited };
            }
        };
        if entries.count(ResourceKind::Rob) > 0 {
            wait(ResourceKind::Rob, 0, StallCause::ReorderBuffer);
        }
        let (mut general, mut vector) = (0, 0);
        let has_registers = entries.count(ResourceKind::General)
            + entries.count(ResourceKind::Vector)
            + entries.count(ResourceKind::Flags)
            > 0;
        for dst in inst.dsts().iter().filter(|_| has_registers) {
            match dst.file() {
                RegFile::General => {
                    wait(ResourceKind::General, general, StallCause::IntRegisters);
                    general += 1;
                }
                RegFile::Vector => {
                    wait(ResourceKind::Vector, vector, StallCause::VecRegisters);
                    vector += 1;
                }
                RegFile::Flags => wait(ResourceKind::Flags, 0, StallCause::FlagRegisters),
            }
        }
        if entries.count(ResourceKind::Load) > 0 {
            wait(ResourceKind::Load, 0, StallCause::LoadQueue);
        }
        if entries.count(ResourceKind::Branch) > 0 {
            wait(ResourceKind::Branch, 0, StallCause::BranchQueue);
        }
        blocked
    }

    /// When the `nth` next reorder buffer entry is free, for the later MOPs of one instruction.
    #[inline]
    pub(crate) fn rob_blocker(&self, nth: usize) -> DispatchStall {
        let free = self.log.free_at_nth(ResourceKind::Rob, nth);
        let (until, by) = (free.cycle(), StallCause::ReorderBuffer);
        DispatchStall { until, by, awaited: Awaited::retirement(free.by()) }
    }

    /// The slot for an operation that is ready for one, given its blocker: the slots and the dispatch
    /// width of the cycle may move it on. The first MOP brings all micro-operations of the instruction.
    #[inline(always)]
    pub(crate) fn slot(&self, uops: UopCounts, ready: DispatchStall) -> DispatchStall {
        if ready.until > self.cycle {
            return ready;
        }
        if self.used >= SLOTS {
            return DispatchStall { until: self.cycle + 1, ..ready };
        }
        if !self.fits(uops) {
            return self.next_cycle();
        }
        DispatchStall { until: self.cycle, ..ready }
    }

    /// Takes the slot that [`RenameStage::slot`] gave.
    #[inline(always)]
    pub(crate) fn take_slot(&mut self, uops: UopCounts, slot: DispatchStall) {
        self.take_partner_slot(uops, slot);
        self.used += 1;
        self.mops += 1;
    }

    /// Sends on the second half of a pair, as [`RenameStage::partner_slot`] said.
    #[inline(always)]
    pub(crate) fn take_partner_slot(&mut self, uops: UopCounts, slot: DispatchStall) {
        self.held_by = slot.by;
        if slot.until > self.cycle {
            self.cycle = slot.until;
            self.queues.advance(slot.until);
            self.used = 0;
            self.dispatched = UopCounts::default();
        }
        self.dispatched = self.dispatched.plus(uops);
    }

    /// The MOP whose slot was taken last is a register move, done at rename.
    #[inline]
    pub(crate) fn moved(&mut self) {
        self.next_move = self.mops + self.move_interval - 1;
    }

    /// Whether the micro-operations still fit into the dispatch width of this cycle. An instruction
    /// that alone is too wide goes when the cycle is empty.
    #[inline(always)]
    fn fits(&self, uops: UopCounts) -> bool {
        self.dispatched == UopCounts::default() || self.dispatched.plus(uops).within(self.limits)
    }

    /// As that, without the entry of the store queue.
    #[inline(always)]
    pub(crate) fn take_mops(
        &mut self,
        inst: &Inst,
        outcome: RenameOutcome,
        mops: u32,
        retired: Stamp,
    ) {
        let entries = entries_of(inst, outcome).plus(RenameResources::of(ResourceKind::Rob, mops));
        if mops > 0 || entries != RenameResources::default() {
            self.log.take(entries, self.cycle, retired);
        }
    }

    /// Takes an entry of the store queue until it is free.
    #[inline]
    pub(crate) fn take_store(&mut self, store: StoreWait) {
        self.store_waits[self.stores.mark()] = store;
        self.stores.take(store.free.cycle());
    }

    /// Takes the entry of a MOP that holds nothing else: one that renaming does, or not the last of its
    /// instruction.
    #[inline]
    pub(crate) fn take_bare_mop(&mut self, retired: Stamp) {
        self.log.take(ONE_MOP, self.cycle, retired);
    }

    /// As [`RenameStage::take_entries`], for one MOP that is no store and may have been found to have its entries.
    #[inline(always)]
    pub(crate) fn take_mop(
        &mut self,
        has_entries: bool,
        (inst, outcome): (&Inst, RenameOutcome),
        retired: Stamp,
    ) {
        let entries = entries_of(inst, outcome).plus(ONE_MOP);
        match has_entries {
            true => self.log.take_free(entries, retired),
            false => self.log.take(entries, self.cycle, retired),
        }
    }

    /// The issue queues.
    #[inline]
    pub(crate) fn queues(&mut self) -> &mut IssueQueues {
        &mut self.queues
    }

    /// RenameResources of all kinds that are still taken in `cycle`.
    pub(crate) fn held(&self, cycle: Cycle) -> usize {
        self.log.held(cycle) + self.stores.held(cycle) + self.queues.held(cycle)
    }

    /// Where everything stands now.
    pub(crate) fn mark(&self) -> RenameMark {
        RenameMark { log: self.log.mark(), stores: self.stores.mark() }
    }

    /// Gives back what the wrong path took in order. Issue queue entries are free at the squash anyway.
    pub(crate) fn squash(&mut self, mark: RenameMark) {
        self.log.rewind(mark.log);
        self.stores.rewind(mark.stores);
    }
}
