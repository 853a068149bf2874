//! Runs the cores of several threads at the same time on CPUs of the host, quantum by quantum
//! ([`sim_cache::quantum`]). The counts are the same for every number of CPUs.
//!
//! A quantum ends for all threads before one of them must wait for another. If cores met in it, all
//! of them return to its beginning and the run goes on in exact order for a while. So the counts
//! differ from those in exact order only by what no core could see within a quantum: small delays
//! of memory, and which lines the shared caches replace.

mod pace;

use crate::code::Code;
use crate::core_run::CoreRun;
use crate::error::MachineError;
use crate::run_sink::Unobserved;
use crate::session::Session;
use crate::thread_scheduler::{Free, ThreadScheduler};
use crate::threads::Threads;
use pace::Pace;
use rayon::ThreadPool;
use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};
use sim_cache::MemorySystem;
use sim_cache::quantum::{Meeting, QuantumAnswers, QuantumMemory};
use sim_core::Cycle;

/// Part of a thread's free instructions that a quantum plans to run, in percent. The rest is for
/// instructions that are faster than those before them.
const PLANNED_PERCENT: u64 = 75;

/// Statistics of a run in quanta.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuantaReport {
    /// Quanta that cores ran at the same time.
    pub quanta: u64,
    /// Instructions of these quanta, of all threads.
    pub instructions: u64,
    /// Quanta taken back because of maintenance that all cores see at once.
    pub broadcasts: u64,
    /// Quanta taken back because two cores requested one line.
    pub lines: u64,
    /// Quanta taken back because a core took a line that another one used.
    pub snoops: u64,
    /// Quanta taken back because the cores waited for the same channels of memory.
    pub memory: u64,
    /// Answers of the home nodes in the quanta, and those that differ.
    pub answers: QuantumAnswers,
}

impl QuantaReport {
    /// Returns the number of quanta that were taken back.
    pub fn taken_back(&self) -> u64 {
        self.broadcasts + self.lines + self.snoops + self.memory
    }

    fn note(&mut self, meeting: Meeting) {
        *match meeting {
            Meeting::Broadcast => &mut self.broadcasts,
            Meeting::Line => &mut self.lines,
            Meeting::Snoop => &mut self.snoops,
            Meeting::Memory => &mut self.memory,
        } += 1;
    }

    fn add(&mut self, answers: QuantumAnswers) {
        self.quanta += 1;
        self.answers.reads += answers.reads;
        self.answers.other_source += answers.other_source;
        self.answers.cycles_off += answers.cycles_off;
    }
}

/// What a thread needs for quanta.
struct Lane {
    memory: QuantumMemory,
    /// Decoded code. Numbers of words that only wrong paths reach depend on who meets them first,
    /// so each thread has its own.
    program: Code,
    /// State at the beginning of the quantum.
    saved: Option<CoreRun>,
    /// Cycles that 1024 instructions took in the last quantum.
    pace: Cycle,
    /// Result of the quantum.
    failure: Option<MachineError>,
}

/// A thread in a quantum.
struct Member<'a> {
    core: &'a mut CoreRun,
    lane: &'a mut Lane,
    free: Free,
    before: u64,
}

/// Threads of a quantum, ascending, and the last cycle in which their instructions may begin.
struct Plan {
    from: Cycle,
    until: Cycle,
    threads: Vec<Free>,
}

/// Run of a trace in quanta.
pub(crate) struct Quanta<'s> {
    session: &'s Session,
    pool: ThreadPool,
    lanes: Vec<Option<Box<Lane>>>,
    pace: Pace,
    report: QuantaReport,
}

