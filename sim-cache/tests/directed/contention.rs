//! Waits in the mesh: the queue of a home node, requests to one line, and links. CMN-700; keys
//! `memory.slc.queue-entries`, `memory.slc.line-hazards`, `memory.mesh.link-contention`.

use proptest::prelude::*;
use sim_cache::config::FarAtomics;
use sim_cache::{CacheLevel, TlbLevel};
use sim_core::chi::{Channel, Message};
use sim_core::mesh_counts::{AgentKind, HomeEvent, MeshCounts, Occupant};
use sim_core::mesh_sums::broken_sums;
use sim_core::{CacheOp, Cycle, Maintenance, MemKind, MemRequest, MemoryPort, VirtAddr};

use super::coherence::{Cores, D, tiny};
use super::rig::Tables;

/// From a core to its home node, or back, without hops.
const WAY: Cycle = 6;
/// Look-up of a home node.
const LOOK_UP: Cycle = 25;
/// From the arrival of a request until `CompAck` is there: look-up, line, acknowledgement.
const TRANSACTION: Cycle = LOOK_UP + WAY + WAY;

/// Returns a machine with one home node and no time between crosspoints.
fn one_home(entries: u32, line_hazards: bool) -> Tables {
    let mut tables = Tables::quiet();
    tables.memory.mesh.hop_cycles = 0;
    tables.memory.slc.slices = 1;
    tables.memory.slc.queue_entries = entries;
    tables.memory.slc.line_hazards = line_hazards;
    tables
}

fn line(number: u64) -> VirtAddr {
    VirtAddr(D.0 + 64 * number)
}

/// Performs accesses of several cores at the same cycle. Returns the latency of each.
fn at_once(cores: &mut Cores, accesses: &[(usize, MemKind, VirtAddr)]) -> Vec<Cycle> {
    let now = cores.now;
    let latency = |(core, kind, addr): &(usize, MemKind, VirtAddr)| {
        let request = MemRequest::new(VirtAddr(0x40_0000), *addr, 8, *kind);
        let reply = cores.memory.port(*core).access(request, now, &mut cores.counts[*core]);
        reply.done - now
    };
    let latencies = accesses.iter().map(latency).collect();
    cores.settle();
    latencies
}

/// Returns the latencies of loads of the lines 0, 1, ... from the system level cache, each by a
/// core of its own at the same cycle, and the counts.
fn loads(tables: &Tables, n: usize) -> (Vec<Cycle>, MeshCounts) {
    let mut cores = Cores::new(tables, n);
    for number in 0..n as u64 {
        cores.memory.place_line(0, line(number), CacheLevel::Slc, false).expect("mapped");
    }
    let accesses: Vec<_> = (0..n).map(|core| (core, MemKind::Load, line(core as u64))).collect();
    counted(&mut cores, &accesses)
}

fn counted(cores: &mut Cores, accesses: &[(usize, MemKind, VirtAddr)]) -> (Vec<Cycle>, MeshCounts) {
    cores.memory.begin_counting(cores.now);
    let latencies = at_once(cores, accesses);
    cores.memory.end_counting(cores.now);
    let counts = cores.memory.take_mesh_counts();
    assert_eq!(broken_sums(&counts), Vec::<String>::new());
    (latencies, counts)
}

#[test]
fn a_request_that_finds_no_entry_is_sent_back_and_again_with_a_credit() {
    let (free, counts) = loads(&one_home(0, false), 5);
    assert!(free.iter().all(|latency| *latency == free[0]), "{free:?}");
    assert_eq!(counts.of_homes(HomeEvent::RequestRetried), 0);
    let (limited, counts) = loads(&one_home(2, false), 5);
    // The credit leaves when the first entry is freed; then the request comes again.
    let again = TRANSACTION + 2 * WAY;
    let waits: Vec<Cycle> = limited.iter().map(|latency| latency - free[0]).collect();
    assert_eq!(waits, [0, 0, again, again, 2 * again]);
    assert_eq!(counts.of_homes(HomeEvent::RequestRetried), 3);
    assert_eq!(counts.of_homes(HomeEvent::RequestReceived), 5 + 3);
    assert_eq!(counts.of_homes(HomeEvent::CacheAccess), 5);
    let came = |message| counts.received_by(AgentKind::Core, message);
    assert_eq!([came(Message::RetryAck), came(Message::PCrdGrant)], [3, 3]);
    let sent = counts.sent_by(AgentKind::Core, Message::ReadNotSharedDirty);
    assert_eq!(sent, 5 + 3, "a watchpoint sees the second tries too");
}

