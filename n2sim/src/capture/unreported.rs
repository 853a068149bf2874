//! Instructions whose access an engine may not report.

use sim_isa::{is_prefetch, is_store_exclusive, is_sve_access, is_tag_access};

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

/// Returns whether a word has an access that may not happen or may not be reported.
pub(crate) fn may_stay_silent(word: u32) -> bool {
    let may_not_happen = is_store_exclusive(word) || is_sve_access(word);
    may_not_happen || is_tag_access(word) || Unreported::of(word).is_some()
}

/// Returns the elements of a gather or scatter at some index; `None` for another word.
pub(crate) fn elements((index, word): (u16, &u32)) -> Option<(u16, u8)> {
    let mem = sim_isa::decode(*word).mem;
    (mem.scattered && !is_prefetch(*word)).then_some((index, mem.elements))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_without_an_address_are_distinguished() {
        assert_eq!(Unreported::of(0xd50b_7423), Some(Unreported::ZeroLine)); // dc zva, x3
        assert_eq!(Unreported::of(0xd50b_7a23), Some(Unreported::Maintenance)); // dc cvac, x3
        assert_eq!(Unreported::of(0xf980_0020), Some(Unreported::Prefetch)); // prfm
        assert_eq!(Unreported::of(0xf940_0020), None); // ldr x0, [x1]
        // prfm, dc zva, stxr, stg, ld1b {z0.b}.
        for word in [0xf980_0020u32, 0xd50b_7423, 0xc800_7c41, 0xd920_0841, 0xa400_a000] {
            assert!(may_stay_silent(word), "{word:#x}");
        }
        assert!(!may_stay_silent(0xf940_0020)); // ldr x0, [x1]
    }
}
