//! Costs of a Neoverse N2, and the uses of its rename slots.

use sim_core::{PmuEvent, RootCause, StallCause};
use sim_machine::outcome::Outcome;
use sim_metrics::identities::SLOTS_PER_CYCLE;
use sim_metrics::{Truth, Truths};

use super::{CoreIdeal, CoreLoss, Slots};

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
}

impl CoreIdeal for Ideal {
    type Loss = Loss;
    const EACH: &'static [Ideal] = &Ideal::ALL;

    fn setting(self) -> &'static str {
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

    fn name(self) -> &'static str {
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

    fn label(self) -> &'static str {
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

    fn removes(self) -> &'static [Loss] {
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

    fn charged(self, slots: &Slots) -> Option<u64> {
        match self {
            Ideal::Window => Some(slots.of_symptom),
            _ => Some(slots.of_losses(self.removes())),
        }
    }

    fn is_symptom(self) -> bool {
        self == Ideal::Window
    }

    /// Data beyond the L1 is ideal beyond the L2 as well.
    fn is_part_of_another(self) -> bool {
        self == Ideal::BeyondL2
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
    /// All variants, in order.
    pub const ALL: [Loss; 14] = [
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
}

impl CoreLoss for Loss {
    const EACH: &'static [Loss] = &Loss::ALL;

    fn number(self) -> usize {
        self as usize
    }

    fn label(self) -> &'static str {
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

    fn is_empty(self) -> bool {
        !matches!(self, Loss::Retired | Loss::Squashed)
    }
}

impl Slots {
    /// Returns the slots of all cores of a run.
    pub fn of(outcome: &Outcome) -> Slots {
        let total = outcome.total();
        let mut slots = Slots::new(total.value(PmuEvent::CPU_CYCLES), SLOTS_PER_CYCLE);
        let (retired, all) = (total.value(PmuEvent::OP_RETIRED), total.value(PmuEvent::OP_SPEC));
        slots.add(Loss::Retired, retired.min(all));
        slots.add(Loss::Squashed, all.saturating_sub(retired));
        let stalls = outcome.stalls();
        for cause in StallCause::ALL.into_iter().filter(|cause| cause.is_frontend()) {
            slots.add(loss_of_front_end(cause), stalls.of(cause));
        }
        for root in RootCause::back_end() {
            slots.add(loss_of(root), stalls.of_root(root));
        }
        slots.of_symptom = FULL.into_iter().map(|cause| stalls.of(cause)).sum();
        slots
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
