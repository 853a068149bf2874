//! Evidence of one run on a Cortex-A53 about formulas.

use sim_core::A53Event;

use crate::formula::event_use::{Levels, Quantity, Time};
use crate::formula::{Evaluation, EventUse, Linked, Machine};
use crate::truth::Truths;

/// Evidence of one run.
#[derive(Clone, Debug, Default)]
pub struct A53Evidence {
    /// Name of the trace.
    pub trace: String,
    /// Count of each event, in the order of [`A53Event::ALL`].
    pub counts: Vec<f64>,
    /// Ground-truth values.
    pub truths: Truths,
    /// Steps that events count beside a claim, or leave out.
    pub surplus: A53Surplus,
    /// Number of cores that ran.
    pub cores: u32,
    /// Modeled time of the run in seconds.
    pub seconds: f64,
    /// The trace contains no kernel.
    pub is_user_only: bool,
    /// Events with unreliable counts, each with the data that the trace lacks.
    pub doubts: Vec<(A53Event, &'static str)>,
}

/// Declares [`A53Surplus`] and its sum.
macro_rules! surplus {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Numbers of steps of the model that events count beside a claim, or leave out.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct A53Surplus {
            $($(#[$doc])* pub $name: f64,)*
        }

        impl A53Surplus {
            /// Adds the numbers of another core.
            pub fn add(&mut self, other: &A53Surplus) {
                $(self.$name += other.$name;)*
            }
        }
    };
}

surplus! {
    /// Descriptors that walks read.
    descriptors,
    /// Descriptors whose line was not in the L1 D-cache.
    descriptor_misses,
    /// Lines of descriptors that external memory supplied.
    descriptor_lines,
    /// Software prefetches.
    software_prefetches,
    /// Lines that software prefetches requested.
    software_lines,
    /// Lines of software prefetches that external memory supplied.
    software_memory_lines,
    /// Lines that prefetchers requested.
    prefetched,
    /// Lines of prefetchers that external memory supplied.
    prefetched_memory_lines,
    /// Prefetched lines of instructions.
    fetch_prefetched,
    /// Lines that left the L1 D-cache for the L2 cache, and streamed writes.
    moved_out,
    /// Lookups of the L1 D-cache for loads and stores, one for each line and element.
    lookups,
    /// Lookups of loads that requested their line.
    load_refills,
    /// Lookups of loads that waited for a line on its way.
    load_waits,
    /// Loads that missed.
    load_misses,
    /// Fetches that waited for a line that an earlier fetch had requested.
    fetch_waits,
    /// Writes of the store buffer in read-allocate mode.
    streamed,
    /// Exception returns.
    exception_returns,
    /// Failed store-exclusives.
    failed_exclusives,
    /// Executed instructions that did not retire.
    abandoned,
    /// Changed lines that left the L2 cache.
    l2_victims,
    /// Lookups of the L1 D-cache for loads of wrong paths.
    wrong_loads,
    /// Lines that loads of wrong paths requested.
    wrong_refills,
    /// Branches of wrong paths.
    wrong_branches,
    /// Indirect branches of wrong paths.
    wrong_indirect,
    /// Accesses of memory that no cache keeps, one for each line and element.
    uncached,
    /// Such accesses of wrong paths.
    wrong_uncached,
}

impl A53Evidence {
    /// Returns the count of an event.
    pub fn count(&self, event: A53Event) -> f64 {
        self.counts.get(event as usize).copied().unwrap_or(0.0)
    }

    /// Returns the machine as formulas see it.
    pub fn machine(&self) -> Machine {
        Machine::cortex_a53(self.cores)
    }

    /// Returns the events that a formula needs, with their names in the formula and their counts.
    pub fn counts_of(&self, formula: &Linked) -> Vec<(String, f64)> {
        let needed = formula.needed(&self.machine()).into_iter();
        let count = |event| self.count(event);
        needed
            .filter_map(|name| {
                let spelled = match name.a53_event() {
                    Some(event) if name.levels == Levels::ALL => event.mnemonic().to_owned(),
                    _ => name.name.clone(),
                };
                Some((spelled, self.quantity(name, &count)?))
            })
            .collect()
    }

    /// Returns the reason why a formula cannot be validated here, if one of its counts is doubtful.
    pub fn doubt(&self, formula: &Linked) -> Option<&'static str> {
        let needed = formula.needed(&self.machine());
        let doubt = |name: &&EventUse| {
            let found = self.doubts.iter().find(|(event, _)| Some(*event) == name.a53_event());
            found.map(|(_, why)| *why)
        };
        needed.iter().find_map(doubt)
    }

    /// Returns the value of a formula, with the count of every event taken from `table`.
    pub fn evaluate(&self, formula: &Linked, table: impl Fn(A53Event) -> f64) -> Evaluation {
        formula.evaluate(&self.machine(), |name| self.quantity(name, &table))
    }

    fn quantity(&self, name: &EventUse, table: &impl Fn(A53Event) -> f64) -> Option<f64> {
        match name.quantity {
            Quantity::A53(event) => match name.levels {
                Levels::ALL => Some(table(event)),
                Levels { user, .. } if self.is_user_only => {
                    Some(if user { table(event) } else { 0.0 })
                }
                _ => None,
            },
            Quantity::Time(Time::System) if self.is_user_only => Some(0.0),
            Quantity::Time(_) => Some(self.seconds),
            _ => None,
        }
    }
}
