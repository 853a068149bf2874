//! Cycles that a run would save if one cost were zero: a cross-check of the slot ledger.
//!
//! The ledger gives each lost slot one cause. It does not say what the absence of the cause would
//! save, because another cause may follow. Here the trace runs again with one cost ideal, and with
//! two, and the ledgers show where the difference went. Two costs interact as Fields and others
//! define it (MICRO 2003): the saving of both less the savings of each. A positive value is
//! overlap: either hides the other.

use sim_core::{PmuEvent, RootCause, StallCause};
use sim_metrics::identities::SLOTS_PER_CYCLE;
use sim_metrics::{Truth, Truths};

use sim_machine::outcome::Outcome;

/// A cost that is removed, or a limit that is lifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ideal {
    /// Data accesses take the time of L1 hits.
    BeyondL1,
    /// L2 misses of data accesses take the time of L2 hits.
    BeyondL2,
    /// Misses of the L1 TLBs take no time.
    Translation,
    /// Every branch follows its prediction, and none is found late.
    Prediction,
    /// Fetch and decode delay nothing.
    Fetch,
    /// Reorder buffer, registers and queues are unlimited.
    Window,
    /// Pipes, dispatch and store drain are unlimited.
    Pipes,
    /// Computation takes one cycle.
    Latency,
    /// Barriers, acquires and releases order nothing.
    Ordering,
}

impl Ideal {
    /// All ideals.
    pub const ALL: [Ideal; 9] = [
        Ideal::BeyondL1,
        Ideal::BeyondL2,
        Ideal::Translation,
        Ideal::Prediction,
        Ideal::Fetch,
        Ideal::Window,
        Ideal::Pipes,
        Ideal::Latency,
        Ideal::Ordering,
    ];

    /// Returns the configuration key and its value, in the form of an override.
    pub fn setting(self) -> &'static str {
        match self {
            Ideal::BeyondL1 => "memory.ideal.data=beyond-l1",
            Ideal::BeyondL2 => "memory.ideal.data=beyond-l2",
            Ideal::Translation => "memory.ideal.translation=true",
            Ideal::Prediction => "pipeline.branch.direction=perfect",
            Ideal::Fetch => "pipeline.ideal.fetch=true",
            Ideal::Window => "pipeline.ideal.window=true",
            Ideal::Pipes => "pipeline.ideal.pipes=true",
            Ideal::Latency => "pipeline.ideal.latency=true",
            Ideal::Ordering => "pipeline.ideal.ordering=true",
        }
    }

    /// Returns the name in machine-readable outputs.
    pub fn name(self) -> &'static str {
        match self {
            Ideal::BeyondL1 => "beyond-l1",
            Ideal::BeyondL2 => "beyond-l2",
            Ideal::Translation => "translation",
            Ideal::Prediction => "prediction",
            Ideal::Fetch => "fetch",
            Ideal::Window => "window",
            Ideal::Pipes => "pipes",
            Ideal::Latency => "latency",
            Ideal::Ordering => "ordering",
        }
    }

    /// Returns the name in reports.
    pub fn label(self) -> &'static str {
        match self {
            Ideal::BeyondL1 => "memory beyond the L1",
            Ideal::BeyondL2 => "memory beyond the L2",
            Ideal::Translation => "TLB misses",
            Ideal::Prediction => "branch prediction",
            Ideal::Fetch => "fetch",
            Ideal::Window => "window size",
            Ideal::Pipes => "pipes and dispatch",
            Ideal::Latency => "execution latency",
            Ideal::Ordering => "barriers",
        }
    }

    /// Returns the losses that the ideal removes. The window has none: a full structure is a
    /// symptom.
    pub fn removes(self) -> &'static [Loss] {
        match self {
            Ideal::BeyondL1 => &[Loss::L2, Loss::Outside, Loss::StoreDrain],
            Ideal::BeyondL2 => &[Loss::Outside],
            Ideal::Translation => &[Loss::Translation, Loss::FetchTranslation],
            Ideal::Prediction => &[Loss::Prediction, Loss::Squashed],
            Ideal::Fetch => &[Loss::Fetch, Loss::FetchTranslation],
            Ideal::Window => &[],
            Ideal::Pipes => &[Loss::Pipes],
            Ideal::Latency => &[Loss::Latency],
            Ideal::Ordering => &[Loss::Ordering],
        }
    }
}

