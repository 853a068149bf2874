//! Tests of the Cortex-A53 model.

mod event;
mod event_bus;
mod flow;
mod ideal;
mod loop_exit;
mod memory;
mod observed;
mod on_record;
mod part;
mod perf;
mod pipeline;
mod pmu;
mod traces;
mod wrong_path;
