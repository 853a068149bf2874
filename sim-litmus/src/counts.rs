//! The result of the program: what each case counted on one machine.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sim_core::PmuEvent;
use thiserror::Error;

/// First line of meaning in a result: the format and its version.
pub const FORMAT: &str = "n2sim litmus 1";

/// Counts of all cases on one machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// [`FORMAT`].
    pub format: String,
    /// [`crate::program::mark_of`] of the cases of the program.
    pub program: String,
    /// [`crate::kernels::mark`] of the kernels of the program.
    #[serde(default)]
    pub kernel_program: String,
    /// The machine.
    pub machine: MachineFacts,
    /// Cases in the order of the program.
    pub cases: Vec<CountedCase>,
    /// Kernels in the order of the program.
    #[serde(default)]
    pub kernels: Vec<CountedKernel>,
}

/// Facts about the machine that counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineFacts {
    /// `MIDR_EL1` as Linux writes it, empty if it is unknown.
    pub midr: String,
    /// Release of the kernel.
    pub kernel: String,
    /// Number of the processor.
    pub cpu: u32,
    /// Number of event counters; 0 if nothing could be counted.
    pub counters: u32,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Blocks of 2 MiB were available.
    pub huge_pages: bool,
    /// Seconds since 1970; 0 for a replay.
    pub time: i64,
    /// Name of the machine, which its owner may add.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Licence under which its owner gives the counts.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub licence: String,
}

/// Counts of one case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CountedCase {
    /// Name of the case.
    pub case: String,
    /// Rounds of each loop.
    pub rounds: u64,
    /// Counts of the steps in one round, by event: one number for each repetition.
    pub counts: BTreeMap<String, Vec<f64>>,
}

/// Counts of one kernel ([`crate::kernels`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CountedKernel {
    /// Name of the kernel.
    pub kernel: String,
    /// Rounds of each counted call.
    pub rounds: u64,
    /// Counts of one round, by event: one number for each repetition.
    pub counts: BTreeMap<String, Vec<f64>>,
}

/// Largest count.
const MOST: f64 = 1e15;

/// Kind of a part of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A case of a scenario.
    Case,
    /// A kernel.
    Kernel,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Case => "case",
            Kind::Kernel => "kernel",
        })
    }
}

/// A result that cannot be read.
#[derive(Debug, Error)]
pub enum ResultError {
    /// Not JSON, or not of this form.
    #[error("{0}; a result is what the litmus program wrote with -o")]
    Json(#[from] serde_json::Error),
    /// Another format.
    #[error("the format is '{0}', and this n2sim reads '{FORMAT}'")]
    Format(String),
    /// A name that is not an event.
    #[error("{kind} '{name}': {source}")]
    Event {
        /// Case or kernel.
        kind: Kind,
        /// Its name.
        name: String,
        /// The unknown name.
        source: sim_core::pmu_event::EventNameError,
    },
    /// A case or kernel that occurs twice.
    #[error("{kind} '{name}' occurs twice")]
    Twice {
        /// Case or kernel.
        kind: Kind,
        /// Its name.
        name: String,
    },
    /// Counts that no program writes.
    #[error("{kind} '{name}', {event}: give at least two counts, none larger than 1e15")]
    Counts {
        /// Case or kernel.
        kind: Kind,
        /// Its name.
        name: String,
        /// The event.
        event: String,
    },
}

/// Mean of repeated counts, and their spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Mean.
    pub mean: f64,
    /// Number of counts.
    pub counts: usize,
    /// Standard deviation of the mean: that of the counts, divided by the root of their number.
    pub deviation: f64,
}

impl Counted {
    /// Reads a result.
    ///
    /// # Errors
    ///
    /// If it is not the result of a litmus program.
    pub fn read(text: &str) -> Result<Counted, ResultError> {
        let counted: Counted = serde_json::from_str(text)?;
        if counted.format != FORMAT {
            return Err(ResultError::Format(counted.format));
        }
        let cases = counted.cases.iter().map(|case| (&case.case, &case.counts));
        check(Kind::Case, cases)?;
        let kernels = counted.kernels.iter().map(|kernel| (&kernel.kernel, &kernel.counts));
        check(Kind::Kernel, kernels)?;
        Ok(counted)
    }

    /// Returns the counts of a case.
    pub fn case(&self, id: &str) -> Option<&CountedCase> {
        self.cases.iter().find(|case| case.case == id)
    }

    /// Returns the counts of a kernel.
    pub fn kernel(&self, id: &str) -> Option<&CountedKernel> {
        self.kernels.iter().find(|kernel| kernel.kernel == id)
    }
}

/// Refuses counts that no program writes.
fn check<'a>(
    kind: Kind,
    all: impl Iterator<Item = (&'a String, &'a BTreeMap<String, Vec<f64>>)>,
) -> Result<(), ResultError> {
    let mut names = BTreeSet::new();
    for (name, counts) in all {
        let name = name.clone();
        if !names.insert(name.clone()) {
            return Err(ResultError::Twice { kind, name });
        }
        for (event, counts) in counts {
            if let Err(source) = PmuEvent::from_name(event) {
                return Err(ResultError::Event { kind, name, source });
            }
            if counts.len() < 2 || !counts.iter().all(|count| count.abs() <= MOST) {
                return Err(ResultError::Counts { kind, name, event: event.clone() });
            }
        }
    }
    Ok(())
}

impl CountedCase {
    /// Returns the counts of an event, if it was counted.
    pub fn sample(&self, event: PmuEvent) -> Option<Sample> {
        Sample::of(self.counts.get(event.mnemonic())?)
    }
}

impl CountedKernel {
    /// Returns the counts of an event, if it was counted.
    pub fn sample(&self, event: PmuEvent) -> Option<Sample> {
        Sample::of(self.counts.get(event.mnemonic())?)
    }
}

impl Sample {
    /// Returns the mean of these counts; `None` if there are none.
    pub fn of(counts: &[f64]) -> Option<Sample> {
        if counts.is_empty() {
            return None;
        }
        let n = counts.len() as f64;
        let mean = counts.iter().sum::<f64>() / n;
        let square = |count: &f64| (count - mean) * (count - mean);
        let variance = counts.iter().map(square).sum::<f64>() / (n - 1.0).max(1.0);
        Some(Sample { mean, counts: counts.len(), deviation: (variance / n).sqrt() })
    }
}
