//! The flows of PMU guide chapter 5, one file each.
//!
//! A flow moves an access through the units and the uncore and raises its events on the way.

pub(crate) mod access_events;
pub(crate) mod alias;
pub(crate) mod alignment;
pub(crate) mod atomic;
pub(crate) mod coherence;
pub(crate) mod coherent_fetch;
pub(crate) mod dvm;
pub(crate) mod exclusive;
pub(crate) mod far_atomic;
pub(crate) mod fragment;
pub(crate) mod l1_hit_path;
pub(crate) mod l1d_load;
pub(crate) mod l1d_prefetch;
pub(crate) mod l1d_store;
pub(crate) mod l1i_fetch;
pub(crate) mod l2;
pub(crate) mod l2_prefetch;
pub(crate) mod maintenance;
pub(crate) mod mte;
pub(crate) mod ras;
pub(crate) mod snoop;
pub(crate) mod stash;
pub(crate) mod store_prefetch;
pub(crate) mod tlb_maintenance;
pub(crate) mod translate;
pub(crate) mod walk;
