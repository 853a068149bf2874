//! Contents of a profile that do not depend on the core.

use std::ffi::OsString;
use std::path::Path;

use sim_report::perf_data::attr::flag;
use sim_report::perf_data::machine::Cpu;
use sim_report::perf_data::overflow::{OverflowEvent, OverflowProfile};
use sim_report::perf_data::{Machine, PerfData};
use sim_report::perf_stat::grouped;
use sim_trace::TraceFile;

use crate::files::output::Output;
use crate::host::call;

/// Process number in the files, because traces do not keep it.
pub(super) const PID: u32 = 1000;
/// Reading of the system counter when the trace begins, in seconds. It is not 0, because readers
/// take 0 for "no time".
pub(super) const START_SECONDS: u64 = 1;
/// Memory size of the modeled machine in the file in bytes: all that 48 bits can address.
const MEMORY_BYTES: u64 = 1 << 48;

/// Returns the number of samples of each event.
pub(super) fn notes_of(profile: &OverflowProfile) -> Vec<String> {
    let note = |(number, event): (usize, &OverflowEvent)| {
        let samples = profile.samples.iter().filter(|sample| sample.event == number).count();
        let (samples, period) = (grouped(samples as u64), grouped(event.period));
        format!("{samples} samples of {}, one in {period}", event.name)
    };
    profile.events.iter().enumerate().map(note).collect()
}

/// Returns the exception levels that no instruction of the trace runs at, as bits of
/// `perf_event_attr`, so that a reader does not miss samples of them.
pub(super) fn absent_levels(trace: &TraceFile) -> u64 {
    match trace.meta().machine.full_system {
        true => 0,
        false => flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV,
    }
}

/// Returns the name of the traced program.
pub(super) fn comm(path: &Path, trace: &TraceFile) -> String {
    let path = trace.meta().command.first().map_or(path, Path::new);
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Returns the description of a machine with this core in a perf.data file.
pub(super) fn machine(midr: u64, cpu: Cpu, cores: usize) -> Machine {
    let command = call::words().into_iter().map(readable).collect();
    Machine {
        midr,
        cpu,
        cpus: cores as u32,
        memory: MEMORY_BYTES,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command,
    }
}

/// Writes the file of a profile, and puts it in its place together with the one `beside` it.
pub(super) fn write(output: Output, beside: Option<Output>, file: &PerfData) -> anyhow::Result<()> {
    let mut output = output;
    file.write(&mut output)?;
    Output::finish_all(beside.into_iter().chain([output]).collect())
}

fn readable(word: OsString) -> String {
    word.to_string_lossy().into_owned()
}
