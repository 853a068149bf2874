//! Requests that units, flows and uncore exchange: to the L2, to the home node, and snoops.

use sim_core::chi::Message;
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
    /// Data on which the home node performs an atomic operation.
    Atomic,
}

impl CoherenceRequest {
    pub(crate) fn takes_away(self) -> bool {
        !matches!(self, CoherenceRequest::Read | CoherenceRequest::Code)
    }

    pub(crate) fn needs_data(self) -> bool {
        !matches!(self, CoherenceRequest::Upgrade | CoherenceRequest::Claim)
    }

    /// Returns whether the core receives the data, not the home node.
    pub(crate) fn takes_data_itself(self) -> bool {
        self.needs_data() && self != CoherenceRequest::Atomic
    }

    /// Returns the snoop that the other holders receive.
    pub(crate) fn snoop(self) -> Snoop {
        match self {
            CoherenceRequest::Read | CoherenceRequest::Code => Snoop::Forward,
            CoherenceRequest::Own | CoherenceRequest::Upgrade | CoherenceRequest::Atomic => {
                Snoop::Unique
            }
            CoherenceRequest::Claim => Snoop::MakeInvalid,
        }
    }

    /// Returns the message of the request.
    pub(crate) fn message(self) -> Message {
        match self {
            CoherenceRequest::Read | CoherenceRequest::Code => Message::ReadNotSharedDirty,
            CoherenceRequest::Own => Message::ReadUnique,
            CoherenceRequest::Upgrade => Message::MakeReadUnique,
            CoherenceRequest::Claim => Message::MakeUnique,
            CoherenceRequest::Atomic => Message::AtomicLoad,
        }
    }

    /// Returns the message of a snoop for the request, to a holder that sends its data to the core
    /// or to one that does not.
    pub(crate) fn snoop_message(self, forwards: bool) -> Message {
        match (self, forwards) {
            (CoherenceRequest::Read | CoherenceRequest::Code, true) => {
                Message::SnpNotSharedDirtyFwd
            }
            (CoherenceRequest::Read | CoherenceRequest::Code, false) => Message::SnpNotSharedDirty,
            (CoherenceRequest::Own, true) => Message::SnpUniqueFwd,
            (CoherenceRequest::Own | CoherenceRequest::Atomic, _) => Message::SnpUnique,
            (CoherenceRequest::Upgrade, _) => Message::SnpCleanInvalid,
            (CoherenceRequest::Claim, _) => Message::SnpMakeInvalid,
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
    /// Name of the snoop on the mesh.
    pub(crate) message: Message,
    /// Core that gets the data directly.
    pub(crate) requester: Option<u32>,
    /// The line lost its entry in the snoop filter.
    pub(crate) evicts: bool,
}

impl SnoopRequest {
    /// Creates a snoop whose kind determines whether clean data is sent.
    pub(crate) fn new(snoop: Snoop, line: LineAddr, at: Cycle) -> SnoopRequest {
        let message = match snoop {
            Snoop::Shared | Snoop::Forward => Message::SnpNotSharedDirty,
            Snoop::Unique => Message::SnpUnique,
            Snoop::Clean => Message::SnpCleanShared,
            Snoop::CleanInvalidate => Message::SnpCleanInvalid,
            Snoop::Invalidate | Snoop::MakeInvalid => Message::SnpMakeInvalid,
        };
        let forward = snoop == Snoop::Forward;
        SnoopRequest { line, snoop, forward, at, message, requester: None, evicts: false }
    }

    /// Returns whether the requester takes over the duty to write modified data back.
    pub(crate) fn takes_duty(self) -> bool {
        self.snoop == Snoop::Unique
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
