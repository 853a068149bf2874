//! Pairs of cores: the exact counts of what a request of one core causes at another one, for single
//! accesses to one line. PMU guide 3.2.12.

use sim_cache::config::FarAtomics;
use sim_core::core_pairs::PairCounts;
use sim_core::mesh_counts::{Crosspoint, MeshCounts};
use sim_core::{CacheOp, Cycle, LineAddr, Maintenance, MemKind, VirtAddr};

use super::coherence::{Cores, D};
use super::mesh_counts::counted;
use super::rig::Tables;

/// Returns the pairs with a count: requester, snooped core, and its counts.
fn pairs(counts: &MeshCounts) -> Vec<(u32, u32, PairCounts)> {
    counts.pairs.all().map(|(pair, counts)| (pair.requester, pair.snooped, counts)).collect()
}

/// Returns the cycles from the request of a core to a line that its neighbor at the crosspoint
/// supplies: to the home node, from there to the neighbor, and its answer.
fn cycles_from_neighbor(tables: &Tables, counts: &MeshCounts) -> Cycle {
    let memory = &tables.memory;
    let to_home = |home: &Crosspoint| {
        let core = counts.plan.cores[0];
        core.column.abs_diff(home.column) + core.row.abs_diff(home.row)
    };
    // The request is the only message on its way to the home node.
    let requests = counts.flits_by_side(sim_core::chi::Channel::Req);
    let hops = requests.iter().flatten().sum::<u64>() as u32;
    assert!(counts.plan.homes.iter().any(|home| to_home(home) == hops), "{hops} hops");
    let way = 2 * hops * memory.mesh.hop_cycles;
    Cycle::from(
        2 * memory.bus.interface_cycles
            + way
            + memory.slc.home_node_cycles
            + memory.bus.peer_cycles,
    )
}

#[test]
fn a_line_that_moves_from_core_to_core_counts_in_one_cell() {
    let tables = Tables::quiet();
    let mut cores = Cores::new(&tables, 2);
    cores.memory.keep_lines_of_pairs();
    cores.st(0);
    let counts = counted(&mut cores, |cores| cores.ld(1));
    let cycles = cycles_from_neighbor(&tables, &counts);
    let moved = PairCounts { snoops: 1, evictions: 0, lines: 1, cycles };
    assert_eq!(pairs(&counts), [(1, 0, moved)], "core 1 waits for core 0 and no other");
    let lines: Vec<LineAddr> = counts.pairs.lines().collect();
    let of_line = lines.iter().flat_map(|line| counts.pairs.of_line(*line));
    assert_eq!(of_line.map(|(_, counts)| counts).collect::<Vec<_>>(), [moved], "its line");
    // Both share the line now, so that nothing moves.
    assert_eq!(pairs(&counted(&mut cores, |cores| cores.ld(0))), []);
    // A writer takes it from the other, and has its data.
    let counts = counted(&mut cores, |cores| cores.st(0));
    assert_eq!(pairs(&counts), [(0, 1, PairCounts { snoops: 1, ..PairCounts::default() })]);
    // Now it moves back to a writer.
    let counts = counted(&mut cores, |cores| cores.st(1));
    let of = counts.pairs.of(1, 0);
    assert_eq!((pairs(&counts).len(), of.snoops, of.lines), (1, 1, 1));
}

#[test]
fn a_writer_snoops_each_sharer() {
    let mut cores = Cores::quiet(4);
    cores.st(2);
    for reader in [0, 1, 3] {
        cores.ld(reader);
    }
    let counts = counted(&mut cores, |cores| cores.st(3));
    let snooped = PairCounts { snoops: 1, ..PairCounts::default() };
    assert_eq!(pairs(&counts), [0, 1, 2].map(|other| (3, other, snooped)));
}

#[test]
fn maintenance_snoops_the_holder_and_no_line_moves_to_the_requester() {
    let mut cores = Cores::quiet(2);
    cores.st(1);
    let clean = MemKind::Maintain(Maintenance::DataByAddress(CacheOp::Clean));
    let counts = counted(&mut cores, |cores| cores.access(0, clean, D));
    assert_eq!(pairs(&counts), [(0, 1, PairCounts { snoops: 1, ..PairCounts::default() })]);
}

#[test]
fn a_line_that_leaves_the_filter_is_an_eviction_for_the_core_that_needed_its_entry() {
    let mut tables = Tables::quiet();
    tables.memory.slc.slices = 1;
    (tables.memory.snoop_filter.slice_lines, tables.memory.snoop_filter.ways) = (1, 1);
    let mut cores = Cores::new(&tables, 2);
    cores.st(0);
    let other = VirtAddr(D.0 + 64);
    let counts = counted(&mut cores, |cores| cores.access(1, MemKind::Load, other));
    assert_eq!(pairs(&counts), [(1, 0, PairCounts { evictions: 1, ..PairCounts::default() })]);
}

#[test]
fn a_far_atomic_takes_the_line_of_another_core_and_its_own_copy() {
    let mut tables = Tables::quiet();
    tables.memory.far_atomics = FarAtomics::Always;
    let mut cores = Cores::new(&tables, 2);
    cores.st(1);
    let counts = counted(&mut cores, |cores| cores.access(0, MemKind::AtomicLoad, D));
    let of = counts.pairs.of(0, 1);
    assert_eq!((pairs(&counts).len(), of.snoops, of.lines), (1, 1, 1));
    cores.st(0);
    let counts = counted(&mut cores, |cores| cores.access(0, MemKind::AtomicLoad, D));
    assert_eq!(pairs(&counts), [(0, 0, PairCounts { snoops: 1, ..PairCounts::default() })]);
}

#[test]
fn a_run_that_does_not_ask_for_the_mesh_counts_no_pair() {
    let mut cores = Cores::quiet(2);
    cores.memory.leave_mesh_uncounted();
    cores.memory.begin_counting(0);
    cores.st(0);
    cores.ld(1);
    cores.memory.end_counting(cores.now);
    assert_eq!(pairs(cores.memory.mesh_counts()), []);
}
