//! Counts as Linux perf gives them on this core: of chosen levels, in intervals, and with the six
//! counters that groups of events share.
//!
//! An event counts with the counters that were on when the instruction before its own issued: a
//! wait belongs to the time slice and to the interval in which it began.

use sim_core::Privilege;
use sim_pmu::counter::CounterCount;
use sim_pmu::perf::{self, Group, PerfEvent, PerfSession, PerfSetup, Reading};
use sim_trace::TraceFile;

use crate::cluster::{A53Config, A53CoreOutcome, A53Error, run_with};
use crate::event::{A53Condition, A53Counts, A53Event, A53Note, A53Sink};
use crate::levels::Levels;
use crate::part::Part;

/// Level of the program, as perf's modifiers divide them.
#[derive(Clone, Copy, Debug)]
enum Class {
    /// EL0.
    User,
    /// EL1, and EL2 with a kernel that hosts applications.
    Kernel,
    /// EL2 without.
    Hypervisor,
    /// Secure state and EL3, where Linux lets no counter count.
    Secure,
}

/// Number of classes.
const CLASSES: usize = 4;

impl From<Privilege> for Class {
    fn from(privilege: Privilege) -> Class {
        match privilege.level {
            _ if privilege.secure => Class::Secure,
            0 => Class::User,
            3 => Class::Secure,
            2 if !privilege.e2h => Class::Hypervisor,
            _ => Class::Kernel,
        }
    }
}

/// Counts that software requests on each core.
#[derive(Clone, Copy)]
pub struct PerfRequest<'a> {
    /// Groups of events.
    pub groups: &'a [Group<A53Event>],
    /// Event counters of the machine.
    pub counters: CounterCount,
    /// Cycles between two rotations of the counters; without it, each event has a counter.
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
    /// Counts of each class of levels.
    counted: [A53Counts; CLASSES],
    levels: Levels,
    class: Class,
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
            let mut turns =
                PerfSession::new(PerfSetup::new(request.groups, request.counters), cycles);
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
            class: Class::User,
            clock: 0,
            cycles: 0,
            end: (request.end)(1).max(1),
            intervals: Vec::new(),
        }
    }

    #[inline]
    fn count(&mut self, event: A53Event, cycle: u64, times: u64) {
        if self.is_counted {
            self.counted[self.class as usize].raise(event, cycle, times);
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

    /// Counts cycles, slice by slice: both clocks count with the same counters.
    fn pass(&mut self, mut cycles: u64) {
        while cycles > 0 {
            let slice = self.turns.as_ref().map_or(cycles, PerfSession::until_tick);
            let step = cycles.min(slice);
            self.cycles += step;
            self.count(A53Event::BUS_CYCLES, self.clock, step);
            self.count(A53Event::CPU_CYCLES, self.clock, step);
            cycles -= step;
        }
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

    /// Returns the occurrences of an event at its levels. Without a modifier they are those of the
    /// whole run.
    fn value(&self, request: &PerfEvent<A53Event>) -> u64 {
        let levels = request.levels;
        [levels.user, levels.kernel, levels.hypervisor, levels == perf::Levels::ALL]
            .into_iter()
            .zip(&self.counted)
            .map(|(is_counted, own)| if is_counted { own.value(request.event) } else { 0 })
            .sum()
    }

    fn change_level(&mut self, to: Privilege) {
        self.class = to.into();
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
        // The counters are those of the system's perf, whose registers the program does not use.
        if let Some(level) = self.levels.follow(note) {
            self.change_level(level);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Given a program that enters each level, when an event occurs three times at EL0, and twice
    /// as often at each further level, then each class of levels has its own, on counters and in
    /// exact counts, before and after the first step at EL1. None has EL3.
    #[test]
    fn classes_of_levels_are_those_of_the_counters() {
        let levels = |user, kernel, hypervisor| perf::Levels { user, kernel, hypervisor };
        let request = |levels| PerfEvent { levels, ..PerfEvent::new(A53Event::L1D_CACHE) };
        let [user, kernel] = [levels(true, false, false), levels(false, true, false)];
        let events = [user, kernel, levels(false, false, true)].map(request).to_vec();
        let groups = [Group { events, ..Group::default() }];
        let end = |_| u64::MAX;
        let counters = CounterCount::default();
        let request = PerfRequest { groups: &groups, counters, rotation: Some(1000), end: &end };
        let mut sink = PerfSink::new(&request, true);
        let values = |sink: &mut PerfSink<'_>| {
            let exact = sink.exact();
            assert_eq!(exact, sink.readings());
            exact.iter().map(|reading| reading.value).collect::<Vec<u64>>()
        };
        sink.raise(A53Event::L1D_CACHE, 1, 3);
        let at = |level| Privilege { level, ..Privilege::default() };
        sink.note(A53Note::Enter(Some(at(2))), 2);
        sink.raise(A53Event::L1D_CACHE, 3, 6);
        assert_eq!(values(&mut sink), [3, 0, 6]);
        sink.note(A53Note::Enter(Some(at(1))), 4);
        sink.raise(A53Event::L1D_CACHE, 5, 12);
        sink.note(A53Note::Enter(Some(at(3))), 6);
        sink.raise(A53Event::L1D_CACHE, 7, 24);
        assert_eq!(values(&mut sink), [3, 12, 6]);
    }

    /// Given seven events and a wait of many time slices, when both clocks count, then they count
    /// the same slices.
    #[test]
    fn a_wait_is_divided_among_the_slices() {
        use A53Event::*;
        let events = [BUS_CYCLES, LD_RETIRED, ST_RETIRED, L1D_CACHE, L2D_CACHE, BR_PRED, L1I_CACHE];
        let groups = events.map(Group::single);
        let end = |_| u64::MAX;
        let counters = CounterCount::default();
        let request = PerfRequest { groups: &groups, counters, rotation: Some(10), end: &end };
        let mut sink = PerfSink::new(&request, true);
        sink.begin(0, 700);
        let read = sink.readings();
        assert_eq!((read[0].value, read[0].running), (600, 600), "six of seven slices");
    }
}
