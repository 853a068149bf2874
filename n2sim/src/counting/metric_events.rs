//! The events of the metrics of `n2sim stat -M`, and their values.
//!
//! Exact values need each event once. With multiplexing (`--mux-interval`, `--truth`, `n2sim
//! plan`), the events of a metric are one weak group, as in perf. Metrics share a group if the
//! counters hold the events of both.

use std::path::Path;

use anyhow::Context;
use sim_core::PmuEvent;
use sim_machine::{Outcome, caveats};
use sim_metrics::formula::event_use::Time;
use sim_metrics::formula::{Catalog, EventUse, Linked, Machine, MetricFormula, Quantity};
use sim_metrics::validator::MeshCount;
use sim_pmu::counter::CounterCount;
use sim_pmu::perf::{Passes, PerfEvent, Reading};
use sim_report::Selected;
use sim_report::metrics::MetricRow;
use sim_trace::MissingData;

use crate::counting::counted_run::Measured;
use crate::counting::event_list::{self, EventGroup};
use crate::counting::mesh_names;

/// The sharing of counters between metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Each event has a counter all the time.
    Exact,
    /// The events of a metric are a group that shares these counters with other groups. Groups that
    /// fit are joined.
    Groups(CounterCount),
    /// Like `Groups`, but metrics share a group only if one has all events of the other: a plan
    /// packs them itself.
    Plan,
}

/// The metrics of a run.
pub(crate) struct Metrics {
    machine: Machine,
    metrics: Vec<Wanted>,
    /// The groups that `-e` would need for the metrics.
    requested: Vec<EventGroup>,
    /// For each group of events that count together, their positions among all events of the run.
    groups: Vec<Vec<Position>>,
    /// The number of events of `-e`, which precede those of metrics.
    own_events: usize,
    /// Frequency of the mesh in Hz.
    mesh_hz: f64,
}

/// The position of a metric's event among all events of the run.
#[derive(Clone, Debug)]
struct Position {
    event: EventUse,
    at: usize,
}

/// One metric, with the group that counts its events.
struct Wanted {
    metric: MetricFormula,
    linked: Linked,
    threshold: Option<Linked>,
    group: usize,
}

impl Metrics {
    /// Links the metrics and finds a place for their events after the `own` events of `-e`.
    pub(crate) fn new(
        chosen: &[&MetricFormula],
        catalog: &Catalog,
        machine: Machine,
        own: &[Selected],
        sharing: Sharing,
    ) -> anyhow::Result<Metrics> {
        let mut metrics = Vec::new();
        for &metric in chosen {
            metrics.push(Wanted::new(metric, catalog)?);
        }
        let sets: Vec<Vec<EventUse>> =
            metrics.iter().map(|wanted| wanted.counted(&machine)).collect();
        let own_events = own.len();
        let (requested, groups, mesh_hz) = (Vec::new(), Vec::new(), f64::NAN);
        let mut all = Metrics { machine, metrics, requested, groups, own_events, mesh_hz };
        match sharing {
            Sharing::Exact => all.place_each_once(&sets, own)?,
            Sharing::Groups(counters) => all.place_in_groups(&sets, Some(counters))?,
            Sharing::Plan => all.place_in_groups(&sets, None)?,
        }
        Ok(all)
    }

    /// Sets the frequency of the mesh in Hz, for metrics with its counts.
    #[must_use]
    pub(crate) fn on_mesh(self, mesh_hz: f64) -> Metrics {
        Metrics { mesh_hz, ..self }
    }

    /// Returns the first metric with counts of the mesh.
    pub(crate) fn of_mesh(&self) -> Option<&str> {
        let first = self.metrics.iter().find(|wanted| wanted.linked.is_of_mesh());
        first.map(|wanted| wanted.metric.name.as_str())
    }

    /// Refuses an option that has no counts of the mesh.
    ///
    /// # Errors
    /// A metric needs counts of the mesh.
    pub(crate) fn refuse_mesh(&self, option: &str, why: &str) -> anyhow::Result<()> {
        match self.of_mesh() {
            None => Ok(()),
            Some(metric) => anyhow::bail!("{option} has no metric '{metric}' of the mesh: {why}"),
        }
    }

