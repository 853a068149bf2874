//! Threads on fewer cores than there are threads: which thread has which core, and when.
//!
//! A thread keeps its core until it ends, until another one can begin there before its wait ends,
//! or until its time slice is over and another one needs the core. A free core takes the thread
//! that can begin first; of several, one that ran on it before, then the one that has been ready
//! longest. A thread that finds its core taken moves to a free one, unless threads are pinned.

use super::{Choice, ThreadState, Turn, turn_end};
use crate::error::MachineError;
use crate::threads_config::ThreadsConfig;
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
    /// Another thread had the core before.
    pub(crate) is_switch: bool,
    /// Cycles that the core needs to change its thread; 0 if no other thread had it.
    pub(crate) switch_cycles: Cycle,
}

/// A core of the machine.
#[derive(Clone, Copy, Debug)]
struct Core {
    /// The thread that ran on it last.
    last: Option<usize>,
    /// Clock of that thread when it ran last.
    clock: Cycle,
    /// End of the thread's time slice.
    slice_end: Cycle,
}

/// A thread, and the core on which it can begin. Instructions of one cycle run in the order of the
/// threads' numbers if both threads have their cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// Cycle in which it begins.
    start: Cycle,
    origin: Origin,
    /// Cycle since which it can run.
    ready: Cycle,
    thread: usize,
    core: usize,
}

/// Former place of a thread that gets a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// It runs on this core.
    Running,
    /// It ran on this core last, or shall run there first.
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
    /// Lists of one choice, kept to save their memory.
    lists: Lists,
}

/// The threads that can continue, and the cores that are free, at one choice.
#[derive(Default)]
struct Lists {
    /// Threads on their cores, which go on at once.
    running: Vec<usize>,
    /// Threads that need a core: since when, and which.
    waiting: Vec<(Cycle, usize)>,
    /// Threads on their cores whose slice is over.
    expired: Vec<usize>,
    is_free: Vec<bool>,
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
        let core = Core { last: None, clock, slice_end: 0 };
        SharedCores {
            order,
            config,
            places: (0..states.len()).map(|thread| thread % config.cores).collect(),
            cores: vec![core; config.cores],
            states,
            lists: Lists::default(),
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
            let Candidate { thread, start, ready, .. } = first;
            let Some(turn) = self.order.begin_turn(thread, ready)? else { continue };
            let seat = self.take(&first);
            let next = self.first(Some(thread)).map(|next| (next.start, next.thread));
            // After a ticket the thread runs alone until its clock moves, so that its cycle is
            // known. A thread that has its turn before one with a lower number, because that one
            // has no core yet, runs in this cycle too.
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
        self.cores[self.places[thread]].last == Some(thread)
    }

    /// Gives a thread its core. Returns the seat, if it did not have the core. The time slice
    /// begins with the seat, and again when it is over and no other thread needs the core. A wait
    /// on the core does not begin a new one: two threads that wait for each other in turn would
    /// keep theirs from all others.
    fn take(&mut self, chosen: &Candidate) -> Option<Seat> {
        let Candidate { thread, core, ready, start, .. } = *chosen;
        let slice_end = start.saturating_add(self.config.slice_cycles);
        if self.places[thread] == core && self.is_on_core(thread) {
            let core = &mut self.cores[core];
            if core.slice_end <= start {
                core.slice_end = slice_end;
            }
            return None;
        }
        self.places[thread] = core;
        let (is_switch, switch_cycles) =
            (self.is_switch(thread, core), self.switch_cycles(thread, core));
        self.cores[core] = Core { last: Some(thread), slice_end, clock: start };
        Some(Seat { core, ready, is_switch, switch_cycles })
    }

    /// Returns the thread that can begin first, and its core. `turn` has its core and is not
    /// chosen.
    fn first(&mut self, turn: Option<usize>) -> Option<Candidate> {
        let mut lists = std::mem::take(&mut self.lists);
        self.list(turn, &mut lists);
        let going_on = lists.running.iter().map(|thread| {
            let (start, core) = (self.states[*thread].cycle, self.places[*thread]);
            Candidate { start, origin: Origin::Running, ready: start, thread: *thread, core }
        });
        let free = self.best_free(&lists.is_free);
        let waiting = lists.waiting.iter();
        let begins = waiting.filter_map(|(ready, thread)| {
            let own = Some(self.places[*thread]).filter(|core| lists.is_free[*core]);
            let others = free.into_iter().flatten().filter(|_| self.config.migrate);
            let cores = own.into_iter().chain(others);
            cores.map(|core| self.beginning(*thread, *ready, core)).min()
        });
        let first = going_on.chain(begins).min();
        self.lists = lists;
        first
    }

