//! What can become of a rename slot (PMU guide 4.7, 4.12): every slot has exactly one fate.

use sim_core::StallCause;

/// What became of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its operation retired.
    Retired,
    /// Its operation stood behind a mispredicted branch.
    BehindBranch,
    /// Its operation was thrown away for another reason: a load had passed the store that it reads from, or
    /// an instruction did not complete.
    ThrownAway,
    /// It stayed empty.
    Empty(StallCause),
}

/// Which part of the core answers for a slot: top-down level 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum End {
    /// Useful work.
    Retiring,
    /// Work in vain, and the refill behind it.
    BadSpeculation,
    /// Nothing came.
    Frontend,
    /// Something came and was not taken.
    Backend,
}

impl End {
    /// How many there are.
    pub const COUNT: usize = 4;
}

impl Fate {
    /// How many there are.
    pub const COUNT: usize = StallCause::COUNT + 3;

    /// Every fate, by index.
    pub fn all() -> impl Iterator<Item = Fate> {
        let used = [Fate::Retired, Fate::BehindBranch, Fate::ThrownAway];
        used.into_iter().chain(StallCause::ALL.into_iter().map(Fate::Empty))
    }

    /// Its place in a table of all.
    #[inline]
    pub fn index(self) -> usize {
        match self {
            Fate::Retired => 0,
            Fate::BehindBranch => 1,
            Fate::ThrownAway => 2,
            Fate::Empty(cause) => 3 + cause as usize,
        }
    }

    /// Who answers for it. Slots that are empty because a path was thrown away are bad speculation.
    #[inline]
    pub fn end(self) -> End {
        use StallCause::{FetchMemoryOrder, FetchMispredict, FetchNoTarget};
        match self {
            Fate::Retired => End::Retiring,
            Fate::BehindBranch | Fate::ThrownAway => End::BadSpeculation,
            Fate::Empty(FetchMispredict | FetchNoTarget | FetchMemoryOrder) => End::BadSpeculation,
            Fate::Empty(cause) if cause.is_frontend() => End::Frontend,
            Fate::Empty(_) => End::Backend,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fate_has_a_place_of_its_own() {
        let places: Vec<usize> = Fate::all().map(Fate::index).collect();
        assert_eq!(places, (0..Fate::COUNT).collect::<Vec<usize>>());
    }
}
