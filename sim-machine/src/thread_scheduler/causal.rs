//! Threads wait for each other by happens-before alone: an acquire for the releases that it may have read, a thread for
//! the call that made it, a wait for the wake ([`super::edges`]).
//!
//! No thread waits for good. Every edge leads to a lower rank, and ranks rise along each thread. So of all threads that
//! run, the one that stands before the lowest rank waits for none that still has it to pass.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use sim_core::Cycle;

use super::edges::{Arrivals, Edge, Edges};
use super::{Choice, ThreadState};
use crate::error::MachineError;

/// What a thread passed, and when.
#[derive(Clone, Copy, Debug)]
struct Passed {
    rank: u64,
    cycle: Cycle,
}

/// Where a thread goes on.
#[derive(Debug, Default)]
struct Thread {
    /// Number of the next instruction that waits or is waited for; `u64::MAX` for none.
    place: u64,
    /// What it passed since the cycle at which the slowest thread stands that can go on.
    passed: VecDeque<Passed>,
    /// Until when it waits.
    wait: Cycle,
}

/// Happens-before of a trace.
pub(crate) struct Causal<A> {
    edges: Edges<A>,
    threads: Vec<Thread>,
    states: Vec<ThreadState>,
    /// Threads that have not ended and are not parked.
    runnable: Vec<usize>,
    /// By thread: the ranks that others wait for it to pass, lowest first, and who waits.
    parked: Vec<BinaryHeap<Reverse<(u64, usize)>>>,
    /// The thread that runs has just passed what others may wait for.
    passing: Option<usize>,
    /// Calls of [`Causal::clock`], which the time of a replay with many threads follows.
    #[cfg(test)]
    clocks: std::cell::Cell<u64>,
}

impl<A: Arrivals> Causal<A> {
    /// The order of threads with these arrivals, which begin at these positions and clocks. If not `is_whole`, a thread may
    /// end before the last of its arrivals.
    pub(super) fn new(
        arrivals: Vec<A>,
        states: Vec<ThreadState>,
        is_whole: bool,
    ) -> Result<Causal<A>, MachineError> {
        let mut causal = Causal {
            threads: arrivals.iter().map(|_| Thread::default()).collect(),
            runnable: (0..arrivals.len()).filter(|i| !states[*i].ended).collect(),
            parked: vec![BinaryHeap::new(); arrivals.len()],
            edges: Edges::new(arrivals, is_whole)?,
            states,
            passing: None,
            #[cfg(test)]
            clocks: std::cell::Cell::default(),
        };
        for i in 0..causal.threads.len() {
            causal.find_place(i)?;
        }
        Ok(causal)
    }

    /// As [`super::ThreadScheduler::choose`].
    pub(super) fn choose(&mut self) -> Result<Option<Choice>, MachineError> {
        self.passing = None;
        loop {
            let Some((clock, first)) = self.lowest(None) else {
                debug_assert!(self.states.iter().all(|at| at.ended), "one of them can go on");
                return Ok(None);
            };
            if self.is_held(first) {
                self.pass(first, clock)?;
                if self.is_held(first) {
                    continue;
                }
            }
            let lowest = self.lowest(Some(first)).map_or(Cycle::MAX, |(clock, _)| clock);
            // What others wait for runs alone until its clock moves: when it passed is to be known.
            let until = if self.passing == Some(first) { clock } else { lowest };
            let thread = &mut self.threads[first];
            let wait = std::mem::take(&mut thread.wait);
            return Ok(Some(Choice { thread: first, until, hold_at: thread.place, wait }));
        }
    }

    /// The lowest clock of the threads that can go on, but for `without`, and the first thread that has it. Those that
    /// wait are parked.
    fn lowest(&mut self, without: Option<usize>) -> Option<(Cycle, usize)> {
        let (mut lowest, mut at) = (None, 0);
        while let Some(&i) = self.runnable.get(at) {
            match self.clock(i) {
                Ok(clock)
                    if without != Some(i) && lowest.is_none_or(|other| (clock, i) < other) =>
                {
                    lowest = Some((clock, i));
                }
                Ok(_) => {}
                Err(edge) => {
                    self.runnable.swap_remove(at);
                    self.parked[edge.thread].push(Reverse((edge.rank, i)));
                    continue;
                }
            }
            at += 1;
        }
        lowest
    }

