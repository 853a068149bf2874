//! The state that decides about coherence of some lines, as numbers: for tests that try all states.

use sim_core::VirtAddr;

use crate::memory_system::MemorySystem;
use crate::units::cache::Cache;
use crate::units::indexed::Indexed;

impl MemorySystem {
    /// Returns the state of the lines of `addrs`: in the caches and the monitor of each core, in
    /// the snoop filter, in the system level cache, and the waiting snoops of each core in order.
    /// Equal states have equal numbers. Replacement, times and translations are left out, as are
    /// lines that an agent outside of the cores holds. Unmapped addresses are skipped.
    pub fn coherence_state(&self, addrs: &[VirtAddr]) -> Vec<u32> {
        let mut state = Vec::new();
        for addr in addrs {
            let Ok(line) = self.line_of(*addr) else { continue };
            let indexed = Indexed::virtually(*addr, line);
            for (number, core) in self.cores.awake() {
                let l2 = held(&core.l2, Indexed::physically(line));
                let held = held(&core.l1i, indexed) * 25 + held(&core.l1d, indexed) * 5 + l2;
                let filter = self.uncore.filter.as_ref();
                let owned = filter.and_then(|filter| filter.ownership(number, line));
                let owned = owned.map_or(0, |owned| 1 + u32::from(owned));
                let monitored = u32::from(core.monitor.holds(line));
                state.push((held * 3 + owned) * 2 + monitored);
            }
            state.push(self.uncore.slc_state(line).map_or(0, |dirty| 1 + u32::from(dirty)));
        }
        for core in 0..self.n_cores() {
            state.push(u32::MAX);
            for snoop in self.uncore.snoops.waiting_for(core) {
                let requester = snoop.requester.map_or(0, |core| core + 1);
                let flags = u32::from(snoop.forward) * 2 + u32::from(snoop.evicts);
                state.extend([snoop.line.0 as u32, snoop.message as u32 * 4 + flags, requester]);
            }
        }
        state
    }

    /// Returns the number of snoops that wait for a core.
    pub fn waiting_snoops(&self, core: usize) -> usize {
        self.uncore.snoops.waiting_for(core).len()
    }
}

/// Returns the state of a line in a cache: 0 if it is absent, else 1 to 4.
fn held(cache: &Cache, line: Indexed) -> u32 {
    let state = cache.find(line).map(|entry| cache.state(entry));
    state.map_or(0, |state| 1 + u32::from(state.is_dirty()) * 2 + u32::from(state.is_shared()))
}
