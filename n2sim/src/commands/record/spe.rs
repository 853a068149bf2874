//! `n2sim record -e arm_spe_0//`: the trace under the Statistical Profiling Extension.

use std::io::Write;
use std::path::{Path, PathBuf};

use sim_core::{Counts, PmuEvent};
use sim_pmu::spe::driver::{EVERY_OPERATION, min_interval};
use sim_pmu::spe::{Clocks, SpeDriver, SpeDrivers, SpeRegister};
use sim_report::perf_data::spe::{AuxChunk, Metadata, SpeProfile, SpeThread};
use sim_report::perf_stat::grouped;

use crate::files::output::Output;

use super::args::MetadataName;
use super::file::{self, PID};
use super::request::SpeEvent;
use super::{Recording, forms, program};

/// Runs the trace and writes the records of the units. Returns notes for the user and the number of
/// instructions that ran.
pub(super) fn record(
    recording: &Recording<'_>,
    event: &SpeEvent,
) -> anyhow::Result<(Vec<String>, u64)> {
    let args = recording.args;
    let mut drivers = SpeDrivers::new(drivers(recording, event));
    let cores = recording.cores();
    let path = forms::path(args);
    let paths: Vec<PathBuf> = match args.raw && cores > 1 {
        true => (0..cores).map(|core| numbered(&path, core)).collect(),
        false => vec![path.clone()],
    };
    let outputs: Result<Vec<Output>, _> =
        paths.iter().map(|path| Output::create(Some(path))).collect();
    let mut outputs = outputs?;
    let (outcome, instructions) = recording.replay(&mut drivers)?;
    let mut cores = drivers.into_cores();
    let mut notes = notes(recording, event, &mut cores);
    notes.extend(outcome.notes);
    if args.raw {
        for (output, core) in outputs.iter_mut().zip(&mut cores) {
            for drain in core.take_drains() {
                output.write_all(&drain.bytes)?;
            }
        }
        Output::finish_all(outputs)?;
        return Ok((notes, instructions));
    }
    let program = program::find(recording.session.trace(), &args.elf, &path)?;
    notes.extend(program.notes);
    let profile = profile(recording, event, cores, program.mappings);
    if let Some(output) = outputs.pop() {
        file::write(output, program.beside, &profile.perf_data(&recording.machine()))?;
    }
    Ok((notes, instructions))
}

fn clocks(recording: &Recording<'_>) -> Clocks {
    let core = &recording.config.core;
    Clocks { core_hz: core.clock_hz, counter_hz: core.counter_hz, start: recording.counter_start() }
}

/// Returns one driver for each core. The kernel keeps a thread's number in `CONTEXTIDR_EL1`.
fn drivers(recording: &Recording<'_>, event: &SpeEvent) -> Vec<SpeDriver> {
    let config = &recording.config;
    let driver = |core: usize| {
        let bytes = recording.args.aux_buffer;
        let request = &event.request;
        let mut driver = SpeDriver::new(&config.spe, core, request, clocks(recording), bytes);
        let tid = PID + core as u32;
        driver.unit().set_contextidr(tid, tid);
        driver.unit().set_external_llc(config.semantics.extllc);
        driver
    };
    (0..recording.cores()).map(driver).collect()
}

fn profile(
    recording: &Recording<'_>,
    event: &SpeEvent,
    mut cores: Vec<SpeDriver>,
    mappings: Vec<sim_report::perf_data::Mapping>,
) -> SpeProfile {
    let clocks = clocks(recording);
    let last = cores.iter().map(SpeDriver::now).max().unwrap_or_default();
    let pmsidr = cores.first_mut().map_or(0, |core| core.unit().get(SpeRegister::PMSIDR_EL1));
    let thread = |(core, driver): (usize, &mut SpeDriver)| SpeThread {
        tid: PID + core as u32,
        chunks: driver.take_drains().into_iter().map(chunk).collect(),
    };
    SpeProfile {
        event: event.name.clone(),
        config: event.config(),
        period: event.request.interval(pmsidr).max(EVERY_OPERATION),
        excluded: event.excluded() | recording.absent_levels(),
        counter_hz: clocks.counter_hz,
        times: (clocks.start, clocks.ticks(last).saturating_add(1)),
        min_interval: min_interval(pmsidr),
        comm: recording.comm(),
        pid: PID,
        mappings,
        threads: cores.iter_mut().enumerate().map(thread).collect(),
        metadata: match recording.args.metadata {
            MetadataName::V1 => Metadata::V1,
            MetadataName::V2 => Metadata::V2,
        },
    }
}

fn chunk(drain: sim_pmu::spe::BufferDrain) -> AuxChunk {
    let sim_pmu::spe::BufferDrain { time, bytes, truncated, collided } = drain;
    AuxChunk { time, bytes, truncated, collided }
}

/// Returns notes: the funnel from operations to records, and changes of the request.
fn notes(recording: &Recording<'_>, event: &SpeEvent, cores: &mut [SpeDriver]) -> Vec<String> {
    let mut total = Counts::default();
    for core in cores.iter() {
        total.add(core.counts());
    }
    let count = |event| grouped(total.value(event));
    let mut notes = vec![format!(
        "{} samples of {} operations, {} collisions; {} passed the filters",
        count(PmuEvent::SAMPLE_FEED),
        count(PmuEvent::SAMPLE_POP),
        count(PmuEvent::SAMPLE_COLLISION),
        count(PmuEvent::SAMPLE_FILTRATE)
    )];
    let pmsidr = cores.first_mut().map_or(0, |core| core.unit().get(SpeRegister::PMSIDR_EL1));
    let (asked, given) = (event.request.period, event.request.interval(pmsidr));
    if given != asked && asked != EVERY_OPERATION {
        let shortest = min_interval(pmsidr);
        notes.push(format!(
            "the interval is {given}: the unit takes multiples of 256 from {shortest}, or 1 for every \
             operation"
        ));
    }
    if asked == EVERY_OPERATION && recording.config.spe.samples_in_flight != 0 {
        notes.push(String::from(
            "one sample is in flight at a time, so most operations collide; record all of them with \
             --set spe.samples-in-flight=0",
        ));
    }
    for (core, fault) in cores.iter().enumerate().filter_map(|(n, core)| Some((n, core.fault()?))) {
        notes.push(format!("profiling of core {core} ended with PMBSR_EL1 {fault:#x}"));
    }
    notes
}

/// Returns the file of a core, such as `spe.raw.1` for the second one.
fn numbered(path: &Path, core: usize) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{core}"));
    path.with_file_name(name)
}
