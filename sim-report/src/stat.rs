//! Which counts a `stat` report shows, with the ratio beside each: the step between a finished run
//! and the forms in which it is printed.

use std::collections::BTreeSet;
use std::ops::Range;

use sim_core::pmu_event::Group;
use sim_core::{Counts, PmuEvent};
use sim_machine::{CoreOutcome, Mode, Outcome, RunHeader, caveats};
use sim_metrics::{Metric, Unit};
use sim_pmu::perf::{self, PerfEvent, Status};

/// An event as the user asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The name as typed, with its modifiers.
    pub name: String,
    /// The event, and where it is counted.
    pub event: PerfEvent,
}

/// What stands in the place of the count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A count, scaled up if the event took turns.
    Count(u64),
    /// A time in nanoseconds, where a clock was asked for.
    Time(u64),
    /// The event was never on a counter.
    NotCounted,
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
    /// End of the interval in nanoseconds, in a report by intervals.
    pub time_ns: Option<u64>,
    /// Whose count it is, in a report that tells several apart.
    pub owner: Option<Owner>,
    /// Name of the event as printed.
    pub name: String,
    /// The count.
    pub reading: Reading,
    /// Modeled time during which it was to be counted, in nanoseconds.
    pub enabled_ns: u64,
    /// Modeled time during which it was on a counter.
    pub running_ns: u64,
    /// Half of the 95 % confidence interval in percent of the count, if it is an estimate from samples.
    pub variance: Option<f64>,
    /// What a counter of its own would have counted, if that was asked for.
    pub truth: Option<u64>,
    /// The ratio behind it.
    pub comment: Option<Comment>,
    /// Why the count cannot be trusted, in a word or two.
    pub doubt: Option<&'static str>,
    /// How much of the machine was simulated.
    pub mode: Mode,
}

impl Row {
    /// Part of the time for which the event was counted, in percent; all of it where there was none, as
    /// perf has it.
    pub fn percent_running(&self) -> f64 {
        match self.enabled_ns {
            enabled if self.running_ns == enabled => 100.0,
            enabled => 100.0 * self.running_ns as f64 / enabled as f64,
        }
    }

    /// How far the count is from the truth, in percent of the truth; none without a count.
    pub fn percent_error(&self) -> Option<f64> {
        let Reading::Count(count) = self.reading else { return None };
        match self.truth? {
            0 => (count == 0).then_some(0.0),
            truth => Some(100.0 * (count as f64 - truth as f64) / truth as f64),
        }
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

/// Whose counts stand apart from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A thread.
    Thread(Thread),
    /// A CPU; the counts of all CPUs stand together, event by event.
    Cpu(usize),
    /// A core, which is one CPU; all its events stand together.
    Core(usize),
    /// A function of the program; all its events stand together.
    Function(String),
}

impl Owner {
    /// The threads of a run, as owners of what its cores read.
    pub fn threads(outcome: &Outcome) -> Vec<Owner> {
        let comm = program_name(&outcome.header.trace);
        let thread = |core: &CoreOutcome| Thread { comm: comm.clone(), stream: core.stream };
        outcome.cores.iter().map(|core| Owner::Thread(thread(core))).collect()
    }

    fn stands_together(&self) -> bool {
        matches!(self, Owner::Core(_) | Owner::Function(_))
    }
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
    /// Modeled time of the window in seconds: that of the core that ran longest. None where no cycles are
    /// counted.
    pub elapsed_seconds: Option<f64>,
    /// Number of rows of the whole table, if only the most telling of them are here.
    pub short_of: Option<usize>,
}

/// The events of the short table: time, work, branches, misses from the core outwards, what was waited for.
const SHORT: [PmuEvent; 13] = [
    PmuEvent::CPU_CYCLES,
    PmuEvent::INST_RETIRED,
    PmuEvent::BR_RETIRED,
    PmuEvent::BR_MIS_PRED_RETIRED,
    PmuEvent::L1I_CACHE_REFILL,
    PmuEvent::L1D_CACHE_REFILL,
    PmuEvent::L2D_CACHE_REFILL,
    PmuEvent::LL_CACHE_MISS_RD,
    PmuEvent::DTLB_WALK,
    PmuEvent::ITLB_WALK,
    PmuEvent::STALL_FRONTEND,
    PmuEvent::STALL_BACKEND,
    PmuEvent::EXC_TAKEN,
];

/// What the counters of a machine said about a list of events.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// The events, in the order of printing.
    pub events: &'a [Selected],
    /// For each core the reading of each event.
    pub readings: &'a [Vec<perf::Reading>],
    /// The same of counters that nobody shared, to print beside them.
    pub truth: Option<&'a [Vec<perf::Reading>]>,
}

/// How a report is made from an outcome.
#[derive(Clone, Copy, Debug)]
pub struct StatOptions<'a> {
    /// The chosen events; without them the exact counts of all, by chapters of the guide.
    pub counted: Option<Counted<'a>>,
    /// Whose readings stand apart, one owner for each core of the readings; without them the sum of all
    /// is shown.
    pub owners: Option<&'a [Owner]>,
    /// The revision counts one stalled slot too many in every cycle.
    pub has_stall_slot_erratum: bool,
    /// For each event, by its number, how far the estimate may be from its count, in percent.
    pub errors: Option<&'a [f64]>,
}

