//! Waits of lines that are written: the queue of writes of a memory channel and the buffer of
//! victims of an L2. Keys `memory.dram.write-entries` and `memory.l2.write-back-entries`.

use proptest::prelude::*;
use sim_cache::CacheLevel;
use sim_core::chi::Message;
use sim_core::mesh_counts::{AgentKind, HomeEvent, MeshCounts};
use sim_core::mesh_sums::broken_sums;
use sim_core::{CacheOp, Cycle, Maintenance, MemKind, MemRequest, MemoryPort, VirtAddr};

use super::coherence::{Cores, D, tiny};
use super::rig::Tables;

/// Cycles for which a line occupies the channel.
const LINE: Cycle = 32;

fn line(number: u64) -> VirtAddr {
    VirtAddr(D.0 + 64 * number)
}

/// Returns a machine with one home node that has a set of two ways, one channel of memory, and no
/// time between crosspoints.
fn one_channel(write_entries: u32) -> Tables {
    let mut tables = Tables::quiet();
    let memory = &mut tables.memory;
    memory.mesh.hop_cycles = 0;
    (memory.slc.slices, memory.slc.slice_bytes, memory.slc.ways) = (1, 128, 2);
    (memory.slc.queue_entries, memory.slc.line_hazards) = (64, true);
    (memory.dram.channels, memory.dram.line_cycles) = (1, LINE as u32);
    memory.dram.write_entries = write_entries;
    tables
}

/// Makes each of some cores write its own modified line back at the same cycle, and keep it. Each
/// line replaces a modified one of the system level cache. Returns the latencies, with the second
/// request of the core for its line, which waits until the first has ended, and the counts.
fn write_backs(tables: &Tables, n: usize) -> (Vec<Cycle>, MeshCounts) {
    let mut cores = Cores::new(tables, n);
    for core in 0..n {
        cores.access(core, MemKind::Store, line(core as u64));
    }
    for number in [60, 61] {
        cores.memory.place_line(0, line(number), CacheLevel::Slc, true).expect("mapped");
    }
    // A multiple of the time of a line: all write-backs reach memory 13 cycles after the begin of
    // a slot of the channel.
    cores.now = 1 << 20;
    let now = cores.now;
    cores.memory.begin_counting(now);
    let clean = MemKind::Maintain(Maintenance::DataByAddress(CacheOp::Clean));
    let latency = |core| {
        let request = MemRequest::new(VirtAddr(0x40_0000), line(core as u64), 8, clean);
        cores.memory.port(core).access(request, now, &mut cores.counts[core]).done - now
    };
    let latencies = (0..n).map(latency).collect();
    cores.settle();
    cores.memory.end_counting(now);
    let counts = cores.memory.take_mesh_counts();
    assert_eq!(broken_sums(&counts), Vec::<String>::new());
    (latencies, counts)
}

#[test]
fn a_line_that_finds_no_place_at_memory_holds_the_entry_of_its_home_node() {
    let (free, counts) = write_backs(&one_channel(0), 8);
    assert!(free.iter().all(|latency| *latency == free[0]), "{free:?}");
    assert_eq!(counts.of_homes(HomeEvent::MemoryRetried), 0);
    let (limited, counts) = write_backs(&one_channel(2), 8);
    let waits: Vec<Cycle> = limited.iter().map(|latency| latency - free[0]).collect();
    // The third line sends the first one off at once, the fourth waits for the next slot. Without
    // waits a write-back ends 12 cycles after its line has reached memory, when its data is there.
    let first = LINE - 13 - 12;
    let of_memory = [1, 2, 3, 4].map(|lines| first + lines * LINE);
    assert_eq!(waits[..4], [0, 0, 0, first]);
    assert_eq!(waits[4..], of_memory);
    let written = counts.of_homes(HomeEvent::CacheEviction);
    assert_eq!(written, 8);
    assert_eq!(counts.of_homes(HomeEvent::MemoryRetried), 5);
    let came = counts.received_by(AgentKind::Memory, Message::WriteNoSnpFull);
    assert_eq!(came, 8 + 5, "those that are sent back are sent again");
    let lines = counts.received_by(AgentKind::Memory, Message::NonCopyBackWrData);
    assert_eq!(lines, 8);
}

#[test]
fn a_queue_that_is_long_enough_changes_nothing() {
    assert_eq!(write_backs(&one_channel(8), 8).0, write_backs(&one_channel(0), 8).0);
}

