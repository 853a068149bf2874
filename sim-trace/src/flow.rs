//! Control flow between blocks: the successors that an instruction word allows. Only branches of
//! A64 matter; other words fall through.

/// Possible successors of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exits {
    fall_through: Option<u64>,
    target: Option<u64>,
    anywhere: bool,
}

impl Exits {
    /// Returns the successors of `word` at `pc`.
    pub(crate) fn of(pc: u64, word: u32) -> Exits {
        let to = |bytes: i64| Some(pc.wrapping_add_signed(bytes));
        let next = to(4);
        let none = Exits { fall_through: None, target: None, anywhere: false };
        match word {
            // B, BL.
            w if w & 0x7c00_0000 == 0x1400_0000 => Exits { target: to(offset(w, 0, 26)), ..none },
            // B.cond, BC.cond; CBZ, CBNZ.
            w if w & 0xff00_0000 == 0x5400_0000 || w & 0x7e00_0000 == 0x3400_0000 => {
                Exits { fall_through: next, target: to(offset(w, 5, 19)), ..none }
            }
            // TBZ, TBNZ.
            w if w & 0x7e00_0000 == 0x3600_0000 => {
                Exits { fall_through: next, target: to(offset(w, 5, 14)), ..none }
            }
            // BR, BLR, RET, ERET and their authenticating forms.
            w if w & 0xfe00_0000 == 0xd600_0000 => Exits { anywhere: true, ..none },
            _ => Exits { fall_through: next, ..none },
        }
    }

    /// Returns true if `pc` may come next.
    #[inline]
    pub(crate) fn allow(&self, pc: u64) -> bool {
        self.anywhere || self.fall_through == Some(pc) || self.target == Some(pc)
    }
}

/// Returns the signed branch offset, in bytes, of the field of `bits` bits at bit `low`.
fn offset(word: u32, low: u32, bits: u32) -> i64 {
    let field = word << (32 - low - bits);
    i64::from(field.cast_signed() >> (32 - bits)) * 4
}

/// Returns true for a word that may change control flow and so ends a block.
pub(crate) fn is_branch(word: u32) -> bool {
    let exits = Exits::of(0x1000, word);
    exits.anywhere || exits.target.is_some()
}

/// Returns true for the words of the loads and stores group, including prefetches.
pub(crate) fn is_load_or_store(word: u32) -> bool {
    word & 0x0a00_0000 == 0x0800_0000 || is_sve_access(word)
}

/// Returns true for `PRFM` and `PRFUM`.
pub(crate) fn is_prefetch(word: u32) -> bool {
    let is_literal = word & 0xff00_0000 == 0xd800_0000;
    let is_scaled = word & 0xffc0_0000 == 0xf980_0000;
    let is_unscaled = word & 0xffe0_0c00 == 0xf880_0000;
    let is_register = word & 0xffe0_0c00 == 0xf8a0_0800;
    is_literal || is_scaled || is_unscaled || is_register
}

/// Returns true for the words of SVE loads and stores, including prefetches.
pub(crate) fn is_sve_access(word: u32) -> bool {
    word & 0x9e00_0000 == 0x8400_0000
}

/// Returns true for SVE words.
pub(crate) fn is_sve(word: u32) -> bool {
    word & 0x1e00_0000 == 0x0400_0000
}

/// Returns true for words that access memory whenever they complete, except tag instructions and
/// SVE.
pub(crate) fn must_access(word: u32) -> bool {
    let is_load_or_store = word & 0x0a00_0000 == 0x0800_0000;
    let is_tag = word & 0xff20_0000 == 0xd920_0000;
    is_load_or_store && !is_tag && !is_prefetch(word) && !is_store_exclusive(word)
}

/// Returns true for STXR, STLXR, STXP, STLXP (and their byte and halfword forms), which may fail to
/// store.
pub(crate) fn is_store_exclusive(word: u32) -> bool {
    word & 0x3fe0_0000 == 0x0800_0000 || word & 0xbfe0_0000 == 0x8820_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_branch_form_allows_its_successors_only() {
        let at = 0x1000;
        let cases: &[(u32, &[u64], &[u64])] = &[
            (0xd503_201f, &[0x1004], &[0x1000, 0x1008]),        // nop
            (0x1400_0002, &[0x1008], &[0x1004]),                // b +8
            (0x97ff_ffff, &[0x0ffc], &[0x1004]),                // bl -4
            (0x54ff_ffe0, &[0x0ffc, 0x1004], &[0x1008]),        // b.eq -4
            (0xb400_0040, &[0x1008, 0x1004], &[0x0ffc]),        // cbz x0, +8
            (0x3607_ffe0, &[0x0ffc, 0x1004], &[0x1008]),        // tbz w0, #0, -4
            (0xd65f_03c0, &[0x1004, 0xdead_0000, 0x1000], &[]), // ret
            (0xd400_0001, &[0x1004], &[0x1008]),                // svc #0
        ];
        for &(word, legal, illegal) in cases {
            let exits = Exits::of(at, word);
            assert!(legal.iter().all(|&pc| exits.allow(pc)), "{word:#x}");
            assert!(!illegal.iter().any(|&pc| exits.allow(pc)), "{word:#x}");
        }
    }

    #[test]
    fn words_that_must_access_memory_are_recognized() {
        // ldr, ldp, str q, stlr, ldadd, cas, ldr literal.
        for word in [
            0xf940_0041u32,
            0xa940_0440,
            0x3d80_0020,
            0xc89f_fc41,
            0xf820_0041,
            0xc8a0_7c41,
            0x5800_0041,
        ] {
            assert!(must_access(word) && !is_prefetch(word), "{word:#x}");
        }
        for word in [0xf980_0020u32, 0xf881_0020, 0xf8a2_6820, 0xd800_0040] {
            assert!(!must_access(word) && is_prefetch(word), "{word:#x}");
        }
        // stxr, stg, ld1b {z0.b}, add, nop.
        for word in [0xc800_7c41u32, 0xd920_0841, 0xa400_a000, 0x9100_0421, 0xd503_201f] {
            assert!(!must_access(word) && !is_prefetch(word), "{word:#x}");
        }
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
}
