//! Load/store unit: store queue, forwarding, ordering (Chips and Cheese, A710 and A725).
//!
//! A load passes older stores whose addresses are not known, unless it has passed a store to its
//! own address before (`memory_order`). Not modeled: recovery of two loads of one location that
//! executed out of order while another core wrote it.

use crate::config::ExecuteConfig;
use crate::units::dependence::DependencePredictor;
use crate::units::retire::InOrderStage;
use crate::units::stamp::{OpRef, Stamp};
use sim_core::{Cycle, MemKind, MemRequest};
use sim_isa::{BarrierScope, Inst};

/// Entries of the forwarding table. The stores in flight fill at most a fraction of it.
const SLOTS: usize = 1 << 8;
/// log2 of the bytes of a granule, which one entry covers.
const GRANULE_SHIFT: u32 = 3;

/// Youngest store to one 8-byte granule.
#[derive(Clone, Copy, Debug, Default)]
struct StoreNote {
    granule: u64,
    first: u64,
    end: u64,
    times: StoreTimes,
}

/// Timing of one store as younger loads see it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StoreTimes {
    /// Cycle in which its address issued. Loads that issue then or later are compared with it.
    pub known: Cycle,
    /// Cycle in which its data can be forwarded, stamped with the store.
    pub data: Stamp,
    /// Cycle in which the cache has it and its store queue entry is free.
    pub drained: Cycle,
}

/// Result of a load's search in the store queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forward {
    /// No older store in flight: the caches have the data.
    None,
    /// One store covers the load, or two stores cover one half each.
    Hit {
        /// Cycle in which the load has the value.
        done: Cycle,
        /// Cycle in which the store had its data, and the store; the later one of two.
        data: Stamp,
    },
    /// A store covers part of the load, which waits until the store has left the queue.
    Wait(Cycle),
}

/// Stores in flight and the order of memory operations.
#[derive(Clone, Debug)]
pub(crate) struct LoadStoreUnit {
    notes: Box<[StoreNote]>,
    drain: InOrderStage,
    forward_cycles: Cycle,
    forward_fail_cycles: Cycle,
    barrier_cycles: Cycle,
    /// Cycle in which the cache has all stores so far.
    last_drained: Cycle,
    /// Cycle in which the cache has all store-releases so far.
    last_released: Cycle,
    /// Cycle in which the addresses of all stores so far are known.
    last_known: Cycle,
    pub(crate) dependence: DependencePredictor,
    /// Aligned bytes that one slot of the drain writes, less one.
    drain_mask: u64,
    ordering: MemoryOrdering,
    /// Maintenance was sent to all cores, and no `DSB` has waited for it yet.
    unsynchronized: bool,
}

/// Ordering of memory operations, restored after a wrong path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MemoryOrdering {
    /// Earliest issue cycle of younger memory operations (barriers, load-acquire).
    pub floor: Cycle,
    /// Operation that set the floor: a barrier or a load-acquire.
    pub floor_by: OpRef,
    /// Cycle in which every older memory operation has its data.
    pub done: Cycle,
    /// Earliest cycle in which a younger store leaves the queue (barriers for stores).
    pub drain_floor: Cycle,
}

impl MemoryOrdering {
    /// Returns the floor, and the operation that set it.
    #[inline(always)]
    pub(crate) fn floor_stamp(&self) -> Stamp {
        Stamp::new(self.floor, self.floor_by)
    }
}

impl LoadStoreUnit {
    /// Returns an empty unit at cycle 0.
    pub(crate) fn new(config: &ExecuteConfig) -> LoadStoreUnit {
        LoadStoreUnit {
            notes: vec![StoreNote::default(); SLOTS].into_boxed_slice(),
            drain: InOrderStage::new(config.store_drain_width),
            forward_cycles: config.forward_cycles,
            forward_fail_cycles: config.forward_fail_cycles,
            barrier_cycles: config.barrier_cycles,
            last_drained: 0,
            last_released: 0,
            last_known: 0,
            dependence: DependencePredictor::new(config.dependence_entries),
            drain_mask: config.store_drain_bytes - 1,
            ordering: MemoryOrdering::default(),
            unsynchronized: false,
        }
    }

    /// Returns the current ordering.
    #[inline]
    pub(crate) fn ordering(&self) -> MemoryOrdering {
        self.ordering
    }

    /// Restores the ordering after a wrong path.
    pub(crate) fn restore(&mut self, ordering: MemoryOrdering) {
        self.ordering = ordering;
    }

    /// Returns when all older operations are done, including the cache writes of stores.
    pub(crate) fn all_done(&self) -> Cycle {
        self.ordering.done.max(self.last_drained)
    }