    /// Gives each event one counter, which all metrics share.
    fn place_each_once(&mut self, sets: &[Vec<EventUse>], own: &[Selected]) -> anyhow::Result<()> {
        let mut known: Vec<PerfEvent> = own.iter().map(|selected| selected.event).collect();
        for (metric, set) in sets.iter().enumerate() {
            let mut positions = Vec::new();
            for event in set {
                let group = single(event)?;
                let counted = group.events[0].event;
                let at = known.iter().position(|other| *other == counted).unwrap_or(known.len());
                if at == known.len() {
                    known.push(counted);
                    self.requested.push(group);
                }
                positions.push(Position { event: event.clone(), at });
            }
            self.groups.push(positions);
            self.metrics[metric].group = metric;
        }
        Ok(())
    }

    /// Makes a weak group for each metric. Metrics whose events fit on the counters
    /// of `merges` together share one.
    fn place_in_groups(
        &mut self,
        sets: &[Vec<EventUse>],
        merges: Option<CounterCount>,
    ) -> anyhow::Result<()> {
        let mut groups: Vec<Vec<EventUse>> = Vec::new();
        // Large groups first: a smaller one may be a part of them.
        let mut order: Vec<usize> = (0..sets.len()).collect();
        order.sort_by_key(|index| std::cmp::Reverse(sets[*index].len()));
        for index in order {
            let set = &sets[index];
            let has_all = groups.iter().position(|group| missing(set, group).next().is_none());
            let home = match (has_all, merges) {
                (Some(home), _) => Some(home),
                (None, Some(counters)) => first_with_room(counters, &groups, set)?,
                (None, None) => None,
            };
            let home = home.unwrap_or(groups.len());
            if home == groups.len() {
                groups.push(Vec::new());
            }
            let new: Vec<EventUse> = missing(set, &groups[home]).cloned().collect();
            groups[home].extend(new);
            self.metrics[index].group = home;
        }
        let mut at = self.own_events;
        for group in groups {
            if !group.is_empty() {
                self.requested.push(weak(&group)?);
            }
            let positions = group.into_iter().enumerate().map(|(i, event)| (at + i, event));
            let positions: Vec<Position> =
                positions.map(|(at, event)| Position { event, at }).collect();
            at += positions.len();
            self.groups.push(positions);
        }
        Ok(())
    }

    /// Returns the groups that `-e` would need for the metrics.
    pub(crate) fn requested(&self) -> &[EventGroup] {
        &self.requested
    }

    /// Returns the positions of the events of a table that names each event once. For an event in
    /// several groups, that is the position of the best reading.
    pub(crate) fn listed(&self, events: &[Selected], readings: &[Vec<Reading>]) -> Vec<usize> {
        let running = |at: usize| {
            let of_core = |core: &Vec<Reading>| core.get(at).map_or(0, |own| own.running);
            readings.iter().map(of_core).sum::<u64>()
        };
        let own = self.own_events.min(events.len());
        let mut listed: Vec<usize> = (0..own).collect();
        for at in own..events.len() {
            let is_same = |other: &usize| events[*other].event == events[at].event;
            match listed.iter().position(is_same) {
                None => listed.push(at),
                Some(place) if place >= own && running(at) > running(listed[place]) => {
                    listed[place] = at;
                }
                Some(_) => {}
            }
        }
        listed
    }

    /// Returns the values of each thread or of all together; with `truth`, the exact ones beside
    /// them.
    pub(crate) fn rows(
        &self,
        measured: &Measured,
        per_thread: bool,
        truth: bool,
    ) -> Vec<MetricRow> {
        let truth = if truth { measured.truth.as_slice() } else { &[] };
        self.rows_of(&measured.outcome, &measured.readings, truth, per_thread)
    }

