//! Runs directed cases on a machine and compares every count that a case looks at.
//!
//! A case gets a machine of its own: the configuration it was given, hardware prefetchers off, an
//! identity page map, then the state of its "given" (`setup`). Each step is an A64 word that goes
//! through the decoder and the pipeline like any other; only its own fetch is free and silent, so
//! that a data step raises no event of the I-side. `IF` goes to the I-side directly.

mod port;
mod setup;
mod stepper;

use sim_core::config::ConfigError;
use sim_core::{Counts, PmuEvent};
use sim_trace::scenario::{Bound, Case, Place, Step};

use crate::config::{ConfigSource, MachineConfig};
use stepper::Stepper;

/// What holds in every scenario unless its `set` says otherwise.
const QUIET: [&str; 4] = [
    "memory.prefetch.l1d=false",
    "memory.prefetch.l2-next-line=false",
    "memory.prefetch.l1i-next-line=false",
    "memory.pages.mapping=identity",
];

/// Why a case could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// Its configuration is no machine.
    #[error("the case '{test}' sets an impossible machine: {source}")]
    Config {
        /// Name of the case.
        test: String,
        /// What is wrong with it.
        source: ConfigError,
    },
    /// It wants to place a line or a translation of an unmapped page.
    #[error("the case '{test}' gives a state to an unmapped page: {source}")]
    NotMapped {
        /// Name of the case.
        test: String,
        /// Which address.
        source: sim_cache::NotMapped,
    },
}

/// An event whose count is not right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The event.
    pub event: PmuEvent,
    /// Its right counts.
    pub expected: Bound,
    /// What was counted.
    pub counted: u64,
    /// What each step added with all its repetitions, for steps that added something.
    pub by_step: Vec<(String, Place, u64)>,
}

/// What became of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Every wrong count, in the order of the event table; none if the case holds.
    pub mismatches: Vec<Mismatch>,
    /// How many events were compared.
    pub compared: usize,
}

impl Verdict {
    /// True when every count is right.
    pub fn holds(&self) -> bool {
        self.mismatches.is_empty()
    }

    /// What a reader needs to see of a case that does not hold: place, claim, section, and for
    /// each wrong event what was expected, what was counted and which step counted it.
    pub fn explain(&self, file: &str, case: &Case) -> String {
        let mut text = format!(
            "{file}:{}: {} fails: {} ({})\n",
            case.place.line, case.test, case.claim, case.guide
        );
        for wrong in &self.mismatches {
            let name = wrong.event.mnemonic();
            text +=
                &format!("    {name}: expected {}, counted {}\n", wrong.expected, wrong.counted);
            for (step, place, n) in &wrong.by_step {
                text +=
                    &format!("        {n} by {step} ({file}:{}:{})\n", place.line, place.column);
            }
        }
        text
    }
}

/// Runs one case on a fresh machine.
///
/// # Errors
///
/// The case asks for a machine or a state that cannot be.
pub fn run_case(case: &Case, source: &ConfigSource<'_>) -> Result<Verdict, CaseError> {
    let config = configure(case, source)
        .map_err(|source| CaseError::Config { test: case.test.clone(), source })?;
    let mut stepper = Stepper::new(case, &config)?;
    let mut before = Counts::default();
    let mut by_step: Vec<Added<'_>> = Vec::new();
    for step in &case.steps {
        stepper.run(step);
        let added = stepper.counts().since(&before);
        before = stepper.counts().clone();
        match by_step.iter_mut().rev().find(|earlier| earlier.step.place == step.place) {
            Some(earlier) => earlier.counts.add(&added),
            None => by_step.push(Added { step, counts: added }),
        }
    }
    Ok(compare(case, &stepper.finish(), &by_step))
}

/// What one step of the text added, all its repetitions together.
struct Added<'a> {
    step: &'a Step,
    counts: Counts,
}

/// The configuration of a case: the source, made quiet, with the case's own keys on top.
fn configure(case: &Case, source: &ConfigSource<'_>) -> Result<MachineConfig, ConfigError> {
    let own = case.given.set.iter().map(|(key, value)| format!("{key}={value}"));
    let overrides: Vec<String> = QUIET.map(str::to_owned).into_iter().chain(own).collect();
    let mut document = source.document()?;
    for assignment in &overrides {
        document = document.set(assignment)?;
    }
    MachineConfig::from_document(&document)
}

fn compare(case: &Case, counts: &Counts, by_step: &[Added<'_>]) -> Verdict {
    let mismatches = case
        .expect
        .events
        .iter()
        .filter(|expected| !expected.bound.holds(counts.value(expected.event)))
        .map(|expected| Mismatch {
            event: expected.event,
            expected: expected.bound,
            counted: counts.value(expected.event),
            by_step: contributions(by_step, expected.event),
        })
        .collect();
    Verdict { mismatches, compared: case.expect.events.len() }
}

fn contributions(by_step: &[Added<'_>], event: PmuEvent) -> Vec<(String, Place, u64)> {
    by_step
        .iter()
        .map(|added| (added.step.text.clone(), added.step.place, added.counts.value(event)))
        .filter(|(_, _, n)| *n > 0)
        .collect()
}
