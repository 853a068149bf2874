//! A group of threads in a quantum: one thread, or several in conflict, which run in exact
//! order among themselves. Groups run at the same time.

use crate::code::Code;
use crate::core_run::CoreRun;
use crate::error::MachineError;
use crate::quanta_report::{Done, Refusal};
use crate::run_sink::Unobserved;
use crate::thread_scheduler::{FirstTwo, Free, turn_end};
use rayon::ThreadPool;
use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};
use sim_cache::MemorySystem;
use sim_cache::quantum::{Conflict, QuantumMemory};
use sim_core::Cycle;

/// Things of a thread that only quanta need.
pub(super) struct Lane {
    /// Decoded code. Numbers of words that only wrong paths reach depend on who meets them first,
    /// so each thread has its own.
    pub(super) program: Code,
    /// State at the beginning of the quantum.
    pub(super) saved: Option<CoreRun>,
    /// Cycles that 1024 instructions took in the last quantum.
    pub(super) pace: Cycle,
}

/// A thread in a quantum.
pub(super) struct Member<'a> {
    pub(super) core: &'a mut CoreRun,
    pub(super) lane: &'a mut Lane,
    pub(super) free: Free,
    /// Instructions of the thread before the quantum.
    pub(super) before: u64,
}

/// Threads that run in exact order among themselves.
pub(super) struct Group<'a> {
    pub(super) members: Vec<Member<'a>>,
    pub(super) memory: QuantumMemory,
    /// Memories of groups that joined this one.
    pub(super) spare: Vec<QuantumMemory>,
    /// The group has run.
    is_done: bool,
    failure: Option<MachineError>,
}

impl Member<'_> {
    /// Returns the cycle in which the thread can continue.
    fn clock(&self) -> Cycle {
        self.core.cycle().max(self.free.clock)
    }

    /// Returns whether the thread ran instructions after `cycle`.
    fn runs_past(&self, cycle: Cycle) -> bool {
        self.core.done() > self.before && self.core.cycle() > cycle
    }

    /// Returns whether the thread has no more to do in a quantum until this cycle.
    fn stops(&self, until: Cycle) -> bool {
        self.clock() > until || self.core.stops()
    }

    /// Learns how fast the thread is.
    pub(super) fn learn_pace(&mut self) {
        let cycles = self.core.cycle().saturating_sub(self.free.clock);
        let instructions = self.core.done() - self.before;
        if let Some(pace) = (cycles * 1024).checked_div(instructions) {
            self.lane.pace = pace.max(1);
        }
    }
}