    /// Returns when a barrier for loads and stores has found all older operations done. Returns 0
    /// if there was none.
    pub(crate) fn all_observed(&self) -> Cycle {
        let done = self.all_done();
        if done == 0 { 0 } else { done + self.barrier_cycles }
    }

    /// Delays younger memory operations until `cycle`, because of `by`.
    pub(crate) fn hold_until(&mut self, cycle: Cycle, by: OpRef) {
        if cycle > self.ordering.floor {
            (self.ordering.floor, self.ordering.floor_by) = (cycle, by);
        }
    }

    /// Returns the earliest issue cycle of a load: after barriers and load-acquires, and for a
    /// sequentially consistent load-acquire also after older store-releases (Arm ARM B2.3).
    #[inline(always)]
    pub(crate) fn load_floor(&self, inst: &Inst) -> Stamp {
        let floor = self.ordering.floor_stamp();
        if inst.mem.ordered && !inst.is_rcpc() {
            floor.max(Stamp::new(self.last_released, OpRef::ORDER))
        } else {
            floor
        }
    }

    /// Applies a `DMB` to the memory operations that its option selects. `LD` orders older loads
    /// before all younger accesses, `ST` older stores before younger ones, no option all accesses.
    pub(crate) fn order_memory(&mut self, barrier: &Inst) {
        match barrier.barrier_scope() {
            BarrierScope::Loads => self.hold_until(self.ordering.done, OpRef::ORDER),
            BarrierScope::Stores => {
                self.ordering.drain_floor = self.ordering.drain_floor.max(self.last_drained)
            }
            BarrierScope::All => self.hold_until(self.all_observed(), OpRef::ORDER),
        }
    }

    /// Records the completion in `cycle` of cache or TLB maintenance that has retired; a `DSB`
    /// waits for it.
    pub(crate) fn maintained(&mut self, cycle: Cycle) {
        self.last_drained = self.last_drained.max(cycle);
    }

    /// Records that maintenance was sent to all cores.
    pub(crate) fn sent_to_all(&mut self) {
        self.unsynchronized = true;
    }

    /// Returns whether maintenance of all cores waits for a `DSB`.
    pub(crate) fn is_unsynchronized(&self) -> bool {
        self.unsynchronized
    }

    /// Records that all cores have performed, in `cycle`, the maintenance that they were sent.
    pub(crate) fn synchronized(&mut self, cycle: Cycle) {
        self.unsynchronized = false;
        self.maintained(cycle);
    }

    /// Records that the data of an operation is ready in `cycle`.
    #[inline]
    pub(crate) fn finished(&mut self, cycle: Cycle) {
        self.ordering.done = self.ordering.done.max(cycle);
    }

    /// Returns the result of searching the store queue for a load of `bytes` at `addr` that issues
    /// in `now`.
    #[inline(always)]
    pub(crate) fn forward(&self, addr: u64, bytes: u64, now: Cycle) -> Forward {
        let end = addr.wrapping_add(bytes);
        let (first, last) = (addr >> GRANULE_SHIFT, end.wrapping_sub(1) >> GRANULE_SHIFT);
        let mut granule = first;
        loop {
            let note = &self.notes[granule as usize & (SLOTS - 1)];
            let overlaps = note.granule == granule && note.first < end && addr < note.end;
            if overlaps && note.times.drained > now {
                return self.forward_from(note, addr, end, now);
            }
            if granule == last || granule.wrapping_sub(first) > 8 {
                return Forward::None;
            }
            granule = granule.wrapping_add(1);
        }
    }

    fn forward_from(&self, note: &StoreNote, addr: u64, end: u64, now: Cycle) -> Forward {
        if note.first <= addr && end <= note.end {
            // Store and load together take `forward_cycles`; the store's own cycle is in `data`.
            let data = note.times.data;
            return self.forwarded(data, now);
        }
        match self.halves(addr, end, now) {
            Some(data) => self.forwarded(data, now),
            None => Forward::Wait(note.times.drained + self.forward_fail_cycles),
        }
    }

    /// Returns the forwarding of a load whose stores have their data in `data`.
    fn forwarded(&self, data: Stamp, now: Cycle) -> Forward {
        Forward::Hit { done: now.max(data.cycle()) + self.forward_cycles - 1, data }
    }

    /// Returns when two stores in flight have their data, if each covers one half of the load. The
    /// load must have 8 bytes or more (optimization guides, A78 to V3).
    fn halves(&self, addr: u64, end: u64, now: Cycle) -> Option<Stamp> {
        let bytes = end.wrapping_sub(addr);
        let middle = addr.wrapping_add(bytes / 2);
        let has_halves = bytes >= 8 && bytes.is_power_of_two();
        let low = self.covering(addr, middle, now).filter(|_| has_halves)?;
        let high = self.covering(middle, end, now)?;
        Some(low.max(high))
    }

