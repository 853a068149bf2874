//! Accesses of several cores to a shared line: the snooped cores, the supplier, the final holders.
//! Guide sections 3.2.12, 4.2 to 4.6.

use sim_cache::CacheLevel::{L1d, L2, Slc};
use sim_cache::config::ReplacementKind;
use sim_core::{
    CacheOp, Counts, DataSource, Maintenance, MemKind, MemRequest, MemoryPort, PmuEvent, Snoop,
    VirtAddr,
};

use super::coherence::{Cores, D};
use super::rig::Tables;

const PC: VirtAddr = VirtAddr(0x1_0000);

/// Returns the counts of an event for every core.
fn all(cores: &Cores, event: PmuEvent) -> Vec<u64> {
    cores.counts.iter().map(|counts| counts.raised(event)).collect()
}

#[test]
fn a_writer_takes_a_dirty_line_out_of_the_system_level_cache() {
    let mut cores = Cores::quiet(3);
    cores.st(0);
    cores.ld(1);
    assert_eq!(cores.dirty(0, Slc), Some(true));
    cores.st(2);
    assert_eq!([cores.dirty(0, Slc), cores.dirty(2, L1d)], [None, Some(true)]);
}

#[test]
fn a_store_to_a_line_that_the_system_level_cache_lost_moves_no_data_either() {
    let mut tables = Tables::quiet();
    tables.memory.slc.slice_bytes = 0;
    let mut cores = Cores::new(&tables, 2);
    cores.ld(0);
    cores.ld(1);
    let before = all(&cores, PmuEvent::L2D_CACHE_WB_CLEAN);
    cores.st(1);
    assert_eq!(all(&cores, PmuEvent::L2D_CACHE_WB_CLEAN), before);
}

#[test]
fn a_store_requests_ownership_only_if_others_may_have_the_line() {
    // Code is likely to be shared with other cores, but not in a machine of one core.
    for (n_cores, fetched, requests) in [(2, true, 1), (2, false, 0), (1, true, 0), (1, false, 0)] {
        let mut cores = Cores::quiet(n_cores);
        if fetched {
            cores.fetch(0, PC);
        } else {
            cores.access(0, MemKind::Load, PC);
        }
        cores.access(0, MemKind::Store, PC);
        let counted = cores.value(0, PmuEvent::BUS_ACCESS_WR);
        assert_eq!(counted, requests, "{n_cores} cores, fetched: {fetched}");
    }
}

#[test]
fn a_read_that_the_home_node_serves_snoops_no_core() {
    let mut cores = Cores::quiet(3);
    cores.ld(0);
    cores.ld(1);
    let before = all(&cores, PmuEvent::BUS_ACCESS);
    assert_eq!(cores.ld(2).source, DataSource::Slc);
    assert_eq!(all(&cores, PmuEvent::BUS_ACCESS)[..2], before[..2]);
}

#[test]
fn maintenance_removes_a_line_from_the_filter_before_its_snoop_is_answered() {
    let mut cores = Cores::quiet(3);
    cores.ld(0);
    let (at, both) = (cores.now + 10_000, Maintenance::DataByAddress(CacheOp::CleanInvalidate));
    let request = |kind| MemRequest::new(VirtAddr(0x40_0000), D, 8, kind);
    let counts = &mut Counts::default();
    cores.memory.port(1).access(request(MemKind::Maintain(both)), at, counts);
    let reply = cores.memory.port(2).access(request(MemKind::Load), at + 1, counts);
    assert_eq!(reply.source, DataSource::Dram, "no other core has it");
    cores.settle();
    assert!(cores.memory.is_coherent());
}

#[test]
fn a_line_read_by_an_external_agent_has_no_owner() {
    let mut cores = Cores::quiet(2);
    cores.st(0);
    cores.memory.snoop(0, Snoop::Shared, D, 20_000, &mut cores.counts[0]).expect("mapped");
    assert_eq!(cores.ld(1).source, DataSource::Slc, "the modified data is there");
}

