//! Load-exclusives and store-exclusives, and what becomes of their monitors: the internal one of
//! each core (TRM 6.5.1), and that of the interconnect for memory that no cache keeps.
//!
//! A load-exclusive marks its line. The mark of a cacheable line lasts while the line stays in the
//! L1 data cache: a write of another core or an eviction ends it (assumed, as the coherent monitor
//! is the state of the line). The mark of another line lasts until a core writes it; a core has one
//! exclusive sequence at a time (TRM 7.3.1). Stores of the core itself leave it; a store-exclusive,
//! `CLREX` and an exception return end it.
//!
//! A trace has the outcome of each store-exclusive, which a run repeats. A success without a mark
//! is counted: the line was lost here, and a real core would fail.

use crate::event::A53Sink;

use super::cache::LINE_SHIFT;
use super::cluster::Cluster;
use super::page_map::MemoryType;

impl Cluster {
    /// Marks the line of a load-exclusive that was performed.
    pub(crate) fn mark_exclusive(&mut self, core: usize, addr: u64) {
        let line = addr >> LINE_SHIFT;
        let filled = self.filled_at(core, line);
        self.cores[core].monitor.mark(line, filled);
    }

    /// Returns the cycle in which a line of the L1 data cache is complete.
    fn filled_at(&mut self, core: usize, line: u64) -> Option<u64> {
        let l1d = self.snoop.l1d(core);
        l1d.probe(line).map(|entry| l1d.ready(entry))
    }

    /// Begins a store-exclusive that succeeds: it uses the mark up, and does not merge with older
    /// stores to memory that no cache keeps.
    pub(crate) fn begin_store_exclusive<S: A53Sink>(
        &mut self,
        core: usize,
        addr: u64,
        now: u64,
        sink: &mut S,
    ) {
        let line = addr >> LINE_SHIFT;
        let filled = self.filled_at(core, line);
        self.cores[core].monitor.store(line, filled);
        if self.memory_at(addr) != MemoryType::Cacheable {
            self.write_open_store(core, now, sink);
            self.write_gathered(core, now, sink);
        }
    }

    /// Ends a store-exclusive. Returns the cycle in which its success is known: to memory that no
    /// cache keeps, it is a request of its own, whose response says so.
    pub(crate) fn end_store_exclusive<S: A53Sink>(
        &mut self,
        core: usize,
        addr: u64,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        match self.memory_at(addr) {
            MemoryType::Cacheable => at,
            _ => self.drain_uncached(core, at, sink),
        }
    }
}
