//! Scheduler by happens-before alone ([`super::edges`]). An acquire waits for the releases that it
//! may have read, a thread for its creation, and a wait for the wake.
//!
//! No thread waits forever. Every edge leads to a lower rank, and ranks rise along each thread. So
//! the running thread with the lowest next rank waits for no running thread.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use sim_core::Cycle;

use super::edges::{Arrivals, Edge, Edges, Hold};
use super::shared::Order;
use super::{Choice, Free, ThreadState, Turn, turn_end};
use crate::error::MachineError;

/// A rank that a thread passed, and the cycle.
#[derive(Clone, Copy, Debug)]
struct Passed {
    rank: u64,
    cycle: Cycle,
}

/// Waits of a thread.
#[derive(Debug, Default)]
struct Thread {
    /// Number of the next instruction that waits or is waited for; `u64::MAX` for none.
    place: u64,
    /// Ranks passed since the clock of the slowest thread that can continue.
    passed: VecDeque<Passed>,
    /// Cycle until which the thread waits.
    wait: Cycle,
}

/// Scheduler by the happens-before edges of a trace.
pub(crate) struct Causal<A> {
    edges: Edges<A>,
    threads: Vec<Thread>,
    states: Vec<ThreadState>,
    /// Threads that have not ended and are not parked.
    runnable: Vec<usize>,
    /// Parked threads by the thread that they wait for: its rank, lowest first, and the waiter.
    parked: Vec<BinaryHeap<Reverse<(u64, usize)>>>,
    /// The current thread, if it has just passed a release.
    passing: Option<usize>,
    /// Calls of [`Causal::clock`], which determine the time of a replay with many threads.
    #[cfg(test)]
    clocks: std::cell::Cell<u64>,
}

impl<A: Arrivals> Causal<A> {
    /// Creates the scheduler of threads with these arrivals and initial states. If not `is_whole`,
    /// a thread may end before its last arrival.
    pub(super) fn new(
        arrivals: Vec<A>,
        states: Vec<ThreadState>,
        is_whole: bool,
    ) -> Result<Causal<A>, MachineError> {
        Causal::of(Edges::new(arrivals, is_whole)?, states)
    }

