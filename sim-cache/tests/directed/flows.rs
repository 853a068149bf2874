//! Reference vectors V1 to V9, translation add-ons, and the flows of guide chapter 5.

use sim_cache::{CacheLevel, TlbLevel};
use sim_core::{AccessOutcome, DataSource, MemReply, VirtAddr};

use super::rig::Base::{K0, K1, K2, K3};
use super::rig::{A, Rig, l2_set};

const D: u64 = 0x8000;
const I: u64 = 0x1_0000;

fn d(base: super::rig::Base) -> Rig {
    Rig::new(base, &[D], &[I])
}

/// One access at the rig's current time.
type Step = fn(&mut Rig) -> MemReply;

/// A load, store or fetch from DRAM, the L2 or the L1, translated by the L1 TLB, the L2 TLB or a
/// walk: chapter 5, all 27 combinations.
#[test]
fn every_access_counts_its_vector_and_its_translation() {
    let steps: [(&str, Step); 3] =
        [("ld", |r| r.ld(8, D)), ("st", |r| r.st(8, D)), ("if", |r| r.fetch(I))];
    for (row, (name, step)) in steps.into_iter().enumerate() {
        for (column, base) in [K1, K2, K3].into_iter().enumerate() {
            let vector = format!("V{}", 3 * row + column + 1);
            for translation in ["", "tlb2", "walk"] {
                let mut rig = d(base);
                match translation {
                    "tlb2" => drop(rig.only_l2_tlb(&[D, I])),
                    "walk" => drop(rig.empty_tlbs()),
                    _ => {}
                }
                step(&mut rig);
                let addition = if translation.is_empty() {
                    String::new()
                } else {
                    format!("{translation} {name}")
                };
                rig.expect(&format!("{vector} + {addition}"));
            }
        }
    }
}

#[test]
fn f514_a_faulting_load_counts_its_lookups_and_its_walk_but_no_refill() {
    let mut rig = Rig::new(K0, &[], &[]);
    let reply = rig.unmap(D).ld(8, D);
    assert!(reply.outcome.has(AccessOutcome::FAULT) && reply.outcome.has(AccessOutcome::WALK));
    rig.expect(
        "MEM_ACCESS + MEM_ACCESS_RD + L1D_TLB + L1D_TLB_RD + L2D_TLB + L2D_TLB_RD + DTLB_WALK",
    );
}

#[test]
fn f515_a_non_cacheable_load_goes_from_the_tlb_to_the_bus() {
    let mut rig = Rig::new(K0, &[], &[]);
    rig.non_cacheable(D).warm(D, TlbLevel::L2).warm(D, TlbLevel::L1d);
    let reply = rig.ld(8, D);
    assert_eq!(reply.source, DataSource::Device);
    rig.expect("MEM_ACCESS + MEM_ACCESS_RD + L1D_TLB + L1D_TLB_RD + BUS_ACCESS + BUS_ACCESS_RD");
}

#[test]
fn f524_a_faulting_store_counts_its_lookups_and_its_walk_but_no_refill() {
    let mut rig = Rig::new(K0, &[], &[]);
    let reply = rig.unmap(D).st(8, D);
    assert!(reply.outcome.has(AccessOutcome::FAULT));
    rig.expect(
        "MEM_ACCESS + MEM_ACCESS_WR + L1D_TLB + L1D_TLB_WR + L2D_TLB + L2D_TLB_WR + DTLB_WALK",
    );
}

#[test]
fn f534_a_faulting_fetch_counts_its_lookups_and_its_walk_but_no_refill() {
    let mut rig = Rig::new(K0, &[], &[]);
    let reply = rig.unmap(I).fetch(I);
    assert!(reply.outcome.has(AccessOutcome::FAULT));
    rig.expect("L1I_TLB + L2D_TLB + L2D_TLB_RD + ITLB_WALK");
}

/// Returns a rig with the lines of one L1 set, four of them in the L1 D-cache.
fn full_l1_set(dirty: bool) -> Rig {
    let mut rig = Rig::new(K2, &A, &[]);
    for line in &A[..4] {
        rig.place(*line, CacheLevel::L1d, dirty);
    }
    rig
}

