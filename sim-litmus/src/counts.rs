//! The result of the program: what each case counted on one machine.

use std::collections::BTreeMap;

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
    /// The machine.
    pub machine: MachineFacts,
    /// Cases in the order of the program.
    pub cases: Vec<CountedCase>,
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
    /// Blocks of 2 MiB were to be had.
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
    #[error("case '{case}': {source}")]
    Event {
        /// The case.
        case: String,
        /// The unknown name.
        source: sim_core::pmu_event::EventNameError,
    },
    /// An event without a count.
    #[error("case '{case}', {event}: the list of counts is empty")]
    Empty {
        /// The case.
        case: String,
        /// The event.
        event: String,
    },
}

/// Mean of repeated counts, and their spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Mean.
    pub mean: f64,
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
        for case in &counted.cases {
            for (event, counts) in &case.counts {
                let (case, event) = (case.case.clone(), event.clone());
                if let Err(source) = PmuEvent::from_name(&event) {
                    return Err(ResultError::Event { case, source });
                }
                if counts.is_empty() {
                    return Err(ResultError::Empty { case, event });
                }
            }
        }
        Ok(counted)
    }

    /// Returns the counts of a case.
    pub fn case(&self, id: &str) -> Option<&CountedCase> {
        self.cases.iter().find(|case| case.case == id)
    }
}

impl CountedCase {
    /// Returns the counts of an event, if it was counted.
    pub fn sample(&self, event: PmuEvent) -> Option<Sample> {
        let counts = self.counts.get(event.mnemonic())?;
        let n = counts.len() as f64;
        let mean = counts.iter().sum::<f64>() / n;
        let square = |count: &f64| (count - mean) * (count - mean);
        let variance = counts.iter().map(square).sum::<f64>() / (n - 1.0).max(1.0);
        Some(Sample { mean, deviation: (variance / n).sqrt() })
    }
}
