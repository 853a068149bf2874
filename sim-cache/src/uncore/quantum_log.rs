//! Requests of a group of cores during a quantum, in their order, with the answers that they got
//! from their view of the home nodes. At the end of the quantum the home nodes perform them.

use sim_core::chi::Message;
use sim_core::{Cycle, DataSource, LineAddr, Snoop};

use crate::uncore::{Uncore, UncoreReply};
use crate::units::request::CoherenceRequest;

/// A request that changes the home nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Logged {
    /// [`Uncore::read`], and when and from where the view supplied the line.
    Read { request: CoherenceRequest, arrives: Cycle, source: DataSource },
    /// [`Uncore::request_without_data`].
    Claim(CoherenceRequest),
    /// [`Uncore::accept_victim`]: the line is dirty.
    Victim(bool),
    /// [`Uncore::accept_clean`].
    CleanCopy,
    /// [`Uncore::accept_snoop_data`].
    SnoopData,
    /// [`Uncore::drop_holder`].
    Drop,
    /// [`Uncore::perform`], with the copies of the core itself.
    Atomic { message: Message, own_copies: usize },
    /// [`Uncore::broadcast`]: the core held the line before.
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
    fn last_key(&self) -> Cycle {
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

impl Uncore {
    /// Notes a request of a core of this view. `at` is `None` for a message whose time has no
    /// effect.
    #[inline]
    pub(crate) fn log(&mut self, core: usize, line: LineAddr, at: Option<Cycle>, request: Logged) {
        if let Some(log) = &mut self.log {
            let last = log.last_key();
            let at = at.unwrap_or(last);
            log.entries.push(Entry { key: at.max(last), core, at, line, request });
        }
    }

    /// Notes the answer to the last read of this view.
    #[inline]
    pub(crate) fn log_reply(&mut self, place: Option<usize>, reply: &UncoreReply) {
        if let (Some(log), Some(place)) = (&mut self.log, place)
            && let Logged::Read { arrives, source, .. } = &mut log.entries[place].request
        {
            (*arrives, *source) = (reply.arrives, reply.source);
        }
    }

    /// Returns the place of the next request in the log of a view.
    #[inline]
    pub(crate) fn log_place(&self) -> Option<usize> {
        self.log.as_ref().map(|log| log.entries.len())
    }

    /// Notes an access of memory in this view.
    #[inline]
    pub(crate) fn log_memory(&mut self, line: LineAddr, at: Cycle, done: Cycle) {
        if let Some(log) = &mut self.log {
            log.memory.push(MemoryAccess { key: at.max(log.last_key()), at, line, done });
        }
    }

    /// Notes that the core of a view does something that needs all cores.
    pub(crate) fn log_needs_all(&mut self) {
        if let Some(log) = &mut self.log {
            log.needs_all = true;
        }
    }

    /// Performs a request of a log. The cores of its group have got the snoops of one another
    /// already. Returns by how many cycles the answer to a read comes later or earlier than in the
    /// view, and whether another part supplied it.
    pub(crate) fn perform_logged(
        &mut self,
        log: &QuantumLog,
        place: usize,
    ) -> Option<(Cycle, bool)> {
        self.snooped.clone_from(&log.cores);
        let off = self.perform_entry(&log.entries[place]);
        self.snooped.clear();
        off
    }

    fn perform_entry(&mut self, entry: &Entry) -> Option<(Cycle, bool)> {
        let Entry { core, line, at, .. } = *entry;
        match entry.request {
            Logged::Read { request, arrives, source } => {
                let reply = self.read(core, line, request, at);
                return Some((reply.arrives.abs_diff(arrives), reply.source != source));
            }
            Logged::Claim(request) => {
                self.request_without_data(core, line, request, at);
            }
            Logged::Victim(dirty) => {
                self.accept_victim(core, line, dirty, at);
            }
            Logged::CleanCopy => self.accept_clean(core, line, at),
            Logged::SnoopData => self.accept_snoop_data(core, line, at),
            Logged::Drop => self.drop_holder(core, line),
            Logged::Atomic { message, own_copies } => {
                self.perform(core, line, message, own_copies, at);
            }
            Logged::Maintenance { snoop, held } => {
                self.broadcast(core, snoop, line, held, at);
            }
        }
        None
    }
}