const L1_WRITE_BACK: &str = "L1D_CACHE_WB + L1D_CACHE_WB_VICTIM + L2D_CACHE + L2D_CACHE_WR";

#[test]
fn f544_and_f585_a_dirty_l1_victim_is_a_write_that_hits_the_l2() {
    let mut rig = full_l1_set(true);
    rig.ld(8, A[4]);
    rig.expect(&format!("V2 + {L1_WRITE_BACK}"));
    let dirty_in_l2 = A[..4]
        .iter()
        .filter(|line| rig.memory.line_is_dirty(0, VirtAddr(**line), CacheLevel::L2) == Some(true));
    assert_eq!(dirty_in_l2.count(), 1);
}

#[test]
fn f545_a_clean_l1_victim_counts_nothing() {
    let mut rig = full_l1_set(false);
    rig.ld(8, A[4]);
    rig.expect("V2");
}

#[test]
fn f554_a_store_miss_writes_a_dirty_victim_back() {
    let mut rig = full_l1_set(true);
    rig.st(8, A[4]);
    rig.expect(&format!("V5 + {L1_WRITE_BACK}"));
}

#[test]
fn f573_data_from_another_chip_is_a_remote_access() {
    let mut rig = d(K1);
    rig.memory.set_data_source(VirtAddr(D), Some(DataSource::Remote)).expect("mapped");
    assert_eq!(rig.ld(8, D).source, DataSource::Remote);
    rig.expect("V1 + REMOTE_ACCESS");
}

#[test]
fn f583_a_store_whose_line_comes_from_another_chip_is_a_remote_access() {
    let mut rig = d(K1);
    rig.memory.set_data_source(VirtAddr(D), Some(DataSource::Remote)).expect("mapped");
    rig.st(8, D);
    rig.expect("V4 + REMOTE_ACCESS");
}

/// Returns a rig with eight lines of one L2 set in the L2 only. The translation of the ninth is
/// warm.
fn full_l2_set(dirty: bool) -> Rig {
    let lines = l2_set();
    let mut rig = Rig::new(K1, &lines[8..], &[]);
    for line in &lines[..8] {
        rig.place(*line, CacheLevel::L2, dirty);
    }
    rig
}

const L2_WRITE_BACK: &str = "L2D_CACHE_WB + L2D_CACHE_WB_VICTIM + BUS_ACCESS + BUS_ACCESS_WR";

#[test]
fn f574_a_dirty_l2_victim_is_written_to_the_bus() {
    let mut rig = full_l2_set(true);
    rig.ld(8, l2_set()[8]);
    rig.expect(&format!("V1 + {L2_WRITE_BACK}"));
}

#[test]
fn f575_a_clean_l2_victim_counts_nothing_and_is_kept_by_the_slc() {
    let mut rig = full_l2_set(false);
    rig.ld(8, l2_set()[8]);
    rig.expect("V1");
    let lines = l2_set();
    let kept = lines[..8].iter().filter(|line| {
        rig.memory.line_is_dirty(0, VirtAddr(**line), CacheLevel::Slc) == Some(false)
    });
    assert_eq!(kept.count(), 1);
}

#[test]
fn f584_a_store_miss_writes_a_dirty_l2_victim_to_the_bus() {
    let mut rig = full_l2_set(true);
    rig.st(8, l2_set()[8]);
    rig.expect(&format!("V4 + {L2_WRITE_BACK}"));
}

#[test]
fn evicting_a_modified_l2_line_also_evicts_its_l1_copy() {
    // Decision A43: the L1 write-back precedes the L2's; no invalidation is counted.
    let lines = l2_set();
    let mut rig = Rig::new(K1, &lines[8..], &[]);
    rig.place(lines[0], CacheLevel::L1d, true);
    for line in &lines[1..8] {
        rig.place(*line, CacheLevel::L2, false);
    }
    rig.ld(8, lines[8]);
    rig.expect(&format!("V1 + {L1_WRITE_BACK} + {L2_WRITE_BACK}"));
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(lines[0]), CacheLevel::L1d), None);
    assert!(rig.memory.is_inclusive(0));
}
