//! Runs directed cases on a machine and compares every count that a case looks at.
//!
//! A case gets a machine of its own: the configuration it was given, hardware prefetchers off, an
//! identity page map, then the state of its "given" (`setup`). Each step is an A64 word that goes
//! through the decoder and the pipeline like any other; only its own fetch is free and silent, so
//! that a data step raises no event of the I-side. `IF` goes to the I-side directly.

mod elements;
mod exceptions;
mod pmu_registers;
mod port;
mod profiling;
mod recorded;
mod setup;
mod statements;
mod stepper;
mod verdict;
mod walk;

use crate::language::{Case, Reading, Step};
use sim_core::Counts;
use sim_core::config::ConfigError;

pub use profiling::WrongProfile;
pub use recorded::{Recorded, Tally};
use sim_machine::config::{ConfigSource, MachineConfig, Profile};
pub use statements::{CycleCounts, WrongStatement};
use stepper::Stepper;
pub use verdict::{Mismatch, StepCounts, Verdict, WrongCounter, WrongEdge};
pub use walk::{OPERATIONS_KEPT, Walked, walk_case};

/// What holds in every scenario unless its `set` says otherwise.
const QUIET: [&str; 6] = [
    "memory.prefetch.l1d=false",
    "memory.prefetch.stores=false",
    "memory.prefetch.l2-stream=false",
    "memory.prefetch.l1i-next-line=false",
    "memory.pages.mapping=identity",
    // Descriptors are read past the L2 and the bus (decision A06), so that a walk is all that counts.
    "semantics.walk-reads=side-port",
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
    #[error("'{test}' needs a line or a translation of an unmapped page: {source}")]
    NotMapped {
        /// Name of the case, or the step.
        test: String,
        /// Which address.
        source: sim_cache::NotMapped,
    },
    /// A step by set and way names an address that the cache does not hold.
    #[error("'{step}': no place of that cache holds 0x{addr:x}; give it a state, or load it first")]
    NotHeld {
        /// The step as written.
        step: String,
        /// The address.
        addr: u64,
    },
    /// A step names elements or addresses that its instruction does not have.
    #[error("'{step}': {given} {what} for an access that has {limit}; write as many as it has")]
    Elements {
        /// The step as written.
        step: String,
        /// What there is too much of.
        what: &'static str,
        /// How many the instruction has.
        limit: u8,
        /// How many the step names.
        given: usize,
    },
    /// A statement names a core of which nothing is known.
    #[error("'{test}' names the core {core}, of which nothing is known; known are {known}")]
    UnknownCore {
        /// Name of the case.
        test: String,
        /// The core.
        core: String,
        /// Cores that are known.
        known: String,
    },
    /// A step accesses a register of the PMU that it may not: no exception is taken for it here.
    #[error("'{step}': {source}; say at which level it runs, or expect what the register gives")]
    Refused {
        /// The step as written.
        step: String,
        /// Why.
        source: sim_pmu::AccessError,
    },
}

/// Runs one case on a fresh machine. A profile `silicon` is held to what the case expects there.
///
/// # Errors
///
/// The case asks for a machine or a state that cannot be.
pub fn run_case(case: &Case, source: &ConfigSource<'_>) -> Result<Verdict, CaseError> {
    let config = configure(case, source)
        .map_err(|source| CaseError::Config { test: case.test.clone(), source })?;
    let (verdict, _) = run_case_on(case, &config, reading_of(source), Recorded::default())?;
    Ok(verdict)
}

/// Runs one case on a fresh machine, heard by `sink`.
///
/// # Errors
///
/// The case asks for a state that cannot be.
pub fn run_case_on<T: Tally>(
    case: &Case,
    config: &MachineConfig,
    reading: Reading,
    sink: T,
) -> Result<(Verdict, T), CaseError> {
    elements::check(case)?;
    statements::check(case)?;
    let mut stepper = Stepper::new(case, config, sink)?;
    let mut before = Counts::default();
    let mut by_step: Vec<Added<'_>> = Vec::new();
    for (i, step) in case.steps.iter().enumerate() {
        stepper.run(case, i)?;
        let now = &stepper.recorded().counts;
        let added = now.since(&before);
        before = now.clone();
        match by_step.last_mut().filter(|last| last.step.place == step.place) {
            Some(earlier) => {
                earlier.counts.add(&added);
                earlier.times += 1;
            }
            None => by_step.push(Added { step, times: 1, counts: added }),
        }
    }
    let sink = stepper.finish();
    Ok((verdict::judge(case, reading, sink.recorded(), &by_step), sink))
}

/// By whose word the counts of a machine are expected. A file of the user's is held to the guide.
pub fn reading_of(source: &ConfigSource<'_>) -> Reading {
    match (source.file, source.profile) {
        (None, Profile::Silicon) => Reading::Silicon,
        _ => Reading::Guide,
    }
}

/// What one step of the text added, all its repetitions together.
struct Added<'a> {
    step: &'a Step,
    times: usize,
    counts: Counts,
}

impl Added<'_> {
    fn told(&self) -> StepCounts {
        let Step { text, place, .. } = self.step;
        let (step, times) = (text.clone(), self.times);
        StepCounts { step, place: *place, times, counts: self.counts.clone() }
    }
}

/// The configuration of a case: the source, made quiet, with the case's own keys on top.
///
/// # Errors
///
/// The keys do not make a machine.
pub fn configure(case: &Case, source: &ConfigSource<'_>) -> Result<MachineConfig, ConfigError> {
    let own = case.given.set.iter().map(|(key, value)| format!("{key}={value}"));
    let overrides: Vec<String> = QUIET.map(str::to_owned).into_iter().chain(own).collect();
    let mut document = source.document()?;
    for assignment in &overrides {
        document = document.set(assignment)?;
    }
    MachineConfig::from_document(&document)
}
