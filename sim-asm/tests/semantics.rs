//! Results of instructions.
