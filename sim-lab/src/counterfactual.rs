//! Cycles that a run would save if one thing cost nothing: a second witness of the slot ledger.
//!
//! The ledger says where slots were lost, and each lost slot has one cause. It does not say what
//! would be saved without that cause: behind it may stand another one. Here the trace is run again
//! with one thing ideal, and with two, and the ledgers of both runs say where the difference went.
//! Two things interact as Fields and others define it (MICRO 2003): what both save together, less
//! what each saves alone. More than nothing is overlap: either hides the other.

use sim_core::{PmuEvent, RootCause, StallCause};
use sim_metrics::identities::SLOTS_PER_CYCLE;
use sim_metrics::{Truth, Truths};

use sim_machine::outcome::Outcome;

/// One thing that costs nothing, or has no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ideal {
    /// Data accesses take the time of L1 hits.
    BeyondL1,
    /// L2 misses of data accesses take the time of L2 hits.
    BeyondL2,
    /// Misses of the L1 TLBs take no time.
    Translation,
    /// Every branch goes where it was predicted, and none is found late.
    Prediction,
    /// Fetch and decode keep nothing waiting.
    Fetch,
    /// Reorder buffer, registers and queues without a limit.
    Window,
    /// Pipes, dispatch and store drain without a limit.
    Pipes,
    /// Computation takes one cycle.
    Latency,
    /// Barriers, acquires and releases order nothing.
    Ordering,
}

impl Ideal {
    /// Every ideal.
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

    /// The configuration key and its value, as an override gives them.
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

    /// Its name in outputs that programs read.
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

    /// Its name in reports.
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

    /// The losses that it takes away. The window has none: a full structure is a symptom.
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

/// What became of a rename slot. Every slot is one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Loss {
    /// Its operation retired.
    Retired,
    /// Its operation was thrown away.
    Squashed,
    /// Empty: the refill after a misprediction, or a branch that was found late.
    Prediction,
    /// Empty: the L1 I-cache, the widths of prediction, fetch and decode.
    Fetch,
    /// Empty: translation of a fetch.
    FetchTranslation,
    /// Empty: other restarts, sleep, start and end of the stream.
    Restart,
    /// Empty: data from the L2.
    L2,
    /// Empty: data from beyond the L2.
    Outside,
    /// Empty: a store that the cache does not have yet.
    StoreDrain,
    /// Empty: translation of a data access.
    Translation,
    /// Empty: the latency of computation.
    Latency,
    /// Empty: pipes and dispatch.
    Pipes,
    /// Empty: barriers and accesses that order others.
    Ordering,
    /// Empty: L1 hits, forwarding, devices, system registers, other threads.
    Other,
}

impl Loss {
    /// Number of fates.
    pub const COUNT: usize = 14;

    /// Every fate, in the order of the list.
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

    /// A short name for reports.
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

    /// Returns whether the slot stayed empty.
    pub fn is_empty(self) -> bool {
        !matches!(self, Loss::Retired | Loss::Squashed)
    }
}

/// Cycles and slots of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// Cycles of all cores.
    pub cycles: u64,
    /// Slots by what became of them.
    by_loss: [u64; Loss::COUNT],
    /// Of the empty ones, those in which a structure of the window was full.
    full: u64,
}

impl Slots {
    /// Those of all cores of a run.
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

    /// Slots of one fate.
    pub fn loss(&self, loss: Loss) -> u64 {
        self.by_loss[loss as usize]
    }

    /// Slots of all fates: five for each cycle.
    pub fn total(&self) -> u64 {
        SLOTS_PER_CYCLE * self.cycles
    }

    /// Slots that stayed empty.
    pub fn empty(&self) -> u64 {
        Loss::ALL.into_iter().filter(|loss| loss.is_empty()).map(|loss| self.loss(loss)).sum()
    }

    /// Slots that the ledger gives to what an ideal takes away.
    pub fn charged(&self, ideal: Ideal) -> u64 {
        match ideal {
            Ideal::Window => self.full,
            _ => ideal.removes().iter().map(|loss| self.loss(*loss)).sum(),
        }
    }
}

/// Symptoms in which a structure of the window was full.
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
        StallCause::FetchSerialise => Loss::Ordering,
        _ => Loss::Restart,
    }
}

/// Truths of which runs with ideals are a second witness: the slots that these ideals save.
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

/// Puts what ideal runs save in place of what the ledger says. `run` gives the slots of a run.
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

/// What two ideals save together, beside what each saves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Which.
    pub ideals: [Ideal; 2],
    /// The run with both.
    pub slots: Slots,
}

/// How a fate of slots differs between two runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Which fate.
    pub loss: Loss,
    /// Difference as a part of all slots of the run as modeled; above 0 if the ideal run has more.
    pub share: f64,
}

/// Runs of one trace: as modeled, with one thing ideal, with two, with all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterfactual {
    /// The run as modeled.
    pub base: Slots,
    /// One thing ideal.
    pub singles: Vec<(Ideal, Slots)>,
    /// Two things ideal, of those that matter most.
    pub pairs: Vec<Pair>,
    /// Everything ideal.
    pub all: Slots,
}

/// A part of a run that is worth a line: one percent.
pub const LEAST: f64 = 0.01;
/// Things of which pairs are run.
const MOST_PAIRED: usize = 5;

impl Counterfactual {
    /// Runs everything beside the run as modeled, whose slots are `base`: first one thing ideal,
    /// which says what pairs are worth a run. `several` runs each of these sets of ideals.
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

    /// Part of the cycles that another run saves.
    pub fn saved(&self, slots: &Slots) -> f64 {
        1.0 - part(slots.cycles, self.base.cycles)
    }

    /// Part of the slots that the ledger gives to what an ideal takes away.
    pub fn charged(&self, ideal: Ideal) -> f64 {
        part(self.base.charged(ideal), self.base.total())
    }

    /// What both save together less what each saves alone, as a part of the cycles.
    pub fn interaction(&self, pair: &Pair) -> f64 {
        let alone = |ideal| {
            let single = self.singles.iter().find(|(own, _)| *own == ideal);
            single.map_or(0.0, |(_, slots)| self.saved(slots))
        };
        let [a, b] = pair.ideals;
        self.saved(&pair.slots) - alone(a) - alone(b)
    }

    /// Where an ideal saves something else than the ledger's share: every slot fate that changed by
    /// one percent, the largest change first. What is left of its own losses comes as a growth.
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

    /// The pairs of those ideals that matter most, by what they save and by the ledger.
    fn pairs_to_run(base: &Slots, singles: &[(Ideal, Slots)]) -> Vec<[Ideal; 2]> {
        let saved = |slots: &Slots| 1.0 - part(slots.cycles, base.cycles);
        let matters = |(ideal, slots): &(Ideal, Slots)| {
            let charged = part(base.charged(*ideal), base.total());
            (saved(slots).max(charged), *ideal)
        };
        let mut most: Vec<(f64, Ideal)> = singles.iter().map(matters).collect();
        // Memory beyond the L2 is a part of memory beyond the L1.
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
