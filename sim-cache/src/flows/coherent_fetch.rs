//! Coherence of the L1 I-cache with what this core itself writes. PMU guide 3.2.12.
//!
//! A write takes the copy of its line out of the L1 I-cache, so that the next fetch sees it. A line of the
//! L1 D-cache remembers that it was fetched too: other lines pay nothing. Writes of other cores arrive as
//! snoops. Without coherence (`memory.l1i.coherent = false`) the program has to use `IC IVAU`. Not
//! modeled: operations that were decoded from the old line (the MOP cache keeps them).

use sim_core::LineAddr;

use crate::core_memory::CoreMemory;

impl CoreMemory {
    /// A line comes into the L1 I-cache: its copy in the L1 D-cache remembers it.
    pub(crate) fn mark_in_l1i(&mut self, line: LineAddr) {
        if self.coherent_fetch
            && let Some(entry) = self.l1d.probe(line)
        {
            self.l1d.set_state(entry, self.l1d.state(entry).with_in_l1i(true));
        }
    }

    /// True when a line that comes into the L1 D-cache has a copy in the L1 I-cache. Pure.
    pub(crate) fn in_l1i(&self, line: LineAddr) -> bool {
        self.coherent_fetch && self.l1i.probe(line).is_some()
    }

    /// This core writes a line: the copy in the L1 I-cache is stale.
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
