//! L1 caches with virtual index: lines of scattered pages, and one line under several addresses.
//! Guide sections 4.2.3, 4.2.11, 4.2.13 and 4.3.

use sim_cache::CacheLevel::{L1d, L1i, L2};
use sim_cache::config::{PageMapping, ReplacementKind};
use sim_cache::{CacheLevel, Defect, MemoryType, PageTarget, Ram, TlbLevel};
use sim_core::{AccessOutcome, CacheOp, Maintenance, MemKind, PmuEvent, Snoop, VirtAddr};

use super::rig::Base::{K0, K1};
use super::rig::{Rig, Tables, l2_set};

/// Address whose bits 13:12 are 0.
const D: u64 = 0x8000;
/// Pages whose bits 13:12 are 1 and 2.
const ALIAS: u64 = 0x4_1000;
const THIRD: u64 = 0x4_2000;

/// Returns a rig with the line of `D` in `first`, mapped at all three addresses, whose pages are in
/// the TLBs.
fn aliased(first: CacheLevel, dirty: bool) -> Rig {
    aliased_by(&Tables::quiet(), first, dirty)
}

fn aliased_by(tables: &Tables, first: CacheLevel, dirty: bool) -> Rig {
    let mut rig = Rig::with(tables, K0, &[], &[]);
    let target = PageTarget { frame: D >> 12, memory: MemoryType::Cacheable, tagged: false };
    for page in [D, ALIAS, THIRD] {
        rig.memory.map_page(VirtAddr(page), Some(target));
        rig.warm(page, TlbLevel::L1d).warm(page, TlbLevel::L1i);
    }
    rig.place(D, first, dirty);
    rig
}

#[test]
fn a_load_of_another_address_moves_a_clean_line() {
    let mut rig = aliased(L1d, false);
    let begin = rig.now;
    let reply = rig.ld(8, ALIAS);
    rig.expect("V2");
    assert_eq!(reply.done - begin, 13 + 6, "an L2 hit, and the recall of the copy");
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(D), L1d), None, "at most one copy");
    rig.then().ld(8, ALIAS);
    rig.expect("V2 + V3");
    rig.then().ld(8, D);
    rig.expect("2 V2 + V3");
}

#[test]
fn modified_data_moves_to_the_l2_as_a_victim() {
    // 4.2.11: evicted because a line is allocated for an access by this CPU; 4.2.13 excludes
    // refills
    let mut rig = aliased(L1d, true);
    rig.ld(8, ALIAS);
    rig.expect("V2 + L1D_CACHE_WB + L1D_CACHE_WB_VICTIM + L2D_CACHE + L2D_CACHE_WR");
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(ALIAS), L1d), Some(false));
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(D), L2), Some(true));
}

#[test]
fn copying_between_two_addresses_of_a_line_refills_for_each_access() {
    let mut rig = aliased(L1d, false);
    for _ in 0..10 {
        rig.then().ld(8, ALIAS);
        rig.then().st(8, D);
    }
    let back = "9 L1D_CACHE_WB + 9 L1D_CACHE_WB_VICTIM + 9 L2D_CACHE + 9 L2D_CACHE_WR";
    rig.expect(&format!("10 V2 + 10 V5 + {back}"));
}

#[test]
fn an_atomic_and_a_preload_move_a_line_too() {
    for kind in [MemKind::AtomicLoad, MemKind::PrefetchLoad] {
        let mut rig = aliased(L1d, true);
        rig.access(kind, 8, ALIAS);
        assert_eq!(rig.value(PmuEvent::L1D_CACHE_WB_VICTIM), 1, "{kind:?}");
        assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(D), L1d), None);
        let dirty = kind == MemKind::AtomicLoad;
        assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(ALIAS), L1d), Some(dirty));
    }
}