    /// Returns the values of readings of each core, or of one sum of all cores, with exact ones
    /// beside them.
    pub(crate) fn rows_of(
        &self,
        outcome: &Outcome,
        readings: &[Vec<Reading>],
        truth: &[Vec<Reading>],
        per_thread: bool,
    ) -> Vec<MetricRow> {
        let cores = outcome.cores.len();
        let parts: Vec<Vec<usize>> = match per_thread {
            true => (0..cores).map(|core| vec![core]).collect(),
            false => vec![(0..cores).collect()],
        };
        let row = |wanted: &Wanted, cores: &[usize]| {
            let counts = Counts { metrics: self, outcome, cores, wanted };
            let scale = &wanted.metric.scale;
            let value =
                |readings: &[Vec<Reading>]| scale.factor * counts.value(&wanted.linked, readings);
            let limit = wanted.threshold.as_ref();
            let limit = limit.map_or(0.0, |limit| counts.value(limit, readings));
            MetricRow {
                thread: per_thread.then(|| thread_name(outcome, cores[0])),
                name: wanted.metric.name.clone(),
                value: value(readings),
                exact: (!truth.is_empty()).then(|| value(truth)),
                unit: scale.unit.clone(),
                decimals: scale.decimals(),
                is_bad: !limit.is_nan() && limit != 0.0,
                doubt: wanted.doubt(outcome),
            }
        };
        let rows = |wanted| parts.iter().map(move |cores| row(wanted, cores));
        self.metrics.iter().flat_map(rows).collect()
    }

    /// Returns the reasons why metrics have no value, one sentence each.
    pub(crate) fn troubles(&self, measured: &Measured) -> Vec<String> {
        let cores: Vec<usize> = (0..measured.readings.len()).collect();
        let trouble = |wanted: &Wanted| {
            let counts =
                Counts { metrics: self, outcome: &measured.outcome, cores: &cores, wanted };
            let count = |event: &EventUse| counts.of(event, &measured.readings);
            let trouble = wanted.linked.evaluate(&self.machine, count).nan_reason?;
            let why = wanted.linked.explain(trouble);
            Some(format!("{} has no value: {why}", wanted.metric.name))
        };
        let troubles = self.metrics.iter().filter_map(trouble);
        troubles.chain(self.always_zero(&measured.outcome)).collect()
    }

    /// Returns a sentence for each event of the mesh that no run raises, and one on a mesh with one
    /// core.
    fn always_zero(&self, outcome: &Outcome) -> Vec<String> {
        let events = self.metrics.iter().flat_map(|wanted| wanted.linked.events());
        let counts = mesh_names::counts(events, outcome, self.mesh_hz);
        let zero = |(name, count): (&String, &MeshCount)| match count {
            MeshCount::Never(why) => Some(format!("{name} is always 0: {why}")),
            MeshCount::Unknown(why) => Some(why.clone()),
            MeshCount::Value(_) => None,
        };
        let alone = outcome.cores.len() == 1 && !counts.is_empty();
        let alone = alone.then(|| {
            String::from(
                "the trace has one thread: the mesh serves one core, and none shares lines",
            )
        });
        counts.iter().filter_map(zero).chain(alone).collect()
    }
}

/// Returns the events of a set that a group lacks.
fn missing<'a>(
    set: &'a [EventUse],
    group: &'a [EventUse],
) -> impl Iterator<Item = &'a EventUse> + 'a {
    set.iter().filter(|event| !group.iter().any(|own| is_same(own, event)))
}

fn is_same(one: &EventUse, other: &EventUse) -> bool {
    one.quantity == other.quantity && one.levels == other.levels
}

/// Returns the first group that the counters hold together with a set.
fn first_with_room(
    counters: CounterCount,
    groups: &[Vec<EventUse>],
    set: &[EventUse],
) -> anyhow::Result<Option<usize>> {
    for (home, group) in groups.iter().enumerate() {
        let mut union = group.clone();
        union.extend(missing(set, group).cloned());
        if Passes::plan(&[weak(&union)?.request()], counters).passes.len() == 1 {
            return Ok(Some(home));
        }
    }
    Ok(None)
}

