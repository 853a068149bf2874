//! Rename and dispatch: five slots per cycle, and the resources that an operation needs to take one
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

/// Stall of an instruction at rename, if any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DispatchStall {
    /// First cycle in which everything it needs is free.
    pub until: Cycle,
    /// Last resource to become free.
    pub by: StallCause,
    /// Operation that this resource waits for. It holds only what is known when `by` is determined.
    pub awaited: Awaited,
}

/// Wait of the entry that is freed next. The format depends on the [`StallCause`] stored next to
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Awaited(u32);

impl Awaited {
    /// No structure is full, or rename itself is held; [`RenameStage::held_for`] then has the
    /// cause.
    const FLOOR: Awaited = Awaited(u32::MAX);

    /// Returns the wait for the operation that retirement waits for.
    #[inline]
    fn retirement(op: OpRef) -> Awaited {
        Awaited(op.0.into())
    }

    /// Returns the wait of the micro-operation that leaves an issue queue next.
    #[inline]
    pub(crate) fn issue(wait: IssueWait) -> Awaited {
        Awaited(u32::from(wait.input.0) | u32::from(wait.for_pipe) << 16)
    }

    /// Returns the operation given to [`Awaited::retirement`].
    pub(crate) fn of_retirement(self) -> OpRef {
        OpRef(self.0 as u16)
    }

    /// Returns the wait given to [`Awaited::issue`].
    pub(crate) fn of_issue(self) -> IssueWait {
        IssueWait { input: OpRef(self.0 as u16), for_pipe: (self.0 >> 16) as u16 }
    }

    /// Returns whether rename itself is held.
    pub(crate) fn is_floor(self) -> bool {
        self == Awaited::FLOOR
    }
}

/// Wait of the store that leaves the store queue next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StoreWait {
    /// Cycle in which its entry is free, stamped with the store.
    pub free: Stamp,
    /// Cycle in which it left for the cache, and the cause of the delay; 0 if it never left.
    pub sent: Stamp,
    /// Cycle in which it retired, and the operation that retirement waited for.
    pub retired: Stamp,
}

/// Reorder buffer entry of one MOP.
const ONE_MOP: RenameResources = RenameResources::of(ResourceKind::Rob, 1);

/// Returns the entries that `inst` holds besides those of the reorder buffer.
#[inline]
fn entries_of(inst: &Inst, outcome: RenameOutcome) -> RenameResources {
    if outcome == RenameOutcome::Dispatched { inst.entries } else { RenameResources::default() }
}

/// Positions of all in-order resources, to return to after a wrong path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RenameMark {
    log: LogMark,
    stores: usize,
}

/// Rename slots, and the resources that dispatch takes.
#[derive(Clone, Debug)]
pub(crate) struct RenameStage {
    limits: UopCounts,
    dispatched: UopCounts,
    cycle: Cycle,
    used: usize,
    /// Last stall cause of an operation; younger operations wait for the same cause.
    held_by: StallCause,
    floor: Cycle,
    floor_cause: StallCause,
    floor_root: (RootCause, Option<InstId>),
    /// Resources that are freed at retirement.
    log: AllocationLog,
    stores: Ring,
    /// Wait of each entry of the store queue.
    store_waits: Box<[StoreWait]>,
    queues: IssueQueues,
    /// MOPs renamed so far.
    mops: u64,
    /// Number of the first MOP that may be a move done at rename.
    next_move: u64,
    move_interval: u64,
}

