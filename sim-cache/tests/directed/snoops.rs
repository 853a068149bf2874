//! Effects of other agents on a core: snoops, stashes, shared lines, the exclusive monitor. Guide
//! sections 3.2.9, 3.2.12, 4.2 to 4.6.

use sim_cache::CacheLevel::{self, L1d, L1i, L2, Slc};
use sim_core::{DataSource, MemKind, PmuEvent, Snoop, VirtAddr};

use super::rig::Base::{K1, K2, K3};
use super::rig::{A, Rig, l2_set};

const D: u64 = 0x8000;

/// Counts of a snoop and its answer on the bus: neither read nor write (decision A08).
const SNOOPED: &str = "BUS_ACCESS 2";
const L1_GIVES: &str = "L1D_CACHE_WB + L1D_CACHE_WB_CLEAN";
const L2_GIVES: &str = "L2D_CACHE_WB + L2D_CACHE_WB_CLEAN";
const BOTH_DROP: &str = "L1D_CACHE_INVAL + L2D_CACHE_INVAL";

fn modified(level: CacheLevel) -> Rig {
    let mut rig = Rig::new(K2, &[D], &[]);
    rig.place(D, level, true);
    rig
}

fn dirty(rig: &Rig, level: CacheLevel) -> Option<bool> {
    rig.memory.line_is_dirty(0, VirtAddr(D), level)
}

#[test]
fn a_snoop_that_takes_modified_l1_data_writes_back_the_l1_only() {
    // T.L1D_CACHE_WB.2, T.L1D_CACHE_WB_CLEAN.1 and .2, T.L2D_CACHE_WB.4; decision A01
    for (snoop, expected, left) in [
        (Snoop::Shared, String::new(), Some(false)),
        (Snoop::Forward, String::new(), Some(false)),
        (Snoop::Clean, String::new(), Some(false)),
        (Snoop::Unique, format!(" + {BOTH_DROP}"), None),
        (Snoop::CleanInvalidate, format!(" + {BOTH_DROP}"), None),
    ] {
        let mut rig = modified(L1d);
        rig.snoop(snoop, D).expect(&format!("{SNOOPED} + {L1_GIVES}{expected}"));
        assert_eq!([dirty(&rig, L1d), dirty(&rig, L2)], [left, left], "{snoop:?}");
    }
}

#[test]
fn a_snoop_that_takes_modified_l2_data_is_an_l2_write_back_whether_it_invalidates_or_not() {
    // T.L2D_CACHE_WB.2, T.L2D_CACHE_WB_CLEAN.2, T.BUS_ACCESS_WR.3
    for (snoop, expected) in [
        (Snoop::Shared, ""),
        (Snoop::Clean, ""),
        (Snoop::Unique, " + L2D_CACHE_INVAL"),
        (Snoop::CleanInvalidate, " + L2D_CACHE_INVAL"),
    ] {
        modified(L2).snoop(snoop, D).expect(&format!("{SNOOPED} + {L2_GIVES}{expected}"));
    }
}

#[test]
fn modified_data_returns_to_the_home_node_unless_a_writer_takes_it() {
    for (snoop, home) in [
        (Snoop::Shared, Some(true)),
        (Snoop::Forward, Some(true)),
        (Snoop::Clean, Some(true)),
        (Snoop::CleanInvalidate, Some(true)),
        (Snoop::Unique, None),
        (Snoop::Invalidate, None),
        (Snoop::MakeInvalid, None),
    ] {
        let mut rig = modified(L1d);
        rig.snoop(snoop, D);
        assert_eq!(dirty(&rig, Slc), home, "{snoop:?}");
    }
}

#[test]
fn a_snoop_of_clean_data_returns_no_data_and_counts_on_the_bus_only() {
    // T.L2D_CACHE.5, T.L2D_CACHE_RD.3, T.BUS_ACCESS.3, T.BUS_ACCESS_RD.3
    for base in [K1, K2, K3] {
        Rig::new(base, &[D], &[]).snoop(Snoop::Shared, D).expect(SNOOPED);
        Rig::new(base, &[D], &[]).snoop(Snoop::Clean, D).expect(SNOOPED);
    }
}

