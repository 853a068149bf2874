//! Drives single stages for directed tests, where a trace could not say what is tested.

pub(crate) mod rename_slots;
pub(crate) mod squashed_inst;
