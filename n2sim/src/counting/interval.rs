//! Counts at regular intervals of modeled time, as `perf stat -I` reads them. A sink gets the
//! counts of a run, and reads its counters, when the clock of a core passes the end of an interval.

use std::io::{self, Write};

use sim_core::{Counts, DeferredSink, EventSink, Notice, PmuEvent};
use sim_machine::Outcome;
use sim_pmu::perf::{Passes, PerfSession, Reading, Status};
use sim_report::stat::{self, StatOptions};
use sim_report::{Owner, Selected, StatReport, perf_stat};

use crate::counting::counted_run::{Method, Replay};
use crate::shared_args::CountArgs;

/// Nanoseconds of the shortest interval.
const SHORTEST_NS: u64 = 1_000;
/// Maximum number of intervals of a run; it keeps their memory below a gigabyte.
const MOST: u64 = 100_000;

/// Counters that can be read while they count. They need only counts, at their deadlines.
pub(crate) trait Counters: DeferredSink {
    /// Returns the reading of each event of a core so far.
    fn read(&mut self, core: usize) -> Vec<Reading>;

    /// Returns whether the counters are multiplexed. A count then depends on the time of an event.
    fn takes_turns(&self) -> bool {
        false
    }
}

impl Counters for PerfSession {
    fn read(&mut self, core: usize) -> Vec<Reading> {
        self.readings_by_core().into_iter().nth(core).unwrap_or_default()
    }

    fn takes_turns(&self) -> bool {
        PerfSession::is_multiplexed(self)
    }
}

impl Counters for Passes {
    fn read(&mut self, core: usize) -> Vec<Reading> {
        self.readings_by_core().into_iter().nth(core).unwrap_or_default()
    }
}

/// Counters that give each event a counter of its own.
#[derive(Clone, Debug)]
pub(crate) struct ExactCounters {
    events: Vec<PmuEvent>,
    cores: Vec<(bool, Counts)>,
    current: usize,
}

impl ExactCounters {
    /// Returns counters for these events.
    pub(crate) fn new(events: &[Selected]) -> ExactCounters {
        let events = events.iter().map(|selected| selected.event.event).collect();
        ExactCounters { events, cores: vec![(false, Counts::default())], current: 0 }
    }
}

impl EventSink for ExactCounters {
    const OBSERVES_OPS: bool = true;

    #[inline]
    fn counts_only(&self) -> bool {
        true
    }

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        let (is_counted, counts) = &mut self.cores[self.current];
        if *is_counted {
            counts.count(event, n);
        }
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => {
                if self.cores.len() <= core {
                    self.cores.resize(core + 1, (false, Counts::default()));
                }
                self.current = core;
            }
            Notice::Counting(is_counted) => {
                self.cores[self.current].0 = is_counted;
            }
            _ => {}
        }
    }
}

impl DeferredSink for ExactCounters {
    fn cycles_to_deadline(&self) -> u64 {
        u64::MAX
    }
}

impl Counters for ExactCounters {
    fn read(&mut self, core: usize) -> Vec<Reading> {
        let Some((_, counts)) = self.cores.get(core) else { return Vec::new() };
        let cycles = counts.value(PmuEvent::CPU_CYCLES);
        self.events.iter().map(|event| Reading::exact(counts.value(*event), cycles)).collect()
    }
}

/// Length of an interval, and the clock that measures it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    ns: u64,
    clock_hz: u64,
    /// Modeled time before the first interval; its counts belong to no interval.
    delay_ns: u64,
}

impl Interval {
    /// Returns intervals of `milliseconds`, for a run of about this number of instructions.
    pub(crate) fn new(
        milliseconds: f64,
        clock_hz: u64,
        instructions: u64,
    ) -> anyhow::Result<Interval> {
        let ns = (milliseconds * 1e6).round();
        if !(ns >= SHORTEST_NS as f64 && ns <= u64::MAX as f64 / 2.0) {
            anyhow::bail!(
                "-I {milliseconds:?}: give milliseconds of modeled time from 0.001 on, such as 0.1"
            );
        }
        let interval = Interval { ns: ns as u64, clock_hz, delay_ns: 0 };
        // At one instruction per cycle.
        let expected = instructions / interval.end(1).max(1);
        if expected > MOST {
            anyhow::bail!(
                "-I {milliseconds}: about {expected} intervals are too many (up to {MOST}); give \
                 a longer one"
            );
        }
        Ok(interval)
    }

