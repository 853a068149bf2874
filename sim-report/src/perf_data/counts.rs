//! The file of `perf stat record`: what counters held at the end of a run, or of each interval of it.

use sim_core::PmuEvent;
use sim_pmu::perf::{PerfEvent, Reading, Status};

use super::PerfData;
use super::attr::{Attr, flag, kind, sample_type};
use super::machine::{Machine, feature};
use super::words::Words;
use crate::stat::{Selected, nanoseconds};

/// Kinds of records.
const STAT_CONFIG: u32 = 75;
const STAT: u32 = 76;
const STAT_ROUND: u32 = 77;
/// `read_format`: a reading holds the times for which it was enabled and running.
const TIMES: u64 = 3;
/// Tags of STAT_CONFIG.
const AGGREGATION: u64 = 0;
const INTERVAL: u64 = 1;
const SCALE: u64 = 2;
/// One number for all CPUs and threads.
const GLOBAL: u64 = 1;
/// CPU of an event that follows a task.
const ANY_CPU: u32 = u32::MAX;
/// Kinds of rounds.
const ROUND_INTERVAL: u64 = 0;
const ROUND_FINAL: u64 = 1;
/// The process that a trace stands for; no trace knows its number.
const PID: u32 = 1;

/// What all counters held at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Nanoseconds from the start of counting.
    pub time_ns: u64,
    /// The reading of each event since the start of counting, of all cores together.
    pub readings: Vec<Reading>,
}

/// What a counting run was.
#[derive(Clone, Copy, Debug)]
pub struct Counts<'a> {
    /// The events.
    pub events: &'a [Selected],
    /// Their readings: one round, or one for each interval.
    pub rounds: &'a [Round],
    /// Milliseconds of an interval, if there are any.
    pub interval_ms: Option<u64>,
    /// Clock of the core, which measures times.
    pub clock_hz: u64,
    /// Name of the program.
    pub comm: &'a str,
}

impl PerfData {
    /// The counts of a run as a file that `perf stat report` reads.
    pub fn of_counts(counts: &Counts<'_>, machine: &Machine) -> PerfData {
        let attrs = (1..).zip(counts.events).map(|(id, event)| attr(id, event)).collect();
        let mut file = PerfData::new(attrs);
        file.describe(machine);
        file.feature(feature::STAT, Vec::new());
        file.thread_map(PID, counts.comm);
        file.no_cpu_map();
        file.stat_config(counts.interval_ms);
        let last = counts.rounds.len().saturating_sub(1);
        for (number, round) in counts.rounds.iter().enumerate() {
            for (id, reading) in (1..).zip(&round.readings) {
                file.stat(id, reading, counts.clock_hz);
            }
            let is_interval = counts.interval_ms.is_some() && number < last;
            file.stat_round(if is_interval { ROUND_INTERVAL } else { ROUND_FINAL }, round.time_ns);
        }
        file
    }

    fn stat_config(&mut self, interval_ms: Option<u64>) {
        let mut body = Words::default();
        let config = [(AGGREGATION, GLOBAL), (INTERVAL, interval_ms.unwrap_or(0)), (SCALE, 1)];
        body.u64(config.len() as u64);
        for (tag, value) in config {
            body.u64(tag).u64(value);
        }
        self.record(STAT_CONFIG, 0, &body);
    }

    fn stat(&mut self, id: u64, reading: &Reading, clock_hz: u64) {
        let (value, running) = match reading.status {
            Status::Counted => (reading.value, reading.running),
            Status::NotCounted | Status::NotSupported => (0, 0),
        };
        let mut body = Words::default();
        body.u64(id).u32(ANY_CPU).u32(0).u64(value);
        body.u64(nanoseconds(reading.enabled, clock_hz)).u64(nanoseconds(running, clock_hz));
        self.record(STAT, 0, &body);
    }

    fn stat_round(&mut self, kind: u64, time_ns: u64) {
        let mut body = Words::default();
        body.u64(kind).u64(time_ns);
        self.record(STAT_ROUND, 0, &body);
    }
}

/// The attribute of an event. Cycles and instructions are those of every processor, so that perf knows
/// what to divide by them.
fn attr(id: u64, selected: &Selected) -> Attr {
    let PerfEvent { event, levels, .. } = selected.event;
    let (kind, config) = match event {
        PmuEvent::CPU_CYCLES => (kind::HARDWARE, 0),
        PmuEvent::INST_RETIRED => (kind::HARDWARE, 1),
        other => (kind::RAW, u64::from(other.code())),
    };
    let excluded = [
        (levels.user, flag::EXCLUDE_USER),
        (levels.kernel, flag::EXCLUDE_KERNEL),
        (levels.hypervisor, flag::EXCLUDE_HV),
    ];
    let excluded: u64 = excluded.iter().filter(|(counts, _)| !counts).map(|(_, bit)| bit).sum();
    Attr {
        name: selected.name.clone(),
        kind,
        config: [config, 0, 0],
        sample_type: sample_type::IDENTIFIER,
        read_format: TIMES,
        flags: flag::DISABLED | flag::INHERIT | flag::ENABLE_ON_EXEC | excluded,
        ids: vec![id],
        ..Attr::default()
    }
}
