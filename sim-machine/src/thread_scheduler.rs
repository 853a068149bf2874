//! Whose turn it is: what synchronizes threads comes in the order that was asked for
//! (docs/capture.md, Threads).
//!
//! The rule of the recorded order ([`Recorded`]): an instruction with a ticket waits until every
//! lower ticket of another thread that still runs was passed, and is not renamed before the one
//! that passed last. Tickets that are absent, doubled or out of order hold no thread for good: of
//! all threads that run, the one whose ticket is the lowest may always go on.

mod arrivals;
mod calls;
mod causal;
mod edges;

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::error::MachineError;
use crate::region::RunOptions;
use arrivals::{Kinds, StreamArrivals};
use causal::Causal;
use serde::Deserialize;
use sim_core::Cycle;
use sim_trace::{Ticket, TicketReader, TraceFile};

/// In which order threads synchronize in a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadOrder {
    /// Every instruction that synchronizes in its place among all of them, as they came on the
    /// recording machine.
    Recorded,
    /// By happens-before alone: an acquire behind the releases that it may have read, a thread
    /// behind the call that made it, a wait behind the wake.
    #[default]
    Causal,
    /// By nothing but the modeled time.
    Free,
}

impl ThreadOrder {
    /// Its name on the command line and in outputs.
    pub fn name(self) -> &'static str {
        match self {
            ThreadOrder::Recorded => "recorded",
            ThreadOrder::Causal => "causal",
            ThreadOrder::Free => "free",
        }
    }
}

/// In which order the threads of a run ran, for its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderOfRun {
    /// What was asked for.
    pub order: ThreadOrder,
    /// The trace says in which order its threads synchronized.
    pub is_known: bool,
}

impl OrderOfRun {
    /// That of a trace; `None` if it has one thread.
    pub(crate) fn of(trace: &TraceFile, order: ThreadOrder) -> Option<OrderOfRun> {
        let running = trace.streams().iter().filter(|stream| stream.instructions > 0).count();
        (running > 1).then_some(OrderOfRun { order, is_known: trace.has_tickets() })
    }

    /// The order that the threads really had.
    pub fn kept(self) -> ThreadOrder {
        if self.is_known { self.order } else { ThreadOrder::Free }
    }

    /// What it means, in a line.
    pub fn describe(self) -> &'static str {
        match self.order {
            _ if !self.is_known => {
                "the trace does not say in which order they synchronized; nobody waits"
            }
            ThreadOrder::Recorded => {
                "all that synchronizes as it came on the recording machine, in its time slices"
            }
            ThreadOrder::Causal => {
                "a release before the acquire that may have read it, create, wake and exit before what follows them"
            }
            ThreadOrder::Free => "nobody waits, not for a lock either",
        }
    }
}

/// Where the tickets of one thread come from, in order.
pub(crate) trait Tickets {
    /// The next one; `None` behind the last.
    fn next_ticket(&mut self) -> Result<Option<Ticket>, MachineError>;
}

impl Tickets for TicketReader {
    fn next_ticket(&mut self) -> Result<Option<Ticket>, MachineError> {
        Ok(TicketReader::next_ticket(self)?)
    }
}

/// Where a thread stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadState {
    /// It has nothing left to run.
    pub(crate) ended: bool,
    /// Number of its next instruction.
    pub(crate) position: u64,
    /// Its clock.
    pub(crate) cycle: Cycle,
}

/// Which thread runs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) thread: usize,
    /// Until its clock passes this one, ...
    pub(crate) until: Cycle,
    /// ... or up to this instruction; `u64::MAX` for none.
    pub(crate) hold_at: u64,
    /// It waits for another thread until this cycle; 0 if it does not.
    pub(crate) wait: Cycle,
}

/// A thread's tickets.
struct Thread<T> {
    tickets: T,
    /// The lowest that it has not passed.
    next: Option<Ticket>,
    /// Until when it waits.
    wait: Cycle,
}

