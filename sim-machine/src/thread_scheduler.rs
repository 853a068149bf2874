//! Schedules the threads of a replay: synchronizing instructions keep the requested order
//! (docs/capture.md, Threads).
//!
//! In the recorded order ([`Recorded`]), an instruction with a ticket waits until all lower tickets
//! of other running threads are passed. It is not renamed before the last of them. Missing,
//! repeated or unordered tickets never block a thread forever: the running thread with the lowest
//! ticket may always continue.

mod arrivals;
mod calls;
mod causal;
mod edges;
mod shared;
mod tickets;

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::error::MachineError;
use crate::region::RunOptions;
use crate::threads_config::{ThreadOrder, ThreadsConfig};
use arrivals::{Kinds, StreamArrivals};
use causal::Causal;
pub(crate) use shared::Seat;
use shared::{Order, SharedCores, Unordered};
use sim_core::Cycle;
use sim_trace::TraceFile;
use tickets::{LaterTickets, Thread, Tickets};

/// Order of the threads of a run, for its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderOfRun {
    /// Requested order.
    pub order: ThreadOrder,
    /// The trace records the order of synchronizing instructions.
    pub is_known: bool,
}

impl OrderOfRun {
    /// Returns the order for a trace; `None` if a single thread runs.
    pub(crate) fn of(trace: &TraceFile, order: ThreadOrder) -> Option<OrderOfRun> {
        let running = trace.streams().iter().filter(|stream| stream.instructions > 0).count();
        (running > 1).then_some(OrderOfRun { order, is_known: trace.has_tickets() })
    }

    /// Returns the order that the threads really kept.
    pub fn kept(self) -> ThreadOrder {
        if self.is_known { self.order } else { ThreadOrder::Free }
    }

    /// Returns a description of one line.
    pub fn describe(self) -> &'static str {
        match self.order {
            _ if !self.is_known => {
                "the trace does not say in which order they synchronized; no thread waits"
            }
            ThreadOrder::Recorded => {
                "all that synchronizes as it came on the recording machine, in its time slices"
            }
            ThreadOrder::Causal => {
                "a release before the acquire that may have read it, create, wake and exit before what follows them"
            }
            ThreadOrder::Free => "no thread waits, not for a lock either",
        }
    }
}

/// Returns the last cycle in which instructions of `thread` begin before it is the turn of `next`,
/// the other thread that continues first, with its clock. Instructions of one cycle run in the
/// order of the threads' numbers. So the order of two threads does not depend on others.
pub(crate) fn turn_end(thread: usize, next: Option<(Cycle, usize)>) -> Cycle {
    match next {
        None => Cycle::MAX,
        Some((clock, other)) if thread < other => clock,
        Some((clock, _)) => clock.saturating_sub(1),
    }
}

/// The two threads that continue first, each with its clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FirstTwo {
    pub(crate) first: Option<(Cycle, usize)>,
    pub(crate) second: Option<(Cycle, usize)>,
}

impl FirstTwo {
    /// Adds a thread.
    pub(crate) fn add(&mut self, one: (Cycle, usize)) {
        if self.first.is_none_or(|first| one < first) {
            self.second = self.first.replace(one);
        } else if self.second.is_none_or(|second| one < second) {
            self.second = Some(one);
        }
    }
}

/// State of a thread between two time slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadState {
    /// The thread has no instruction left.
    pub(crate) ended: bool,
    /// Number of the next instruction.
    pub(crate) position: u64,
    /// Current cycle of the thread.
    pub(crate) cycle: Cycle,
}

/// Thread to run next, and its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) thread: usize,
    /// Cycle that the thread's clock must pass before the next choice.
    pub(crate) until: Cycle,
    /// First instruction that may not run; `u64::MAX` for no limit.
    pub(crate) hold_at: u64,
    /// Cycle until which the thread waits for another thread; 0 if it does not wait.
    pub(crate) wait: Cycle,
    /// The core that it gets, if threads share cores and it does not have it already.
    pub(crate) seat: Option<Seat>,
}

