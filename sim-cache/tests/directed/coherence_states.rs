//! States of two cores with one line and with two: every operation in every state that operations
//! reach. A machine that has a fault fails with the shortest sequence of operations that shows it.
//!
//! States are those of `MemorySystem::coherence_state`. A state is continued on the machine that
//! reached it first, and its replacement order, times and translations are those of that machine.
//! States in which a core has more than [`MOST_WAITING`] unanswered snoops are checked, not
//! continued.

use std::collections::{HashSet, VecDeque};

use sim_cache::CacheLevel;
use sim_cache::config::FarAtomics;
use sim_core::chi::Message;
use sim_core::mesh_counts::AgentKind;
use sim_core::mesh_sums::broken_sums;
use sim_core::{CacheOp, Maintenance, MemKind, MemRequest, MemoryPort, VirtAddr};

use super::coherence::Cores;
use super::rig::Tables;

/// Most unanswered snoops of a core in a state that is continued.
const MOST_WAITING: usize = 1;
/// States of one exploration in the suite. Two lines have fewer on each machine. One line has up to
/// 11,000; `N2SIM_COHERENCE_STATES=20000` visits all of them.
const FEW_STATES: usize = 1000;
/// Two lines of one set of every cache.
const LINES: [VirtAddr; 2] = [VirtAddr(0x8000), VirtAddr(0x8100)];
/// Cycles between operations, so that nothing is in flight.
const APART: u64 = 10_000;

/// An act of a core with a line.
#[derive(Clone, Copy, Debug)]
enum Act {
    Access(MemKind),
    LoadExclusive,
    Fetch,
    /// An I/O agent writes the line into the core's L2.
    Stash,
    /// The core answers its snoops.
    Answer,
}

const ACTS: [Act; 12] = [
    Act::Access(MemKind::Load),
    Act::Access(MemKind::Store),
    Act::Access(MemKind::AtomicLoad),
    Act::Access(MemKind::AtomicStore),
    Act::Access(MemKind::PrefetchLoad),
    Act::Access(MemKind::PrefetchStore),
    Act::Access(MemKind::Maintain(Maintenance::DataByAddress(CacheOp::Clean))),
    Act::Access(MemKind::Maintain(Maintenance::DataByAddress(CacheOp::CleanInvalidate))),
    Act::LoadExclusive,
    Act::Fetch,
    Act::Stash,
    Act::Answer,
];

const FEW_ACTS: [Act; 7] = [
    Act::Access(MemKind::Load),
    Act::Access(MemKind::Store),
    Act::Access(MemKind::AtomicLoad),
    Act::Access(MemKind::PrefetchStore),
    Act::Access(MemKind::Maintain(Maintenance::DataByAddress(CacheOp::Clean))),
    Act::Access(MemKind::Maintain(Maintenance::DataByAddress(CacheOp::CleanInvalidate))),
    Act::Stash,
];

/// One operation: core, line, and act.
type Step = (usize, usize, Act);

/// Lines and acts that are tried.
#[derive(Clone, Copy)]
struct Scope {
    /// Number of lines that the steps use.
    lines: usize,
    acts: &'static [Act],
    /// The cores answer their snoops after each step.
    settles: bool,
}

/// One line, all acts, with snoops that wait.
const ONE_LINE: Scope = Scope { lines: 1, acts: &ACTS, settles: false };
/// Two lines, without monitors and fetches, with snoops that are answered at once.
const TWO_LINES: Scope = Scope { lines: 2, acts: &FEW_ACTS, settles: true };

impl Scope {
    fn steps(self) -> impl Iterator<Item = Step> {
        let places = (0..2).flat_map(move |core| (0..self.lines).map(move |line| (core, line)));
        let all =
            places.flat_map(move |(core, line)| self.acts.iter().map(move |a| (core, line, *a)));
        all.filter(|(_, line, act)| *line == 0 || !matches!(act, Act::Answer))
    }
}

