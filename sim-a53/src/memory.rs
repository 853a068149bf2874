//! The memory side of a Cortex-A53 cluster: TLBs, caches, store buffers, and the way to memory.
//!
//! Times are computed forward: a request gets the cycle of its answer at once, and each unit keeps
//! the periods in which it is taken. Reading order: `cache`, `slots` are the parts of all others;
//! `page_map`, `micro_tlb`, `main_tlb`, `walker`, `store_buffer`, `write_burst`, `monitor`,
//! `read_allocate`, `prefetcher`, `l2`, `snoop_control`, `bus` are the units; `cluster` puts them
//! together; `translate`, `supply`, `linefill`, `fetches`, `loads`, `stores`, `uncached`,
//! `exclusives`, `maintenance` are the ways of requests through them; `errors` are those of the
//! RAMs, `ideal` has the costs that are left out, and `given` is for directed tests.
//!
//! Sources of the comments: TRM is the Cortex-A53 manual, with the section; CPUACTLR is the field
//! table of that register, TRM 4.3. A rule that no source gives says "assumed", with its range.

mod bus;
mod cache;
mod cluster;
pub mod config;
mod errors;
mod exclusives;
mod fetches;
mod given;
mod ideal;
mod l2;
mod linefill;
mod loads;
mod main_tlb;
mod maintenance;
mod micro_tlb;
mod monitor;
mod page_map;
mod prefetcher;
mod read_allocate;
mod slots;
mod snoop_control;
mod store_buffer;
mod stores;
mod supply;
#[cfg(test)]
mod tests;
mod translate;
mod uncached;
mod walker;
mod write_burst;

use sim_core::Maintenance;

use crate::event::{A53Event, A53Sink};
use crate::seen::{FetchedFrom, LoadedFrom, Seen};
use cache::{ADDRESS_MASK, LINE_SHIFT};
use cluster::Cluster;
pub use config::{AddressRange, MemoryConfig};
pub use given::{HeldLine, HeldPage, Ram};
use micro_tlb::PAGE_SHIFT;
use page_map::MemoryType;
use store_buffer::LineBytes;

/// Bytes of the largest access: four vector registers of 128 bits.
const MAX_BYTES: u32 = 64;

/// Data access of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataAccess {
    /// Virtual address.
    pub addr: u64,
    /// Size, 1 to 64.
    pub bytes: u32,
    /// Non-temporal pair (`LDNP`, `STNP`). Only loads differ from others.
    pub non_temporal: bool,
    /// Exclusive or atomic. An exclusive store does not wait for stores to merge with.
    pub exclusive: bool,
}

/// Reason for which a fetch waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchWait {
    /// The translation.
    MicroTlb,
    /// The line.
    Line,
}

/// Answer to a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchReply {
    /// Cycle in which the instructions are present: that of the fetch on a hit.
    pub ready: u64,
    /// Longer part of the wait, if there is one.
    pub waits_for: Option<FetchWait>,
    /// Cycle in which the translation is present.
    pub micro_tlb_ready: u64,
}

/// Answer to a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadReply {
    /// Cycle in which the data is present: that of the load on a hit. The core adds the load-to-use
    /// latency of a hit.
    pub ready: u64,
    /// The data was not in the L1 cache or the store buffer, but is of memory that it may keep.
    pub missed: bool,
    /// The access crosses a line, and looked up the cache twice.
    pub crosses_line: bool,
}

/// Answer to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreReply {
    /// Cycle in which the store buffer takes the store: later than `now` only if it is full.
    pub accepted: u64,
    /// Cycle in which its address is translated: later than `now` after a micro-TLB miss.
    pub translated: u64,
}

/// Answer to a store-exclusive that succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExclusiveReply {
    /// Cycle in which the store buffer takes the store.
    pub accepted: u64,
    /// Cycle in which the success is known: later only in memory that no cache keeps.
    pub known: u64,
}

