//! What can become of a rename slot (PMU guide 4.7, 4.12): every slot has exactly one class.

use std::ops::{Deref, DerefMut};

use sim_core::{Lost, RootCause, StallCause};

/// What became of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotClass {
    /// Its operation retired.
    Retired,
    /// Its operation stood behind a mispredicted branch.
    SquashedByBranch,
    /// Its operation was thrown away for another reason: a load had passed the store that it reads from, or
    /// an instruction did not complete.
    SquashedOther,
    /// The front end left it empty.
    Empty(StallCause),
    /// The back end left it empty, and waited for this.
    Stalled(RootCause),
}

/// Slots by class (index: [`SlotClass::index`]).
#[derive(Clone, Copy, Debug)]
pub struct ClassSlots([u64; SlotClass::COUNT]);

impl Default for ClassSlots {
    fn default() -> ClassSlots {
        ClassSlots([0; SlotClass::COUNT])
    }
}

impl Deref for ClassSlots {
    type Target = [u64; SlotClass::COUNT];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for ClassSlots {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// Which part of the core answers for a slot: top-down level 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TopDownCategory {
    /// Useful work.
    Retiring,
    /// Work in vain, and the refill behind it.
    BadSpeculation,
    /// Nothing came.
    Frontend,
    /// Something came and was not taken.
    Backend,
}

impl TopDownCategory {
    /// How many there are.
    pub const COUNT: usize = 4;
}

impl SlotClass {
    /// The class of a lost slot.
    #[inline]
    pub fn of(lost: &Lost) -> SlotClass {
        if lost.cause.is_frontend() {
            SlotClass::Empty(lost.cause)
        } else {
            SlotClass::Stalled(lost.root)
        }
    }

    /// How many there are.
    pub const COUNT: usize = SlotClass::FIRST_ROOT + RootCause::COUNT - 1;

    /// Fates that are no roots: three uses of a slot and the causes of the front end.
    const FIRST_ROOT: usize = 3 + StallCause::FRONT_END;

    /// Every class, by index.
    pub fn all() -> impl Iterator<Item = SlotClass> {
        let used = [SlotClass::Retired, SlotClass::SquashedByBranch, SlotClass::SquashedOther];
        let empty = StallCause::ALL.into_iter().filter(|cause| cause.is_frontend());
        let stalled = RootCause::back_end().map(SlotClass::Stalled);
        used.into_iter().chain(empty.map(SlotClass::Empty)).chain(stalled)
    }

    /// Its place in a table of all.
    #[inline]
    pub fn index(self) -> usize {
        match self {
            SlotClass::Retired => 0,
            SlotClass::SquashedByBranch => 1,
            SlotClass::SquashedOther => 2,
            SlotClass::Empty(cause) => 3 + cause as usize,
            // The first root is that of the front end.
            SlotClass::Stalled(root) => SlotClass::FIRST_ROOT + root as usize - 1,
        }
    }

    /// Who answers for it. Slots that are empty because a path was thrown away are bad speculation.
    #[inline]
    pub fn end(self) -> End {
        use StallCause::{FetchMemoryOrder, FetchMispredict, FetchNoTarget};
        match self {
            SlotClass::Retired => TopDownCategory::Retiring,
            SlotClass::SquashedByBranch | SlotClass::SquashedOther => {
                TopDownCategory::BadSpeculation
            }
            SlotClass::Empty(FetchMispredict | FetchNoTarget | FetchMemoryOrder) => {
                TopDownCategory::BadSpeculation
            }
            SlotClass::Empty(_) => TopDownCategory::Frontend,
            SlotClass::Stalled(_) => TopDownCategory::Backend,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fate_has_a_place_of_its_own() {
        let places: Vec<usize> = SlotClass::all().map(SlotClass::index).collect();
        assert_eq!(places, (0..SlotClass::COUNT).collect::<Vec<usize>>());
    }
}
