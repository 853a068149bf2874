//! Waits of lines that are written: the queue of writes of a memory channel and the buffer of
//! victims of an L2. Keys `memory.dram.write-entries` and `memory.l2.write-back-entries`.

use proptest::prelude::*;
use sim_cache::CacheLevel;
use sim_cache::config::{FarAtomics, ReplacementKind};
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
    let latency = |core| {
        let request = MemRequest::new(VirtAddr(0x40_0000), line(core as u64), 8, CLEAN);
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

/// Returns a machine with one home node that has one set of eight ways with modified lines, but for
/// the last, which is clean. An L2 is one set of eight lines.
fn full_cache(write_entries: u32, cores: usize) -> Cores {
    let mut tables = one_channel(write_entries);
    let memory = &mut tables.memory;
    (memory.slc.slice_bytes, memory.slc.ways) = (512, 8);
    (memory.slc.replacement, memory.l2.replacement) = (ReplacementKind::Lru, ReplacementKind::Lru);
    memory.far_atomics = FarAtomics::Always;
    memory.l2.size_bytes = 512;
    (memory.l1d.size_bytes, memory.l1i.size_bytes) = (256, 256);
    let mut cores = Cores::new(&tables, cores);
    for number in 56..64 {
        let dirty = number < 63;
        cores.memory.place_line(0, line(number), CacheLevel::Slc, dirty).expect("mapped");
    }
    cores.now = 1 << 20;
    cores
}

/// Performs an access of a core at the present cycle. Returns its latency.
fn latency(cores: &mut Cores, core: usize, kind: MemKind, number: u64) -> Cycle {
    let request = MemRequest::new(VirtAddr(0x40_0000), line(number), 8, kind);
    let now = cores.now;
    let done = cores.memory.port(core).access(request, now, &mut cores.counts[core]).done;
    cores.settle();
    done - now
}

const CLEAN: MemKind = MemKind::Maintain(Maintenance::DataByAddress(CacheOp::Clean));

#[test]
fn a_request_waits_for_its_own_writes_alone() {
    let run = |write_entries| {
        let mut cores = full_cache(write_entries, 5);
        for core in 0..3 {
            cores.memory.place_line(core, line(core as u64), CacheLevel::L2, true).expect("mapped");
        }
        let cleaned = [0, 1, 2].map(|core| latency(&mut cores, core, CLEAN, core as u64));
        // The last two write nothing; the second of them waits for the first.
        let loads = [3, 4].map(|core| latency(&mut cores, core, MemKind::Load, 63));
        (cleaned[2], loads)
    };
    let (short, long) = (run(1), run(64));
    assert!(short.0 > long.0, "the third write waits: {short:?} and {long:?}");
    assert_eq!(short.1, long.1);
}

#[test]
fn a_victim_of_an_l2_holds_its_entry_until_the_line_that_it_replaces_has_its_place() {
    let run = |write_entries| {
        let mut cores = full_cache(write_entries, 8);
        let numbers = |core: usize| (0..8).map(move |way| 8 * core as u64 + way);
        for core in 0..5 {
            for number in numbers(core) {
                cores.memory.place_line(core, line(number), CacheLevel::L2, true).expect("mapped");
            }
            latency(&mut cores, core, MemKind::Load, 40 + core as u64);
        }
        let has_left =
            |number: &u64| cores.memory.line_is_dirty(4, line(*number), CacheLevel::L2).is_none();
        let victim = numbers(4).find(has_left).expect("seven of eight lines remain");
        // The victim is at its home node, and its data too.
        cores.now += 50;
        latency(&mut cores, 7, MemKind::Load, victim)
    };
    let (short, long) = (run(1), run(64));
    assert!(short > long, "{short} and {long}");
}

#[test]
fn a_far_atomic_holds_its_entry_until_the_line_that_it_replaces_has_its_place() {
    let run = |write_entries| {
        let mut cores = full_cache(write_entries, 8);
        // These write-backs reach memory shortly before the line that the atomic replaces.
        cores.now += 250;
        for core in 0..6 {
            cores.memory.place_line(core, line(core as u64), CacheLevel::L2, true).expect("mapped");
            latency(&mut cores, core, CLEAN, core as u64);
        }
        cores.now -= 250;
        latency(&mut cores, 6, MemKind::AtomicLoad, 20);
        latency(&mut cores, 7, MemKind::Load, 20)
    };
    let (short, long) = (run(1), run(64));
    assert!(short > long, "{short} and {long}");
}

#[test]
fn lines_of_the_other_chip_wait_and_count_no_message_here() {
    let mut tables = one_channel(2);
    let chips = &mut tables.memory.chips;
    (chips.count, chips.remote_pages_per_256, chips.link_cycles) = (2, 256, 0);
    let (latencies, counts) = write_backs(&tables, 8);
    assert!(latencies[7] > latencies[0], "{latencies:?}");
    assert_eq!(counts.of_homes(HomeEvent::MemoryRetried), 0);
    assert_eq!(counts.sent_by(AgentKind::Memory, Message::RetryAck), 0);
}

/// Kinds of accesses of the random test.
const KINDS: [MemKind; 7] = [
    MemKind::Load,
    MemKind::Store,
    MemKind::AtomicLoad,
    MemKind::AtomicStore,
    MemKind::ZeroLine,
    CLEAN,
    MemKind::Maintain(Maintenance::DataByAddress(CacheOp::CleanInvalidate)),
];

/// Returns a machine with small caches and the shortest queues.
fn shortest([requests, writes, victims]: [u32; 3]) -> Tables {
    let mut tables = tiny();
    let memory = &mut tables.memory;
    (memory.slc.slices, memory.slc.slice_bytes, memory.slc.ways) = (2, 256, 4);
    (memory.slc.queue_entries, memory.slc.line_hazards) = (requests, true);
    (memory.l2.write_back_entries, memory.l2.queue_entries) = (victims, 2);
    (memory.dram.write_entries, memory.dram.line_cycles) = (writes, LINE as u32);
    memory.dram.channels = 2;
    tables
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn no_line_is_lost_with_the_shortest_queues(
        ops in prop::collection::vec((0..8usize, 0..KINDS.len(), 0..96u64, 0..40u64), 1..300),
        queues in (1..3u32, 1..4u32, 0..3u32),
        (links, has_cache) in any::<(bool, bool)>(),
        banks in prop::sample::select(vec![0u32, 4]),
        far in prop::sample::select(vec![FarAtomics::Never, FarAtomics::Miss, FarAtomics::Always]),
        remote in prop::sample::select(vec![0u32, 128, 256]),
    ) {
        let mut tables = shortest([queues.0, queues.1, queues.2]);
        let memory = &mut tables.memory;
        memory.mesh.link_contention = links;
        memory.far_atomics = far;
        memory.dram.banks = banks;
        (memory.chips.count, memory.chips.remote_pages_per_256) = (2, remote);
        if !has_cache {
            memory.slc.slice_bytes = 0;
        }
        let mut cores = Cores::new(&tables, 8);
        cores.memory.begin_counting(0);
        for (core, kind, number, pause) in ops {
            cores.now += pause;
            let kind = KINDS[kind];
            let bytes = if kind == MemKind::ZeroLine { 64 } else { 8 };
            // Four pages, of which some may be at home on the other chip.
            let addr = VirtAddr(line(number % 24).0 + 4096 * (number / 24));
            let request = MemRequest::new(VirtAddr(0x40_0000), addr, bytes, kind);
            let (now, counts) = (cores.now, &mut cores.counts[core]);
            cores.memory.port(core).access(request, now, counts);
            cores.settle();
            prop_assert!(cores.memory.is_coherent());
        }
        let counts = cores.memory.mesh_counts();
        let broken = broken_sums(counts);
        prop_assert!(broken.is_empty(), "{:?}", broken);
        if has_cache {
            let lines = counts.received_by(AgentKind::Memory, Message::NonCopyBackWrData);
            prop_assert_eq!(lines, counts.of_homes(HomeEvent::CacheEviction));
        }
    }
}