/// Use of a rename slot; every slot has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Loss {
    /// The operation retired.
    Retired,
    /// The operation was squashed.
    Squashed,
    /// Empty: refill after a misprediction, or a branch that was found late.
    Prediction,
    /// Empty: L1 I-cache miss, or the widths of prediction, fetch and decode.
    Fetch,
    /// Empty: translation of a fetch.
    FetchTranslation,
    /// Empty: other restarts, sleep, start and end of the stream.
    Restart,
    /// Empty: waiting for data from the L2.
    L2,
    /// Empty: waiting for data from beyond the L2.
    Outside,
    /// Empty: waiting for a store whose line is not in the cache yet.
    StoreDrain,
    /// Empty: translation of a data access.
    Translation,
    /// Empty: latency of computation.
    Latency,
    /// Empty: pipes and dispatch.
    Pipes,
    /// Empty: barriers and accesses that order others.
    Ordering,
    /// Empty: L1 hits, forwarding, devices, system registers, other threads.
    Other,
}

impl Loss {
    /// Number of variants.
    pub const COUNT: usize = 14;

    /// All variants, in order.
    pub const ALL: [Loss; Loss::COUNT] = [
        Loss::Retired,
        Loss::Squashed,
        Loss::Prediction,
        Loss::Fetch,
        Loss::FetchTranslation,
        Loss::Restart,
        Loss::L2,
        Loss::Outside,
        Loss::StoreDrain,
        Loss::Translation,
        Loss::Latency,
        Loss::Pipes,
        Loss::Ordering,
        Loss::Other,
    ];

    /// Returns a short name for reports.
    pub fn label(self) -> &'static str {
        match self {
            Loss::Retired => "retired operations",
            Loss::Squashed => "squashed operations",
            Loss::Prediction => "late branches",
            Loss::Fetch => "fetch",
            Loss::FetchTranslation => "ITLB misses",
            Loss::Restart => "restarts",
            Loss::L2 => "L2 hits",
            Loss::Outside => "L2 misses",
            Loss::StoreDrain => "store drain",
            Loss::Translation => "data TLB misses",
            Loss::Latency => "execution latency",
            Loss::Pipes => "pipes and dispatch",
            Loss::Ordering => "barriers",
            Loss::Other => "other back-end waits",
        }
    }

    /// Returns true if the slot stayed empty.
    pub fn is_empty(self) -> bool {
        !matches!(self, Loss::Retired | Loss::Squashed)
    }
}

/// Cycles and rename slots of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// Cycles of all cores.
    pub cycles: u64,
    /// Slots by their use.
    by_loss: [u64; Loss::COUNT],
    /// Empty slots while a structure of the window was full.
    full: u64,
}

impl Slots {
    /// Returns the slots of all cores of a run.
    pub fn of(outcome: &Outcome) -> Slots {
        let total = outcome.total();
        let mut slots = Slots { cycles: total.value(PmuEvent::CPU_CYCLES), ..Slots::default() };
        let (retired, all) = (total.value(PmuEvent::OP_RETIRED), total.value(PmuEvent::OP_SPEC));
        slots.add(Loss::Retired, retired.min(all));
        slots.add(Loss::Squashed, all.saturating_sub(retired));
        slots.add_lost(outcome);
        slots
    }

    fn add(&mut self, loss: Loss, slots: u64) {
        self.by_loss[loss as usize] += slots;
    }

    fn add_lost(&mut self, outcome: &Outcome) {
        let stalls = outcome.stalls();
        for cause in StallCause::ALL.into_iter().filter(|cause| cause.is_frontend()) {
            self.add(loss_of_front_end(cause), stalls.of(cause));
        }
        for root in RootCause::back_end() {
            self.add(loss_of(root), stalls.of_root(root));
        }
        self.full = FULL.into_iter().map(|cause| stalls.of(cause)).sum();
    }

    /// Returns the slots of one use.
    pub fn loss(&self, loss: Loss) -> u64 {
        self.by_loss[loss as usize]
    }

    /// Returns all slots: five per cycle.
    pub fn total(&self) -> u64 {
        SLOTS_PER_CYCLE * self.cycles
    }

    /// Returns the slots that stayed empty.
    pub fn empty(&self) -> u64 {
        Loss::ALL.into_iter().filter(|loss| loss.is_empty()).map(|loss| self.loss(loss)).sum()
    }

