//! Properties of A64 words that the recorder needs: continuations, certain accesses, and operations
//! for which the engine gives no address.

/// The possible continuations after the last word of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// To the next word only.
    Next,
    /// To one target.
    To(u64),
    /// To the next word or a target.
    Either(u64),
    /// Anywhere, by a register.
    Anywhere,
}

impl Exit {
    /// Returns the exit of `word` at `pc`.
    pub(crate) fn of(pc: u64, word: u32) -> Exit {
        let target = |low: u32, bits: u32| {
            let field = (word << (32 - low - bits)).cast_signed() >> (32 - bits);
            pc.wrapping_add_signed(i64::from(field) * 4)
        };
        if word & 0x7c00_0000 == 0x1400_0000 {
            Exit::To(target(0, 26))
        } else if word & 0xff00_0000 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 {
            Exit::Either(target(5, 19))
        } else if word & 0x7e00_0000 == 0x3600_0000 {
            Exit::Either(target(5, 14))
        } else if word & 0xfe00_0000 == 0xd600_0000 {
            Exit::Anywhere
        } else {
            Exit::Next
        }
    }

    /// Returns whether control may go from the word at `pc` to `next`.
    pub(crate) fn allows(self, pc: u64, next: u64) -> bool {
        match self {
            Exit::Next => next == pc.wrapping_add(4),
            Exit::To(target) => next == target,
            Exit::Either(target) => next == target || next == pc.wrapping_add(4),
            Exit::Anywhere => true,
        }
    }
}

/// Returns whether a word is `DC ZVA`.
pub(crate) fn is_zero_line(word: u32) -> bool {
    word & 0xffff_ffe0 == 0xd50b_7420
}

/// Instructions with an address that engines without register values do not report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreported {
    /// `DC ZVA`, and its forms with tags.
    ZeroLine,
    /// Other `DC`, and `IC`, by address.
    Maintenance,
    /// `PRFM`, `PRFUM` and SVE prefetches.
    Prefetch,
}

impl Unreported {
    /// Returns the kind of `word`, if it is one of these.
    pub(crate) fn of(word: u32) -> Option<Unreported> {
        use sim_isa::MemOp::{Maintenance, PrefetchInst, PrefetchLoad, PrefetchStore, ZeroLine};
        match sim_isa::decode(word).mem.op {
            ZeroLine => Some(Unreported::ZeroLine),
            Maintenance => Some(Unreported::Maintenance),
            PrefetchInst | PrefetchLoad | PrefetchStore => Some(Unreported::Prefetch),
            _ => None,
        }
    }
}

/// Returns whether a word is `PRFM`, `PRFUM` or an SVE prefetch.
pub(crate) fn is_prefetch(word: u32) -> bool {
    Unreported::of(word) == Some(Unreported::Prefetch)
}

/// Returns the elements of a gather or scatter at some index; `None` for another word.
pub(crate) fn elements((index, word): (u16, &u32)) -> Option<(u16, u8)> {
    let mem = sim_isa::decode(*word).mem;
    (mem.scattered && !is_prefetch(*word)).then_some((index, mem.elements))
}

/// Returns whether a word is an SVE instruction.
pub(crate) fn is_sve(word: u32) -> bool {
    word & 0x1e00_0000 == 0x0400_0000
}

/// Returns whether a word is an SVE load, store or prefetch.
pub(crate) fn is_sve_memory(word: u32) -> bool {
    word & 0x9e00_0000 == 0x8400_0000
}

/// Returns whether a word is a store-exclusive, which may not store.
fn is_store_exclusive(word: u32) -> bool {
    word & 0x3fe0_0000 == 0x0800_0000 || word & 0xbfe0_0000 == 0x8820_0000
}

/// Returns whether a word has an access that may not happen or may not be reported.
pub(crate) fn may_stay_silent(word: u32) -> bool {
    let is_tag = word & 0xff20_0000 == 0xd920_0000;
    is_tag || is_store_exclusive(word) || is_sve_memory(word) || Unreported::of(word).is_some()
}

/// Returns whether a word accesses memory whenever it completes. Excludes SVE, where no lane may be
/// active.
pub(crate) fn always_accesses(word: u32) -> bool {
    let is_load_store = word & 0x0a00_0000 == 0x0800_0000;
    // The tag instructions LDG and STG are reported differently from engine to engine.
    let is_tag = word & 0xff20_0000 == 0xd920_0000;
    is_load_store && !is_tag && !is_prefetch(word) && !is_store_exclusive(word)
}

/// Returns whether a word ends in an exception instead of completing.
pub(crate) fn never_completes(word: u32) -> bool {
    let is_brk = word & 0xffe0_001f == 0xd420_0000;
    let is_hlt = word & 0xffe0_001f == 0xd440_0000;
    let is_udf = word >> 16 == 0;
    is_brk || is_hlt || is_udf
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exits_follow_the_branch_forms() {
        let at = 0x1000;
        assert_eq!(Exit::of(at, 0x1400_0002), Exit::To(0x1008)); // b +8
        assert_eq!(Exit::of(at, 0x97ff_ffff), Exit::To(0x0ffc)); // bl -4
        assert_eq!(Exit::of(at, 0x54ff_ffe0), Exit::Either(0x0ffc)); // b.eq -4
        assert_eq!(Exit::of(at, 0xb400_0040), Exit::Either(0x1008)); // cbz x0, +8
        assert_eq!(Exit::of(at, 0x3607_ffe0), Exit::Either(0x0ffc)); // tbz w0, #0, -4
        assert_eq!(Exit::of(at, 0xd65f_03c0), Exit::Anywhere); // ret
        assert_eq!(Exit::of(at, 0xd503_201f), Exit::Next); // nop
        assert!(Exit::Next.allows(at, 0x1004));
        assert!(!Exit::Next.allows(at, at));
    }

    #[test]
    fn kinds_without_an_address_are_distinguished() {
        assert!(is_zero_line(0xd50b_7423)); // dc zva, x3
        assert!(!is_zero_line(0xd50b_7a23)); // dc cvac, x3
        for word in [0xf980_0020u32, 0xf881_0020, 0xf8a2_6820, 0xd800_0040] {
            assert!(is_prefetch(word) && !always_accesses(word), "{word:#x}");
        }
        // PRFB by register, PRFW by vector of offsets, PRFD by vector base.
        for word in [0x8403_c040u32, 0x8423_4040, 0xc580_e440] {
            assert!(is_prefetch(word) && is_sve_memory(word), "{word:#x}");
        }
        // Gathers of words, scaled and not.
        assert!(!is_prefetch(0x8520_4080) && !is_prefetch(0x8500_4080));
        for word in [0xf940_0020u32, 0xa940_0440, 0x3dc0_0020, 0xf820_0041, 0xc85f_7c41] {
            assert!(!is_prefetch(word) && always_accesses(word), "{word:#x}");
        }
        assert!(!always_accesses(0xc800_7c41)); // stxr
        assert!(is_sve_memory(0xa400_a000) && !is_sve_memory(0x0420_0000));
    }

    #[test]
    fn breakpoints_and_undefined_words_never_complete() {
        assert!(never_completes(0xd420_0000)); // brk #0
        assert!(never_completes(0x0000_0000)); // udf #0
        assert!(!never_completes(0xd400_0001)); // svc #0
        assert!(!never_completes(0xd503_201f)); // nop
    }
}
