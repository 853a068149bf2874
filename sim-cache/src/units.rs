//! Structures that keep state between accesses, and the small types that units, flows and uncore
//! exchange.
//!
//! A unit uses its own state and other units. It imports nothing from `flows`, `uncore`,
//! `core_memory` or `memory_system`.

pub(crate) mod address_space;
pub(crate) mod allocation_tags;
pub(crate) mod bandwidth;
pub(crate) mod bus;
pub(crate) mod cache;
pub(crate) mod error_source;
pub(crate) mod exclusive_monitor;
pub(crate) mod host_aligned;
pub(crate) mod indexed;
pub(crate) mod l2_streams;
pub(crate) mod l2_tlb;
pub(crate) mod level_names;
pub(crate) mod mapping;
pub(crate) mod memory_stats;
pub(crate) mod miss_intervals;
pub(crate) mod mshr;
pub(crate) mod page_map;
pub(crate) mod prefetch;
pub(crate) mod prefetch_stats;
pub(crate) mod presence;
pub(crate) mod replacement;
pub(crate) mod request;
pub(crate) mod requester;
pub(crate) mod tag_array;
pub(crate) mod tlb;
pub(crate) mod waits;
pub(crate) mod walker;
pub(crate) mod write_stream;
