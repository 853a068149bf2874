//! Tag-checked accesses (Memory Tagging Extension): guide sections 4.6.12 to 4.6.14.

use sim_cache::{MemoryType, PageTarget, TlbLevel};
use sim_core::{
    AccessOutcome, MemKind, MemReply, MemRequest, MemoryPort, PmuEvent, TagUse, VirtAddr,
};

use super::rig::Base::K3;
use super::rig::Rig;

const D: u64 = 0x8000;

/// Returns `addr` with a tag in bits 59 to 56.
const fn tagged(tag: u64, addr: u64) -> u64 {
    tag << 56 | addr
}

/// Returns a rig with the line at `D` in the L1, its page tagged, its memory with allocation tag 5,
/// and checks on.
fn checked() -> Rig {
    let mut rig = Rig::new(K3, &[D, D + 0x40], &[]);
    rig.memory.flush_tlbs();
    let target = PageTarget { frame: D >> 12, memory: MemoryType::Cacheable, tagged: true };
    rig.memory.map_page(VirtAddr(D), Some(target));
    rig.warm(D, TlbLevel::L2).warm(D, TlbLevel::L1d);
    rig.memory.set_tag(VirtAddr(D), 64, 5);
    rig.memory.set_tag_checks(true);
    rig
}

fn mismatch(reply: MemReply) -> bool {
    assert_eq!(
        reply.outcome.has(AccessOutcome::TAG_MISMATCH),
        reply.outcome.has(AccessOutcome::FAULT),
        "a failed check is a synchronous abort"
    );
    reply.outcome.has(AccessOutcome::TAG_MISMATCH)
}

/// Returns `MEM_ACCESS_RD_CHECKED` and `MEM_ACCESS_WR_CHECKED`.
fn halves(rig: &Rig) -> (u64, u64) {
    (rig.value(PmuEvent::MEM_ACCESS_RD_CHECKED), rig.value(PmuEvent::MEM_ACCESS_WR_CHECKED))
}

#[test]
fn checked_accesses_count_whether_they_pass_or_fail() {
    // T.MEM_ACCESS_CHECKED.1 and .2, T.MEM_ACCESS_RD_CHECKED.1, T.MEM_ACCESS_WR_CHECKED.1
    let mut rig = checked();
    assert!(!mismatch(rig.ld(8, tagged(5, D))));
    assert!(!mismatch(rig.then().st(8, tagged(5, D))));
    rig.expect("V3 + V6 + 2 MEM_ACCESS_CHECKED + MEM_ACCESS_RD_CHECKED + MEM_ACCESS_WR_CHECKED");
    assert!(mismatch(rig.then().ld(8, tagged(4, D))));
    assert!(mismatch(rig.then().st(8, tagged(4, D))));
    assert_eq!(halves(&rig), (2, 2));
    assert_eq!(rig.value(PmuEvent::MEM_ACCESS), 4);
    assert_eq!(rig.value(PmuEvent::L1D_CACHE_WR), 1, "an aborted store writes nothing");
}

#[test]
fn nothing_is_checked_with_checks_off_or_in_untagged_memory() {
    // T.MEM_ACCESS_CHECKED.3
    let mut rig = checked();
    rig.memory.set_tag_checks(false);
    assert!(!mismatch(rig.ld(8, tagged(4, D))));
    rig.expect("V3");
    let mut rig = Rig::new(K3, &[D], &[]);
    rig.memory.set_tag_checks(true);
    assert!(!mismatch(rig.ld(8, tagged(4, D))));
    rig.expect("V3");
}

#[test]
fn the_tag_is_not_part_of_the_address() {
    // Line and translation are the same for every tag
    let mut rig = checked();
    rig.memory.set_tag_checks(false);
    for tag in 0..16 {
        rig.then().ld(8, tagged(tag, D));
    }
    rig.expect("16 V3");
}

#[test]
fn an_access_over_two_tags_needs_both() {
    let mut rig = checked();
    rig.memory.set_tag(VirtAddr(D + 16), 16, 6);
    assert!(!mismatch(rig.ld(8, tagged(5, D + 8))));
    assert!(mismatch(rig.ld(8, tagged(5, D + 12))));
    assert!(!mismatch(rig.ld(8, tagged(6, D + 16))));
    assert!(mismatch(rig.ld(32, tagged(5, D))), "the second operation of a pair");
    assert_eq!(halves(&rig).0, 5);
}

#[test]
fn atomics_are_checked_in_the_halves_in_which_they_count() {
    // 4.6.7, 4.6.8, decision A20
    for (kind, counted) in [
        (MemKind::AtomicLoad, (1, 1)),
        (MemKind::AtomicStore, (0, 1)),
        (MemKind::AtomicSwap, (1, 0)),
    ] {
        let mut rig = checked();
        assert!(!mismatch(rig.access(kind, 8, tagged(5, D))));
        assert_eq!(halves(&rig), counted);
    }
    let mut rig = checked();
    assert!(mismatch(rig.access(MemKind::AtomicLoad, 8, tagged(4, D))));
    assert_eq!(halves(&rig), (1, 0), "the write half is not reached");
}

#[test]
fn preloads_and_exempt_accesses_are_not_checked() {
    let mut rig = checked();
    assert!(!mismatch(rig.access(MemKind::PrefetchLoad, 1, tagged(4, D))));
    for tags in [TagUse::Unchecked, TagUse::Reads] {
        let addr = VirtAddr(tagged(4, D));
        let request = MemRequest::new(VirtAddr(0), addr, 8, MemKind::Load);
        let request = MemRequest { tags, ..request };
        assert!(!mismatch(rig.memory.port(0).access(request, rig.now, &mut rig.counts)));
    }
    assert_eq!(halves(&rig), (0, 0));
}

#[test]
fn a_store_of_tags_changes_them_and_is_not_checked() {
    let mut rig = checked();
    let request = MemRequest::new(VirtAddr(0), VirtAddr(tagged(9, D)), 32, MemKind::Store);
    let request = MemRequest { tags: TagUse::Writes, ..request };
    let mut port = rig.memory.port(0);
    assert!(!mismatch(port.translate_store(request, rig.now, &mut rig.counts)));
    assert!(!mismatch(port.access(request, rig.now + 1, &mut rig.counts)));
    rig.expect("2 V6");
    assert!(!mismatch(rig.then().ld(8, tagged(9, D + 16))));
    assert!(mismatch(rig.then().ld(8, tagged(9, D + 32))), "the third granule keeps its tag");
}

#[test]
fn a_whole_line_written_by_zva_is_one_checked_write() {
    let mut rig = checked();
    rig.memory.set_tag(VirtAddr(D + 64), 16, 1);
    assert!(!mismatch(rig.zva(tagged(5, D + 8))), "an address inside the line selects the line");
    assert_eq!(halves(&rig), (0, 1));
    rig.memory.set_tag(VirtAddr(D + 48), 16, 1);
    assert!(mismatch(rig.then().zva(tagged(5, D))), "all four granules are checked");
}

#[test]
fn stage_2_as_it_is_switched_on_leaves_tagged_memory_checked() {
    let mut rig = checked();
    rig.memory.flush_tlbs();
    rig.memory.enable_stage2(4096).expect("a granule");
    assert!(!mismatch(rig.ld(8, tagged(5, D))));
    assert!(mismatch(rig.then().ld(8, tagged(4, D))));
    assert_eq!(halves(&rig), (2, 0));
}
