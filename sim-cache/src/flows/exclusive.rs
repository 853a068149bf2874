//! Load-exclusives and store-exclusives. Arm architecture, "Synchronization and semaphores".

use sim_core::{AccessOutcome, Cycle, EventSink, MemReply, MemRequest, VirtAddr};

use crate::core_memory::CoreMemory;
use crate::memory_system::MemorySystem;
use crate::uncore::Uncore;

impl CoreMemory {
    /// Performs a load-exclusive: a load that marks its line in the monitor.
    pub(crate) fn load_exclusive<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let reply = self.load(request, now, uncore, sink);
        let page = uncore.page_map.page_of(request.addr);
        if let Some(target) = uncore.page_map.lookup(page)
            && !reply.outcome.has(AccessOutcome::FAULT)
        {
            self.monitor.mark(uncore.page_map.physical(request.addr, target).line());
        }
        reply
    }

    /// Records a store-exclusive that succeeded when the trace was recorded. It succeeds again,
    /// because the recorded stream continues after its success. It counts as contended if other
    /// cores took its line meanwhile: hardware might have failed it.
    pub(crate) fn store_exclusive(&mut self, addr: VirtAddr, uncore: &Uncore) {
        let page = uncore.page_map.page_of(addr);
        let Some(target) = uncore.page_map.lookup(page) else { return self.monitor.clear() };
        let line = uncore.page_map.physical(addr, target).line();
        self.stats.contended_exclusives += u64::from(self.monitor.store(line));
    }
}

impl MemorySystem {
    /// Returns whether a store-exclusive of a core to `addr` would succeed now. Has no side
    /// effects.
    pub fn monitor_holds(&self, core: usize, addr: VirtAddr) -> bool {
        self.line_of(addr).is_ok_and(|line| self.cores[core].monitor.holds(line))
    }

    /// Clears the exclusive monitor of a core, as a failed store-exclusive does.
    pub fn clear_monitor(&mut self, core: usize) {
        self.cores[core].monitor.clear();
    }
}