impl<'s> Quanta<'s> {
    /// Prepares the run of `threads` threads on `cpus` CPUs of the host.
    ///
    /// # Errors
    /// If the host has no threads left.
    pub(crate) fn new(
        session: &'s Session,
        threads: usize,
        cpus: usize,
    ) -> Result<Quanta<'s>, MachineError> {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(cpus);
        let pool = builder.thread_name(|n| format!("n2sim-core-{n}")).build();
        let pool = pool.map_err(|error| MachineError::HostThreads(error.to_string()))?;
        let lanes = (0..threads).map(|_| None).collect();
        let (pace, report) = (Pace::new(), QuantaReport::default());
        Ok(Quanta { session, pool, lanes, pace, report })
    }

    /// Returns the statistics so far.
    pub(crate) fn report(&self) -> QuantaReport {
        self.report
    }

    /// Returns the code of a thread.
    ///
    /// # Errors
    /// If the memory budget has no room for it.
    pub(crate) fn program(
        &mut self,
        thread: usize,
        memory: &MemorySystem,
    ) -> Result<&mut Code, MachineError> {
        let session = self.session;
        Ok(&mut lane(&mut self.lanes[thread], thread, session, memory)?.program)
    }

    /// Runs the next quantum, if threads can run at the same time. Returns false if the next turn
    /// must be one in exact order.
    pub(crate) fn run(
        &mut self,
        threads: &mut Threads,
        mut scheduler: Option<&mut ThreadScheduler>,
        memory: &mut MemorySystem,
    ) -> Result<bool, MachineError> {
        let Some(plan) = self.plan(threads, scheduler.as_deref_mut())? else { return Ok(false) };
        let numbers: Vec<usize> = plan.threads.iter().map(|free| free.thread).collect();
        for thread in &numbers {
            threads.core(*thread, memory)?;
            self.program(*thread, memory)?;
        }
        let lanes = self.lanes.iter_mut().enumerate();
        let lanes = lanes.filter(|(number, _)| numbers.binary_search(number).is_ok());
        let lanes = lanes.filter_map(|(_, lane)| lane.as_deref_mut());
        let cores = threads.running(&numbers).into_iter().zip(lanes).zip(&plan.threads);
        let mut members: Vec<Member> = cores
            .map(|((core, lane), free)| Member { before: core.done(), core, lane, free: *free })
            .collect();
        let ran = run_members(&self.pool, &mut members, plan.until, memory)?;
        let ran = match ran {
            Ok((until, answers)) => {
                self.report.add(answers);
                self.pace.done();
                members.iter_mut().for_each(|member| member.learn_pace());
                Some((until, members.iter().map(|m| m.core.done() - m.before).collect::<Vec<_>>()))
            }
            Err(meeting) => {
                self.report.note(meeting);
                self.pace.taken_back(plan.from, plan.until);
                None
            }
        };
        drop(members);
        let Some((_, more)) = ran else {
            if scheduler.is_none() {
                threads.put_back(plan.threads.iter().map(|free| (free.clock, free.thread)));
            }
            return Ok(false);
        };
        self.report.instructions += more.iter().sum::<u64>();
        for (free, more) in plan.threads.iter().zip(more) {
            let state = threads.core(free.thread, memory)?.state();
            let program = self.lanes[free.thread].as_ref().map(|lane| &lane.program);
            let program = program.expect("the thread ran");
            match &mut scheduler {
                Some(scheduler) => {
                    scheduler.ran_quantum(free.thread, state, more > 0);
                    threads.ran(free.thread, more, program, memory)?;
                }
                None => threads.ran_quantum(free.thread, more, program, memory)?,
            }
        }
        Ok(true)
    }

    /// Chooses the threads of the next quantum, and its end.
    fn plan(
        &mut self,
        threads: &mut Threads,
        scheduler: Option<&mut ThreadScheduler>,
    ) -> Result<Option<Plan>, MachineError> {
        if !self.pace.looks() {
            return Ok(None);
        }
        let has_scheduler = scheduler.is_some();
        let (free, limit) = match scheduler {
            Some(scheduler) => scheduler.free(),
            None => (threads.take_all().into_iter().map(Free::unordered).collect(), Cycle::MAX),
        };
        let (chosen, left) = self.plan_of(free, limit);
        if !has_scheduler {
            threads.put_back(left.iter().map(|free| (free.clock, free.thread)));
        }
        if chosen.is_none() {
            self.pace.found_none();
        }
        Ok(chosen)
    }

    /// Returns the plan of a quantum of these threads, if it is worth it, and the threads that do
    /// not take part.
    fn plan_of(&self, free: Vec<Free>, limit: Cycle) -> (Option<Plan>, Vec<Free>) {
        let from = free.iter().map(|free| free.clock).min();
        let quantum = from.and_then(|from| Some((from, self.pace.quantum(from)?)));
        let Some((from, quantum)) = quantum else { return (None, free) };
        let mut until = limit.min(from + quantum);
        for free in free.iter().filter(|free| free.clock < from + quantum) {
            // A thread that has run no quantum yet takes no less than a fifth of a cycle for each.
            let pace = self.lanes[free.thread].as_ref().map_or(1024 / 5, |lane| lane.pace);
            let cycles = u128::from(free.instructions) * u128::from(pace * PLANNED_PERCENT / 100);
            let cycles = Cycle::try_from(cycles / 1024).unwrap_or(Cycle::MAX);
            until = until.min(free.clock.saturating_add(cycles));
        }
        let takes_part = |free: &Free| free.clock < until;
        if free.iter().filter(|free| takes_part(free)).count() < 2
            || !Pace::is_worth(until.saturating_sub(from))
        {
            return (None, free);
        }
        let (mut threads, left): (Vec<Free>, _) = free.into_iter().partition(takes_part);
        threads.sort_unstable_by_key(|free| free.thread);
        (Some(Plan { from, until, threads }), left)
    }
}