#[test]
fn a_forwarding_snoop_sends_even_clean_data() {
    // T.L2D_CACHE_WB_CLEAN.3: a transfer straight to another core
    Rig::new(K2, &[D], &[]).snoop(Snoop::Forward, D).expect(&format!("{SNOOPED} + {L2_GIVES}"));
    Rig::new(K1, &[D], &[]).snoop(Snoop::Forward, D).expect(SNOOPED);
}

#[test]
fn an_invalidating_snoop_counts_once_in_each_cache_that_had_the_line() {
    // T.L1D_CACHE_INVAL.2, T.L2D_CACHE_INVAL.2, T.L2D_CACHE_WR.5; decision A40
    for snoop in [Snoop::Unique, Snoop::CleanInvalidate, Snoop::Invalidate, Snoop::MakeInvalid] {
        let snooped = |base| {
            let mut rig = Rig::new(base, &[D], &[]);
            rig.snoop(snoop, D);
            rig
        };
        snooped(K3).expect(&format!("{SNOOPED} + {BOTH_DROP}"));
        snooped(K2).expect(&format!("{SNOOPED} + L2D_CACHE_INVAL"));
        snooped(K1).expect(SNOOPED);
    }
}

#[test]
fn data_that_the_snoop_does_not_take_is_lost_without_a_write_back() {
    // 4.2.3, 4.4.3: an invalidation that moves no data is no write-back
    for snoop in [Snoop::Invalidate, Snoop::MakeInvalid] {
        modified(L1d).snoop(snoop, D).expect(&format!("{SNOOPED} + {BOTH_DROP}"));
        modified(L2).snoop(snoop, D).expect(&format!("{SNOOPED} + L2D_CACHE_INVAL"));
    }
}

#[test]
fn an_invalidating_snoop_removes_the_instruction_copy_too() {
    // 3.2.12: the I-cache is coherent because the L2 includes it
    let mut rig = Rig::new(K3, &[], &[D]);
    rig.snoop(Snoop::Unique, D).expect(&format!("{SNOOPED} + L2D_CACHE_INVAL"));
    assert_eq!(dirty(&rig, L1i), None);
    rig.then().fetch(D);
    rig.expect(&format!("{SNOOPED} + L2D_CACHE_INVAL + V7"));
}

#[test]
fn a_store_to_a_shared_line_requests_it_with_one_transaction_without_data() {
    // 3.2.12, 4.6.6; the line is there, so neither cache refills
    for (base, vector) in [(K3, "V6"), (K2, "V5")] {
        let mut rig = Rig::new(base, &[D], &[]);
        rig.memory.share_line(0, VirtAddr(D)).expect("mapped");
        let begin = rig.now;
        let cycles = rig.st(8, D).done - begin;
        rig.expect(&format!("{vector} + BUS_ACCESS + BUS_ACCESS_WR"));
        assert!((70..120).contains(&cycles), "to the home node and back: {cycles}");
        rig.then().st(8, D);
        rig.expect(&format!("{vector} + BUS_ACCESS + BUS_ACCESS_WR + V6"));
    }
}

#[test]
fn after_a_read_snoop_the_next_store_requests_ownership() {
    let mut rig = modified(L1d);
    rig.snoop(Snoop::Shared, D);
    rig.then().st(8, D);
    rig.expect(&format!("{SNOOPED} + {L1_GIVES} + V6 + BUS_ACCESS + BUS_ACCESS_WR"));
    assert_eq!([dirty(&rig, L1d), dirty(&rig, Slc)], [Some(true), None]);
}

#[test]
fn reads_of_a_shared_line_request_nothing_and_near_atomics_request_ownership() {
    let mut rig = Rig::new(K3, &[D], &[]);
    rig.memory.share_line(0, VirtAddr(D)).expect("mapped");
    rig.ld(8, D);
    rig.expect("V3");
    rig.then().access(MemKind::AtomicStore, 8, D);
    assert_eq!(rig.value(PmuEvent::BUS_ACCESS_WR), 1);
    assert_eq!(rig.value(PmuEvent::L1D_CACHE_REFILL), 0);
}

#[test]
fn a_whole_line_write_to_a_shared_line_of_the_l2_requests_ownership() {
    let mut rig = Rig::new(K2, &[D], &[]);
    rig.memory.share_line(0, VirtAddr(D)).expect("mapped");
    rig.zva(D);
    rig.expect("V6 + L2D_CACHE + L2D_CACHE_WR + BUS_ACCESS + BUS_ACCESS_WR");
}