/// Extent of a thread's next turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// First instruction that may not run; see [`Choice::hold_at`].
    hold_at: u64,
    /// Cycle until which it waits; see [`Choice::wait`].
    wait: Cycle,
    /// It has just passed a ticket that others may wait for.
    is_passing: bool,
}

/// A thread that can run without another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Free {
    pub(crate) thread: usize,
    /// Cycle in which it continues.
    pub(crate) clock: Cycle,
    /// Instructions that it can run; `u64::MAX` for no limit.
    pub(crate) instructions: u64,
    /// First instruction that may not run; see [`Choice::hold_at`].
    pub(crate) hold_at: u64,
    /// Cycle until which it waits; see [`Choice::wait`].
    pub(crate) wait: Cycle,
}

/// Scheduler by the order of the threads.
pub(crate) enum ThreadScheduler<'t> {
    Recorded(Recorded),
    Causal(Box<Causal<StreamArrivals<'t>>>),
    Shared(Box<SharedCores<'t>>),
}

impl<'t> ThreadScheduler<'t> {
    /// Creates the scheduler of these streams, whose clocks start at `start`. Returns `None` if
    /// there is nothing to order.
    pub(crate) fn of(
        trace: &'t TraceFile,
        config: ThreadsConfig,
        options: &RunOptions,
        streams: impl ExactSizeIterator<Item = u32>,
        start: Cycle,
    ) -> Result<Option<ThreadScheduler<'t>>, MachineError> {
        let begin = ThreadState { ended: false, position: 0, cycle: start };
        let states = vec![begin; streams.len()];
        ThreadScheduler::at(trace, config, options, streams, states)
    }

    /// Creates the scheduler of these streams in these states: the first ones, or in the recorded
    /// order those at a cut. Returns `None` if there is nothing to order.
    fn at(
        trace: &'t TraceFile,
        config: ThreadsConfig,
        options: &RunOptions,
        streams: impl ExactSizeIterator<Item = u32>,
        states: Vec<ThreadState>,
    ) -> Result<Option<ThreadScheduler<'t>>, MachineError> {
        let has_order = trace.has_tickets() && streams.len() > 1;
        let is_shared = config.shares_cores(streams.len());
        let shared = |order| SharedCores::new(order, states.clone(), config);
        let scheduler = match config.order {
            ThreadOrder::Recorded if has_order => {
                let places = states.iter().map(|state| state.position);
                let readers: Result<Vec<LaterTickets>, MachineError> = streams
                    .zip(places)
                    .map(|(one, from)| Ok(LaterTickets::new(trace.tickets_at(one, from)?, from)))
                    .collect();
                let recorded = Recorded::new(readers?, states.clone())?;
                match is_shared {
                    true => ThreadScheduler::Shared(Box::new(shared(Box::new(recorded)))),
                    false => ThreadScheduler::Recorded(recorded),
                }
            }
            ThreadOrder::Causal if has_order => {
                let kinds = Rc::new(Kinds::of(trace.statics()));
                let end = options.last_instruction();
                let arrivals: Vec<StreamArrivals> = streams
                    .map(|one| StreamArrivals::new(trace, one, kinds.clone(), end))
                    .collect();
                let causal = Causal::new(arrivals, states.clone(), !options.may_stop_sooner())?;
                match is_shared {
                    true => ThreadScheduler::Shared(Box::new(shared(Box::new(causal)))),
                    false => ThreadScheduler::Causal(Box::new(causal)),
                }
            }
            _ if is_shared => {
                let order = Box::new(Unordered(states.clone()));
                ThreadScheduler::Shared(Box::new(shared(order)))
            }
            _ => return Ok(None),
        };
        Ok(Some(scheduler))
    }

    /// Appends to `words` what a window needs to know of waits before these positions, and more
    /// than the tickets say.
    pub(crate) fn save(&mut self, ends: &[u64], words: &mut Vec<u64>) -> Result<(), MachineError> {
        match self {
            ThreadScheduler::Causal(causal) => causal.save(ends, words),
            ThreadScheduler::Recorded(_) | ThreadScheduler::Shared(_) => Ok(()),
        }
    }

    /// Creates the scheduler of a window from the words of [`ThreadScheduler::save`]. Returns
    /// `None` if they are not of this trace.
    pub(crate) fn load(
        trace: &'t TraceFile,
        config: ThreadsConfig,
        streams: impl ExactSizeIterator<Item = u32>,
        states: Vec<ThreadState>,
        words: &[u64],
    ) -> Result<Option<Option<ThreadScheduler<'t>>>, MachineError> {
        if config.order == ThreadOrder::Causal && trace.has_tickets() {
            let causal = Causal::load(words, states)?;
            return Ok(causal.map(|causal| Some(ThreadScheduler::Causal(Box::new(causal)))));
        }
        ThreadScheduler::at(trace, config, &RunOptions::default(), streams, states).map(Some)
    }

    /// Returns the thread to run next: the lowest clock among those that need not wait. Returns
    /// `None` once all threads have ended.
    pub(crate) fn choose(&mut self) -> Result<Option<Choice>, MachineError> {
        match self {
            ThreadScheduler::Recorded(recorded) => recorded.choose(),
            ThreadScheduler::Causal(causal) => causal.choose(),
            ThreadScheduler::Shared(shared) => shared.choose(),
        }
    }

    /// Returns the cycle in which a thread that has not ended can continue; `None` if it waits for
    /// something that has not happened yet, or if threads share cores.
    pub(crate) fn ready(&self, thread: usize) -> Option<Cycle> {
        match self {
            ThreadScheduler::Recorded(recorded) => recorded.ready(thread),
            ThreadScheduler::Causal(causal) => causal.ready(thread),
            ThreadScheduler::Shared(_) => None,
        }
    }

    /// Makes a thread wait until a cycle before it continues.
    pub(crate) fn delay(&mut self, thread: usize, until: Cycle) {
        match self {
            ThreadScheduler::Recorded(recorded) => recorded.threads[thread].wait = until,
            ThreadScheduler::Causal(causal) => causal.delay(thread, until),
            ThreadScheduler::Shared(_) => {}
        }
    }

    /// Records the thread's position and clock after it ran.
    pub(crate) fn ran(&mut self, thread: usize, state: ThreadState) {
        match self {
            ThreadScheduler::Recorded(recorded) => recorded.ran(thread, state),
            ThreadScheduler::Causal(causal) => causal.ran(thread, state),
            ThreadScheduler::Shared(shared) => shared.ran(thread, state),
        }
    }

    /// Returns the threads that can run at the same time, and the cycle in which another one
    /// continues that waits or is waited for. The recorded order is one of all threads: none is
    /// free in it. On shared cores none is free either.
    pub(crate) fn free(&mut self) -> (Vec<Free>, Cycle) {
        match self {
            ThreadScheduler::Recorded(_) | ThreadScheduler::Shared(_) => (Vec::new(), Cycle::MAX),
            ThreadScheduler::Causal(causal) => causal.free(),
        }
    }

    /// Records the state of a thread after it ran with others. `has_run` says whether it ran any
    /// instruction.
    pub(crate) fn ran_quantum(&mut self, thread: usize, state: ThreadState, has_run: bool) {
        if let ThreadScheduler::Causal(causal) = self {
            if has_run {
                causal.begin(thread);
            }
            causal.ran(thread, state);
        }
    }
}

