//! Counting session over a whole run. Each core has its own counters and its own rotation, as
//! inherited Linux events have on the cores where the threads run. A reading is the sum over all
//! cores.

use sim_core::{DeferredSink, EventSink, Notice, PmuEvent, Privilege};

use super::context::{Context, Scheduled};
use super::driver::Driver;
use super::event::{Group, PerfEvent};
use super::reading::{Reading, Status};
use super::slots::Slots;
use crate::counter::CounterCount;
use crate::pe_state::{ExceptionLevel, PeState};
use crate::routes::CoreEvent;

/// Largest increment passed to a counter at once: less than half its range, so that each overflow
/// interrupt is served before the next overflow.
const STEP: u64 = 1 << 30;

/// Cores of a run whose counters are shared by groups of events. As a sink, it receives the events
/// of the run.
#[derive(Clone, Debug)]
pub struct PerfSession<E: CoreEvent = PmuEvent> {
    setup: PerfSetup<E>,
    cores: Vec<Core<E>>,
    /// Core to which events belong at present.
    current: usize,
    tick_cycles: u64,
}

/// Groups as the kernel accepted them: too large groups cut, weak groups split.
#[derive(Clone, Debug)]
pub struct PerfSetup<E = PmuEvent> {
    counters: CounterCount,
    events: Vec<PerfEvent<E>>,
    groups: Vec<Scheduled>,
    /// Each requested event; `None` if the kernel refused it.
    asked: Vec<Option<Taken>>,
}

/// Event that the kernel accepted.
#[derive(Clone, Copy, Debug)]
struct Taken {
    number: usize,
    group: usize,
}

