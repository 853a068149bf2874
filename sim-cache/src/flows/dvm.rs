//! Maintenance of all cores as its core sees it: the operation leaves over the bus port, and a
//! `DSB` synchronizes it. CMN-700; CHI, chapter "DVM operations".

use sim_core::mesh_counts::DvmEvent;
use sim_core::{AccessOutcome, Cycle, MemReply};

use crate::core_memory::CoreMemory;
use crate::uncore::Uncore;

impl CoreMemory {
    /// Sends maintenance of all cores, ready in `at`. The core goes on when it has left, and only a
    /// synchronization waits for its completion. Returns `None` if such operations take no time.
    pub(crate) fn send_dvm_operation(
        &mut self,
        at: Cycle,
        uncore: &mut Uncore,
    ) -> Option<MemReply> {
        if !uncore.dvm.is_timed() {
            return None;
        }
        let leaves = self.bus.message(at);
        let operation = uncore.send_dvm_operation(self.number, leaves);
        self.sent_to_all.extend(operation);
        let outcome = AccessOutcome::UNSYNCHRONIZED;
        Some(MemReply { done: leaves + 1, outcome, ..MemReply::default() })
    }

    /// Sends the synchronization of earlier operations, ready in `at`, as soon as the core has
    /// their completions. Returns when its own completion is back, or 0 if such operations take no
    /// time.
    pub(crate) fn synchronize(&mut self, at: Cycle, uncore: &mut Uncore) -> Cycle {
        if !uncore.dvm.is_timed() {
            return 0;
        }
        let leaves = self.bus.message(at.max(self.sent_to_all.completed));
        uncore.count_broadcast(self.number, DvmEvent::Sync);
        let sync = uncore.send_dvm_sync(self.number, leaves, self.sent_to_all.answered);
        if sync.is_stalled {
            uncore.raise_dvm(DvmEvent::SyncStall);
        }
        sync.completed
    }
}
