//! The uncore of a group of cores during a quantum ([`crate::quantum`]): creation, beginning and
//! end, its log, and the requests of a log that the machine's own uncore performs.

use rustc_hash::{FxHashMap, FxHashSet};
use sim_core::{Cycle, LineAddr};

use crate::uncore::dram::Dram;
use crate::uncore::quantum_log::{Entry, Logged, MemoryAccess, QuantumLog};
use crate::uncore::quantum_view::{FilterView, SlcView};
use crate::uncore::remote::RemotePages;
use crate::uncore::snoop_filter::Holders;
use crate::uncore::snoop_queue::SnoopQueues;
use crate::uncore::traffic::Traffic;
use crate::uncore::{Chip, Uncore, UncoreReply};
use crate::units::allocation_tags::AllocationTags;

/// Copy of the memory of all chips.
#[derive(Debug)]
pub(crate) struct MemoryAlone {
    drams: Vec<Dram>,
    remote: RemotePages,
}

impl MemoryAlone {
    /// Accesses a line, as [`Dram::access`] does.
    pub(crate) fn access(&mut self, line: LineAddr, at: Cycle) -> Cycle {
        self.drams[usize::from(self.remote.has(line))].access(line, at)
    }
}

impl Uncore {
    /// Returns an uncore that shows a group of cores the state of this one during a quantum. Pages,
    /// checks of tags, fixed suppliers and agents outside do not change then.
    pub(crate) fn view(&self) -> Uncore {
        let has_others = !self.suppliers.is_empty() || !self.external.is_empty();
        debug_assert!(!has_others && !self.tags.checks, "only scenarios have them");
        let chip = |chip: &Chip| Chip {
            slc: chip.slc.as_ref().map(|_| SlcView::view()),
            dram: chip.dram.clone(),
        };
        let mut traffic = Traffic::new(self.mesh.plan(), 100);
        traffic.leave_uncounted();
        Uncore {
            page_map: self.page_map.clone(),
            snoops: SnoopQueues::new(self.cores),
            filter: self.filter.as_ref().map(|_| FilterView::view()),
            others: Holders::new(),
            chips: self.chips.iter().map(chip).collect(),
            traffic,
            mesh: self.mesh.clone(),
            contention: self.contention.clone(),
            tags: AllocationTags::default(),
            poisoned: FxHashSet::default(),
            suppliers: FxHashMap::default(),
            external: FxHashSet::default(),
            log: Some(Box::default()),
            snooped: Vec::new(),
            ..*self
        }
    }

    /// Begins a quantum of these cores in the uncore of a view, where they answer their waiting
    /// snoops.
    pub(crate) fn begin_quantum(&mut self, cores: &[usize], view: &mut Uncore) {
        for (own, whole) in view.chips.iter_mut().zip(&self.chips) {
            if let (Some(own), Some(whole)) = (&mut own.slc, &whole.slc) {
                own.begin(whole);
            }
            own.dram.clone_from(&whole.dram);
        }
        if let (Some(own), Some(whole)) = (&mut view.filter, &self.filter) {
            own.begin(whole);
        }
        for core in cores {
            self.snoops.move_to(*core, &mut view.snoops);
        }
        view.log.as_mut().expect("a view has a log").begin(cores);
    }

    /// Ends a quantum in the uncore of a view, and returns its log.
    pub(crate) fn end_quantum(&mut self) -> &QuantumLog {
        for slc in self.chips.iter_mut().filter_map(|chip| chip.slc.as_mut()) {
            slc.end();
        }
        self.filter.iter_mut().for_each(FilterView::end);
        self.log.as_ref().expect("a view has a log")
    }

    /// Returns the memory of all chips, with its bookings and apart from everything else.
    pub(crate) fn memory_alone(&self) -> MemoryAlone {
        let drams = self.chips.iter().map(|chip| chip.dram.clone()).collect();
        MemoryAlone { drams, remote: self.remote }
    }

    /// Returns the log of a view.
    pub(crate) fn logged(&self) -> &QuantumLog {
        self.log.as_ref().expect("a view has a log")
    }

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
