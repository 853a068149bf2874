//! Cortex-A53: an in-order, dual-issue core with its caches, TLBs and PMU events.
//!
//! Reading order: `event` names the events; `config` has every size and latency; `core` takes
//! instructions in program order through fetch, issue and write-back; `memory` has micro-TLBs, main
//! TLB, L1 caches, L2 cache and prefetcher; `code` has the static instructions of a trace, `part`
//! the part of it that counts, `cluster` runs it on up to four cores; `event_bus` and `pmu` receive
//! the events as bits of a bus and in counters; `overflow` samples the instructions at which a
//! counter overflows, `perf` counts in intervals and with shared counters, `profile` has the costs
//! of each instruction, `mispredictions` their lost slots; `seen` has the steps that a sink may
//! observe beside the events, and `flow` the charts of them; `stepper` and `bench` run loops.

pub mod bench;
mod branch;
pub mod cluster;
mod code;
pub mod config;
mod core;
mod error;
pub mod event;
pub mod event_bus;
pub mod flow;
mod front_end;
mod groups;
mod levels;
pub mod memory;
mod mispredictions;
pub mod overflow;
mod part;
pub mod perf;
pub mod pmu;
pub mod profile;
pub mod seen;
pub mod slots;
mod stepper;
mod timing;
mod view;

pub use cluster::{
    A53Config, A53CoreOutcome, A53Error, MAX_CORES, run, run_by_group, run_part, run_with_bus,
    run_with_pmu, run_with_sinks,
};
pub use event::{A53Condition, A53Counts, A53Event, A53Note, A53Sink, Issued};
pub use mispredictions::{MispredictionSlots, run_with_mispredictions};
pub use part::{Mark, Part, Region};
pub use pmu::{A53Pmu, PmuSink};
pub use slots::Slots;
pub use stepper::Stepper;
pub use view::{Reads, View, ViewUnit};
