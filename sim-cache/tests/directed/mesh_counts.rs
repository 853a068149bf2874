//! Counts of the mesh's PMU: which messages and events of home nodes one access causes. CMN-700
//! telemetry; CHI, requests of a fully coherent node.

use sim_cache::config::FarAtomics;
use sim_cache::{CacheLevel, MemoryType, PageTarget};
use sim_core::chi::{Channel, Message};
use sim_core::mesh_counts::{Agent, AgentKind, DvmEvent, HomeEvent, MeshCounts};
use sim_core::mesh_sums::broken_sums;
use sim_core::{
    CacheOp, Maintenance, MemKind, MemRequest, MemoryPort, PmuEvent, Snoop, TlbScope, VirtAddr,
};

use super::coherence::{Cores, D};
use super::rig::Tables;

/// Returns what the mesh counts while `stimulus` runs, after it was checked that every sum holds.
pub(super) fn counted<R>(cores: &mut Cores, stimulus: impl FnOnce(&mut Cores) -> R) -> MeshCounts {
    let before = cores.memory.mesh_counts().clone();
    cores.memory.begin_counting(cores.now);
    stimulus(cores);
    cores.memory.end_counting(cores.now);
    let counts = cores.memory.mesh_counts().since(&before);
    assert_eq!(broken_sums(&counts), Vec::<String>::new());
    counts
}

/// Compares the events of all home nodes. Those that `expected` does not name must be 0.
#[track_caller]
pub(super) fn expect(counts: &MeshCounts, expected: &[(HomeEvent, u64)]) {
    let counted = HomeEvent::ALL.iter().map(|event| (*event, counts.of_homes(*event)));
    let counted: Vec<_> = counted.filter(|(_, times)| *times > 0).collect();
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(counted, expected);
}

/// Compares the messages that cores sent and received. Those that `expected` does not name must be
/// absent.
#[track_caller]
pub(super) fn expect_messages(counts: &MeshCounts, expected: &[(Message, u64)]) {
    let passed = |message| {
        let core = AgentKind::Core;
        let all = counts.sent_by(core, message) + counts.received_by(core, message);
        // A line from core to core is both.
        let between = message == Message::CompData && counts.sent_by(core, message) > 0;
        if between { all - counts.sent_by(core, message) } else { all }
    };
    let counted = Message::ALL.into_iter().map(|message| (message, passed(message)));
    let counted: Vec<_> = counted.filter(|(_, times)| *times > 0).collect();
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(counted, expected);
}

const RECEIVED: (HomeEvent, u64) = (HomeEvent::RequestReceived, 1);
const ACCESS: (HomeEvent, u64) = (HomeEvent::CacheAccess, 1);
const MISS: (HomeEvent, u64) = (HomeEvent::CacheMiss, 1);
const MEMORY: (HomeEvent, u64) = (HomeEvent::MemoryRequest, 1);
const HIT: (HomeEvent, u64) = (HomeEvent::FilterHit, 1);

#[test]
pub(crate) fn a_load_from_memory_is_one_request_one_miss_and_one_line() {
    let mut cores = Cores::quiet(2);
    let counts = counted(&mut cores, |cores| cores.ld(0));
    expect(&counts, &[RECEIVED, ACCESS, MISS, MEMORY]);
    let messages =
        [(Message::ReadNotSharedDirty, 1), (Message::CompData, 1), (Message::CompAck, 1)];
    expect_messages(&counts, &messages);
    assert_eq!(counts.received_by(AgentKind::Memory, Message::ReadNoSnp), 1);
}

#[test]
pub(crate) fn a_load_from_the_system_level_cache_does_not_reach_memory() {
    let mut cores = Cores::quiet(2);
    cores.memory.place_line(0, D, CacheLevel::Slc, false).expect("mapped");
    let counts = counted(&mut cores, |cores| cores.ld(0));
    expect(&counts, &[RECEIVED, ACCESS]);
}

#[test]
pub(crate) fn a_store_is_a_read_unique_and_a_whole_line_is_made_unique() {
    let mut cores = Cores::quiet(2);
    let counts = counted(&mut cores, |cores| cores.st(0));
    let messages = [(Message::ReadUnique, 1), (Message::CompData, 1), (Message::CompAck, 1)];
    expect_messages(&counts, &messages);
    let other = VirtAddr(D.0 + 64);
    let counts = counted(&mut cores, |cores| {
        cores.access(0, MemKind::ZeroLine, other);
        cores.now += 1_000_000;
        let (now, sink) = (cores.now, &mut cores.counts[0]);
        cores.memory.pass_time(0, now, sink);
    });
    assert_eq!(counts.sent_by(AgentKind::Core, Message::MakeUnique), 1);
    assert_eq!(counts.received_by(AgentKind::Core, Message::CompData), 0, "no data is read");
}