/// Returns a weak group of events.
fn weak(group: &[EventUse]) -> anyhow::Result<EventGroup> {
    let names: Vec<&str> = group.iter().map(|event| event.name.as_str()).collect();
    only_group(&format!("{{{}}}:W", names.join(",")))
}

/// Returns a group of one event.
fn single(event: &EventUse) -> anyhow::Result<EventGroup> {
    only_group(&event.name)
}

fn only_group(list: &str) -> anyhow::Result<EventGroup> {
    let groups = event_list::parse_all(&[list.to_owned()])?;
    groups.into_iter().next().with_context(|| format!("'{list}' has no event"))
}

/// Returns a thread as `perf stat --per-thread` names it.
fn thread_name(outcome: &Outcome, core: usize) -> String {
    let header = &outcome.header;
    let file = || Path::new(&header.trace).file_stem().unwrap_or_default().to_string_lossy().into();
    let program: String = header.program.clone().unwrap_or_else(file);
    format!("{program}-{}", outcome.cores[core].stream)
}

impl Wanted {
    fn new(metric: &MetricFormula, catalog: &Catalog) -> anyhow::Result<Wanted> {
        let place = |error: String| anyhow::anyhow!("{}: {}: {error}", metric.source, metric.name);
        let formula = metric.formula.as_ref().map_err(|error| place(error.to_string()))?;
        let linked = Linked::named(&metric.name, formula, catalog)
            .map_err(|error| place(error.to_string()))?;
        mesh_names::check(linked.events().iter()).map_err(|error| place(error.to_string()))?;
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

    /// Returns the missing data of the trace that affects one of the events most.
    fn doubt(&self, outcome: &Outcome) -> Option<&'static str> {
        let events = self.linked.core_events().into_iter();
        let events: Vec<PmuEvent> = events.collect();
        let doubts =
            events.iter().filter_map(|event| caveats::doubt(*event, &outcome.header.lacks));
        let caveat = || events.iter().find_map(|event| outcome.header.mode.caveat(*event));
        doubts.min().map(MissingData::label).or_else(caveat)
    }

    /// Returns the events of the core that the value needs, on this machine.
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

/// The counts of some cores.
struct Counts<'a> {
    metrics: &'a Metrics,
    outcome: &'a Outcome,
    cores: &'a [usize],
    wanted: &'a Wanted,
}

impl Counts<'_> {
    fn value(&self, linked: &Linked, readings: &[Vec<Reading>]) -> f64 {
        let is_of_mesh = linked.is_of_mesh();
        let count = |event: &EventUse| match event.quantity {
            // As in the ground truth of the mesh: the time in which any core counts.
            Quantity::Time(Time::Duration) if is_of_mesh => {
                Some(self.outcome.mesh.cycles as f64 / self.metrics.mesh_hz)
            }
            _ => self.of(event, readings),
        };
        linked.evaluate(&self.metrics.machine, count).value
    }

    /// Returns the count of an event from the group of its metric, or a time in seconds.
    fn of(&self, event: &EventUse, readings: &[Vec<Reading>]) -> Option<f64> {
        if event.is_of_mesh() {
            return match mesh_names::value(&event.name, self.outcome, self.metrics.mesh_hz) {
                MeshCount::Value(value) => Some(value),
                MeshCount::Never(_) => Some(0.0),
                MeshCount::Unknown(_) => None,
            };
        }
        if let Quantity::Time(time) = event.quantity {
            let has_time = self.outcome.header.mode.gives(PmuEvent::CPU_CYCLES);
            return has_time.then(|| self.seconds(time));
        }
        let group = self.metrics.groups.get(self.wanted.group)?;
        let position = group.iter().find(|own| is_same(&own.event, event))?.at;
        let cores = self.cores.iter().filter_map(|core| readings.get(*core)?.get(position));
        let total = cores.copied().reduce(|sum, own| sum.plus(&own))?;
        total.scaled().map(|count| count as f64)
    }

    /// Returns a modeled time in seconds: of the core that ran longest, or of all in user mode or
    /// in the kernel.
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