    /// Records the thread's position and clock after it ran.
    pub(super) fn ran(&mut self, thread: usize, state: ThreadState) {
        self.states[thread] = state;
        if self.passing == Some(thread)
            && let Some(last) = self.threads[thread].passed.back_mut()
        {
            last.cycle = last.cycle.max(state.cycle);
        }
        if state.ended {
            self.runnable.retain(|i| *i != thread);
            self.unpark(thread);
        }
    }

    /// Makes the threads runnable that are parked on a rank that `thread` has passed; all of them
    /// if it has ended.
    fn unpark(&mut self, thread: usize) {
        let has_ended = self.states[thread].ended;
        while let Some(&Reverse((rank, waits))) = self.parked[thread].peek()
            && (has_ended || self.edges.has_passed(&Edge { thread, rank }))
        {
            self.parked[thread].pop();
            self.runnable.push(waits);
        }
    }

    /// The thread goes over what it stands before.
    fn pass(&mut self, i: usize, clock: Cycle) -> Result<(), MachineError> {
        if clock > self.states[i].cycle {
            self.threads[i].wait = self.threads[i].wait.max(clock);
        }
        // What it stood before may have turned out to be no concern of others.
        let position = self.states[i].position;
        let hold = self.edges.next_hold(i)?.filter(|hold| hold.position <= position);
        if hold.is_none() {
            return self.find_place(i);
        }
        let released = hold.filter(|hold| !hold.is_no_release()).map(|hold| hold.rank);
        self.edges.pass(i);
        self.unpark(i);
        if let Some(rank) = released {
            let slowest = self.runnable.iter().filter_map(|k| self.clock(*k).ok()).min();
            let slowest = slowest.unwrap_or(0);
            let passed = &mut self.threads[i].passed;
            // Of what lies before all clocks the last is kept: what came earlier came before it too.
            while passed.get(1).is_some_and(|second| second.cycle <= slowest) {
                passed.pop_front();
            }
            passed.push_back(Passed { rank, cycle: clock });
            self.passing = Some(i);
        }
        self.find_place(i)
    }

    fn find_place(&mut self, i: usize) -> Result<(), MachineError> {
        self.threads[i].place = self.edges.next_hold(i)?.map_or(u64::MAX, |hold| hold.position);
        Ok(())
    }

    /// It stands before an instruction that waits or is waited for.
    fn is_held(&self, i: usize) -> bool {
        self.states[i].position >= self.threads[i].place
    }

    /// The cycle in which a thread goes on that has not ended.
    ///
    /// # Errors
    /// The place of another thread that it waits for.
    fn clock(&self, i: usize) -> Result<Cycle, Edge> {
        #[cfg(test)]
        self.clocks.update(|calls| calls + 1);
        let state = &self.states[i];
        let own = state.cycle.max(self.threads[i].wait);
        if !self.is_held(i) {
            return Ok(own);
        }
        let edges = self.edges.edges(i, state.position).iter();
        let answers = edges.map(|edge| self.answered(edge).ok_or(*edge));
        answers.into_iter().try_fold(own, |at, answer| Ok(at.max(answer?)))
    }

    /// When what the edge leads to was passed, or when the thread ended that does not come to pass it; 0 if that is
    /// long ago.
    fn answered(&self, edge: &Edge) -> Option<Cycle> {
        if self.edges.has_passed(edge) {
            let passed = &self.threads[edge.thread].passed;
            let at = passed.partition_point(|one| one.rank < edge.rank);
            return Some(passed.get(at).map_or(0, |one| one.cycle));
        }
        let other = &self.states[edge.thread];
        other.ended.then_some(other.cycle)
    }
}

#[cfg(test)]
mod tests;
