//! The memory side of a Neoverse N2: TLBs, table walks, L1 and L2 caches, prefetchers, bus, mesh,
//! system level cache, DRAM. It answers [`sim_core::MemoryPort`] and raises the events of PMU guide
//! sections 4.1 to 4.6.
//!
//! Reading order: [`MemorySystem`] owns one [`CoreMemory`] per core and the shared uncore, and a
//! pipeline uses its [`CorePort`]. `units` holds the structures that keep state: caches, TLBs,
//! MSHRs, prefetchers. `flows` has one file per flow of guide chapter 5: a flow moves an access
//! through the units and raises its events. `uncore` holds the parts that the cores share: mesh,
//! home nodes, system level cache, snoop filter, DRAM. [`config`] holds the tables of the
//! configuration, and `testing` brings a unit into a given state without counting.
//!
//! `contents` reads sets and entries for viewers.
//!
//! Imports go one way: units use units; `core_memory` owns units; flows use `core_memory`, units
//! and uncore; `testing` uses all of them.
//!
//! Out of scope: asynchronous aborts and tag faults, the registers that report errors.

pub mod config;

mod contents;
mod core_memory;
mod cores;
mod flows;
mod memory_system;
pub mod quantum;
mod testing;
mod uncore;
mod units;
mod warm;

pub use config::{IdealData, IdealMemory, MemoryConfig, SemanticsConfig};
pub use contents::{Contents, HeldLine, HeldPage, HeldSet};
pub use core_memory::CoreMemory;
pub use flows::ras::Ram;
pub use memory_system::{CorePort, MemorySystem};
pub use uncore::mesh::floor_plan;
pub use units::level_names::{CacheLevel, TlbLevel};
pub use units::mapping::{BadMapping, Mapping, MemoryType};
pub use units::memory_stats::{MemoryStats, Walks};
pub use units::page_map::{NotMapped, PageTarget};
pub use units::prefetch_stats::{PrefetchCounts, PrefetchStats};
pub use units::tag_array::Defect;
pub use warm::{Touch, TouchKind};
