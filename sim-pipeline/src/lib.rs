//! Out-of-order core of Neoverse N2: each operation passes through the stages once, in program
//! order.
//!
//! In scope: front end with prediction, rename and dispatch, issue to thirteen pipes, execution,
//! load/store ordering and forwarding, retirement, wrong-path execution. Out of scope: caches and
//! TLBs, which the core reaches through [`sim_core::MemoryPort`], and the trace file, which the
//! machine reads.
//!
//! Reading order: `stage_list` has the stage list ([`Pipeline::run_inst`]). `stages` has one file
//! per stage. A stage is a function that takes an operation and the units it needs, and returns a
//! cycle. `units` has the structures that keep state: branch predictors, queues, pipes,
//! scoreboard. No clock ticks: each stage computes its cycle. `testing` drives single stages for
//! directed tests.

pub mod config;

mod op;
mod pipeline;
mod route;
mod stage_list;
mod stages;
mod testing;
mod units;

pub use config::PipelineConfig;
pub use op::Step;
pub use pipeline::Pipeline;
pub use stages::in_order::{InOrderEngine, InstSpan, Part};
pub use stages::in_order_access;
pub use stages::training::WrongPathPort;
pub use testing::rename_slots::Offer;
pub use units::branch;
pub use units::recorded_exception::RecordedException;
pub use units::slots::SLOTS;