/// Returns the latencies of `n` misses of one cycle that the system level cache supplies. The L2 is
/// one set of modified lines, so that each of them has a victim.
fn misses(queue: u32, buffer: u32, n: u64) -> Vec<Cycle> {
    let mut tables = Tables::quiet();
    tables.memory.mesh.hop_cycles = 0;
    let l2 = &mut tables.memory.l2;
    (l2.size_bytes, l2.queue_entries, l2.write_back_entries) = (512, queue, buffer);
    (tables.memory.l1d.size_bytes, tables.memory.l1i.size_bytes) = (256, 256);
    let mut cores = Cores::new(&tables, 1);
    for number in 0..8 {
        cores.memory.place_line(0, line(number), CacheLevel::L2, true).expect("mapped");
    }
    let missed = (8..8 + n).map(line);
    for line in missed.clone() {
        cores.memory.place_line(0, line, CacheLevel::Slc, false).expect("mapped");
    }
    let now = cores.now;
    let latency = |line| {
        let request = MemRequest::new(VirtAddr(0x40_0000), line, 8, MemKind::Load);
        cores.memory.port(0).access(request, now, &mut cores.counts[0]).done - now
    };
    missed.map(latency).collect()
}

#[test]
fn a_line_of_the_l2_holds_its_entry_until_its_victim_has_room() {
    assert_eq!(misses(64, 1, 12), misses(64, 0, 12), "no line needs the entry of another one");
    // Lines come in 37 cycles, four at a time; the victim of each has an entry of its own.
    let last = misses(4, 4, 12)[8..].to_vec();
    assert_eq!(last, [129, 131, 133, 135]);
    // One victim after the other, with one cycle more between its beats: each holds the only entry
    // for 38 cycles, so that soon one line fills in 38 cycles.
    let one = misses(4, 1, 12);
    assert!(one[6..].windows(2).all(|pair| pair[1] - pair[0] == 38), "{one:?}");
}

/// Kinds of accesses of the random test.
const KINDS: [MemKind; 5] =
    [MemKind::Load, MemKind::Store, MemKind::AtomicLoad, MemKind::AtomicStore, MemKind::ZeroLine];

/// Longest wait for one access: with the shortest queues, all of these lines one after the other,
/// with their ways and retries.
const LONGEST: Cycle = 400_000;

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn every_access_ends_and_no_line_is_lost_with_the_shortest_queues(
        ops in prop::collection::vec((0..8usize, 0..KINDS.len(), 0..96u64, 0..40u64), 1..300),
        requests in 1..3u32,
        writes in 1..4u32,
        victims in 0..3u32,
        links: bool,
    ) {
        let mut tables = tiny();
        let memory = &mut tables.memory;
        (memory.slc.slices, memory.slc.slice_bytes, memory.slc.ways) = (2, 256, 4);
        (memory.slc.queue_entries, memory.slc.line_hazards) = (requests, true);
        memory.mesh.link_contention = links;
        memory.l2.write_back_entries = victims;
        memory.l2.queue_entries = 2;
        (memory.dram.write_entries, memory.dram.line_cycles) = (writes, LINE as u32);
        memory.dram.channels = 2;
        let mut cores = Cores::new(&tables, 8);
        cores.memory.begin_counting(0);
        for (core, kind, number, pause) in ops {
            cores.now += pause;
            let kind = KINDS[kind];
            let bytes = if kind == MemKind::ZeroLine { 64 } else { 8 };
            let request = MemRequest::new(VirtAddr(0x40_0000), line(number), bytes, kind);
            let (now, counts) = (cores.now, &mut cores.counts[core]);
            let done = cores.memory.port(core).access(request, now, counts).done;
            prop_assert!(done - now < LONGEST, "{} cycles", done - now);
            cores.settle();
            prop_assert!(cores.memory.is_coherent());
        }
        let counts = cores.memory.mesh_counts();
        let broken = broken_sums(counts);
        prop_assert!(broken.is_empty(), "{:?}", broken);
        let written = counts.of_homes(HomeEvent::CacheEviction);
        let came = |message| counts.received_by(AgentKind::Memory, message);
        prop_assert_eq!(came(Message::NonCopyBackWrData), written);
        let again = counts.of_homes(HomeEvent::MemoryRetried);
        prop_assert_eq!(came(Message::WriteNoSnpFull), written + again);
    }
}