#[test]
pub(crate) fn a_reader_gets_a_modified_line_from_its_owner_and_the_home_node_gets_a_copy() {
    let mut cores = Cores::quiet(2);
    cores.st(0);
    let counts = counted(&mut cores, |cores| cores.ld(1));
    let events = [
        (HomeEvent::DirectedSnoop, 1),
        (HomeEvent::SnoopSent, 1),
        (HomeEvent::ForwardingSnoop, 1),
        (HomeEvent::CacheFill, 1),
        (HomeEvent::FillInvalidWay, 1),
    ];
    expect(&counts, &[&[RECEIVED, ACCESS, MISS, HIT], &events[..]].concat());
    let messages = [
        (Message::ReadNotSharedDirty, 1),
        (Message::SnpNotSharedDirtyFwd, 1),
        (Message::CompData, 1),
        (Message::SnpRespDataFwded, 1),
        (Message::CompAck, 1),
    ];
    expect_messages(&counts, &messages);
    assert_eq!(counts.sent(Agent::Core(0), Message::CompData), 1, "from core to core");
    assert_eq!(cores.value(1, PmuEvent::L2D_CACHE_REFILL), 1);
}

#[test]
pub(crate) fn a_writer_of_a_shared_line_asks_for_ownership_and_the_others_are_snooped_at_once() {
    let mut cores = Cores::quiet(4);
    for core in 0..4 {
        cores.ld(core);
    }
    let counts = counted(&mut cores, |cores| cores.st(0));
    let events = [(HomeEvent::BroadcastSnoop, 1), (HomeEvent::SnoopSent, 1)];
    expect(&counts, &[&[RECEIVED, ACCESS, HIT], &events[..]].concat());
    let messages = [
        (Message::MakeReadUnique, 1),
        (Message::SnpCleanInvalid, 3),
        (Message::SnpResp, 3),
        (Message::Comp, 1),
        (Message::CompAck, 1),
    ];
    expect_messages(&counts, &messages);
}

#[test]
pub(crate) fn a_writer_takes_a_modified_line_from_its_owner() {
    let mut cores = Cores::quiet(2);
    cores.st(0);
    let counts = counted(&mut cores, |cores| cores.st(1));
    let messages = [
        (Message::ReadUnique, 1),
        (Message::SnpUniqueFwd, 1),
        (Message::CompData, 1),
        (Message::SnpRespFwded, 1),
        (Message::CompAck, 1),
    ];
    expect_messages(&counts, &messages);
}

#[test]
pub(crate) fn a_line_that_loses_its_entry_in_the_filter_leaves_its_owner_with_its_data() {
    let mut tables = Tables::quiet();
    tables.memory.slc.slices = 1;
    (tables.memory.snoop_filter.slice_lines, tables.memory.snoop_filter.ways) = (1, 1);
    let mut cores = Cores::new(&tables, 2);
    cores.st(0);
    let other = VirtAddr(D.0 + 64);
    let counts = counted(&mut cores, |cores| cores.access(1, MemKind::Load, other));
    let events = [
        (HomeEvent::FilterEviction, 1),
        (HomeEvent::EvictionDirectedSnoop, 1),
        (HomeEvent::SnoopSent, 1),
        (HomeEvent::EvictionDirtyData, 1),
        (HomeEvent::CacheFill, 1),
        (HomeEvent::FillInvalidWay, 1),
    ];
    expect(&counts, &[&[RECEIVED, ACCESS, MISS, MEMORY], &events[..]].concat());
    assert_eq!(counts.sent(Agent::Core(0), Message::SnpRespData), 1);
}

