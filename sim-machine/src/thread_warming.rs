//! Functional warming of all threads of a trace, each on a core of its own, in the order of the
//! thread scheduler. A thread waits for what another one must do first, as in a run, and has the
//! rough clock of functional warming: a cycle for every four instructions, and all misses in full.
//!
//! The run stops at cuts ([`Cut`]).
//!
//! A saved state has these words, one part after the other. A machine with other caches or
//! predictors has another number of them, and files of states are refused by that and by their
//! hash.
//!
//! | Words | Content |
//! | --- | --- |
//! | 1 | cycle of the cut |
//! | 4 for each thread | position, number of its last instruction plus 1, clock, end of its wait |
//! | 2^18 | what the threads wait for in the window, then zeros |
//! | the rest | the memory of all cores, then the pipelines |

use crate::code::Code;
use crate::error::MachineError;
use crate::functional_warming::{BlockTable, FunctionalWarming};
use crate::region::RunOptions;
use crate::session::Session;
use crate::thread_cut::{Cut, Place};
use crate::thread_scheduler::{FirstTwo, ThreadScheduler, ThreadState, turn_end};
use sim_cache::MemorySystem;
use sim_core::{Counts, Cycle, EventSink, PmuEvent, Reserved, StateSaver, TraceInst, WarmState};
use sim_isa::{Program, Special};
use sim_pipeline::Pipeline;
use sim_trace::StreamReader;

/// Instructions of a cycle.
const INSTS_PER_CYCLE: u8 = 4;

/// Words of a state for the waits of its window.
pub(crate) const WAITS: usize = 1 << 18;

/// Most times that all cores answer snoops before their state is saved or counted: an answer may
/// send stores, and these more snoops.
pub(crate) const ANSWERS: usize = 64;

/// A thread and its core.
struct Thread {
    pipeline: Pipeline,
    reader: StreamReader,
    batch: Vec<TraceInst>,
    at: usize,
    /// Number of instructions of the stream.
    instructions: u64,
    clock: Cycle,
    /// Instructions since the last cycle.
    part: u8,
    last: Option<u32>,
    /// Cycle up to which its waits are counted.
    settled: Cycle,
}

impl Thread {
    fn position(&self) -> u64 {
        match self.batch.get(self.at) {
            Some(_) => self.reader.batch_start() + self.at as u64,
            None => self.reader.position(),
        }
    }

    fn has_ended(&self) -> bool {
        self.position() >= self.instructions
    }

    fn state(&self) -> ThreadState {
        ThreadState { ended: self.has_ended(), position: self.position(), cycle: self.clock }
    }

    /// Returns true if the thread is on no core while it waits: it has not begun, or is in a system
    /// call.
    fn is_away(&self, program: &Program) -> bool {
        self.last.is_none_or(|id| program.inst(id).special == Special::SupervisorCall)
    }

    /// Counts the cycles up to `until` in which it waits on its core.
    fn settle_wait(&mut self, until: Cycle, program: &Program, counts: &mut Counts) {
        let from = self.clock.max(self.settled);
        if until > from {
            if !self.is_away(program) {
                counts.count(PmuEvent::CPU_CYCLES, until - from);
            }
            self.settled = until;
        }
    }
}

/// Turn of a thread.
#[derive(Clone, Copy, Debug)]
struct Turn {
    thread: usize,
    until: Cycle,
    hold_at: u64,
    wait: Cycle,
}

/// Functional warming of all threads.
pub struct ThreadWarming<'s> {
    program: Code,
    memory: MemorySystem,
    blocks: BlockTable,
    scheduler: Option<ThreadScheduler<'s>>,
    threads: Vec<Thread>,
    /// Turn that a cut interrupted.
    turn: Option<Turn>,
    counts: Counts,
    done: u64,
    /// Name of the trace in messages.
    name: String,
    _memory: Reserved,
}