#[test]
fn a_preload_for_the_l2_leaves_the_copy_where_it_is() {
    let mut rig = aliased(L1d, true);
    rig.access(MemKind::PrefetchOuter { for_write: false }, 8, ALIAS);
    rig.expect("L2D_CACHE + L2D_CACHE_RD");
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(D), L1d), Some(true));
}

#[test]
fn a_line_of_zeroes_overwrites_the_copy_of_another_address() {
    let mut rig = aliased(L1d, true);
    rig.zva(ALIAS);
    let looks = "MEM_ACCESS + MEM_ACCESS_WR + L1D_TLB + L1D_TLB_WR + L1D_CACHE + L1D_CACHE_WR";
    rig.expect(&format!("{looks} + L2D_CACHE + L2D_CACHE_WR"));
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(D), L1d), None);
}

#[test]
fn a_stream_of_stores_recalls_the_copy_of_another_address() {
    let mut tables = Tables::quiet();
    tables.memory.l1d.write_stream_lines = 1;
    let mut rig = aliased_by(&tables, L1d, true);
    rig.st(64, 0x2_0000);
    rig.then().st(8, ALIAS + 8);
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(D), L1d), None);
    assert_eq!(rig.value(PmuEvent::L1D_CACHE_WB_VICTIM), 1);
    let before = rig.value(PmuEvent::L2D_CACHE_WR);
    rig.then().ld(8, D);
    assert_eq!(rig.value(PmuEvent::L2D_CACHE_WR) - before, 1, "its bytes drain before the read");
}

#[test]
fn snoops_find_a_line_in_the_set_of_any_address() {
    for addr in [D, ALIAS, THIRD] {
        let mut rig = aliased(L2, false);
        rig.place(addr, L1d, true);
        rig.snoop(Snoop::Unique, D);
        rig.expect(
            "2 BUS_ACCESS + L1D_CACHE_WB + L1D_CACHE_WB_CLEAN + L1D_CACHE_INVAL + L2D_CACHE_INVAL",
        );
        assert_eq!(rig.memory.resident_lines(0), [0, 0, 0]);
    }
}

#[test]
fn maintenance_by_one_address_reaches_the_copy_of_another() {
    let mut rig = aliased(L1d, true);
    rig.maintain(Maintenance::DataByAddress(CacheOp::CleanInvalidate), THIRD);
    assert_eq!(rig.value(PmuEvent::L1D_CACHE_WB_CLEAN), 1);
    assert_eq!(rig.value(PmuEvent::L1D_CACHE_INVAL), 1);
    assert_eq!(rig.memory.resident_lines(0), [0, 0, 0]);
    let mut rig = aliased(L1d, true);
    rig.place(ALIAS, L1d, true);
    let place = rig.memory.set_way_operand(0, VirtAddr(D), L1d).expect("the line is there");
    assert_eq!(place >> 6 & 0xFF, ALIAS >> 6 & 0xFF, "the last access selected the set");
    rig.maintain(Maintenance::DataBySetWay(CacheOp::CleanInvalidate), place);
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(ALIAS), L1d), None);
}

#[test]
fn evicting_an_l2_line_evicts_its_l1_copy_from_any_set() {
    // Decision A43
    let lines = l2_set();
    let mut tables = Tables::quiet();
    tables.memory.l2.replacement = ReplacementKind::Lru;
    let mut rig = Rig::with(&tables, K1, &lines, &[]);
    let frame = lines[0] >> 12;
    let target = PageTarget { frame, memory: MemoryType::Cacheable, tagged: false };
    rig.memory.map_page(VirtAddr(ALIAS), Some(target));
    rig.st(8, ALIAS);
    for line in &lines[1..] {
        rig.then().ld(8, *line);
    }
    assert_eq!(rig.value(PmuEvent::L1D_CACHE_WB_VICTIM), 1);
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(ALIAS), L1d), None);
    assert!(rig.memory.is_inclusive(0));
}