impl Free {
    /// A thread that waits for no other.
    fn unordered((clock, thread): (Cycle, usize)) -> Free {
        Free { thread, clock, instructions: u64::MAX, hold_at: u64::MAX, wait: 0 }
    }
}

impl Member<'_> {
    /// Runs the thread from the state in which it is.
    fn run(&mut self, until: Cycle) {
        self.lane.memory.save();
        self.lane.saved = Some(self.core.save());
        if self.free.clock > until {
            return;
        }
        self.core.hold(self.free.hold_at, self.free.wait);
        let Lane { memory, program, failure, .. } = &mut *self.lane;
        let sink = &mut Unobserved::default();
        *failure = self.core.run_quantum(until, program, memory.memory(), sink).err();
    }

    /// Returns to the beginning of the quantum.
    fn take_back(&mut self, memory: &mut MemorySystem) {
        memory.take_back(&mut self.lane.memory);
        self.core.restore(self.lane.saved.take().expect("the thread was saved"));
    }

    /// Returns the cycle in which the thread can continue.
    fn clock(&self) -> Cycle {
        self.core.cycle().max(self.free.clock)
    }

    /// Returns whether the thread ran instructions after `cycle`.
    fn runs_past(&self, cycle: Cycle) -> bool {
        self.core.done() > self.before && self.core.cycle() > cycle
    }

    fn learn_pace(&mut self) {
        let (cycles, instructions) =
            (self.core.cycle() - self.free.clock, self.core.done() - self.before);
        if instructions > 0 {
            self.lane.pace = (cycles * 1024 / instructions).max(1);
        }
    }
}

/// Runs the members of a quantum at the same time. If one of them stops before `until`, all run
/// again up to there. Returns the end and the answers, or why the quantum was taken back.
#[expect(clippy::type_complexity, reason = "two results: errors of the run, and meetings")]
fn run_members(
    pool: &ThreadPool,
    members: &mut [Member],
    mut until: Cycle,
    memory: &mut MemorySystem,
) -> Result<Result<(Cycle, QuantumAnswers), Meeting>, MachineError> {
    let from = members.iter().map(|member| member.free.clock).min().unwrap_or(0);
    loop {
        for member in members.iter_mut() {
            memory.begin_quantum(&mut member.lane.memory);
        }
        pool.install(|| members.par_iter_mut().for_each(|member| member.run(until)));
        if let Some(error) = members.iter_mut().find_map(|member| member.lane.failure.take()) {
            return Err(error);
        }
        let stopped = members.iter().map(Member::clock).min().unwrap_or(until);
        if stopped < until && members.iter().any(|member| member.runs_past(stopped)) {
            members.iter_mut().for_each(|member| member.take_back(memory));
            until = stopped;
            continue;
        }
        let quanta: Vec<&QuantumMemory> = members.iter().map(|m| &m.lane.memory).collect();
        if let Some(meeting) = memory.meeting(&quanta, until - from) {
            members.iter_mut().for_each(|member| member.take_back(memory));
            return Ok(Err(meeting));
        }
        let mut quanta: Vec<_> = members.iter_mut().map(|m| &mut m.lane.memory).collect();
        return Ok(Ok((until, memory.end_quantum(&mut quanta))));
    }
}

/// Returns the lane of a thread, and creates it at the first call.
fn lane<'l>(
    lane: &'l mut Option<Box<Lane>>,
    thread: usize,
    session: &Session,
    memory: &MemorySystem,
) -> Result<&'l mut Lane, MachineError> {
    if lane.is_none() {
        let (memory, program) = (memory.quantum_memory(thread), session.program()?);
        let pace = 1024 / 5;
        *lane = Some(Box::new(Lane { memory, program, saved: None, pace, failure: None }));
    }
    Ok(lane.as_mut().expect("the lane was created"))
}
