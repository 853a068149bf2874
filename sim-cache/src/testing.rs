//! Brings units into a given state without counting, for scenarios and tests.

pub(crate) mod coherence_state;
pub(crate) mod state;
pub(crate) mod translation_state;
