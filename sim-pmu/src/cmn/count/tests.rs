use super::*;
use sim_core::mesh_counts::{Crosspoint, DvmEvent, DvmOccupant, FloorPlan, Side};

fn at(column: u32, row: u32) -> Crosspoint {
    Crosspoint { column, row }
}

/// Three columns and two rows: two cores at (0, 0), home nodes at (2, 0) and (0, 1), memory at
/// (1, 0), the corner at (2, 1).
fn counts() -> MeshCounts {
    MeshCounts::new(FloorPlan {
        columns: 3,
        rows: 2,
        cores: vec![at(0, 0), at(0, 0)],
        homes: vec![at(2, 0), at(0, 1)],
        memories: vec![at(1, 0)],
        corner: at(2, 1),
    })
}

fn counted(text: &str, counts: &MeshCounts) -> Result<Counted, CountError> {
    let selector: Selector = text.parse().unwrap_or_else(|error| panic!("{error}"));
    count(&selector, &Nodes::new(&counts.plan), counts)
}

fn value(text: &str, counts: &MeshCounts) -> u64 {
    let counted = counted(text, counts).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(counted.zero, None, "{text}");
    counted.value
}

fn reason(text: &str, counts: &MeshCounts) -> Option<Reason> {
    let counted = counted(text, counts).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(counted.value, 0, "{text}");
    counted.zero
}

/// A read of core 0 that home node 0 takes from memory, and a read for ownership of core 1 that
/// home node 1 has.
fn two_reads() -> MeshCounts {
    let mut counts = counts();
    let (core, home, memory) = (Agent::Core(0), Agent::Home(0), Agent::Memory(0));
    counts.send(core, home, Message::ReadNotSharedDirty);
    counts.send(home, memory, Message::ReadNoSnp);
    counts.send(memory, core, Message::CompData);
    counts.send(core, home, Message::CompAck);
    for event in [HomeEvent::CacheAccess, HomeEvent::CacheMiss, HomeEvent::MemoryRequest] {
        counts.raise(0, event);
    }
    let (core, home) = (Agent::Core(1), Agent::Home(1));
    counts.send(core, home, Message::ReadUnique);
    counts.send(home, core, Message::CompData);
    counts.send(core, home, Message::CompAck);
    counts.raise(1, HomeEvent::CacheAccess);
    counts.cycles = 700;
    counts
}

#[test]
fn an_event_of_home_nodes_is_their_sum_or_that_of_one() {
    let counts = two_reads();
    assert_eq!(value("arm_cmn_0/hnf_slc_sf_cache_access/", &counts), 2);
    assert_eq!(value("arm_cmn_0/hnf_cache_miss/", &counts), 1);
    assert_eq!(value("arm_cmn_0/type=5,eventid=0xd/", &counts), 1);
    // Home node 0 is at column 2, home node 1 at row 1.
    assert_eq!(value("arm_cmn_0/hnf_cache_miss,bynodeid=1,nodeid=0x40/", &counts), 1);
    assert_eq!(value("arm_cmn_0/hnf_cache_miss,bynodeid=1,nodeid=0x8/", &counts), 0);
    assert_eq!(value("arm_cmn_0/hnf_slc_sf_cache_access,bynodeid=1,nodeid=0x8/", &counts), 1);
    assert_eq!(value("arm_cmn_0/dtc_cycles/", &counts), 700);
}

#[test]
fn a_node_that_does_not_exist_is_an_error() {
    let text = "arm_cmn_0/hnf_cache_miss,bynodeid=1,nodeid=0x10/";
    let error = counted(text, &counts()).expect_err("no node").to_string();
    let end = "no HN-F has nodeid=0x10; they are 0x40, 0x8";
    assert_eq!(error, format!("event \"{text}\": {end}"));
    let text = "arm_cmn_0/mxp_e_req_txflit_valid,bynodeid=1,nodeid=0x1/";
    let error = counted(text, &counts()).expect_err("no crosspoint").to_string();
    assert!(error.ends_with("no XP has nodeid=0x1; they are 0x0, 0x20, 0x40, 0x8, ..."), "{error}");
}

