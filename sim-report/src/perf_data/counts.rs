//! Files of `perf stat record`: readings of counters at the end of a run, or of each of its
//! intervals.

use sim_core::PmuEvent;
use sim_pmu::perf::{PerfEvent, Reading, Status};

use super::PerfData;
use super::attr::{Attr, flag, kind, sample_type};
use super::machine::{Machine, feature};
use super::words::Words;
use crate::stat::{Selected, nanoseconds};

/// Record type of the configuration.
const STAT_CONFIG: u32 = 75;
/// Record type of a reading.
const STAT: u32 = 76;
/// Record type of the end of a round.
const STAT_ROUND: u32 = 77;
/// `read_format` of readings with the times enabled and running.
const TIMES: u64 = 3;
/// Tag of the aggregation mode in STAT_CONFIG.
const AGGREGATION: u64 = 0;
/// Tag of the interval in STAT_CONFIG.
const INTERVAL: u64 = 1;
/// Tag of scaling in STAT_CONFIG.
const SCALE: u64 = 2;
/// Aggregation over all CPUs and threads.
const GLOBAL: u64 = 1;
/// CPU of an event that follows a task.
const ANY_CPU: u32 = u32::MAX;
/// Round at the end of an interval.
const ROUND_INTERVAL: u64 = 0;
/// Round at the end of the run.
const ROUND_FINAL: u64 = 1;
/// Process number of the traced program, which no trace contains.
const PID: u32 = 1;

/// Readings of all counters at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Nanoseconds since the start of counting.
    pub time_ns: u64,
    /// Reading of each event since the start of counting, summed over all cores.
    pub readings: Vec<Reading>,
}

/// Results of a counting run.
#[derive(Clone, Copy, Debug)]
pub struct Counts<'a> {
    /// Events.
    pub events: &'a [Selected],
    /// Readings: one round, or one for each interval.
    pub rounds: &'a [Round],
    /// Interval in milliseconds, if any.
    pub interval_ms: Option<u64>,
    /// Frequency of the core clock, in which times are measured.
    pub clock_hz: u64,
    /// Name of the program.
    pub comm: &'a str,
}

impl PerfData {
    /// Returns the counts of a run as a file for `perf stat report`.
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

/// Returns the attribute of an event. Cycles and instructions are generic hardware events, so that
/// perf computes its ratios.
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
