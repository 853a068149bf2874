//! Which counts a `stat` report shows, with the ratio beside each: the step between a finished run
//! and the forms in which it is printed.

use sim_core::pmu_event::Group;
use sim_core::{Counts, PmuEvent};
use sim_machine::{CoreOutcome, Outcome};
use sim_metrics::{Metric, Unit};

/// An event as the user asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The name as typed, with its modifiers.
    pub name: String,
    /// The event.
    pub event: PmuEvent,
    /// False where the modifiers ask for the kernel alone, which no user-mode trace contains.
    pub counts_user: bool,
}

/// What stands in the place of the count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A count.
    Count(u64),
    /// The event never had a counter.
    NotCounted,
    /// The event cannot be counted in this run.
    NotSupported,
}

/// What was read of one event: its count and the modeled time behind it, as a read of a perf event
/// gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The count, scaled where it had a counter for a part of the time.
    pub value: Value,
    /// Nanoseconds during which it should have been counted.
    pub enabled_ns: u64,
    /// Nanoseconds during which it had a counter.
    pub running_ns: u64,
}

impl Reading {
    /// A count of the whole time.
    pub fn whole(count: u64, ns: u64) -> Reading {
        Reading { value: Value::Count(count), enabled_ns: ns, running_ns: ns }
    }

    /// What a counter held that was lent to the event for a part of the time, scaled as perf scales it.
    pub fn scaled(raw: u64, enabled_ns: u64, running_ns: u64) -> Reading {
        let value = match running_ns {
            0 => Value::NotCounted,
            _ if running_ns == enabled_ns => Value::Count(raw),
            _ => Value::Count((raw as f64 * enabled_ns as f64 / running_ns as f64) as u64),
        };
        Reading { value, enabled_ns, running_ns }
    }

    /// Nothing in this run can count it.
    pub fn not_supported() -> Reading {
        Reading { value: Value::NotSupported, enabled_ns: 0, running_ns: 0 }
    }

    /// Both together, as perf adds up threads: what was not counted adds nothing.
    #[must_use]
    pub fn plus(self, other: Reading) -> Reading {
        let value = match (self.value, other.value) {
            (Value::Count(one), Value::Count(two)) => Value::Count(one.saturating_add(two)),
            (Value::Count(count), _) | (_, Value::Count(count)) => Value::Count(count),
            (Value::NotCounted, _) | (_, Value::NotCounted) => Value::NotCounted,
            _ => Value::NotSupported,
        };
        Reading {
            value,
            enabled_ns: self.enabled_ns.saturating_add(other.enabled_ns),
            running_ns: self.running_ns.saturating_add(other.running_ns),
        }
    }

    /// The count, if there is one.
    pub fn count(self) -> Option<u64> {
        match self.value {
            Value::Count(count) => Some(count),
            Value::NotCounted | Value::NotSupported => None,
        }
    }
}

/// The ratio behind a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comment {
    /// The number.
    pub value: f64,
    /// How it is written.
    pub style: Style,
    /// The words behind it.
    pub label: &'static str,
}

/// How the number of a comment is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Two decimals.
    Ratio,
    /// Two decimals and a percent sign.
    Percent,
    /// Three decimals.
    Frequency,
}

/// One count.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// End of the interval in nanoseconds, in a report by intervals.
    pub time_ns: Option<u64>,
    /// Whose count it is, in a report that tells several apart.
    pub owner: Option<Owner>,
    /// Name of the event as printed.
    pub name: String,
    /// The count.
    pub reading: Reading,
    /// The ratio behind it.
    pub comment: Option<Comment>,
}

/// Whose counts stand apart from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A thread, in a report by thread.
    Thread(Thread),
    /// A CPU, each event by CPU.
    Cpu(usize),
    /// A core of one CPU, all events of a core together.
    Core(usize),
    /// A function of the program.
    Function(String),
}

impl Owner {
    /// All its events stand together; otherwise an event's counts of all owners do.
    fn stands_together(&self) -> bool {
        matches!(self, Owner::Core(_) | Owner::Function(_))
    }
}