    /// Returns one interval that holds the whole run.
    pub(crate) fn whole(clock_hz: u64) -> Interval {
        Interval { ns: u64::MAX, clock_hz, delay_ns: 0 }
    }

    /// Returns whether nothing is read before the end of the run.
    fn is_whole(self) -> bool {
        self.ns == u64::MAX && self.delay_ns == 0
    }

    /// Returns the intervals with a later start.
    #[must_use]
    pub(crate) fn delayed(self, delay_ns: u64) -> Interval {
        Interval { delay_ns, ..self }
    }

    /// Returns the cycles from the start to the end of interval `number`, counted from 1. A delay
    /// is an interval of its own.
    pub(crate) fn end(self, number: u64) -> u64 {
        let whole = if self.delay_ns > 0 { number - 1 } else { number };
        let ns = u128::from(whole) * u128::from(self.ns) + u128::from(self.delay_ns);
        u64::try_from(ns * u128::from(self.clock_hz) / 1_000_000_000).unwrap_or(u64::MAX)
    }

    /// Returns the modeled time of this number of cycles, in nanoseconds.
    fn time_ns(self, cycles: u64) -> u64 {
        sim_report::stat::nanoseconds(cycles, self.clock_hz)
    }
}

/// The counts of one interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// End of the interval in nanoseconds from the start of counting.
    pub(crate) time_ns: u64,
    /// For each core the reading of each event; empty for a core that had ended.
    pub(crate) cores: Vec<Vec<Reading>>,
    /// For each core the cycles of the interval.
    pub(crate) cycles: Vec<u64>,
}

/// Counters that are read at the end of each interval. The time of a core is its counted time, so
/// the intervals of all cores begin together.
#[derive(Clone, Debug)]
pub(crate) struct Intervals<C> {
    counters: C,
    interval: Interval,
    cores: Vec<Core>,
    current: usize,
}

/// One core's readings so far.
#[derive(Clone, Debug)]
struct Core {
    is_counted: bool,
    cycles: u64,
    /// Cycle at which the current interval ends.
    end: u64,
    /// The readings at the ends of the intervals, each since the start.
    read: Vec<Vec<Reading>>,
}

impl<C: Counters> Intervals<C> {
    /// Returns intervals in which nothing has been counted.
    pub(crate) fn new(counters: C, interval: Interval) -> Intervals<C> {
        let mut intervals = Intervals { counters, interval, cores: Vec::new(), current: 0 };
        intervals.notify(Notice::Core(0));
        intervals
    }

    /// Counts cycles that pass the ends of intervals.
    #[cold]
    fn pass_ends(&mut self, mut cycles: u64) {
        let number = self.current;
        let core = &mut self.cores[number];
        while core.cycles + cycles >= core.end {
            let step = core.end - core.cycles;
            self.counters.count(PmuEvent::CPU_CYCLES, step);
            cycles -= step;
            core.cycles = core.end;
            core.read.push(self.counters.read(number));
            core.end = self.interval.end(core.read.len() as u64 + 1).max(core.cycles + 1);
        }
        core.cycles += cycles;
        self.counters.count(PmuEvent::CPU_CYCLES, cycles);
    }

    /// Returns the intervals of the whole run.
    pub(crate) fn finish(&mut self) -> Vec<Counted> {
        let counters = &mut self.counters;
        let of_core = |(number, core): (usize, &mut Core)| CoreReadings {
            cycles: core.cycles,
            read: std::mem::take(&mut core.read),
            last: counters.read(number),
        };
        let cores = self.cores.iter_mut().enumerate().map(of_core).collect();
        self.interval.divide(cores)
    }
}

