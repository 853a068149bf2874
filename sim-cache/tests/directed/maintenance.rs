//! Cache maintenance: guide sections 3.2.11, 4.2.3, 4.2.12, 4.2.13, 4.3.2, 4.4.9 to 4.4.11.

use sim_cache::{CacheLevel, MemorySystem, TlbLevel};
use sim_core::CacheOp::{Clean, CleanInvalidate, CleanToUnification, Invalidate};
use sim_core::Maintenance::{DataByAddress, DataBySetWay, InstAll, InstByAddress};
use sim_core::{
    AccessOutcome, CacheOp, MemKind, MemReply, MemRequest, MemoryPort, NullSink, PmuEvent, VirtAddr,
};

use super::rig::Base::{K0, K1, K2, K3};
use super::rig::Rig;

const D: u64 = 0x8000;
const CODE: u64 = 0x1_0000;

/// Counts of one `DC` that moves modified data of the L1 out.
const CLEANED: &str = "L1D_CACHE_WB + L1D_CACHE_WB_CLEAN + L2D_CACHE + L2D_CACHE_WR";
/// Counts of one `DC` that moves modified data of the L2 out.
const SENT_OUT: &str = "L2D_CACHE_WB + L2D_CACHE_WB_CLEAN + BUS_ACCESS + BUS_ACCESS_WR";
/// Counts of one `DC` that removes a line from both caches.
const INVALIDATED: &str = "L1D_CACHE_INVAL + L2D_CACHE_INVAL";

impl Rig {
    fn dc(&mut self, op: CacheOp, addr: u64) -> MemReply {
        self.maintain(DataByAddress(op), addr)
    }

    /// Performs a `DC` by set and way for the entry that holds `D`.
    fn set_way(&mut self, op: CacheOp, level: CacheLevel) -> MemReply {
        let operand = self.memory.set_way_operand(0, VirtAddr(D), level);
        self.maintain(DataBySetWay(op), operand.expect("the line is there"))
    }

    fn dirty(&self, level: CacheLevel) -> Option<bool> {
        self.memory.line_is_dirty(0, VirtAddr(D), level)
    }
}

/// Returns a rig with the line clean in the L1 and the L2.
fn clean() -> Rig {
    Rig::new(K3, &[D], &[])
}

/// Returns a rig with the line dirty in the L1, clean in the L2.
fn dirty() -> Rig {
    let mut rig = clean();
    rig.place(D, CacheLevel::L1d, true);
    rig
}

/// Returns a rig with the line dirty in the L2 only.
fn dirty_in_l2() -> Rig {
    let mut rig = Rig::new(K1, &[D], &[]);
    rig.place(D, CacheLevel::L2, true);
    rig
}

#[test]
fn a_clean_of_modified_data_moves_it_through_both_caches() {
    // T.L1D_CACHE_WB.3, T.MEM_ACCESS_WR.3: 4.2.3, decision A01
    let mut rig = dirty();
    rig.dc(Clean, D);
    rig.expect(&format!("{CLEANED} + {SENT_OUT}"));
    assert_eq!((rig.dirty(CacheLevel::L1d), rig.dirty(CacheLevel::L2)), (Some(false), Some(false)));
    assert_eq!(rig.dirty(CacheLevel::Slc), Some(true), "the home node has the data");
    rig.then().dc(Clean, D);
    rig.expect(&format!("{CLEANED} + {SENT_OUT}"));
}

#[test]
fn a_clean_to_the_point_of_unification_ends_in_the_l2() {
    // 3.2.11: the L2 is the point of unification of instruction and data side
    let mut rig = dirty();
    rig.dc(CleanToUnification, D);
    rig.expect(CLEANED);
    assert_eq!((rig.dirty(CacheLevel::L1d), rig.dirty(CacheLevel::L2)), (Some(false), Some(true)));
}

#[test]
fn cleaning_a_clean_line_is_not_a_write_back() {
    // T.L1D_CACHE_WB.6, T.L2D_CACHE_WB.3, T.L1D_CACHE_RD.2, T.LL_CACHE_RD.7, T.MEM_ACCESS.5,
    // T.L2D_CACHE_INVAL.1
    let mut rig = clean();
    rig.dc(Clean, D);
    rig.expect("");
    rig.then().dc(CleanInvalidate, D);
    rig.expect(INVALIDATED);
    let mut rig = Rig::new(K2, &[D], &[]);
    rig.dc(CleanInvalidate, D);
    rig.expect("L2D_CACHE_INVAL");
}