/// Memory side of a cluster of one to four cores. The cores share one L2 cache.
#[derive(Clone, Debug)]
pub struct ClusterMemory {
    cluster: Cluster,
}

impl ClusterMemory {
    /// Creates empty caches and TLBs for `cores` cores. `seed` selects the victims of the
    /// pseudo-random replacement.
    pub fn new(config: &MemoryConfig, cores: usize, seed: u64) -> ClusterMemory {
        ClusterMemory { cluster: Cluster::new(config, cores, seed) }
    }

    /// Translates by the page map of a trace: sizes of pages and blocks, memory types, global
    /// pages. Call it before the first access.
    pub fn map_pages(&mut self, map: &sim_trace::PageMap) {
        self.cluster.map.record(map);
    }

    /// Fetches the line of `pc` for the front end at cycle `now`.
    #[inline]
    pub fn fetch<S: A53Sink>(
        &mut self,
        core: usize,
        pc: u64,
        now: u64,
        sink: &mut S,
    ) -> FetchReply {
        let core = self.index(core);
        let addr = pc & ADDRESS_MASK;
        let units = &self.cluster.cores[core];
        if units.fetch_micro_tlb.last_hits(addr >> PAGE_SHIFT, now)
            && units.l1i.last_hits(addr >> LINE_SHIFT, now)
        {
            sink.raise(A53Event::L1I_CACHE, now, 1);
            sink.see(Seen::Fetched(FetchedFrom::L1i));
            return FetchReply { ready: now, waits_for: None, micro_tlb_ready: now };
        }
        self.fetch_slow(core, addr, now, sink)
    }

    #[inline(never)]
    fn fetch_slow<S: A53Sink>(
        &mut self,
        core: usize,
        addr: u64,
        now: u64,
        sink: &mut S,
    ) -> FetchReply {
        let units = &mut self.cluster.cores[core];
        if units.fetch_micro_tlb.hits(addr >> PAGE_SHIFT, now)
            && units.l1i.hits(addr >> LINE_SHIFT, now)
        {
            sink.raise(A53Event::L1I_CACHE, now, 1);
            sink.see(Seen::Fetched(FetchedFrom::L1i));
            return FetchReply { ready: now, waits_for: None, micro_tlb_ready: now };
        }
        let fetched = self.cluster.fetch_line(core, addr, now, sink);
        let (in_tlb, in_cache) = (fetched.translated - now, fetched.ready - fetched.translated);
        let waits_for = match (in_tlb, in_cache) {
            (0, 0) => None,
            _ if in_tlb > in_cache => Some(FetchWait::MicroTlb),
            _ => Some(FetchWait::Line),
        };
        FetchReply { ready: fetched.ready, waits_for, micro_tlb_ready: fetched.translated }
    }

    /// Performs a load, or the read of an atomic or exclusive access. `now` is the cycle in which
    /// its address is in the data cache unit.
    #[inline]
    pub fn load<S: A53Sink>(
        &mut self,
        core: usize,
        access: DataAccess,
        now: u64,
        sink: &mut S,
    ) -> LoadReply {
        let core = self.index(core);
        let addr = access.addr & ADDRESS_MASK;
        let is_in_line = (addr & 63) + u64::from(access.bytes) <= 64;
        if is_in_line
            && self.cluster.cores[core].data_micro_tlb.last_hits(addr >> PAGE_SHIFT, now)
            && self.cluster.snoop.l1d(core).last_hits(addr >> LINE_SHIFT, now)
        {
            return l1d_hit(now, sink);
        }
        self.load_elsewhere(core, access, is_in_line, now, sink)
    }

