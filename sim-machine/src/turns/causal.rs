//! Threads wait for each other by happens-before alone: an acquire for the releases that it may have read, a thread for
//! the call that made it, a wait for the wake ([`super::edges`]).
//!
//! No thread waits for good. Every edge leads to a lower rank, and ranks rise along each thread. So of all threads that
//! run, the one that stands before the lowest rank waits for none that still has it to pass.

use std::collections::VecDeque;

use sim_core::Cycle;

use super::edges::{Arrivals, Edge, Edges};
use super::{Choice, Standing};
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
    standings: Vec<Standing>,
    /// The thread that runs has just passed what others may wait for.
    passing: Option<usize>,
}

impl<A: Arrivals> Causal<A> {
    pub(super) fn new(arrivals: Vec<A>) -> Result<Causal<A>, MachineError> {
        let threads = arrivals.iter().map(|_| Thread::default()).collect();
        let edges = Edges::new(arrivals)?;
        let mut causal = Causal { edges, threads, standings: Vec::new(), passing: None };
        for i in 0..causal.threads.len() {
            causal.find_place(i)?;
        }
        Ok(causal)
    }

    /// As [`super::Turns::choose`].
    pub(super) fn choose(
        &mut self,
        standings: impl Iterator<Item = Standing>,
    ) -> Result<Option<Choice>, MachineError> {
        self.standings.clear();
        self.standings.extend(standings);
        self.passing = None;
        loop {
            let clocks = (0..self.threads.len()).filter_map(|i| Some((self.clock(i)?, i)));
            let Some((clock, first)) = clocks.min() else {
                debug_assert!(self.standings.iter().all(|at| at.ended), "one of them can go on");
                return Ok(None);
            };
            if self.is_held(first) {
                self.pass(first, clock)?;
                if self.is_held(first) {
                    continue;
                }
            }
            let others = (0..self.threads.len()).filter(|i| *i != first);
            let lowest = others.filter_map(|i| self.clock(i)).min().unwrap_or(Cycle::MAX);
            // What others wait for runs alone until its clock moves: when it passed is to be known.
            let until = if self.passing == Some(first) { clock } else { lowest };
            let thread = &mut self.threads[first];
            let wait = std::mem::take(&mut thread.wait);
            return Ok(Some(Choice { thread: first, until, hold_at: thread.place, wait }));
        }
    }

    /// The thread that was chosen has run, and its clock stands there.
    pub(super) fn ran(&mut self, thread: usize, cycle: Cycle) {
        if self.passing == Some(thread)
            && let Some(last) = self.threads[thread].passed.back_mut()
        {
            last.cycle = last.cycle.max(cycle);
        }
    }

    /// The thread goes over what it stands before.
    fn pass(&mut self, i: usize, clock: Cycle) -> Result<(), MachineError> {
        if clock > self.standings[i].cycle {
            self.threads[i].wait = self.threads[i].wait.max(clock);
        }
        // What it stood before may have turned out to be no concern of others.
        let position = self.standings[i].position;
        let hold = self.edges.next_hold(i)?.filter(|hold| hold.position <= position);
        if hold.is_none() {
            return self.find_place(i);
        }
        let released = hold.filter(|hold| !hold.is_no_release()).map(|hold| hold.rank);
        self.edges.pass(i);
        if let Some(rank) = released {
            let slowest = (0..self.threads.len()).filter_map(|k| self.clock(k)).min();
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
        self.standings[i].position >= self.threads[i].place
    }

    /// The cycle in which a thread goes on; `None` if it cannot.
    fn clock(&self, i: usize) -> Option<Cycle> {
        let standing = &self.standings[i];
        if standing.ended {
            return None;
        }
        let own = standing.cycle.max(self.threads[i].wait);
        if !self.is_held(i) {
            return Some(own);
        }
        let edges = self.edges.edges(i, standing.position).iter();
        edges.map(|edge| self.answered(edge)).try_fold(own, |at, answer| Some(at.max(answer?)))
    }

    /// When what the edge leads to was passed, or when the thread ended that does not come to pass it; 0 if that is
    /// long ago.
    fn answered(&self, edge: &Edge) -> Option<Cycle> {
        if self.edges.has_passed(edge) {
            let passed = &self.threads[edge.thread].passed;
            let at = passed.partition_point(|one| one.rank < edge.rank);
            return Some(passed.get(at).map_or(0, |one| one.cycle));
        }
        let other = &self.standings[edge.thread];
        other.ended.then_some(other.cycle)
    }
}

#[cfg(test)]
mod tests;
