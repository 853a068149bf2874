//! Parity and ECC errors: their detection, their event, and the propagation of poison. PMU guide
//! 3.2.20 and 4.6.3, decision A28.
//!
//! The L1 D-cache corrects one bit and detects two; the L1 I-cache only detects. `MEMORY_ERROR`
//! counts once where an error is detected. It never counts for the L2, which corrects silently or
//! passes its data on as poisoned. Poison is not a new error: it aborts its consumer. Not modeled:
//! errors of TLB RAMs, SError (an uncorrectable error is reported synchronously), the RAS
//! registers.

use sim_core::{AccessOutcome, EventSink, LineAddr, MemReply, PmuEvent, VirtAddr};

use crate::core_memory::CoreMemory;
use crate::memory_system::MemorySystem;
use crate::units::cache::Cache;
use crate::units::indexed::Indexed;
use crate::units::level_names::CacheLevel;
use crate::units::page_map::NotMapped;
use crate::units::tag_array::{Defect, EntryIndex};

/// Memory array of a core in which a bit can flip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ram {
    /// Data of the L1 D-cache (ECC).
    L1dData,
    /// Tags of the L1 D-cache (ECC).
    L1dTag,
    /// Data of the L1 I-cache (parity).
    L1iData,
    /// Tags of the L1 I-cache (parity).
    L1iTag,
    /// Data of the L2 (ECC).
    L2Data,
}

impl Ram {
    fn level(self) -> CacheLevel {
        match self {
            Ram::L1dData | Ram::L1dTag => CacheLevel::L1d,
            Ram::L1iData | Ram::L1iTag => CacheLevel::L1i,
            Ram::L2Data => CacheLevel::L2,
        }
    }
}

impl MemorySystem {
    /// Flips bits in a memory array of a core where the line of `addr` is. Places the line there
    /// first if it is absent. Nothing is counted until an access detects the error.
    ///
    /// # Errors
    ///
    /// [`NotMapped`] when the page faults.
    pub fn inject(
        &mut self,
        core: usize,
        addr: VirtAddr,
        ram: Ram,
        defect: Defect,
    ) -> Result<(), NotMapped> {
        self.place_line(core, addr, ram.level(), false)?;
        let line = self.line_of(addr)?;
        let core = &mut self.cores[core];
        let cache = match ram.level() {
            CacheLevel::L1i => &mut core.l1i,
            CacheLevel::L1d => &mut core.l1d,
            CacheLevel::L2 | CacheLevel::Slc => &mut core.l2,
        };
        let line = Indexed::virtually(addr, line);
        let entry = cache.find(line).or_else(|| cache.probe(line.physical));
        let entry = entry.expect("the line was just placed");
        match ram {
            Ram::L1dTag | Ram::L1iTag => cache.break_tag(entry, defect),
            Ram::L1dData | Ram::L1iData | Ram::L2Data => {
                cache.set_state(entry, cache.state(entry).with_defect(defect));
            }
        }
        Ok(())
    }
}

/// Outcome of a read of stored data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checked {
    /// No error.
    Sound,
    /// One wrong bit, corrected: the read is repeated.
    Corrected,
    /// Two wrong bits, detected by this access.
    Broken,
    /// Poison from an earlier error.
    Poisoned,
}

impl Checked {
    /// Returns whether the data cannot be used.
    pub(crate) fn is_lost(self) -> bool {
        matches!(self, Checked::Broken | Checked::Poisoned)
    }

    /// Adds the outcome to the reply of the access that consumed the data.
    pub(crate) fn add_to(self, reply: &mut MemReply) {
        if matches!(self, Checked::Corrected | Checked::Broken) {
            reply.outcome.add(AccessOutcome::ERROR);
        }
        if self.is_lost() {
            reply.outcome.add(AccessOutcome::FAULT.with(AccessOutcome::EXTERNAL));
        }
    }
}

impl CoreMemory {
    /// Checks the data of an L1 D-cache entry that an access reads. Scrubs a corrected line and
    /// poisons a broken one, because the access may never retire.
    pub(crate) fn check_l1d_data<S: EventSink>(
        &mut self,
        entry: EntryIndex,
        sink: &mut S,
    ) -> Checked {
        let state = self.l1d.state(entry);
        let (checked, left) = match state.defect() {
            Defect::None => return Checked::Sound,
            Defect::Poisoned => return Checked::Poisoned,
            Defect::Correctable => (Checked::Corrected, Defect::None),
            Defect::Uncorrectable => (Checked::Broken, Defect::Poisoned),
        };
        sink.raise(PmuEvent::MEMORY_ERROR);
        self.l1d.set_state(entry, state.with_defect(left));
        checked
    }

    /// Checks modified data that leaves the L1 D-cache. Returns whether it leaves as poisoned.
    pub(crate) fn check_written_back<S: EventSink>(&self, defect: Defect, sink: &mut S) -> bool {
        if matches!(defect, Defect::Correctable | Defect::Uncorrectable) {
            sink.raise(PmuEvent::MEMORY_ERROR);
        }
        matches!(defect, Defect::Uncorrectable | Defect::Poisoned)
    }

    /// Repairs the broken tags of every set that may hold a line.
    pub(crate) fn repair_l1d_tags<S: EventSink>(&mut self, line: LineAddr, sink: &mut S) {
        for set in self.l1d.sets_of(line) {
            self.repair_l1d_set(set, sink);
        }
    }

    /// Repairs the broken tags of an L1 D-cache set that an access reads. ECC corrects one bit.
    /// With two wrong bits the line is lost: a clean line is removed, modified data is poisoned.
    pub(crate) fn repair_l1d_set<S: EventSink>(&mut self, set: u32, sink: &mut S) {
        while let Some(broken) = self.l1d.repair_tag(set) {
            sink.raise(PmuEvent::MEMORY_ERROR);
            let Some((lost, state)) = self.l1d.content(broken.entry) else { continue };
            if broken.defect == Defect::Correctable {
                continue;
            }
            if state.is_dirty() {
                self.l1d.set_state(broken.entry, state.with_defect(Defect::Poisoned));
            } else {
                self.l1d.remove(lost);
            }
        }
    }

    /// Repairs the broken tags of an L1 I-cache set that a fetch reads. Parity corrects nothing, so
    /// the line is removed and fetched again.
    pub(crate) fn repair_l1i_tags<S: EventSink>(&mut self, line: Indexed, sink: &mut S) {
        while let Some(broken) = self.l1i.repair_tag(self.l1i.set_of(line)) {
            sink.raise(PmuEvent::MEMORY_ERROR);
            if let Some((lost, _)) = self.l1i.content(broken.entry) {
                self.l1i.remove(lost);
            }
        }
    }
}

/// Checks the data of a line that the L2 reads out. One wrong bit is corrected and not counted.
/// Returns whether the data is passed on as poisoned.
pub(crate) fn check_l2_data(l2: &mut Cache, entry: EntryIndex) -> bool {
    let state = l2.state(entry);
    match state.defect() {
        Defect::None => false,
        Defect::Correctable => {
            l2.set_state(entry, state.with_defect(Defect::None));
            false
        }
        Defect::Uncorrectable | Defect::Poisoned => true,
    }
}
