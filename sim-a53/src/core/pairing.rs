//! Pairs: which two instructions may issue in one cycle.

use super::{Core, Group};
use crate::timing::{Timing, Unit};

impl Core {
    /// Returns whether the instruction may issue in the cycle of the group, which has one
    /// instruction.
    #[inline]
    pub(super) fn may_pair(&self, older: &Group, younger: &Timing) -> bool {
        self.dual_issue
            && !older.is_alone
            && !younger.is_alone
            && !younger.is_older_only
            && !excludes(older, younger)
    }
}

/// Returns whether the two need the same unit. GCC's model names the units; qsdr measured the pairs
/// of vector operations and accesses.
#[inline]
fn excludes(older: &Group, younger: &Timing) -> bool {
    match older.unit {
        Unit::Integer => false,
        // A full vector operation leaves no half for another one, or for vector data of an access.
        Unit::FullVector | Unit::VectorDivide => younger.is_vector || younger.is_vector_access,
        Unit::HalfVector => false,
        unit => unit == younger.unit,
    }
}
