//! Threads on fewer cores than there are threads: which thread has which core, and when.
//!
//! A thread keeps its core until it ends, waits for another thread, or has used up its time slice
//! while another one is ready. A free core takes the thread that can begin first; of several, one
//! that ran on it before the others, then the one that has been ready longest. A thread that finds
//! its core taken moves to a free one, unless threads are pinned.

use super::{Choice, ThreadState, Turn, turn_end};
use crate::config::ThreadsConfig;
use crate::error::MachineError;
use sim_core::Cycle;

/// Order in which threads synchronize, as the sharing of cores asks for it.
pub(super) trait Order {
    /// Returns the cycle in which a thread that has not ended can continue; `None` if it waits for
    /// something that has not happened yet.
    fn ready(&self, thread: usize) -> Option<Cycle>;

    /// Begins a turn of a thread in cycle `at`, and passes the ticket that it has reached. Returns
    /// `None` if the thread must wait after all.
    fn begin_turn(&mut self, thread: usize, at: Cycle) -> Result<Option<Turn>, MachineError>;

    /// Records the thread's position and clock after it ran.
    fn ran(&mut self, thread: usize, state: ThreadState);
}

/// Threads that never wait for one another.
pub(super) struct Unordered(pub(super) Vec<ThreadState>);

impl Order for Unordered {
    fn ready(&self, thread: usize) -> Option<Cycle> {
        Some(self.0[thread].cycle)
    }

    fn begin_turn(&mut self, _: usize, _: Cycle) -> Result<Option<Turn>, MachineError> {
        Ok(Some(Turn { hold_at: u64::MAX, wait: 0, is_passing: false }))
    }

    fn ran(&mut self, thread: usize, state: ThreadState) {
        self.0[thread] = state;
    }
}

/// A thread that gets a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    pub(crate) core: usize,
    /// Cycle since which the thread could have run.
    pub(crate) ready: Cycle,
    /// Cycle in which it begins on the core.
    pub(crate) start: Cycle,
    /// Another thread had the core before.
    pub(crate) is_switch: bool,
}

/// A core of the machine.
#[derive(Clone, Copy, Debug)]
struct Core {
    /// The thread that ran on it last.
    last: Option<usize>,
    /// That thread has another core now.
    is_left: bool,
    /// Clock of that thread when it ran last.
    clock: Cycle,
    /// End of the thread's time slice.
    slice_end: Cycle,
}

/// A thread, and the core on which it can begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// Cycle in which it begins.
    start: Cycle,
    /// It has the core already, had it last, or comes from another one.
    comes_from: From,
    /// Cycle since which it can run.
    ready: Cycle,
    thread: usize,
    core: usize,
}

/// The former place of a thread that gets a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum From {
    Running,
    SameCore,
    OtherCore,
}

/// The threads of a run on a smaller number of cores.
pub(crate) struct SharedCores<'t> {
    order: Box<dyn Order + 't>,
    config: ThreadsConfig,
    states: Vec<ThreadState>,
    /// The core of each thread: where it ran last, or will run first.
    places: Vec<usize>,
    cores: Vec<Core>,
}

