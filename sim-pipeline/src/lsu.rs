//! The load/store unit: store queue, forwarding, ordering (Chips and Cheese, A710 and A725).
//!
//! A load passes older stores whose addresses are not known, unless it has met one of its own address
//! so before (`memory_order`). Not modeled: loads of one location that are found out of order because
//! another core has written it in between.

use crate::config::ExecuteConfig;
use crate::dependence::DependencePredictor;
use crate::op::Op;
use crate::pipeline::Pipeline;
use crate::request::is_atomic;
use crate::retire::InOrder;
use crate::stamp::{OpRef, Stamp};
use sim_core::time::NEVER;
use sim_core::{
    Cycle, EventSink, Happened, InstFlags, MemKind, MemReply, MemRequest, MemoryPort, PmuEvent,
    TagUse, VirtAddr,
};
use sim_isa::{Inst, MemOp, Special};

/// Slots of the forwarding table; the store queue has at most a fraction of it in flight.
const SLOTS: usize = 1 << 8;
/// Bytes of one entry's granule.
const GRANULE_SHIFT: u32 = 3;

/// The youngest store to one 8-byte granule.
#[derive(Clone, Copy, Debug, Default)]
struct StoreNote {
    granule: u64,
    first: u64,
    end: u64,
    times: StoreTimes,
}

/// The life of one store, as far as loads behind it are concerned.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoreTimes {
    /// Cycle in which its address issued. Loads that issue then or later are compared with it.
    pub known: Cycle,
    /// Cycle in which its data can be forwarded, and the store.
    pub data: Stamp,
    /// Cycle in which the cache has it and its store queue entry is free.
    pub drained: Cycle,
}

/// What a load finds in the store queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forward {
    /// Nothing: the caches have the data.
    None,
    /// One store covers it, or two of which each covers one half.
    Hit {
        /// Cycle in which the load has the value.
        done: Cycle,
        /// Cycle in which the store had its data, and the store; the later one of two.
        data: Stamp,
    },
    /// A store covers it in part: it waits until the store has left the queue.
    Wait(Cycle),
}

/// Stores in flight and the order of memory operations.
#[derive(Clone, Debug)]
pub struct LoadStoreUnit {
    notes: Box<[StoreNote]>,
    drain: InOrder,
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
    order: Order,
}

/// Ordering of memory operations; put back after a wrong path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    /// No younger memory operation issues before (barriers, load-acquire).
    pub floor: Cycle,
    /// What set the floor: a barrier, or the load-acquire.
    pub floor_by: OpRef,
    /// Every older memory operation has its data by then.
    pub done: Cycle,
    /// No younger store leaves the queue before (barriers for stores).
    pub drain_floor: Cycle,
}

impl Order {
    /// The floor, and what set it.
    #[inline(always)]
    pub fn floor_stamp(&self) -> Stamp {
        Stamp::new(self.floor, self.floor_by)
    }
}

impl LoadStoreUnit {
    /// An empty unit at cycle 0.
    pub fn new(config: &ExecuteConfig) -> LoadStoreUnit {
        LoadStoreUnit {
            notes: vec![StoreNote::default(); SLOTS].into_boxed_slice(),
            drain: InOrder::new(config.store_drain_width),
            forward_cycles: config.forward_cycles,
            forward_fail_cycles: config.forward_fail_cycles,
            barrier_cycles: config.barrier_cycles,
            last_drained: 0,
            last_released: 0,
            last_known: 0,
            dependence: DependencePredictor::new(config.dependence_entries),
            drain_mask: config.store_drain_bytes - 1,
            order: Order::default(),
        }
    }

    /// The current order.
    #[inline]
    pub fn order(&self) -> Order {
        self.order
    }

    /// Puts the order back after a wrong path.
    pub fn restore(&mut self, order: Order) {
        self.order = order;
    }

    /// When everything older is done, stores written to the cache included.
    pub fn all_done(&self) -> Cycle {
        self.order.done.max(self.last_drained)
    }

    /// When a barrier for loads and stores has found everything older done. Returns 0 if there was nothing older.
    pub fn all_observed(&self) -> Cycle {
        let done = self.all_done();
        if done == 0 { 0 } else { done + self.barrier_cycles }
    }

    /// Younger memory operations wait until `cycle`, for `by`.
    pub fn hold_until(&mut self, cycle: Cycle, by: OpRef) {
        if cycle > self.order.floor {
            (self.order.floor, self.order.floor_by) = (cycle, by);
        }
    }

    /// No load issues before: what barriers and load-acquires say, and for a load-acquire that is
    /// sequentially consistent the store-releases before it (Arm ARM B2.3).
    #[inline(always)]
    pub fn load_floor(&self, inst: &Inst) -> Stamp {
        let floor = self.order.floor_stamp();
        if inst.mem.ordered && !is_rcpc(inst) {
            floor.max(Stamp::new(self.last_released, OpRef::ORDER))
        } else {
            floor
        }
    }

