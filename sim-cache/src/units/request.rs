//! Requests that units, flows and uncore exchange: to the L2, to the home node, and snoops.

use sim_core::{Cycle, LineAddr, Snoop};

/// Cause of a request to the L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum L2Request {
    /// L1 D-cache miss of a load.
    Load,
    /// L1 D-cache miss of a near atomic: a read of a line that is then written.
    Atomic,
    /// L1 D-cache miss of a store.
    Store,
    /// L1 I-cache miss; I-side prefetches count as fetches (decision A35).
    Fetch,
    /// Preload instruction.
    Preload,
    /// L1 D prefetcher.
    L1Prefetch,
    /// The L2's own prefetcher.
    L2Prefetch,
    /// Store whose address is known and that has not been written yet.
    StorePrefetch,
    /// Descriptor read of a table walk.
    Walk,
}

impl L2Request {
    /// Returns whether the line will be written. The core then needs the only copy.
    pub(crate) fn writes(self) -> bool {
        self.coherence_request() == CoherenceRequest::Own
    }

    /// Returns whether the line is data: neither code nor a descriptor.
    pub(crate) fn is_data(self) -> bool {
        !matches!(self, L2Request::Fetch | L2Request::Walk)
    }

    /// Returns whether the line goes no further than the L2.
    pub(crate) fn stays_in_l2(self) -> bool {
        matches!(self, L2Request::L2Prefetch | L2Request::StorePrefetch)
    }

    pub(crate) fn coherence_request(self) -> CoherenceRequest {
        match self {
            L2Request::Store | L2Request::StorePrefetch | L2Request::Atomic => {
                CoherenceRequest::Own
            }
            L2Request::Fetch => CoherenceRequest::Code,
            _ => CoherenceRequest::Read,
        }
    }
}

/// Request of a core for a line, by the rights that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CoherenceRequest {
    /// Data to read.
    Read,
    /// Data to execute, which other cores are likely to need too.
    Code,
    /// Data to write.
    Own,
    /// Ownership of a copy that the core holds, to write it.
    Upgrade,
    /// Ownership without data, to overwrite the whole line.
    Claim,
}

impl CoherenceRequest {
    pub(crate) fn takes_away(self) -> bool {
        matches!(self, CoherenceRequest::Own | CoherenceRequest::Upgrade | CoherenceRequest::Claim)
    }

    pub(crate) fn needs_data(self) -> bool {
        !matches!(self, CoherenceRequest::Upgrade | CoherenceRequest::Claim)
    }

    /// Returns the snoop that the other holders receive.
    pub(crate) fn snoop(self) -> Snoop {
        match self {
            CoherenceRequest::Read | CoherenceRequest::Code => Snoop::Forward,
            CoherenceRequest::Own | CoherenceRequest::Upgrade => Snoop::Unique,
            CoherenceRequest::Claim => Snoop::MakeInvalid,
        }
    }
}

/// Snoop on its way to a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SnoopRequest {
    /// Address of the line.
    pub(crate) line: LineAddr,
    /// Kind of the snoop.
    pub(crate) snoop: Snoop,
    /// The core sends clean data too, directly to the requester.
    pub(crate) forward: bool,
    /// Cycle at which the snoop reaches the core.
    pub(crate) at: Cycle,
}

impl SnoopRequest {
    /// Creates a snoop whose kind determines whether clean data is sent.
    pub(crate) fn new(snoop: Snoop, line: LineAddr, at: Cycle) -> SnoopRequest {
        SnoopRequest { line, snoop, forward: snoop == Snoop::Forward, at }
    }
}

/// Returns whether the snoop removes every copy.
pub(crate) fn invalidates(snoop: Snoop) -> bool {
    match snoop {
        Snoop::Shared | Snoop::Forward | Snoop::Clean => false,
        Snoop::Unique | Snoop::CleanInvalidate | Snoop::Invalidate | Snoop::MakeInvalid => true,
    }
}

/// Returns whether the copy that stays is no longer the only one.
pub(crate) fn shares(snoop: Snoop) -> bool {
    matches!(snoop, Snoop::Shared | Snoop::Forward)
}

/// Returns whether the other agent takes modified data.
pub(crate) fn takes_data(snoop: Snoop) -> bool {
    !matches!(snoop, Snoop::Invalidate | Snoop::MakeInvalid)
}
