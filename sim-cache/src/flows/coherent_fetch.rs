//! Coherence of the L1 I-cache with this core's own writes. PMU guide 3.2.12.
//!
//! A write removes the copy of its line from the L1 I-cache, so that the next fetch sees the new
//! data. A line of the L1 D-cache records whether the L1 I-cache has it, so other lines cost
//! nothing. Writes of other cores arrive as snoops. Without coherence (`memory.l1i.coherent =
//! false`) the program has to use `IC IVAU`. Not modeled: operations that were decoded from the old
//! line, which the MOP cache keeps.

use sim_core::LineAddr;

use crate::core_memory::CoreMemory;

impl CoreMemory {
    /// Marks the L1 D-cache copy of a line that enters the L1 I-cache.
    pub(crate) fn mark_in_l1i(&mut self, line: LineAddr) {
        if self.coherent_fetch
            && let Some(entry) = self.l1d.probe(line)
        {
            self.l1d.set_state(entry, self.l1d.state(entry).with_in_l1i(true));
        }
    }

    /// Returns whether the L1 I-cache has a copy of a line that enters the L1 D-cache. Has no side
    /// effects.
    pub(crate) fn in_l1i(&self, line: LineAddr) -> bool {
        self.coherent_fetch && self.l1i.probe(line).is_some()
    }

    /// Removes the stale copy of a line that this core writes from the L1 I-cache.
    pub(crate) fn invalidate_l1i(&mut self, line: LineAddr) {
        if !self.coherent_fetch {
            return;
        }
        self.l1i.remove(line);
        if let Some(entry) = self.l1d.probe(line) {
            self.l1d.set_state(entry, self.l1d.state(entry).with_in_l1i(false));
        }
    }
}