/// Scheduler by the total order of the recording machine.
pub(crate) struct Recorded<T = LaterTickets> {
    threads: Vec<Thread<T>>,
    states: Vec<ThreadState>,
    /// Lowest ticket of each thread that has one and runs, lowest first.
    lowest: BTreeSet<(u64, usize)>,
    /// Running threads that do not wait for a ticket of another thread.
    runnable: BTreeSet<usize>,
    /// Cycle in which the last ticket was passed.
    passed_at: Cycle,
    /// The current thread has just passed a ticket.
    is_passing: bool,
}

impl<T: Tickets> Recorded<T> {
    fn new(threads: Vec<T>, states: Vec<ThreadState>) -> Result<Recorded<T>, MachineError> {
        let threads: Result<Vec<Thread<T>>, _> = threads.into_iter().map(Thread::new).collect();
        let threads = threads?;
        let runs = |i: &usize| !states[*i].ended;
        let orders = (0..threads.len()).filter(runs).map(|i| (threads[i].next, i));
        let lowest = orders.filter_map(|(next, i)| Some((next?.order, i))).collect();
        let runnable = (0..threads.len()).filter(runs).collect();
        Ok(Recorded { threads, states, lowest, runnable, passed_at: 0, is_passing: false })
    }

    /// Returns the thread to run next; see [`ThreadScheduler::choose`].
    fn choose(&mut self) -> Result<Option<Choice>, MachineError> {
        loop {
            let order = self.first_two();
            let Some((clock, first)) = order.first else { return Ok(None) };
            let Some(turn) = self.begin_turn(first, clock)? else { continue };
            let Turn { hold_at, wait, is_passing } = turn;
            // After a ticket the thread runs alone until its clock moves, so that its cycle is
            // known.
            let until = if is_passing { clock } else { turn_end(first, order.second) };
            debug_assert!(wait <= clock, "its clock counts what it waits");
            return Ok(Some(Choice { thread: first, until, hold_at, wait, seat: None }));
        }
    }