#[test]
fn a_line_that_a_setup_places_is_known_to_the_other_cores() {
    let mut cores = Cores::quiet(2);
    cores.memory.place_line(0, D, L1d, true).expect("mapped");
    assert!(cores.memory.is_coherent());
    assert_eq!([cores.dirty(0, L1d), cores.dirty(0, Slc)], [Some(true), None]);
    assert_eq!(cores.ld(1).source, DataSource::Peer);
    cores.memory.place_line(0, PC, L2, false).expect("mapped");
    cores.access(0, MemKind::Store, PC);
    assert_eq!(cores.value(0, PmuEvent::BUS_ACCESS_WR), 0, "the core owns it");
}

#[test]
fn a_fixed_supplier_does_not_change_the_sharers_of_a_line() {
    for (readers, requests) in [(1, 0), (2, 1)] {
        let mut cores = Cores::quiet(2);
        cores.memory.set_data_source(D, Some(DataSource::Dram)).expect("mapped");
        for core in 0..readers {
            assert_eq!(cores.ld(core).source, DataSource::Dram);
        }
        cores.st(readers - 1);
        assert_eq!(cores.value(readers - 1, PmuEvent::BUS_ACCESS_WR), requests);
    }
}

/// Returns cores of which core 0 merges stores to `D`, which its L2 alone holds. Each of the other
/// `n_readers` has read `D`.
fn merging(n_readers: usize) -> Cores {
    let mut tables = Tables::quiet();
    tables.memory.l1d.write_stream_lines = 1;
    tables.memory.l1d.merge_idle_cycles = 0;
    let mut cores = Cores::new(&tables, 2);
    for part in 0..8 {
        cores.access(0, MemKind::Store, VirtAddr(D.0 + 0x100 + 8 * part));
    }
    cores.memory.place_line(0, D, L2, false).expect("mapped");
    for core in 1..n_readers {
        cores.ld(core);
    }
    cores.st(0);
    assert_eq!([cores.dirty(0, L1d), cores.dirty(0, L2)], [None, Some(false)], "it is merged");
    cores
}

#[test]
fn merged_stores_reach_an_owned_line_before_a_reader_gets_it() {
    let mut cores = merging(1);
    assert_eq!(cores.ld(1).source, DataSource::Peer);
    assert_eq!(cores.dirty(0, Slc), Some(true));
    assert_eq!([cores.dirty(0, L2), cores.dirty(1, L2)], [Some(false), Some(false)]);
}

#[test]
fn merged_stores_request_a_shared_line_again_after_a_writer_took_it() {
    let mut cores = merging(2);
    cores.st(1);
    cores.settle();
    assert_eq!([cores.dirty(0, L2), cores.dirty(1, L2)], [Some(true), None]);
    assert!(cores.memory.is_coherent());
}

#[test]
fn a_line_read_again_before_its_snoop_is_answered_leaves_the_filter_with_the_answer() {
    // Filter and L2 hold two lines. The first half of a load evicts the line of the second half
    // from both.
    let mut tables = Tables::quiet();
    let memory = &mut tables.memory;
    (memory.l1i.ways, memory.l1d.ways, memory.l2.ways) = (1, 1, 2);
    (memory.l1i.size_bytes, memory.l1d.size_bytes, memory.l2.size_bytes) = (64, 64, 128);
    memory.l2.replacement = ReplacementKind::Lru;
    memory.slc.slices = 1;
    (memory.snoop_filter.slice_lines, memory.snoop_filter.ways) = (2, 2);
    let mut cores = Cores::new(&tables, 2);
    for line in [1, 4] {
        cores.access(0, MemKind::Load, VirtAddr(D.0 + 64 * line));
    }
    cores.access(0, MemKind::Load, VirtAddr(D.0 + 60));
    assert_eq!(cores.value(0, PmuEvent::L2D_CACHE_REFILL), 4);
    assert_eq!(cores.value(0, PmuEvent::L2D_CACHE_INVAL), 1);
    assert!(cores.memory.is_coherent());
}
