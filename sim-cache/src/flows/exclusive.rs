//! Load-exclusives and store-exclusives. Arm architecture, "Synchronization and semaphores".

use sim_core::{Cycle, EventSink, Happened, MemReply, MemRequest, VirtAddr};

use crate::core_memory::CoreMemory;
use crate::memory_system::MemorySystem;
use crate::uncore::Uncore;

impl CoreMemory {
    /// A load-exclusive: a load that marks its line.
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
            && !reply.happened.has(Happened::FAULT)
        {
            self.monitor.mark(uncore.page_map.physical(request.addr, target).line());
        }
        reply
    }

    /// A store-exclusive that stored when it was recorded. It does so again, since the stream goes on behind its
    /// success; where other cores fight for its line, and hardware might have failed it, that is added up.
    pub(crate) fn store_exclusive(&mut self, addr: VirtAddr, uncore: &Uncore) {
        let page = uncore.page_map.page_of(addr);
        let Some(target) = uncore.page_map.lookup(page) else { return self.monitor.clear() };
        let line = uncore.page_map.physical(addr, target).line();
        self.stats.contended_exclusives += u64::from(self.monitor.store(line));
    }
}

impl MemorySystem {
    /// True when a store-exclusive of a core to `addr` would succeed now. Pure.
    pub fn monitor_holds(&self, core: usize, addr: VirtAddr) -> bool {
        self.line_of(addr).is_ok_and(|line| self.cores[core].monitor.holds(line))
    }

    /// Clears the exclusive monitor of a core, as a store-exclusive that fails does.
    pub fn clear_monitor(&mut self, core: usize) {
        self.cores[core].monitor.clear();
    }
}
