//! Cortex-A53: an in-order, dual-issue core with its caches, TLBs and PMU events.
//!
//! Reading order: `event` names the events; `config` has every size and latency; `core` takes
//! instructions in program order through fetch, issue and write-back; `memory` has micro-TLBs, main
//! TLB, L1 caches, L2 cache and prefetcher; `cluster` runs a trace on up to four cores.

pub mod event;
pub mod memory;

pub use event::{A53Counts, A53Event, A53Sink};
