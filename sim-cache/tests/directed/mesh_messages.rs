//! Messages and events of the mesh that single places count: the cases that fail without them.

use sim_cache::{CacheLevel, MemoryType, PageTarget};
use sim_core::chi::Message;
use sim_core::mesh_counts::{Agent, AgentKind, DvmEvent, HomeEvent, MeshCounts};
use sim_core::{
    CacheOp, DataSource, Maintenance, MemKind, MemRequest, MemoryPort, Snoop, VirtAddr,
};

use super::coherence::{Cores, D};
use super::dvm::{self, TLBI};
use super::mesh_counts::{counted, expect, expect_messages};
use super::rig::Tables;

const RECEIVED: (HomeEvent, u64) = (HomeEvent::RequestReceived, 1);
const ACCESS: (HomeEvent, u64) = (HomeEvent::CacheAccess, 1);
const MISS: (HomeEvent, u64) = (HomeEvent::CacheMiss, 1);
const MEMORY: (HomeEvent, u64) = (HomeEvent::MemoryRequest, 1);
const HIT: (HomeEvent, u64) = (HomeEvent::FilterHit, 1);
const SNOOPED: [(HomeEvent, u64); 2] = [(HomeEvent::DirectedSnoop, 1), (HomeEvent::SnoopSent, 1)];
const FILLED: [(HomeEvent, u64); 2] = [(HomeEvent::CacheFill, 1), (HomeEvent::FillInvalidWay, 1)];

/// Returns a quiet machine without a system level cache.
fn without_slc(cores: usize) -> Cores {
    let mut tables = Tables::quiet();
    tables.memory.slc.slice_bytes = 0;
    Cores::new(&tables, cores)
}

/// Makes an agent outside of the machine snoop core 0.
fn snoop_from_outside(cores: &mut Cores, snoop: Snoop) {
    let (now, sink) = (cores.now, &mut cores.counts[0]);
    cores.memory.snoop(0, snoop, D, now, sink).expect("the page is mapped");
}

/// Returns the messages that the memory controllers sent and received.
fn of_memory(counts: &MeshCounts, message: Message) -> (u64, u64) {
    let memory = AgentKind::Memory;
    (counts.sent_by(memory, message), counts.received_by(memory, message))
}

#[test]
pub(crate) fn device_memory_answers_with_a_part_of_a_line() {
    let mut cores = Cores::quiet(1);
    let frame = 0x20;
    let target = PageTarget { frame, memory: MemoryType::NonCacheable, tagged: false };
    let addr = VirtAddr(frame << 12);
    cores.memory.map_page(addr, Some(target));
    let counts = counted(&mut cores, |cores| cores.access(0, MemKind::Load, addr));
    expect_messages(&counts, &[(Message::ReadNoSnp, 1), (Message::PartCompData, 1)]);
    let counts = counted(&mut cores, |cores| cores.access(0, MemKind::Store, addr));
    let messages =
        [(Message::WriteNoSnpPtl, 1), (Message::CompDBIDResp, 1), (Message::PartWrData, 1)];
    expect_messages(&counts, &messages);
}

/// Messages of maintenance of all cores, or of its synchronization, among two cores.
const MAINTENANCE_OF_TWO: [(Message, u64); 6] = [
    (Message::DVMOp, 1),
    (Message::DBIDResp, 1),
    (Message::PartWrData, 1),
    (Message::SnpDVMOp, 1),
    (Message::SnpResp, 1),
    (Message::Comp, 1),
];

#[test]
pub(crate) fn maintenance_of_all_cores_is_seven_messages_between_two_cores_and_the_dvm_node() {
    let cases = [
        (TLBI, DvmEvent::Tlbi),
        (MemKind::Maintain(Maintenance::InstByAddress), DvmEvent::Pici),
        (MemKind::Maintain(Maintenance::InstAll { broadcast: true }), DvmEvent::Pici),
    ];
    for (maintain, event) in cases {
        let mut cores = Cores::quiet(2);
        let counts = counted(&mut cores, |cores| cores.access(0, maintain, D));
        expect_messages(&counts, &MAINTENANCE_OF_TWO);
        let events = [event, DvmEvent::TrackerAllocation, DvmEvent::SnoopFlit];
        assert_eq!(events.map(|event| counts.of_dvm(event)), [1, 1, 2]);
    }
}

