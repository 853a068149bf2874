//! Maintenance of all cores as its core sees it: the operation leaves over the bus port, and a
//! `DSB` synchronizes it. CMN-700; CHI, chapter "DVM operations".

use sim_core::Cycle;
use sim_core::mesh_counts::DvmEvent;

use crate::core_memory::CoreMemory;
use crate::uncore::Uncore;

impl CoreMemory {
    /// Sends maintenance of all cores, ready in `at`. Returns when its completion is back, or
    /// `None` if such operations take no time.
    pub(crate) fn send_dvm_operation(&mut self, at: Cycle, uncore: &mut Uncore) -> Option<Cycle> {
        if !uncore.dvm.is_timed() {
            return None;
        }
        let leaves = self.bus.message(at);
        let operation = uncore.send_dvm_operation(self.number, leaves);
        self.dvm_answered = self.dvm_answered.max(operation.answered);
        Some(operation.completed)
    }

    /// Sends the synchronization of earlier operations, ready in `at`. Returns when its completion
    /// is back, or `at` if such operations take no time.
    pub(crate) fn synchronize(&mut self, at: Cycle, uncore: &mut Uncore) -> Cycle {
        if !uncore.dvm.is_timed() {
            return at;
        }
        let leaves = self.bus.message(at);
        uncore.count_broadcast(self.number, DvmEvent::Sync);
        let sync = uncore.send_dvm_sync(self.number, leaves, self.dvm_answered);
        if sync.is_stalled {
            uncore.raise_dvm(DvmEvent::SyncStall);
        }
        sync.completed
    }
}
