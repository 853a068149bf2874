//! Pairs of instructions that rename fuses into one operation.
//!
//! Sources:
//! - LLVM's feature list of this core: AES pairs, ADRP with ADD, compare with select.
//! - A measurement on the related core A710: NOP pairs. NOP with other instructions (A78) is not
//!   assumed, because only pairs of NOP were measured.
//! - The A710 feature list: compare with branch [assumed here: the N2 list lacks it, the family has
//!   it].
//! - The optimization guides of cores with the same MOP cache (A78, A720): CMP fuses with a select,
//!   CMN and TST do not. They do not name ADRP with ADD; LLVM's list of this core does.

use crate::fusion::Fusion;
use crate::inst::{BranchKind, Inst, Reg, Rename};

/// Returns the kinds of pairs that an instruction may be part of.
pub(crate) fn fusion_of(inst: &Inst) -> Fusion {
    let kind = |is: bool, kinds: u8| if is { kinds } else { 0 };
    Fusion {
        first_of: kind(is_first_by_word(inst), Fusion::BY_WORD)
            | kind(is_compare(inst) && !is_addition(inst), Fusion::COMPARE_AND_SELECT)
            | kind(is_compare(inst), Fusion::COMPARE_AND_BRANCH)
            | kind(is_test(inst), Fusion::COMPARE_AND_BRANCH),
        second_of: Fusion::BY_WORD
            | kind(is_select(inst), Fusion::COMPARE_AND_SELECT)
            | kind(is_branch_on_flags(inst), Fusion::COMPARE_AND_BRANCH),
    }
}

/// Returns true when `second`, the next instruction in program order, fuses with `first`.
#[inline]
pub fn fuses(first: &Inst, second: &Inst) -> bool {
    first.fusion.leads(second.fusion).unwrap_or_else(|| fuse_by_word(first, second))
}

fn fuse_by_word(first: &Inst, second: &Inst) -> bool {
    both_nop(first, second) || aes_round(first, second) || page_address(first, second)
}

/// Returns true if the words must decide whether this instruction leads a pair.
fn is_first_by_word(first: &Inst) -> bool {
    let round = first.word & 0xffff_fc00;
    first.word == NOP
        || AES_PAIRS.iter().any(|&(_, word, _)| word == round)
        || SVE_AES_PAIRS.iter().any(|&(word, _)| word == round)
        || is_page_address(first)
}

fn both_nop(first: &Inst, second: &Inst) -> bool {
    first.word == NOP && second.word == NOP && first.rename == Rename::Nop
}

const NOP: u32 = 0xd503_201f;

/// Opcode mask, round step, mix columns step.
const AES_PAIRS: [(u32, u32, u32); 2] =
    [(0xffff_fc00, 0x4e28_4800, 0x4e28_6800), (0xffff_fc00, 0x4e28_5800, 0x4e28_7800)];
/// Round step and mix columns step of the SVE forms. The mix step is destructive, so its picture
/// has no source.
const SVE_AES_PAIRS: [(u32, u32); 2] = [(0x4522_e000, 0x4520_e000), (0x4522_e400, 0x4520_e400)];

/// Returns true for `AESE` with `AESMC` and `AESD` with `AESIMC`, all on one register; Advanced
/// SIMD and SVE forms.
fn aes_round(first: &Inst, second: &Inst) -> bool {
    let destination = first.word & 0x1f;
    let mixes_destination = second.word & 0x1f == destination;
    AES_PAIRS.iter().any(|&(mask, round, mix)| {
        first.word & mask == round
            && second.word & mask == mix
            && mixes_destination
            && second.word >> 5 & 0x1f == destination
    }) || SVE_AES_PAIRS.iter().any(|&(round, mix)| {
        first.word & 0xffff_fc00 == round && second.word & 0xffff_ffe0 == mix && mixes_destination
    })
}

/// Returns true for `ADRP Xd` with `ADD Xd, Xd, #imm`.
fn page_address(first: &Inst, second: &Inst) -> bool {
    let is_add = second.word & 0xffc0_0000 == 0x9100_0000;
    let register = first.word & 0x1f;
    is_page_address(first)
        && is_add
        && second.word & 0x1f == register
        && second.word >> 5 & 0x1f == register
}

/// Returns true for `ADRP`.
fn is_page_address(inst: &Inst) -> bool {
    inst.word & 0x9f00_0000 == 0x9000_0000
}

/// Returns true for instructions that fuse with `CMP`: `CSEL`, or `CSET` (a `CSINC` of the zero
/// register).
fn is_select(second: &Inst) -> bool {
    let is_csel = second.word & 0x7fe0_0c00 == 0x1a80_0000;
    let is_cset = second.word & 0x7fff_0fe0 == 0x1a9f_07e0;
    is_csel || is_cset
}

