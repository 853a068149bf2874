//! Invariants of every word, sampled over the whole encoding space.

use proptest::prelude::*;
use sim_core::PmuEvent;
use sim_isa::{BranchKind, Inst, MemOp, Reg, Rename, Role, Special, decode};

/// Panics unless the description of `word` is internally consistent.
fn check(word: u32) {
    let inst = decode(word);
    assert_eq!(inst.word, word);
    check_registers(&inst);
    check_uops(&inst);
    check_memory(&inst);
    check_events(&inst);
}

fn check_registers(inst: &Inst) {
    let word = inst.word;
    assert!(inst.n_addr_srcs <= inst.n_srcs, "{word:08x}");
    for reg in inst.srcs().iter().chain(inst.dsts()) {
        assert!((reg.0 as usize) < Reg::COUNT, "{word:08x}: {reg:?}");
    }
    if inst.accumulate.family != 0 && inst.accumulate.src != u8::MAX {
        assert!(inst.accumulate.src < inst.n_srcs, "{word:08x}: no accumulator");
        assert!(inst.accumulate.src >= inst.n_addr_srcs, "{word:08x}");
    }
}

fn check_uops(inst: &Inst) {
    let word = inst.word;
    let total: u32 = inst.uops().iter().map(|group| u32::from(group.count)).sum();
    assert_eq!(u32::from(inst.n_mops), total.div_ceil(2).max(1), "{word:08x}");
    for group in inst.uops() {
        assert!(group.pipes.0 != 0 && group.count > 0 && group.occupancy > 0, "{word:08x}");
    }
    let roles: Vec<Role> = inst.uops().iter().map(|group| group.role).collect();
    if roles.contains(&Role::BaseUpdate) {
        let base = inst.dsts().last().expect("a base update has a destination");
        assert!(inst.srcs()[..inst.n_addr_srcs as usize].contains(base), "{word:08x}");
    }
    if roles.contains(&Role::AfterLoad) {
        assert!(roles.contains(&Role::Load), "{word:08x}");
    }
    let takes_no_pipe = matches!(inst.rename, Rename::Nop | Rename::Zero);
    assert!(!takes_no_pipe || total == 0, "{word:08x}");
}

fn check_memory(inst: &Inst) {
    let word = inst.word;
    let has = |role| inst.uops().iter().any(|group| group.role == role);
    match inst.mem.op {
        MemOp::None => assert!(!has(Role::Load) && !has(Role::StoreAddr), "{word:08x}"),
        MemOp::Store | MemOp::AtomicStore | MemOp::ZeroLine => {
            assert!(has(Role::StoreAddr), "{word:08x}");
        }
        MemOp::Load | MemOp::AtomicLoad | MemOp::AtomicSwap => {
            assert!(has(Role::Load), "{word:08x}")
        }
        _ => {}
    }
    if inst.mem.op != MemOp::None {
        assert!(inst.mem.bytes > 0 && inst.mem.align.is_power_of_two(), "{word:08x}");
        assert!(u16::from(inst.mem.align) <= inst.mem.bytes, "{word:08x}");
        assert_eq!(inst.branch, BranchKind::None, "{word:08x}");
    }
}

fn check_events(inst: &Inst) {
    let word = inst.word;
    let raises = |event| inst.events.contains(event);
    // The guide's subsets: 4.8.8, 4.8.9.
    for part in [PmuEvent::LDREX_SPEC, PmuEvent::RC_LD_SPEC, PmuEvent::SVE_LDFF_SPEC] {
        assert!(!raises(part) || raises(PmuEvent::LD_SPEC), "{word:08x}: {part:?}");
    }
    assert!(!raises(PmuEvent::RC_ST_SPEC) || raises(PmuEvent::ST_SPEC), "{word:08x}");
    assert!(!raises(PmuEvent::BR_RETURN_SPEC) || raises(PmuEvent::BR_INDIRECT_SPEC), "{word:08x}");
    let classes = [PmuEvent::DP_SPEC, PmuEvent::ASE_SPEC, PmuEvent::VFP_SPEC, PmuEvent::LD_SPEC];
    assert!(classes.iter().filter(|event| raises(**event)).count() <= 1, "{word:08x}");
    let precisions = [PmuEvent::FP_HP_SPEC, PmuEvent::FP_SP_SPEC, PmuEvent::FP_DP_SPEC];
    let n_precisions = precisions.iter().filter(|event| raises(**event)).count();
    assert!(n_precisions <= 1, "{word:08x}");
    assert!(inst.fp_element_ops == 0 || n_precisions == 1, "{word:08x}");
    if inst.special == Special::Unknown {
        assert!(inst.events.0 == 0 && inst.n_srcs == 0 && inst.n_dsts == 0, "{word:08x}");
        assert_eq!(inst.n_mops, 1, "{word:08x}");
    }
}

#[test]
fn descriptions_are_consistent_over_the_whole_space() {
    // The stride is prime, so every low field takes all its values.
    for word in (0..=u32::MAX).step_by(4093) {
        check(word);
    }
}

#[test]
fn descriptions_are_consistent_for_every_opcode_with_common_registers() {
    for high in (0..1_u32 << 22).step_by(3) {
        check(high << 10 | 0x041);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn descriptions_are_consistent_for_random_words(word in any::<u32>()) {
        check(word);
    }
}