#[test]
fn an_event_that_the_model_lacks_is_zero_with_its_reason() {
    let counts = two_reads();
    assert_eq!(
        reason("arm_cmn_0/hnf_qos_pocq_occupancy_all/", &counts),
        Some(Reason::UnlimitedQueue)
    );
    assert_eq!(reason("arm_cmn_0/hnf_mpam_hardlim/", &counts), Some(Reason::NoMpam));
    assert_eq!(reason("arm_cmn_0/hns_cache_miss_all/", &counts), Some(Reason::NoHnS));
    assert_eq!(reason("arm_cmn_0/mxp_e_dat_txflit_stall/", &counts), Some(Reason::NoContention));
    assert_eq!(reason("CMN_HNS_WP_RXREQ_COUNT", &counts), Some(Reason::NoHnS));
    let other = "CMN_RNF_WP_TXREQ_READPREFERUNIQUE_COUNT";
    assert_eq!(reason(other, &counts), Some(Reason::NoSuchMessage));
}

#[test]
fn events_of_limits_are_counted_when_the_machine_has_them() {
    let mut counts = two_reads();
    counts.limits_queues = true;
    for name in ["arm_cmn_0/hnf_pocq_addrhaz/", "arm_cmn_0/hnf_pocq_atomic_addrhaz/"] {
        assert_eq!(reason(name, &counts), Some(Reason::NoLineHazards));
    }
    let of_memory = reason("arm_cmn_0/hnf_mc_retries/", &counts);
    assert_eq!(of_memory, Some(Reason::MemoryAcceptsAll));
    (counts.limits_hazards, counts.limits_links) = (true, true);
    counts.limits_writes = true;
    counts.raise(1, HomeEvent::MemoryRetried);
    counts.raise(0, HomeEvent::RequestRetried);
    counts.raise(1, HomeEvent::AddressHazard);
    counts.occupy(1, Occupant::Any, 5);
    counts.occupy(1, Occupant::Write, 3);
    counts.stall(0, Side::East, Channel::Dat, 7);
    for (name, expected) in [
        ("hnf_pocq_retry", 1),
        ("hnf_mc_retries", 1),
        ("hnf_pocq_addrhaz", 1),
        ("hnf_pocq_atomic_addrhaz", 0),
        ("hnf_qos_pocq_occupancy_all", 5),
        ("hnf_qos_pocq_occupancy_read", 0),
        ("hnf_qos_pocq_occupancy_write", 3),
        ("mxp_e_dat_txflit_stall", 7),
        ("mxp_w_dat_txflit_stall", 0),
    ] {
        let text = format!("arm_cmn_0/{name}/");
        assert_eq!(value(&text, &counts), expected, "{name}");
    }
    let ports = reason("arm_cmn_0/mxp_p0_dat_txflit_stall/", &counts);
    assert_eq!(ports, Some(Reason::NoCredits));
}

#[test]
fn events_of_synchronization_are_counted_when_the_machine_has_it() {
    let mut counts = counts();
    for name in ["dn_dvmsync", "dn_txsnp_sync_stall_op", "dn_trk_occupancy_all"] {
        let text = format!("arm_cmn_0/{name}/");
        assert_eq!(reason(&text, &counts), Some(Reason::NoDvmSync), "{name}");
    }
    counts.synchronizes = true;
    counts.raise_dvm(DvmEvent::Sync, 3);
    counts.raise_dvm(DvmEvent::SyncStall, 2);
    counts.occupy_dvm(DvmOccupant::Any, 9);
    counts.occupy_dvm(DvmOccupant::Operation, 4);
    counts.occupy_dvm(DvmOccupant::Sync, 5);
    for (name, expected) in [
        ("dn_dvmsync", 3),
        ("dn_txsnp_sync_stall_op", 2),
        ("dn_trk_occupancy_all", 9),
        ("dn_trk_occupancy_dvmop", 4),
        ("dn_trk_occupancy_dvmsync", 5),
    ] {
        assert_eq!(value(&format!("arm_cmn_0/{name}/"), &counts), expected, "{name}");
    }
    assert_eq!(value("arm_cmn_0/type=1,eventid=0xc,occupid=3/", &counts), 0, "of no kind");
}

