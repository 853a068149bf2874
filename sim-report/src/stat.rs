//! Selection of the counts that a `stat` report shows, each with its ratio: the step between a
//! finished run and its output formats.

use std::collections::BTreeSet;
use std::ops::Range;

use sim_core::pmu_event::Group;
use sim_core::{Counts, PmuEvent};
use sim_machine::{CoreOutcome, Mode, Outcome, RunHeader, caveats};
use sim_metrics::{Metric, Unit};
use sim_pmu::perf::{self, PerfEvent, Status};

/// Event as the user requested it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected<E = PmuEvent> {
    /// Name as typed, with its modifiers.
    pub name: String,
    /// Event and the levels at which it is counted.
    pub event: PerfEvent<E>,
}

/// Value of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Count, scaled up if the event was multiplexed.
    Count(u64),
    /// Time in nanoseconds, for a clock.
    Time(u64),
    /// The event was never on a counter.
    NotCounted,
    /// The event cannot be counted in this run.
    NotSupported,
}

/// Ratio after a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comment {
    /// Value.
    pub value: f64,
    /// Style of the value.
    pub style: Style,
    /// Label after the value.
    pub label: &'static str,
}

/// Style of the value of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Two decimals.
    Ratio,
    /// Two decimals and a percent sign.
    Percent,
    /// Three decimals.
    Frequency,
}

/// Count of one event.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// End of the interval in nanoseconds, in a report by intervals.
    pub time_ns: Option<u64>,
    /// Owner of the count, in a report with several owners.
    pub owner: Option<Owner>,
    /// Name of the event as printed.
    pub name: String,
    /// Count.
    pub reading: Reading,
    /// Modeled time during which the event was enabled, in nanoseconds.
    pub enabled_ns: u64,
    /// Modeled time during which the event was on a counter, in nanoseconds.
    pub running_ns: u64,
    /// Half of the 95 % confidence interval, in percent of the count, for an estimate from samples.
    pub variance: Option<f64>,
    /// Exact count, if requested.
    pub truth: Option<u64>,
    /// Ratio after the count.
    pub comment: Option<Comment>,
    /// Reason why the count is doubtful, in a word or two.
    pub doubt: Option<&'static str>,
    /// Simulated part of the machine.
    pub mode: Mode,
}

impl Row {
    /// Creates the row of a count with nothing beside it, and its exact count if there is one.
    /// `clock_hz` is the clock of the core.
    pub(crate) fn new(
        name: &str,
        reading: &perf::Reading,
        truth: Option<u64>,
        clock_hz: u64,
    ) -> Row {
        let shown = match (reading.status, reading.scaled()) {
            (Status::NotSupported, _) => Reading::NotSupported,
            (_, None) => Reading::NotCounted,
            (_, Some(count)) => Reading::Count(count),
        };
        Row {
            time_ns: None,
            owner: None,
            name: name.to_owned(),
            reading: shown,
            enabled_ns: nanoseconds(reading.enabled, clock_hz),
            running_ns: nanoseconds(reading.running, clock_hz),
            variance: None,
            truth: truth.filter(|_| shown != Reading::NotSupported),
            comment: None,
            doubt: None,
            mode: Mode::Full,
        }
    }

    /// Returns the share of the time for which the event was counted, in percent. Without any time
    /// it is 100, as in perf.
    pub fn percent_running(&self) -> f64 {
        match self.enabled_ns {
            enabled if self.running_ns == enabled => 100.0,
            enabled => 100.0 * self.running_ns as f64 / enabled as f64,
        }
    }

    /// Returns the error of the count, in percent of the exact count, or `None` without a count.
    pub fn percent_error(&self) -> Option<f64> {
        let Reading::Count(count) = self.reading else { return None };
        match self.truth? {
            0 => (count == 0).then_some(0.0),
            truth => Some(100.0 * (count as f64 - truth as f64) / truth as f64),
        }
    }
}