impl<T: Tickets> Thread<T> {
    fn new(mut tickets: T) -> Result<Thread<T>, MachineError> {
        let next = tickets.next_ticket()?;
        Ok(Thread { tickets, next, wait: 0 })
    }

    fn place(&self) -> u64 {
        self.next.map_or(u64::MAX, |ticket| ticket.position)
    }

    /// Goes on to the next ticket, which belongs to no instruction that has run.
    fn pass(&mut self) -> Result<(), MachineError> {
        let passed = self.place();
        self.next = self.tickets.next_ticket()?;
        if let Some(ticket) = &mut self.next {
            ticket.position = ticket.position.max(passed);
        }
        Ok(())
    }
}

/// The order of the threads of a trace.
pub(crate) enum ThreadScheduler<'t> {
    Recorded(Recorded),
    Causal(Box<Causal<StreamArrivals<'t>>>),
}

impl<'t> ThreadScheduler<'t> {
    /// The order of these streams, whose clocks begin at `start`; `None` if there is nothing to
    /// order.
    pub(crate) fn of(
        trace: &'t TraceFile,
        order: ThreadOrder,
        options: &RunOptions,
        streams: impl ExactSizeIterator<Item = u32>,
        start: Cycle,
    ) -> Result<Option<ThreadScheduler<'t>>, MachineError> {
        if !trace.has_tickets() || streams.len() < 2 {
            return Ok(None);
        }
        let begin = ThreadState { ended: false, position: 0, cycle: start };
        let states = vec![begin; streams.len()];
        match order {
            ThreadOrder::Free => Ok(None),
            ThreadOrder::Recorded => {
                let readers: Result<Vec<TicketReader>, _> =
                    streams.map(|one| trace.tickets(one)).collect();
                Ok(Some(ThreadScheduler::Recorded(Recorded::new(readers?, states)?)))
            }
            ThreadOrder::Causal => {
                let kinds = Rc::new(Kinds::of(trace.statics()));
                let end = options.last_instruction();
                let arrivals: Vec<StreamArrivals> = streams
                    .map(|one| StreamArrivals::new(trace, one, kinds.clone(), end))
                    .collect();
                let causal = Causal::new(arrivals, states, !options.may_stop_sooner())?;
                Ok(Some(ThreadScheduler::Causal(Box::new(causal))))
            }
        }
    }

    /// Which thread runs next: the one with the lowest clock that need not wait. `None` once all
    /// have ended.
    pub(crate) fn choose(&mut self) -> Result<Option<Choice>, MachineError> {
        match self {
            ThreadScheduler::Recorded(recorded) => recorded.choose(),
            ThreadScheduler::Causal(causal) => causal.choose(),
        }
    }

    /// Records the thread's position and clock after it ran.
    pub(crate) fn ran(&mut self, thread: usize, state: ThreadState) {
        match self {
            ThreadScheduler::Recorded(recorded) => recorded.ran(thread, state),
            ThreadScheduler::Causal(causal) => causal.ran(thread, state),
        }
    }
}

/// The order of the recording machine.
pub(crate) struct Recorded<T = TicketReader> {
    threads: Vec<Thread<T>>,
    states: Vec<ThreadState>,
    /// The lowest ticket of each thread that has one and has not ended, lowest first.
    lowest: BTreeSet<(u64, usize)>,
    /// Threads that have not ended and do not wait for another one's ticket.
    runnable: BTreeSet<usize>,
    /// When the last ticket was passed.
    passed_at: Cycle,
    /// The thread that runs has just passed one.
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

    /// As [`ThreadScheduler::choose`].
    fn choose(&mut self) -> Result<Option<Choice>, MachineError> {
        loop {
            self.is_passing = false;
            let Some((clock, first, second)) = self.lowest_clocks() else { return Ok(None) };
            if self.is_held(first) {
                self.pass(first)?;
                if self.is_held(first) {
                    continue;
                }
            }
            // What passed a ticket runs alone until its clock moves: when it passed is to be known.
            let until = if self.is_passing { clock } else { second };
            let thread = &mut self.threads[first];
            let wait = std::mem::take(&mut thread.wait);
            debug_assert!(wait <= clock, "its clock counts what it waits");
            return Ok(Some(Choice { thread: first, until, hold_at: thread.place(), wait }));
        }
    }