#[test]
pub(crate) fn a_synchronization_is_as_many_messages_as_an_operation() {
    let mut cores = Cores::quiet(2);
    cores.access(0, TLBI, D);
    let counts = counted(&mut cores, |cores| cores.access(0, MemKind::Synchronize, D));
    expect_messages(&counts, &MAINTENANCE_OF_TWO);
    let events = DvmEvent::ALL.iter().map(|event| (*event, counts.of_dvm(*event)));
    let raised: Vec<_> = events.filter(|(_, times)| *times > 0).collect();
    let expected =
        [(DvmEvent::Sync, 1), (DvmEvent::SnoopFlit, 2), (DvmEvent::TrackerAllocation, 1)];
    assert_eq!(raised, expected);
}

#[test]
pub(crate) fn a_synchronization_stalls_once_for_all_older_operations_of_its_core() {
    let mut cores = Cores::new(&dvm::row(), 8);
    let counts = counted(&mut cores, |cores| {
        let near = 7;
        dvm::done_after(cores, near, TLBI, 0);
        dvm::done_after(cores, near, TLBI, 1);
        dvm::done_after(cores, near, MemKind::Synchronize, 2);
    });
    let events = [DvmEvent::Tlbi, DvmEvent::Sync, DvmEvent::SyncStall];
    assert_eq!(events.map(|event| counts.of_dvm(event)), [2, 1, 1]);
}

#[test]
pub(crate) fn memory_sends_one_line_for_a_read() {
    let mut cores = Cores::quiet(1);
    let counts = counted(&mut cores, |cores| cores.ld(0));
    assert_eq!(of_memory(&counts, Message::ReadNoSnp), (0, 1));
    assert_eq!(of_memory(&counts, Message::CompData), (1, 0));
}

#[test]
pub(crate) fn an_upgrade_without_a_system_level_cache_misses_it() {
    let mut cores = without_slc(2);
    cores.ld(0);
    cores.ld(1);
    let counts = counted(&mut cores, |cores| cores.st(0));
    expect(&counts, &[&[RECEIVED, ACCESS, MISS, HIT], &SNOOPED[..]].concat());
}

#[test]
pub(crate) fn victims_and_their_data_have_an_answer_each() {
    let mut tables = Tables::quiet();
    tables.memory.l2.size_bytes = 512;
    tables.memory.l1d.size_bytes = 256;
    tables.memory.l1i.size_bytes = 256;
    (tables.memory.slc.slices, tables.memory.slc.slice_bytes, tables.memory.slc.ways) = (1, 128, 2);
    let mut cores = Cores::new(&tables, 1);
    let (stores, ways) = (64, 2);
    let counts = counted(&mut cores, |cores| {
        for line in 0..stores {
            cores.access(0, MemKind::Store, VirtAddr(D.0 + line * 64));
        }
    });
    let victims = counts.sent_by(AgentKind::Core, Message::WriteBackFull);
    let messages = [
        (Message::ReadUnique, stores),
        (Message::CompData, stores),
        (Message::CompAck, stores),
        (Message::WriteBackFull, victims),
        (Message::CompDBIDResp, victims),
        (Message::CopyBackWrData, victims),
    ];
    expect_messages(&counts, &messages);
    let written = victims - ways;
    let events = [
        (HomeEvent::RequestReceived, stores + victims),
        (HomeEvent::CacheAccess, stores + victims),
        (HomeEvent::CacheMiss, stores + victims),
        (HomeEvent::FilterHit, victims),
        (HomeEvent::CacheFill, victims),
        (HomeEvent::FillInvalidWay, ways),
        (HomeEvent::CacheEviction, written),
        (HomeEvent::MemoryRequest, stores + written),
    ];
    expect(&counts, &events);
    assert_eq!(of_memory(&counts, Message::CompDBIDResp), (written, 0));
    assert_eq!(of_memory(&counts, Message::NonCopyBackWrData), (0, written));
}