impl<E: CoreEvent> PerfSetup<E> {
    /// Opens the groups on a machine with `counters` event counters. An event that does not fit
    /// even when nothing else is counted is refused. A weak group that does not fit is split into
    /// single events.
    pub fn new(groups: &[Group<E>], counters: CounterCount) -> PerfSetup<E> {
        let (events, groups_of, asked) = (Vec::new(), Vec::new(), Vec::new());
        let mut setup = PerfSetup { counters, events, groups: groups_of, asked };
        for group in groups {
            if group.weak && !Slots::hold(counters, &group.events) {
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

    /// Returns for each requested event whether the kernel accepted it.
    pub fn accepted(&self) -> Vec<bool> {
        self.asked.iter().map(Option::is_some).collect()
    }

    fn open(&mut self, group: &Group<E>) {
        let begin = self.events.len();
        for event in &group.events {
            self.events.push(*event);
            let fits = Slots::hold(self.counters, &self.events[begin..]);
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
struct Core<E: CoreEvent> {
    driver: Driver<E>,
    context: Context,
    is_counted: bool,
    /// Counted cycles so far.
    now: u64,
    /// Cycles until the next tick.
    until_tick: u64,
    /// Time slices that ended.
    rotations: u64,
    /// Counts, by event, that have not been passed to the counters yet. No counter is read in the
    /// meantime.
    pending: Box<[u64]>,
    /// An event counts the overflows of another counter, so that a step must end at an overflow.
    counts_overflows: bool,
}

impl<E: CoreEvent> Core<E> {
    fn new(setup: &PerfSetup<E>, tick_cycles: u64) -> Core<E> {
        Core {
            driver: Driver::new(setup.events.clone(), setup.counters),
            context: Context::new(setup.groups.clone()),
            is_counted: false,
            now: 0,
            until_tick: tick_cycles,
            rotations: 0,
            pending: vec![0; E::EVENTS.len()].into(),
            counts_overflows: setup.events.iter().any(|event| event.event == E::CHAIN),
        }
    }

    fn set_counted(&mut self, is_counted: bool) {
        if is_counted == self.is_counted {
            return;
        }
        self.pass_on_counts();
        self.is_counted = is_counted;
        if is_counted {
            self.context.schedule_in(&mut self.driver, self.now);
        } else {
            self.context.schedule_out(&mut self.driver, self.now);
        }
    }

    /// Moves the kernel to EL2, where a kernel that hosts applications runs with other filters.
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

    /// Advances time: counts the cycles and handles the ticks that become due.
    #[inline]
    fn advance(&mut self, mut cycles: u64, tick_cycles: u64) {
        while cycles >= self.until_tick {
            let step = self.until_tick;
            self.count(E::CYCLES, step);
            if self.context.must_rotate() {
                self.pass_on_counts();
            }
            self.now += step;
            cycles -= step;
            self.until_tick = tick_cycles;
            self.rotations += u64::from(self.context.tick(&mut self.driver, self.now));
        }
        self.count(E::CYCLES, cycles);
        self.now += cycles;
        self.until_tick -= cycles;
    }

    #[inline]
    fn count(&mut self, event: E, n: u64) {
        self.pending[event.place()] += n;
    }

    /// Passes all pending counts to the counters. If the driver counts overflows, they do not
    /// depend on how many counts were pending: each interrupt is served at its overflow, before the
    /// next count.
    fn pass_on_counts(&mut self) {
        for (place, event) in E::EVENTS.iter().enumerate() {
            let mut n = std::mem::take(&mut self.pending[place]);
            while n > 0 {
                let most = if self.counts_overflows { self.driver.room(*event) } else { STEP };
                let step = n.min(STEP).min(most);
                self.driver.count(*event, step);
                if self.driver.is_interrupted() {
                    self.driver.serve_interrupt();
                }
                n -= step;
            }
        }
    }

    fn reading(&mut self, Taken { number, group }: Taken) -> Reading {
        self.pass_on_counts();
        let (running, was_active) = self.context.running(group, self.now);
        if !was_active || self.context.is_in_error(group) {
            let enabled = if self.context.is_in_error(group) { 0 } else { self.now };
            return Reading { enabled, ..Reading::default() };
        }
        let value = self.driver.total(number);
        Reading { value, enabled: self.now, running, status: Status::Counted }
    }
}

impl<E: CoreEvent> PerfSession<E> {
    /// Creates a session that has counted nothing yet. A tick of 0 cycles is treated as 1.
    pub fn new(setup: PerfSetup<E>, tick_cycles: u64) -> PerfSession<E> {
        let tick_cycles = tick_cycles.max(1);
        let cores = vec![Core::new(&setup, tick_cycles)];
        PerfSession { setup, cores, current: 0, tick_cycles }
    }

    /// Returns whether the groups do not all fit at once.
    pub fn is_multiplexed(&self) -> bool {
        let mut core = Core::new(&self.setup, self.tick_cycles);
        core.set_counted(true);
        core.context.must_rotate()
    }

    /// Returns the readings of each core, for the events of all groups in the requested order. May
    /// be called during the run without any effect on it.
    pub fn readings_by_core(&mut self) -> Vec<Vec<Reading>> {
        let refused = Reading { status: Status::NotSupported, ..Reading::default() };
        let asked = &self.setup.asked;
        let of_core = |core: &mut Core<E>| {
            let reading = |at: &Option<Taken>| at.map_or(refused, |taken| core.reading(taken));
            asked.iter().map(reading).collect()
        };
        self.cores.iter_mut().map(of_core).collect()
    }

    /// Returns the readings of all cores together.
    pub fn readings(&mut self) -> Vec<Reading> {
        let mut cores = self.readings_by_core().into_iter();
        let first = cores.next().expect("a session has a core");
        cores.fold(first, |sum, core| sum.iter().zip(&core).map(|(a, b)| a.plus(b)).collect())
    }

    /// Returns the number of time slices that ended, on all cores.
    pub fn rotations(&self) -> u64 {
        self.cores.iter().map(|core| core.rotations).sum()
    }

    /// Returns the longest counted time of a core, in cycles.
    pub fn cycles(&self) -> u64 {
        self.cores.iter().map(|core| core.now).max().unwrap_or_default()
    }

    /// Moves to a core: all that follows is its own.
    pub fn select_core(&mut self, core: usize) {
        while self.cores.len() <= core {
            self.cores.push(Core::new(&self.setup, self.tick_cycles));
        }
        self.current = core;
    }

    /// Starts or stops counting.
    pub fn set_counted(&mut self, is_counted: bool) {
        self.cores[self.current].set_counted(is_counted);
    }

    /// Receives occurrences of an event. Cycles are time, in which counters rotate.
    #[inline]
    pub fn add(&mut self, event: E, n: u64) {
        let core = &mut self.cores[self.current];
        if !core.is_counted {
            return;
        }
        if event == E::CYCLES {
            core.advance(n, self.tick_cycles);
        } else {
            core.count(event, n);
        }
    }

    /// Returns after how many cycles of the current core the counters must have all counts: those
    /// to the end of the time slice, if groups wait for counters.
    fn until_rotation(&self) -> u64 {
        let core = &self.cores[self.current];
        if core.is_counted && core.context.must_rotate() { core.until_tick } else { u64::MAX }
    }

    /// Returns the cycles until the time slice of the current core ends, at least 1.
    pub fn until_tick(&self) -> u64 {
        self.cores[self.current].until_tick
    }

    /// Receives a write of a mask of counters to the software increment register.
    pub fn software_increment(&mut self, counters: u32) {
        self.cores[self.current].driver.software_increment(counters);
    }

    /// Receives the level at which the program runs from now on.
    pub fn set_privilege(&mut self, privilege: Privilege) {
        let core = &mut self.cores[self.current];
        core.pass_on_counts();
        core.driver.set_state(PeState::from(privilege));
        if privilege.e2h && core.driver.kernel() != ExceptionLevel::El2 {
            core.move_kernel_to_el2();
        }
    }
}

impl EventSink for PerfSession {
    const OBSERVES_OPS: bool = true;

    #[inline]
    fn counts_only(&self) -> bool {
        true
    }

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.add(event, n);
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::SoftwareIncrement(counters) => self.software_increment(counters),
            Notice::Core(core) => self.select_core(core),
            Notice::Counting(is_counted) => self.set_counted(is_counted),
            Notice::Privilege(privilege) => self.set_privilege(privilege),
            _ => {}
        }
    }
}

impl DeferredSink for PerfSession {
    fn cycles_to_deadline(&self) -> u64 {
        self.until_rotation()
    }
}
