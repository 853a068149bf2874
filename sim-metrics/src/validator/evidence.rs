//! What one run has to say about formulas: counts, what of them retired, truths, and what the machine is.

use sim_core::{Counts, PmuEvent};

use crate::formula::event_use::{Levels, Quantity, Time};
use crate::formula::{Evaluation, EventUse, Linked, Machine};
use crate::truth::Truths;

/// The revision from which on the stall-slot events are right. Source: Linux and Arm telemetry data.
pub const FIRST_SOUND_PATCH: u8 = 3;
/// The revision that stands for those before it.
pub const ERRATUM_PATCH: u8 = 2;

/// One run.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// Name of the trace.
    pub trace: String,
    /// What was counted, without the erratum of the stall-slot events.
    pub counts: Counts,
    /// What of it instructions raised that retired.
    pub retired: Counts,
    /// What really happened.
    pub truths: Truths,
    /// What prefetchers did.
    pub prefetched: Prefetched,
    /// What else happened in the L2.
    pub l2: L2Lines,
    /// Revision r0pN of the core that ran; other revisions are computed from it.
    pub patch: u8,
    /// Cores that ran.
    pub cores: u32,
    /// The last-level events count (`CPUECTLR_EL1.EXTLLC`).
    pub has_external_llc: bool,
    /// Modeled time of the run.
    pub seconds: f64,
    /// The trace has no kernel in it: what counts at EL1 alone stays 0.
    pub is_user_only: bool,
    /// Events whose counts cannot be trusted, each with what the trace lacks or the mode leaves out.
    pub doubts: Vec<(PmuEvent, &'static str)>,
}

/// What hardware prefetchers add to events, or hide from them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prefetched {
    /// Lines that came into the L2 for a prefetcher.
    pub l2_lines: f64,
    /// Lookups of the L2 by prefetchers.
    pub l2_lookups: f64,
    /// Both are counted by the events of the L2.
    pub is_counted_in_l2: bool,
    /// Lines that came into the L1 D-cache for its prefetcher; no event counts them.
    pub l1d_lines: f64,
    /// Lines that came into the L1 I-cache for its prefetcher, counted as refills.
    pub l1i_lines: f64,
    /// Lookups of the L1 I-cache and its TLB by that prefetcher, counted as accesses.
    pub l1i_lookups: f64,
    /// Lines that came into the L2 for that prefetcher, counted as its refills.
    pub next_line_lines: f64,
    /// Lines that came into the L2 for the L1 I-cache.
    pub fetch_lines: f64,
    /// Refills of the L1 data TLB for the data prefetcher, counted as refills.
    pub tlb_misses: f64,
    /// Its walks, counted as walks.
    pub walks: f64,
}

/// Where the lookups and refills of the L2 and the accesses that needed it differ, beside prefetches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct L2Lines {
    /// Lines brought for loads and stores that were thrown away.
    pub wrong_paths: f64,
    /// Writes by stores that stream past the L1 D-cache.
    pub streamed_writes: f64,
    /// Lines that came or were claimed for those.
    pub streamed: f64,
    /// Lines that were claimed: nothing was read.
    pub claimed: f64,
    /// Transactions of the bus for them, in the unit of its events.
    pub claims_on_bus: f64,
    /// Retired accesses and fetches that waited for a line from outside which something else had asked for.
    pub waits: f64,
}

impl Evidence {
    /// The count of an event on a core of revision r0pN.
    pub fn count(&self, event: PmuEvent, patch: u8) -> f64 {
        let surplus = match event {
            PmuEvent::STALL_SLOT | PmuEvent::STALL_SLOT_FRONTEND if patch < FIRST_SOUND_PATCH => {
                self.counts.value(PmuEvent::CPU_CYCLES)
            }
            _ => 0,
        };
        (self.counts.value(event) + surplus) as f64
    }

    /// The machine as formulas see it.
    pub fn machine(&self, patch: u8) -> Machine {
        Machine::neoverse_n2(patch, self.cores)
    }

    /// The events that a formula needs on a core of revision r0pN, as it names them, with their counts.
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

    /// Why a formula cannot be judged here: what makes the count of one of its events doubtful.
    pub fn doubt(&self, formula: &Linked, patch: u8) -> Option<&'static str> {
        let needed = formula.needed(&self.machine(patch));
        let doubt = |name: &&EventUse| {
            let found = self.doubts.iter().find(|(event, _)| Some(*event) == name.event());
            found.map(|(_, why)| *why)
        };
        needed.iter().find_map(doubt)
    }

    /// The value of a formula, with the count of every event taken from `table`.
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
