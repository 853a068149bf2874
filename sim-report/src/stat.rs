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
pub enum Reading {
    /// A count.
    Count(u64),
    /// The event cannot be counted in this run.
    NotSupported,
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
    /// The thread, in a report by thread.
    pub thread: Option<Thread>,
    /// Name of the event as printed.
    pub name: String,
    /// The count.
    pub reading: Reading,
    /// Modeled time during which it was counted, in nanoseconds.
    pub running_ns: u64,
    /// The ratio behind it.
    pub comment: Option<Comment>,
}

/// A thread as `perf stat --per-thread` names it: `comm-tid`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Name of the program.
    pub comm: String,
    /// Stream number of the thread in the trace.
    pub stream: u32,
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
    /// Collects the rows of an outcome.
    pub fn new(outcome: &Outcome, options: &StatOptions<'_>) -> StatReport {
        let columns = Column::all(outcome, options);
        let section = |title: Option<String>, events: &[Selected]| Section {
            title,
            rows: events
                .iter()
                .flat_map(|selected| columns.iter().map(move |column| column.row(selected)))
                .collect(),
        };
        let sections = if options.selected.is_empty() {
            let chapter = |group: Group| {
                let title = format!("{} (PMU guide {})", group.title(), group.section());
                section(Some(title), &events_of(group))
            };
            Group::ALL.into_iter().map(chapter).collect()
        } else {
            vec![section(None, options.selected)]
        };
        let cycles = outcome.cores.iter().map(cycles_of).max().unwrap_or_default();
        StatReport {
            target: outcome.header.trace.clone(),
            sections,
            elapsed_seconds: cycles as f64 / outcome.clock_hz as f64,
        }
    }

    /// All rows, whatever their heading.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.sections.iter().flat_map(|section| &section.rows)
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

/// The counts of one thread, or of all together.
struct Column {
    thread: Option<Thread>,
    counts: Counts,
    running_ns: u64,
    clock_hz: u64,
    has_stall_slot_erratum: bool,
}

impl Column {
    fn all(outcome: &Outcome, options: &StatOptions<'_>) -> Vec<Column> {
        let column = |thread, counts: Counts| Column {
            thread,
            running_ns: nanoseconds(counts.value(PmuEvent::CPU_CYCLES), outcome.clock_hz),
            counts,
            clock_hz: outcome.clock_hz,
            has_stall_slot_erratum: options.has_stall_slot_erratum,
        };
        if !options.per_thread {
            return vec![column(None, outcome.total())];
        }
        let comm = program_name(&outcome.header.trace);
        let thread = |core: &CoreOutcome| Thread { comm: comm.clone(), stream: core.stream };
        outcome.cores.iter().map(|core| column(Some(thread(core)), core.counts.clone())).collect()
    }

    fn row(&self, selected: &Selected) -> Row {
        let (reading, running_ns, comment) = if selected.counts_user {
            let count = self.counts.value(selected.event);
            (Reading::Count(count), self.running_ns, self.comment(selected.event))
        } else {
            (Reading::NotSupported, 0, None)
        };
        let name = selected.name.clone();
        Row { thread: self.thread.clone(), name, reading, running_ns, comment }
    }

    fn comment(&self, event: PmuEvent) -> Option<Comment> {
        if event == PmuEvent::CPU_CYCLES && self.running_ns > 0 {
            let value = self.clock_hz as f64 / 1e9;
            return Some(Comment { value, style: Style::Frequency, label: "GHz" });
        }
        let metric = Metric::beside(event)?;
        let count = |event| Some(self.counts.value(event));
        let value = metric.value(count, self.has_stall_slot_erratum)?;
        let style = match metric.unit {
            Unit::Percent => Style::Percent,
            Unit::Ratio => Style::Ratio,
        };
        Some(Comment { value, style, label: metric.label })
    }
}

/// Cycles as nanoseconds, rounded down.
fn nanoseconds(cycles: u64, clock_hz: u64) -> u64 {
    let ns = u128::from(cycles) * 1_000_000_000 / u128::from(clock_hz.max(1));
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// `traces/hash.n2t` is the program `hash`.
fn program_name(trace: &str) -> String {
    let file = trace.rsplit('/').next().unwrap_or(trace);
    file.strip_suffix(".n2t").unwrap_or(file).to_owned()
}
