//! Runs for the validation of formulas, on parts of committed traces.

use std::error::Error;

use sim_core::NullSink;
use sim_lab::evidence::examine;
use sim_machine::{ConfigSource, MachineConfig, Profile, RunHeader, RunOptions, Session};
use sim_metrics::validator::Evidence;

use crate::repository;

/// A part of a committed trace on a configured machine.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// The trace, without directory and extension.
    pub trace: &'a str,
    /// Choice between silicon and the guide where they disagree.
    pub profile: Profile,
    /// Changes of the configuration, `key=value`.
    pub overrides: Vec<String>,
    /// Instructions of each thread that only warm the machine.
    pub warmup: u64,
    /// Instructions of each thread to count.
    pub limit: Option<u64>,
}

/// Runs the part. Returns its evidence for the validation of formulas.
///
/// # Errors
/// The configuration is not valid, or the trace cannot be run.
pub fn evidence(part: &Part<'_>) -> Result<Evidence, Box<dyn Error>> {
    let source = ConfigSource {
        profile: part.profile,
        overrides: &part.overrides,
        ..ConfigSource::default()
    };
    let config = MachineConfig::from_document(&source.document()?)?;
    let path = repository().join("traces").join(format!("{}.n2t", part.trace));
    let header = RunHeader { trace: part.trace.to_owned(), ..RunHeader::default() };
    let session = Session::open(&path, config, header)?;
    let options = RunOptions { warmup: part.warmup, limit: part.limit, roi: None };
    Ok(examine(&session, &options, &mut |_| {}, &mut NullSink)?)
}

/// Returns the names of the committed traces.
pub fn traces() -> Vec<String> {
    let folder = repository().join("traces");
    let entries = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let names = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        let is_trace = path.extension().is_some_and(|extension| extension == "n2t");
        is_trace.then(|| path.file_stem().map(|name| name.to_string_lossy().into_owned()))?
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
