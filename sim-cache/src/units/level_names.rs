//! Names of the caches and TLBs of a machine, for callers that select one.

/// TLB of one core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlbLevel {
    /// L1 instruction TLB.
    L1i,
    /// L1 data TLB.
    L1d,
    /// L2 TLB.
    L2,
}

/// Cache in which a line can be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheLevel {
    /// L1 instruction cache (and, by inclusion, the L2).
    L1i,
    /// L1 data cache (and, by inclusion, the L2).
    L1d,
    /// L2 cache.
    L2,
    /// System level cache, shared by all cores.
    Slc,
}
