//! Accesses to Normal memory that is not cacheable, and to devices. TRM 7.3.
//!
//! They pass the caches and the snoop control unit by and go to the bus, in bursts of 1, 2 or 4
//! beats of 128 bits within a line (TRM 7.3.2). Stores to Normal memory merge in the store buffer
//! and are gathered to bursts, as those of read-allocate mode are; each store to a device is a
//! request of its own. Assumed: a burst waits for more stores until another access needs it gone; a
//! read of a device waits until the writes before it are complete, and a read of Normal memory for
//! the buffered bytes of its own line only; a fetch reads the rest of its line.
//!
//! Counts: the bus, the requests, and `MEM_ACCESS`. Neither `L1D_CACHE` nor `L1I_CACHE` nor their
//! refills count (assumed: the manual of the Cortex-A55, C2.4, excludes such accesses).

use crate::event::{A53Event, A53Sink};
use crate::seen::Seen;

use super::cluster::Cluster;
use super::loads::Loaded;
use super::page_map::MemoryType;
use super::store_buffer::LineBytes;
use super::stores::Stored;

impl Cluster {
    /// Returns the type of the memory at an address.
    #[inline(always)]
    pub(crate) fn memory_at(&self, addr: u64) -> MemoryType {
        self.map.memory_of(addr)
    }

    /// Loads bytes of one line whose translation is present at `at`.
    #[cold]
    pub(crate) fn load_uncached<S: A53Sink>(
        &mut self,
        core: usize,
        bytes: LineBytes,
        memory: MemoryType,
        at: u64,
        sink: &mut S,
    ) -> Loaded {
        let mut at = at;
        if memory == MemoryType::Device {
            self.write_open_store(core, at, sink);
            self.write_gathered(core, at, sink);
            at = at.max(self.cores[core].write_burst.complete);
        } else {
            if self.cores[core].store_buffer.forwards(bytes) {
                return Loaded { ready: at, missed: false };
            }
            if self.cores[core].store_buffer.open_line() == Some(bytes.line) {
                self.write_open_store(core, at, sink);
            }
            if self.gathered_line(core) == Some(bytes.line) {
                at = self.write_gathered(core, at, sink);
            }
        }
        let ready = self.read_uncached(core, bytes, memory, at, sink);
        Loaded { ready, missed: false }
    }

    /// Fetches the rest of a line from `addr` on. Returns the cycle of its first beat.
    #[cold]
    pub(crate) fn fetch_uncached<S: A53Sink>(
        &mut self,
        core: usize,
        addr: u64,
        memory: MemoryType,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        self.read_uncached(core, LineBytes::new(addr, 64), memory, at, sink)
    }

    /// Reads bytes of a line from the bus. Returns the cycle of their first beat.
    fn read_uncached<S: A53Sink>(
        &mut self,
        core: usize,
        bytes: LineBytes,
        memory: MemoryType,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        sink.raise(A53Event::BUS_ACCESS, at, bytes.beats());
        sink.raise(A53Event::BUS_ACCESS_LD, at, bytes.beats());
        let leaves = self.l2.leaves(at);
        let requests = bytes.bursts();
        sink.see(Seen::UncachedBeats { beats: bytes.beats(), requests, is_read: true });
        sink.raise(A53Event::EXT_MEM_REQ, leaves, requests);
        sink.raise(A53Event::EXT_MEM_REQ_NC, leaves, requests);
        let is_device = memory == MemoryType::Device;
        let reads = (0..requests).map(|_| self.bus.read_uncached(core, is_device, leaves));
        reads.max().unwrap_or(leaves)
    }

    /// Offers bytes of a store to the store buffer.
    #[cold]
    pub(crate) fn store_uncached<S: A53Sink>(
        &mut self,
        core: usize,
        bytes: LineBytes,
        memory: MemoryType,
        now: u64,
        translated: u64,
        sink: &mut S,
    ) -> Stored {
        let is_device = memory == MemoryType::Device;
        if !is_device && self.cores[core].store_buffer.merge(bytes, now, translated) {
            return Stored { accepted: now, translated };
        }
        self.write_open_store(core, now, sink);
        let accepted = self.cores[core].store_buffer.open(bytes, now, translated);
        if is_device {
            self.write_open_store(core, accepted, sink);
        }
        Stored { accepted, translated }
    }

    /// Writes bytes that leave the store buffer at `at`. Returns the cycle in which their entry is
    /// free.
    #[cold]
    pub(crate) fn write_uncached<S: A53Sink>(
        &mut self,
        core: usize,
        bytes: LineBytes,
        memory: MemoryType,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        let line = self.gathered_line(core);
        let is_device = memory == MemoryType::Device;
        if line.is_some_and(|line| is_device || line != bytes.line) {
            self.write_gathered(core, at, sink);
        }
        if is_device {
            return self.write_bursts(core, bytes, true, at, sink) + 1;
        }
        let gathered = &mut self.cores[core].write_burst.gathered;
        let mask = gathered.map_or(0, |own| own.mask) | bytes.mask;
        let all = LineBytes { line: bytes.line, mask };
        *gathered = Some(all);
        if all.is_whole() { self.write_gathered(core, at, sink) + 1 } else { at + 1 }
    }

    fn gathered_line(&self, core: usize) -> Option<u64> {
        self.cores[core].write_burst.gathered.map(|own| own.line)
    }

    /// Writes the burst that is being gathered. Returns the cycle in which it has left.
    pub(crate) fn write_gathered<S: A53Sink>(&mut self, core: usize, at: u64, sink: &mut S) -> u64 {
        match self.cores[core].write_burst.gathered.take() {
            Some(bytes) => self.write_bursts(core, bytes, false, at, sink),
            None => at,
        }
    }

    /// Writes bytes of a line to the bus. Returns the cycle in which they have left.
    fn write_bursts<S: A53Sink>(
        &mut self,
        core: usize,
        bytes: LineBytes,
        is_device: bool,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        sink.raise(A53Event::BUS_ACCESS, at, bytes.beats());
        sink.raise(A53Event::BUS_ACCESS_ST, at, bytes.beats());
        let leaves = self.l2.leaves(at);
        let requests = bytes.bursts();
        sink.see(Seen::UncachedBeats { beats: bytes.beats(), requests, is_read: false });
        sink.raise(A53Event::EXT_MEM_REQ, leaves, requests);
        sink.raise(A53Event::EXT_MEM_REQ_NC, leaves, requests);
        for (other, units) in self.cores.iter_mut().enumerate() {
            if other != core {
                units.monitor.lose(bytes.line);
            }
        }
        let mut left = leaves;
        for _ in 0..requests {
            left = self.bus.write(left);
        }
        let complete = self.bus.complete(left, is_device);
        let own = &mut self.cores[core].write_burst;
        own.complete = own.complete.max(complete);
        left
    }

    /// Empties the write path to memory that no cache keeps, for barriers. Returns the cycle in
    /// which all writes are complete.
    pub(crate) fn drain_uncached<S: A53Sink>(&mut self, core: usize, at: u64, sink: &mut S) -> u64 {
        self.write_gathered(core, at, sink);
        self.cores[core].write_burst.complete.max(at)
    }
}