    /// Creates the scheduler of threads with these edges and initial states.
    fn of(edges: Edges<A>, states: Vec<ThreadState>) -> Result<Causal<A>, MachineError> {
        let mut causal = Causal {
            threads: states.iter().map(|_| Thread::default()).collect(),
            runnable: (0..states.len()).filter(|i| !states[*i].ended).collect(),
            parked: vec![BinaryHeap::new(); states.len()],
            edges,
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

    /// Returns the thread to run next; see [`super::ThreadScheduler::choose`].
    pub(super) fn choose(&mut self) -> Result<Option<Choice>, MachineError> {
        loop {
            let Some((clock, first)) = self.lowest(None) else {
                debug_assert!(self.states.iter().all(|at| at.ended), "one of them can go on");
                return Ok(None);
            };
            let Some(turn) = self.begin_turn(first, clock)? else { continue };
            let Turn { hold_at, wait, is_passing } = turn;
            let next = self.lowest(Some(first));
            // After a release the thread runs alone until its clock moves, so that its cycle is
            // known.
            let until = if is_passing { clock } else { turn_end(first, next) };
            return Ok(Some(Choice { thread: first, until, hold_at, wait, seat: None }));
        }
    }

    /// Appends to `words` what the threads do to wait for each other before these positions.
    pub(super) fn save(&mut self, ends: &[u64], words: &mut Vec<u64>) -> Result<(), MachineError> {
        for (thread, end) in ends.iter().enumerate() {
            self.edges.take_before(thread, *end)?;
        }
        for (thread, end) in ends.iter().enumerate() {
            let holds = self.edges.holds_before(thread, *end);
            words.push(holds.len() as u64);
            for hold in &holds {
                let edges = hold.edges.iter().map(|edge| (edge.thread as u64, edge.rank));
                let references = u64::from(hold.references);
                words.extend([hold.position, hold.rank, references, edges.len() as u64]);
                words.extend(edges.flat_map(|(thread, rank)| [thread, rank]));
            }
        }
        Ok(())
    }

    /// Creates the scheduler of a window from the words of [`Causal::save`]. Returns `None` if they
    /// are not of so many threads.
    pub(super) fn load(
        words: &[u64],
        states: Vec<ThreadState>,
    ) -> Result<Option<Causal<A>>, MachineError> {
        let holds = read_holds(&mut words.iter().copied(), states.len());
        holds.map(|holds| Causal::of(Edges::of_holds(holds), states)).transpose()
    }

    /// Makes a thread wait until a cycle; see [`super::ThreadScheduler::delay`].
    pub(super) fn delay(&mut self, thread: usize, until: Cycle) {
        self.threads[thread].wait = until;
    }

    /// Returns the threads that can run at the same time; see [`super::ThreadScheduler::free`].
    pub(super) fn free(&mut self) -> (Vec<Free>, Cycle) {
        self.passing = None;
        // Parks the threads that wait.
        self.lowest(None);
        let (mut free, mut limit) = (Vec::new(), Cycle::MAX);
        for &thread in &self.runnable {
            let Ok(clock) = self.clock(thread) else { continue };
            if self.is_held(thread) {
                limit = limit.min(clock);
                continue;
            }
            let Thread { place: hold_at, wait, .. } = self.threads[thread];
            let instructions = match hold_at {
                u64::MAX => u64::MAX,
                place => place - self.states[thread].position,
            };
            free.push(Free { thread, clock, instructions, hold_at, wait });
        }
        (free, limit)
    }

    /// Notes that a free thread began to run.
    pub(super) fn begin(&mut self, thread: usize) {
        self.threads[thread].wait = 0;
    }

    /// Returns the lowest clock of the threads that can continue, except `without`, and the first
    /// thread with it. Parks the threads that wait.
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

    /// Makes runnable the threads that are parked on a rank that `thread` has passed, or on any
    /// rank of `thread` if it has ended.
    fn unpark(&mut self, thread: usize) {
        let has_ended = self.states[thread].ended;
        while let Some(&Reverse((rank, waits))) = self.parked[thread].peek()
            && (has_ended || self.edges.has_passed(&Edge { thread, rank }))
        {
            self.parked[thread].pop();
            self.runnable.push(waits);
        }
    }

    /// Passes the next hold of a thread.
    fn pass(&mut self, i: usize, clock: Cycle) -> Result<(), MachineError> {
        if clock > self.states[i].cycle {
            self.threads[i].wait = self.threads[i].wait.max(clock);
        }
        // The hold may have turned out to concern no other thread.
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
            // Only the last of the ranks before all clocks is kept, because the earlier ones came
            // before it.
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

    /// Returns true if the next instruction of the thread waits or is waited for.
    fn is_held(&self, i: usize) -> bool {
        self.states[i].position >= self.threads[i].place
    }

    /// Returns the cycle in which a thread that has not ended continues.
    ///
    /// # Errors
    /// The edge to another thread that it waits for.
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

    /// Returns the cycle in which the target of an edge was passed, or in which its thread ended
    /// without passing it. Returns 0 if that was long ago, and `None` if it has not happened yet.
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

/// Reads what [`Causal::save`] wrote. Returns `None` if an edge leads to a later rank or to no
/// thread, if the ranks of a thread do not rise, or if nothing waits for an instruction that does
/// not wait.
fn read_holds(words: &mut impl Iterator<Item = u64>, threads: usize) -> Option<Vec<Vec<Hold>>> {
    let mut all = Vec::with_capacity(threads);
    for _ in 0..threads {
        let (mut holds, mut before, mut place) = (Vec::new(), 0, 0);
        for _ in 0..words.next()? {
            let (position, rank) = (words.next()?, words.next()?);
            let (references, count) = (u32::try_from(words.next()?).ok()?, words.next()?);
            let mut edges = Vec::new();
            for _ in 0..count {
                let (thread, to) = (usize::try_from(words.next()?).ok()?, words.next()?);
                edges.push(Edge { thread, rank: to });
            }
            let is_right = |edge: &Edge| edge.thread < threads && edge.rank < rank;
            if rank <= before || position < place || !edges.iter().all(is_right) {
                return None;
            }
            (before, place) = (rank, position);
            let hold = Hold { position, rank, references, edges };
            if hold.is_dead() {
                return None;
            }
            holds.push(hold);
        }
        all.push(holds);
    }
    Some(all)
}

impl<A: Arrivals> Order for Causal<A> {
    fn ready(&self, thread: usize) -> Option<Cycle> {
        self.clock(thread).ok()
    }

    fn begin_turn(&mut self, thread: usize, at: Cycle) -> Result<Option<Turn>, MachineError> {
        if self.is_held(thread) {
            self.pass(thread, at)?;
            if self.is_held(thread) {
                return Ok(None);
            }
        }
        let is_passing = self.passing == Some(thread);
        let thread = &mut self.threads[thread];
        let wait = std::mem::take(&mut thread.wait);
        Ok(Some(Turn { hold_at: thread.place, wait, is_passing }))
    }

    fn ran(&mut self, thread: usize, state: ThreadState) {
        self.states[thread] = state;
        if self.passing == Some(thread)
            && let Some(last) = self.threads[thread].passed.back_mut()
        {
            last.cycle = last.cycle.max(state.cycle);
        }
        self.passing = None;
        if state.ended {
            self.runnable.retain(|i| *i != thread);
            self.unpark(thread);
        }
    }
}

#[cfg(test)]
mod tests;