fn perform(cores: &mut Cores, (core, line, act): Step) {
    cores.now += APART;
    let (addr, now) = (LINES[line], cores.now);
    let request = |kind| MemRequest::new(VirtAddr(0x40_0000), addr, 8, kind);
    let sink = &mut cores.counts[core];
    match act {
        Act::Access(kind) => {
            let mut port = cores.memory.port(core);
            if kind == MemKind::Store {
                port.translate_store(request(kind), now, sink);
            }
            port.access(request(kind), now, sink);
        }
        Act::LoadExclusive => {
            let request = MemRequest { exclusive: true, ..request(MemKind::Load) };
            cores.memory.port(core).access(request, now, sink);
        }
        Act::Fetch => drop(cores.memory.port(core).fetch(addr, now, sink)),
        Act::Stash => drop(cores.memory.stash(core, addr, now, sink).expect("the page is mapped")),
        Act::Answer => cores.memory.answer_snoops(core, sink),
    }
}

/// Returns which lines are modified in a cache.
fn modified(cores: &Cores) -> [bool; 2] {
    LINES.map(|addr| {
        let dirty = |core, level| cores.memory.line_is_dirty(core, addr, level) == Some(true);
        let in_core = |core| dirty(core, CacheLevel::L1d) || dirty(core, CacheLevel::L2);
        in_core(0) || in_core(1) || dirty(0, CacheLevel::Slc)
    })
}

fn written(cores: &Cores) -> u64 {
    cores.memory.mesh_counts().received_by(AgentKind::Memory, Message::WriteNoSnpFull)
}

/// Returns the machine after all cores have answered their snoops.
fn settled(cores: &Cores) -> Cores {
    let mut settled = cores.clone();
    settled.settle();
    settled
}

/// Returns what is wrong after a step, when all cores have answered. `before` are the lines that
/// were modified without it, and the lines written to memory so far.
fn fault(before: ([bool; 2], u64), after: &Cores) -> Option<String> {
    let settled = settled(after);
    let (was, written_before) = before;
    let lost = was.into_iter().zip(modified(&settled)).filter(|(was, is)| *was && !is);
    if lost.count() as u64 > written(&settled).saturating_sub(written_before) {
        return Some("modified data is lost".to_owned());
    }
    for addr in LINES {
        let dirty = |core, level| settled.memory.line_is_dirty(core, addr, level);
        let owners = (0..2).filter(|core| dirty(*core, CacheLevel::L1d) == Some(true)).count();
        let holders = (0..2).filter(|core| dirty(*core, CacheLevel::L2).is_some()).count();
        if owners > 0 && holders > 1 {
            return Some(format!("{addr:?} is modified in one core and held by another"));
        }
    }
    if !settled.memory.is_coherent() {
        return Some("the snoop filter and the caches differ".to_owned());
    }
    if !(0..2).all(|core| settled.memory.is_inclusive(core)) {
        return Some("an L2 lacks a line of its L1 caches".to_owned());
    }
    broken_sums(settled.memory.mesh_counts()).into_iter().next()
}

/// Returns after how many states an exploration ends: `N2SIM_COHERENCE_STATES`, or few.
fn most_states() -> usize {
    let given = std::env::var("N2SIM_COHERENCE_STATES").ok();
    given.map_or(FEW_STATES, |text| text.parse().expect("a number of states"))
}

/// Result of an exploration.
#[derive(Debug, Default, PartialEq, Eq)]
struct Explored {
    states: usize,
    steps: usize,
    /// States that were not continued, because many snoops wait.
    ends: usize,
    /// States that were not continued, because [`Explored::states`] reached its limit.
    unopened: usize,
    /// Length of the longest sequence that reaches a new state.
    depth: usize,
}