    /// Returns the threads that can continue and have the lowest clocks. Waiting threads leave the
    /// list until their ticket is the lowest.
    fn first_two(&mut self) -> FirstTwo {
        let mut runnable = std::mem::take(&mut self.runnable);
        let mut order = FirstTwo::default();
        runnable.retain(|&i| {
            let clock = self.clock(i);
            clock.inspect(|clock| order.add((*clock, i))).is_some()
        });
        self.runnable = runnable;
        order
    }

    /// Makes the threads with the lowest ticket runnable.
    fn admit(&mut self) {
        let Some(&(lowest, _)) = self.lowest.first() else { return };
        let next = self.lowest.iter().take_while(|(order, _)| *order == lowest);
        self.runnable.extend(next.map(|(_, i)| *i));
    }

    fn pass(&mut self, i: usize) -> Result<(), MachineError> {
        let cycle = self.states[i].cycle;
        let thread = &mut self.threads[i];
        if self.passed_at > cycle {
            thread.wait = self.passed_at;
        }
        self.passed_at = self.passed_at.max(cycle);
        self.is_passing = true;
        if let Some(passed) = thread.next {
            self.lowest.remove(&(passed.order, i));
        }
        thread.pass()?;
        self.lowest.extend(thread.next.map(|ticket| (ticket.order, i)));
        self.admit();
        Ok(())
    }

    /// Returns true if the next instruction of the thread has a ticket.
    fn is_held(&self, i: usize) -> bool {
        self.states[i].position >= self.threads[i].place()
    }

    /// Returns true if no other running thread has a lower ticket.
    fn is_next(&self, i: usize) -> bool {
        let mine = self.threads[i].next.map_or(u64::MAX, |ticket| ticket.order);
        self.lowest.first().is_none_or(|(lowest, _)| *lowest >= mine)
    }

    /// Returns the cycle in which a thread continues; `None` if it cannot.
    fn clock(&self, i: usize) -> Option<Cycle> {
        let state = &self.states[i];
        if state.ended {
            return None;
        }
        let own = state.cycle.max(self.threads[i].wait);
        match self.is_held(i) {
            false => Some(own),
            true => self.is_next(i).then(|| own.max(self.passed_at)),
        }
    }
}

impl<T: Tickets> Order for Recorded<T> {
    fn ready(&self, thread: usize) -> Option<Cycle> {
        self.clock(thread)
    }

