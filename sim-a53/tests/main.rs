//! Tests of the Cortex-A53 model.

mod event;
mod event_bus;
mod flow;
mod loop_exit;
mod memory;
mod on_record;
mod pipeline;
mod pmu;
mod traces;
