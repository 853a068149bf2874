//! The memory side of a Neoverse N2: TLBs, table walks, L1 and L2 caches, prefetchers, bus, mesh,
//! system level cache, DRAM. It answers [`sim_core::MemoryPort`] and raises the events of PMU guide
//! sections 4.1 to 4.6.
//!
//! In reading order: [`MemorySystem`] holds one [`CoreMemory`] per core and the shared part;
//! [`CorePort`] is what a pipeline is given. The flows of guide chapter 5 are one file each:
//! `translate` and `walk`, `data_side` and `store_side`, `fetch_side`, `l2`. What lies outside is one file per block:
//! `bus`, `mesh`, `home_node`, `slc`, `snoop_filter`, `dram`, `remote`, composed by `uncore`; `coherence`
//! decides who has a line. [`config`] holds the tables of the configuration, `setup` what a scenario needs to reach its "given".
//!
//! Out of scope: asynchronous aborts and tag faults, the registers that report errors.

pub mod config;

mod address_space;
mod alias;
mod aligned;
mod alignment;
mod atomic;
mod bus;
mod calendar;
mod coherence;
mod coherent_fetch;
mod cores;
mod data_prefetch;
mod data_side;
mod dram;
mod errors;
mod far_atomic;
mod fetch_side;
mod fragment;
mod hierarchy;
mod hits;
mod home_node;
mod indexed;
mod l2;
mod l2_prefetch;
mod l2_tlb;
mod level;
mod mailbox;
mod maintenance;
mod mapping;
mod mesh;
mod monitor;
mod mshr;
mod page_map;
mod pending;
mod prefetch;
mod prefetch_stats;
mod remote;
mod replacement;
mod setup;
mod slc;
mod snoop;
mod snoop_filter;
mod stash;
mod store_prefetch;
mod store_side;
mod tag_array;
mod tags;
mod tally;
mod tlb;
mod tlb_maintenance;
mod translate;
mod translation_setup;
mod uncore;
mod waits;
mod walk;
mod walker;
mod warm;
mod write_stream;

pub use config::{IdealData, IdealMemory, MemoryConfig, SemanticsConfig};
pub use errors::Ram;
pub use hierarchy::{CoreMemory, CorePort, MemorySystem};
pub use mapping::{BadMapping, Mapping};
pub use page_map::{MemoryType, PageTarget};
pub use prefetch_stats::{PrefetchCounts, PrefetchStats};
pub use setup::{CacheLevel, NotMapped, TlbLevel};
pub use tag_array::Defect;
pub use tally::{MemoryTally, Walks};
pub use warm::{Touch, TouchKind};
