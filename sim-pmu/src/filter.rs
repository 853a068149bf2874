//! Counter filter: the exception levels and security states in which a counter counts (Arm ARM D13,
//! `PMEVTYPER<n>_EL0`). The bits have their positions in the register.

use crate::pe_state::{ExceptionLevel, PeState};

/// Filter bits of `PMEVTYPER<n>_EL0` or `PMCCFILTR_EL0`, bits 31 to 24.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filter(u32);

impl Filter {
    /// P: EL1 does not count.
    pub const P: u32 = 1 << 31;
    /// U: EL0 does not count.
    pub const U: u32 = 1 << 30;
    /// NSK: non-secure EL1 counts if this equals P.
    pub const NSK: u32 = 1 << 29;
    /// NSU: non-secure EL0 counts if this equals U.
    pub const NSU: u32 = 1 << 28;
    /// NSH: non-secure EL2 counts.
    pub const NSH: u32 = 1 << 27;
    /// M: EL3 counts if this equals P.
    pub const M: u32 = 1 << 26;
    /// SH: secure EL2 counts if this differs from NSH.
    pub const SH: u32 = 1 << 24;
    /// All bits of a filter. Bit 25 (MT) does not exist on a core with one thread.
    pub const ALL: u32 = Self::P | Self::U | Self::NSK | Self::NSU | Self::NSH | Self::M | Self::SH;

    /// Returns the filter in a register value. Other bits are ignored.
    pub fn from_bits(value: u64) -> Filter {
        Filter(value as u32 & Filter::ALL)
    }

    /// Returns the bits at their positions in the register.
    pub fn bits(self) -> u64 {
        u64::from(self.0)
    }

    /// Returns whether the counter counts in `state`.
    pub fn passes(self, state: PeState) -> bool {
        let has = |bit: u32| self.0 & bit != 0;
        let (p, u) = (has(Filter::P), has(Filter::U));
        match (state.level, state.is_secure) {
            (ExceptionLevel::El0, true) => !u,
            (ExceptionLevel::El0, false) => u == has(Filter::NSU),
            (ExceptionLevel::El1, true) => !p,
            (ExceptionLevel::El1, false) => p == has(Filter::NSK),
            (ExceptionLevel::El2, true) => has(Filter::NSH) != has(Filter::SH),
            (ExceptionLevel::El2, false) => has(Filter::NSH),
            (ExceptionLevel::El3, _) => p == has(Filter::M),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ExceptionLevel::*;

    /// Returns whether a filter counts at non-secure EL0, EL1, EL2, secure EL0, EL1, EL2, and EL3.
    fn counts(bits: u32) -> [bool; 7] {
        let filter = Filter::from_bits(u64::from(bits));
        let at =
            |is_secure, level| filter.passes(PeState { is_secure, ..PeState::non_secure(level) });
        [
            at(false, El0),
            at(false, El1),
            at(false, El2),
            at(true, El0),
            at(true, El1),
            at(true, El2),
            at(true, El3),
        ]
    }

    const O: bool = false;
    const X: bool = true;

    #[test]
    fn a_filter_without_bits_counts_everywhere_but_at_el2() {
        assert_eq!(counts(0), [X, X, O, X, X, O, X]);
    }

    #[test]
    fn each_bit_changes_its_own_states() {
        assert_eq!(counts(Filter::P), [X, O, O, X, O, O, O]);
        assert_eq!(counts(Filter::U), [O, X, O, O, X, O, X]);
        assert_eq!(counts(Filter::NSK), [X, O, O, X, X, O, X]);
        assert_eq!(counts(Filter::NSU), [O, X, O, X, X, O, X]);
        assert_eq!(counts(Filter::NSH), [X, X, X, X, X, X, X]);
        assert_eq!(counts(Filter::M), [X, X, O, X, X, O, O]);
        assert_eq!(counts(Filter::SH), [X, X, O, X, X, X, X]);
    }

    /// Settings of the Linux driver: `:u`, `:k` on a host at EL2, `:h`.
    #[test]
    fn pairs_of_bits_select_single_states() {
        assert_eq!(counts(Filter::P | Filter::NSH | Filter::SH), [X, O, X, X, O, O, O]);
        assert_eq!(counts(Filter::U | Filter::NSU), [X, X, O, O, X, O, X]);
        assert_eq!(counts(Filter::P | Filter::NSK | Filter::M), [X, X, O, X, O, O, X]);
        assert_eq!(counts(Filter::NSH | Filter::SH), [X, X, X, X, X, O, X]);
    }

    #[test]
    fn bits_outside_the_filter_are_dropped() {
        assert_eq!(Filter::from_bits(u64::MAX).bits(), u64::from(Filter::ALL));
        assert_eq!(Filter::from_bits(1 << 25).bits(), 0, "MT is RES0");
    }
}
