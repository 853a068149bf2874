//! Classes of rename slots (PMU guide 4.7, 4.12). Every slot has exactly one class.

use std::ops::{Deref, DerefMut};

use sim_core::{Lost, RootCause, StallCause};

/// Class of a rename slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotClass {
    /// Slot of an operation that retired.
    Retired,
    /// Slot of an operation after a mispredicted branch.
    SquashedByBranch,
    /// Slot of an operation squashed for another reason: a memory-order violation, or an
    /// instruction that did not complete.
    SquashedOther,
    /// Slot that the front end left empty, with the cause.
    Empty(StallCause),
    /// Slot that the back end did not accept, with the root cause.
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

/// Top-down category (level 1) of a rename slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TopDownCategory {
    /// Useful work.
    Retiring,
    /// Work on a wrong path, and the refill after it.
    BadSpeculation,
    /// No operation was delivered.
    Frontend,
    /// An operation was delivered and not accepted.
    Backend,
}

impl TopDownCategory {
    /// Number of categories.
    pub const COUNT: usize = 4;
}

impl SlotClass {
    /// Returns the class of a lost slot.
    #[inline]
    pub fn of(lost: &Lost) -> SlotClass {
        if lost.cause.is_frontend() {
            SlotClass::Empty(lost.cause)
        } else {
            SlotClass::Stalled(lost.root)
        }
    }

    /// Number of classes.
    pub const COUNT: usize = SlotClass::FIRST_ROOT + RootCause::COUNT - 1;

    /// Index of the first root cause: three classes of used slots and the front-end causes precede
    /// it.
    const FIRST_ROOT: usize = 3 + StallCause::FRONT_END;

    /// Returns every class, by index.
    pub fn all() -> impl Iterator<Item = SlotClass> {
        let used = [SlotClass::Retired, SlotClass::SquashedByBranch, SlotClass::SquashedOther];
        let empty = StallCause::ALL.into_iter().filter(|cause| cause.is_frontend());
        let stalled = RootCause::back_end().map(SlotClass::Stalled);
        used.into_iter().chain(empty.map(SlotClass::Empty)).chain(stalled)
    }

    /// Returns the position in a table of all classes.
    #[inline]
    pub fn index(self) -> usize {
        match self {
            SlotClass::Retired => 0,
            SlotClass::SquashedByBranch => 1,
            SlotClass::SquashedOther => 2,
            SlotClass::Empty(cause) => 3 + cause as usize,
            // The first root cause is the one of the front end and has no class.
            SlotClass::Stalled(root) => SlotClass::FIRST_ROOT + root as usize - 1,
        }
    }

    /// Returns the top-down category. Slots left empty by a squash are bad speculation.
    #[inline]
    pub fn category(self) -> TopDownCategory {
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
    fn every_class_has_its_own_index() {
        let places: Vec<usize> = SlotClass::all().map(SlotClass::index).collect();
        assert_eq!(places, (0..SlotClass::COUNT).collect::<Vec<usize>>());
    }
}
