//! Stores: from the store buffer into the L1 data cache, a linefill, or a stream past the cache.
//! TRM 2.1.6, 6.2.5.

use crate::event::{A53Event, A53Sink};
use crate::seen::{Purpose, Seen, WrittenTo};

use super::cache::{LINE_SHIFT, LineState};
use super::cluster::Cluster;
use super::page_map::MemoryType;
use super::store_buffer::LineBytes;
use super::supply::{BEATS, Request};
use super::translate::Side;

/// Cycles in which a whole line is written into the L1 data cache: 128 bits in each (TRM 6.1).
const WHOLE_LINE_CYCLES: u64 = 4;

/// Returns the cycles in which bytes are written into the L1 data cache.
fn cycles_of_hit(bytes: LineBytes) -> u64 {
    if bytes.is_whole() { WHOLE_LINE_CYCLES } else { 1 }
}

/// Result of a store to one line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    /// Cycle in which the store buffer takes it.
    pub(crate) accepted: u64,
    /// Cycle in which its address is translated.
    pub(crate) translated: u64,
}

impl Cluster {
    /// Offers bytes of one entry to the store buffer. `looks_up` is set for the first bytes of the
    /// store in each line. Assumed: the store looks up the cache then, whether it merges or not.
    pub(crate) fn store_part<S: A53Sink>(
        &mut self,
        core: usize,
        addr: u64,
        bytes: LineBytes,
        looks_up: bool,
        now: u64,
        sink: &mut S,
    ) -> Stored {
        let translated = self.translate(core, Side::Data, addr, now, sink);
        let memory = self.memory_at(addr);
        if looks_up {
            sink.raise(A53Event::MEM_ACCESS, translated, 1);
            if memory == MemoryType::Cacheable {
                sink.see(Seen::Stored);
                sink.raise(A53Event::L1D_CACHE, translated, 1);
            } else {
                sink.see(Seen::Uncached);
            }
        }
        if memory != MemoryType::Cacheable {
            return self.store_uncached(core, bytes, memory, now, translated, sink);
        }
        let merged = self.cores[core].store_buffer.merge(bytes, now, translated);
        sink.see(Seen::Buffered { merged });
        if merged {
            return Stored { accepted: now, translated };
        }
        self.write_open_store(core, now, sink);
        let accepted = self.cores[core].store_buffer.open(bytes, now, translated);
        Stored { accepted, translated }
    }

    /// Writes the open entry of the store buffer if no store has merged with it for some cycles.
    #[inline]
    pub(crate) fn write_idle_store<S: A53Sink>(&mut self, core: usize, now: u64, sink: &mut S) {
        if let Some(entry) = self.cores[core].store_buffer.close_idle(now) {
            let end = self.write_l1d(core, entry.bytes, entry.at, sink);
            self.cores[core].store_buffer.left(entry, end);
        }
    }

    /// Writes the open entry of the store buffer.
    pub(crate) fn write_open_store<S: A53Sink>(&mut self, core: usize, now: u64, sink: &mut S) {
        if let Some(entry) = self.cores[core].store_buffer.close(now) {
            let end = self.write_l1d(core, entry.bytes, entry.at, sink);
            self.cores[core].store_buffer.left(entry, end);
        }
    }

    /// Writes bytes at `at`. Returns the cycle in which their entry is free.
    fn write_l1d<S: A53Sink>(
        &mut self,
        core: usize,
        bytes: LineBytes,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        let memory = self.memory_at(bytes.line << LINE_SHIFT);
        if memory != MemoryType::Cacheable {
            return self.write_uncached(core, bytes, memory, at, sink);
        }
        let l1d = self.snoop.l1d(core);
        let end = match l1d.find(bytes.line) {
            Some(entry) if l1d.state(entry).has(LineState::FAULTY) => {
                self.find_l1d_error(core, bytes.line, at, sink);
                self.store_miss(core, bytes, at, sink)
            }
            Some(entry) => self.store_hit(core, entry, bytes, at, sink),
            None => self.store_miss(core, bytes, at, sink),
        };
        if self.is_ideal_beyond_l1() { at + cycles_of_hit(bytes) } else { end }
    }

