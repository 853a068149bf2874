//! Runs the cores of several threads at the same time on CPUs of the host, quantum by quantum
//! ([`sim_cache::quantum`]). The counts are the same for every number of CPUs.
//!
//! A quantum ends for all threads before one of them must wait for another. Cores that use
//! one line in it return to its beginning and run in exact order among themselves, beside the
//! others. If most of them do, the whole run goes on in exact order for a while. What is left to
//! differ from exact order is in docs/parallel-replay.md.

mod group;
mod pace;
mod partners;

use crate::code::Code;
use crate::error::MachineError;
use crate::quanta_report::QuantaReport;
use crate::session::Session;
use crate::thread_scheduler::{Free, ThreadScheduler};
use crate::threads::Threads;
use group::{Group, Lane, Member, run_groups};
use pace::Pace;
use partners::Partners;
use rayon::ThreadPool;
use sim_cache::MemorySystem;
use sim_cache::quantum::QuantumMemory;
use sim_core::Cycle;

/// Part of a thread's free instructions that a quantum plans to run, in percent. The rest is for
/// instructions that are faster than those before them.
const PLANNED_PERCENT: u64 = 75;

/// Fewest cycles of 1024 instructions: a core has five rename slots a cycle.
const FASTEST: Cycle = 1024 / 5;

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
    /// Memories of groups that do not run.
    memories: Vec<QuantumMemory>,
    partners: Partners,
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
        let (partners, pace, report) =
            (Partners::new(threads), Pace::new(), QuantaReport::default());
        Ok(Quanta { session, pool, lanes, memories: Vec::new(), partners, pace, report })
    }

    /// Returns the statistics so far.
    pub(crate) fn report(&self) -> QuantaReport {
        self.report
    }

    /// Returns the code of a thread.
    ///
    /// # Errors
    /// If the memory budget has no room for it.
    pub(crate) fn program(&mut self, thread: usize) -> Result<&mut Code, MachineError> {
        let lane = &mut self.lanes[thread];
        if lane.is_none() {
            let program = self.session.program()?;
            *lane = Some(Box::new(Lane { program, saved: None, pace: FASTEST }));
        }
        Ok(&mut lane.as_mut().expect("the lane was created").program)
    }

    /// Releases what an ended thread had.
    pub(crate) fn end(&mut self, thread: usize) {
        self.lanes[thread] = None;
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
            self.program(*thread)?;
        }
        let Some(more) = self.run_plan(&plan, &numbers, threads, memory)? else {
            if scheduler.is_none() {
                threads.put_back(plan.threads.iter().map(|free| (free.clock, free.thread)));
            }
            return Ok(false);
        };
        for (free, more) in plan.threads.iter().zip(more) {
            let state = threads.core(free.thread, memory)?.state();
            let program = self.program(free.thread)?;
            match &mut scheduler {
                Some(scheduler) => {
                    scheduler.ran_quantum(free.thread, state, more > 0);
                    threads.ran(free.thread, more, program, memory)?;
                }
                None => threads.ran_quantum(free.thread, more, program, memory)?,
            }
            if state.ended {
                self.end(free.thread);
            }
        }
        Ok(true)
    }

    /// Runs a planned quantum. Returns the instructions that each thread ran, or `None` if it was
    /// taken back.
    fn run_plan(
        &mut self,
        plan: &Plan,
        numbers: &[usize],
        threads: &mut Threads,
        memory: &mut MemorySystem,
    ) -> Result<Option<Vec<u64>>, MachineError> {
        let lanes = self.lanes.iter_mut().enumerate();
        let lanes = lanes.filter(|(number, _)| numbers.binary_search(number).is_ok());
        let lanes = lanes.filter_map(|(_, lane)| lane.as_deref_mut());
        let cores = threads.running(numbers).into_iter().zip(lanes).zip(&plan.threads);
        let members = cores.map(|((core, lane), free)| {
            let before = core.done();
            Member { core, lane, free: *free, before }
        });
        let mut groups = Vec::new();
        for members in self.partners.divide(members.collect()) {
            let own = self.memories.pop().unwrap_or_else(|| memory.quantum_memory());
            groups.push(Group::new(members, own));
        }
        let ran = run_groups(&self.pool, &mut groups, plan.until, memory)?;
        match &ran {
            Ok(done) => {
                self.report.add(done);
                self.pace.done(done.conflicts != [0; 2], done.cycles);
                groups.iter().for_each(|group| self.partners.learn(group));
            }
            Err(refusal) => {
                self.report.refused(*refusal);
                self.pace.taken_back(plan.from, plan.until);
            }
        }
        let mut more = vec![0; numbers.len()];
        for group in groups {
            for mut member in group.members {
                let place = numbers.binary_search(&member.free.thread).expect("it takes part");
                more[place] = member.core.done() - member.before;
                member.learn_pace();
                member.core.release();
                member.lane.saved = None;
            }
            self.memories.push(group.memory);
            self.memories.extend(group.spare);
        }
        self.report.instructions += more.iter().sum::<u64>();
        Ok(ran.is_ok().then_some(more))
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
            let pace = self.lanes[free.thread].as_ref().map_or(FASTEST, |lane| lane.pace);
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