/// Readings of the counters of one core.
#[derive(Clone, Debug)]
pub(crate) struct CoreReadings {
    /// Counted cycles.
    pub(crate) cycles: u64,
    /// Readings at the ends of intervals, each since the start.
    pub(crate) read: Vec<Vec<Reading>>,
    /// Readings at the end of the run.
    pub(crate) last: Vec<Reading>,
}

impl Interval {
    /// Returns the intervals of the whole run; the last one is shorter. Counts before a delay are
    /// in none of them.
    pub(crate) fn divide(self, mut cores: Vec<CoreReadings>) -> Vec<Counted> {
        for core in &mut cores {
            let last = std::mem::take(&mut core.last);
            let cuts = core.read.len();
            let begun = cuts == 0 || core.cycles > self.end(cuts as u64);
            match core.read.last_mut() {
                // Counts after the end of the last interval, in no time, belong to it.
                Some(read) if !begun => *read = last,
                _ => core.read.push(last),
            }
        }
        let count = cores.iter().map(|core| core.read.len()).max().unwrap_or_default();
        let first = usize::from(self.delay_ns > 0);
        (first..count).map(|number| self.counted(number, &cores)).collect()
    }

    /// Returns the counts of interval `number`, counted from 0.
    fn counted(self, number: usize, cores: &[CoreReadings]) -> Counted {
        let of_core = |core: &CoreReadings| {
            let Some(read) = core.read.get(number) else { return Vec::new() };
            let before = number.checked_sub(1).map(|before| &core.read[before]);
            let since = |(event, reading): (usize, &Reading)| match before {
                Some(before) => since(reading, &before[event]),
                None => *reading,
            };
            read.iter().enumerate().map(since).collect()
        };
        let begin = if number == 0 { 0 } else { self.end(number as u64) };
        let whole = self.end(number as u64 + 1);
        let end = cores.iter().map(|core| core.cycles.min(whole)).max().unwrap_or(whole);
        let cycles = |core: &CoreReadings| core.cycles.min(whole).saturating_sub(begin);
        Counted {
            cycles: cores.iter().map(cycles).collect(),
            time_ns: self.time_ns(end).saturating_sub(self.delay_ns),
            cores: cores.iter().map(of_core).collect(),
        }
    }
}

/// Returns the difference of two readings.
fn since(now: &Reading, before: &Reading) -> Reading {
    let running = now.running - before.running;
    let status = match now.status {
        Status::Counted if running == 0 && now.enabled > before.enabled => Status::NotCounted,
        status => status,
    };
    Reading {
        value: now.value - before.value,
        enabled: now.enabled - before.enabled,
        running,
        status,
    }
}

impl<C: Counters> EventSink for Intervals<C> {
    const OBSERVES_OPS: bool = true;

    #[inline]
    fn counts_only(&self) -> bool {
        true
    }

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        if event == PmuEvent::CPU_CYCLES {
            let core = &mut self.cores[self.current];
            if core.is_counted {
                if core.cycles + n >= core.end {
                    return self.pass_ends(n);
                }
                core.cycles += n;
            }
        }
        self.counters.count(event, n);
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::SoftwareIncrement(counters) => {
                self.counters.notify(Notice::SoftwareIncrement(counters));
            }
            Notice::Core(core) => {
                let end = self.interval.end(1).max(1);
                let new = Core { is_counted: false, cycles: 0, end, read: Vec::new() };
                if self.cores.len() <= core {
                    self.cores.resize(core + 1, new);
                }
                self.current = core;
                self.counters.notify(Notice::Core(core));
            }
            Notice::Counting(is_counted) => {
                self.cores[self.current].is_counted = is_counted;
                self.counters.notify(Notice::Counting(is_counted));
            }
            Notice::Privilege(privilege) => {
                self.counters.notify(Notice::Privilege(privilege));
            }
            _ => {}
        }
    }
}