    /// Returns the slots that the ledger assigns to what an ideal removes.
    pub fn charged(&self, ideal: Ideal) -> u64 {
        match ideal {
            Ideal::Window => self.full,
            _ => ideal.removes().iter().map(|loss| self.loss(*loss)).sum(),
        }
    }
}

/// Stall causes with a full structure of the window.
const FULL: [StallCause; 10] = [
    StallCause::ReorderBuffer,
    StallCause::IssueQueueInt,
    StallCause::IssueQueueMem,
    StallCause::IssueQueueVec,
    StallCause::LoadQueue,
    StallCause::StoreQueue,
    StallCause::IntRegisters,
    StallCause::VecRegisters,
    StallCause::FlagRegisters,
    StallCause::BranchQueue,
];

fn loss_of(root: RootCause) -> Loss {
    match root {
        RootCause::LoadL2 => Loss::L2,
        RootCause::LoadSlc | RootCause::LoadPeer | RootCause::LoadRemote | RootCause::LoadDram => {
            Loss::Outside
        }
        RootCause::StoreDrain => Loss::StoreDrain,
        RootCause::Translation => Loss::Translation,
        RootCause::Latency | RootCause::Unpipelined => Loss::Latency,
        RootCause::Pipe | RootCause::Dispatch => Loss::Pipes,
        RootCause::Barrier => Loss::Ordering,
        RootCause::FrontEnd
        | RootCause::LoadL1
        | RootCause::Forwarding
        | RootCause::LoadDevice
        | RootCause::System
        | RootCause::OtherThread => Loss::Other,
    }
}

fn loss_of_front_end(cause: StallCause) -> Loss {
    match cause {
        StallCause::FetchL1iMiss
        | StallCause::FetchPredictWidth
        | StallCause::FetchMopSwitch
        | StallCause::FetchWidth => Loss::Fetch,
        StallCause::FetchItlbMiss => Loss::FetchTranslation,
        StallCause::FetchMispredict
        | StallCause::FetchNoTarget
        | StallCause::FetchResteer
        | StallCause::FetchBtbBubble => Loss::Prediction,
        StallCause::FetchSerialize => Loss::Ordering,
        _ => Loss::Restart,
    }
}

/// Ground-truth values that runs with ideals cross-check, with the ideals whose savings they equal.
pub const WITNESSED: [(&[Truth], &[Ideal]); 5] = [
    (&[Truth::MemorySlots], &[Ideal::BeyondL1, Ideal::Translation]),
    (&[Truth::CoreSlots], &[Ideal::Latency, Ideal::Pipes, Ideal::Ordering]),
    (
        &[Truth::BackendSlots],
        &[Ideal::BeyondL1, Ideal::Translation, Ideal::Latency, Ideal::Pipes, Ideal::Ordering],
    ),
    (&[Truth::FrontendSlots], &[Ideal::Fetch]),
    (&[Truth::BadSlots, Truth::MispredictSlots], &[Ideal::Prediction]),
];

/// Replaces the ledger's values by the savings of ideal runs. `run` returns the slots of a run.
///
/// # Errors
/// Those of `run`.
pub fn witness<E>(
    truths: &mut Truths,
    run: impl Fn(&[Ideal]) -> Result<Slots, E>,
) -> Result<(), E> {
    let base = truths.value(Truth::Slots).unwrap_or_default();
    for (witnessed, ideals) in WITNESSED {
        let saved = (base - run(ideals)?.total() as f64).max(0.0);
        witnessed.iter().for_each(|truth| truths.set(*truth, saved));
    }
    Ok(())
}

/// A run with two ideals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The two ideals.
    pub ideals: [Ideal; 2],
    /// Slots of the run with both.
    pub slots: Slots,
}

/// Difference of one use of slots between two runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Use of the slots.
    pub loss: Loss,
    /// Difference as a fraction of all slots of the base run; positive if the ideal run has more.
    pub share: f64,
}

/// Runs of one trace: the base, with one ideal, with two, with all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterfactual {
    /// Run of the machine as modeled.
    pub base: Slots,
    /// Runs with one ideal.
    pub singles: Vec<(Ideal, Slots)>,
    /// Runs with two ideals, of the most important ones.
    pub pairs: Vec<Pair>,
    /// Run with all ideals.
    pub all: Slots,
}

