//! `n2sim stat -M`: the events of metrics as weak groups, and the values from what was counted.

use std::path::Path;

use sim_core::PmuEvent;
use sim_machine::{Outcome, trust};
use sim_metrics::formula::event_use::Time;
use sim_metrics::formula::{Catalog, EventUse, Linked, Machine, MetricFormula, Quantity};
use sim_pmu::perf::Reading;
use sim_report::metrics::MetricRow;
use sim_trace::Lack;

use crate::measure::Measured;

/// The metrics of a run.
pub(crate) struct Metrics {
    machine: Machine,
    metrics: Vec<Wanted>,
    /// The events that count together, one group after another.
    groups: Vec<Vec<EventUse>>,
    /// The position of the first of them among all events that are counted.
    first: usize,
}

/// One metric, with the group that counts its events.
struct Wanted {
    metric: MetricFormula,
    linked: Linked,
    threshold: Option<Linked>,
    group: usize,
}

impl Metrics {
    /// Links the metrics; those whose events another one counts as well share its group.
    pub(crate) fn new(
        chosen: &[&MetricFormula],
        catalog: &Catalog,
        machine: Machine,
        first: usize,
    ) -> anyhow::Result<Metrics> {
        let mut metrics = Vec::new();
        for &metric in chosen {
            metrics.push(Wanted::new(metric, catalog)?);
        }
        // Large groups first: a smaller one may be a part of them.
        let mut order: Vec<usize> = (0..metrics.len()).collect();
        let sets: Vec<Vec<EventUse>> =
            metrics.iter().map(|wanted| wanted.counted(&machine)).collect();
        order.sort_by_key(|index| std::cmp::Reverse(sets[*index].len()));
        let mut groups: Vec<Vec<EventUse>> = Vec::new();
        for index in order {
            let has_all = |group: &Vec<EventUse>| sets[index].iter().all(|own| group.contains(own));
            let known = groups.iter().position(has_all);
            metrics[index].group = known.unwrap_or_else(|| {
                groups.push(sets[index].clone());
                groups.len() - 1
            });
        }
        Ok(Metrics { machine, metrics, groups, first })
    }

    /// What `-e` would be given: a weak group for each metric that is part of no other.
    pub(crate) fn event_lists(&self) -> Vec<String> {
        let list = |group: &Vec<EventUse>| {
            let names: Vec<&str> = group.iter().map(|event| event.name.as_str()).collect();
            format!("{{{}}}:W", names.join(","))
        };
        self.groups.iter().filter(|group| !group.is_empty()).map(list).collect()
    }

    /// The values, of each thread or of all together; with `truth` those of exact counts beside them.
    pub(crate) fn rows(
        &self,
        measured: &Measured,
        per_thread: bool,
        truth: bool,
    ) -> Vec<MetricRow> {
        let cores = measured.readings.len();
        let parts: Vec<Vec<usize>> = match per_thread {
            true => (0..cores).map(|core| vec![core]).collect(),
            false => vec![(0..cores).collect()],
        };
        let row = |wanted: &Wanted, cores: &[usize]| {
            let outcome = &measured.outcome;
            let counts = Counts { metrics: self, outcome, cores, wanted };
            let scale = &wanted.metric.scale;
            let value = |readings| scale.factor * counts.value(&wanted.linked, readings);
            let limit = wanted.threshold.as_ref();
            let limit = limit.map_or(0.0, |limit| counts.value(limit, &measured.readings));
            MetricRow {
                thread: per_thread.then(|| thread_name(outcome, cores[0])),
                name: wanted.metric.name.clone(),
                value: value(&measured.readings),
                exact: truth.then(|| value(&measured.truth)),
                unit: scale.unit.clone(),
                decimals: scale.decimals(),
                is_bad: !limit.is_nan() && limit != 0.0,
                doubt: wanted.doubt(outcome),
            }
        };
        let rows = |wanted| parts.iter().map(move |cores| row(wanted, cores));
        self.metrics.iter().flat_map(rows).collect()
    }

    /// Why metrics have no value, one sentence each.
    pub(crate) fn troubles(&self, measured: &Measured) -> Vec<String> {
        let cores: Vec<usize> = (0..measured.readings.len()).collect();
        let trouble = |wanted: &Wanted| {
            let counts =
                Counts { metrics: self, outcome: &measured.outcome, cores: &cores, wanted };
            let count = |event: &EventUse| counts.of(event, &measured.readings);
            let trouble = wanted.linked.evaluate(&self.machine, count).trouble?;
            let why = wanted.linked.explain(trouble);
            Some(format!("{} has no value: {why}", wanted.metric.name))
        };
        self.metrics.iter().filter_map(trouble).collect()
    }
}