    /// Loads a line or page other than the last one.
    #[inline(never)]
    fn load_elsewhere<S: A53Sink>(
        &mut self,
        core: usize,
        access: DataAccess,
        is_in_line: bool,
        now: u64,
        sink: &mut S,
    ) -> LoadReply {
        let addr = access.addr & ADDRESS_MASK;
        // An open store matters only to a load that misses.
        if is_in_line
            && self.cluster.cores[core].data_micro_tlb.hits(addr >> PAGE_SHIFT, now)
            && self.cluster.snoop.l1d(core).hits(addr >> LINE_SHIFT, now)
        {
            return l1d_hit(now, sink);
        }
        self.load_slow(core, access, now, sink)
    }

    #[inline(never)]
    fn load_slow<S: A53Sink>(
        &mut self,
        core: usize,
        access: DataAccess,
        now: u64,
        sink: &mut S,
    ) -> LoadReply {
        let addr = access.addr & ADDRESS_MASK;
        let bytes = access.bytes.clamp(1, MAX_BYTES);
        if bytes_after_line(addr, bytes) > 0 {
            return self.load_crossing(core, access, now, sink);
        }
        let of_line = LineBytes::new(addr, bytes);
        let cluster = &mut self.cluster;
        let loaded = cluster.load_line(core, addr, of_line, access.non_temporal, now, sink);
        LoadReply { ready: loaded.ready, missed: loaded.missed, crosses_line: false }
    }

    /// Loads from two lines, the second one cycle later. A hit of both has no delay here.
    fn load_crossing<S: A53Sink>(
        &mut self,
        core: usize,
        access: DataAccess,
        now: u64,
        sink: &mut S,
    ) -> LoadReply {
        let addr = access.addr & ADDRESS_MASK;
        let bytes = access.bytes.clamp(1, MAX_BYTES);
        let second = bytes_after_line(addr, bytes);
        let [low, high] = [(addr, bytes - second), (addr + u64::from(bytes - second), second)];
        let cluster = &mut self.cluster;
        let mut part = |(addr, bytes): (u64, u32), at| {
            let of_line = LineBytes::new(addr, bytes);
            cluster.load_line(core, addr, of_line, access.non_temporal, at, sink)
        };
        let (low, high) = (part(low, now), part(high, now + 1));
        LoadReply {
            ready: low.ready.max(high.ready - 1),
            missed: low.missed || high.missed,
            crosses_line: true,
        }
    }

    /// Offers a committed store to the store buffer.
    #[inline]
    pub fn store<S: A53Sink>(
        &mut self,
        core: usize,
        access: DataAccess,
        now: u64,
        sink: &mut S,
    ) -> StoreReply {
        let core = self.index(core);
        let addr = access.addr & ADDRESS_MASK;
        let bytes = access.bytes.clamp(1, MAX_BYTES);
        let mut reply = StoreReply { accepted: now, translated: now };
        let (mut from, end) = (addr, addr + u64::from(bytes));
        // One entry has an aligned 128 bits.
        while from < end {
            let until = end.min((from | 15) + 1);
            let is_new_line = from == addr || from.is_multiple_of(64);
            let part = LineBytes::new(from, (until - from) as u32);
            let stored =
                self.cluster.store_part(core, from, part, is_new_line, reply.accepted, sink);
            reply.accepted = reply.accepted.max(stored.accepted);
            reply.translated = reply.translated.max(stored.translated);
            from = until;
        }
        if access.exclusive {
            self.cluster.write_open_store(core, reply.accepted, sink);
        }
        reply
    }

    /// Performs a store-exclusive that succeeds. Its monitor is open after it.
    pub fn store_exclusive<S: A53Sink>(
        &mut self,
        core: usize,
        access: DataAccess,
        now: u64,
        sink: &mut S,
    ) -> ExclusiveReply {
        let addr = access.addr & ADDRESS_MASK;
        let number = self.index(core);
        self.cluster.begin_store_exclusive(number, addr, now, sink);
        let access = DataAccess { exclusive: true, ..access };
        let accepted = self.store(core, access, now, sink).accepted;
        let known = self.cluster.end_store_exclusive(number, addr, accepted, sink);
        ExclusiveReply { accepted, known }
    }