    /// Sorts the threads that can continue into the lists, and finds the free cores.
    fn list(&self, turn: Option<usize>, lists: &mut Lists) {
        let Lists { running, waiting, expired, is_free } = lists;
        running.clear();
        waiting.clear();
        expired.clear();
        is_free.clear();
        is_free.resize(self.cores.len(), true);
        for (thread, state) in self.states.iter().enumerate() {
            if state.ended || turn == Some(thread) {
                continue;
            }
            match self.order.ready(thread) {
                Some(ready) if ready <= state.cycle && self.is_on_core(thread) => {
                    let slice_end = self.cores[self.places[thread]].slice_end;
                    let list = if slice_end <= state.cycle { &mut *expired } else { &mut *running };
                    list.push(thread);
                }
                Some(ready) => waiting.push((ready, thread)),
                None => {}
            }
        }
        for thread in running.iter().chain(expired.iter()).chain(&turn) {
            is_free[self.places[*thread]] = false;
        }
        self.end_slices(lists);
    }

    /// Frees the core of each thread whose slice is over and whose core another one needs. The
    /// thread waits for a core once the other one has taken it.
    fn end_slices(&self, lists: &mut Lists) {
        let Lists { running, waiting, expired, is_free } = lists;
        if expired.is_empty() {
            return;
        }
        waiting.sort_unstable();
        expired.sort_unstable_by_key(|thread| self.cores[self.places[*thread]].slice_end);
        let free = self.best_free(is_free);
        for &(ready, thread) in waiting.iter() {
            let own = self.places[thread];
            let others = free.into_iter().flatten().filter(|_| self.config.migrate);
            let cores = Some(own).filter(|core| is_free[*core]).into_iter().chain(others);
            let start = cores.map(|core| self.beginning(thread, ready, core).start).min();
            let needs = |other: &usize| {
                let (cycle, core) = (self.states[*other].cycle, self.places[*other]);
                let may_use = self.config.migrate || own == core;
                may_use && ready <= cycle && start.is_none_or(|start| start > cycle)
            };
            let at = expired.iter().position(|other| self.places[*other] == own && needs(other));
            if let Some(at) = at.or_else(|| expired.iter().position(needs)) {
                is_free[self.places[expired.remove(at)]] = true;
            }
        }
        running.append(expired);
    }

    /// Returns the free core that was used and is free first, and the first one that was never
    /// used.
    fn best_free(&self, is_free: &[bool]) -> [Option<usize>; 2] {
        let free = || (0..self.cores.len()).filter(|core| is_free[*core]);
        let used = free().filter(|core| self.cores[*core].last.is_some());
        let unused = free().find(|core| self.cores[*core].last.is_none());
        [used.min_by_key(|core| self.cores[*core].clock), unused]
    }

    /// Returns the cycles that a core needs to change to this thread.
    fn switch_cycles(&self, thread: usize, core: usize) -> Cycle {
        if self.is_switch(thread, core) { self.config.switch_cycles } else { 0 }
    }

    /// Returns true if another thread had the core before.
    fn is_switch(&self, thread: usize, core: usize) -> bool {
        self.cores[core].last.is_some_and(|last| last != thread)
    }