impl<'a> Group<'a> {
    /// Creates a group of threads, whose numbers ascend.
    pub(super) fn new(members: Vec<Member<'a>>, memory: QuantumMemory) -> Group<'a> {
        Group { members, memory, spare: Vec::new(), is_done: false, failure: None }
    }

    fn begin(&mut self, memory: &mut MemorySystem) {
        let cores: Vec<usize> = self.members.iter().map(|member| member.free.thread).collect();
        memory.begin_quantum(&mut self.memory, &cores);
    }

    /// Runs the threads from the state in which they are.
    fn run(&mut self, until: Cycle) {
        self.memory.save();
        for member in &mut self.members {
            member.lane.saved = Some(member.core.save());
            if member.free.clock <= until {
                member.core.hold(member.free.hold_at, member.free.wait);
            }
        }
        self.failure = self.run_members(until).err();
        self.is_done = true;
    }

    /// Runs the thread with the lowest clock up to the clock of the next one, again and again.
    fn run_members(&mut self, until: Cycle) -> Result<(), MachineError> {
        loop {
            let mut order = FirstTwo::default();
            let members =
                self.members.iter().enumerate().filter(|(_, member)| !member.stops(until));
            members.for_each(|(place, member)| order.add((member.clock(), place)));
            let Some((_, place)) = order.first else { return Ok(()) };
            let Member { core, lane, .. } = &mut self.members[place];
            let (end, sink) =
                (turn_end(place, order.second).min(until), &mut Unobserved::default());
            core.advance(end, &mut lane.program, self.memory.memory(), sink)?;
        }
    }

    /// Returns to the beginning of the quantum.
    fn take_back(&mut self, memory: &mut MemorySystem) {
        memory.take_back(&mut self.memory);
        for member in &mut self.members {
            member.core.restore(member.lane.saved.take().expect("the thread was saved"));
        }
        self.is_done = false;
    }

    /// Adds the threads of another group. Both were taken back.
    fn join(&mut self, other: Group<'a>) {
        self.spare.push(other.memory);
        self.spare.extend(other.spare);
        self.members.extend(other.members);
        self.members.sort_unstable_by_key(|member| member.free.thread);
    }
}

/// Runs the groups of a quantum at the same time. If a thread stops before `until`, all run again
/// up to there. Groups in conflict run again as one.
pub(super) fn run_groups(
    pool: &ThreadPool,
    groups: &mut Vec<Group>,
    mut until: Cycle,
    memory: &mut MemorySystem,
) -> Result<Result<Done, Refusal>, MachineError> {
    let clocks = groups.iter().flat_map(|group| &group.members).map(|member| member.free.clock);
    let (from, threads) = (clocks.clone().min().unwrap_or(0), clocks.count());
    let mut conflicts = [0; 2];
    loop {
        groups.iter_mut().filter(|group| !group.is_done).for_each(|group| group.begin(memory));
        pool.install(|| {
            let waiting = groups.par_iter_mut().filter(|group| !group.is_done);
            waiting.for_each(|group| group.run(until));
        });
        if let Some(error) = groups.iter_mut().find_map(|group| group.failure.take()) {
            return Err(error);
        }
        let members = || groups.iter().flat_map(|group| &group.members);
        let stopped = members().map(Member::clock).min().unwrap_or(until);
        if stopped < until && members().any(|member| member.runs_past(stopped)) {
            groups.iter_mut().for_each(|group| group.take_back(memory));
            until = stopped;
            continue;
        }
        let refusal = match find_conflicts(groups, memory, (until - from).max(1)) {
            Ok(found) if found.is_empty() => {
                let mut quanta: Vec<_> = groups.iter_mut().map(|group| &mut group.memory).collect();
                let answers = memory.end_quantum(&mut quanta);
                let several = groups.iter().map(|group| group.members.len()).filter(|n| *n > 1);
                let (grouped, cycles) = (several.sum::<usize>() as u64, until - from);
                return Ok(Ok(Done { answers, cycles, grouped, conflicts }));
            }
            Ok(found) => {
                found.iter().for_each(|(.., kind)| conflicts[*kind as usize] += 1);
                let largest = join(groups, &found, memory);
                (largest * 2 > threads).then(|| Refusal::Conflict(found[0].2))
            }
            Err(refusal) => Some(refusal),
        };
        if let Some(refusal) = refusal {
            let done = groups.iter_mut().filter(|group| group.is_done);
            done.for_each(|group| group.take_back(memory));
            return Ok(Err(refusal));
        }
    }
}

/// Returns the pairs of groups in conflict.
fn find_conflicts(
    groups: &[Group],
    memory: &MemorySystem,
    cycles: Cycle,
) -> Result<Vec<(usize, usize, Conflict)>, Refusal> {
    let quanta: Vec<&QuantumMemory> = groups.iter().map(|group| &group.memory).collect();
    if quanta.iter().any(|quantum| quantum.needs_all()) {
        return Err(Refusal::Broadcast);
    }
    let found = memory.conflicts(&quanta);
    if found.is_empty() && memory.waits_for_memory(&quanta, cycles) {
        return Err(Refusal::Memory);
    }
    Ok(found)
}

/// Takes the groups in conflict back and makes one of them. Returns the number of threads of the
/// largest such group.
fn join(
    groups: &mut Vec<Group>,
    pairs: &[(usize, usize, Conflict)],
    memory: &mut MemorySystem,
) -> usize {
    let mut first: Vec<usize> = (0..groups.len()).collect();
    for &(a, b, _) in pairs {
        let (low, high) = (first[a].min(first[b]), first[a].max(first[b]));
        first.iter_mut().filter(|one| **one == high).for_each(|one| *one = low);
    }
    let mut joined: Vec<Option<Group>> = (0..groups.len()).map(|_| None).collect();
    let mut largest = 0;
    for (place, mut group) in groups.drain(..).enumerate() {
        if first.iter().filter(|one| **one == first[place]).count() > 1 {
            group.take_back(memory);
        }
        match &mut joined[first[place]] {
            Some(other) => {
                other.join(group);
                largest = largest.max(other.members.len());
            }
            empty => *empty = Some(group),
        }
    }
    groups.extend(joined.into_iter().flatten());
    largest
}