/// Returns true for `B.cond`, which fuses with `CMP`, `CMN`, `TST` or `BICS` to the zero register.
fn is_branch_on_flags(second: &Inst) -> bool {
    second.branch == BranchKind::Conditional && second.srcs() == [Reg::NZCV]
}

/// Returns true for `ADDS`, `SUBS` of one cycle (immediate, or register with LSL of at most 4)
/// without destination.
fn is_compare(inst: &Inst) -> bool {
    let is_immediate = inst.word & 0x3f80_0000 == 0x3100_0000;
    let is_register = inst.word & 0x3f20_0000 == 0x2b00_0000;
    (is_immediate || is_register) && sets_flags_in_one_cycle(inst)
}

/// Returns true for a compare that is `CMN`.
fn is_addition(inst: &Inst) -> bool {
    inst.word >> 30 & 1 == 0
}

/// Returns true for `ANDS`, `BICS` of one cycle without destination.
fn is_test(inst: &Inst) -> bool {
    let is_immediate = inst.word & 0x7f80_0000 == 0x7200_0000;
    let is_register = inst.word & 0x7f00_0000 == 0x6a00_0000;
    (is_immediate || is_register) && sets_flags_in_one_cycle(inst)
}

fn sets_flags_in_one_cycle(inst: &Inst) -> bool {
    inst.dsts() == [Reg::NZCV] && inst.uops().iter().all(|group| group.latency == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode;

    fn fuse_words(first: u32, second: u32) -> bool {
        let (first, second) = (decode(first), decode(second));
        assert!(first.fusion.first_of != 0 || !fuses(&first, &second), "{first:?}");
        fuses(&first, &second)
    }

    #[test]
    fn an_aes_round_fuses_on_one_register_only() {
        // AESE v1, v2 ; AESMC v1, v1 / AESMC v1, v3 / AESIMC v1, v1
        assert!(fuse_words(0x4e28_4841, 0x4e28_6821));
        assert!(!fuse_words(0x4e28_4841, 0x4e28_6861));
        assert!(!fuse_words(0x4e28_4841, 0x4e28_7821));
        // AESD v1, v2 ; AESIMC v1, v1
        assert!(fuse_words(0x4e28_5841, 0x4e28_7821));
    }

    #[test]
    fn a_page_address_fuses_with_its_low_part() {
        // ADRP x0 ; ADD x0, x0, #16 / ADD x1, x0, #16
        assert!(fuse_words(0x9000_0000, 0x9100_4000));
        assert!(!fuse_words(0x9000_0000, 0x9100_4001));
    }

    #[test]
    fn a_compare_fuses_with_select_set_and_branch() {
        let cmp = 0xeb01_001f; // CMP x0, x1
        assert!(fuse_words(cmp, 0x9a83_0040)); // CSEL x0, x2, x3, eq
        assert!(fuse_words(cmp, 0x9a9f_17e0)); // CSET x0, eq
        assert!(fuse_words(cmp, 0x5400_0040)); // B.EQ
        assert!(!fuse_words(cmp, 0x9a83_0440)); // CSINC x0, x2, x3, eq
        assert!(!fuse_words(0xeb01_0002, 0x5400_0040)); // SUBS x2, x0, x1
        assert!(!fuse_words(0xeb01_201f, 0x5400_0040)); // CMP x0, x1, LSL #8
        assert!(!fuse_words(cmp, 0xb400_0040)); // CBZ x0
    }

    #[test]
    fn a_compare_with_the_negative_fuses_with_a_branch_and_not_with_a_select() {
        let cmn = 0xab01_001f; // CMN x0, x1
        assert!(fuse_words(cmn, 0x5400_0040)); // B.EQ
        assert!(!fuse_words(cmn, 0x9a83_0040)); // CSEL x0, x2, x3, eq
        assert!(!fuse_words(cmn, 0x9a9f_17e0)); // CSET x0, eq
    }

    #[test]
    fn a_test_fuses_with_a_branch_and_not_with_a_select() {
        let tst = 0xf240_001f; // TST x0, #1
        assert!(fuse_words(tst, 0x5400_0040));
        assert!(!fuse_words(tst, 0x9a83_0040));
    }

    #[test]
    fn most_instructions_lead_no_pair() {
        // ADD x0, x1, x2 ; LDR x0, [x1] ; B.EQ ; SUBS x2, x0, x1
        for word in [0x8b02_0020, 0xf940_0020, 0x5400_0040, 0xeb01_0002] {
            assert!(decode(word).fusion.first_of == 0);
        }
    }

    #[test]
    fn two_nops_fuse_and_other_hints_do_not() {
        assert!(fuse_words(0xd503_201f, 0xd503_201f));
        assert!(!fuse_words(0xd503_201f, 0xd503_203f));
    }
}