    /// Returns when the youngest store in flight to these bytes has its data, if that one store
    /// wrote all of them.
    fn covering(&self, addr: u64, end: u64, now: Cycle) -> Option<Stamp> {
        let note_of = |addr: u64| {
            let granule = addr >> GRANULE_SHIFT;
            let note = &self.notes[granule as usize & (SLOTS - 1)];
            (note.granule == granule && note.times.drained > now).then_some(note)
        };
        let (first, last) = (note_of(addr)?, note_of(end.wrapping_sub(1))?);
        let covers = |note: &StoreNote| note.first <= addr && end <= note.end;
        let is_one = first.times.data == last.times.data;
        (is_one && covers(first) && covers(last)).then_some(first.times.data)
    }

    /// Returns whether the address of an older store may be unknown after `now`.
    #[inline]
    pub(crate) fn some_address_unknown(&self, now: Cycle) -> bool {
        self.last_known > now
    }

    /// Returns when the address of the older store that writes the bytes of a load becomes known.
    /// Returns `None` if it is known in `now`.
    #[inline]
    pub(crate) fn unknown_store(&self, addr: u64, bytes: u64, now: Cycle) -> Option<Cycle> {
        let end = addr.wrapping_add(bytes);
        let (first, last) = (addr >> GRANULE_SHIFT, end.wrapping_sub(1) >> GRANULE_SHIFT);
        let (mut granule, mut latest) = (first, now);
        loop {
            let note = &self.notes[granule as usize & (SLOTS - 1)];
            if note.granule == granule && note.first < end && addr < note.end {
                latest = latest.max(note.times.known);
            }
            if granule == last || granule.wrapping_sub(first) >= 8 {
                return (latest > now).then_some(latest);
            }
            granule = granule.wrapping_add(1);
        }
    }

    /// Returns the first cycle in which an atomic that could issue in `now` may read its location.
    /// It waits for the older store or atomic that writes the location.
    #[inline]
    pub(crate) fn settled(&self, addr: u64, bytes: u64, now: Cycle) -> Cycle {
        match self.forward(addr, bytes, now) {
            Forward::None => now,
            Forward::Hit { done, .. } => now.max(done + 1 - self.forward_cycles),
            Forward::Wait(cycle) => now.max(cycle),
        }
    }

    /// Returns the cycle in which a store that retires in `retired` leaves the queue for the cache.
    /// A store-release leaves when the cache has all older stores.
    #[inline(always)]
    pub(crate) fn drain(&mut self, retired: Cycle, release: bool) -> Cycle {
        let after = if release { self.last_drained } else { self.ordering.drain_floor };
        let by = if after > retired + 1 { OpRef::ORDER } else { OpRef::NONE };
        self.drain.assign(after.max(retired + 1), by)
    }

    /// Returns the cycle in which the last store left the queue, and the cause of the delay: a
    /// barrier, or only the width of the drain.
    #[inline]
    pub(crate) fn last_sent(&self) -> Stamp {
        self.drain.stamp(self.drain.cycle())
    }

    /// Returns the cycle in which the last piece of a store leaves the queue: one slot of the drain
    /// for each piece. The first piece follows [`LoadStoreUnit::drain`].
    #[inline(always)]
    pub(crate) fn drain_pieces(
        &mut self,
        store: &MemRequest,
        retired: Cycle,
        release: bool,
    ) -> Cycle {
        let mut cycle = self.drain(retired, release);
        let mut last = (store.addr.0 & self.drain_mask) + u64::from(store.bytes.max(1)) - 1;
        while last > self.drain_mask && store.kind == MemKind::Store {
            cycle = self.drain.assign(cycle, OpRef::NONE);
            last -= self.drain_mask + 1;
        }
        cycle
    }

    /// Records that the cache has a store-release in `cycle`.
    pub(crate) fn released(&mut self, cycle: Cycle) {
        self.last_released = self.last_released.max(cycle);
    }

    /// Records a store or an atomic for younger loads.
    #[inline(always)]
    pub(crate) fn stored(&mut self, addr: u64, bytes: u64, times: StoreTimes) {
        let end = addr.wrapping_add(bytes);
        self.last_drained = self.last_drained.max(times.drained);
        self.last_known = self.last_known.max(times.known);
        let (first, last) = (addr >> GRANULE_SHIFT, end.wrapping_sub(1) >> GRANULE_SHIFT);
        let mut granule = first;
        loop {
            self.notes[granule as usize & (SLOTS - 1)] =
                StoreNote { granule, first: addr, end, times };
            if granule == last || granule.wrapping_sub(first) > 16 {
                return;
            }
            granule = granule.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests;
