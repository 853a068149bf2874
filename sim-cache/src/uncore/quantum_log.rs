//! Requests of a group of cores during a quantum, in their order, with the answers that they got
//! from their view of the home nodes. At the end of the quantum the home nodes perform them.

use sim_core::chi::Message;
use sim_core::{Cycle, DataSource, LineAddr, Snoop};

use crate::units::request::CoherenceRequest;

/// A request that changes the home nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Logged {
    /// [`super::Uncore::read`], and when and from where the view supplied the line.
    Read { request: CoherenceRequest, arrives: Cycle, source: DataSource },
    /// [`super::Uncore::request_without_data`].
    Claim(CoherenceRequest),
    /// [`super::Uncore::accept_victim`]: the line is dirty.
    Victim(bool),
    /// [`super::Uncore::accept_clean`].
    CleanCopy,
    /// [`super::Uncore::accept_snoop_data`].
    SnoopData,
    /// [`super::Uncore::drop_holder`].
    Drop,
    /// [`super::Uncore::perform`], with the copies of the core itself.
    Atomic { message: Message, own_copies: usize },
    /// [`super::Uncore::broadcast`]: the core held the line before.
    Maintenance { snoop: Snoop, held: bool },
}

/// A request with its time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Latest cycle of this request and all requests of the group before it. It orders the requests
    /// of all groups and keeps those of one group in their order.
    pub(crate) key: Cycle,
    pub(crate) core: usize,
    /// Cycle in which the request left the core.
    pub(crate) at: Cycle,
    pub(crate) line: LineAddr,
    pub(crate) request: Logged,
}

/// An access of a memory channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryAccess {
    pub(crate) key: Cycle,
    /// Cycle in which the request reaches the controller.
    pub(crate) at: Cycle,
    pub(crate) line: LineAddr,
    /// Cycle in which the view's memory answered.
    pub(crate) done: Cycle,
}

/// Log of a quantum.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuantumLog {
    pub(crate) entries: Vec<Entry>,
    pub(crate) memory: Vec<MemoryAccess>,
    /// Cores of the group.
    pub(crate) cores: Vec<usize>,
    /// Snoops of other cores that the requests cause: the core that gets it, and its line.
    pub(crate) snoops: Vec<(usize, LineAddr)>,
    /// A core did something that a view cannot do.
    pub(crate) needs_all: bool,
}

impl QuantumLog {
    /// Returns the key of the last request.
    pub(crate) fn last_key(&self) -> Cycle {
        self.entries.last().map_or(0, |entry| entry.key)
    }

    /// Begins the log of a group.
    pub(crate) fn begin(&mut self, cores: &[usize]) {
        self.cores.clear();
        self.cores.extend_from_slice(cores);
        self.entries.clear();
        self.memory.clear();
        self.snoops.clear();
        self.needs_all = false;
    }
}
