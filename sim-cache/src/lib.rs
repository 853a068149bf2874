//! The memory side of a Neoverse N2: TLBs, table walks, L1 and L2 caches, prefetchers, bus, mesh,
//! system level cache, DRAM. It answers [`sim_core::MemoryPort`] and raises the events of PMU guide
//! sections 4.1 to 4.6.
//!
//! Reading order: [`MemorySystem`] owns one [`CoreMemory`] per core and the shared part, and a
//! pipeline talks to its [`CorePort`]. `units` has the structures that keep state: caches, TLBs,
//! MSHRs, prefetchers. `flows` has one file per flow of guide chapter 5: a flow moves an access
//! through the units and raises its events. `uncore` has what the cores share: mesh, home nodes,
//! system level cache, snoop filter, DRAM. [`config`] holds the tables of the configuration, and
//! `testing` brings a unit into a given state without counting.
//!
//! Out of scope: asynchronous aborts and tag faults, the registers that report errors.

pub mod config;

mod core_memory;
mod flows;
mod testing;
mod uncore;
mod units;
mod warm;

pub use config::{IdealData, IdealMemory, MemoryConfig, SemanticsConfig};
pub use core_memory::{CoreMemory, CorePort, MemorySystem};
pub use flows::ras::Ram;
pub use testing::state::{CacheLevel, NotMapped, TlbLevel};
pub use units::mapping::{BadMapping, Mapping};
pub use units::memory_stats::{MemoryTally, Walks};
pub use units::page_map::{MemoryType, PageTarget};
pub use units::prefetch_stats::{PrefetchCounts, PrefetchStats};
pub use units::tag_array::Defect;
pub use warm::{Touch, TouchKind};
