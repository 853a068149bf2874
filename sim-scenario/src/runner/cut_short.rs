//! Instructions that an interrupt cuts short.

use crate::language::{Action, Case, Join, Step};

/// An instruction that an interrupt cut short. It runs again after the return from the handler.
#[derive(Clone, Debug)]
pub(super) struct CutShort {
    pub(super) step: Step,
    pub(super) addr: Option<u64>,
}

/// Returns true if the step after number `i` of the case interrupts it: `LD8 0x8000 & IRQ`.
pub(super) fn is_cut_short(case: &Case, i: usize) -> bool {
    let next = case.steps.get(i + 1);
    next.is_some_and(|next| next.join == Join::With && matches!(next.action, Action::Interrupt(_)))
}
