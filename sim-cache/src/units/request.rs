//! Requests that pass between units, flows and uncore: to the L2, to the home node, and snoops.

use sim_core::{Cycle, LineAddr, Snoop};

/// Why the L2 is asked for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum L2Request {
    /// L1 D-cache miss of a load.
    Load,
    /// L1 D-cache miss of a near atomic: a read, of a line that is then written.
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
    /// A store whose address is known and that has not been written yet.
    StorePrefetch,
    /// Descriptor read of a table walk.
    Walk,
}

impl L2Request {
    /// The line is to be written: it must be this core's alone.
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

/// What a core wants of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CoherenceRequest {
    /// Its data, to read.
    Read,
    /// Its data, to execute: other cores are likely to want it too.
    Code,
    /// Its data, to write.
    Own,
    /// To write a copy that it has.
    Upgrade,
    /// To overwrite all of it.
    Claim,
}

impl CoherenceRequest {
    pub(crate) fn takes_away(self) -> bool {
        matches!(self, CoherenceRequest::Own | CoherenceRequest::Upgrade | CoherenceRequest::Claim)
    }

    pub(crate) fn needs_data(self) -> bool {
        !matches!(self, CoherenceRequest::Upgrade | CoherenceRequest::Claim)
    }

    /// What the other holders are told.
    pub(crate) fn snoop(self) -> Snoop {
        match self {
            CoherenceRequest::Read | CoherenceRequest::Code => Snoop::Forward,
            CoherenceRequest::Own | CoherenceRequest::Upgrade => Snoop::Unique,
            CoherenceRequest::Claim => Snoop::MakeInvalid,
        }
    }
}

/// A snoop on its way to a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SnoopRequest {
    /// Which line.
    pub(crate) line: LineAddr,
    /// What the other agent wants.
    pub(crate) snoop: Snoop,
    /// Clean data is sent too, straight to the agent that asks.
    pub(crate) forward: bool,
    /// When it reaches the core.
    pub(crate) at: Cycle,
}

impl SnoopRequest {
    /// A snoop as its name says.
    pub(crate) fn new(snoop: Snoop, line: LineAddr, at: Cycle) -> SnoopRequest {
        SnoopRequest { line, snoop, forward: snoop == Snoop::Forward, at }
    }
}

/// True when no copy may stay.
pub(crate) fn invalidates(snoop: Snoop) -> bool {
    match snoop {
        Snoop::Shared | Snoop::Forward | Snoop::Clean => false,
        Snoop::Unique | Snoop::CleanInvalidate | Snoop::Invalidate | Snoop::MakeInvalid => true,
    }
}

/// True when the copy that stays is no longer the only one.
pub(crate) fn shares(snoop: Snoop) -> bool {
    matches!(snoop, Snoop::Shared | Snoop::Forward)
}

/// True when the other agent takes modified data at all.
pub(crate) fn takes_data(snoop: Snoop) -> bool {
    !matches!(snoop, Snoop::Invalidate | Snoop::MakeInvalid)
}
