//! Counts as Linux perf gives them on this core: of chosen levels, in intervals, and with the six
//! counters that groups of events share.
//!
//! An event counts with the counters that were on when its instruction issued.

use sim_core::Privilege;
use sim_pmu::perf::{Group, Levels as Counted, PerfEvent, PerfSession, PerfSetup, Reading};
use sim_trace::TraceFile;

use crate::cluster::{A53Config, A53CoreOutcome, A53Error, run_with};
use crate::event::{A53Condition, A53Counts, A53Event, A53Note, A53Sink};
use crate::levels::Levels;
use crate::part::Part;

/// Number of exception levels.
const LEVELS: usize = 4;

/// Counts that software requests on each core.
#[derive(Clone, Copy)]
pub struct PerfRequest<'a> {
    /// Groups of events.
    pub groups: &'a [Group<A53Event>],
    /// Cycles between two rotations of the six counters; without it, each event has a counter.
    pub rotation: Option<u64>,
    /// Returns the counted cycles from the begin to the end of an interval, by its number from 1.
    pub end: &'a dyn Fn(u64) -> u64,
}

/// Counts of one core.
#[derive(Clone, Debug)]
pub struct PerfCore {
    /// The run.
    pub outcome: A53CoreOutcome,
    /// Exact reading of each event, in the order of the groups.
    pub exact: Vec<Reading>,
    /// Reading of each event by the counters.
    pub readings: Vec<Reading>,
    /// Time slices that ended.
    pub rotations: u64,
    /// Readings at the end of each interval that has ended, each since the begin.
    pub intervals: Vec<Vec<Reading>>,
    /// Counted cycles.
    pub cycles: u64,
}

/// Runs a part of a trace as [`run_part`](crate::run_part) does, and counts for perf.
///
/// # Errors
/// Those of [`run_part`](crate::run_part).
pub fn run_for_perf(
    trace: &TraceFile,
    config: &A53Config,
    part: &Part,
    request: &PerfRequest<'_>,
) -> Result<Vec<PerfCore>, A53Error> {
    let sink = |_| PerfSink::new(request, part.is_from_begin());
    let cores = run_with(trace, config, part, sink, |_, _| Ok::<(), A53Error>(()))?;
    Ok(cores.into_iter().map(|(outcome, sink)| sink.finish(outcome)).collect())
}

/// Counters of one core.
struct PerfSink<'a> {
    request: &'a PerfRequest<'a>,
    events: Vec<PerfEvent<A53Event>>,
    turns: Option<PerfSession<A53Event>>,
    totals: A53Counts,
    is_counted: bool,
    /// Counts of each exception level.
    counted: [A53Counts; LEVELS],
    levels: Levels,
    level: usize,
    /// Cycle up to which time has passed.
    clock: u64,
    /// Counted cycles.
    cycles: u64,
    /// Counted cycles at the end of the interval in progress.
    end: u64,
    intervals: Vec<Vec<Reading>>,
}