#[test]
pub(crate) fn victims_go_to_the_system_level_cache_and_its_modified_victims_to_memory() {
    let mut tables = Tables::quiet();
    tables.memory.l2.size_bytes = 512;
    tables.memory.l1d.size_bytes = 256;
    tables.memory.l1i.size_bytes = 256;
    (tables.memory.slc.slices, tables.memory.slc.slice_bytes, tables.memory.slc.ways) = (1, 128, 2);
    let mut cores = Cores::new(&tables, 1);
    let counts = counted(&mut cores, |cores| {
        for line in 0..64 {
            cores.access(0, MemKind::Store, VirtAddr(D.0 + line * 64));
        }
    });
    let written = counts.sent_by(AgentKind::Core, Message::WriteBackFull);
    assert!(written > 40, "{written}");
    let fills = counts.of_homes(HomeEvent::CacheFill);
    assert_eq!((fills, counts.of_homes(HomeEvent::FillInvalidWay)), (written, 2));
    let evictions = counts.of_homes(HomeEvent::CacheEviction);
    assert_eq!(evictions, written - 2, "two ways hold what no one evicted");
    assert_eq!(counts.received_by(AgentKind::Memory, Message::WriteNoSnpFull), evictions);
}

#[test]
pub(crate) fn a_far_atomic_sends_its_operand_and_gets_the_old_value() {
    let mut tables = Tables::quiet();
    tables.memory.far_atomics = FarAtomics::Always;
    let mut cores = Cores::new(&tables, 2);
    cores.st(1);
    let counts = counted(&mut cores, |cores| cores.access(0, MemKind::AtomicLoad, D));
    let messages = [
        (Message::AtomicLoad, 1),
        (Message::DBIDResp, 1),
        (Message::PartWrData, 1),
        (Message::PartCompData, 1),
        (Message::SnpUnique, 1),
        (Message::SnpRespData, 1),
    ];
    expect_messages(&counts, &messages);
    let counts = counted(&mut cores, |cores| cores.access(0, MemKind::AtomicStore, D));
    let messages = [
        (Message::AtomicStore, 1),
        (Message::DBIDResp, 1),
        (Message::PartWrData, 1),
        (Message::Comp, 1),
    ];
    expect_messages(&counts, &messages);
}

#[test]
pub(crate) fn maintenance_reaches_the_cores_that_hold_the_line_and_tlb_maintenance_reaches_all() {
    let mut cores = Cores::quiet(4);
    cores.st(1);
    let clean = MemKind::Maintain(Maintenance::DataByAddress(CacheOp::Clean));
    let counts = counted(&mut cores, |cores| cores.access(0, clean, D));
    let messages = [
        (Message::CleanShared, 1),
        (Message::SnpCleanShared, 1),
        (Message::SnpRespData, 1),
        (Message::Comp, 1),
    ];
    expect_messages(&counts, &messages);
    let tlbi = Maintenance::Tlb { scope: TlbScope::All, broadcast: true };
    let counts = counted(&mut cores, |cores| cores.access(0, MemKind::Maintain(tlbi), VirtAddr(0)));
    assert_eq!(counts.of_dvm(DvmEvent::Tlbi), 1);
    assert_eq!(counts.of_dvm(DvmEvent::SnoopFlit), 6, "two flits to each of three cores");
    assert_eq!(counts.received_by(AgentKind::Core, Message::SnpDVMOp), 3);
}

#[test]
pub(crate) fn an_external_snoop_and_a_stash_are_counted_with_their_answers() {
    let mut cores = Cores::quiet(2);
    cores.st(0);
    let counts = counted(&mut cores, |cores| {
        let (now, sink) = (cores.now, &mut cores.counts[0]);
        cores.memory.snoop(0, Snoop::Unique, D, now, sink).expect("mapped");
    });
    let events = [(HomeEvent::DirectedSnoop, 1), (HomeEvent::SnoopSent, 1)];
    expect(&counts, &events);
    expect_messages(&counts, &[(Message::SnpUnique, 1), (Message::SnpRespData, 1)]);
    let counts = counted(&mut cores, |cores| {
        let (now, sink) = (cores.now, &mut cores.counts[0]);
        cores.memory.stash(0, VirtAddr(D.0 + 64), now, sink).expect("mapped");
    });
    let events = [(HomeEvent::StashSnoop, 1), (HomeEvent::StashDataPull, 1)];
    expect(&counts, &[&[RECEIVED, ACCESS, MISS, MEMORY], &events[..]].concat());
    assert_eq!(counts.received_by(AgentKind::Memory, Message::WriteNoSnpFull), 1);
}