#[test]
fn code_fetched_under_several_addresses_is_invalidated_under_all() {
    let mut rig = aliased(L1i, false);
    rig.fetch(ALIAS);
    rig.then().fetch(D);
    rig.then().fetch(ALIAS);
    rig.expect("V8 + 2 V9");
    rig.maintain(Maintenance::InstByAddress, D);
    rig.then().fetch(ALIAS);
    rig.then().fetch(D);
    rig.expect("3 V8 + 2 V9");
    // 3.2.12: after this core writes under a third address, the others are fetched again.
    rig.then().st(8, THIRD);
    rig.then().fetch(ALIAS);
    rig.then().fetch(D);
    rig.expect("5 V8 + 2 V9 + V5");
}

/// Returns tables with scattered frames, where a physical index would differ.
fn scattered() -> Tables {
    let mut tables = Tables::quiet();
    tables.memory.pages.mapping = PageMapping::Mixed;
    tables
}

#[test]
fn a_contiguous_range_of_the_cache_size_stays_resident_for_any_page_map() {
    let mut rig = Rig::with(&scattered(), K0, &[], &[]);
    for pass in 0..2 {
        // 373 and 1024 have no common divisor: every line once, in an order without a pattern per
        // set.
        for i in 0..1024 {
            rig.then().ld(8, 0x10_0000 + i * 373 % 1024 * 64);
            rig.then().fetch(0x20_0000 + i * 373 % 1024 * 64);
        }
        assert_eq!(rig.value(PmuEvent::L1D_CACHE_REFILL), 1024, "pass {pass}");
        assert_eq!(rig.value(PmuEvent::L1I_CACHE_REFILL), 1024, "pass {pass}");
    }
}

#[test]
fn a_loop_over_thirteen_lines_of_one_virtual_set_misses_with_each() {
    let mut rig = Rig::with(&scattered(), K0, &[], &[]);
    let round = |rig: &mut Rig| (0..13).for_each(|i| _ = rig.then().fetch(0x40_0000 + i * 0x4000));
    round(&mut rig);
    for rounds in 2..6 {
        round(&mut rig);
        assert_eq!(rig.value(PmuEvent::L1I_CACHE_REFILL), 13 * rounds);
    }
    let mut rig = Rig::with(&scattered(), K0, &[], &[]);
    // Thirteen consecutive lines lie in thirteen sets.
    for _ in 0..3 {
        (0..13).for_each(|i| _ = rig.then().fetch(0x40_0000 + i * 0x40));
    }
    assert_eq!(rig.value(PmuEvent::L1I_CACHE_REFILL), 13);
}

#[test]
fn recalling_a_copy_detects_its_broken_tag() {
    // 3.2.20: the line of an uncorrectable tag is lost, including modified data
    let mut rig = aliased(L1d, true);
    rig.memory
        .inject(0, VirtAddr(D), Ram::L1dTag, Defect::Uncorrectable)
        .expect("the page is mapped");
    let reply = rig.ld(8, ALIAS);
    assert_eq!(rig.value(PmuEvent::MEMORY_ERROR), 1);
    assert!(reply.outcome.has(AccessOutcome::EXTERNAL), "poison came with the data");
    let mut rig = aliased(L1d, false);
    rig.place(THIRD, L1d, false);
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(D), L1d), None, "a setup moves it too");
    assert_eq!(rig.memory.resident_lines(0), [0, 1, 1]);
}

#[test]
fn a_streaming_store_reads_no_broken_tag_of_another_set() {
    let mut tables = Tables::quiet();
    tables.memory.l1d.write_stream_lines = 1;
    let mut rig = Rig::with(&tables, K1, &[D, ALIAS], &[]);
    for part in 0..8 {
        rig.then().st(8, D + 0x100 + 8 * part);
    }
    rig.memory.inject(0, VirtAddr(ALIAS), Ram::L1dTag, Defect::Correctable).expect("mapped");
    rig.then().st(8, D);
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(D), L1d), None, "it streams");
    assert_eq!(rig.value(PmuEvent::MEMORY_ERROR), 0);
}