impl<'t> SharedCores<'t> {
    /// Shares `config.cores` cores among threads with these initial states. Thread `n` begins on
    /// core `n` modulo their number.
    pub(super) fn new(
        order: Box<dyn Order + 't>,
        states: Vec<ThreadState>,
        config: ThreadsConfig,
    ) -> SharedCores<'t> {
        let clock = states.iter().map(|state| state.cycle).max().unwrap_or(0);
        let core = Core { last: None, is_left: false, clock, slice_end: 0 };
        SharedCores {
            order,
            config,
            places: (0..states.len()).map(|thread| thread % config.cores).collect(),
            cores: vec![core; config.cores],
            states,
        }
    }

    /// Returns the thread to run next, on the core that it gets; see
    /// [`super::ThreadScheduler::choose`].
    pub(super) fn choose(&mut self) -> Result<Option<Choice>, MachineError> {
        loop {
            let Some(first) = self.first(None) else {
                debug_assert!(self.states.iter().all(|at| at.ended), "one of them can go on");
                return Ok(None);
            };
            let Candidate { thread, start, .. } = first;
            let Some(turn) = self.order.begin_turn(thread, start)? else { continue };
            let seat = self.take(&first);
            let next = self.first(Some(thread)).map(|next| (next.start, next.thread));
            // After a ticket the thread runs alone until its clock moves, so that its cycle is
            // known.
            let until = match turn.is_passing {
                true => start,
                false => turn_end(thread, next).min(self.cores[first.core].slice_end).max(start),
            };
            // A thread that gets a core has waited elsewhere.
            let wait = if seat.is_some() { 0 } else { turn.wait };
            return Ok(Some(Choice { thread, until, hold_at: turn.hold_at, wait, seat }));
        }
    }

    /// Records the thread's position and clock after it ran.
    pub(super) fn ran(&mut self, thread: usize, state: ThreadState) {
        self.states[thread] = state;
        self.cores[self.places[thread]].clock = state.cycle;
        self.order.ran(thread, state);
    }

    /// Returns true if the thread has a core, which no other one has had since.
    fn is_on_core(&self, thread: usize) -> bool {
        let core = &self.cores[self.places[thread]];
        core.last == Some(thread) && !core.is_left
    }

    /// Gives a thread its core and a time slice. Returns the seat, if it did not have the core.
    fn take(&mut self, chosen: &Candidate) -> Option<Seat> {
        let Candidate { thread, core, ready, start, .. } = *chosen;
        let slice_end = start.saturating_add(self.config.slice_cycles);
        if self.is_on_core(thread) && self.places[thread] == core {
            let is_new_turn = chosen.comes_from != From::Running;
            let core = &mut self.cores[core];
            if is_new_turn || core.slice_end <= start {
                core.slice_end = slice_end;
            }
            return None;
        }
        if self.is_on_core(thread) {
            self.cores[self.places[thread]].is_left = true;
        }
        self.places[thread] = core;
        let is_switch = self.cores[core].last.is_some_and(|last| last != thread);
        self.cores[core] = Core { last: Some(thread), is_left: false, slice_end, clock: start };
        Some(Seat { core, ready, start, is_switch })
    }

    /// Returns the thread that can begin first, and its core. `running` has a core and is not
    /// chosen.
    fn first(&self, running: Option<usize>) -> Option<Candidate> {
        let mut waiting = Vec::new();
        let mut on_core = Vec::new();
        for thread in (0..self.states.len()).filter(|thread| !self.states[*thread].ended) {
            if running == Some(thread) {
                continue;
            }
            match self.order.ready(thread) {
                Some(ready) if ready <= self.states[thread].cycle && self.is_on_core(thread) => {
                    on_core.push(thread);
                }
                Some(ready) => waiting.push((ready, thread)),
                None => {}
            }
        }
        let (expired, on_core): (Vec<_>, Vec<_>) =
            on_core.into_iter().partition(|thread| self.must_yield(*thread, &waiting));
        waiting.extend(expired.iter().map(|thread| (self.states[*thread].cycle, *thread)));
        let mut is_free = vec![true; self.cores.len()];
        for thread in on_core.iter().chain(&running) {
            is_free[self.places[*thread]] = false;
        }
        let goes_on = on_core.into_iter().map(|thread| {
            let (start, core) = (self.states[thread].cycle, self.places[thread]);
            Candidate { start, comes_from: From::Running, ready: start, thread, core }
        });
        let free: Vec<usize> = (0..self.cores.len()).filter(|core| is_free[*core]).collect();
        let begins = waiting.into_iter().flat_map(|(ready, thread)| {
            let cores = free.iter().filter(move |core| self.may_use(thread, **core));
            let has_used_up = expired.contains(&thread);
            cores.map(move |core| self.beginning(thread, ready, *core, has_used_up))
        });
        goes_on.chain(begins).min()
    }

    /// Returns true if the thread has used up its time slice and another one waits for its core.
    fn must_yield(&self, thread: usize, waiting: &[(Cycle, usize)]) -> bool {
        let (cycle, core) = (self.states[thread].cycle, self.places[thread]);
        self.cores[core].slice_end <= cycle
            && waiting.iter().any(|(ready, other)| *ready <= cycle && self.may_use(*other, core))
    }

    fn may_use(&self, thread: usize, core: usize) -> bool {
        self.config.migrate || self.places[thread] == core
    }

    /// Returns when a thread that is ready since `ready` can begin on a free core. `has_used_up`
    /// puts it after the threads that wait for the core.
    fn beginning(&self, thread: usize, ready: Cycle, core: usize, has_used_up: bool) -> Candidate {
        let Core { last, clock, .. } = self.cores[core];
        let switches = has_used_up || last.is_some_and(|last| last != thread);
        let cost = if switches { self.config.switch_cycles } else { 0 };
        let start = ready.max(clock).saturating_add(cost);
        let is_same = self.places[thread] == core;
        let comes_from = if is_same { From::SameCore } else { From::OtherCore };
        Candidate { start, comes_from, ready, thread, core }
    }
}
