//! Runs on a Cortex-A53 whose events are counted as `perf stat` would count them.

use sim_a53::perf::{PerfCore, PerfRequest, run_for_perf};
use sim_a53::{A53Config, A53CoreOutcome, A53Event, Part, run_part};
use sim_pmu::perf::{Levels, Reading};
use sim_report::Selected;
use sim_report::a53_stat::{self, A53Counted};
use sim_report::{Owner, StatReport};
use sim_trace::TraceFile;

use crate::counting::counted_run::Request;
use crate::counting::event_list::{self, EventGroup};
use crate::counting::interval::{CoreReadings, Counted, Interval};

/// A run to count.
pub(crate) struct A53Run<'a> {
    pub(crate) trace: &'a TraceFile,
    pub(crate) config: &'a A53Config,
    pub(crate) part: &'a Part,
    pub(crate) request: &'a Request<A53Event>,
}

/// The counts of a run.
pub(crate) struct A53Measured {
    /// The run of each core.
    pub(crate) cores: Vec<A53CoreOutcome>,
    /// For each core the reading of each event.
    pub(crate) readings: Vec<Vec<Reading>>,
    /// Exact readings, for each core.
    pub(crate) truth: Vec<Vec<Reading>>,
    /// Rotations on all cores together.
    pub(crate) rotations: u64,
    /// Counts of the intervals, of the events that the trace can answer.
    pub(crate) intervals: Vec<Counted>,
}

impl A53Run<'_> {
    /// Counts exactly, or with counters that rotate every `rotation_ns` nanoseconds of modeled
    /// time.
    pub(crate) fn measure(
        &self,
        rotation_ns: Option<u64>,
        interval: Interval,
    ) -> anyhow::Result<A53Measured> {
        let clock_hz = self.config.cluster.clock_hz;
        let rotation = rotation_ns.map(|ns| {
            let cycles = u128::from(ns) * u128::from(clock_hz) / 1_000_000_000;
            u64::try_from(cycles).unwrap_or(u64::MAX)
        });
        let end = |number| interval.end(number);
        let request = PerfRequest {
            groups: &self.request.groups,
            counters: self.request.counters,
            rotation,
            end: &end,
        };
        let cores = run_for_perf(self.trace, self.config, self.part, &request)?;
        Ok(self.measured(cores, interval))
    }

    fn measured(&self, cores: Vec<PerfCore>, interval: Interval) -> A53Measured {
        let all = |readings: Vec<Vec<Reading>>| self.request.all(cores.len(), readings);
        let readings = all(cores.iter().map(|core| core.readings.clone()).collect());
        let truth = all(cores.iter().map(|core| core.exact.clone()).collect());
        let rotations = cores.iter().map(|core| core.rotations).sum();
        let mut outcomes = Vec::new();
        let mut of_cores = Vec::new();
        for PerfCore { outcome, readings, intervals, cycles, .. } in cores {
            outcomes.push(outcome);
            of_cores.push(CoreReadings { cycles, read: intervals, last: readings });
        }
        let intervals = interval.divide(of_cores);
        A53Measured { cores: outcomes, readings, truth, rotations, intervals }
    }

    /// Counts exactly. Events of all levels need no observer.
    pub(crate) fn count(&self) -> anyhow::Result<A53Measured> {
        let events = &self.request.events;
        if events.iter().any(|selected| selected.event.levels != Levels::ALL) {
            return self.measure(None, Interval::whole(self.config.cluster.clock_hz));
        }
        Ok(A53Measured::exact(run_part(self.trace, self.config, self.part)?, events))
    }
}

/// Returns the names of events.
pub(crate) fn names(events: &[Selected<A53Event>]) -> Vec<String> {
    events.iter().map(|selected| selected.name.clone()).collect()
}

/// Refuses events of single exception levels, if the trace has more than one: the counts are those
/// of all levels.
pub(crate) fn refuse_levels(
    groups: &[EventGroup<A53Event>],
    has_kernel: bool,
) -> anyhow::Result<()> {
    let is_partial = |selected: &&Selected<A53Event>| {
        selected.event.levels != Levels::ALL && !event_list::is_nowhere(selected)
    };
    match groups.iter().flat_map(|group| &group.events).find(is_partial) {
        Some(selected) if has_kernel => anyhow::bail!(
            "-e {}: these counts are of all levels together; leave the modifier out",
            selected.name
        ),
        _ => Ok(()),
    }
}

impl A53Measured {
    /// Returns the exact counts of some events in a run.
    pub(crate) fn exact(cores: Vec<A53CoreOutcome>, events: &[Selected<A53Event>]) -> A53Measured {
        let readings = a53_stat::exact(&cores, events);
        let (truth, intervals) = (readings.clone(), Vec::new());
        A53Measured { cores, readings, truth, rotations: 0, intervals }
    }

    /// Returns the counted cycles of the core that counted longest.
    pub(crate) fn cycles(&self) -> u64 {
        self.cores.iter().map(|core| core.cycles).max().unwrap_or(0)
    }

    /// Returns the report of the whole run on `trace`.
    pub(crate) fn report(
        &self,
        trace: &str,
        names: &[String],
        has_truth: bool,
        owners: Option<&[Owner]>,
        clock_hz: u64,
    ) -> StatReport {
        let truth = has_truth.then_some(self.truth.as_slice());
        let counted = A53Counted { names, readings: &self.readings, truth, owners, clock_hz };
        counted.report(trace, self.cycles())
    }
}