#[test]
fn a_queue_that_is_long_enough_changes_nothing() {
    assert_eq!(loads(&one_home(8, true), 8).0, loads(&one_home(0, false), 8).0);
}

#[test]
fn a_second_request_to_a_line_begins_when_the_first_has_ended() {
    let both = [(0, MemKind::Load, line(0)), (1, MemKind::Load, line(0))];
    let run = |tables: &Tables| {
        let mut cores = Cores::new(tables, 2);
        cores.memory.place_line(0, line(0), CacheLevel::Slc, false).expect("mapped");
        counted(&mut cores, &both)
    };
    let (overlapping, counts) = run(&one_home(8, false));
    assert_eq!(counts.of_homes(HomeEvent::AddressHazard), 0);
    let (serial, counts) = run(&one_home(8, true));
    assert_eq!(serial, [overlapping[0], overlapping[1] + TRANSACTION]);
    assert_eq!(counts.of_homes(HomeEvent::AddressHazard), 1);
    assert_eq!(counts.of_homes(HomeEvent::AtomicHazard), 0);
    assert_eq!(counts.of_homes(HomeEvent::RequestRetried), 0, "it waits in its entry");
}

#[test]
fn atomics_to_one_line_follow_one_another_and_to_two_lines_do_not() {
    let run = |hazards, other| {
        let mut tables = one_home(8, hazards);
        tables.memory.far_atomics = FarAtomics::Always;
        let mut cores = Cores::new(&tables, 2);
        for number in [0, 1] {
            cores.memory.place_line(0, line(number), CacheLevel::Slc, true).expect("mapped");
        }
        let atomic = |core, number| (core, MemKind::AtomicLoad, line(number));
        counted(&mut cores, &[atomic(0, 0), atomic(1, other)])
    };
    let free = run(false, 0).0;
    // The entry is freed when the operand, which the home node asks for, is there.
    let (serial, counts) = run(true, 0);
    assert_eq!(serial, [free[0], free[1] + TRANSACTION]);
    assert_eq!(counts.of_homes(HomeEvent::AddressHazard), 1);
    assert_eq!(counts.of_homes(HomeEvent::AtomicHazard), 1);
    assert_eq!(run(true, 1).0, free);
}

#[test]
fn a_write_back_holds_its_entry_until_its_data_is_there() {
    let clean = MemKind::Maintain(Maintenance::DataByAddress(CacheOp::Clean));
    let run = |hazards| {
        let mut cores = Cores::new(&one_home(8, hazards), 1);
        cores.st(0);
        counted(&mut cores, &[(0, clean, D)])
    };
    let free = run(false).0;
    // The request for maintenance leaves in the same cycle as the last beat of its line.
    let (serial, counts) = run(true);
    assert_eq!(serial[0], free[0] + TRANSACTION);
    assert_eq!(counts.of_homes(HomeEvent::AddressHazard), 1);
    assert_eq!(counts.sent_by(AgentKind::Core, Message::WriteCleanFull), 1);
}

/// Returns the pulses of the queue, of all requests and of reads, after `n` loads.
fn pulses(n: u64) -> [u64; 2] {
    let mut tables = one_home(32, false);
    tables.memory.mesh.core_clock_percent = 100;
    let mut cores = Cores::new(&tables, 1);
    for number in 0..n {
        cores.memory.warm_tlb(0, line(number), TlbLevel::L1d).expect("mapped");
        cores.memory.place_line(0, line(number), CacheLevel::Slc, false).expect("mapped");
    }
    cores.memory.begin_counting(cores.now);
    for number in 0..n {
        cores.access(0, MemKind::Load, line(number));
    }
    cores.memory.end_counting(cores.now);
    let counts = cores.memory.take_mesh_counts();
    assert_eq!(counts.occupied(0, Occupant::Write), 0);
    [Occupant::Any, Occupant::Read].map(|occupant| counts.occupied(0, occupant))
}

