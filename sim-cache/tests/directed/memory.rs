//! Memory accesses, bus, alignment: guide section 4.6.

use sim_cache::TlbLevel;
use sim_core::{MemKind, PmuEvent};

use super::rig::Base::{K0, K1, K2, K3};
use super::rig::{Rig, Tables};

const D: u64 = 0x8000;

/// Returns a rig with lines around the ends of the first line and of the page, all in the L1.
fn warm() -> Rig {
    Rig::new(K3, &[D, D + 0x40, D + 0xFC0, 0x9000], &[])
}

#[test]
fn an_access_counts_once_wherever_its_data_is() {
    // T.MEM_ACCESS.1, .6
    for base in [K1, K2, K3] {
        let mut rig = Rig::new(base, &[D], &[]);
        rig.ld(8, D);
        assert_eq!(rig.value(PmuEvent::MEM_ACCESS), 1);
    }
    let mut rig = warm();
    rig.empty_tlbs().ld(8, D);
    rig.expect("V3 + walk ld");
}

#[test]
fn loads_split_at_lines_and_every_16_bytes() {
    // T.MEM_ACCESS.3, T.MEM_ACCESS_RD.3 and .4, T.LD_ALIGN_LAT.1 to .6, T.LDST_ALIGN_LAT.2
    let split = "LD_ALIGN_LAT + LDST_ALIGN_LAT";
    for (bytes, addr, expected) in [
        (8, D + 0x3C, format!("2 V3 + {split}")),
        (16, D + 0x1, format!("V3 + {split}")),
        (16, D + 0x4, "V3".to_owned()),
        (8, D + 0x1, "V3".to_owned()),
        (4, D + 0x1, "V3".to_owned()),
        (16, D + 0x31, format!("2 V3 + {split}")),
        (16, D + 0x34, format!("2 V3 + {split}")),
        (32, D, "2 V3".to_owned()),
        (64, D, "4 V3".to_owned()),
        (8, D + 0xFFC, format!("2 V3 + {split}")),
    ] {
        let mut rig = warm();
        rig.ld(bytes, addr);
        rig.expect(&expected);
    }
}

#[test]
fn only_a_page_end_delays_a_store() {
    // T.ST_ALIGN_LAT.1 and .2, T.MEM_ACCESS_WR.4, decision A17
    let mut rig = warm();
    rig.st(8, D + 0xFFC);
    rig.expect("2 V6 + ST_ALIGN_LAT + LDST_ALIGN_LAT");
    let mut rig = warm();
    rig.st(8, D + 0x3C);
    rig.expect("2 V6");
    // The granule in use decides: an end of 4 KiB inside a page of 64 KiB is not a page end.
    let mut tables = Tables::quiet();
    tables.memory.pages.page_bytes = 1 << 16;
    let mut rig = Rig::with(&tables, K3, &[D + 0xFC0, 0x9000], &[]);
    rig.st(8, D + 0xFFC);
    rig.expect("2 V6");
}

#[test]
fn fetches_preloads_and_walks_do_not_count_as_memory_accesses() {
    // T.MEM_ACCESS.4 and .5, T.MEM_ACCESS_RD.2
    let mut rig = Rig::new(K0, &[], &[]);
    rig.fetch(0x1_0000);
    rig.then().access(MemKind::PrefetchLoad, 8, D);
    assert_eq!(rig.value(PmuEvent::MEM_ACCESS), 0);
    assert_eq!(rig.value(PmuEvent::DTLB_WALK) + rig.value(PmuEvent::ITLB_WALK), 2);
}

#[test]
fn non_cacheable_accesses_are_bus_transactions() {
    // T.MEM_ACCESS.7, T.BUS_ACCESS_WR.1, T.LL_CACHE_RD.8, T.L1D_CACHE_REFILL.10
    let tlb_load = "MEM_ACCESS + MEM_ACCESS_RD + L1D_TLB + L1D_TLB_RD + BUS_ACCESS + BUS_ACCESS_RD";
    let tlb_store =
        "MEM_ACCESS + MEM_ACCESS_WR + L1D_TLB + L1D_TLB_WR + BUS_ACCESS + BUS_ACCESS_WR";
    let mut rig = Rig::new(K1, &[], &[]);
    rig.non_cacheable(D).warm(D, TlbLevel::L2).warm(D, TlbLevel::L1d);
    rig.ld(8, D);
    rig.then().st(8, D);
    rig.expect(&format!("{tlb_load} + {tlb_store}"));
    rig.then().ld(8, D + 0x3C);
    rig.expect(&format!(
        "{tlb_load} + {tlb_store} + {tlb_load} + {tlb_load} + LD_ALIGN_LAT + LDST_ALIGN_LAT"
    ));
}

#[test]
fn a_non_cacheable_access_that_crosses_the_width_of_the_bus_is_two_transactions() {
    // T.BUS_ACCESS.6: the bus interface splits the access (3.2.16, 4.6.2), and each part is a
    // memory access (4.6.7, 4.6.8)
    for (addr, transactions) in [(D + 0x18, 1), (D + 0x1C, 2), (D + 0x21, 1)] {
        let mut rig = Rig::new(K1, &[], &[]);
        rig.non_cacheable(D).warm(D, TlbLevel::L2).warm(D, TlbLevel::L1d);
        rig.ld(8, addr);
        rig.then().st(8, addr);
        let of = |event| rig.value(event);
        let accesses = [of(PmuEvent::MEM_ACCESS_RD), of(PmuEvent::MEM_ACCESS_WR)];
        assert_eq!(accesses, [transactions; 2]);
        assert_eq!(of(PmuEvent::BUS_ACCESS_RD), transactions, "a load of {addr:#x}");
        assert_eq!(of(PmuEvent::BUS_ACCESS_WR), transactions, "a store to {addr:#x}");
        assert_eq!(of(PmuEvent::BUS_ACCESS), 2 * transactions);
    }
}

#[test]
fn data_side_and_instruction_side_each_count_one_bus_read() {
    // T.BUS_ACCESS.1 and .2
    let mut rig = Rig::new(K1, &[D], &[0x1_0000]);
    rig.ld(8, D);
    rig.then().fetch(0x1_0000);
    rig.expect("V1 + V7");
    let before = rig.counts.clone();
    rig.then().ld(8, D);
    assert_eq!(rig.counts.since(&before).value(PmuEvent::BUS_ACCESS), 0);
}
