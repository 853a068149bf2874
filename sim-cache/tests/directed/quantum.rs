//! Conflicts of cores that run at the same time on CPUs of the host (docs/parallel-replay.md,
//! Method): a core took a line that another one used, which no home node saw.

use sim_cache::CacheLevel;
use sim_cache::quantum::{Conflict, QuantumMemory};
use sim_core::{Counts, MemKind, MemRequest, MemoryPort, VirtAddr};

use super::coherence::{Cores, D};
use super::rig::Tables;

/// Returns two cores with L1 D-caches of two sets with four ways. The line `D` is clean in the L2
/// of core 0 only, five others of its L1 set are in that L2 too.
fn with_line_in_l2() -> Cores {
    let mut tables = Tables::quiet();
    tables.memory.l1d.size_bytes = 512;
    let mut cores = Cores::new(&tables, 2);
    cores.ld(0);
    for n in 1..6 {
        cores.access(0, MemKind::Load, same_set(n));
    }
    let at = |level| cores.memory.line_is_dirty(0, D, level);
    assert_eq!((at(CacheLevel::L1d), at(CacheLevel::L2)), (None, Some(false)));
    cores
}

/// Returns the address of line `n` after `D` in its set of the L1.
fn same_set(n: u64) -> VirtAddr {
    VirtAddr(D.0 + n * 128)
}

/// Runs accesses of core 0 in one quantum and a load of `D` by core 1 in another one. Returns
/// their conflicts.
fn conflicts(accesses: &[(MemKind, VirtAddr)]) -> Vec<(usize, usize, Conflict)> {
    let mut cores = with_line_in_l2();
    let run = |cores: &mut Cores, core: usize, accesses: &[(MemKind, VirtAddr)]| {
        let mut quantum = cores.memory.quantum_memory();
        cores.memory.begin_quantum(&mut quantum, &[core]);
        quantum.save();
        let mut now = cores.now + 10_000;
        for (kind, addr) in accesses {
            let request = MemRequest::new(VirtAddr(0x40_0000), *addr, 8, *kind);
            let counts = &mut Counts::default();
            quantum.memory().port(core).access(request, now, counts);
            now += 1_000;
        }
        quantum
    };
    let quanta: [QuantumMemory; 2] =
        [run(&mut cores, 0, accesses), run(&mut cores, 1, &[(MemKind::Load, D)])];
    cores.memory.conflicts(&quanta.each_ref())
}

/// Given four cores that run as one group, of which two pairs load a line each, expect each pair
/// to compete for itself, and all as one after a line of both pairs.
#[test]
fn cores_of_a_group_compete_with_those_that_request_the_same_lines() {
    let line = |n: u64| VirtAddr(D.0 + n * 64);
    let competitors = |loads: &[(usize, u64)]| {
        let mut cores = Cores::quiet(4);
        let mut quantum = cores.memory.quantum_memory();
        cores.memory.begin_quantum(&mut quantum, &[0, 1, 2, 3]);
        for (n, (core, number)) in loads.iter().enumerate() {
            let request = MemRequest::new(VirtAddr(0x40_0000), line(*number), 8, MemKind::Load);
            let at = cores.now + 1_000 * n as u64;
            quantum.memory().port(*core).access(request, at, &mut Counts::default());
        }
        quantum.competitors().iter().map(|(_, first)| *first).collect::<Vec<_>>()
    };
    assert_eq!(competitors(&[(0, 1), (1, 2), (2, 3), (3, 4)]), [0, 1, 2, 3]);
    assert_eq!(competitors(&[(0, 1), (3, 1), (1, 2), (2, 2)]), [0, 1, 1, 0]);
    assert_eq!(competitors(&[(0, 1), (3, 1), (1, 2), (2, 2), (3, 5), (2, 5)]), [0, 0, 0, 0]);
}

#[test]
fn a_core_that_did_not_use_a_line_is_not_in_conflict_with_one_that_takes_it() {
    assert_eq!(conflicts(&[(MemKind::Load, same_set(6))]), []);
}

#[test]
fn a_line_that_came_into_the_l1_is_used() {
    assert_eq!(conflicts(&[(MemKind::Load, D)]), [(0, 1, Conflict::Snoop)]);
}

#[test]
fn a_line_that_was_modified_and_has_left_the_l1_is_used() {
    let others = (1..6).map(|n| (MemKind::Load, same_set(n)));
    let accesses: Vec<_> = [(MemKind::Store, D)].into_iter().chain(others).collect();
    // Before and after, no L1 cache has the line: only its state in the L2 shows the store.
    assert_eq!(conflicts(&accesses), [(0, 1, Conflict::Snoop)]);
}