impl<C: Counters> DeferredSink for Intervals<C> {
    fn cycles_to_deadline(&self) -> u64 {
        let core = &self.cores[self.current];
        let own = if core.is_counted { core.end - core.cycles } else { u64::MAX };
        own.min(self.counters.cycles_to_deadline())
    }
}

/// Counts the requested events in intervals of `milliseconds`.
pub(crate) fn measure(
    replay: &Replay<'_>,
    method: Method,
    milliseconds: f64,
    progress: &mut dyn FnMut(u64),
) -> anyhow::Result<(Outcome, Vec<Counted>)> {
    let Replay { session, request, .. } = replay;
    let interval = Interval::new(milliseconds, session.clock_hz(), session.instructions())?;
    if request.events.is_empty() {
        let counters = ExactCounters::new(&stat::every_event());
        return count(replay, interval, counters, progress);
    }
    let (outcome, mut intervals) = match method {
        Method::Passes => {
            count(replay, interval, Passes::new(&request.groups, request.counters), progress)?
        }
        Method::Multiplexed(ns) => {
            let counters = request.session(ns, session.clock_hz());
            count(replay, interval, counters, progress)?
        }
    };
    for interval in &mut intervals {
        interval.cores = request.all(outcome.cores.len(), std::mem::take(&mut interval.cores));
    }
    Ok((outcome, intervals))
}

/// Runs the trace with these counters and reads them in intervals.
pub(crate) fn count<C: Counters>(
    replay: &Replay<'_>,
    interval: Interval,
    counters: C,
    progress: &mut dyn FnMut(u64),
) -> anyhow::Result<(Outcome, Vec<Counted>)> {
    let Replay { session, options, request, .. } = replay;
    let depends_on_time = counters.takes_turns() || !interval.is_whole();
    let mut intervals = Intervals::new(counters, interval);
    let outcome = request.count(session, options, depends_on_time, progress, &mut intervals)?;
    Ok((outcome, intervals.finish()))
}

