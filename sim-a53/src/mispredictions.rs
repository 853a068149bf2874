//! Slots that are empty because of mispredictions, apart from those of other empty queues.

use crate::cluster::{A53Config, A53CoreOutcome, A53Error, run_with_sinks};
use crate::event::{A53Condition, A53Counts, A53Event, A53Sink};
use crate::slots::LostTo;
use sim_trace::TraceFile;

/// Counts of a core, with its slots that were lost while the queue refilled after mispredictions.
#[derive(Clone, Debug, Default)]
pub struct MispredictionSlots {
    total: A53Counts,
    /// The instruction in progress, or the one before it, is a mispredicted branch.
    now: bool,
    before: bool,
    slots: u64,
}

impl MispredictionSlots {
    /// Returns the slots.
    pub fn slots(&self) -> u64 {
        self.slots
    }
}

impl AsRef<A53Counts> for MispredictionSlots {
    fn as_ref(&self) -> &A53Counts {
        &self.total
    }
}

impl A53Sink for MispredictionSlots {
    #[inline]
    fn raise(&mut self, event: A53Event, cycle: u64, times: u64) {
        self.total.raise(event, cycle, times);
        self.now |= event == A53Event::BR_MIS_PRED;
    }

    fn signal(&mut self, condition: A53Condition, cycle: u64, times: u64) {
        self.total.signal(condition, cycle, times);
    }

    #[inline]
    fn begin(&mut self, _: u32, _: u64) {
        self.before = std::mem::take(&mut self.now);
    }

    fn lose(&mut self, cause: LostTo, _: u64, slots: u64) {
        if cause == LostTo::FrontEnd && self.before {
            self.slots += slots;
        }
    }
}

/// Runs a trace as [`run`](crate::run) does, and counts the slots that are lost to mispredictions.
///
/// # Errors
/// Those of [`run`](crate::run).
pub fn run_with_mispredictions(
    trace: &TraceFile,
    config: &A53Config,
    limit: Option<u64>,
) -> Result<Vec<(A53CoreOutcome, MispredictionSlots)>, A53Error> {
    run_with_sinks(trace, config, limit, |_| MispredictionSlots::default())
}