#[test]
pub(crate) fn a_stashed_line_is_written_to_memory_announced_and_read() {
    let mut cores = Cores::quiet(2);
    cores.ld(1);
    let counts = counted(&mut cores, |cores| {
        let (now, sink) = (cores.now, &mut cores.counts[0]);
        cores.memory.stash(0, D, now, sink).expect("the page is mapped");
        cores.settle();
    });
    let of_stash = [(HomeEvent::StashSnoop, 1), (HomeEvent::StashDataPull, 1)];
    let all = [&[RECEIVED, ACCESS, MISS, HIT, MEMORY], &SNOOPED[..], &of_stash[..]].concat();
    expect(&counts, &all);
    let messages = [
        (Message::SnpMakeInvalid, 1),
        (Message::SnpMakeInvalidStash, 1),
        (Message::SnpResp, 2),
        (Message::CompData, 1),
        (Message::CompAck, 1),
    ];
    expect_messages(&counts, &messages);
    assert_eq!(counts.received(Agent::Io, Message::CompDBIDResp), 1);
    assert_eq!(counts.sent(Agent::Io, Message::NonCopyBackWrData), 1);
    assert_eq!(of_memory(&counts, Message::CompDBIDResp), (1, 0));
    assert_eq!(of_memory(&counts, Message::NonCopyBackWrData), (0, 1));
}

#[test]
pub(crate) fn a_line_that_an_outside_agent_took_comes_back_through_the_gateway() {
    let mut cores = Cores::quiet(2);
    cores.st(0);
    snoop_from_outside(&mut cores, Snoop::Unique);
    let counts = counted(&mut cores, |cores| cores.ld(0));
    expect(&counts, &[&[RECEIVED, ACCESS, MISS, HIT], &FILLED[..]].concat());
    assert_eq!(counts.sent(Agent::Gateway, Message::CompData), 1);
}

#[test]
pub(crate) fn a_writer_of_a_line_that_an_outside_agent_took_snoops_the_core_that_shared_it() {
    let mut cores = Cores::quiet(2);
    cores.ld(0);
    cores.ld(1);
    snoop_from_outside(&mut cores, Snoop::Unique);
    let counts = counted(&mut cores, |cores| cores.st(0));
    // The agent snooped core 0 alone, so core 1 kept its copy, and sends it.
    let sent = [(HomeEvent::ForwardingSnoop, 1), (HomeEvent::CleanIntervention, 1)];
    expect(&counts, &[&[RECEIVED, ACCESS, MISS, HIT], &SNOOPED[..], &sent[..]].concat());
}

#[test]
pub(crate) fn a_fixed_supplier_is_looked_up_and_sends_the_line() {
    let sources = [
        (DataSource::Slc, [RECEIVED, ACCESS].to_vec()),
        (DataSource::Peer, [RECEIVED, ACCESS, MISS, HIT].to_vec()),
        (DataSource::Dram, [RECEIVED, ACCESS, MISS, MEMORY].to_vec()),
    ];
    for (source, events) in sources {
        let mut cores = Cores::quiet(1);
        cores.memory.set_data_source(D, Some(source)).expect("the page is mapped");
        let counts = counted(&mut cores, |cores| cores.ld(0));
        expect(&counts, &events);
        let from_outside = u64::from(source == DataSource::Peer);
        assert_eq!(counts.sent(Agent::Gateway, Message::CompData), from_outside);
        let from_memory = u64::from(source == DataSource::Dram);
        assert_eq!(of_memory(&counts, Message::CompData), (from_memory, 0));
    }
}

#[test]
pub(crate) fn a_fixed_supplier_does_not_spare_the_other_holders_their_snoop() {
    let mut cores = Cores::quiet(2);
    cores.ld(1);
    cores.memory.set_data_source(D, Some(DataSource::Slc)).expect("the page is mapped");
    let counts = counted(&mut cores, |cores| cores.st(0));
    assert_eq!(SNOOPED.map(|(event, _)| counts.of_homes(event)), [1, 1]);
}

