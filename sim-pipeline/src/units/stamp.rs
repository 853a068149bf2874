//! A cycle together with the operation that determines it, in one word. The maximum of several
//! stamps gives the latest cycle and its operation with one comparison.

use sim_core::Cycle;

/// Bits of the operation.
const BITS: u32 = 14;
const MASK: u64 = (1 << BITS) - 1;

/// Operation in flight: an index in the critical path, or one of the constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpRef(pub(crate) u16);

impl Default for OpRef {
    fn default() -> OpRef {
        OpRef::NONE
    }
}

impl OpRef {
    /// Number of indices.
    pub(crate) const PLACES: u16 = 1 << 13;
    /// No operation: the pipeline itself determines the cycle.
    pub(crate) const NONE: OpRef = OpRef(OpRef::PLACES);
    /// A barrier or an access that orders others.
    pub(crate) const ORDER: OpRef = OpRef(OpRef::PLACES + 1);
    /// A store that a load reads from, and whose address is not known.
    pub(crate) const STORE_ADDRESS: OpRef = OpRef(OpRef::PLACES + 2);
}

/// Cycle and the operation that determines it, ordered by cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// Returns a stamp of `cycle`, below 2^50, determined by `by`.
    #[inline(always)]
    pub(crate) const fn new(cycle: Cycle, by: OpRef) -> Stamp {
        Stamp(cycle << BITS | by.0 as u64)
    }

    /// Returns the cycle.
    #[inline(always)]
    pub(crate) const fn cycle(self) -> Cycle {
        self.0 >> BITS
    }

    /// Returns the operation that determines the cycle.
    #[inline(always)]
    pub(crate) const fn by(self) -> OpRef {
        OpRef((self.0 & MASK) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_stamp_names_its_operation() {
        let (load, add) = (Stamp::new(400, OpRef(3)), Stamp::new(17, OpRef(500)));
        let last = load.max(add);
        assert_eq!((last.cycle(), last.by()), (400, OpRef(3)));
        let late = Stamp::new((1 << 50) - 1, OpRef::ORDER);
        assert_eq!((late.cycle(), late.by()), ((1 << 50) - 1, OpRef::ORDER));
    }
}
