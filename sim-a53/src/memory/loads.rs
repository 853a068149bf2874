//! Loads and software prefetches. TRM 2.1.6, 6.6.

use crate::event::{A53Event, A53Sink};
use crate::seen::{LoadedFrom, Purpose, Seen};

use super::cache::{LINE_SHIFT, LineState};
use super::cluster::Cluster;
use super::page_map::MemoryType;
use super::store_buffer::LineBytes;
use super::supply::Request;
use super::translate::Side;

/// Result of a load from one line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loaded {
    /// Cycle in which the bytes are present.
    pub(crate) ready: u64,
    /// They were not in the L1 cache or a store buffer, but are of memory that it may keep.
    pub(crate) missed: bool,
}

impl Cluster {
    /// Loads bytes of one line.
    pub(crate) fn load_line<S: A53Sink>(
        &mut self,
        core: usize,
        addr: u64,
        bytes: LineBytes,
        non_temporal: bool,
        now: u64,
        sink: &mut S,
    ) -> Loaded {
        self.write_idle_store(core, now, sink);
        let at = self.translate(core, Side::Data, addr, now, sink);
        sink.raise(A53Event::MEM_ACCESS, at, 1);
        let memory = self.memory_at(addr);
        if memory != MemoryType::Cacheable {
            sink.see(Seen::Uncached);
            return self.load_uncached(core, bytes, memory, at, sink);
        }
        sink.raise(A53Event::L1D_CACHE, at, 1);
        if self.cores[core].store_buffer.forwards(bytes) {
            sink.see(Seen::Loaded(LoadedFrom::StoreBuffer));
            return Loaded { ready: at, missed: false };
        }
        let read = self.read_l1d(core, bytes, non_temporal, at, sink);
        let ready = if self.is_ideal_beyond_l1() { at } else { read };
        Loaded { ready, missed: ready > at }
    }

    fn read_l1d<S: A53Sink>(
        &mut self,
        core: usize,
        bytes: LineBytes,
        non_temporal: bool,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        let line = bytes.line;
        let l1d = self.snoop.l1d(core);
        let Some(entry) = l1d.find(line) else {
            return self.load_miss(core, line, non_temporal, at, sink);
        };
        let ready = l1d.ready(entry).max(at);
        let state = l1d.state(entry);
        if state.has(LineState::FAULTY) {
            self.find_l1d_error(core, line, at, sink);
            return self.load_miss(core, line, non_temporal, at, sink);
        }
        if state.has(LineState::PREFETCHED) {
            l1d.set_state(entry, state.without(LineState::PREFETCHED));
            self.train(core, line, false, Request::Read, at, sink);
        }
        let forwards = ready > at && self.cores[core].read_allocate.forwards(bytes, at);
        sink.see(Seen::Loaded(match ready > at {
            _ if forwards => LoadedFrom::StoreBuffer,
            true => LoadedFrom::LineInFlight,
            false => LoadedFrom::L1d,
        }));
        if forwards { at } else { ready }
    }

    fn load_miss<S: A53Sink>(
        &mut self,
        core: usize,
        line: u64,
        non_temporal: bool,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        self.end_write_of(core, line, at, sink);
        sink.see(Seen::Loaded(LoadedFrom::Refill));
        sink.raise(A53Event::L1D_CACHE_REFILL, at, 1);
        if non_temporal && self.l2.is_present() {
            let slot = self.cores[core].linefills.find(at);
            sink.see(Seen::Requested(Purpose::Load));
            let supply = self.supply(core, line, Request::NonTemporal, slot.from, sink);
            self.cores[core].linefills.hold(slot, supply.complete() + 1);
            return supply.first;
        }
        sink.see(Seen::Requested(Purpose::Load));
        let linefill = self.linefill(core, line, Request::Read, at, sink);
        self.train(core, line, true, Request::Read, at, sink);
        linefill.first
    }

    /// Ends read-allocate mode before a linefill of the line being written (TRM 6.2.5).
    fn end_write_of<S: A53Sink>(&mut self, core: usize, line: u64, at: u64, sink: &mut S) {
        if self.cores[core].read_allocate.gathered_line() == Some(line) {
            self.end_read_allocate(core, at, sink);
        }
    }

    /// Performs a software prefetch of a line. Its linefill counts neither as refill nor as
    /// prefetch (assumed). One of memory that no cache keeps only translates.
    pub(crate) fn prefetch_line<S: A53Sink>(
        &mut self,
        core: usize,
        addr: u64,
        for_write: bool,
        now: u64,
        sink: &mut S,
    ) {
        let line = addr >> LINE_SHIFT;
        let at = self.translate(core, Side::Data, addr, now, sink);
        if self.memory_at(addr) != MemoryType::Cacheable {
            return;
        }
        sink.raise(A53Event::L1D_CACHE, at, 1);
        let hit = self.snoop.l1d(core).probe(line).is_some();
        sink.see(Seen::SoftwarePrefetch { hit });
        if hit {
            return;
        }
        self.end_write_of(core, line, at, sink);
        let request = if for_write { Request::Write } else { Request::Read };
        sink.see(Seen::Requested(Purpose::SoftwarePrefetch));
        self.linefill(core, line, request, at, sink);
    }
}