/// Creates the row of an event of the mesh, which counts for the whole machine and run. The count
/// is exact and, with `has_truth`, is beside itself as such.
pub fn mesh_row(name: &str, value: u64, has_truth: bool, outcome: &Outcome) -> Row {
    let cycles = outcome.elapsed_cycles();
    let reading = perf::Reading::exact(value, cycles);
    let truth = has_truth.then_some(value);
    Row { mode: outcome.header.mode, ..Row::new(name, &reading, truth, outcome.clock_hz) }
}

/// Thread, named `comm-tid` as in `perf stat --per-thread`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Name of the program.
    pub comm: String,
    /// Stream number of the thread in the trace.
    pub stream: u32,
}

/// Owner of counts that are listed separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Thread.
    Thread(Thread),
    /// CPU; the counts of all CPUs are listed together, event by event.
    Cpu(usize),
    /// Core, which is one CPU; all its events are listed together.
    Core(usize),
    /// Function of the program; all its events are listed together.
    Function(String),
}

impl Owner {
    /// Returns the threads of a run, as owners of the readings of its cores.
    pub fn threads(outcome: &Outcome) -> Vec<Owner> {
        let comm = comm(&outcome.header);
        let thread = |core: &CoreOutcome| Thread { comm: comm.clone(), stream: core.stream };
        outcome.cores.iter().map(|core| Owner::Thread(thread(core))).collect()
    }

    fn is_listed_together(&self) -> bool {
        matches!(self, Owner::Core(_) | Owner::Function(_))
    }
}

/// Rows under one heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Heading; absent for a chosen list of events.
    pub title: Option<String>,
    /// Rows.
    pub rows: Vec<Row>,
}

/// Content of a `stat` report.
#[derive(Clone, Debug, PartialEq)]
pub struct StatReport {
    /// Trace that was counted.
    pub target: String,
    /// Rows, by section.
    pub sections: Vec<Section>,
    /// Modeled time of the window in seconds, of the core that ran longest; absent if cycles are
    /// not counted.
    pub elapsed_seconds: Option<f64>,
    /// Number of rows of the whole table, if this report is its short form.
    pub short_of: Option<usize>,
}

/// Events of the short table: time, instructions, branches, misses from the core outwards, stalls.
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

/// Readings of the counters of a machine for a list of events.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// Events, in the order of printing.
    pub events: &'a [Selected],
    /// Reading of each event on each core.
    pub readings: &'a [Vec<perf::Reading>],
    /// Exact readings to print next to them.
    pub truth: Option<&'a [Vec<perf::Reading>]>,
}

/// Options of a report.
#[derive(Clone, Copy, Debug)]
pub struct StatOptions<'a> {
    /// Chosen events; by default the exact counts of all events, by chapters of the guide.
    pub counted: Option<Counted<'a>>,
    /// Owners of separate readings, one for each core of the readings; by default the sum of all is
    /// shown.
    pub owners: Option<&'a [Owner]>,
    /// Whether the revision counts one stalled slot too many in every cycle.
    pub has_stall_slot_erratum: bool,
    /// Error bound of the estimate of each event, by its number, in percent; infinite for an event
    /// that is not estimated and has no count.
    pub errors: Option<&'a [f64]>,
}

/// Takes away the counts of events that an estimate does not give, so that they are not counted.
pub fn take_unknown(readings: &mut [perf::Reading], events: &[Selected], errors: &[f64]) {
    for (reading, selected) in readings.iter_mut().zip(events) {
        if !errors[selected.event.event as usize].is_finite() {
            let status = Status::NotCounted;
            *reading = perf::Reading { value: 0, running: 0, status, ..*reading };
        }
    }
}

impl StatReport {
    /// Creates the report of an outcome.
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
        let cycles = outcome.elapsed_cycles();
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

    /// Returns the rows of the most important events, in one section. Events that are not supported
    /// are left out, and so are counts of 0 unless `zeros` is set.
    #[must_use]
    pub fn short(mut self, zeros: bool) -> StatReport {
        let whole: BTreeSet<&str> = self.rows().map(|row| row.name.as_str()).collect();
        let whole = whole.len();
        let is_shown = |row: &Row| match row.reading {
            Reading::NotSupported => false,
            Reading::Count(0) => zeros,
            _ => true,
        };
        let all: Vec<Row> = self.sections.drain(..).flat_map(|section| section.rows).collect();
        let of_event = |event: PmuEvent| {
            let name = event.perf_name();
            all.iter().filter(move |row| row.name == name && is_shown(row)).cloned()
        };
        let rows = SHORT.into_iter().flat_map(of_event).collect();
        self.sections = vec![Section { title: None, rows }];
        StatReport { short_of: Some(whole), ..self }
    }