/// Tries every step in every state that steps reach, the nearest states first.
fn explore(tables: &Tables, scope: Scope, most_states: usize) -> Explored {
    let mut first = Cores::new(tables, 2);
    first.memory.begin_counting(0);
    let mut known = HashSet::from([first.memory.coherence_state(&LINES)]);
    let mut open = VecDeque::from([(first, Vec::new())]);
    let mut explored = Explored { states: 1, ..Explored::default() };
    while let Some((cores, path)) = open.pop_front() {
        if explored.states >= most_states {
            explored.unopened = open.len() + 1;
            break;
        }
        if (0..2).any(|core| cores.memory.waiting_snoops(core) > MOST_WAITING) {
            explored.ends += 1;
            continue;
        }
        let without = settled(&cores);
        let before = (modified(&without), written(&without));
        for step in scope.steps() {
            let mut next = cores.clone();
            perform(&mut next, step);
            if scope.settles {
                next.settle();
            }
            explored.steps += 1;
            if let Some(fault) = fault(before, &next) {
                panic!("{fault} after {path:?}, {step:?}");
            }
            if known.insert(next.memory.coherence_state(&LINES)) {
                let path: Vec<Step> = path.iter().copied().chain([step]).collect();
                explored.depth = explored.depth.max(path.len());
                explored.states += 1;
                open.push_back((next, path));
            }
        }
    }
    explored
}

/// Returns tables of a machine with small caches and TLBs, in which both lines fit.
fn roomy() -> Tables {
    let mut tables = Tables::quiet();
    let memory = &mut tables.memory;
    (memory.l1i.ways, memory.l1d.ways, memory.l2.ways) = (2, 2, 2);
    (memory.l1i.size_bytes, memory.l1d.size_bytes, memory.l2.size_bytes) = (128, 128, 256);
    (memory.slc.slices, memory.slc.ways, memory.slc.slice_bytes) = (1, 2, 128);
    (memory.snoop_filter.slice_lines, memory.snoop_filter.ways) = (4, 4);
    memory.far_atomics = FarAtomics::Never;
    (memory.itlb.entries, memory.dtlb.entries) = (4, 4);
    (memory.l2_tlb.entries, memory.l2_tlb.ways) = (4, 4);
    tables
}

/// Explores both scopes.
#[expect(clippy::print_stdout, reason = "the figures of a run with --nocapture")]
fn check(name: &str, tables: &Tables) {
    let one = explore(tables, ONE_LINE, most_states());
    println!("{name}, one line: {one:?}");
    assert!(one.states > 500, "{name}: {one:?}");
    let two = explore(tables, TWO_LINES, most_states());
    println!("{name}, two lines: {two:?}");
    assert!(two.states > 50, "{name}: {two:?}");
    assert_eq!((two.ends, two.unopened), (0, 0), "{name}: {two:?}");
}

#[test]
fn lines_that_fit_are_coherent_in_every_state() {
    check("all fit", &roomy());
}

#[test]
fn lines_are_coherent_in_every_state_without_a_system_level_cache() {
    let mut tables = roomy();
    tables.memory.slc.slice_bytes = 0;
    check("no system level cache", &tables);
}

#[test]
fn lines_that_evict_each_other_are_coherent_in_every_state() {
    let mut tables = roomy();
    let memory = &mut tables.memory;
    (memory.l1i.ways, memory.l1d.ways, memory.l2.ways) = (1, 1, 1);
    (memory.l1i.size_bytes, memory.l1d.size_bytes, memory.l2.size_bytes) = (64, 64, 128);
    check("one way", &tables);
}

#[test]
fn lines_that_share_one_entry_of_the_snoop_filter_are_coherent_in_every_state() {
    let mut tables = roomy();
    (tables.memory.snoop_filter.slice_lines, tables.memory.snoop_filter.ways) = (1, 1);
    check("one entry of the filter", &tables);
}

#[test]
fn lines_with_far_atomics_are_coherent_in_every_state() {
    for far in [FarAtomics::Miss, FarAtomics::Always] {
        let mut tables = roomy();
        tables.memory.far_atomics = far;
        check(&format!("atomics far: {far:?}"), &tables);
    }
}
