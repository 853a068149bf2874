//! Classes of instruction words that a few bits decide. They are cheap enough for every executed
//! instruction, which [`decode`](crate::decode()) is not.

use crate::decode;
use crate::inst::MemOp;

/// Returns true for SVE words.
pub fn is_sve(word: u32) -> bool {
    word & 0x1e00_0000 == 0x0400_0000
}

/// Returns true for SVE loads, stores and prefetches.
pub fn is_sve_access(word: u32) -> bool {
    word & 0x9e00_0000 == 0x8400_0000
}

/// Returns true for `PRFM` and `PRFUM`, also with a reserved operation, which does nothing.
pub fn is_prfm(word: u32) -> bool {
    let is_literal = word & 0xff00_0000 == 0xd800_0000;
    let is_scaled = word & 0xffc0_0000 == 0xf980_0000;
    let is_unscaled = word & 0xffe0_0c00 == 0xf880_0000;
    let is_by_register = word & 0xffe0_0c00 == 0xf8a0_0800;
    is_literal || is_scaled || is_unscaled || is_by_register
}

/// Returns true for `PRFM`, `PRFUM` and SVE prefetches.
pub fn is_prefetch(word: u32) -> bool {
    let is_preload = |op| matches!(op, MemOp::PrefetchLoad | MemOp::PrefetchStore);
    is_prfm(word) || is_sve_access(word) && is_preload(decode(word).mem.op)
}

/// Returns true for `STXR`, `STLXR`, `STXP`, `STLXP` and their byte and halfword forms, which may
/// fail to store.
pub fn is_store_exclusive(word: u32) -> bool {
    word & 0x3fe0_0000 == 0x0800_0000 || word & 0xbfe0_0000 == 0x8820_0000
}

/// Returns true for loads and stores of tags, such as `LDG` and `STG`.
pub fn is_tag_access(word: u32) -> bool {
    word & 0xff20_0000 == 0xd920_0000
}

/// Returns true for the words of the group "loads and stores", which has no SVE.
fn is_in_access_group(word: u32) -> bool {
    word & 0x0a00_0000 == 0x0800_0000
}

/// Returns true for loads, stores and prefetches, SVE ones included.
pub fn is_load_or_store(word: u32) -> bool {
    is_in_access_group(word) || is_sve_access(word)
}

/// Returns true for words that access memory whenever they complete. Leaves out SVE, where every
/// element may be inactive, and accesses to tags, which engines report differently.
pub fn always_accesses(word: u32) -> bool {
    is_in_access_group(word) && !is_tag_access(word) && !is_prfm(word) && !is_store_exclusive(word)
}

/// Returns true for words that may access data memory: loads, stores, prefetches and `DC`.
pub fn may_access(word: u32) -> bool {
    let is_dc = word & 0xffff_f000 == 0xd50b_7000;
    is_load_or_store(word) || is_dc
}

/// Returns true for `DC ZVA` and `DC GZVA`, which fill a line with zeros.
pub fn is_zero_line(word: u32) -> bool {
    matches!(word & 0xffff_ffe0, 0xd50b_7420 | 0xd50b_7480)
}

/// Returns true for words that never raise an exception when they run: those that calculate,
/// without SVE and without authenticating a pointer. A word that is not allocated does not run.
pub fn never_faults(word: u32) -> bool {
    let is_immediate = word & 0x1c00_0000 == 0x1000_0000;
    let is_of_registers = word & 0x0a00_0000 == 0x0a00_0000;
    // The second is PACGA.
    let authenticates = word & 0x7fff_0000 == 0x5ac1_0000 || word & 0xffe0_fc00 == 0x9ac0_3000;
    (is_immediate || is_of_registers) && !authenticates
}

/// Returns true for words that [`never_faults`] accepts and that an operating system cannot trap:
/// those without floating-point and vector registers (`CPACR_EL1.FPEN`).
pub fn never_traps(word: u32) -> bool {
    let is_vector = word & 1 << 26 != 0;
    never_faults(word) && !is_vector
}

/// Returns true for `RET`.
pub fn is_return(word: u32) -> bool {
    word & 0xffff_fc1f == 0xd65f_0000
}

