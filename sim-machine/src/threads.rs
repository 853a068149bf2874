//! Threads of a run. A thread gets its core, caches and reader before its first instruction and
//! releases them after its last. Its results are kept.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::core_run::CoreRun;
use crate::error::MachineError;
use crate::outcome::CoreOutcome;
use crate::region::RegionWatch;
use crate::run_sink::RunSink;
use crate::seats::Seats;
use crate::session::Session;
use crate::thread_scheduler::{Seat, turn_end};
use sim_cache::MemorySystem;
use sim_core::{Cycle, OverBudget, Reserved};
use sim_isa::Program;
use sim_trace::TraceError;

/// Manner in which the threads read their instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// On demand.
    Here,
    /// On a host thread of its own.
    Ahead,
    /// On demand, with a return to an earlier place.
    Returning,
}

/// State of a thread.
enum Thread {
    /// The thread has not run yet.
    New,
    /// The thread has a core.
    Running { core: Box<CoreRun>, _memory: Reserved },
    /// The thread has run its last instruction.
    Ended(Box<Ended>),
}

/// Results of an ended thread.
pub(crate) struct Ended {
    outcome: CoreOutcome,
    done: u64,
    warmup: u64,
    ended_inside: bool,
}

/// All threads of a run, by core number.
pub(crate) struct Threads<'s> {
    session: &'s Session,
    watch: RegionWatch,
    streams: Vec<u32>,
    threads: Vec<Thread>,
    /// The cores, if threads share them.
    seats: Option<Seats>,
    /// Clock of a core before its first instruction.
    start: Cycle,
    /// Clocks of the threads that have not ended, without the taken one; lowest first.
    clocks: BinaryHeap<Reverse<(Cycle, usize)>>,
    taken: Option<usize>,
    /// Number of threads that have not ended.
    left: usize,
    /// Number of instructions run by all threads.
    done: u64,
    reads: Reads,
    /// Memory reserved for the results of ended threads.
    kept: Reserved,
}

