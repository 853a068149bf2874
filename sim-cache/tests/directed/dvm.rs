//! Times of maintenance of all cores and of its synchronization, from the way of each message.
//! CMN-700; CHI, DVM operations; table `[memory.dvm]`.

use sim_core::chi::Message;
use sim_core::mesh_counts::{AgentKind, DvmEvent, DvmOccupant, MeshCounts};
use sim_core::{Cycle, Maintenance, MemKind, MemRequest, MemoryPort, TlbScope, VirtAddr};

use super::coherence::{Cores, D};
use super::mesh_counts::counted;
use super::rig::Tables;

pub(super) const TLBI: MemKind =
    MemKind::Maintain(Maintenance::Tlb { scope: TlbScope::All, broadcast: true });

/// From a core to its crosspoint, or back.
const INTERFACE: Cycle = 6;
const HOP: Cycle = 3;
/// From a message at the DVM node to those that it causes.
const NODE: Cycle = 10;
/// Answers of a core to the snoop of an operation and of a synchronization.
const ANSWER: Cycle = 10;
const SYNC_ANSWER: Cycle = 60;
/// One way between the DVM node and the cores at the last of four crosspoints, which is its own.
const NEAR: Cycle = INTERFACE;
/// One way between the DVM node and the cores at the first of four crosspoints.
const FAR: Cycle = INTERFACE + 3 * HOP;
/// A core at the last crosspoint, among eight cores.
const NEAR_CORE: usize = 7;
const FAR_CORE: usize = 0;

/// Returns four crosspoints in a row with two cores each; the DVM node is at the last one.
pub(super) fn row() -> Tables {
    let mut tables = Tables::quiet();
    (tables.memory.mesh.columns, tables.memory.mesh.rows) = (4, 1);
    tables.memory.mesh.core_clock_percent = 100;
    tables
}

/// Returns when a request of a core is done that leaves it `later` cycles after the clock, which
/// stays. In cycles after the clock.
pub(super) fn done_after(cores: &mut Cores, core: usize, kind: MemKind, later: Cycle) -> Cycle {
    let request = MemRequest::new(VirtAddr(0x40_0000), D, 8, kind);
    let at = cores.now + later;
    cores.memory.port(core).access(request, at, &mut cores.counts[core]).done - cores.now
}

/// Returns when the DVM node can send what the payload of a request causes: the request, the
/// permission to send the payload, and the payload take the way between core and node.
fn payload(way: Cycle) -> Cycle {
    way + NODE + way + way + NODE
}

/// Younger operations do not wait for its completion, and neither do barriers but the `DSB` that
/// synchronizes it.
#[test]
fn an_operation_is_done_for_its_core_when_it_has_left() {
    let mut cores = Cores::new(&row(), 8);
    assert_eq!(done_after(&mut cores, FAR_CORE, TLBI, 0), 1);
    let by_line = MemKind::Maintain(Maintenance::InstByAddress);
    let l2 = 9;
    assert_eq!(done_after(&mut Cores::new(&row(), 8), FAR_CORE, by_line, 0), l2 + 1);
}

#[test]
fn a_synchronization_leaves_when_all_operations_of_its_core_are_complete() {
    let mut cores = Cores::new(&row(), 8);
    done_after(&mut cores, FAR_CORE, TLBI, 0);
    done_after(&mut cores, FAR_CORE, TLBI, 20);
    let completed = 20 + payload(FAR) + FAR;
    let answers = FAR + SYNC_ANSWER + FAR + NODE;
    let done = done_after(&mut cores, FAR_CORE, MemKind::Synchronize, 30);
    assert_eq!(done, completed + payload(FAR) + answers + FAR);
}

#[test]
fn a_synchronization_waits_for_the_answer_of_the_farthest_core() {
    let mut cores = Cores::new(&row(), 8);
    let answers = FAR + SYNC_ANSWER + FAR + NODE;
    let done = done_after(&mut cores, NEAR_CORE, MemKind::Synchronize, 0);
    assert_eq!(done, payload(NEAR) + answers + NEAR);
    let done = done_after(&mut cores, FAR_CORE, MemKind::Synchronize, 1000);
    assert_eq!(done, 1000 + payload(FAR) + answers + FAR);
}

/// The core sends its synchronization as soon as its operation is complete. That of a near core is
/// at the node before the answers of far ones.
#[test]
fn a_synchronization_waits_for_answers_to_older_operations_of_its_core() {
    let sync_answers = FAR + SYNC_ANSWER + FAR + NODE;
    let stalls = |core, way| {
        let mut cores = Cores::new(&row(), 8);
        let mut done = 0;
        let counts = counted(&mut cores, |cores| {
            done_after(cores, core, TLBI, 0);
            done = done_after(cores, core, MemKind::Synchronize, 1);
        });
        let answered = payload(way) + FAR + ANSWER + FAR + NODE;
        let ready = payload(way) + way + payload(way);
        assert_eq!(done, ready.max(answered) + sync_answers + way);
        counts.of_dvm(DvmEvent::SyncStall)
    };
    assert_eq!(stalls(NEAR_CORE, NEAR), 1);
    assert_eq!(stalls(FAR_CORE, FAR), 0);
}