impl StatReport {
    /// Collects the rows of an outcome.
    pub fn new(outcome: &Outcome, options: &StatOptions<'_>) -> StatReport {
        let sections = if let Some(counted) = &options.counted {
            let columns = Column::all(outcome, options, counted);
            vec![Section { title: None, rows: rows(&columns, 0..counted.events.len()) }]
        } else {
            let (events, chapters) = all_events();
            let readings = match options.owners {
                Some(_) => exact(outcome, &events),
                None => vec![exact_sum(outcome, &events)],
            };
            let counted = Counted { events: &events, readings: &readings, truth: None };
            let columns = Column::all(outcome, options, &counted);
            let section = |(group, range): (Group, Range<usize>)| {
                let title = format!("{} (PMU guide {})", group.title(), group.section());
                Section { title: Some(title), rows: rows(&columns, range) }
            };
            chapters.into_iter().map(section).collect()
        };
        let cycles = outcome.cores.iter().map(|core| core.counts.value(PmuEvent::CPU_CYCLES));
        let cycles = cycles.max().unwrap_or_default();
        StatReport {
            target: outcome.header.trace.clone(),
            sections,
            elapsed_seconds: outcome
                .header
                .mode
                .gives(PmuEvent::CPU_CYCLES)
                .then(|| cycles as f64 / outcome.clock_hz as f64),
            short_of: None,
        }
    }

    /// The rows of the events that matter most, in one section; without those that were not counted, and those that
    /// are 0 unless `zeros` are wanted too.
    #[must_use]
    pub fn short(mut self, zeros: bool) -> StatReport {
        let whole: BTreeSet<&str> = self.rows().map(|row| row.name.as_str()).collect();
        let whole = whole.len();
        let is_said = |row: &Row| match row.reading {
            Reading::NotSupported => false,
            Reading::Count(0) => zeros,
            _ => true,
        };
        let all: Vec<Row> = self.sections.drain(..).flat_map(|section| section.rows).collect();
        let of_event = |event: PmuEvent| {
            let name = event.perf_name();
            all.iter().filter(move |row| row.name == name && is_said(row)).cloned()
        };
        let rows = SHORT.into_iter().flat_map(of_event).collect();
        self.sections = vec![Section { title: None, rows }];
        StatReport { short_of: Some(whole), ..self }
    }

    /// The same, with the end of the interval in which it was counted.
    #[must_use]
    pub fn at(mut self, time_ns: u64) -> StatReport {
        let rows = self.sections.iter_mut().flat_map(|section| &mut section.rows);
        rows.for_each(|row| row.time_ns = Some(time_ns));
        self
    }

    /// All rows, whatever their heading.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.sections.iter().flat_map(|section| &section.rows)
    }
}

/// The rows of some of the events.
fn rows(columns: &[Column<'_>], events: Range<usize>) -> Vec<Row> {
    let mut owners = columns.iter().filter_map(|column| column.owner.as_ref());
    if owners.any(Owner::stands_together) {
        let of = |column| events.clone().map(move |i| Column::row(column, i));
        columns.iter().flat_map(of).collect()
    } else {
        let of = |i| columns.iter().map(move |column| column.row(i));
        events.flat_map(of).collect()
    }
}

/// Every event, chapter by chapter, for those who read all of them.
pub fn every_event() -> Vec<Selected> {
    all_events().0
}

/// Every event, chapter by chapter and by its number there, with the places of the chapters.
fn all_events() -> (Vec<Selected>, Vec<(Group, Range<usize>)>) {
    let (mut events, mut chapters) = (Vec::new(), Vec::new());
    for group in Group::ALL {
        let begin = events.len();
        let own = PmuEvent::ALL.into_iter().filter(|event| event.info().group == group);
        events.extend(
            own.map(|event| Selected { name: event.perf_name(), event: PerfEvent::new(event) }),
        );
        chapters.push((group, begin..events.len()));
    }
    (events, chapters)
}

/// What counters of their own read for each event, core by core.
pub fn exact(outcome: &Outcome, events: &[Selected]) -> Vec<Vec<perf::Reading>> {
    exact_by_core(outcome, events).collect()
}

/// The same, all cores together: memory follows the events, however many cores there are.
pub fn exact_sum(outcome: &Outcome, events: &[Selected]) -> Vec<perf::Reading> {
    exact_by_core(outcome, events).reduce(plus).unwrap_or_default()
}

fn exact_by_core(
    outcome: &Outcome,
    events: &[Selected],
) -> impl Iterator<Item = Vec<perf::Reading>> {
    outcome.cores.iter().map(|core| {
        let counts = core.counts.unpack();
        let value = |event| reading(outcome.header.mode, &counts, event, counts.value(event));
        events.iter().map(|selected| value(selected.event.event)).collect()
    })
}

/// What a counter of its own reads for an event that came so often on a core with these counts; nothing if the mode
/// does not give it.
pub fn reading(mode: Mode, counts: &Counts, event: PmuEvent, value: u64) -> perf::Reading {
    if !mode.gives(event) {
        return perf::Reading { status: Status::NotSupported, ..perf::Reading::default() };
    }
    let cycles = match mode.gives(PmuEvent::CPU_CYCLES) {
        true => counts.value(PmuEvent::CPU_CYCLES),
        false => 0,
    };
    perf::Reading::exact(value, cycles)
}

/// The readings of one owner, or of all together.
struct Column<'a> {
    owner: Option<Owner>,
    events: &'a [Selected],
    readings: Vec<perf::Reading>,
    truth: Option<Vec<perf::Reading>>,
    clock_hz: u64,
    has_stall_slot_erratum: bool,
    errors: Option<&'a [f64]>,
    header: &'a RunHeader,
}