impl<'s> Threads<'s> {
    /// Creates the threads; none of them has a core yet.
    pub(crate) fn new(
        session: &'s Session,
        streams: Vec<u32>,
        watch: RegionWatch,
        reads: Reads,
    ) -> Result<Threads<'s>, MachineError> {
        let start = session.pipeline().cycle();
        let per_thread = size_of::<Thread>() + size_of::<Reverse<(Cycle, usize)>>();
        let bytes = (streams.len() * per_thread) as u64;
        let kept = session.trace().budget().reserve(bytes, "the counts of the threads");
        let sharing = session.config().threads;
        let is_shared = sharing.shares_cores(streams.len());
        Ok(Threads {
            seats: is_shared.then(|| Seats::new(sharing.cores)),
            kept: kept.map_err(|problem| over_budget(session, problem))?,
            session,
            watch,
            threads: streams.iter().map(|_| Thread::New).collect(),
            clocks: (0..streams.len()).map(|thread| Reverse((start, thread))).collect(),
            taken: None,
            left: streams.len(),
            streams,
            start,
            done: 0,
            reads,
        })
    }

    /// Returns the number of cores that the threads need.
    pub(crate) fn cores(&self) -> usize {
        self.seats.as_ref().map_or(self.threads.len(), Seats::len)
    }

    /// Returns the number of threads.
    pub(crate) fn len(&self) -> usize {
        self.threads.len()
    }

    pub(crate) fn streams(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.streams.iter().copied()
    }

    /// Returns the number of instructions run by all threads.
    pub(crate) fn done(&self) -> u64 {
        self.done
    }

    /// Returns the clock of a core before its first instruction.
    pub(crate) fn start(&self) -> Cycle {
        self.start
    }

    /// Returns the running thread with the lowest clock, the first one of several, and the clock up
    /// to which it may run before another thread is next.
    pub(crate) fn take_lowest(&mut self) -> Option<(usize, Cycle)> {
        let Reverse((_, first)) = self.clocks.pop()?;
        self.taken = Some(first);
        let next = self.clocks.peek().map(|Reverse(next)| *next);
        Some((first, turn_end(first, next)))
    }

    /// Returns the core of a thread, and creates it at the first call.
    ///
    /// # Errors
    /// If the memory budget has no room for another core, or if the stream cannot be read.
    pub(crate) fn core(
        &mut self,
        thread: usize,
        memory: &mut MemorySystem,
    ) -> Result<&mut CoreRun, MachineError> {
        if let Thread::New = self.threads[thread] {
            let core = self.begin(thread, memory)?;
            self.threads[thread] = core;
        }
        match &mut self.threads[thread] {
            Thread::Running { core, .. } => Ok(core),
            _ => unreachable!("a thread that has ended is not chosen"),
        }
    }

    fn begin(&self, thread: usize, memory: &mut MemorySystem) -> Result<Thread, MachineError> {
        let (session, stream) = (self.session, self.streams[thread]);
        // A thread that can return keeps a copy of everything.
        let copies = if self.reads == Reads::Returning { 2 } else { 1 };
        let of_core = if self.seats.is_some() { 0 } else { memory.core_bytes() };
        let reserved = self.reserve((of_core + PIPELINE_BYTES) * copies)?;
        let core = session.core(thread, stream, self.watch.clone(), self.reads)?;
        if self.seats.is_none() {
            memory.wake(thread);
        }
        Ok(Thread::Running { core: Box::new(core), _memory: reserved })
    }

    fn reserve(&self, bytes: u64) -> Result<Reserved, MachineError> {
        let budget = self.session.trace().budget();
        budget
            .reserve(bytes, "the cores of the threads that run at the same time")
            .map_err(|problem| over_budget(self.session, problem))
    }

    /// Gives a thread that has begun a core that threads share. The thread that has it leaves it
    /// first, as the thread itself leaves the core that it had.
    ///
    /// # Errors
    /// If the memory budget has no room for a core that is used for the first time.
    pub(crate) fn take_seat<S: RunSink>(
        &mut self,
        thread: usize,
        seat: &Seat,
        program: &Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) -> Result<(), MachineError> {
        let Some(mut seats) = self.seats.take() else { return Ok(()) };
        for (other, core) in seats.leavers(thread, seat) {
            let idle = seats.set(core, None);
            if let Thread::Running { core: running, .. } = &mut self.threads[other] {
                running.leave(idle, program, memory, observer);
                seats.left(core, running.left());
            }
        }
        if seats.is_new(seat.core) {
            let reserved = self.reserve(memory.core_bytes() + PIPELINE_BYTES)?;
            seats.add(seat.core, self.session.pipeline(), reserved);
            memory.wake(seat.core);
        }
        let free_from = seats.free_from(seat.core);
        let idle = seats.set(seat.core, Some(thread));
        if let Thread::Running { core, .. } = &mut self.threads[thread] {
            core.sit(seat, free_from, idle, memory, observer);
        }
        self.seats = Some(seats);
        Ok(())
    }

    /// Returns the pipeline of an ended thread to the core that it shares.
    fn free_seat(&mut self, thread: usize, memory: &mut MemorySystem) {
        let Some(seats) = &mut self.seats else { return };
        if let Some(core) = seats.core_of(thread) {
            let idle = seats.set(core, None);
            if let Thread::Running { core: running, .. } = &mut self.threads[thread] {
                running.hand_over(idle, memory);
                seats.left(core, running.left());
            }
        }
    }

    /// Frees the private memory of an ended thread's core, or of all cores that threads shared,
    /// after the last of them.
    fn release(&self, thread: usize, memory: &mut MemorySystem) {
        match &self.seats {
            None => memory.release(thread),
            Some(seats) if self.left == 0 => seats.release(memory),
            Some(_) => {}
        }
    }

    /// Takes all threads that have not ended, by their clocks, lowest first. Each returns with
    /// [`Threads::put_back`].
    pub(crate) fn take_all(&mut self) -> Vec<(Cycle, usize)> {
        let sorted = std::mem::take(&mut self.clocks).into_sorted_vec();
        sorted.into_iter().rev().map(|Reverse(clock)| clock).collect()
    }

    /// Returns threads that did not run after [`Threads::take_all`].
    pub(crate) fn put_back(&mut self, threads: impl Iterator<Item = (Cycle, usize)>) {
        self.clocks.extend(threads.map(Reverse));
    }

    /// Returns the cores of running threads, whose numbers ascend.
    pub(crate) fn running(&mut self, numbers: &[usize]) -> Vec<&mut CoreRun> {
        let all = self.threads.iter_mut().enumerate();
        let chosen = all.filter(|(number, _)| numbers.binary_search(number).is_ok());
        let cores = chosen.filter_map(|(_, thread)| match thread {
            Thread::Running { core, .. } => Some(&mut **core),
            _ => None,
        });
        cores.collect()
    }

    /// Records that a thread that [`Threads::take_all`] took ran `more` instructions; see
    /// [`Threads::ran`].
    ///
    /// # Errors
    /// As [`Threads::ran`].
    pub(crate) fn ran_quantum(
        &mut self,
        thread: usize,
        more: u64,
        program: &Program,
        memory: &mut MemorySystem,
    ) -> Result<(), MachineError> {
        self.taken = Some(thread);
        self.ran(thread, more, program, memory)
    }

    /// Records that a thread ran `more` instructions. Releases the core of a thread that has ended.
    ///
    /// # Errors
    /// If the memory budget has no room for the results.
    pub(crate) fn ran(
        &mut self,
        thread: usize,
        more: u64,
        program: &Program,
        memory: &mut MemorySystem,
    ) -> Result<(), MachineError> {
        self.done += more;
        let Thread::Running { core, .. } = &self.threads[thread] else { return Ok(()) };
        let taken = self.taken.take().filter(|taken| *taken == thread && !core.ended());
        self.clocks.extend(taken.map(|taken| Reverse((core.cycle(), taken))));
        if !core.ended() {
            return Ok(());
        }
        let ended = Ended {
            outcome: core.outcome(program),
            done: core.done(),
            warmup: core.warmup(),
            ended_inside: core.ended_inside(),
        };
        let bytes = size_of::<Ended>() + ended.outcome.heap_bytes();
        self.free_seat(thread, memory);
        // Release the core first: it takes far more memory than the results.
        self.threads[thread] = Thread::Ended(Box::new(ended));
        self.left -= 1;
        self.release(thread, memory);
        self.kept.grow(bytes as u64).map_err(|problem| over_budget(self.session, problem))
    }

    /// Ends every thread at its current position.
    ///
    /// # Errors
    /// As [`Threads::core`], for a thread that has not begun.
    pub(crate) fn stop<S: RunSink>(
        &mut self,
        program: &Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) -> Result<(), MachineError> {
        let is_running = |thread: &usize| matches!(self.threads[*thread], Thread::Running { .. });
        let is_new = |thread: &usize| matches!(self.threads[*thread], Thread::New);
        // Running threads first: they release the memory that the others need for a moment.
        let all = 0..self.threads.len();
        let order: Vec<usize> = all.clone().filter(is_running).chain(all.filter(is_new)).collect();
        for thread in order {
            self.core(thread, memory)?.end_here(memory, observer);
            self.ran(thread, 0, program, memory)?;
        }
        Ok(())
    }

    /// Returns the results of the ended threads and the memory reserved for them.
    pub(crate) fn finish(self) -> (Vec<Ended>, Reserved) {
        let mut left = Vec::with_capacity(self.threads.len());
        left.extend(self.threads.into_iter().filter_map(|thread| match thread {
            Thread::Ended(ended) => Some(*ended),
            _ => None,
        }));
        (left, self.kept)
    }
}

fn over_budget(session: &Session, problem: OverBudget) -> MachineError {
    TraceError::Memory { path: session.trace().path().to_owned(), problem }.into()
}

/// Approximate memory of a pipeline and of a core's counts.
pub(crate) const PIPELINE_BYTES: u64 = 512 << 10;

impl Ended {
    pub(crate) fn into_outcome(self) -> CoreOutcome {
        self.outcome
    }

    pub(crate) fn is_counted(&self) -> bool {
        self.outcome.is_counted
    }

    pub(crate) fn stream(&self) -> u32 {
        self.outcome.stream
    }

    pub(crate) fn done(&self) -> u64 {
        self.done
    }

    /// Returns the requested number of warm-up instructions.
    pub(crate) fn warmup(&self) -> u64 {
        self.warmup
    }

    /// Returns true if the stream ended while it was counted.
    pub(crate) fn ended_inside(&self) -> bool {
        self.ended_inside
    }
}
