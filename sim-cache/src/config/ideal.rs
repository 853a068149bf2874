//! `[memory.ideal]`: parts of the memory system that cost no time, to measure their usual cost.

use serde::Deserialize;

/// First level beyond which data accesses cost no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdealData {
    /// Nowhere: every access takes its modeled time.
    #[default]
    Nowhere,
    /// Beyond the L2: an L2 miss of a data access takes as long as an L2 hit.
    BeyondL2,
    /// Beyond the L1 D-cache: every cacheable access takes as long as an L1 hit.
    BeyondL1,
}

/// `[memory.ideal]`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct IdealMemory {
    /// Loads, stores, atomics and preloads of cacheable memory, and data prefetches.
    pub data: IdealData,
    /// L1 TLB misses, on either side, take no time.
    pub translation: bool,
}