    fn store_hit<S: A53Sink>(
        &mut self,
        core: usize,
        entry: usize,
        bytes: LineBytes,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        let l1d = self.snoop.l1d(core);
        let (state, ready) = (l1d.state(entry), l1d.ready(entry));
        let written = state.without(LineState::PREFETCHED.with(LineState::SHARED));
        l1d.set_state(entry, written.with(LineState::DIRTY));
        if ready > at && !self.cores[core].read_allocate.add_bytes(bytes, at) {
            self.begin_stored_line(core, bytes.line, at, sink);
            self.cores[core].read_allocate.add_fill(bytes, ready);
        }
        if state.has(LineState::PREFETCHED) {
            self.train(core, bytes.line, false, Request::Write, at, sink);
        }
        sink.see(Seen::Written(match state.has(LineState::SHARED) {
            true => WrittenTo::SharedLine,
            false => WrittenTo::L1d,
        }));
        let owned =
            if state.has(LineState::SHARED) { self.make_unique(core, bytes.line, at) } else { at };
        owned + cycles_of_hit(bytes)
    }

    /// Removes all copies of a line that another cache may have. Returns the cycle in which the
    /// core may write it. Assumed: the time of an L2 hit, without a data access of the L2 cache.
    fn make_unique(&mut self, core: usize, line: u64, at: u64) -> u64 {
        self.l2.remove(line);
        self.snoop.invalidate(line, core);
        self.l2.first_beat(at)
    }

    fn store_miss<S: A53Sink>(
        &mut self,
        core: usize,
        bytes: LineBytes,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        let gathered = self.cores[core].read_allocate.gathered_line();
        if gathered.is_some_and(|line| line != bytes.line) {
            // A burst that is less than a line ends the mode (TRM 6.2.5).
            self.end_read_allocate(core, at, sink);
        }
        let is_on = self.cores[core].read_allocate.is_on();
        if is_on || self.begin_stored_line(core, bytes.line, at, sink) {
            sink.see(Seen::Written(WrittenTo::Gathered));
            return match self.cores[core].read_allocate.gather(bytes) {
                Some(whole) => self.stream_line(core, whole.line, at, sink),
                None => at + 1,
            };
        }
        sink.see(Seen::Written(WrittenTo::Refill));
        sink.see(Seen::Requested(Purpose::Store));
        sink.raise(A53Event::L1D_CACHE_REFILL, at, 1);
        let linefill = self.linefill(core, bytes.line, Request::Write, at, sink);
        self.cores[core].read_allocate.add_fill(bytes, linefill.complete);
        let l1d = self.snoop.l1d(core);
        if let Some(entry) = l1d.find(bytes.line) {
            l1d.set_state(entry, l1d.state(entry).with(LineState::DIRTY));
        }
        self.train(core, bytes.line, true, Request::Write, at, sink);
        linefill.start + 1
    }

    /// Passes a line of stores to the detector. Returns whether read-allocate mode begins.
    fn begin_stored_line<S: A53Sink>(
        &mut self,
        core: usize,
        line: u64,
        at: u64,
        sink: &mut S,
    ) -> bool {
        let begins = self.cores[core].read_allocate.begin_line(line, at);
        if begins {
            sink.see(Seen::ReadAllocateBegan);
            sink.raise(A53Event::READ_ALLOC_ENTER, at, 1);
        }
        begins
    }

