//! The exclusive monitor of one core: which line its last load-exclusive marked.
//!
//! Arm architecture, load-exclusive and store-exclusive; the granule is the 64-byte line (PMU guide
//! 3.2.6). Another agent that takes the line away clears the mark; an eviction by the core itself
//! does not.

use sim_core::{Cycle, EventSink, Happened, LineAddr, MemReply, MemRequest, VirtAddr};

use crate::core_memory::{CoreMemory, MemorySystem};
use crate::uncore::Uncore;

/// One marked line at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExclusiveMonitor {
    marked: Option<LineAddr>,
    /// The line of the last store-exclusive that stored.
    stored: Option<LineAddr>,
    /// Another agent took that one away since.
    is_contended: bool,
}

impl ExclusiveMonitor {
    /// A load-exclusive read this line: it replaces an earlier mark.
    pub(crate) fn mark(&mut self, line: LineAddr) {
        self.marked = Some(line);
    }

    /// A store-exclusive or `CLREX`.
    pub(crate) fn clear(&mut self) {
        self.marked = None;
    }

    /// Another agent takes the line away.
    pub(crate) fn lose(&mut self, line: LineAddr) {
        if self.marked == Some(line) {
            self.marked = None;
        }
        self.is_contended |= self.stored == Some(line);
    }

    /// A store-exclusive stored. True if another agent had the line since the one before.
    fn store(&mut self, line: LineAddr) -> bool {
        let is_contended = self.is_contended && self.stored == Some(line);
        *self = ExclusiveMonitor { marked: None, stored: Some(line), is_contended: false };
        is_contended
    }

    /// True when a store-exclusive to this line would succeed. Pure.
    pub(crate) fn holds(self, line: LineAddr) -> bool {
        self.marked == Some(line)
    }
}

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
}

impl CoreMemory {
    /// A store-exclusive that stored when it was recorded. It does so again, since the stream goes on behind its
    /// success; where other cores fight for its line, and hardware might have failed it, that is added up.
    pub(crate) fn store_exclusive(&mut self, addr: VirtAddr, uncore: &Uncore) {
        let page = uncore.page_map.page_of(addr);
        let Some(target) = uncore.page_map.lookup(page) else { return self.monitor.clear() };
        let line = uncore.page_map.physical(addr, target).line();
        self.tally.contended_exclusives += u64::from(self.monitor.store(line));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_marked_line_is_held_until_it_is_lost_or_cleared() {
        let (line, other) = (LineAddr(5), LineAddr(6));
        let mut monitor = ExclusiveMonitor::default();
        assert!(!monitor.holds(line));
        monitor.mark(line);
        monitor.lose(other);
        assert!(monitor.holds(line) && !monitor.holds(other));
        monitor.lose(line);
        assert!(!monitor.holds(line));
        monitor.mark(other);
        monitor.clear();
        assert_eq!(monitor, ExclusiveMonitor::default());
    }

    #[test]
    fn a_line_that_another_agent_had_between_two_stores_is_contended() {
        let (line, other) = (LineAddr(5), LineAddr(6));
        let mut monitor = ExclusiveMonitor::default();
        monitor.lose(line);
        assert!(!monitor.store(line), "the first one");
        assert!(!monitor.store(line));
        monitor.lose(other);
        assert!(!monitor.store(line));
        monitor.lose(line);
        monitor.mark(line);
        assert!(monitor.store(line));
        assert!(!monitor.store(line));
    }

    #[test]
    fn a_store_to_another_line_than_the_contended_one_is_not_contended() {
        let (line, other) = (LineAddr(5), LineAddr(6));
        let mut monitor = ExclusiveMonitor::default();
        monitor.store(line);
        monitor.lose(line);
        assert!(!monitor.store(other));
        assert!(!monitor.store(line), "the last one was to another line");
    }
}
