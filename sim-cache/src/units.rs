//! Structures that keep state between accesses. A unit knows its own state, no flow and no event
//! of another unit.

pub(crate) mod address_space;
pub(crate) mod bandwidth;
pub(crate) mod bus;
pub(crate) mod cache;
pub(crate) mod cores;
pub(crate) mod host_aligned;
pub(crate) mod indexed;
pub(crate) mod l2_tlb;
pub(crate) mod mapping;
pub(crate) mod memory_stats;
pub(crate) mod miss_intervals;
pub(crate) mod monitor;
pub(crate) mod mshr;
pub(crate) mod page_map;
pub(crate) mod prefetch;
pub(crate) mod prefetch_stats;
pub(crate) mod replacement;
pub(crate) mod tag_array;
pub(crate) mod tlb;
pub(crate) mod waits;
pub(crate) mod walker;
pub(crate) mod write_stream;
