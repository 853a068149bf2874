//! Tests of the Cortex-A53 model.

mod event;
mod event_bus;
mod memory;
mod pipeline;
mod pmu;
mod traces;
