//! The events word of a sample record: what one sampled operation met (SPE supplement 5.3.7).

use std::borrow::Cow;

/// Up to 64 events, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Events(pub u64);

/// The events with an architected meaning, by the names that decoders of Linux and Arm give them.
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
    /// It ended in a synchronous exception.
    pub const EXCEPTION: Events = Events(1);
    /// It retired, or ended in an architectural exception.
    pub const RETIRED: Events = Events(1 << 1);
    /// Its access looked into the L1 D-cache.
    pub const L1D_ACCESS: Events = Events(1 << 2);
    /// Its access refilled the L1 D-cache; not one that waited for a refill in flight.
    pub const L1D_REFILL: Events = Events(1 << 3);
    /// Its access looked into the L1 TLB.
    pub const TLB_ACCESS: Events = Events(1 << 4);
    /// A table walk ran for its access.
    pub const TLB_WALK: Events = Events(1 << 5);
    /// Its condition failed; for a branch: it was not taken.
    pub const NOT_TAKEN: Events = Events(1 << 6);
    /// A branch that went against its prediction.
    pub const MISPREDICTED: Events = Events(1 << 7);
    /// Its access reached the last level cache.
    pub const LL_ACCESS: Events = Events(1 << 8);
    /// Its access reached the last level cache and was not completed there.
    pub const LL_MISS: Events = Events(1 << 9);
    /// Its access went to another chip.
    pub const REMOTE_ACCESS: Events = Events(1 << 10);
    /// Its access took more time because of its alignment: what `LDST_ALIGN_LAT` counts (SPEv1p1).
    pub const ALIGNMENT: Events = Events(1 << 11);
    /// Its predicate kept at least one of its elements from working, or all of them: what
    /// `SVE_PRED_NOT_FULL_SPEC` counts (SPEv1p1).
    pub const PARTIAL_PREDICATE: Events = Events(1 << 17);
    /// Its predicate let no element work (SPEv1p1).
    pub const EMPTY_PREDICATE: Events = Events(1 << 18);

    /// True when all bits of `other` are set.
    #[inline]
    pub const fn has(self, other: Events) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Events) -> Events {
        Events(self.0 | other.0)
    }

    /// These and, if `so`, the bits of `other`.
    #[inline]
    #[must_use]
    pub const fn with_if(self, so: bool, other: Events) -> Events {
        if so { self.with(other) } else { self }
    }

    /// The names of the bits that are set, lowest first; a bit without architected meaning is `E<n>`.
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
    fn bits_are_named_and_those_without_a_name_by_number() {
        let events = Events::RETIRED.with(Events::LL_MISS).with(Events(1 << 24));
        assert_eq!(events.names().collect::<Vec<_>>(), ["RETIRED", "LLC-REFILL", "E24"]);
        assert!(events.has(Events::RETIRED) && !events.has(Events::EXCEPTION));
        assert_eq!(Events::default().with_if(false, Events::RETIRED), Events(0));
    }
}