    fn begin_turn(&mut self, thread: usize, _: Cycle) -> Result<Option<Turn>, MachineError> {
        self.is_passing = false;
        if self.is_held(thread) {
            self.pass(thread)?;
            if self.is_held(thread) {
                return Ok(None);
            }
        }
        let is_passing = self.is_passing;
        let thread = &mut self.threads[thread];
        let wait = std::mem::take(&mut thread.wait);
        Ok(Some(Turn { hold_at: thread.place(), wait, is_passing }))
    }

    fn ran(&mut self, thread: usize, state: ThreadState) {
        self.states[thread] = state;
        if self.is_passing {
            self.passed_at = self.passed_at.max(state.cycle);
        }
        if state.ended {
            self.runnable.remove(&thread);
            if let Some(ticket) = self.threads[thread].next {
                self.lowest.remove(&(ticket.order, thread));
            }
            self.admit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sim_trace::Ticket;

    #[test]
    fn instructions_of_one_cycle_run_in_the_order_of_their_threads() {
        // Thread 1 of 0, 1 and 2, all at cycle 7: its turn ends before those of later cycles.
        assert_eq!(turn_end(1, Some((7, 2))), 7);
        // Thread 2 is at cycle 7, thread 1 at 9: cycle 9 belongs to thread 1 first.
        assert_eq!(turn_end(2, Some((9, 1))), 8);
        assert_eq!(turn_end(0, Some((0, 1))), 0);
        assert_eq!(turn_end(3, None), Cycle::MAX);
    }

    #[test]
    fn the_first_of_several_threads_at_one_cycle_has_the_lowest_number() {
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [1, 0, 2]] {
            let mut two = FirstTwo::default();
            order.into_iter().for_each(|thread| two.add((7, thread)));
            assert_eq!((two.first, two.second), (Some((7, 0)), Some((7, 1))), "{order:?}");
        }
        let mut two = FirstTwo::default();
        [(9, 0), (7, 2), (8, 1)].into_iter().for_each(|one| two.add(one));
        assert_eq!((two.first, two.second), (Some((7, 2)), Some((8, 1))));
    }

    impl Tickets for std::vec::IntoIter<Ticket> {
        fn next_ticket(&mut self) -> Result<Option<Ticket>, MachineError> {
            Ok(self.next())
        }
    }

    /// Thread of `length` instructions that take `cycles` cycles each.
    #[derive(Clone, Debug)]
    struct Script {
        length: u64,
        cycles: Cycle,
        tickets: Vec<Ticket>,
    }

    /// Executed instruction with a ticket: the ticket, and the cycle.
    type Ran = (u64, Cycle);

    /// Runs the threads to their ends, as a session does. Returns the instructions with tickets in
    /// the order of their execution.
    fn run(scripts: &[Script]) -> Vec<Ran> {
        let tickets = scripts.iter().map(|one| one.tickets.clone().into_iter()).collect();
        let mut at: Vec<ThreadState> = scripts
            .iter()
            .map(|one| ThreadState { ended: one.length == 0, position: 0, cycle: 0 })
            .collect();
        let mut scheduler = Recorded::new(tickets, at.clone()).expect("scripts do not fail");
        let mut ran = Vec::new();
        let mut left: usize = scripts.iter().map(|s| s.length as usize + s.tickets.len()).sum();
        while let Some(choice) = scheduler.choose().expect("scripts do not fail") {
            assert!(left > 0, "a thread is chosen that cannot go on");
            left -= 1;
            let (script, one) = (&scripts[choice.thread], &mut at[choice.thread]);
            assert!(!one.ended && one.position < choice.hold_at);
            one.cycle = one.cycle.max(choice.wait);
            while one.position < script.length.min(choice.hold_at) {
                let here = script.tickets.iter().filter(|ticket| ticket.position == one.position);
                one.cycle += script.cycles;
                ran.extend(here.map(|ticket| (ticket.order, one.cycle)));
                one.position += 1;
                if one.cycle > choice.until {
                    break;
                }
            }
            one.ended = one.position >= script.length;
            scheduler.ran(choice.thread, *one);
        }
        assert!(at.iter().all(|one| one.ended), "every thread ends");
        ran
    }

    fn script(length: u64, cycles: Cycle, tickets: &[(u64, u64)]) -> Script {
        let ticket = |&(position, order): &(u64, u64)| Ticket { position, order };
        Script { length, cycles, tickets: tickets.iter().map(ticket).collect() }
    }

    #[test]
    fn a_fast_thread_waits_for_a_slow_one_with_a_lower_ticket() {
        let slow = script(10, 7, &[(3, 0), (8, 3)]);
        let fast = script(10, 1, &[(1, 1), (2, 2), (9, 4)]);
        let ran = run(&[slow, fast]);
        // The slow thread's fourth instruction ends in cycle 28, its ninth in cycle 63.
        assert_eq!(ran, [(0, 28), (1, 29), (2, 30), (3, 63), (4, 64)]);
    }

    #[test]
    fn a_missing_ticket_holds_no_thread() {
        let ran = run(&[script(5, 1, &[(4, 900)]), script(5, 10, &[(0, 7), (9, 8)])]);
        assert_eq!(ran, [(7, 10), (900, 11)], "8 belongs to no instruction that runs");
    }

    #[test]
    fn other_threads_run_between_two_tickets_of_one_instruction() {
        // Both instructions began before either ended, so the order of their ends counts.
        let ran = run(&[script(1, 1, &[(0, 0), (0, 3)]), script(1, 1, &[(0, 1), (0, 2)])]);
        assert_eq!(ran.iter().map(|(order, _)| *order).collect::<Vec<_>>(), [1, 2, 0, 3]);
    }

    /// Threads whose tickets come from one counter, with some lost.
    fn recorded() -> impl Strategy<Value = Vec<Script>> {
        let thread = (0u64..60, 1u64..9);
        let threads = prop::collection::vec(thread, 1..5);
        let draws = prop::collection::vec((any::<prop::sample::Index>(), 0u64..20, 0u32..9), 0..80);
        (threads, draws).prop_map(|(threads, draws)| {
            let mut scripts: Vec<Script> =
                threads.iter().map(|&(length, cycles)| script(length, cycles, &[])).collect();
            let mut places = vec![0; scripts.len()];
            for ((index, step, lost), order) in draws.into_iter().zip(0..) {
                let i = index.index(scripts.len());
                places[i] += step;
                if lost > 0 {
                    scripts[i].tickets.push(Ticket { position: places[i], order });
                }
            }
            scripts
        })
    }

    fn any_script() -> impl Strategy<Value = Script> {
        let ticket = (0u64..70, prop_oneof![0u64..12, any::<u64>()]);
        let tickets = prop::collection::vec(ticket, 0..20);
        (0u64..60, 0u64..5, tickets)
            .prop_map(|(length, cycles, tickets)| script(length, cycles, &tickets))
    }

    proptest! {
        #[test]
        fn tickets_are_passed_in_their_order(scripts in recorded()) {
            let last = |script: &Script, ticket: &Ticket| {
                let here = |other: &&Ticket| other.position == ticket.position;
                script.tickets.iter().rfind(here) == Some(ticket)
            };
            let ends = scripts.iter().flat_map(|s| s.tickets.iter().filter(|t| last(s, t)));
            let ends: Vec<u64> = ends.map(|ticket| ticket.order).collect();
            let ran = run(&scripts);
            // An instruction with several tickets runs after the last of them.
            let ran: Vec<&Ran> = ran.iter().filter(|(order, _)| ends.contains(order)).collect();
            prop_assert!(ran.windows(2).all(|pair| pair[0].0 < pair[1].0), "{ran:?}");
            prop_assert!(ran.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{ran:?}");
        }

        #[test]
        fn no_list_of_tickets_stops_a_thread(scripts in prop::collection::vec(any_script(), 1..5)) {
            run(&scripts);
        }
    }
}