impl<'a> PerfSink<'a> {
    fn new(request: &'a PerfRequest<'a>, is_counted: bool) -> PerfSink<'a> {
        let turns = request.rotation.map(|cycles| {
            let mut turns = PerfSession::new(PerfSetup::new(request.groups), cycles);
            turns.set_counted(is_counted);
            turns
        });
        PerfSink {
            request,
            events: request.groups.iter().flat_map(|group| group.events.clone()).collect(),
            turns,
            totals: A53Counts::default(),
            is_counted,
            counted: Default::default(),
            levels: Levels::default(),
            level: 0,
            clock: 0,
            cycles: 0,
            end: (request.end)(1).max(1),
            intervals: Vec::new(),
        }
    }

    #[inline]
    fn count(&mut self, event: A53Event, cycle: u64, times: u64) {
        if self.is_counted {
            self.counted[self.level].raise(event, cycle, times);
            if let Some(turns) = &mut self.turns {
                turns.add(event, times);
            }
        }
    }

    /// Lets time pass up to `cycle`.
    #[inline]
    fn settle(&mut self, cycle: u64) {
        let mut cycles = cycle.saturating_sub(self.clock);
        self.clock += cycles;
        if !self.is_counted {
            return;
        }
        while self.cycles + cycles >= self.end {
            let step = self.end - self.cycles;
            self.pass(step);
            cycles -= step;
            self.end_interval();
        }
        self.pass(cycles);
    }

    #[inline]
    fn pass(&mut self, cycles: u64) {
        self.cycles += cycles;
        self.count(A53Event::BUS_CYCLES, self.clock, cycles);
        self.count(A53Event::CPU_CYCLES, self.clock, cycles);
    }

    #[cold]
    fn end_interval(&mut self) {
        let read = self.readings();
        self.intervals.push(read);
        self.end = (self.request.end)(self.intervals.len() as u64 + 1).max(self.cycles + 1);
    }

    /// Returns the readings of the counters so far.
    fn readings(&mut self) -> Vec<Reading> {
        match &mut self.turns {
            Some(turns) => turns.readings(),
            None => self.exact(),
        }
    }

    fn exact(&self) -> Vec<Reading> {
        let reading = |event: &PerfEvent<A53Event>| Reading::exact(self.value(event), self.cycles);
        self.events.iter().map(reading).collect()
    }

    /// Returns the occurrences of an event at its levels. A kernel at EL2 is the hypervisor.
    fn value(&self, request: &PerfEvent<A53Event>) -> u64 {
        let Counted { user, kernel, hypervisor } = request.levels;
        let value = |level: usize| self.counted[level].value(request.event);
        let has_el1 = self.counted[1].value(A53Event::CPU_CYCLES) > 0;
        let counts_el2 = if has_el1 { hypervisor } else { kernel };
        [user, kernel, counts_el2, user && kernel && hypervisor]
            .into_iter()
            .enumerate()
            .map(|(level, is_counted)| if is_counted { value(level) } else { 0 })
            .sum()
    }

    fn change_level(&mut self, to: Privilege) {
        self.level = usize::from(to.level).min(LEVELS - 1);
        if let Some(turns) = &mut self.turns {
            turns.set_privilege(to);
        }
    }

    fn finish(mut self, outcome: A53CoreOutcome) -> PerfCore {
        PerfCore {
            outcome,
            exact: self.exact(),
            readings: self.readings(),
            rotations: self.turns.as_ref().map_or(0, PerfSession::rotations),
            intervals: self.intervals,
            cycles: self.cycles,
        }
    }
}

impl AsRef<A53Counts> for PerfSink<'_> {
    fn as_ref(&self) -> &A53Counts {
        &self.totals
    }
}

impl A53Sink for PerfSink<'_> {
    #[inline]
    fn raise(&mut self, event: A53Event, cycle: u64, times: u64) {
        self.totals.raise(event, cycle, times);
        match event {
            // The end of the run gives all cycles at once.
            A53Event::CPU_CYCLES => self.settle(times),
            A53Event::BUS_CYCLES => {}
            _ => self.count(event, cycle, times),
        }
    }

    fn signal(&mut self, condition: A53Condition, cycle: u64, times: u64) {
        // No counter can count it.
        self.totals.signal(condition, cycle, times);
    }

    #[inline]
    fn begin(&mut self, _: u32, cycle: u64) {
        self.settle(cycle);
    }

    fn counting(&mut self, is_counted: bool, cycle: u64) {
        self.settle(cycle);
        self.is_counted = is_counted;
        if let Some(turns) = &mut self.turns {
            turns.set_counted(is_counted);
        }
    }

    fn note(&mut self, note: A53Note, cycle: u64) {
        self.settle(cycle);
        match note {
            A53Note::Begin { pc } => self.levels.begin(pc),
            A53Note::Enter(to) => self.levels.enter(to),
            A53Note::Return { next } => self.levels.leave(next),
            // The counters are those of the system's perf, which the program does not use.
            A53Note::Register(_) => return,
        }
        self.change_level(self.levels.now());
    }
}