impl<'a> Column<'a> {
    fn all(
        outcome: &'a Outcome,
        options: &StatOptions<'a>,
        counted: &Counted<'a>,
    ) -> Vec<Column<'a>> {
        let column = |owner, readings, truth| Column {
            owner,
            events: counted.events,
            readings,
            truth,
            clock_hz: outcome.clock_hz,
            has_stall_slot_erratum: options.has_stall_slot_erratum,
            errors: options.errors,
            header: &outcome.header,
        };
        let Some(owners) = options.owners else {
            return vec![column(None, sum(counted.readings), counted.truth.map(sum))];
        };
        let of_owner = |(i, owner): (usize, &Owner)| {
            let truth = counted.truth.map(|truth| truth[i].clone());
            let readings = counted.readings.get(i).cloned().unwrap_or_default();
            column(Some(owner.clone()), readings, truth)
        };
        owners.iter().enumerate().map(of_owner).collect()
    }

    fn row(&self, i: usize) -> Row {
        // A core that has ended reads nothing more.
        let reading = self.readings.get(i).copied().unwrap_or_default();
        let shown = match (reading.status, reading.scaled()) {
            (Status::NotSupported, _) => Reading::NotSupported,
            (_, None) => Reading::NotCounted,
            (_, Some(count)) => Reading::Count(count),
        };
        Row {
            time_ns: None,
            owner: self.owner.clone(),
            name: self.events[i].name.clone(),
            reading: shown,
            enabled_ns: nanoseconds(reading.enabled, self.clock_hz),
            running_ns: nanoseconds(reading.running, self.clock_hz),
            variance: self.errors.map(|errors| errors[self.events[i].event.event as usize]),
            truth: self.truth_of(i).filter(|_| shown != Reading::NotSupported),
            comment: self.comment(i),
            doubt: caveats::caveat(self.events[i].event.event, self.header),
            mode: self.header.mode,
        }
    }

    fn truth_of(&self, i: usize) -> Option<u64> {
        self.truth.as_ref()?[i].scaled()
    }

    fn comment(&self, i: usize) -> Option<Comment> {
        let PerfEvent { event, levels, .. } = self.events[i].event;
        let reading = self.readings.get(i)?;
        reading.scaled()?;
        if event == PmuEvent::CPU_CYCLES && reading.running > 0 {
            let value = self.clock_hz as f64 / 1e9;
            return Some(Comment { value, style: Style::Frequency, label: "GHz" });
        }
        let metric = Metric::beside(event)?;
        // What is divided by must have been counted too, and at the same levels.
        let is_it =
            |other: &Selected, event| other.event == PerfEvent { levels, ..PerfEvent::new(event) };
        let count = |event| {
            let at = self.events.iter().position(|other| is_it(other, event))?;
            self.readings[at].scaled()
        };
        let value = metric.value(count, self.has_stall_slot_erratum)?;
        let style = match metric.unit {
            Unit::Percent => Style::Percent,
            Unit::Ratio => Style::Ratio,
        };
        Some(Comment { value, style, label: metric.label })
    }
}

/// The readings of all cores together.
pub fn sum(cores: &[Vec<perf::Reading>]) -> Vec<perf::Reading> {
    cores.iter().cloned().reduce(plus).unwrap_or_default()
}

/// The readings of two cores together; one that has ended may have none.
fn plus(sum: Vec<perf::Reading>, core: Vec<perf::Reading>) -> Vec<perf::Reading> {
    match sum.is_empty() {
        true => core,
        false if core.is_empty() => sum,
        false => sum.iter().zip(&core).map(|(a, b)| a.plus(b)).collect(),
    }
}

/// Cycles as nanoseconds, rounded down.
pub fn nanoseconds(cycles: u64, clock_hz: u64) -> u64 {
    let ns = u128::from(cycles) * 1_000_000_000 / u128::from(clock_hz.max(1));
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// `traces/hash.n2t` is the program `hash`.
pub fn program_name(trace: &str) -> String {
    let file = trace.rsplit('/').next().unwrap_or(trace);
    file.strip_suffix(".n2t").unwrap_or(file).to_owned()
}
