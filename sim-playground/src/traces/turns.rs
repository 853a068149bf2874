//! Counters of a core that take turns, beside the exact counts, over the time of a run.

use serde::Serialize;
use sim_core::{Counts, EventSink, Notice, PmuEvent};
use sim_pmu::counter::CounterCount;
use sim_pmu::perf::{Group, PerfSession, PerfSetup, Reading};

use super::Part;
use crate::fault::Fault;

/// Points in time.
const POINTS: u64 = 120;

/// Estimates and exact counts at points in time.
#[derive(Debug, Serialize)]
pub(crate) struct Turns {
    events: Vec<&'static str>,
    /// Cycles of all threads together.
    cycles: u64,
    points: Vec<Point>,
    /// Time slices that ended.
    rotations: u64,
}

/// Counts from the start of the run to a cycle, event by event. Cycles of several threads add up.
#[derive(Debug, Serialize)]
struct Point {
    cycle: u64,
    exact: Vec<u64>,
    /// Value in the counter so far.
    counted: Vec<u64>,
    /// Estimate: the value scaled to the whole time; `None` before the first turn.
    scaled: Vec<Option<u64>>,
    /// Cycles on a counter.
    running: Vec<u64>,
}

/// Runs the trace with counters that rotate every `turn` cycles.
pub(crate) fn turns(
    trace: &[u8],
    part: &Part,
    names: &[String],
    counters: u64,
    turn: u64,
) -> Result<Turns, Fault> {
    let (events, groups, counters) = asked(names, counters, turn)?;
    let session = part.session(trace)?;
    let options = part.options();
    let whole = session.run(&options, &mut |_| {}).map_err(|error| Fault::of("trace", error))?;
    let cycles = whole.total().value(PmuEvent::CPU_CYCLES);
    let mut watch = Watch {
        counters: PerfSession::new(PerfSetup::new(&groups, counters), turn),
        events: events.clone(),
        exact: Counts::default(),
        core: 0,
        is_counted: Vec::new(),
        cycle: 0,
        step: (cycles / POINTS).max(1),
        points: Vec::new(),
    };
    let ran = session.run_with_sink(&options, &mut |_| {}, &mut watch);
    ran.map_err(|error| Fault::of("trace", error))?;
    watch.point();
    let rotations = watch.counters.rotations();
    let events = events.iter().map(|event| event.mnemonic()).collect();
    Ok(Turns { events, cycles, points: watch.points, rotations })
}

/// Reads the names of events, each a group of its own, and the number of counters.
fn asked(
    names: &[String],
    counters: u64,
    turn: u64,
) -> Result<(Vec<PmuEvent>, Vec<Group>, CounterCount), Fault> {
    let event =
        |name: &String| PmuEvent::from_name(name).map_err(|error| Fault::of("events", error));
    let events: Vec<PmuEvent> = names.iter().map(event).collect::<Result<_, _>>()?;
    if turn == 0 {
        return Err(Fault::of("turn", "a turn of 0 cycles: give at least 1"));
    }
    let counters = u8::try_from(counters).ok().and_then(CounterCount::new).ok_or_else(|| {
        Fault::of("counters", format!("{counters} counters: a machine has 2 to 31"))
    })?;
    let groups = events.iter().map(|event| Group::single(*event)).collect();
    Ok((events, groups, counters))
}

/// Sink that reads counters and exact counts at intervals.
struct Watch {
    counters: PerfSession,
    events: Vec<PmuEvent>,
    exact: Counts,
    /// Core of the reports, and whether each core is in its counted part.
    core: usize,
    is_counted: Vec<bool>,
    cycle: u64,
    step: u64,
    points: Vec<Point>,
}

impl Watch {
    fn point(&mut self) {
        let readings = self.counters.readings();
        let exact = self.events.iter().map(|event| self.exact.value(*event)).collect();
        self.points.push(Point {
            cycle: self.cycle,
            exact,
            counted: readings.iter().map(|reading| reading.value).collect(),
            scaled: readings.iter().map(Reading::scaled).collect(),
            running: readings.iter().map(|reading| reading.running).collect(),
        });
    }
}

impl EventSink for Watch {
    const OBSERVES_OPS: bool = true;

    fn counts_only(&self) -> bool {
        true
    }

    fn count(&mut self, event: PmuEvent, n: u64) {
        self.counters.count(event, n);
        if !self.is_counted.get(self.core).copied().unwrap_or_default() {
            return;
        }
        self.exact.count(event, n);
        if event == PmuEvent::CPU_CYCLES {
            self.cycle += n;
            if self.cycle >= self.step * (self.points.len() as u64 + 1) {
                self.point();
            }
        }
    }

    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => self.core = core,
            Notice::Counting(is_counted) => {
                let cores = self.is_counted.len().max(self.core + 1);
                self.is_counted.resize(cores, false);
                self.is_counted[self.core] = is_counted;
            }
            _ => {}
        }
        self.counters.notify(notice);
    }
}