#[test]
fn clean_and_invalidate_of_modified_data_does_not_count_as_a_victim() {
    // T.L1D_CACHE_WB_VICTIM.2, T.L2D_CACHE_WB_VICTIM.2, T.L2D_CACHE_WB_CLEAN.1
    let mut rig = dirty();
    rig.dc(CleanInvalidate, D);
    rig.expect(&format!("{CLEANED} + {SENT_OUT} + {INVALIDATED}"));
    assert_eq!((rig.dirty(CacheLevel::L1d), rig.dirty(CacheLevel::L2)), (None, None));
    let mut rig = dirty_in_l2();
    rig.dc(Clean, D);
    rig.expect(SENT_OUT);
    let mut rig = dirty_in_l2();
    rig.dc(CleanInvalidate, D);
    rig.expect(&format!("{SENT_OUT} + L2D_CACHE_INVAL"));
}

#[test]
fn invalidation_loses_modified_data() {
    // T.L1D_CACHE_INVAL.1: 4.2.13; nothing is transferred
    let mut rig = clean();
    rig.dc(Invalidate, D);
    rig.expect(INVALIDATED);
    let mut rig = dirty();
    rig.dc(Invalidate, D);
    rig.expect(INVALIDATED);
    assert_eq!(rig.dirty(CacheLevel::Slc), None);
    rig.then().ld(8, D);
    rig.expect(&format!("V1 + {INVALIDATED}"));
}

#[test]
fn invalidating_an_absent_line_counts_nothing() {
    // T.L1D_CACHE_INVAL.5, T.L1D_CACHE_REFILL_RD.2: decision A40; maintenance allocates nothing
    let mut rig = Rig::new(K1, &[D], &[]);
    rig.dc(CleanInvalidate, D);
    rig.then().dc(Clean, D);
    rig.expect("");
    assert_eq!(rig.dirty(CacheLevel::L2), None);
}

#[test]
fn by_set_and_way_an_invalidation_does_not_count() {
    // T.L1D_CACHE_INVAL.3, T.L2D_CACHE_INVAL.3: 4.2.13, 4.4.11
    let mut rig = clean();
    rig.set_way(CleanInvalidate, CacheLevel::L1d);
    rig.expect("");
    assert_eq!((rig.dirty(CacheLevel::L1d), rig.dirty(CacheLevel::L2)), (None, Some(false)));
    rig.then().set_way(CleanInvalidate, CacheLevel::L2);
    rig.expect("");
    assert_eq!(rig.dirty(CacheLevel::L2), None);
}

#[test]
fn by_set_and_way_a_level_that_the_core_lacks_has_no_effect() {
    // 3.2.21: the L2 is the last cache of the core
    let mut rig = dirty_in_l2();
    let operand = rig.memory.set_way_operand(0, VirtAddr(D), CacheLevel::L2);
    let third_level = operand.expect("the line is there") & !0b1110 | 2 << 1;
    rig.maintain(DataBySetWay(CleanInvalidate), third_level);
    rig.expect("");
    assert_eq!(rig.dirty(CacheLevel::L2), Some(true));
}

#[test]
fn by_set_and_way_modified_data_is_written_back() {
    // Decision A01; ISW cleans too
    for op in [Clean, CleanInvalidate, Invalidate] {
        let mut rig = dirty();
        rig.set_way(op, CacheLevel::L1d);
        rig.expect(CLEANED);
        assert_eq!(rig.dirty(CacheLevel::L2), Some(true), "{op:?}");
        assert_eq!(rig.dirty(CacheLevel::L1d), (op == Clean).then_some(false), "{op:?}");
        let mut rig = dirty_in_l2();
        rig.set_way(op, CacheLevel::L2);
        rig.expect(SENT_OUT);
    }
    let mut rig = dirty();
    rig.set_way(CleanInvalidate, CacheLevel::L2);
    rig.expect(&format!("{CLEANED} + {SENT_OUT}"));
    assert!(rig.memory.is_inclusive(0));
    let mut rig = dirty();
    rig.set_way(Clean, CacheLevel::L2);
    rig.expect("");
    assert_eq!(rig.dirty(CacheLevel::L1d), Some(true), "the other level does not change");
}