impl RenameStage {
    /// Returns an empty stage at cycle 0.
    pub(crate) fn new(config: &PipelineConfig) -> RenameStage {
        let w = &config.window;
        RenameStage {
            limits: dispatch::limits(&config.dispatch),
            dispatched: UopCounts::default(),
            cycle: 0,
            used: 0,
            held_by: StallCause::DispatchWidth,
            floor: 0,
            floor_cause: StallCause::Serialize,
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

    /// Returns the rename clock: the cycle of the last slot taken.
    #[inline]
    pub(crate) fn cycle(&self) -> Cycle {
        self.cycle
    }

    /// Holds rename until this cycle, because of `cause`: a serializing operation, or an older
    /// wrong-path operation that never got its slot. `root` is the root cause and its instruction.
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

    /// Returns the root cause given to [`RenameStage::hold_until`], if rename is held until `end`.
    pub(crate) fn held_for(&self, end: Cycle) -> (RootCause, Option<InstId>) {
        if self.floor >= end { self.floor_root } else { (RootCause::Latency, None) }
    }

    /// Returns the store that leaves the store queue next.
    pub(crate) fn oldest_store(&self) -> StoreWait {
        self.store_waits[self.stores.mark()]
    }

    /// Returns the rename outcome of `inst`. Within `move_interval` consecutive MOPs, rename
    /// completes only one register move; the others take an integer pipe.
    #[inline]
    pub(crate) fn rename_outcome(&self, inst: &Inst) -> RenameOutcome {
        match inst.rename {
            Rename::Normal => RenameOutcome::Dispatched,
            Rename::Move if self.mops < self.next_move => RenameOutcome::Dispatched,
            Rename::Move | Rename::Zero | Rename::Nop => RenameOutcome::Eliminated,
        }
    }

    /// Returns the stall of the first MOP of `inst`, which arrives in `arrive`.
    #[inline(always)]
    pub(crate) fn blocker(
        &self,
        inst: &Inst,
        outcome: RenameOutcome,
        arrive: Cycle,
    ) -> DispatchStall {
        self.blocker_if(self.has_entries(inst, outcome), inst, outcome, arrive)
    }

    /// Returns whether the entries of the first MOP of `inst` are known to be free, without regard
    /// to the cycle.
    #[inline(always)]
    pub(crate) fn has_entries(&self, inst: &Inst, outcome: RenameOutcome) -> bool {
        self.log.has(entries_of(inst, outcome).plus(ONE_MOP))
    }

    /// Returns the stall of the first MOP of `inst`, for a known [`RenameStage::has_entries`].
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

    /// Returns when the second half of a fused pair, which arrives in `arrive`, leaves rename. It
    /// needs neither a slot nor a reorder buffer entry, but all other resources.
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

    /// Returns the stall until the first cycle in which an operation that arrives in `arrive` may
    /// leave rename at all.
    #[inline(always)]
    fn floor(&self, arrive: Cycle) -> DispatchStall {
        let until = arrive.max(self.cycle);
        if self.floor > until {
            DispatchStall { until: self.floor, by: self.floor_cause, awaited: Awaited::FLOOR }
        } else {
            DispatchStall { until, by: self.held_by, awaited: Awaited::FLOOR }
        }
    }

    /// Returns a stall to the next cycle, because dispatch takes no more operations of this type in
    /// the current one.
    #[inline]
    fn next_cycle(&self) -> DispatchStall {
        let (until, by) = (self.cycle + 1, StallCause::DispatchWidth);
        DispatchStall { until, by, awaited: Awaited::FLOOR }
    }

    /// Returns the stall `blocked`, or a longer one for the store queue or the issue queues.
    #[inline(always)]
    fn queues_blocker(&self, inst: &Inst, mut blocked: DispatchStall) -> DispatchStall {
        if inst.stores && self.stores.free_at() > blocked.until {
            let (until, by) = (self.stores.free_at(), StallCause::StoreQueue);
            blocked = DispatchStall { until, by, awaited: Awaited::default() };
        }
        self.queues.blocker(inst, blocked)
    }

    /// Returns the stall for the last of these entries to become free.
    #[inline(never)]
    fn last_entry(
        &self,
        inst: &Inst,
        entries: RenameResources,
        mut blocked: DispatchStall,
    ) -> DispatchStall {
        let mut wait = |kind: ResourceKind, nth: usize, by: StallCause| {
            if !self.log.lacks(kind, nth) {
                return;
            }
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

    /// Returns when the `nth` next reorder buffer entry is free, for the later MOPs of one
    /// instruction.
    #[inline]
    pub(crate) fn rob_blocker(&self, nth: usize) -> DispatchStall {
        let free = self.log.free_at_nth(ResourceKind::Rob, nth);
        let (until, by) = (free.cycle(), StallCause::ReorderBuffer);
        DispatchStall { until, by, awaited: Awaited::retirement(free.by()) }
    }

    /// Returns the slot of an operation with the stall `ready`. The slots and the dispatch width of
    /// the cycle may delay it further. The first MOP carries all micro-operations of the
    /// instruction.
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

    /// Takes the slot that [`RenameStage::slot`] returned.
    #[inline(always)]
    pub(crate) fn take_slot(&mut self, uops: UopCounts, slot: DispatchStall) {
        self.take_partner_slot(uops, slot);
        self.used += 1;
        self.mops += 1;
    }

    /// Dispatches the second half of a pair in the slot that [`RenameStage::partner_slot`]
    /// returned.
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

    /// Records that the MOP whose slot was taken last is a register move done at rename.
    #[inline]
    pub(crate) fn moved(&mut self) {
        self.next_move = self.mops + self.move_interval - 1;
    }

    /// Returns whether the micro-operations still fit into the dispatch width of this cycle. An
    /// instruction that alone exceeds the width fits into an empty cycle.
    #[inline(always)]
    fn fits(&self, uops: UopCounts) -> bool {
        self.dispatched == UopCounts::default() || self.dispatched.plus(uops).within(self.limits)
    }

    /// Takes all entries of the last `mops` MOPs of an instruction until retirement, except its
    /// store queue entry.
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

    /// Takes a store queue entry until it is free.
    #[inline]
    pub(crate) fn take_store(&mut self, store: StoreWait) {
        self.store_waits[self.stores.mark()] = store;
        self.stores.take(store.free.cycle());
    }

    /// Takes the entry of a MOP that holds no other resource: one that rename completes, or one
    /// that is not the last of its instruction.
    #[inline]
    pub(crate) fn take_bare_mop(&mut self, retired: Stamp) {
        self.log.take(ONE_MOP, self.cycle, retired);
    }

    /// Takes the entries of an instruction of one MOP that is not a store. With `has_entries`, they
    /// are known to be free.
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

    /// Returns the issue queues.
    #[inline]
    pub(crate) fn queues(&mut self) -> &mut IssueQueues {
        &mut self.queues
    }

    /// Returns how many entries of all kinds are still taken in `cycle`.
    pub(crate) fn held(&self, cycle: Cycle) -> usize {
        self.log.held(cycle) + self.stores.held(cycle) + self.queues.held(cycle)
    }

    /// Returns the current positions of all in-order resources.
    pub(crate) fn mark(&self) -> RenameMark {
        RenameMark { log: self.log.mark(), stores: self.stores.mark() }
    }

    /// Releases the in-order resources that the wrong path took. Issue queue entries become free at
    /// the squash.
    pub(crate) fn squash(&mut self, mark: RenameMark) {
        self.log.rewind(mark.log);
        self.stores.rewind(mark.stores);
    }
}