    /// Writes a whole line past the L1 cache. Returns the cycle in which it has left.
    fn stream_line<S: A53Sink>(&mut self, core: usize, line: u64, at: u64, sink: &mut S) -> u64 {
        let whole = LineBytes::whole(line);
        let begin = self.begin_stream_write(core, whole, at, sink);
        let passes_l2 = self.cores[core].read_allocate.passes_l2() || !self.l2.is_present();
        let to_memory = passes_l2 && self.l2.lookup(line).is_none();
        sink.see(Seen::Streamed { beats: whole.beats(), to_memory });
        if to_memory {
            sink.raise(A53Event::EXT_MEM_REQ, begin, 1);
            return self.write_memory(begin) + 1;
        }
        let replaced = self.write_l2(line, true, begin, begin + BEATS);
        self.retire_l2_victim(replaced, begin, sink) + 1
    }

    /// Writes what is gathered of a line. Returns the cycle in which it has left.
    fn write_part<S: A53Sink>(
        &mut self,
        core: usize,
        part: LineBytes,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        let begin = self.begin_stream_write(core, part, at, sink);
        let is_in_l2 = self.l2.lookup(part.line).is_some();
        sink.see(Seen::Streamed { beats: part.beats(), to_memory: !is_in_l2 });
        if is_in_l2 {
            self.l2.write(part.line, true, begin, begin);
            return begin + 1;
        }
        sink.raise(A53Event::EXT_MEM_REQ, begin, 1);
        self.write_memory(begin) + 1
    }

    /// Moves written beats to the snoop control unit. Returns the cycle in which the L2 cache takes
    /// them.
    fn begin_stream_write<S: A53Sink>(
        &mut self,
        core: usize,
        bytes: LineBytes,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        sink.raise(A53Event::BUS_ACCESS, at, bytes.beats());
        sink.raise(A53Event::BUS_ACCESS_ST, at, bytes.beats());
        self.snoop.invalidate(bytes.line, core);
        let begin = self.begin_l2_write(at);
        if self.l2.is_present() {
            sink.raise(A53Event::L2D_CACHE, begin, 1);
        }
        begin
    }

    /// Ends read-allocate mode, and writes what is gathered. Returns the cycle in which that has
    /// left. Assumed: READ_ALLOC counts the cycles of the mode.
    pub(crate) fn end_read_allocate<S: A53Sink>(
        &mut self,
        core: usize,
        at: u64,
        sink: &mut S,
    ) -> u64 {
        let part = self.cores[core].read_allocate.take_gathered();
        let end = part.map_or(at, |part| self.write_part(core, part, at, sink));
        self.count_read_allocate(core, at, sink);
        end
    }

    /// Counts the cycles of read-allocate mode until `at`, and ends it.
    pub(crate) fn count_read_allocate<S: A53Sink>(&mut self, core: usize, at: u64, sink: &mut S) {
        let cycles = self.cores[core].read_allocate.end(at);
        if cycles > 0 {
            sink.raise(A53Event::READ_ALLOC, at, cycles);
        }
    }

    /// Empties the store buffer. Returns the cycle in which that is done: all entries have left,
    /// and the linefills that took them are complete.
    pub(crate) fn drain_stores<S: A53Sink>(&mut self, core: usize, now: u64, sink: &mut S) -> u64 {
        self.write_open_store(core, now, sink);
        let units = &self.cores[core];
        let left = units.store_buffer.empty_at().max(now);
        let filled = units.read_allocate.filled_at();
        let left =
            if self.map.has_uncached() { self.drain_uncached(core, left, sink) } else { left };
        let units = &self.cores[core];
        let written = match units.read_allocate.gathered_line() {
            None => left,
            Some(_) => self.end_read_allocate(core, left, sink),
        };
        if self.is_ideal_beyond_l1() { left } else { written.max(filled) }
    }

    /// Offers a whole line of zeros (`DC ZVA`) to the store buffer.
    pub(crate) fn store_zeros<S: A53Sink>(
        &mut self,
        core: usize,
        addr: u64,
        now: u64,
        sink: &mut S,
    ) -> Stored {
        let whole = LineBytes::whole(addr >> LINE_SHIFT);
        let stored = self.store_part(core, addr, whole, true, now, sink);
        self.write_open_store(core, stored.accepted, sink);
        stored
    }
}