#[test]
pub(crate) fn nothing_is_counted_outside_of_the_counted_part_and_cycles_are_those_of_the_mesh() {
    let mut cores = Cores::quiet(2);
    cores.ld(0);
    let mut fresh = MeshCounts::new(cores.memory.mesh_counts().plan.clone());
    fresh.synchronizes = true;
    assert_eq!(*cores.memory.mesh_counts(), fresh);
    cores.memory.begin_counting(1000);
    cores.memory.begin_counting(1500);
    cores.memory.end_counting(3000);
    cores.ld(1);
    cores.memory.end_counting(2000);
    let counts = cores.memory.mesh_counts();
    assert_eq!(counts.cycles, 2000 * 65 / 100, "from the first begin to the last end");
    assert_eq!(counts.sent(Agent::Core(1), Message::ReadNotSharedDirty), 1);
    // Core 1 is at the crosspoint of core 0, which sends the line; the home node is 8 hops away.
    let flits = |channel| counts.flits_by_side(channel).iter().flatten().sum::<u64>();
    assert_eq!([Channel::Req, Channel::Snp, Channel::Rsp, Channel::Dat].map(flits), [8, 8, 8, 16]);
}

#[test]
pub(crate) fn a_reader_gets_a_clean_line_from_the_core_that_has_it_alone() {
    let mut cores = Cores::quiet(2);
    cores.ld(0);
    let counts = counted(&mut cores, |cores| cores.ld(1));
    let events = [
        (HomeEvent::DirectedSnoop, 1),
        (HomeEvent::SnoopSent, 1),
        (HomeEvent::ForwardingSnoop, 1),
        (HomeEvent::CleanIntervention, 1),
        (HomeEvent::CacheFill, 1),
        (HomeEvent::FillInvalidWay, 1),
    ];
    expect(&counts, &[&[RECEIVED, ACCESS, MISS, HIT], &events[..]].concat());
    let answer = counts.sent(Agent::Core(0), Message::SnpRespDataFwded);
    assert_eq!(answer, 1, "with a copy for the system level cache");
}

#[test]
pub(crate) fn a_shared_line_that_loses_its_entry_in_the_filter_leaves_all_holders() {
    let mut tables = Tables::quiet();
    tables.memory.slc.slices = 1;
    (tables.memory.snoop_filter.slice_lines, tables.memory.snoop_filter.ways) = (1, 1);
    let mut cores = Cores::new(&tables, 3);
    cores.ld(0);
    cores.ld(1);
    let other = VirtAddr(D.0 + 64);
    let counts = counted(&mut cores, |cores| cores.access(2, MemKind::Load, other));
    let events = [
        (HomeEvent::FilterEviction, 1),
        (HomeEvent::SharedEviction, 1),
        (HomeEvent::EvictionBroadcastSnoop, 1),
        (HomeEvent::SnoopSent, 1),
    ];
    expect(&counts, &[&[RECEIVED, ACCESS, MISS, MEMORY], &events[..]].concat());
    assert_eq!(counts.received_by(AgentKind::Core, Message::SnpCleanInvalid), 2);
}

#[test]
pub(crate) fn an_instruction_line_is_invalidated_in_all_cores_through_the_dvm_node() {
    let mut cores = Cores::quiet(3);
    let invalidate = MemKind::Maintain(Maintenance::InstByAddress);
    let counts = counted(&mut cores, |cores| cores.access(0, invalidate, D));
    let events = [DvmEvent::Pici, DvmEvent::TrackerAllocation, DvmEvent::SnoopFlit];
    assert_eq!(events.map(|event| counts.of_dvm(event)), [1, 1, 4]);
    assert_eq!(counts.received(Agent::Core(0), Message::SnpDVMOp), 0, "not to the sender");
}

#[test]
pub(crate) fn device_memory_is_read_and_written_at_the_home_node_of_devices() {
    let mut cores = Cores::quiet(1);
    let frame = 0x20;
    let target = PageTarget { frame, memory: MemoryType::NonCacheable, tagged: false };
    let addr = VirtAddr(frame << 12);
    cores.memory.map_page(addr, Some(target));
    let mut counts = counted(&mut cores, |cores| cores.access(0, MemKind::Load, addr));
    counts.add(&counted(&mut cores, |cores| cores.access(0, MemKind::Store, addr)));
    let device = Agent::Device;
    assert_eq!(counts.received(device, Message::ReadNoSnp), 1);
    assert_eq!(counts.received(device, Message::WriteNoSnpPtl), 1);
    let at_homes = counts.received_by(AgentKind::Home, Message::WriteNoSnpPtl);
    assert_eq!(at_homes, 0, "not at the home node of the address");
}

