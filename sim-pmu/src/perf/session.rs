//! A counting session over a whole run: each core has its own counters and its own turns, as inherited
//! events of Linux have on the cores where the threads run; a reading is the sum of all cores.

use sim_core::pmu_event::COUNT;
use sim_core::{EventSink, PmuEvent, Privilege};

use super::context::{Context, Scheduled};
use super::driver::Driver;
use super::event::{Group, PerfEvent};
use super::reading::{Reading, Status};
use super::slots::Slots;
use crate::pe_state::{ExceptionLevel, PeState};

/// What is added to a counter at once at most: less than half its range, so that the interrupt of an
/// overflow comes before the next one.
const STEP: u64 = 1 << 30;

/// The cores of a run whose counters are shared by groups of events. A sink that follows the run.
#[derive(Clone, Debug)]
pub struct PerfSession {
    setup: PerfSetup,
    cores: Vec<Core>,
    /// The core that is heard.
    current: usize,
    tick_cycles: u64,
}

/// The groups as the kernel took them: too large ones cut, weak ones taken apart.
#[derive(Clone, Debug, Default)]
pub struct PerfSetup {
    events: Vec<PerfEvent>,
    groups: Vec<Scheduled>,
    /// Each event as asked for; `None` if the kernel refused it.
    asked: Vec<Option<Taken>>,
}

/// An event that the kernel took.
#[derive(Clone, Copy, Debug)]
struct Taken {
    number: usize,
    group: usize,
}

impl PerfSetup {
    /// Opens the groups. What does not even fit when nothing else is counted is refused, event by event,
    /// unless the group is weak: then each of its events goes on its own.
    pub fn new(groups: &[Group]) -> PerfSetup {
        let mut setup = PerfSetup::default();
        for group in groups {
            if group.weak && !Slots::hold(&group.events) {
                for (i, event) in group.events.iter().enumerate() {
                    let (pinned, exclusive) = (group.pinned && i == 0, group.exclusive && i == 0);
                    setup.open(&Group { events: vec![*event], pinned, exclusive, weak: true });
                }
            } else {
                setup.open(group);
            }
        }
        setup
    }

    fn open(&mut self, group: &Group) {
        let begin = self.events.len();
        for event in &group.events {
            self.events.push(*event);
            let fits = Slots::hold(&self.events[begin..]);
            if !fits {
                self.events.pop();
            }
            let (number, group) = (self.events.len(), self.groups.len());
            self.asked.push(fits.then(|| Taken { number: number - 1, group }));
        }
        let (pinned, exclusive) = (group.pinned, group.exclusive);
        let events = begin..self.events.len();
        self.groups.push(Scheduled { events, pinned, exclusive });
    }
}

/// One core of the session.
#[derive(Clone, Debug)]
struct Core {
    driver: Driver,
    context: Context,
    is_counted: bool,
    /// Counted cycles so far.
    now: u64,
    /// Cycles up to the next tick.
    until_tick: u64,
    /// Turns that ended.
    rotations: u64,
    /// What the counters were not told yet, by event. Nobody reads them meanwhile.
    pending: Box<[u64; COUNT]>,
    /// They are told at once: an event counts the overflows of another counter.
    counts_overflows: bool,
}

impl Core {
    fn new(setup: &PerfSetup, tick_cycles: u64) -> Core {
        Core {
            driver: Driver::new(setup.events.clone()),
            context: Context::new(setup.groups.clone()),
            is_counted: false,
            now: 0,
            until_tick: tick_cycles,
            rotations: 0,
            pending: Box::new([0; COUNT]),
            counts_overflows: setup.events.iter().any(|event| event.event == PmuEvent::CHAIN),
        }
    }

    fn set_counted(&mut self, is_counted: bool) {
        if is_counted == self.is_counted {
            return;
        }
        self.settle();
        self.is_counted = is_counted;
        if is_counted {
            self.context.schedule_in(&mut self.driver, self.now);
        } else {
            self.context.schedule_out(&mut self.driver, self.now);
        }
    }

    /// A kernel that hosts applications runs at EL2; its filters are other ones.
    #[cold]
    fn move_kernel_to_el2(&mut self) {
        if self.is_counted {
            self.context.schedule_out(&mut self.driver, self.now);
        }
        self.driver.set_kernel(ExceptionLevel::El2);
        if self.is_counted {
            self.context.schedule_in(&mut self.driver, self.now);
        }
    }