/// A thread as `perf stat --per-thread` names it: `comm-tid`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Name of the program.
    pub comm: String,
    /// Stream number of the thread in the trace.
    pub stream: u32,
}

/// What was read for one owner, or for all together.
#[derive(Clone, Debug)]
pub struct Column {
    /// Whose it is.
    pub owner: Option<Owner>,
    /// One reading for each selected event, in their order.
    pub readings: Vec<Reading>,
    /// Exact counts of all events, for the ratios; without them a ratio needs both events among the
    /// selected ones.
    pub counts: Option<Counts>,
}

/// Rows under one heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// The heading; a chosen list of events has none.
    pub title: Option<String>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// Everything that a `stat` report prints.
#[derive(Clone, Debug, PartialEq)]
pub struct StatReport {
    /// What was counted.
    pub target: String,
    /// The rows.
    pub sections: Vec<Section>,
    /// Modeled time of the window in seconds: that of the core that ran longest.
    pub elapsed_seconds: f64,
}

/// How a report is made from an outcome.
#[derive(Clone, Copy, Debug)]
pub struct StatOptions<'a> {
    /// The events to print, in this order; empty: all of them, by chapters of the guide.
    pub selected: &'a [Selected],
    /// One row per thread instead of one for all.
    pub per_thread: bool,
    /// The revision counts one stalled slot too many in every cycle.
    pub has_stall_slot_erratum: bool,
}

impl StatReport {
    /// The exact counts of an outcome.
    pub fn new(outcome: &Outcome, options: &StatOptions<'_>) -> StatReport {
        let all = events_or_all(options.selected);
        let column = |owner, counts: Counts| Column::exact(owner, counts, &all, outcome.clock_hz);
        let columns = if options.per_thread {
            let core = |core: &CoreOutcome| {
                let owner = Owner::Thread(thread_of(outcome, core));
                column(Some(owner), core.counts.clone())
            };
            outcome.cores.iter().map(core).collect()
        } else {
            vec![column(None, outcome.total())]
        };
        let cycles = outcome.cores.iter().map(cycles_of).max().unwrap_or_default();
        let elapsed_ns = nanoseconds(cycles, outcome.clock_hz);
        StatReport::measured(outcome, options, &columns, elapsed_ns)
    }

    /// What counters gave: each column has one reading for each event of `options.selected`, or for
    /// each of [`events_or_all`] where nothing is selected.
    pub fn measured(
        outcome: &Outcome,
        options: &StatOptions<'_>,
        columns: &[Column],
        elapsed_ns: u64,
    ) -> StatReport {
        let rows = Rows { outcome, options, columns, time_ns: None };
        StatReport {
            target: outcome.header.trace.clone(),
            sections: rows.sections(),
            elapsed_seconds: elapsed_ns as f64 / 1e9,
        }
    }

    /// All rows, whatever their heading.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.sections.iter().flat_map(|section| &section.rows)
    }
}

/// The selected events; all of them, by chapters of the guide, where nothing is selected.
pub fn events_or_all(selected: &[Selected]) -> Vec<Selected> {
    if selected.is_empty() {
        Group::ALL.into_iter().flat_map(events_of).collect()
    } else {
        selected.to_vec()
    }
}

/// The events of one chapter, by their numbers.
fn events_of(group: Group) -> Vec<Selected> {
    PmuEvent::ALL
        .into_iter()
        .filter(|event| event.info().group == group)
        .map(|event| Selected { name: event.perf_name(), event, counts_user: true })
        .collect()
}

fn cycles_of(core: &CoreOutcome) -> u64 {
    core.counts.value(PmuEvent::CPU_CYCLES)
}

/// The name of a core's thread.
pub fn thread_of(outcome: &Outcome, core: &CoreOutcome) -> Thread {
    Thread { comm: program_name(&outcome.header.trace), stream: core.stream }
}