#[test]
fn an_invalidated_instruction_line_is_refilled_from_the_l2() {
    // T.L1I_CACHE_REFILL.4, T.L1I_CACHE.2: 4.3.2
    for what in [InstByAddress, InstAll { broadcast: false }] {
        let mut rig = Rig::new(K3, &[], &[CODE]);
        rig.warm(CODE, TlbLevel::L1d);
        rig.maintain(what, CODE);
        rig.expect("");
        rig.then().fetch(CODE);
        rig.expect("V8");
    }
}

#[test]
fn invalidating_a_data_line_invalidates_its_instruction_copy() {
    // 3.2.7: the L2 includes both L1 caches
    let mut rig = Rig::new(K3, &[], &[CODE]);
    rig.warm(CODE, TlbLevel::L1d);
    rig.dc(CleanInvalidate, CODE);
    rig.expect("L2D_CACHE_INVAL");
    assert!(rig.memory.is_inclusive(0));
}

#[test]
fn an_address_without_translation_faults() {
    let mut rig = Rig::new(K0, &[], &[]);
    rig.unmap(D);
    assert!(rig.dc(Clean, D).outcome.has(AccessOutcome::FAULT));
    assert_eq!(rig.value(PmuEvent::L1D_TLB) + rig.value(PmuEvent::MEM_ACCESS), 0);
}

#[test]
fn the_translation_of_maintenance_does_not_count_as_a_load_or_store() {
    // 4.1.2 and 4.1.4: like a preload, it refills the TLB without counting as a load or store
    let mut rig = Rig::new(K0, &[], &[]);
    rig.dc(Clean, D);
    rig.expect("walk ld");
}

#[test]
fn cleaning_includes_bytes_of_older_stores_that_are_still_merged() {
    // 4.2.3, write streaming
    let mut rig = Rig::new(K1, &[D, D + 0x1000], &[]);
    for line in 0..8 {
        for part in 0..4 {
            rig.st(16, D + 0x1000 + 64 * line + 16 * part);
        }
    }
    rig.then().st(16, D);
    let before = rig.counts.clone();
    rig.then().dc(Clean, D);
    let counted = rig.counts.since(&before);
    assert_eq!(counted.value(PmuEvent::L2D_CACHE_WR), 1, "the merged bytes reach the L2");
    assert_eq!(counted.value(PmuEvent::L2D_CACHE_WB_CLEAN), 1, "and leave it");
}

#[test]
fn maintenance_of_modified_data_takes_the_time_of_its_transfer() {
    // 4 to the L1, 9 for each step into and out of the L2, two beats, and the home node's answer
    let (mut with_data, mut without) = (dirty(), clean());
    let begin = with_data.now;
    let slow = with_data.dc(Clean, D).done - begin;
    let fast = without.dc(Clean, D).done - begin;
    assert!(slow > fast && fast >= 80, "{slow} and {fast} cycles");
    let mut local = dirty();
    assert!(local.set_way(Clean, CacheLevel::L1d).done - begin < 20);
}

#[test]
fn ivau_and_ialluis_reach_other_cores_and_iallu_does_not() {
    // 3.2.12: IVAU and IALLUIS are broadcast
    let tables = super::rig::Tables::quiet();
    for (what, spared) in [
        (InstByAddress, false),
        (InstAll { broadcast: true }, false),
        (InstAll { broadcast: false }, true),
    ] {
        let mut memory = MemorySystem::new(&tables.memory, &tables.semantics, 2, 1);
        for core in 0..2 {
            memory.place_line(core, VirtAddr(CODE), CacheLevel::L1i, false).expect("mapped");
        }
        let kind = MemKind::Maintain(what);
        let request = MemRequest::new(VirtAddr(0), VirtAddr(CODE), 1, kind);
        memory.port(0).access(request, 1000, &mut NullSink);
        let here = memory.line_is_dirty(0, VirtAddr(CODE), CacheLevel::L1i);
        let there = memory.line_is_dirty(1, VirtAddr(CODE), CacheLevel::L1i);
        assert_eq!((here, there.is_some()), (None, spared), "{what:?}");
    }
}
