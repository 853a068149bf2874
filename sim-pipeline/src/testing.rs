//! Drives single stages for directed tests of cases that a trace cannot express.

pub(crate) mod rename_slots;
pub(crate) mod squashed_inst;