    /// The lowest clock of the threads that can go on, the first thread that has it, and the lowest
    /// clock of the others. Those that wait leave the list until theirs is the lowest ticket.
    fn lowest_clocks(&mut self) -> Option<(Cycle, usize, Cycle)> {
        let mut runnable = std::mem::take(&mut self.runnable);
        let (mut lowest, mut second) = (None, Cycle::MAX);
        runnable.retain(|&i| {
            let Some(clock) = self.clock(i) else { return false };
            match lowest {
                Some((other, _)) if clock >= other => second = second.min(clock),
                before => {
                    second = before.map_or(second, |(other, _)| other);
                    lowest = Some((clock, i));
                }
            }
            true
        });
        self.runnable = runnable;
        lowest.map(|(clock, first)| (clock, first, second))
    }

    /// Records the thread's position and clock after it ran.
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

    /// It stands before an instruction with a ticket.
    fn is_held(&self, i: usize) -> bool {
        self.states[i].position >= self.threads[i].place()
    }

    /// No thread that runs has a lower ticket to pass.
    fn is_next(&self, i: usize) -> bool {
        let mine = self.threads[i].next.map_or(u64::MAX, |ticket| ticket.order);
        self.lowest.first().is_none_or(|(lowest, _)| *lowest >= mine)
    }

    /// The cycle in which a thread goes on; `None` if it cannot.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Tickets for std::vec::IntoIter<Ticket> {
        fn next_ticket(&mut self) -> Result<Option<Ticket>, MachineError> {
            Ok(self.next())
        }
    }

    /// A thread of so many instructions, each of which takes so many cycles.
    #[derive(Clone, Debug)]
    struct Script {
        length: u64,
        cycles: Cycle,
        tickets: Vec<Ticket>,
    }

    /// An instruction with a ticket that ran: its ticket, and when.
    type Ran = (u64, Cycle);

    /// Runs the threads to their ends, as a session does; what ran with a ticket, in the order in
    /// which it did.
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
        assert!(at.iter().all(|one| one.ended), "no thread is left behind");
        ran
    }

    fn script(length: u64, cycles: Cycle, tickets: &[(u64, u64)]) -> Script {
        let ticket = |&(position, order): &(u64, u64)| Ticket { position, order };
        Script { length, cycles, tickets: tickets.iter().map(ticket).collect() }
    }

    #[test]
    fn a_fast_thread_waits_for_the_slow_one_that_was_first() {
        let slow = script(10, 7, &[(3, 0), (8, 3)]);
        let fast = script(10, 1, &[(1, 1), (2, 2), (9, 4)]);
        let ran = run(&[slow, fast]);
        // The slow one's fourth instruction ends in cycle 28, its ninth in cycle 63.
        assert_eq!(ran, [(0, 28), (1, 29), (2, 30), (3, 63), (4, 64)]);
    }

    #[test]
    fn a_ticket_that_no_thread_has_holds_none() {
        let ran = run(&[script(5, 1, &[(4, 900)]), script(5, 10, &[(0, 7), (9, 8)])]);
        assert_eq!(ran, [(7, 10), (900, 11)], "8 belongs to no instruction that runs");
    }

    #[test]
    fn two_tickets_of_one_instruction_let_others_between_them() {
        // Both began before either had ended: who ended first is first.
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
            // Of several tickets of an instruction it runs behind the last.
            let ran: Vec<&Ran> = ran.iter().filter(|(order, _)| ends.contains(order)).collect();
            prop_assert!(ran.windows(2).all(|pair| pair[0].0 < pair[1].0), "{ran:?}");
            prop_assert!(ran.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{ran:?}");
        }

        #[test]
        fn no_tickets_whatever_stop_a_thread(scripts in prop::collection::vec(any_script(), 1..5)) {
            run(&scripts);
        }
    }
}