#[test]
fn events_of_a_crosspoint_count_flits_by_side_and_port() {
    let counts = two_reads();
    // Core 0's request and acknowledgement cross two columns; its data, from the middle, one.
    assert_eq!(value("arm_cmn_0/mxp_e_req_txflit_valid/", &counts), 2);
    assert_eq!(value("arm_cmn_0/mxp_e_rsp_txflit_valid/", &counts), 2);
    assert_eq!(value("arm_cmn_0/mxp_w_req_txflit_valid/", &counts), 1, "home to memory");
    assert_eq!(value("arm_cmn_0/mxp_w_dat_txflit_valid/", &counts), 2);
    assert_eq!(value("arm_cmn_0/mxp_n_req_txflit_valid/", &counts), 1);
    assert_eq!(value("arm_cmn_0/mxp_s_dat_txflit_valid/", &counts), 2);
    let middle = "arm_cmn_0/mxp_w_dat_txflit_valid,bynodeid=1,nodeid=0x20/";
    assert_eq!(value(middle, &counts), 2);
    // Ports: 0 has home nodes, 1 cores, 2 memory.
    assert_eq!(value("arm_cmn_0/mxp_p0_req_txflit_valid/", &counts), 2);
    assert_eq!(value("arm_cmn_0/mxp_p1_dat_txflit_valid/", &counts), 4);
    assert_eq!(value("arm_cmn_0/mxp_p2_req_txflit_valid/", &counts), 1);
    let unused = "arm_cmn_0/mxp_p2_req_txflit_valid,bynodeid=1,nodeid=0/";
    assert_eq!(reason(unused, &counts), Some(Reason::NoPort));
}

#[test]
fn events_of_other_nodes_count_their_messages() {
    let mut counts = counts();
    counts.send(Agent::Io, Agent::Home(0), Message::WriteUniqueFullStash);
    counts.send(Agent::Io, Agent::Home(0), Message::NonCopyBackWrData);
    counts.send(Agent::Core(0), Agent::Device, Message::ReadNoSnp);
    counts.send(Agent::Core(0), Agent::Device, Message::WriteNoSnpPtl);
    counts.send(Agent::Core(0), Agent::Device, Message::WriteNoSnpPtl);
    counts.send(Agent::Core(0), Agent::Gateway, Message::ReadUnique);
    counts.send(Agent::Gateway, Agent::Core(0), Message::CompData);
    counts.raise_dvm(DvmEvent::SnoopFlit, 4);
    assert_eq!(value("arm_cmn_0/rnid_txreq_flits_total/", &counts), 1);
    assert_eq!(value("arm_cmn_0/rnid_txdat_flits/", &counts), 2);
    assert_eq!(value("arm_cmn_0/rnid_wrt_alloc/", &counts), 1);
    assert_eq!(value("arm_cmn_0/rnid_rrt_alloc/", &counts), 0);
    assert_eq!(value("arm_cmn_0/hni_rrt_rd_alloc/", &counts), 1);
    assert_eq!(value("arm_cmn_0/hni_rdt_wr_alloc/", &counts), 2);
    assert_eq!(value("arm_cmn_0/ccra_rht_alloc/", &counts), 1);
    assert_eq!(value("arm_cmn_0/ccra_rdb_alloc/", &counts), 1);
    assert_eq!(value("arm_cmn_0/dn_txsnp_flitv/", &counts), 4);
}

/// A watchpoint of Linux that matches all flits of a channel at a port.
fn all(direction: &str, port: u8, channel: u8, more: &str) -> String {
    format!(
        "arm_cmn_0/watchpoint_{direction},wp_dev_sel={port},wp_chn_sel={channel},wp_grp=0,\
         wp_val=0,wp_mask=0xffffffffffffffff{more}/"
    )
}

#[test]
fn a_watchpoint_counts_flits_at_a_port() {
    let counts = two_reads();
    assert_eq!(value(&all("up", 1, 0, ""), &counts), 2, "requests of cores");
    assert_eq!(value(&all("down", 0, 0, ""), &counts), 2, "requests to home nodes");
    assert_eq!(value(&all("down", 0, 0, ",bynodeid=1,nodeid=0x40"), &counts), 1);
    assert_eq!(value(&all("down", 1, 3, ""), &counts), 4, "two lines of two flits");
    assert_eq!(value(&all("up", 2, 3, ""), &counts), 2, "one of them from memory");
    let others = all("up", 1, 0, ",wp_exclusive=1");
    assert_eq!(reason(&others, &counts), Some(Reason::NoSuchMessage), "all match");
    let others = "CMN_RNF_WP_TXREQ_READUNIQUE_COUNT,wp_exclusive=1";
    assert_eq!(value(others, &counts), 1, "the other read");
    assert_eq!(reason(&all("up", 6, 0, ""), &counts), Some(Reason::NoPort));
    assert_eq!(reason(&all("up", 2, 0, ",bynodeid=1,nodeid=0"), &counts), Some(Reason::NoPort));
}

