//! Tests of the Cortex-A53 model.

mod event;
mod memory;
mod pipeline;
mod traces;