impl Column {
    /// Exact counts: every event had a counter all the time.
    pub fn exact(
        owner: Option<Owner>,
        counts: Counts,
        events: &[Selected],
        clock_hz: u64,
    ) -> Column {
        let ns = nanoseconds(counts.value(PmuEvent::CPU_CYCLES), clock_hz);
        let reading = |selected: &Selected| match selected.counts_user {
            true => Reading::whole(counts.value(selected.event), ns),
            false => Reading::not_supported(),
        };
        let readings = events.iter().map(reading).collect();
        Column { owner, readings, counts: Some(counts) }
    }
}

/// Makes the rows of one report, or of one interval.
struct Rows<'a> {
    outcome: &'a Outcome,
    options: &'a StatOptions<'a>,
    columns: &'a [Column],
    time_ns: Option<u64>,
}

impl Rows<'_> {
    fn sections(&self) -> Vec<Section> {
        let selected = self.options.selected;
        if !selected.is_empty() {
            return vec![Section { title: None, rows: self.rows(selected, selected, 0) }];
        }
        let all = events_or_all(selected);
        let mut from = 0;
        let chapter = |group: Group| {
            let title = format!("{} (PMU guide {})", group.title(), group.section());
            let events = events_of(group);
            let rows = self.rows(&events, &all, from);
            from += events.len();
            Section { title: Some(title), rows }
        };
        Group::ALL.into_iter().map(chapter).collect()
    }

    /// The rows of `events`, which stand in `all` from `from` on.
    fn rows(&self, events: &[Selected], all: &[Selected], from: usize) -> Vec<Row> {
        let by_owner =
            self.columns.iter().any(|c| c.owner.as_ref().is_some_and(Owner::stands_together));
        let row = |(at, column): (usize, &Column)| self.row(all, from + at, column);
        if by_owner {
            let of = |column| (0..events.len()).map(move |at| (at, column));
            self.columns.iter().flat_map(of).map(row).collect()
        } else {
            let of = |at| self.columns.iter().map(move |column| (at, column));
            (0..events.len()).flat_map(of).map(row).collect()
        }
    }

    fn row(&self, all: &[Selected], at: usize, column: &Column) -> Row {
        let reading = column.readings.get(at).copied().unwrap_or(Reading::not_supported());
        let comment = match reading.value {
            Value::Count(_) => self.comment(all, at, column, reading),
            Value::NotCounted | Value::NotSupported => None,
        };
        let (time_ns, owner) = (self.time_ns, column.owner.clone());
        Row { time_ns, owner, name: all[at].name.clone(), reading, comment }
    }

    fn comment(
        &self,
        all: &[Selected],
        at: usize,
        column: &Column,
        reading: Reading,
    ) -> Option<Comment> {
        let event = all[at].event;
        if event == PmuEvent::CPU_CYCLES && reading.running_ns > 0 {
            let value = self.outcome.clock_hz as f64 / 1e9;
            return Some(Comment { value, style: Style::Frequency, label: "GHz" });
        }
        let metric = Metric::beside(event)?;
        let count = |event| match &column.counts {
            Some(counts) => Some(counts.value(event)),
            None => all
                .iter()
                .zip(&column.readings)
                .find(|(selected, _)| selected.event == event && selected.counts_user)
                .and_then(|(_, reading)| reading.count()),
        };
        let value = metric.value(count, self.options.has_stall_slot_erratum)?;
        let style = match metric.unit {
            Unit::Percent => Style::Percent,
            Unit::Ratio => Style::Ratio,
        };
        Some(Comment { value, style, label: metric.label })
    }
}

/// Cycles as nanoseconds, rounded down.
pub fn nanoseconds(cycles: u64, clock_hz: u64) -> u64 {
    let ns = u128::from(cycles) * 1_000_000_000 / u128::from(clock_hz.max(1));
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// `traces/hash.n2t` is the program `hash`.
fn program_name(trace: &str) -> String {
    let file = trace.rsplit('/').next().unwrap_or(trace);
    file.strip_suffix(".n2t").unwrap_or(file).to_owned()
}
