//! Multiplexed estimates of all 147 events of a trace on a core's six counters, beside the true
//! counts.

use std::path::Path;

use sim_core::PmuEvent;
use sim_machine::{
    ConfigSource, MachineConfig, MachineError, Outcome, RunHeader, RunOptions, Session,
};
use sim_pmu::counter::CounterCount;
use sim_pmu::perf::{Group, PerfSession, PerfSetup, Reading};

/// Estimates of the counters for one trace.
#[derive(Clone, Debug)]
pub struct Estimates {
    /// Name of the trace, without its extension.
    pub trace: String,
    /// Modeled time of its longest thread, in nanoseconds.
    pub run_ns: f64,
    /// The exact count of each event, in the order of [`PmuEvent::ALL`].
    pub truth: Vec<u64>,
    /// The reading of each event, for each tick.
    pub readings: Vec<Vec<Reading>>,
}

/// Returns every event as a group of its own, in the order of the table.
pub fn all_events() -> Vec<Group> {
    PmuEvent::ALL.into_iter().map(Group::single).collect()
}

/// Opens a trace on the guide's machine.
///
/// # Errors
/// If the trace cannot be read.
pub fn open(trace: &Path, overrides: &[String]) -> Result<Session, MachineError> {
    let source = ConfigSource { overrides, ..ConfigSource::default() };
    let document = source.document().expect("the built-in configuration");
    let config = MachineConfig::from_document(&document).expect("the built-in configuration");
    let header = RunHeader { trace: trace.display().to_string(), ..RunHeader::default() };
    Session::open(trace, config, header)
}

/// Counts every event of a trace with time slices of each of `ticks_ns`, all in one run.
///
/// # Errors
/// If the trace cannot be run.
pub fn estimates(
    trace: &Path,
    ticks_ns: &[u64],
    limit: Option<u64>,
) -> Result<Estimates, MachineError> {
    let session = open(trace, &[])?;
    let counters = |ns: &u64| {
        let cycles = u128::from(*ns) * u128::from(session.clock_hz()) / 1_000_000_000;
        PerfSession::new(PerfSetup::new(&all_events(), CounterCount::default()), cycles as u64)
    };
    let mut sessions: Vec<PerfSession> = ticks_ns.iter().map(counters).collect();
    let options = RunOptions { limit, ..RunOptions::default() };
    let outcome = session.run_with_sink(&options, &mut |_| {}, &mut sessions.as_mut_slice())?;
    Ok(Estimates {
        trace: trace.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        run_ns: run_ns(&outcome),
        truth: PmuEvent::ALL.iter().map(|event| outcome.total().value(*event)).collect(),
        readings: sessions.iter_mut().map(PerfSession::readings).collect(),
    })
}

fn run_ns(outcome: &Outcome) -> f64 {
    let cycles = outcome.cores.iter().map(|core| core.counts.value(PmuEvent::CPU_CYCLES));
    cycles.max().unwrap_or(0) as f64 * 1e9 / outcome.clock_hz as f64
}
