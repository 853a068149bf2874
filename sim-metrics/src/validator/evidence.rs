//! Evidence of one run about formulas: counts, their retired part, ground truth, and the machine.

use sim_core::{Counts, PmuEvent};

use crate::formula::event_use::{Levels, Quantity, Time};
use crate::formula::{Evaluation, EventUse, Linked, Machine};
use crate::truth::Truths;

/// First revision with correct stall-slot events. Source: Linux and Arm telemetry data.
pub const FIRST_SOUND_PATCH: u8 = 3;
/// Revision that represents the earlier ones.
pub const ERRATUM_PATCH: u8 = 2;

/// Evidence of one run.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// Name of the trace.
    pub trace: String,
    /// Counts, without the erratum of the stall-slot events.
    pub counts: Counts,
    /// Counts of retired instructions.
    pub retired: Counts,
    /// Ground-truth values.
    pub truths: Truths,
    /// Effects of prefetchers.
    pub prefetched: Prefetched,
    /// Other effects in the L2.
    pub l2: L2Lines,
    /// Revision r0pN of the core that ran. Other revisions are computed from it.
    pub patch: u8,
    /// Number of cores that ran.
    pub cores: u32,
    /// The last-level events count (`CPUECTLR_EL1.EXTLLC`).
    pub has_external_llc: bool,
    /// Modeled time of the run in seconds.
    pub seconds: f64,
    /// The trace contains no kernel, so events that count only at EL1 stay 0.
    pub is_user_only: bool,
    /// Events with unreliable counts, each with the data that the trace lacks or the mode leaves
    /// out.
    pub doubts: Vec<(PmuEvent, &'static str)>,
}

/// Contributions of hardware prefetchers to events, or their hidden activity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prefetched {
    /// Lines refilled into the L2 for a prefetcher.
    pub l2_lines: f64,
    /// Lookups of the L2 by prefetchers.
    pub l2_lookups: f64,
    /// The L2 events count both.
    pub is_counted_in_l2: bool,
    /// Lines refilled into the L1 D-cache for its prefetcher; no event counts them.
    pub l1d_lines: f64,
    /// Lines refilled into the L1 I-cache for its prefetcher, counted as refills.
    pub l1i_lines: f64,
    /// Lookups of the L1 I-cache and its TLB by the instruction prefetcher, counted as accesses.
    pub l1i_lookups: f64,
    /// Lines refilled into the L2 for the instruction prefetcher, counted as L2 refills.
    pub next_line_lines: f64,
    /// Lines refilled into the L2 for the L1 I-cache.
    pub fetch_lines: f64,
    /// Refills of the L1 data TLB for the data prefetcher, counted as refills.
    pub tlb_misses: f64,
    /// Table walks for the data prefetcher, counted as walks.
    pub walks: f64,
}

/// Differences between L2 events and the accesses that needed the L2, other than prefetches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct L2Lines {
    /// Lines refilled for squashed loads and stores.
    pub wrong_paths: f64,
    /// Writes by stores that stream past the L1 D-cache.
    pub streamed_writes: f64,
    /// Lines refilled or claimed for streaming stores.
    pub streamed: f64,
    /// Lines that were claimed without a read.
    pub claimed: f64,
    /// Bus transactions for claimed lines, in the unit of the bus events.
    pub claims_on_bus: f64,
    /// Retired accesses and fetches that waited for an external line requested by something else.
    pub waits: f64,
}

impl Evidence {
    /// Returns the count of an event on a core of revision r0pN.
    pub fn count(&self, event: PmuEvent, patch: u8) -> f64 {
        let surplus = match event {
            PmuEvent::STALL_SLOT | PmuEvent::STALL_SLOT_FRONTEND if patch < FIRST_SOUND_PATCH => {
                self.counts.value(PmuEvent::CPU_CYCLES)
            }
            _ => 0,
        };
        (self.counts.value(event) + surplus) as f64
    }

    /// Returns the machine as formulas see it.
    pub fn machine(&self, patch: u8) -> Machine {
        Machine::neoverse_n2(patch, self.cores)
    }

    /// Returns the events that a formula needs on a core of revision r0pN, with their names in the
    /// formula and their counts.
    pub fn counts_of(&self, formula: &Linked, patch: u8) -> Vec<(String, f64)> {
        let table = |event| self.count(event, patch);
        let needed = formula.needed(&self.machine(patch)).into_iter();
        needed
            .filter_map(|name| {
                let spelled = match name.event() {
                    Some(event) if name.levels == Levels::ALL => event.mnemonic().to_owned(),
                    _ => name.name.clone(),
                };
                Some((spelled, self.quantity(name, &table)?))
            })
            .collect()
    }

    /// Returns the reason why a formula cannot be validated here: the cause that makes one of its
    /// counts doubtful.
    pub fn doubt(&self, formula: &Linked, patch: u8) -> Option<&'static str> {
        let needed = formula.needed(&self.machine(patch));
        let doubt = |name: &&EventUse| {
            let found = self.doubts.iter().find(|(event, _)| Some(*event) == name.event());
            found.map(|(_, why)| *why)
        };
        needed.iter().find_map(doubt)
    }

    /// Returns the value of a formula, with the count of every event taken from `table`.
    pub fn evaluate(
        &self,
        formula: &Linked,
        patch: u8,
        table: impl Fn(PmuEvent) -> f64,
    ) -> Evaluation {
        formula.evaluate(&self.machine(patch), |name| self.quantity(name, &table))
    }

    fn quantity(&self, name: &EventUse, table: &impl Fn(PmuEvent) -> f64) -> Option<f64> {
        match name.quantity {
            Quantity::Event(event) => match name.levels {
                Levels { user: true, .. } if self.is_user_only => Some(table(event)),
                Levels::ALL => Some(table(event)),
                _ if self.is_user_only => Some(0.0),
                _ => None,
            },
            Quantity::Time(Time::System) if self.is_user_only => Some(0.0),
            Quantity::Time(_) => Some(self.seconds),
            _ => None,
        }
    }
}