/// Smallest fraction of a run that reports show: one percent.
pub const LEAST: f64 = 0.01;
/// Most ideals that are combined in pairs.
const MOST_PAIRED: usize = 5;

impl Counterfactual {
    /// Performs all runs beside the base run with slots `base`: first with one ideal, which shows
    /// the pairs worth a run. `several` runs each of these sets of ideals.
    ///
    /// # Errors
    /// Those of `several`.
    pub fn run<E>(
        base: Slots,
        several: impl Fn(&[Vec<Ideal>]) -> Result<Vec<Slots>, E>,
    ) -> Result<Counterfactual, E> {
        let mut sets: Vec<Vec<Ideal>> = Ideal::ALL.map(|ideal| vec![ideal]).to_vec();
        // Data beyond the L1 is ideal beyond the L2 as well.
        sets.push(Ideal::ALL.into_iter().filter(|own| *own != Ideal::BeyondL2).collect());
        let mut slots = several(&sets)?;
        let all = slots.pop().unwrap_or_default();
        let singles: Vec<(Ideal, Slots)> = Ideal::ALL.into_iter().zip(slots).collect();
        let chosen = Counterfactual::pairs_to_run(&base, &singles);
        let sets: Vec<Vec<Ideal>> = chosen.iter().map(|pair| pair.to_vec()).collect();
        let pairs = chosen.into_iter().zip(several(&sets)?);
        let pairs = pairs.map(|(ideals, slots)| Pair { ideals, slots }).collect();
        Ok(Counterfactual { base, singles, pairs, all })
    }

    /// Returns the fraction of the cycles that another run saves.
    pub fn saved(&self, slots: &Slots) -> f64 {
        1.0 - part(slots.cycles, self.base.cycles)
    }

    /// Returns the fraction of the slots that the ledger assigns to what an ideal removes.
    pub fn charged(&self, ideal: Ideal) -> f64 {
        part(self.base.charged(ideal), self.base.total())
    }

    /// Returns the joint saving of a pair less the single savings, as a fraction of the cycles.
    pub fn interaction(&self, pair: &Pair) -> f64 {
        let alone = |ideal| {
            let single = self.singles.iter().find(|(own, _)| *own == ideal);
            single.map_or(0.0, |(_, slots)| self.saved(slots))
        };
        let [a, b] = pair.ideals;
        self.saved(&pair.slots) - alone(a) - alone(b)
    }

    /// Returns the uses of slots that changed by one percent or more, the largest change first.
    /// They show where an ideal saves something else than the ledger's share. A rest of its own
    /// losses counts as growth.
    pub fn changes(&self, ideal: Ideal, slots: &Slots) -> Vec<Change> {
        let total = self.base.total();
        let change = |loss: Loss| {
            let before = if ideal.removes().contains(&loss) { 0 } else { self.base.loss(loss) };
            Change { loss, share: part(slots.loss(loss), total) - part(before, total) }
        };
        let mut changes: Vec<Change> = Loss::ALL.into_iter().map(change).collect();
        changes.retain(|change| change.share.abs() >= LEAST);
        changes.sort_by(|a, b| b.share.abs().total_cmp(&a.share.abs()));
        changes
    }

    /// Returns the pairs of the most important ideals, by saving and by ledger.
    fn pairs_to_run(base: &Slots, singles: &[(Ideal, Slots)]) -> Vec<[Ideal; 2]> {
        let saved = |slots: &Slots| 1.0 - part(slots.cycles, base.cycles);
        let matters = |(ideal, slots): &(Ideal, Slots)| {
            let charged = part(base.charged(*ideal), base.total());
            (saved(slots).max(charged), *ideal)
        };
        let mut most: Vec<(f64, Ideal)> = singles.iter().map(matters).collect();
        // Memory beyond the L2 is part of memory beyond the L1.
        most.retain(|(part, ideal)| *part >= LEAST && *ideal != Ideal::BeyondL2);
        most.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        most.truncate(MOST_PAIRED);
        let mut chosen: Vec<Ideal> = most.into_iter().map(|(_, ideal)| ideal).collect();
        chosen.sort_unstable();
        let mut pairs = Vec::new();
        for (i, a) in chosen.iter().enumerate() {
            pairs.extend(chosen[i + 1..].iter().map(|b| [*a, *b]));
        }
        pairs
    }
}

fn part(of: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { of as f64 / whole as f64 }
}