#[test]
fn a_stash_refills_the_l2_without_a_read() {
    // T.L2D_CACHE_REFILL.2, T.L2D_CACHE_REFILL_RD.3; decision A05
    let mut rig = Rig::new(K1, &[D], &[]);
    rig.stash(D).expect("L2D_CACHE_REFILL + BUS_ACCESS 2");
    assert_eq!(dirty(&rig, L2), Some(false));
    // T.L1D_CACHE_REFILL_INNER.3
    assert_eq!(rig.then().ld(8, D).source, DataSource::L2);
    rig.expect("L2D_CACHE_REFILL + BUS_ACCESS 2 + V2");
}

#[test]
fn a_stash_evicts_a_modified_line_like_any_allocation() {
    let set = l2_set();
    let mut rig = Rig::new(K1, &set, &[]);
    for line in &set[..8] {
        rig.place(*line, L2, true);
    }
    rig.stash(set[8]).expect(
        "L2D_CACHE_REFILL + L2D_CACHE_WB + L2D_CACHE_WB_VICTIM + BUS_ACCESS 3 + BUS_ACCESS_WR",
    );
}

#[test]
fn a_stash_of_a_present_line_replaces_its_data_and_allocates_nothing() {
    let mut rig = modified(L1d);
    rig.stash(D).expect("L1D_CACHE_INVAL + BUS_ACCESS 2");
    assert_eq!([dirty(&rig, L1d), dirty(&rig, L2)], [None, Some(false)]);
}

#[test]
fn three_snoops_of_one_cycle_start_two_transactions_in_it() {
    // T.BUS_ACCESS.4, invariant I06: a third transaction waits
    let mut rig = Rig::new(K3, &A[..3], &[]);
    let begin = rig.now;
    let answered = [0, 1, 2].map(|i| {
        let addr = VirtAddr(A[i]);
        let done = rig.memory.snoop(0, Snoop::Shared, addr, begin, &mut rig.counts);
        done.expect("mapped") - begin
    });
    assert_eq!(answered, [answered[0], answered[0], answered[0] + 1]);
    rig.expect("BUS_ACCESS 6");
}

#[test]
fn the_monitor_holds_until_another_agent_takes_the_line() {
    let marked = || {
        let mut rig = Rig::new(K3, &[D, A[0]], &[]);
        rig.exclusive(MemKind::Load, D);
        assert!(rig.memory.monitor_holds(0, VirtAddr(D + 0x38)), "the granule is the line");
        assert!(!rig.memory.monitor_holds(0, VirtAddr(D + 0x40)));
        rig
    };
    let keeps = [Snoop::Shared, Snoop::Forward, Snoop::Clean];
    let takes = [Snoop::Unique, Snoop::CleanInvalidate, Snoop::Invalidate, Snoop::MakeInvalid];
    for (snoops, held) in [(&keeps[..], true), (&takes[..], false)] {
        for snoop in snoops {
            let mut rig = marked();
            rig.snoop(*snoop, A[0]);
            assert!(rig.memory.monitor_holds(0, VirtAddr(D)), "another line was taken");
            rig.snoop(*snoop, D);
            assert_eq!(rig.memory.monitor_holds(0, VirtAddr(D)), held, "{snoop:?}");
        }
    }
    for kind in [MemKind::Store, MemKind::ClearExclusive] {
        let mut rig = marked();
        rig.exclusive(kind, D);
        assert!(!rig.memory.monitor_holds(0, VirtAddr(D)), "{kind:?}");
    }
}

#[test]
fn an_exclusive_pair_counts_as_a_load_and_a_store() {
    let mut rig = Rig::new(K3, &[D], &[]);
    rig.exclusive(MemKind::Load, D);
    rig.then().exclusive(MemKind::Store, D);
    rig.expect("V3 + V6");
}

#[test]
fn a_shared_line_that_a_setup_places_again_stays_shared() {
    let mut rig = Rig::new(K1, &[D], &[]);
    rig.memory.share_line(0, VirtAddr(D)).expect("mapped");
    rig.place(D, L2, false).st(8, D);
    assert_eq!(rig.value(PmuEvent::BUS_ACCESS_WR), 1, "it requests ownership");
}
