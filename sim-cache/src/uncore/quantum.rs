//! The uncore of a group of cores during a quantum ([`crate::quantum`]): its creation, beginning and
//! end.

use rustc_hash::{FxHashMap, FxHashSet};
use sim_core::{Cycle, LineAddr};

use crate::uncore::dram::Dram;
use crate::uncore::quantum_log::QuantumLog;
use crate::uncore::quantum_view::{FilterView, SlcView};
use crate::uncore::remote::RemotePages;
use crate::uncore::snoop_filter::Holders;
use crate::uncore::snoop_queue::SnoopQueues;
use crate::uncore::traffic::Traffic;
use crate::uncore::{Chip, Uncore};
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
    /// Returns an uncore that shows a group of cores the state of this one during a quantum.
    pub(crate) fn view(&self) -> Uncore {
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
}