#[test]
fn a_named_watchpoint_counts_one_operation() {
    let mut counts = two_reads();
    assert_eq!(value("CMN_RNF_WP_TXREQ_COUNT", &counts), 2);
    assert_eq!(value("CMN_RNF_WP_TXREQ_READUNIQUE_COUNT", &counts), 1);
    assert_eq!(value("CMN_RNF_WP_64B_TXREQ_COUNT", &counts), 2);
    assert_eq!(value("CMN_HNF_WP_RXREQ_READNOTSHAREDDIRTY_COUNT", &counts), 1);
    assert_eq!(value("CMN_SNF_WP_64B_RXREQ_COUNT", &counts), 1);
    assert_eq!(value("CMN_SNF_WP_RXREQ_WRITENOSNPFULL_COUNT", &counts), 0);
    assert_eq!(value("CMN_HNF_WP_TXDAT_COUNT", &counts), 2);
    counts.send(Agent::Core(0), Agent::Home(0), Message::AtomicStore);
    assert_eq!(value("CMN_RNF_WP_64B_TXREQ_COUNT", &counts), 2, "an atomic is less than a line");
    assert_eq!(value("CMN_RNF_WP_TXREQ_SINGLE_COUNT", &counts), 3);
    counts.send(Agent::Dvm, Agent::Core(0), Message::SnpDVMOp);
    assert_eq!(value("CMN_RNF_WP_RXSNP_COUNT", &counts), 2, "two flits");
    assert_eq!(value("CMN_DN_WP_TXSNP_COUNT", &counts), 2);
}

#[test]
fn a_field_that_the_model_does_not_know_is_an_error() {
    let text = "arm_cmn_0/watchpoint_up,wp_dev_sel=1,wp_chn_sel=0,wp_grp=1,wp_val=0x1000,\
                wp_mask=0xff0000000000000f/";
    let error = counted(text, &counts()).expect_err("addresses").to_string();
    let end = "the model does not know the field \"address\" of flits on req; set its bits in \
               wp_mask to ignore it";
    assert_eq!(error, format!("event \"{text}\": {end}"));
}

#[test]
fn first_tries_are_unknown_where_requests_are_sent_again() {
    let is_unknown = |name, counts: &MeshCounts| {
        let error = counted(name, counts).expect_err("first tries");
        assert!(error.to_string().contains("the field \"allow-retry\""), "{error}");
    };
    let (of_cores, of_memory) =
        ("CMN_RNF_WP_TXREQ_SINGLE_COUNT", "CMN_SNF_WP_RXREQ_READNOSNP_COUNT");
    let mut counts = two_reads();
    counts.send(Agent::Home(0), Agent::Core(0), Message::RetryAck);
    is_unknown(of_cores, &counts);
    is_unknown("CMN_HNF_WP_RXREQ_READUNIQUE_COUNT", &counts);
    assert_eq!(value(of_memory, &counts), 1, "memory sent nothing back");
    assert_eq!(value("CMN_RNF_WP_TXREQ_COUNT", &counts), 2);
    assert_eq!(value("CMN_HNF_WP_TXRSP_RETRY_COUNT", &counts), 1);
    let mut counts = two_reads();
    counts.send(Agent::Memory(0), Agent::Home(0), Message::RetryAck);
    assert_eq!(value(of_cores, &counts), 2, "home nodes sent nothing back");
    assert_eq!(value("CMN_HNF_WP_RXREQ_READUNIQUE_COUNT", &counts), 1);
    is_unknown(of_memory, &counts);
    assert_eq!(value("CMN_SNF_WP_RXREQ_COUNT", &counts), 1);
    assert_eq!(value("CMN_SNF_WP_TXRSP_RETRY_COUNT", &counts), 1);
}

#[test]
fn a_watchpoint_on_one_atomic_operation_has_no_count() {
    let mut counts = two_reads();
    counts.send(Agent::Core(0), Agent::Home(0), Message::AtomicLoad);
    for name in ["CMN_HNF_WP_RXREQ_ATOMICLOADADD_COUNT", "CMN_HNF_WP_RXREQ_ATOMICCMP_COUNT"] {
        let counted = counted(name, &counts).expect("the name is known");
        assert_eq!(counted.zero, Some(Reason::AnyAtomic), "{name}");
    }
}

#[test]
fn every_event_and_every_named_watchpoint_has_a_value_or_a_reason() {
    let counts = two_reads();
    let names = crate::cmn::events::events().iter().filter_map(|event| event.arm.clone());
    let watchpoints = crate::cmn::watchpoints::watchpoints().iter().map(|own| own.name.clone());
    for name in names.chain(watchpoints) {
        let counted = counted(&name, &counts).unwrap_or_else(|error| panic!("{error}"));
        assert!(counted.zero.is_none() || counted.value == 0, "{name}");
    }
}