#[test]
pub(crate) fn requests_for_lines_of_the_other_chip_pass_the_gateway_and_count_at_no_home_node() {
    let mut tables = Tables::quiet();
    (tables.memory.chips.count, tables.memory.chips.remote_pages_per_256) = (2, 256);
    let mut cores = Cores::new(&tables, 2);
    let counts = counted(&mut cores, |cores| cores.ld(0));
    expect(&counts, &[]);
    assert_eq!(counts.received(Agent::Gateway, Message::ReadNotSharedDirty), 1);
    assert_eq!(counts.sent(Agent::Gateway, Message::CompData), 1);
}

#[test]
pub(crate) fn a_far_atomic_on_a_shared_line_snoops_all_holders_at_once_and_the_home_node_gets_the_data()
 {
    let mut tables = Tables::quiet();
    tables.memory.far_atomics = FarAtomics::Miss;
    let mut cores = Cores::new(&tables, 3);
    for core in 0..3 {
        cores.ld(core);
    }
    let counts = counted(&mut cores, |cores| cores.access(0, MemKind::AtomicLoad, D));
    // The line leaves the system level cache for the operation and returns.
    let events = [
        (HomeEvent::BroadcastSnoop, 1),
        (HomeEvent::SnoopSent, 1),
        (HomeEvent::CacheFill, 1),
        (HomeEvent::FillInvalidWay, 1),
    ];
    expect(&counts, &[&[RECEIVED, ACCESS, HIT], &events[..]].concat());
    assert_eq!(counts.received_by(AgentKind::Core, Message::SnpUnique), 3, "its own copy too");
}

#[test]
pub(crate) fn a_writer_gets_a_line_that_several_share_from_the_home_node() {
    let mut tables = Tables::quiet();
    tables.memory.slc.slice_bytes = 0;
    let mut cores = Cores::new(&tables, 3);
    cores.ld(0);
    cores.ld(1);
    let counts = counted(&mut cores, |cores| cores.st(2));
    assert_eq!(counts.of_homes(HomeEvent::ForwardingSnoop), 0, "no single owner sends it");
    assert_eq!(counts.of_homes(HomeEvent::BroadcastSnoop), 1);
    let messages = [
        (Message::ReadUnique, 1),
        (Message::SnpUnique, 2),
        (Message::SnpResp, 1),
        (Message::SnpRespData, 1),
        (Message::CompData, 1),
        (Message::CompAck, 1),
    ];
    expect_messages(&counts, &messages);
}

#[test]
pub(crate) fn maintenance_finds_the_requester_in_the_filter_with_any_number_of_cores() {
    for number in [1, 2] {
        for op in [CacheOp::Clean, CacheOp::CleanInvalidate] {
            let mut cores = Cores::quiet(number);
            cores.ld(0);
            let maintain = MemKind::Maintain(Maintenance::DataByAddress(op));
            let counts = counted(&mut cores, |cores| cores.access(0, maintain, D));
            expect(&counts, &[RECEIVED, ACCESS, MISS, HIT]);
        }
    }
}

#[test]
pub(crate) fn a_snoop_under_way_at_an_edge_of_the_counted_part_breaks_no_sum() {
    let mut cores = Cores::quiet(2);
    let load = |cores: &mut Cores, core: usize| {
        cores.now += 10_000;
        let request = MemRequest::new(VirtAddr(0x40_0000), D, 8, MemKind::Load);
        cores.memory.port(core).access(request, cores.now, &mut cores.counts[core]);
    };
    cores.st(0);
    // The snoop of core 0 is sent before the part and answered in it.
    load(&mut cores, 1);
    let counts = counted(&mut cores, Cores::settle);
    assert_eq!(counts.sent(Agent::Core(0), Message::SnpRespDataFwded), 1);
    assert_eq!((counts.unanswered, counts.lines_under_way), (-1, -1));
    // The next one is sent in the part and answered after it.
    cores.st(0);
    let counts = counted(&mut cores, |cores| load(cores, 1));
    assert_eq!(counts.received(Agent::Core(0), Message::SnpNotSharedDirtyFwd), 1);
    assert_eq!((counts.unanswered, counts.lines_under_way), (1, 1));
}