/// Prints the counts of every interval, as `perf stat -I` prints them.
pub(crate) fn write(
    out: &mut impl Write,
    args: &CountArgs,
    replay: &Replay<'_>,
    outcome: &Outcome,
    intervals: &[Counted],
) -> io::Result<()> {
    let all = if replay.request.events.is_empty() { stat::every_event() } else { Vec::new() };
    let events = if all.is_empty() { &replay.request.events } else { &all };
    let threads = args.per_thread.then(|| Owner::threads(outcome));
    for (number, interval) in intervals.iter().enumerate() {
        let counted = stat::Counted { events, readings: &interval.cores, truth: None };
        let options = StatOptions {
            counted: Some(counted),
            owners: threads.as_deref(),
            has_stall_slot_erratum: replay.has_stall_slot_erratum,
            errors: None,
        };
        let report = StatReport::new(outcome, &options).at(interval.time_ns);
        if args.format.json {
            perf_stat::write_json(out, &report)?;
        } else if let Some(separator) = &args.format.separator() {
            perf_stat::write_csv(out, &report, separator)?;
        } else {
            let is_short = replay.request.events.is_empty() && !args.all;
            let report = if is_short { report.short(true) } else { report };
            perf_stat::write_text_interval(out, &report, number == 0)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_pmu::perf::PerfEvent;

    /// Returns intervals of 1000 cycles: one microsecond of a clock of 1 GHz.
    fn intervals(events: &[PmuEvent]) -> Intervals<ExactCounters> {
        let selected =
            |event: &PmuEvent| Selected { name: event.perf_name(), event: PerfEvent::new(*event) };
        let events: Vec<Selected> = events.iter().map(selected).collect();
        let interval = Interval::new(0.001, 1_000_000_000, 1_000_000).expect("short, but allowed");
        Intervals::new(ExactCounters::new(&events), interval)
    }

    fn values(counted: &[Counted], core: usize) -> Vec<(u64, Vec<u64>)> {
        let values = |interval: &Counted| {
            let values = interval.cores[core].iter().map(|reading| reading.value).collect();
            (interval.time_ns, values)
        };
        counted.iter().map(values).collect()
    }

    #[test]
    fn a_stall_over_several_intervals_is_cut_at_their_ends() {
        let mut sink = intervals(&[PmuEvent::CPU_CYCLES, PmuEvent::INST_RETIRED]);
        sink.notify(Notice::Core(0));
        sink.count(PmuEvent::CPU_CYCLES, 5000);
        sink.notify(Notice::Counting(true));
        sink.count(PmuEvent::INST_RETIRED, 7);
        sink.count(PmuEvent::CPU_CYCLES, 2500);
        sink.count(PmuEvent::INST_RETIRED, 1);
        sink.notify(Notice::Counting(false));
        sink.count(PmuEvent::INST_RETIRED, 100);
        let counted = sink.finish();
        let expected = [(1000, vec![1000, 7]), (2000, vec![1000, 0]), (2500, vec![500, 1])];
        assert_eq!(values(&counted, 0), expected);
    }

    #[test]
    fn counts_at_the_very_end_of_an_interval_belong_to_it() {
        let mut sink = intervals(&[PmuEvent::CPU_CYCLES, PmuEvent::INST_RETIRED]);
        sink.notify(Notice::Counting(true));
        sink.count(PmuEvent::CPU_CYCLES, 2000);
        sink.count(PmuEvent::INST_RETIRED, 9);
        sink.notify(Notice::Counting(false));
        let counted = sink.finish();
        assert_eq!(values(&counted, 0), [(1000, vec![1000, 0]), (2000, vec![1000, 9])]);
    }

    #[test]
    fn a_core_that_has_ended_counts_no_more() {
        let mut sink = intervals(&[PmuEvent::CPU_CYCLES]);
        for (core, cycles) in [(0, 1500), (1, 2100)] {
            sink.notify(Notice::Core(core));
            sink.notify(Notice::Counting(true));
            sink.count(PmuEvent::CPU_CYCLES, cycles);
            sink.notify(Notice::Counting(false));
        }
        let counted = sink.finish();
        assert_eq!(values(&counted, 0)[1], (2000, vec![500]));
        assert_eq!(values(&counted, 1)[2], (2100, vec![100]));
        assert!(counted[2].cores[0].is_empty());
    }

    #[test]
    fn the_ends_of_fractional_intervals_do_not_drift() {
        let interval = Interval::new(0.001, 2_750_000_000, 1000).expect("allowed");
        let ends: Vec<u64> = (1..=4).map(|number| interval.end(number)).collect();
        assert_eq!(ends, [2750, 5500, 8250, 11000]);
        let uneven = Interval { ns: 1001, clock_hz: 1_500_000_000, delay_ns: 0 };
        assert_eq!(uneven.end(2000), 3_003_000);
        assert_eq!(uneven.delayed(10).end(1), 15);
        assert_eq!(uneven.delayed(10).end(2001), 3_003_015);
        assert_eq!(Interval::whole(u64::MAX).end(1), u64::MAX);
    }

    #[test]
    fn events_before_a_delay_are_not_counted() {
        let mut sink = intervals(&[PmuEvent::CPU_CYCLES]);
        sink.interval = sink.interval.delayed(300);
        sink.cores.clear();
        sink.notify(Notice::Core(0));
        sink.notify(Notice::Counting(true));
        sink.count(PmuEvent::CPU_CYCLES, 1500);
        sink.notify(Notice::Counting(false));
        assert_eq!(values(&sink.finish(), 0), [(1000, vec![1000]), (1200, vec![200])]);
    }

    #[test]
    fn invalid_interval_lengths_are_refused() {
        let message =
            |ms| Interval::new(ms, 1_000_000_000, 1_000).expect_err("refused").to_string();
        for ms in [0.0, -1.0, 1e-9, f64::NAN, f64::INFINITY, 1e300] {
            assert!(message(ms).contains("from 0.001 on"), "{ms}: {}", message(ms));
        }
        let many = Interval::new(0.001, 1_000_000_000, u64::MAX).expect_err("refused").to_string();
        assert!(many.contains("too many"), "{many}");
    }
}