#[test]
pub(crate) fn modified_victims_go_to_memory_without_a_system_level_cache() {
    let mut cores = without_slc(2);
    cores.st(0);
    let counts = counted(&mut cores, |cores| cores.ld(1));
    let forwarded = [(HomeEvent::ForwardingSnoop, 1)];
    let events = [&[RECEIVED, ACCESS, MISS, HIT, MEMORY], &SNOOPED[..], &forwarded[..]].concat();
    expect(&counts, &events);
    assert_eq!(of_memory(&counts, Message::WriteNoSnpFull), (0, 1));
    assert_eq!(of_memory(&counts, Message::CompDBIDResp), (1, 0));
    assert_eq!(of_memory(&counts, Message::NonCopyBackWrData), (0, 1));
}

#[test]
pub(crate) fn a_core_that_cleans_its_line_writes_it_and_asks_the_others() {
    let mut cores = Cores::quiet(2);
    cores.st(0);
    let clean = MemKind::Maintain(Maintenance::DataByAddress(CacheOp::Clean));
    let counts = counted(&mut cores, |cores| cores.access(0, clean, D));
    let messages = [
        (Message::WriteCleanFull, 1),
        (Message::CompDBIDResp, 1),
        (Message::CopyBackWrData, 1),
        (Message::CleanShared, 1),
        (Message::Comp, 1),
    ];
    expect_messages(&counts, &messages);
    // The write misses the cache and fills it; the maintenance finds the line there.
    let twice = [HomeEvent::RequestReceived, HomeEvent::CacheAccess, HomeEvent::FilterHit];
    let twice = twice.map(|event| (event, 2));
    expect(&counts, &[&[MISS], &twice[..], &FILLED[..]].concat());
}

#[test]
pub(crate) fn a_core_that_runs_no_more_answers_its_waiting_snoops_without_data() {
    let mut cores = Cores::quiet(2);
    cores.st(0);
    let counts = counted(&mut cores, |cores| {
        let request = MemRequest::new(VirtAddr(0x40_0000), D, 8, MemKind::Load);
        cores.memory.port(1).access(request, cores.now, &mut cores.counts[1]);
        cores.memory.release(0);
    });
    assert_eq!(counts.sent(Agent::Core(0), Message::CompData), 1);
    assert_eq!(counts.sent(Agent::Core(0), Message::SnpRespDataFwded), 1);
}

#[test]
pub(crate) fn a_write_that_memory_has_no_room_for_is_sent_again_with_a_credit() {
    let mut tables = Tables::quiet();
    let memory = &mut tables.memory;
    (memory.slc.slices, memory.slc.slice_bytes, memory.slc.ways) = (1, 128, 2);
    memory.slc.queue_entries = 8;
    (memory.dram.channels, memory.dram.line_cycles, memory.dram.write_entries) = (1, 32, 1);
    let mut cores = Cores::new(&tables, 3);
    for (number, dirty) in [(0, true), (1, true)] {
        let addr = VirtAddr(D.0 + 64 * (40 + number));
        cores.memory.place_line(0, addr, CacheLevel::Slc, dirty).expect("mapped");
    }
    let line = |core: usize| VirtAddr(D.0 + 64 * core as u64);
    for core in 0..3 {
        cores.access(core, MemKind::Store, line(core));
    }
    let clean = MemKind::Maintain(Maintenance::DataByAddress(CacheOp::Clean));
    let counts = counted(&mut cores, |cores| {
        let now = cores.now + 10_000;
        for core in 0..3 {
            let request = MemRequest::new(VirtAddr(0x40_0000), line(core), 8, clean);
            cores.memory.port(core).access(request, now, &mut cores.counts[core]);
        }
        cores.settle();
    });
    // Three modified lines leave the cache; the queue has room for one beside that on the channel.
    assert_eq!(counts.of_homes(HomeEvent::CacheEviction), 3);
    assert_eq!(counts.of_homes(HomeEvent::MemoryRetried), 1);
    assert_eq!(of_memory(&counts, Message::WriteNoSnpFull), (0, 4));
    for message in [Message::RetryAck, Message::PCrdGrant] {
        assert_eq!(of_memory(&counts, message), (1, 0));
    }
}