    /// Marks the line of a load-exclusive that was performed in the monitor of its core.
    pub fn mark_exclusive(&mut self, core: usize, addr: u64) {
        let core = self.index(core);
        self.cluster.mark_exclusive(core, addr & ADDRESS_MASK);
    }

    /// Opens the monitor of a core: `CLREX`, an exception return, a store-exclusive that fails.
    pub fn clear_exclusive(&mut self, core: usize) {
        let core = self.index(core);
        self.cluster.cores[core].monitor.clear();
    }

    /// Returns how many store-exclusives of a core succeeded although their monitor was open.
    pub fn lost_exclusives(&self, core: usize) -> u64 {
        self.cluster.cores[self.index(core)].monitor.lost()
    }

    /// Returns whether an address is that of a device, which no wrong path may access.
    pub(crate) fn is_device(&self, addr: u64) -> bool {
        self.cluster.memory_at(addr & ADDRESS_MASK) == MemoryType::Device
    }

    /// Performs a software prefetch (`PRFM`).
    pub fn prefetch<S: A53Sink>(
        &mut self,
        core: usize,
        addr: u64,
        for_write: bool,
        now: u64,
        sink: &mut S,
    ) {
        let core = self.index(core);
        self.cluster.prefetch_line(core, addr & ADDRESS_MASK, for_write, now, sink);
    }

    /// Offers a line of zeros (`DC ZVA`) to the store buffer.
    pub fn zero_line<S: A53Sink>(
        &mut self,
        core: usize,
        addr: u64,
        now: u64,
        sink: &mut S,
    ) -> StoreReply {
        let core = self.index(core);
        let stored = self.cluster.store_zeros(core, addr & ADDRESS_MASK, now, sink);
        StoreReply { accepted: stored.accepted, translated: stored.translated }
    }

    /// Performs a maintenance operation; `addr` is its operand in Arm's format. Returns the cycle
    /// in which it is done.
    pub fn maintain<S: A53Sink>(
        &mut self,
        core: usize,
        what: Maintenance,
        addr: u64,
        now: u64,
        sink: &mut S,
    ) -> u64 {
        let core = self.index(core);
        self.cluster.perform(core, what, addr, now, sink)
    }

    /// Returns the cycle at which the store buffer is empty and its linefills are complete, for
    /// barriers.
    pub fn drain<S: A53Sink>(&mut self, core: usize, now: u64, sink: &mut S) -> u64 {
        let core = self.index(core);
        self.cluster.drain_stores(core, now, sink)
    }

    /// Writes what is left in the store buffer at the end of the run, and counts what lasts until
    /// `now`: the cycles in read-allocate mode.
    pub fn finish<S: A53Sink>(&mut self, core: usize, now: u64, sink: &mut S) {
        let core = self.index(core);
        self.cluster.drain_stores(core, now, sink);
        self.cluster.count_read_allocate(core, now, sink);
    }

    /// Returns a valid core number: a wrong one must not stop the program.
    #[inline(always)]
    fn index(&self, core: usize) -> usize {
        core.min(self.cluster.cores.len() - 1)
    }
}

/// Counts a load that hits, and returns its answer.
#[inline(always)]
fn l1d_hit<S: A53Sink>(now: u64, sink: &mut S) -> LoadReply {
    sink.see(Seen::Loaded(LoadedFrom::L1d));
    sink.raise(A53Event::MEM_ACCESS, now, 1);
    sink.raise(A53Event::L1D_CACHE, now, 1);
    LoadReply { ready: now, missed: false, crosses_line: false }
}

/// Returns the bytes of an access that lie after the end of its first line.
#[inline(always)]
fn bytes_after_line(addr: u64, bytes: u32) -> u32 {
    ((addr & 63) as u32 + bytes).saturating_sub(64)
}
