//! What can become of a rename slot (PMU guide 4.7, 4.12): every slot has exactly one fate.

use std::ops::{Deref, DerefMut};

use sim_core::{Lost, RootCause, StallCause};

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
    /// The front end left it empty.
    Empty(StallCause),
    /// The back end left it empty, and waited for this.
    Stalled(RootCause),
}

/// Slots by fate (index: [`Fate::index`]).
#[derive(Clone, Copy, Debug)]
pub struct FateSlots([u64; Fate::COUNT]);

impl Default for FateSlots {
    fn default() -> FateSlots {
        FateSlots([0; Fate::COUNT])
    }
}

impl Deref for FateSlots {
    type Target = [u64; Fate::COUNT];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for FateSlots {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
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
    /// The fate of a lost slot.
    #[inline]
    pub fn of(lost: &Lost) -> Fate {
        if lost.cause.is_frontend() { Fate::Empty(lost.cause) } else { Fate::Stalled(lost.root) }
    }

    /// How many there are.
    pub const COUNT: usize = Fate::FIRST_ROOT + RootCause::COUNT - 1;

    /// Fates that are no roots: three uses of a slot and the causes of the front end.
    const FIRST_ROOT: usize = 3 + StallCause::FRONT_END;

    /// Every fate, by index.
    pub fn all() -> impl Iterator<Item = Fate> {
        let used = [Fate::Retired, Fate::BehindBranch, Fate::ThrownAway];
        let empty = StallCause::ALL.into_iter().filter(|cause| cause.is_frontend());
        let stalled = RootCause::back_end().map(Fate::Stalled);
        used.into_iter().chain(empty.map(Fate::Empty)).chain(stalled)
    }

    /// Its place in a table of all.
    #[inline]
    pub fn index(self) -> usize {
        match self {
            Fate::Retired => 0,
            Fate::BehindBranch => 1,
            Fate::ThrownAway => 2,
            Fate::Empty(cause) => 3 + cause as usize,
            // The first root is that of the front end.
            Fate::Stalled(root) => Fate::FIRST_ROOT + root as usize - 1,
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
            Fate::Empty(_) => End::Frontend,
            Fate::Stalled(_) => End::Backend,
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