#[test]
fn operations_of_other_cores_delay_no_synchronization() {
    let mut cores = Cores::new(&row(), 8);
    let counts = counted(&mut cores, |cores| {
        done_after(cores, NEAR_CORE, TLBI, 0);
        let done = done_after(cores, NEAR_CORE - 1, MemKind::Synchronize, 1);
        let answers = FAR + SYNC_ANSWER + FAR + NODE;
        assert_eq!(done, 1 + payload(NEAR) + answers + NEAR);
    });
    assert_eq!(counts.of_dvm(DvmEvent::SyncStall), 0);
}

#[test]
fn a_single_core_waits_for_the_dvm_node_alone() {
    let mut cores = Cores::new(&row(), 1);
    let counts = counted(&mut cores, |cores| {
        done_after(cores, 0, TLBI, 0);
        let done = done_after(cores, 0, MemKind::Synchronize, 1000);
        assert_eq!(done, 1000 + payload(FAR) + FAR);
    });
    let events = [DvmEvent::Tlbi, DvmEvent::Sync, DvmEvent::SnoopFlit, DvmEvent::SyncStall];
    assert_eq!(events.map(|event| counts.of_dvm(event)), [1, 1, 0, 0]);
    assert_eq!(counts.sent_by(AgentKind::Core, Message::DVMOp), 2);
}

/// Six snoops of two flits leave the node's crosspoint one after the other, and their answers meet.
#[test]
fn messages_wait_for_links_that_carry_one_flit_in_a_cycle() {
    let done = |contention| {
        let mut tables = row();
        tables.memory.mesh.link_contention = contention;
        done_after(&mut Cores::new(&tables, 8), NEAR_CORE, MemKind::Synchronize, 0)
    };
    // The second far core is snooped two cycles after the first.
    assert_eq!(done(true), done(false) + 2);
}

/// Returns the counts of a synchronization of a near core, whose entry is taken from the arrival of
/// the request until the answers are there.
fn entry_taken_for(cycles: Cycle) -> MeshCounts {
    let mut tables = row();
    let ways = payload(NEAR) - NEAR + FAR + FAR + NODE;
    tables.memory.dvm.sync_answer_cycles = (cycles - ways) as u32;
    let mut cores = Cores::new(&tables, 8);
    counted(&mut cores, |cores| done_after(cores, NEAR_CORE, MemKind::Synchronize, 0))
}

#[test]
fn the_tracker_counts_a_pulse_for_4096_cycles_of_the_mesh() {
    let kinds = [DvmOccupant::Any, DvmOccupant::Operation, DvmOccupant::Sync];
    let pulses = |cycles| kinds.map(|kind| entry_taken_for(cycles).occupied_dvm(kind));
    assert_eq!(pulses(4095), [0, 0, 0]);
    assert_eq!(pulses(4096), [1, 0, 1]);
}

#[test]
fn the_entry_of_an_operation_is_taken_until_all_cores_have_answered() {
    let pulses = |taken: Cycle| {
        let mut tables = row();
        let ways = payload(NEAR) - NEAR + FAR + FAR + NODE;
        tables.memory.dvm.answer_cycles = (taken - ways) as u32;
        let mut cores = Cores::new(&tables, 8);
        let counts = counted(&mut cores, |cores| done_after(cores, NEAR_CORE, TLBI, 0));
        [DvmOccupant::Operation, DvmOccupant::Sync].map(|kind| counts.occupied_dvm(kind))
    };
    assert_eq!([pulses(8191), pulses(8192)], [[1, 0], [2, 0]]);
}

/// Without the mechanism, operations are counted as before, and only `IC IVAU` takes time: the way
/// to the home node of its line and back.
#[test]
fn without_synchronization_operations_take_no_time_and_nothing_waits() {
    let mut tables = row();
    tables.memory.dvm.sync = false;
    let mut cores = Cores::new(&tables, 8);
    let counts = counted(&mut cores, |cores| {
        assert_eq!(done_after(cores, NEAR_CORE, TLBI, 0), 1);
        let (at, sink) = (cores.now + 5, &mut cores.counts[NEAR_CORE]);
        let request = MemRequest::new(VirtAddr(0x40_0000), D, 8, MemKind::Synchronize);
        assert_eq!(cores.memory.port(NEAR_CORE).access(request, at, sink).done, 0);
        let all = MemKind::Maintain(Maintenance::InstAll { broadcast: true });
        let own = MemKind::Maintain(Maintenance::InstAll { broadcast: false });
        let [all, own] = [all, own].map(|kind| done_after(cores, NEAR_CORE, kind, 0));
        assert_eq!(all, own);
    });
    let events = [DvmEvent::Tlbi, DvmEvent::Pici, DvmEvent::Sync, DvmEvent::SnoopFlit];
    assert_eq!(events.map(|event| counts.of_dvm(event)), [1, 1, 0, 2 * 7 * 2]);
    assert_eq!(counts.sent_by(AgentKind::Core, Message::DVMOp), 2);
    let by_line = MemKind::Maintain(Maintenance::InstByAddress);
    let done = |tables: &Tables| done_after(&mut Cores::new(tables, 8), NEAR_CORE, by_line, 0);
    let (l2, home_node) = (9, 25);
    let there_and_back = l2 + INTERFACE + HOP + home_node + HOP + INTERFACE;
    assert_eq!(done(&tables), there_and_back);
    tables.memory.dvm.node_cycles = 500;
    assert_eq!(done(&tables), there_and_back);
}