    /// Returns when a thread that is ready since `ready` can begin on a free core.
    fn beginning(&self, thread: usize, ready: Cycle, core: usize) -> Candidate {
        let begins = ready.max(self.cores[core].clock);
        let start = begins.saturating_add(self.switch_cycles(thread, core));
        let is_same = self.places[thread] == core;
        let origin = if is_same { Origin::SameCore } else { Origin::OtherCore };
        Candidate { start, origin, ready, thread, core }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads_config::ThreadOrder;
    use proptest::prelude::*;

    /// Threads that run for some cycles, then wait for so many others, and so on.
    struct Script {
        /// Cycle in which each thread continues; `None` after its end.
        ready: Vec<Option<Cycle>>,
    }

    impl Order for Script {
        fn ready(&self, thread: usize) -> Option<Cycle> {
            self.ready[thread]
        }

        fn begin_turn(&mut self, _: usize, _: Cycle) -> Result<Option<Turn>, MachineError> {
            Ok(Some(Turn { hold_at: u64::MAX, wait: 0, is_passing: false }))
        }

        fn ran(&mut self, _: usize, _: ThreadState) {}
    }

    const SLICE: Cycle = 500;
    const SWITCH: Cycle = 30;

    fn config(cores: usize, migrate: bool) -> ThreadsConfig {
        let (slice_cycles, switch_cycles) = (SLICE, SWITCH);
        ThreadsConfig { order: ThreadOrder::Free, cores, slice_cycles, switch_cycles, migrate }
    }

    /// Time that a thread has a core: thread, core, first cycle and the cycle after the last.
    type Stay = (usize, usize, Cycle, Cycle);

    /// Runs threads, each for its first number of cycles, then for 100 after each wait of the other
    /// numbers. Returns their stays on cores, and the longest time that one was ready without a
    /// core.
    fn run(scripts: &[Vec<u64>], config: ThreadsConfig) -> (Vec<Stay>, Cycle) {
        let begin = ThreadState { ended: false, position: 0, cycle: 1 };
        let mut states = vec![begin; scripts.len()];
        let mut left: Vec<Vec<u64>> = scripts.to_vec();
        left.iter_mut().for_each(|script| script.reverse());
        let mut ready: Vec<Option<Cycle>> = vec![Some(1); scripts.len()];
        let mut shared = SharedCores::new(Box::new(Unordered(Vec::new())), states.clone(), config);
        let (mut stays, mut longest) = (Vec::<Stay>::new(), 0);
        for _ in 0..1_000_000 {
            shared.order = Box::new(Script { ready: ready.clone() });
            let Some(choice) = shared.choose().expect("no ticket") else { return (stays, longest) };
            let thread = choice.thread;
            let mut cycle = states[thread].cycle.max(ready[thread].expect("it can continue"));
            if let Some(seat) = choice.seat {
                let of_core = stays.iter().filter(|stay| stay.1 == seat.core);
                let free_from = of_core.map(|stay| stay.3).max().unwrap_or(0);
                let start = seat.ready.max(free_from) + seat.switch_cycles;
                let before = stays.iter().rfind(|stay| stay.1 == seat.core);
                if let Some(&(other, _, from, until)) = before.filter(|stay| stay.0 != thread) {
                    let has_moved = stays.iter().rfind(|stay| stay.0 == other) != before;
                    let stops = has_moved || ready[other].is_none_or(|ready| ready > until);
                    assert!(stops || until - from >= SLICE, "thread {other} loses its core early");
                }
                longest = longest.max(start - seat.ready);
                cycle = start;
                stays.push((thread, seat.core, cycle, cycle));
            }
            // It runs until the clock passes `until`, in steps of 7 cycles, or to its next wait.
            let piece = left[thread].last_mut().expect("it has not ended");
            while *piece > 0 && cycle <= choice.until {
                let step = (*piece).min(7);
                (cycle, *piece) = (cycle + step, *piece - step);
            }
            let stay = stays.iter_mut().rfind(|stay| stay.0 == thread).expect("it has a core");
            stay.3 = cycle;
            ready[thread] = Some(cycle);
            if *piece == 0 {
                left[thread].pop();
                ready[thread] = left[thread].pop().map(|wait| cycle + wait);
                left[thread].extend(ready[thread].map(|_| 100));
            }
            let ended = ready[thread].is_none();
            states[thread] = ThreadState { ended, position: 0, cycle };
            shared.ran(thread, states[thread]);
        }
        panic!("a run of {scripts:?} does not end");
    }

    proptest! {
        #[test]
        fn every_thread_gets_a_core_alone_and_in_time(
            scripts in prop::collection::vec(prop::collection::vec(1u64..900, 1..9), 1..9),
            cores in 1usize..5,
            migrate: bool,
        ) {
            let (stays, longest) = run(&scripts, config(cores, migrate));
            for stay in &stays {
                prop_assert!(stay.1 < cores && stay.2 < stay.3, "{stay:?}");
                let others = stays.iter().filter(|other| *other != stay);
                for other in others.filter(|other| other.1 == stay.1 || other.0 == stay.0) {
                    let is_apart = stay.3 <= other.2 || other.3 <= stay.2;
                    prop_assert!(is_apart, "{stay:?} and {other:?}");
                }
                prop_assert!(migrate || stay.1 == stay.0 % cores, "{stay:?} is pinned");
            }
            let bound = scripts.len() as Cycle * (SLICE + SWITCH + 7);
            prop_assert!(longest <= bound, "{longest} of {bound}");
        }
    }

    #[test]
    fn a_thread_that_never_waits_gets_a_core_beside_two_that_wait_for_one_another() {
        // Threads 0 and 1 wait 20 cycles after each 100, less than a switch takes; thread 2 never.
        let waits = vec![20; 200];
        let (stays, longest) = run(&[waits.clone(), waits, vec![5_000]], config(2, true));
        assert!(longest <= 2 * (SLICE + SWITCH), "{longest}");
        assert!(stays.iter().any(|stay| stay.0 == 2));
    }

    #[test]
    fn a_thread_whose_slice_is_over_goes_on_if_the_other_core_takes_the_one_that_waits() {
        let (stays, _) = run(&[vec![2_000], vec![2_000], vec![900]], config(2, true));
        let of = |thread: usize| stays.iter().filter(move |stay| stay.0 == thread).count();
        assert!(of(0) + of(1) >= 3 && of(2) >= 1, "{stays:?}");
        let ends: Vec<Cycle> = (0..3)
            .filter_map(|thread| {
                stays.iter().filter(|stay| stay.0 == thread).map(|stay| stay.3).max()
            })
            .collect();
        assert!(ends[0].max(ends[1]) < 2_000 + 1_400, "{ends:?}");
    }
}
