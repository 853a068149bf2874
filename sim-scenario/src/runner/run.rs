//! Runs one case: configures a machine, carries out every step, and judges the counts.

use sim_core::Counts;
use sim_core::config::ConfigError;
use sim_machine::config::{ConfigSource, MachineConfig, Profile};

use super::error::CaseError;
use super::recorded::{Recorded, Tally};
use super::stepper::Stepper;
use super::verdict::{self, Added, Verdict};
use super::{elements, statements};
use crate::language::{Case, Reading};

/// Settings of every scenario, unless its `set` changes them.
const QUIET: [&str; 6] = [
    "memory.prefetch.l1d=false",
    "memory.prefetch.stores=false",
    "memory.prefetch.l2-stream=false",
    "memory.prefetch.l1i-next-line=false",
    "memory.pages.mapping=identity",
    // Walk reads bypass the L2 and the bus (decision A06), so that a walk is all that counts.
    "semantics.walk-reads=side-port",
];

/// Runs one case on a fresh machine. In profile `silicon` the case's expectation for it applies.
///
/// # Errors
///
/// If the case needs an invalid machine or state.
pub fn run_case(case: &Case, source: &ConfigSource<'_>) -> Result<Verdict, CaseError> {
    let config = configure(case, source)
        .map_err(|source| CaseError::Config { test: case.test.clone(), source })?;
    let (verdict, _) = run_case_on(case, &config, reading_of(source), Recorded::default())?;
    Ok(verdict)
}

/// Runs one case on a fresh machine that reports to `sink`.
///
/// # Errors
///
/// If the case needs an invalid state.
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

/// Returns the reference for a machine's counts. A user's configuration file follows the guide.
pub fn reading_of(source: &ConfigSource<'_>) -> Reading {
    match (source.file, source.profile) {
        (None, Profile::Silicon) => Reading::Silicon,
        _ => Reading::Guide,
    }
}

/// Returns the configuration of a case: the source, the scenario settings, then the case's keys.
///
/// # Errors
///
/// If the keys do not form a valid machine.
pub fn configure(case: &Case, source: &ConfigSource<'_>) -> Result<MachineConfig, ConfigError> {
    let own = case.given.set.iter().map(|(key, value)| format!("{key}={value}"));
    let overrides: Vec<String> = QUIET.map(str::to_owned).into_iter().chain(own).collect();
    let mut document = source.document()?;
    for assignment in &overrides {
        document = document.set(assignment)?;
    }
    MachineConfig::from_document(&document)
}