    /// A `DMB`: all kinds of memory operations, or as its option says (`LD`: loads before, everything
    /// behind; `ST`: stores before and behind).
    pub fn order_memory(&mut self, barrier: &Inst) {
        match barrier.word >> 8 & 0b11 {
            0b01 => self.hold_until(self.order.done, OpRef::ORDER),
            0b10 => self.order.drain_floor = self.order.drain_floor.max(self.last_drained),
            _ => self.hold_until(self.all_observed(), OpRef::ORDER),
        }
    }

    /// Cache or TLB maintenance that retired has its effect in `cycle`; a `DSB` waits for it.
    pub fn maintained(&mut self, cycle: Cycle) {
        self.last_drained = self.last_drained.max(cycle);
    }

    /// An older operation's data is there in `cycle`.
    #[inline]
    pub fn finished(&mut self, cycle: Cycle) {
        self.order.done = self.order.done.max(cycle);
    }

    /// What a load of `bytes` at `addr` that issues in `now` finds in the store queue.
    #[inline(always)]
    pub fn forward(&self, addr: u64, bytes: u64, now: Cycle) -> Forward {
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

    /// The value of a load whose stores had their data in `data`.
    fn forwarded(&self, data: Stamp, now: Cycle) -> Forward {
        Forward::Hit { done: now.max(data.cycle()) + self.forward_cycles - 1, data }
    }

    /// When two stores in flight have their data of which each covers one half of a load of 8 bytes or more
    /// (optimization guides, A78 to V3).
    fn halves(&self, addr: u64, end: u64, now: Cycle) -> Option<Stamp> {
        let bytes = end.wrapping_sub(addr);
        let middle = addr.wrapping_add(bytes / 2);
        let has_halves = bytes >= 8 && bytes.is_power_of_two();
        let low = self.covering(addr, middle, now).filter(|_| has_halves)?;
        let high = self.covering(middle, end, now)?;
        Some(low.max(high))
    }

    /// The data of the one store in flight that wrote these bytes last.
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

    /// True when the address of an older store may be unknown after `now`.
    #[inline]
    pub fn some_address_unknown(&self, now: Cycle) -> bool {
        self.last_known > now
    }

    /// When the address of the older store is known that writes what a load reads, if it is not yet
    /// known in `now`.
    #[inline]
    pub fn unknown_store(&self, addr: u64, bytes: u64, now: Cycle) -> Option<Cycle> {
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

    /// From which cycle on an atomic that could issue in `now` may read its location: behind the older
    /// store or atomic that writes it.
    #[inline]
    pub fn settled(&self, addr: u64, bytes: u64, now: Cycle) -> Cycle {
        match self.forward(addr, bytes, now) {
            Forward::None => now,
            Forward::Hit { done, .. } => now.max(done + 1 - self.forward_cycles),
            Forward::Wait(cycle) => now.max(cycle),
        }
    }

    /// The cycle in which a store that retires in `retired` leaves the queue for the cache. A
    /// store-release leaves when the cache has everything older.
    #[inline(always)]
    pub fn drain(&mut self, retired: Cycle, release: bool) -> Cycle {
        let after = if release { self.last_drained } else { self.order.drain_floor };
        let by = if after > retired + 1 { OpRef::ORDER } else { OpRef::NONE };
        self.drain.place(after.max(retired + 1), by)
    }

    /// Returns the cycle in which the last store left the queue, with what held it there: a barrier, or nothing but
    /// the width of the drain.
    #[inline]
    pub(crate) fn last_sent(&self) -> Stamp {
        self.drain.stamp(self.drain.cycle())
    }

    /// As [`LoadStoreUnit::drain`], of an access that leaves in as many pieces as it touches: the cycle of the last.
    #[inline(always)]
    pub fn drain_pieces(&mut self, store: &MemRequest, retired: Cycle, release: bool) -> Cycle {
        let mut cycle = self.drain(retired, release);
        let mut last = (store.addr.0 & self.drain_mask) + u64::from(store.bytes.max(1)) - 1;
        while last > self.drain_mask && store.kind == MemKind::Store {
            cycle = self.drain.place(cycle, OpRef::NONE);
            last -= self.drain_mask + 1;
        }
        cycle
    }

    /// The cache has a store-release in `cycle`.
    pub fn released(&mut self, cycle: Cycle) {
        self.last_released = self.last_released.max(cycle);
    }

    /// Notes a store or an atomic for the loads behind it.
    #[inline(always)]
    pub fn stored(&mut self, addr: u64, bytes: u64, times: StoreTimes) {
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

/// Stores that wait in the memory system for the rest of their line leave for the caches: when these have
/// them, 0 if there are none.
#[inline(never)]
pub(crate) fn push_merged<M: MemoryPort, S: EventSink>(
    pc: u64,
    at: Cycle,
    memory: &mut M,
    sink: &mut S,
) -> Cycle {
    let request = MemRequest::new(VirtAddr(pc), VirtAddr(0), 1, MemKind::DrainStores);
    memory.access(request, at, sink).done
}

impl Pipeline {
    /// The stream ends in `now`: stores that wait for the rest of their line wait no longer.
    pub fn push_stores<M: MemoryPort, S: EventSink>(
        &mut self,
        now: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) {
        let at = now.max(self.lsu.all_done());
        let pushed = push_merged(0, at, memory, sink);
        self.lsu.maintained(pushed);
    }

    /// A barrier that orders stores: none of them may wait for others behind it.
    pub(crate) fn push_before_barrier<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        memory: &mut M,
        sink: &mut S,
    ) {
        let loads_alone = op.inst.word >> 8 & 0b11 == 0b01;
        if op.squash == NEVER && !loads_alone {
            let pushed = push_merged(op.pc, self.lsu.all_done(), memory, sink);
            self.lsu.maintained(pushed);
        }
    }

    /// An atomic that releases is seen behind everything older.
    pub(crate) fn push_before_atomic<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        request: MemRequest,
        at: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) {
        if is_atomic(request.kind) && op.inst.events.contains(PmuEvent::RC_ST_SPEC) {
            let pushed = push_merged(op.pc, at, memory, sink);
            self.lsu.maintained(pushed);
        }
    }

    /// The reply of an access that its address alone forbids, so that nothing is translated.
    #[inline]
    pub(crate) fn refuse_misaligned(&self, op: &Op<'_>, issue: Cycle) -> Option<MemReply> {
        let addr = op.addr?;
        // What a trace says was executed, was: `SCTLR_EL1.nAA` of its machine may have been 1.
        let is_refused = self.has_handlers() && is_misaligned(op.inst, addr);
        let fault = MemReply { done: issue + 1, happened: Happened::FAULT, ..MemReply::default() };
        is_refused.then_some(fault)
    }
}

/// Alignment faults of Normal memory, with `SCTLR_EL1.A` and `nAA` 0 (Arm ARM B2.5.2, FEAT_LSE2): acquires,
/// releases, exclusives and atomics must stay inside 16 aligned bytes, stores of tags begin at a granule.
fn is_misaligned(inst: &Inst, addr: u64) -> bool {
    let mem = &inst.mem;
    let is_atomic = matches!(mem.op, MemOp::AtomicLoad | MemOp::AtomicStore | MemOp::AtomicSwap);
    let at_once = mem.ordered || mem.exclusive || is_atomic;
    // STGM and STZGM align their block themselves.
    let by_block = inst.word >> 24 == 0xD9 && inst.word >> 10 & 0b11 == 0;
    let stores_tags = mem.tags == TagUse::Writes && mem.op == MemOp::Store && !by_block;
    at_once && addr % 16 + u64::from(mem.bytes) > 16 || stores_tags && !addr.is_multiple_of(16)
}

/// Raises the events that depend on the address of a load or store instruction:
/// alignment (PMU guide 4.8.1 to 4.8.3).
#[inline(always)]
pub(crate) fn raise_instruction_events<S: EventSink>(op: &Op<'_>, issue: Cycle, sink: &mut S) {
    let Op { inst, addr, more, .. } = *op;
    let is_store = matches!(inst.mem.op, MemOp::Store | MemOp::AtomicStore);
    let is_load = matches!(inst.mem.op, MemOp::Load | MemOp::AtomicLoad | MemOp::AtomicSwap);
    let is_unaligned = |addr: u64| !inst.mem.is_aligned(addr);
    if addr.is_some_and(is_unaligned) || more.iter().any(|addr| is_unaligned(*addr)) {
        sink.at(issue);
        if is_load {
            sink.raise(PmuEvent::UNALIGNED_LD_SPEC);
        } else if is_store {
            sink.raise(PmuEvent::UNALIGNED_ST_SPEC);
        }
    }
}

/// What became of a store-exclusive (PMU guide 4.8.5, 4.8.6): one that lost its line, or whose access was
/// refused, has not completed its store.
pub(crate) fn raise_exclusive_outcome<S: EventSink>(op: &Op<'_>, met: Happened, sink: &mut S) {
    let is_store = op.inst.mem.op == MemOp::Store;
    if op.inst.mem.exclusive && is_store {
        let failed = op.flags.has(InstFlags::EXCLUSIVE_FAILED) || met.has(Happened::FAULT);
        sink.raise(if failed { PmuEvent::STREX_FAIL_SPEC } else { PmuEvent::STREX_PASS_SPEC });
    }
}

/// As [`raise_instruction_events`], of a load or store that has a [`sim_isa::Shape`] of its own: only its alignment is to be asked for.
#[inline(always)]
pub(crate) fn raise_simple_events<S: EventSink>(op: &Op<'_>, issue: Cycle, sink: &mut S) {
    if op.addr.is_some_and(|addr| !op.inst.mem.is_aligned(addr)) {
        raise_instruction_events(op, issue, sink);
    }
}

/// True for `LDAPR` and `LDAPUR`, which may pass an older store-release.
fn is_rcpc(inst: &Inst) -> bool {
    inst.mem.op == MemOp::Load && inst.word >> 24 & 0x3f != 0b00_1000
}

/// True for instructions that order memory operations around them.
#[inline]
pub fn is_barrier(inst: &Inst) -> bool {
    matches!(inst.special, Special::DataMemoryBarrier | Special::DataSyncBarrier)
}

#[cfg(test)]
mod tests;
