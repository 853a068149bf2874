//! Cortex-A53: an in-order, dual-issue core with its caches, TLBs and PMU events.
//!
//! Reading order: `event` names the events; `config` has every size and latency; `core` takes
//! instructions in program order through fetch, issue and write-back; `memory` has micro-TLBs, main
//! TLB, L1 caches, L2 cache and prefetcher; `cluster` runs a trace on up to four cores.

pub mod bench;
mod branch;
pub mod cluster;
pub mod config;
mod core;
pub mod event;
pub mod event_bus;
mod front_end;
pub mod memory;
pub mod slots;
mod timing;

pub use cluster::{A53Config, A53CoreOutcome, A53Error, MAX_CORES, run, run_with_bus};
pub use event::{A53Condition, A53Counts, A53Event, A53Sink};
pub use slots::Slots;
