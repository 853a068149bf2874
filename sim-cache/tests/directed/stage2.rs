//! Translation in two stages: guide 3.2.18, 4.1.9, 4.1.10; decision A14.

use sim_cache::{Mapping, MemoryType};
use sim_core::{AccessOutcome, DataSource, Maintenance, PhysAddr, PmuEvent, TlbScope};

use super::rig::Base::K0;
use super::rig::{Rig, Tables};

const D: u64 = 0x8000;
const I: u64 = 0x1_0000;

/// Returns K0 with stage 2 of 4 KiB pages, mapped to themselves.
fn stage2() -> Rig {
    let mut rig = Rig::new(K0, &[], &[]);
    rig.memory.enable_stage2(4096).expect("a granule");
    rig
}

#[test]
fn stage_2_walks_for_descriptors_of_a_fetch_are_data_side_walks() {
    // T.DTLB_WALK.5, T.ITLB_WALK.3: four descriptors in four pages, none of them known.
    let mut rig = stage2();
    rig.fetch(I);
    rig.expect("V7 + walk if + DTLB_WALK 4 + L2D_TLB_REFILL 4 + L2D_TLB_REFILL_RD 4");
}

#[test]
fn stage_2_walks_for_descriptors_of_a_store_count_as_its_walks() {
    let mut rig = stage2();
    rig.st(8, D);
    rig.expect("V4 + walk st + DTLB_WALK 4 + L2D_TLB_REFILL 4 + L2D_TLB_REFILL_WR 4");
}

#[test]
fn a_known_stage_2_page_of_descriptors_needs_no_walk() {
    // T.DTLB_WALK.5 with n = 0: the tables of both pages lie in the same pages.
    let mut rig = stage2();
    rig.ld(8, D);
    let first = rig.counts.clone();
    rig.then().fetch(D + 0x1000);
    let second = rig.counts.since(&first);
    let counts = [PmuEvent::ITLB_WALK, PmuEvent::DTLB_WALK, PmuEvent::L2D_TLB_REFILL];
    assert_eq!(counts.map(|event| second.value(event)), [1, 0, 1]);
}

#[test]
fn a_larger_granule_of_stage_2_needs_the_same_walks_of_fewer_levels() {
    let mut rig = Rig::new(K0, &[], &[]);
    rig.memory.enable_stage2(65_536).expect("a granule");
    let large = rig.ld(8, D).translation_cycles;
    rig.expect("V1 + walk ld + DTLB_WALK 4 + L2D_TLB_REFILL 4 + L2D_TLB_REFILL_RD 4");
    let small = stage2().ld(8, D).translation_cycles;
    assert_eq!(small - large, 5 * 17, "one read fewer in each of five walks of stage 2");
}

#[test]
fn the_output_address_goes_through_stage_2_and_one_entry_holds_both_stages() {
    let mut rig = stage2();
    let mapping = Mapping::normal(PhysAddr(0x70_0000), 4096);
    rig.memory.map_stage2(PhysAddr(D), Some(mapping)).expect("a page");
    rig.ld(8, D);
    let before = rig.counts.clone();
    rig.then().ld(8, D + 64);
    assert_eq!(rig.counts.since(&before).value(PmuEvent::L2D_TLB), 0);
    // The physical line is the output of stage 2. Another page with the same output hits it in the
    // L1, in the set that bits 13:12 of both virtual addresses select.
    let same = Mapping::normal(PhysAddr(0x70_0000), 4096);
    rig.memory.map_stage2(PhysAddr(D + 0x4000), Some(same)).expect("a page");
    assert_eq!(rig.then().ld(8, D + 0x4000).source, DataSource::L1);
}

#[test]
fn attributes_of_stage_2_restrict_those_of_stage_1() {
    let mut rig = stage2();
    let device = Mapping { memory: MemoryType::Device, ..Mapping::normal(PhysAddr(D), 4096) };
    rig.memory.map_stage2(PhysAddr(D), Some(device)).expect("a page");
    assert_eq!(rig.ld(8, D).source, DataSource::Device);
    let read_only = Mapping { read_only: true, ..Mapping::normal(PhysAddr(0x9000), 4096) };
    rig.memory.map_stage2(PhysAddr(0x9000), Some(read_only)).expect("a page");
    assert!(rig.then().st(8, 0x9000).outcome.has(AccessOutcome::FAULT));
}

#[test]
fn a_stage_2_fault_refills_no_translation() {
    // Decision A15: the walks count; entries made before the fault stay counted.
    let mut rig = stage2();
    rig.memory.map_stage2(PhysAddr(D), None).expect("a page");
    let reply = rig.ld(8, D);
    assert!(reply.outcome.has(AccessOutcome::FAULT) && reply.outcome.has(AccessOutcome::WALK));
    rig.expect(
        "MEM_ACCESS + MEM_ACCESS_RD + L1D_TLB + L1D_TLB_RD + L2D_TLB + L2D_TLB_RD + DTLB_WALK 5 + \
         L2D_TLB_REFILL 4 + L2D_TLB_REFILL_RD 4",
    );
}

#[test]
fn intermediate_results_count_as_allocations_where_partial_ones_do() {
    // Decision A14: table, stage 2 of the output address, final entry, four descriptor pages.
    let mut tables = Tables::quiet();
    tables.semantics.partial_walks_count = true;
    let mut rig = Rig::with(&tables, K0, &[], &[]);
    rig.memory.enable_stage2(4096).expect("a granule");
    rig.ld(8, D);
    rig.expect("V1 + walk ld + DTLB_WALK 4 + L2D_TLB_REFILL 6 + L2D_TLB_REFILL_RD 6");
}

#[test]
fn tlbi_by_intermediate_page_removes_its_stage_2_result_only() {
    let walk = |rig: &mut Rig| {
        rig.maintain(
            Maintenance::Tlb {
                scope: TlbScope::PageAnyAsid { last_level: true },
                broadcast: false,
            },
            D >> 12,
        );
        rig.then().ld(8, D).translation_cycles
    };
    let mut rig = stage2();
    rig.ld(8, D);
    let known = walk(&mut rig);
    assert_eq!(walk(&mut rig), known);
    let scope = TlbScope::IntermediatePage;
    rig.maintain(Maintenance::Tlb { scope, broadcast: false }, 0x9000 >> 12);
    assert_eq!(walk(&mut rig), known, "another page");
    rig.maintain(Maintenance::Tlb { scope, broadcast: false }, D >> 12);
    let before = rig.counts.clone();
    assert_eq!(rig.then().ld(8, D).translation_cycles, 1, "the translation itself stays");
    assert_eq!(walk(&mut rig), known + 4 * 17, "four reads of stage 2");
    assert_eq!(rig.counts.since(&before).value(PmuEvent::DTLB_WALK), 1, "part of the walk itself");
}