#[test]
fn occupancy_is_one_pulse_for_4096_cycles_of_taken_entries() {
    // 111 transactions of 37 cycles are 4107.
    assert_eq!([pulses(110), pulses(111)], [[0, 0], [1, 1]]);
    assert_eq!(pulses(221), [1, 1], "8177 cycles");
    assert_eq!(pulses(222), [2, 2], "8214 cycles");
}

/// Returns a machine with busy links, whose mesh has the clock of the cores.
fn links(contention: bool) -> Tables {
    let mut tables = Tables::quiet();
    tables.memory.mesh.core_clock_percent = 100;
    tables.memory.mesh.link_contention = contention;
    tables
}

#[test]
fn two_messages_of_a_cycle_leave_one_cycle_after_the_other() {
    // The lines 1 and 32 of the page have one home node, not at the crosspoint of the two cores.
    let both = [(0, MemKind::Load, line(1)), (1, MemKind::Load, line(32))];
    let run = |contention| {
        let mut cores = Cores::new(&links(contention), 2);
        for (_, _, addr) in both {
            cores.memory.place_line(0, addr, CacheLevel::Slc, false).expect("mapped");
        }
        counted(&mut cores, &both)
    };
    let (free, counts) = run(false);
    assert_eq!(free[0], free[1]);
    let stalls =
        |counts: &MeshCounts, channel| counts.stalls_by_side(channel).iter().flatten().sum::<u64>();
    assert_eq!(stalls(&counts, Channel::Req), 0);
    // The second request waits one cycle, its line one more: the first line has two flits.
    let (busy, counts) = run(true);
    assert_eq!(busy, [free[0], free[1] + 2]);
    assert_eq!([Channel::Req, Channel::Dat].map(|on| stalls(&counts, on)), [1, 1]);
}

#[test]
fn messages_that_meet_no_other_take_the_time_of_their_path() {
    let run = |contention| {
        let mut cores = Cores::new(&links(contention), 3);
        let mut latency = |core, kind, number| {
            let now = cores.now + 10_000;
            cores.access(core, kind, line(number)).done - now
        };
        let cold: Vec<Cycle> = (0..64).map(|number| latency(0, MemKind::Load, number)).collect();
        let peer: Vec<Cycle> = (0..64).map(|number| latency(1, MemKind::Load, number)).collect();
        let owned: Vec<Cycle> =
            (0..64).map(|number| latency(2, MemKind::AtomicLoad, number)).collect();
        [cold, peer, owned]
    };
    assert_eq!(run(true), run(false));
}

/// Kinds of accesses of the random test.
const KINDS: [MemKind; 4] =
    [MemKind::Load, MemKind::Store, MemKind::AtomicLoad, MemKind::AtomicStore];

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn sums_hold_when_requests_are_sent_back_and_messages_wait(
        ops in prop::collection::vec((0..4usize, 0..KINDS.len(), 0..24u64, 0..40u64), 1..200),
        entries in 1..4u32,
        hazards: bool,
        far in prop::sample::select(vec![FarAtomics::Never, FarAtomics::Always]),
    ) {
        let mut tables = tiny();
        tables.memory.far_atomics = far;
        tables.memory.slc.slices = 2;
        tables.memory.slc.queue_entries = entries;
        tables.memory.slc.line_hazards = hazards;
        tables.memory.mesh.link_contention = true;
        let mut cores = Cores::new(&tables, 4);
        cores.memory.begin_counting(0);
        for (core, kind, number, pause) in ops {
            cores.now += pause;
            at_once(&mut cores, &[(core, KINDS[kind], line(number))]);
            prop_assert!(cores.memory.is_coherent());
        }
        let broken = broken_sums(cores.memory.mesh_counts());
        prop_assert!(broken.is_empty(), "{:?}", broken);
    }
}