/// A thread as `perf stat --per-thread` names it.
fn thread_name(outcome: &Outcome, core: usize) -> String {
    let program = Path::new(&outcome.header.trace).file_stem().unwrap_or_default();
    format!("{}-{}", program.to_string_lossy(), outcome.cores[core].stream)
}

impl Wanted {
    fn new(metric: &MetricFormula, catalog: &Catalog) -> anyhow::Result<Wanted> {
        let place = |error: String| anyhow::anyhow!("{}: {}: {error}", metric.source, metric.name);
        let formula = metric.formula.as_ref().map_err(|error| place(error.to_string()))?;
        let linked = Linked::named(&metric.name, formula, catalog)
            .map_err(|error| place(error.to_string()))?;
        let threshold = match &metric.threshold {
            None => None,
            Some(Err(error)) => return Err(place(format!("threshold, {error}"))),
            Some(Ok(formula)) => Some(
                Linked::new(formula, catalog)
                    .map_err(|error| place(format!("threshold, {error}")))?,
            ),
        };
        Ok(Wanted { metric: metric.clone(), linked, threshold, group: 0 })
    }

    /// What the trace lacks that makes one of the events doubtful; the gravest lack.
    fn doubt(&self, outcome: &Outcome) -> Option<&'static str> {
        let events = self.linked.core_events().into_iter();
        let events: Vec<PmuEvent> = events.collect();
        let doubts = events.iter().filter_map(|event| trust::doubt(*event, &outcome.header.lacks));
        let caveat = || events.iter().find_map(|event| outcome.header.mode.caveat(*event));
        doubts.min().map(Lack::label).or_else(caveat)
    }

    /// The events of the core that the value needs, on this machine.
    fn counted(&self, machine: &Machine) -> Vec<EventUse> {
        let all = [Some(&self.linked), self.threshold.as_ref()];
        let mut events: Vec<EventUse> = Vec::new();
        for event in all.into_iter().flatten().flat_map(|linked| linked.needed(machine)) {
            if event.event().is_some() && !events.contains(event) {
                events.push(event.clone());
            }
        }
        events
    }
}

/// What was counted on some cores.
struct Counts<'a> {
    metrics: &'a Metrics,
    outcome: &'a Outcome,
    cores: &'a [usize],
    wanted: &'a Wanted,
}

impl Counts<'_> {
    fn value(&self, linked: &Linked, readings: &[Vec<Reading>]) -> f64 {
        let count = |event: &EventUse| self.of(event, readings);
        linked.evaluate(&self.metrics.machine, count).value
    }

    /// The count of an event from the group of its metric, or a time in seconds.
    fn of(&self, event: &EventUse, readings: &[Vec<Reading>]) -> Option<f64> {
        if let Quantity::Time(time) = event.quantity {
            let has_time = self.outcome.header.mode.gives(PmuEvent::CPU_CYCLES);
            return has_time.then(|| self.seconds(time));
        }
        let groups = &self.metrics.groups;
        let before: usize = groups[..self.wanted.group].iter().map(Vec::len).sum();
        let is_same = |own: &EventUse| own.quantity == event.quantity && own.levels == event.levels;
        let position =
            self.metrics.first + before + groups[self.wanted.group].iter().position(is_same)?;
        let cores = self.cores.iter().filter_map(|core| readings.get(*core)?.get(position));
        let total = cores.copied().reduce(|sum, own| sum.plus(&own))?;
        total.scaled().map(|count| count as f64)
    }

    /// Modeled time: of the core that ran longest, or of all in user mode or in the kernel.
    fn seconds(&self, time: Time) -> f64 {
        let cores = self.cores.iter().map(|core| &self.outcome.cores[*core]);
        let cycles: u64 = match time {
            Time::Duration => {
                cores.map(|core| core.counts.value(PmuEvent::CPU_CYCLES)).max().unwrap_or_default()
            }
            Time::User | Time::System => cores
                .flat_map(|core| &core.levels)
                .filter(|part| (part.level.level == 0) == (time == Time::User))
                .map(|part| part.counts.value(PmuEvent::CPU_CYCLES))
                .sum(),
        };
        cycles as f64 / self.outcome.clock_hz as f64
    }
}
