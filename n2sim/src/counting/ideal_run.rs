//! Runs with ideal parts of the machine, for counterfactual comparisons.

use std::path::Path;

use sim_core::Shown;
use sim_core::config::Document;
use sim_lab::counterfactual::{CoreIdeal, Ideal};
use sim_machine::{MachineConfig, Outcome, RunHeader, RunOptions, Session};

use crate::host::memory;

/// Runs the trace with the given parts ideal.
pub(crate) fn run(
    trace: &Path,
    document: &Document,
    options: &RunOptions,
    ideals: &[Ideal],
) -> anyhow::Result<Outcome> {
    let mut document = document.clone();
    for ideal in ideals {
        document = document.set(ideal.setting())?;
    }
    let header = RunHeader {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        config: document.name(),
        config_hash: document.hash(),
        trace: trace.shown().to_string(),
        ..RunHeader::default()
    };
    let config = MachineConfig::from_document(&document)?;
    let session = Session::open_within(trace, config, header, &memory::budget())?;
    Ok(session.run(options, &mut |_| {})?)
}