    /// Sets the end of the interval in which the report was counted.
    #[must_use]
    pub fn at(mut self, time_ns: u64) -> StatReport {
        let rows = self.sections.iter_mut().flat_map(|section| &mut section.rows);
        rows.for_each(|row| row.time_ns = Some(time_ns));
        self
    }

    /// Returns all rows of all sections.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.sections.iter().flat_map(|section| &section.rows)
    }
}

/// Returns the rows of a range of events.
fn rows(columns: &[Column<'_>], events: Range<usize>) -> Vec<Row> {
    let mut owners = columns.iter().filter_map(|column| column.owner.as_ref());
    if owners.any(Owner::is_listed_together) {
        let of = |column| events.clone().map(move |i| Column::row(column, i));
        columns.iter().flat_map(of).collect()
    } else {
        let of = |i| columns.iter().map(move |column| column.row(i));
        events.flat_map(of).collect()
    }
}

/// Returns every event, chapter by chapter.
pub fn every_event() -> Vec<Selected> {
    all_events().0
}

/// Returns every event, by chapter and number, and the range of each chapter.
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

/// Returns the exact reading of each event, core by core.
pub fn exact(outcome: &Outcome, events: &[Selected]) -> Vec<Vec<perf::Reading>> {
    exact_by_core(outcome, events).collect()
}

/// Returns the exact readings, summed over all cores. The memory it needs depends on the events and
/// not on the number of cores.
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

/// Returns the exact reading of an event that occurred `value` times on a core with these counts.
/// The reading is not supported if the mode does not provide the event.
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

/// Readings of one owner, or their sum.
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
        let column = |owner, mut readings: Vec<perf::Reading>, truth| Column {
            owner,
            events: counted.events,
            readings: {
                if let Some(errors) = options.errors {
                    take_unknown(&mut readings, counted.events, errors);
                }
                readings
            },
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
        // A core that has ended has no further readings.
        let reading = self.readings.get(i).copied().unwrap_or_default();
        let row = Row::new(&self.events[i].name, &reading, self.truth_of(i), self.clock_hz);
        Row {
            owner: self.owner.clone(),
            variance: self.errors.map(|errors| errors[self.events[i].event.event as usize]),
            comment: self.comment(i),
            doubt: caveats::caveat(self.events[i].event.event, self.header),
            mode: self.header.mode,
            ..row
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
        // The divisor must have been counted too, at the same levels.
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

/// Returns the sum of the readings of all cores.
pub fn sum(cores: &[Vec<perf::Reading>]) -> Vec<perf::Reading> {
    cores.iter().cloned().reduce(plus).unwrap_or_default()
}

/// Returns the sum of the readings of two cores; a core that has ended may have none.
fn plus(sum: Vec<perf::Reading>, core: Vec<perf::Reading>) -> Vec<perf::Reading> {
    match sum.is_empty() {
        true => core,
        false if core.is_empty() => sum,
        false => sum.iter().zip(&core).map(|(a, b)| a.plus(b)).collect(),
    }
}

/// Converts cycles to nanoseconds, rounded down.
pub fn nanoseconds(cycles: u64, clock_hz: u64) -> u64 {
    let ns = u128::from(cycles) * 1_000_000_000 / u128::from(clock_hz.max(1));
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// Returns the name of the program that a run replayed.
pub fn comm(header: &RunHeader) -> String {
    header.program.clone().unwrap_or_else(|| program_name(&header.trace))
}

/// Returns the program name of a trace: `hash` for `traces/hash.n2t`.
pub fn program_name(trace: &str) -> String {
    let file = trace.rsplit('/').next().unwrap_or(trace);
    file.strip_suffix(".n2t").unwrap_or(file).to_owned()
}