/// Returns true for words that end in an exception instead of completing: `BRK`, `HLT`, `UDF`.
pub fn never_completes(word: u32) -> bool {
    let is_brk = word & 0xffe0_001f == 0xd420_0000;
    let is_hlt = word & 0xffe0_001f == 0xd440_0000;
    let is_udf = word >> 16 == 0;
    is_brk || is_hlt || is_udf
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefetches_are_not_among_the_sure_accesses() {
        // PRFM, PRFUM, PRFM by register, PRFM of a literal, PRFM with a reserved operation.
        for word in [0xf980_0020u32, 0xf881_0020, 0xf8a2_6820, 0xd800_0040, 0xf980_0038] {
            assert!(is_prfm(word) && is_prefetch(word), "{word:#x}");
            assert!(!always_accesses(word), "{word:#x}");
        }
        // PRFB by register, PRFW by vector of offsets, PRFD by vector base.
        for word in [0x8403_c040u32, 0x8423_4040, 0xc580_e440] {
            assert!(is_prefetch(word) && !is_prfm(word) && is_sve_access(word), "{word:#x}");
        }
        // Gathers of words, scaled and not.
        assert!(!is_prefetch(0x8520_4080) && !is_prefetch(0x8500_4080));
    }

    #[test]
    fn words_that_only_calculate_never_fault() {
        // add, adrp, madd, csel, fadd, fmov, add of vectors, udiv.
        for word in [
            0x9100_0421u32,
            0xb000_0000,
            0x9b02_7c20,
            0x9a82_0020,
            0x1e62_2820,
            0x9e67_0000,
            0x4ee2_8420,
            0x9ac2_0820,
        ] {
            assert!(never_faults(word), "{word:#x}");
        }
        assert!(never_traps(0x9100_0421) && never_traps(0x9b02_7c20), "add, madd");
        assert!(!never_traps(0x1e62_2820) && !never_traps(0x4ee2_8420), "fadd, add of vectors");
        // ldr, str q, prfm, svc, mrs, b, ret, autia, pacga, udf, add of SVE, ld1w of SVE, ldadd.
        for word in [
            0xf940_0041u32,
            0x3d80_0020,
            0xf980_0020,
            0xd400_0001,
            0xd53b_4200,
            0x1400_0001,
            0xd65f_03c0,
            0xdac1_1020,
            0x9ac2_3020,
            0,
            0x04a2_0020,
            0xa540_a060,
            0xf820_0041,
        ] {
            assert!(!never_faults(word), "{word:#x}");
        }
    }

    #[test]
    fn words_that_always_access_memory_are_recognized() {
        // ldr, ldp, str q, stlr, ldadd, cas, ldr literal, ldxr.
        for word in [
            0xf940_0041u32,
            0xa940_0440,
            0x3d80_0020,
            0xc89f_fc41,
            0xf820_0041,
            0xc8a0_7c41,
            0x5800_0041,
            0xc85f_7c41,
        ] {
            assert!(always_accesses(word) && !is_prefetch(word) && may_access(word), "{word:#x}");
        }
        // stxr, stg, ld1b {z0.b}.
        for word in [0xc800_7c41u32, 0xd920_0841, 0xa400_a000] {
            assert!(!always_accesses(word) && may_access(word), "{word:#x}");
        }
        // add, nop, add z0.b, z0.b, z0.b.
        for word in [0x9100_0421u32, 0xd503_201f, 0x0420_0000] {
            assert!(!always_accesses(word) && !may_access(word), "{word:#x}");
        }
        assert!(may_access(0xd50b_7423) && is_zero_line(0xd50b_7423)); // dc zva, x3
        assert!(may_access(0xd50b_7a23) && !is_zero_line(0xd50b_7a23)); // dc cvac, x3
    }

    #[test]
    fn words_of_store_exclusives_are_recognized() {
        for word in
            [0xc800_7c41u32, 0x8800_fc41, 0x0800_7c41, 0x4800_fc41, 0xc820_0c41, 0x8820_8c41]
        {
            assert!(is_store_exclusive(word), "{word:#x}");
        }
        // ldxr, ldxp, stlr, casp, cas, stp.
        for word in
            [0xc85f_7c41u32, 0xc87f_0c41, 0xc89f_fc41, 0x4820_7c82, 0xc8a0_7c41, 0xa900_0440]
        {
            assert!(!is_store_exclusive(word), "{word:#x}");
        }
    }

    #[test]
    fn breakpoints_and_undefined_words_never_complete() {
        assert!(never_completes(0xd420_0000)); // brk #0
        assert!(never_completes(0x0000_0000)); // udf #0
        assert!(!never_completes(0xd400_0001)); // svc #0
        assert!(!never_completes(0xd503_201f)); // nop
        assert!(is_return(0xd65f_03c0) && !is_return(0xd61f_03c0)); // ret, br x30
    }
}