impl<'s> ThreadWarming<'s> {
    /// Prepares all threads at their begins.
    ///
    /// # Errors
    /// If threads share cores or are processors of a system, if a stream cannot be read, or if the
    /// memory budget has no room for the cores.
    pub fn new(session: &'s Session) -> Result<ThreadWarming<'s>, MachineError> {
        session.check_thread_windows()?;
        let program = session.program()?;
        let trace = session.trace();
        let start = session.pipeline().cycle();
        let streams: Vec<_> = session.running_streams().collect();
        let (memory, reserved) = session.memory_of_all(true)?;
        let statics = trace.statics();
        let thread = |stream: &sim_trace::StreamInfo| {
            Ok(Thread {
                pipeline: session.reserved_pipeline(),
                reader: trace.reader(stream.stream)?,
                batch: Vec::new(),
                at: 0,
                instructions: stream.instructions,
                clock: start,
                part: 0,
                last: None,
                settled: 0,
            })
        };
        let threads = streams.iter().map(|stream| thread(stream));
        Ok(ThreadWarming {
            blocks: BlockTable::new(statics, &program),
            threads: threads.collect::<Result<_, MachineError>>()?,
            scheduler: ThreadScheduler::of(
                trace,
                session.config().threads,
                &RunOptions::default(),
                streams.iter().map(|stream| stream.stream),
                start,
            )?,
            program,
            memory,
            turn: None,
            counts: Counts::default(),
            done: 0,
            name: session.header().trace.clone(),
            _memory: reserved,
        })
    }

    /// Runs until all threads together have run `to` instructions, or all have ended. `ran`
    /// receives the instructions of each turn with the number of the thread.
    ///
    /// # Errors
    /// If the trace is damaged.
    pub fn run_to(
        &mut self,
        to: u64,
        ran: &mut impl FnMut(usize, &[TraceInst]),
    ) -> Result<(), MachineError> {
        while self.done < to {
            let Some(turn) =
                self.turn.take().map_or_else(|| self.choose(), |turn| Ok(Some(turn)))?
            else {
                return Ok(());
            };
            let place = self.threads[turn.thread].position();
            let cut_at = place.saturating_add(to - self.done);
            self.run_turn(&turn, cut_at, ran)?;
            let thread = &self.threads[turn.thread];
            let state = thread.state();
            self.done += state.position - place;
            if state.ended {
                // A state has all cores. Nothing is left of this one, and it answers no snoop.
                self.memory.release(turn.thread);
                self.memory.wake(turn.thread);
            }
            let is_over = state.ended || state.cycle > turn.until || state.position >= turn.hold_at;
            if !is_over {
                self.turn = Some(Turn { wait: 0, ..turn });
            } else if let Some(scheduler) = &mut self.scheduler {
                scheduler.ran(turn.thread, state);
            }
        }
        Ok(())
    }

    fn choose(&mut self) -> Result<Option<Turn>, MachineError> {
        if let Some(scheduler) = &mut self.scheduler {
            let Some(choice) = scheduler.choose()? else { return Ok(None) };
            let (thread, until) = (choice.thread, choice.until);
            return Ok(Some(Turn { thread, until, hold_at: choice.hold_at, wait: choice.wait }));
        }
        let mut order = FirstTwo::default();
        let threads = self.threads.iter().enumerate();
        threads.filter(|(_, one)| !one.has_ended()).for_each(|(i, one)| order.add((one.clock, i)));
        let turn = |(_, thread)| {
            let until = turn_end(thread, order.second);
            Turn { thread, until, hold_at: u64::MAX, wait: 0 }
        };
        Ok(order.first.map(turn))
    }

    fn run_turn(
        &mut self,
        turn: &Turn,
        cut_at: u64,
        ran: &mut impl FnMut(usize, &[TraceInst]),
    ) -> Result<(), MachineError> {
        let ThreadWarming { program, memory, blocks, threads, counts, .. } = self;
        let thread = &mut threads[turn.thread];
        thread.settle_wait(turn.wait, program, counts);
        thread.clock = thread.clock.max(turn.wait);
        if thread.at >= thread.batch.len() {
            thread.at = 0;
            if !thread.reader.next_batch(&mut thread.batch)? {
                // The stream is shorter than its header says.
                thread.batch.clear();
                thread.instructions = thread.reader.position();
                return Ok(());
            }
        }
        let stop = turn.hold_at.min(cut_at) - thread.reader.batch_start();
        let stop = thread.batch.len().min(usize::try_from(stop).unwrap_or(usize::MAX));
        let Thread { pipeline, batch, clock, part, last, .. } = thread;
        let mut warming = FunctionalWarming::new(
            turn.thread,
            blocks,
            program,
            pipeline,
            memory,
            *clock,
            &mut *counts,
        )
        .after(*last);
        let mut at = thread.at;
        while at < stop && warming.now() <= turn.until {
            *part += 1;
            if *part == INSTS_PER_CYCLE {
                *part = 0;
                warming.tick();
            }
            warming.run_inst(&batch[at]);
            at += 1;
        }
        (*clock, *last) = warming.now_and_last();
        ran(turn.thread, &batch[thread.at..at]);
        thread.at = at;
        Ok(())
    }

    /// Makes all cores answer the snoops that wait for them, so that these count now.
    pub fn answer_snoops(&mut self) {
        for _ in 0..ANSWERS {
            for core in 0..self.threads.len() {
                self.memory.answer_snoops(core, &mut self.counts);
            }
            if !self.memory.has_snoops() {
                return;
            }
        }
        debug_assert!(false, "stores of answers send snoops without end");
    }

    /// Returns the error of threads that end before they have run `needed` instructions together.
    pub fn ends_before(&self, needed: u64) -> MachineError {
        MachineError::ShortThreads { trace: self.name.clone(), found: self.done, needed }
    }

    /// Returns the number of instructions run so far.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Returns the places of all threads.
    pub fn cut(&self) -> Cut {
        let place = |(i, thread): (usize, &Thread)| {
            let runs = self.turn.is_some_and(|turn| turn.thread == i);
            let waits = !runs && !thread.has_ended();
            let scheduler = self.scheduler.as_ref().filter(|_| waits);
            let ready = scheduler.and_then(|one| one.ready(i)).unwrap_or(thread.clock);
            Place { position: thread.position(), last: thread.last, cycle: thread.clock, ready }
        };
        Cut { now: self.now(), places: self.threads.iter().enumerate().map(place).collect() }
    }

    /// Returns the cycle in which the next instruction begins.
    fn now(&self) -> Cycle {
        if let Some(turn) = &self.turn {
            return self.threads[turn.thread].clock.max(turn.wait);
        }
        let threads = self.threads.iter().enumerate().filter(|(_, one)| !one.has_ended());
        let ready = threads.filter_map(|(i, one)| match &self.scheduler {
            Some(scheduler) => scheduler.ready(i),
            None => Some(one.clock),
        });
        ready.min().unwrap_or_else(|| self.threads.iter().map(|one| one.clock).max().unwrap_or(0))
    }

    /// Returns the counts of functional warming so far: events of the memory system, cycles with
    /// the waits on cores, stall cycles without them, and mispredicted branches.
    pub fn counts(&mut self) -> &Counts {
        let now = self.now();
        let ThreadWarming { threads, scheduler, turn, program, counts, .. } = self;
        for (i, thread) in threads.iter_mut().enumerate() {
            let waits = || scheduler.as_ref().is_some_and(|one| one.ready(i) > Some(now));
            let is_parked = || scheduler.as_ref().is_some_and(|one| one.ready(i).is_none());
            let runs = turn.is_some_and(|turn| turn.thread == i);
            if !runs && !thread.has_ended() && (waits() || is_parked()) {
                thread.settle_wait(now, program, counts);
            }
        }
        counts
    }

    /// Replaces `words` by the cut, the waits of the next `length` instructions and the warm state
    /// of all cores and of what they share.
    ///
    /// # Errors
    /// If the trace is damaged, or if threads synchronize too often for windows.
    pub fn save(&mut self, length: u64, words: &mut Vec<u64>) -> Result<(), MachineError> {
        // A state has no snoops on their way.
        self.answer_snoops();
        words.clear();
        let cut = self.cut();
        cut.save(words);
        let begin = words.len();
        if let Some(scheduler) = &mut self.scheduler {
            let ends = cut.places.iter().map(|place| place.position.saturating_add(length));
            scheduler.save(&ends.collect::<Vec<u64>>(), words)?;
        }
        if words.len() - begin > WAITS {
            return Err(MachineError::WindowTickets { trace: self.name.clone(), length });
        }
        words.resize(begin + WAITS, 0);
        let mut saver = StateSaver { words: std::mem::take(words) };
        self.memory.visit(&mut saver);
        self.threads.iter_mut().for_each(|thread| thread.pipeline.visit(&mut saver));
        *words = saver.words;
        Ok(())
    }
}
