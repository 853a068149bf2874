//! Events packet of a sample record: the outcomes of one sampled operation (SPE supplement 5.3.7).

use std::borrow::Cow;

/// Set of up to 64 events, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Events(pub u64);

/// Events with an architected meaning, with the names that the decoders of Linux and Arm use.
const NAMES: [(u32, &str); 14] = [
    (0, "EXCEPTION-GEN"),
    (1, "RETIRED"),
    (2, "L1D-ACCESS"),
    (3, "L1D-REFILL"),
    (4, "TLB-ACCESS"),
    (5, "TLB-REFILL"),
    (6, "NOT-TAKEN"),
    (7, "MISPRED"),
    (8, "LLC-ACCESS"),
    (9, "LLC-REFILL"),
    (10, "REMOTE-ACCESS"),
    (11, "ALIGNMENT"),
    (17, "SVE-PARTIAL-PRED"),
    (18, "SVE-EMPTY-PRED"),
];

impl Events {
    /// The operation ended in a synchronous exception.
    pub const EXCEPTION: Events = Events(1);
    /// The operation retired, or ended in an architectural exception.
    pub const RETIRED: Events = Events(1 << 1);
    /// The access looked up the L1 D-cache.
    pub const L1D_ACCESS: Events = Events(1 << 2);
    /// The access refilled the L1 D-cache. An access that waited for a refill in flight does not
    /// count.
    pub const L1D_REFILL: Events = Events(1 << 3);
    /// The access looked up the L1 TLB.
    pub const TLB_ACCESS: Events = Events(1 << 4);
    /// The access required a table walk.
    pub const TLB_WALK: Events = Events(1 << 5);
    /// The condition failed; a branch was not taken.
    pub const NOT_TAKEN: Events = Events(1 << 6);
    /// The branch was mispredicted.
    pub const MISPREDICTED: Events = Events(1 << 7);
    /// The access reached the last level cache.
    pub const LL_ACCESS: Events = Events(1 << 8);
    /// The access missed in the last level cache.
    pub const LL_MISS: Events = Events(1 << 9);
    /// The access went to another chip.
    pub const REMOTE_ACCESS: Events = Events(1 << 10);
    /// The access took additional time because of its alignment, as `LDST_ALIGN_LAT` counts
    /// (SPEv1p1).
    pub const ALIGNMENT: Events = Events(1 << 11);
    /// The predicate disabled at least one element, or all of them, as `SVE_PRED_NOT_FULL_SPEC`
    /// counts (SPEv1p1).
    pub const PARTIAL_PREDICATE: Events = Events(1 << 17);
    /// The predicate disabled all elements (SPEv1p1).
    pub const EMPTY_PREDICATE: Events = Events(1 << 18);

    /// Returns whether all bits of `other` are set.
    #[inline]
    pub const fn has(self, other: Events) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the union of both sets.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Events) -> Events {
        Events(self.0 | other.0)
    }

    /// Returns the union of both sets if `so`, and this set otherwise.
    #[inline]
    #[must_use]
    pub const fn with_if(self, so: bool, other: Events) -> Events {
        if so { self.with(other) } else { self }
    }

    /// Returns the names of the set bits, lowest first. A bit without an architected meaning is
    /// `E<n>`.
    pub fn names(self) -> impl Iterator<Item = Cow<'static, str>> {
        (0..u64::BITS).filter(move |bit| self.0 >> bit & 1 == 1).map(|bit| {
            match NAMES.iter().find(|(known, _)| *known == bit) {
                Some((_, name)) => Cow::Borrowed(*name),
                None => Cow::Owned(format!("E{bit}")),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_without_a_name_are_named_by_number() {
        let events = Events::RETIRED.with(Events::LL_MISS).with(Events(1 << 24));
        assert_eq!(events.names().collect::<Vec<_>>(), ["RETIRED", "LLC-REFILL", "E24"]);
        assert!(events.has(Events::RETIRED) && !events.has(Events::EXCEPTION));
        assert_eq!(Events::default().with_if(false, Events::RETIRED), Events(0));
    }
}
