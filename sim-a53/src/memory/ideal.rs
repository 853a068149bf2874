//! Costs that a configuration leaves out, to measure what they cost (`[memory.ideal]`).
//!
//! What costs no time books no shared resource either: nothing holds it back, so that it would
//! delay what still has a cost without limit. Events count as ever.

use super::cluster::Cluster;
use super::config::IdealData;
use super::supply::Request;

impl Cluster {
    /// Returns whether data accesses take the time of L1 hits.
    #[inline]
    pub(crate) fn is_ideal_beyond_l1(&self) -> bool {
        self.rules.ideal.data == IdealData::BeyondL1
    }

    /// Returns whether a line from outside an L1 cache costs no time.
    pub(crate) fn is_free(&self, request: Request) -> bool {
        match request {
            Request::Fetch => false,
            Request::Walk => self.rules.ideal.translation,
            Request::Read | Request::Write | Request::NonTemporal => self.is_ideal_beyond_l1(),
        }
    }

    /// Returns whether an L2 miss takes as long as an L2 hit.
    pub(crate) fn is_free_beyond_l2(&self, request: Request) -> bool {
        match request {
            Request::Fetch => false,
            Request::Walk => self.rules.ideal.translation,
            Request::Read | Request::Write | Request::NonTemporal => {
                self.rules.ideal.data >= IdealData::BeyondL2
            }
        }
    }

    /// Books the L2 RAMs for data that leaves an L1 data cache. Returns the cycle in which the
    /// access begins.
    pub(crate) fn begin_l2_write(&mut self, at: u64) -> u64 {
        if self.is_ideal_beyond_l1() { at } else { self.l2.begin(at) }
    }

    /// Writes cacheable data to external memory. Returns the cycle in which it leaves its sender.
    pub(crate) fn write_memory(&mut self, at: u64) -> u64 {
        if self.rules.ideal.data >= IdealData::BeyondL2 { at } else { self.bus.write(at) }
    }
}