    /// Time goes on: the cycles are counted, and ticks come when they are due.
    #[inline]
    fn pass(&mut self, mut cycles: u64, tick_cycles: u64) {
        while cycles >= self.until_tick {
            let step = self.until_tick;
            self.count(PmuEvent::CPU_CYCLES, step);
            if self.context.must_rotate() {
                self.settle();
            }
            self.now += step;
            cycles -= step;
            self.until_tick = tick_cycles;
            self.rotations += u64::from(self.context.tick(&mut self.driver, self.now));
        }
        self.count(PmuEvent::CPU_CYCLES, cycles);
        self.now += cycles;
        self.until_tick -= cycles;
    }

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.pending[event as usize] += n;
        if self.counts_overflows {
            self.settle();
        }
    }

    /// Tells the counters everything up to now.
    fn settle(&mut self) {
        for event in PmuEvent::ALL {
            let mut n = std::mem::take(&mut self.pending[event as usize]);
            while n > 0 {
                let step = n.min(STEP);
                self.driver.count(event, step);
                if self.driver.is_interrupted() {
                    self.driver.serve_interrupt();
                }
                n -= step;
            }
        }
    }

    fn reading(&mut self, Taken { number, group }: Taken) -> Reading {
        self.settle();
        let (running, was_on) = self.context.running(group, self.now);
        if !was_on || self.context.is_in_error(group) {
            let enabled = if self.context.is_in_error(group) { 0 } else { self.now };
            return Reading { enabled, ..Reading::default() };
        }
        let value = self.driver.total(number);
        Reading { value, enabled: self.now, running, status: Status::Counted }
    }
}

impl PerfSession {
    /// A session that has counted nothing yet. A tick of 0 cycles is taken as one of 1.
    pub fn new(setup: PerfSetup, tick_cycles: u64) -> PerfSession {
        let tick_cycles = tick_cycles.max(1);
        let cores = vec![Core::new(&setup, tick_cycles)];
        PerfSession { setup, cores, current: 0, tick_cycles }
    }

    /// True if the groups do not fit all at once.
    pub fn takes_turns(&self) -> bool {
        let mut core = Core::new(&self.setup, self.tick_cycles);
        core.set_counted(true);
        core.context.must_rotate()
    }

    /// The events of all groups as asked for, one after another, of each core. May be called during the
    /// run: it disturbs nothing.
    pub fn readings_by_core(&mut self) -> Vec<Vec<Reading>> {
        let refused = Reading { status: Status::NotSupported, ..Reading::default() };
        let asked = &self.setup.asked;
        let of_core = |core: &mut Core| {
            let reading = |at: &Option<Taken>| at.map_or(refused, |taken| core.reading(taken));
            asked.iter().map(reading).collect()
        };
        self.cores.iter_mut().map(of_core).collect()
    }

    /// The same of all cores together.
    pub fn readings(&mut self) -> Vec<Reading> {
        let mut cores = self.readings_by_core().into_iter();
        let first = cores.next().expect("a session has a core");
        cores.fold(first, |sum, core| sum.iter().zip(&core).map(|(a, b)| a.plus(b)).collect())
    }

    /// Turns that have ended on all cores.
    pub fn rotations(&self) -> u64 {
        self.cores.iter().map(|core| core.rotations).sum()
    }

    /// The longest counted time of a core, in cycles.
    pub fn cycles(&self) -> u64 {
        self.cores.iter().map(|core| core.now).max().unwrap_or_default()
    }
}

impl EventSink for PerfSession {
    const FOLLOWS_RUN: bool = true;

    #[inline]
    fn hears_counts_alone(&self) -> bool {
        true
    }

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        let core = &mut self.cores[self.current];
        if !core.is_counted {
            return;
        }
        if event == PmuEvent::CPU_CYCLES {
            core.pass(n, self.tick_cycles);
        } else {
            core.count(event, n);
        }
    }

    fn software_increment(&mut self, counters: u32) {
        self.cores[self.current].driver.software_increment(counters);
    }

    fn core(&mut self, core: usize) {
        while self.cores.len() <= core {
            self.cores.push(Core::new(&self.setup, self.tick_cycles));
        }
        self.current = core;
    }

    fn counting(&mut self, is_counted: bool) {
        self.cores[self.current].set_counted(is_counted);
    }

    fn privilege(&mut self, privilege: Privilege) {
        let core = &mut self.cores[self.current];
        core.settle();
        core.driver.set_state(PeState::from(privilege));
        if privilege.e2h && core.driver.kernel() != ExceptionLevel::El2 {
            core.move_kernel_to_el2();
        }
    }
}
