//! The counts of a run as the file of `perf stat record`, for `--perf-data`.

use std::io::{self, Write};

use sim_core::PmuEvent;
use sim_machine::Outcome;
use sim_pmu::perf::Reading;
use sim_report::Selected;
use sim_report::perf_data::counts::{Counts, Round};
use sim_report::perf_data::machine::Cpu;
use sim_report::perf_data::{Machine, PerfData};
use sim_report::stat;

use crate::counting::counted_run::{Measured, Replay};
use crate::files::command_line;

/// Memory size in the file in bytes: that of the reference machine of perf's headers.
const MEMORY_BYTES: u64 = 16 << 30;

/// Counts to write to a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountsFile {
    events: Vec<Selected>,
    rounds: Vec<Round>,
    interval_ms: Option<u64>,
    clock_hz: u64,
    elapsed_ns: u64,
    comm: String,
    machine: Machine,
}

impl CountsFile {
    /// Returns a file without counts.
    pub(crate) fn new(
        replay: &Replay<'_>,
        outcome: &Outcome,
        interval_ms: Option<f64>,
    ) -> CountsFile {
        let events = match replay.request.events.is_empty() {
            true => stat::every_event(),
            false => replay.request.events.clone(),
        };
        let cycles = outcome.cores.iter().map(|core| core.counts.value(PmuEvent::CPU_CYCLES));
        let machine = Machine {
            cpu: Cpu::default(),
            midr: replay.session.config().core.revision.midr(),
            cpus: u32::try_from(outcome.cores.len()).unwrap_or(u32::MAX),
            memory: MEMORY_BYTES,
            version: outcome.header.version.clone(),
            command: command_line::words().collect(),
        };
        CountsFile {
            events,
            rounds: Vec::new(),
            // perf knows only whole milliseconds.
            interval_ms: interval_ms.map(|ms| (ms.round() as u64).max(1)),
            clock_hz: outcome.clock_hz,
            elapsed_ns: stat::nanoseconds(cycles.max().unwrap_or(0), outcome.clock_hz),
            comm: stat::comm(&outcome.header),
            machine,
        }
    }

    /// Returns the counts of a run that is not cut into intervals. With the `errors` of an
    /// estimate, events that it does not give have no count.
    pub(crate) fn of_run(
        replay: &Replay<'_>,
        measured: &Measured,
        errors: Option<&[f64]>,
    ) -> CountsFile {
        let outcome = &measured.outcome;
        let mut file = CountsFile::new(replay, outcome, None);
        let elapsed_ns = file.elapsed_ns;
        if !replay.request.events.is_empty() {
            // An estimate has already taken what it does not give out of these.
            file.add(elapsed_ns, &measured.readings);
            return file;
        }
        let mut sum = stat::exact_sum(outcome, &file.events);
        if let Some(errors) = errors {
            stat::take_unknown(&mut sum, &file.events, errors);
        }
        file.add(elapsed_ns, &[sum]);
        file
    }

    /// Adds the counts since the previous round, core by core.
    pub(crate) fn add(&mut self, time_ns: u64, cores: &[Vec<Reading>]) {
        let mut readings = stat::sum(cores);
        if let Some(before) = self.rounds.last() {
            readings = before.readings.iter().zip(&readings).map(|(a, b)| a.plus(b)).collect();
        }
        self.rounds.push(Round { time_ns, readings });
    }

    /// Writes the file.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let CountsFile { events, rounds, interval_ms, clock_hz, comm, .. } = self;
        let (interval_ms, clock_hz) = (*interval_ms, *clock_hz);
        let counts = Counts { events, rounds, interval_ms, clock_hz, comm };
        PerfData::of_counts(&counts, &self.machine).write(out)
    }
}
