//! The load/store unit: store queue, forwarding, ordering (Chips and Cheese, A710 and A725).
//!
//! A load passes older stores whose addresses are not known, unless it has met one of its own address
//! so before (`memory_order`). Not modeled: loads of one location that are found out of order because
//! another core has written it in between.

use crate::config::ExecuteConfig;
use crate::op::Op;
use crate::retire::InOrder;
use sim_core::{Cycle, EventSink, InstFlags, PmuEvent};
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
    /// First cycle in which its address can be compared with.
    pub known: Cycle,
    /// Cycle in which its data can be forwarded.
    pub data: Cycle,
    /// Cycle in which the cache has it and its store queue entry is free.
    pub drained: Cycle,
}

/// What a load finds in the store queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forward {
    /// Nothing: the caches have the data.
    None,
    /// One store covers it; the value is there in this cycle.
    Hit(Cycle),
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
    /// Cycle in which the cache has all stores so far.
    last_drained: Cycle,
    /// Cycle in which the cache has all store-releases so far.
    last_released: Cycle,
    /// Cycle in which the addresses of all stores so far are known.
    last_known: Cycle,
    /// One bit for loads that have passed a store of their address, by program counter.
    dependent: Box<[u64]>,
    order: Order,
}

/// Ordering of memory operations; put back after a wrong path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    /// No younger memory operation issues before (barriers, load-acquire).
    pub floor: Cycle,
    /// Every older memory operation has its data by then.
    pub done: Cycle,
    /// No younger store leaves the queue before (barriers for stores).
    pub drain_floor: Cycle,
}

impl LoadStoreUnit {
    /// An empty unit at cycle 0.
    pub fn new(config: &ExecuteConfig) -> LoadStoreUnit {
        LoadStoreUnit {
            notes: vec![StoreNote::default(); SLOTS].into_boxed_slice(),
            drain: InOrder::new(config.store_drain_width),
            forward_cycles: config.forward_cycles,
            forward_fail_cycles: config.forward_fail_cycles,
            last_drained: 0,
            last_released: 0,
            last_known: 0,
            dependent: vec![0; 1 << (config.dependence_bits - 6)].into_boxed_slice(),
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

    /// Younger memory operations wait until `cycle`.
    pub fn hold_until(&mut self, cycle: Cycle) {
        self.order.floor = self.order.floor.max(cycle);
    }

    /// No load issues before: what barriers and load-acquires say, and for a load-acquire that is
    /// sequentially consistent the store-releases before it (Arm ARM B2.3).
    #[inline(always)]
    pub fn load_floor(&self, inst: &Inst) -> Cycle {
        if inst.mem.ordered && !is_rcpc(inst) {
            self.order.floor.max(self.last_released)
        } else {
            self.order.floor
        }
    }

    /// A `DMB`: all kinds of memory operations, or as its option says (`LD`: loads before, everything
    /// behind; `ST`: stores before and behind).
    pub fn order_memory(&mut self, barrier: &Inst) {
        match barrier.word >> 8 & 0b11 {
            0b01 => self.hold_until(self.order.done),
            0b10 => self.order.drain_floor = self.order.drain_floor.max(self.last_drained),
            _ => self.hold_until(self.all_done()),
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
            Forward::Hit(
                (now + self.forward_cycles - 1).max(note.times.data + self.forward_cycles - 1),
            )
        } else {
            Forward::Wait(note.times.drained + self.forward_fail_cycles)
        }
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

    /// Whether the load at `pc` is expected to read what an older store writes, and waits for its address.
    #[inline]
    pub fn expects_store(&self, pc: u64) -> bool {
        let (word, bit) = self.dependence_bit(pc);
        self.dependent[word] & bit != 0
    }

    /// The load at `pc` has passed a store that wrote what it read.
    pub fn expect_store(&mut self, pc: u64) {
        let (word, bit) = self.dependence_bit(pc);
        self.dependent[word] |= bit;
    }

    #[inline]
    fn dependence_bit(&self, pc: u64) -> (usize, u64) {
        let i = (pc >> 2) as usize;
        ((i / 64) & (self.dependent.len() - 1), 1 << (i % 64))
    }

    /// From which cycle on an atomic that could issue in `now` may read its location: behind the older
    /// store or atomic that writes it.
    #[inline]
    pub fn settled(&self, addr: u64, bytes: u64, now: Cycle) -> Cycle {
        match self.forward(addr, bytes, now) {
            Forward::None => now,
            Forward::Hit(cycle) => now.max(cycle + 1 - self.forward_cycles),
            Forward::Wait(cycle) => now.max(cycle),
        }
    }

    /// The cycle in which a store that retires in `retired` leaves the queue for the cache. A
    /// store-release leaves when the cache has everything older.
    #[inline(always)]
    pub fn drain(&mut self, retired: Cycle, release: bool) -> Cycle {
        let after = if release { self.last_drained } else { self.order.drain_floor };
        self.drain.place(after.max(retired + 1))
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

/// Raises the events that depend on the address or the outcome of a load or store instruction:
/// alignment and the result of a store-exclusive (PMU guide 4.8).
#[inline(always)]
pub(crate) fn raise_instruction_events<S: EventSink>(op: &Op<'_>, sink: &mut S) {
    let Op { inst, addr, flags, more, .. } = *op;
    let is_store = matches!(inst.mem.op, MemOp::Store | MemOp::AtomicStore);
    let is_load = matches!(inst.mem.op, MemOp::Load | MemOp::AtomicLoad | MemOp::AtomicSwap);
    if inst.mem.exclusive && is_store {
        sink.raise(if flags.has(InstFlags::EXCLUSIVE_FAILED) {
            PmuEvent::STREX_FAIL_SPEC
        } else {
            PmuEvent::STREX_PASS_SPEC
        });
    }
    let is_unaligned = |addr: u64| !inst.mem.is_aligned(addr);
    if addr.is_some_and(is_unaligned) || more.iter().any(|addr| is_unaligned(*addr)) {
        if is_load {
            sink.raise(PmuEvent::UNALIGNED_LD_SPEC);
        } else if is_store {
            sink.raise(PmuEvent::UNALIGNED_ST_SPEC);
        }
    }
}

/// As that, of a load or store that has a [`sim_isa::Shape`] of its own: only its alignment is to be asked for.
#[inline(always)]
pub(crate) fn raise_simple_events<S: EventSink>(op: &Op<'_>, sink: &mut S) {
    if op.addr.is_some_and(|addr| !op.inst.mem.is_aligned(addr)) {
        raise_instruction_events(op, sink);
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
mod tests {
    use super::*;

    fn unit() -> LoadStoreUnit {
        LoadStoreUnit::new(&ExecuteConfig {
            single_cycle_on_m0: true,
            forward_cycles: 5,
            forward_fail_cycles: 4,
            dependence_bits: 10,
            store_drain_width: 2,
            system_write_cycles: 10,
            system_read_cycles: 4,
            exception_cycles: 40,
        })
    }

    const TIMES: StoreTimes = StoreTimes { known: 12, data: 20, drained: 90 };

    #[test]
    fn a_store_is_unknown_to_loads_of_its_bytes_until_its_address_is_there() {
        let mut lsu = unit();
        lsu.stored(0x1004, 4, TIMES);
        assert!(lsu.some_address_unknown(11));
        assert_eq!(lsu.unknown_store(0x1000, 8, 11), Some(12));
        assert_eq!(lsu.unknown_store(0x1000, 8, 12), None, "it can be compared with");
        assert_eq!(lsu.unknown_store(0x1000, 4, 11), None, "it writes other bytes");
    }

    #[test]
    fn a_load_that_passed_its_store_once_expects_it() {
        let mut lsu = unit();
        assert!(!lsu.expects_store(0x4004));
        lsu.expect_store(0x4004);
        assert!(lsu.expects_store(0x4004));
        assert!(!lsu.expects_store(0x4008));
    }

    #[test]
    fn a_load_inside_a_store_in_flight_gets_its_data_from_there() {
        let mut lsu = unit();
        lsu.stored(0x1000, 8, TIMES);
        assert_eq!(lsu.forward(0x1004, 4, 30), Forward::Hit(34));
        assert_eq!(lsu.forward(0x1000, 8, 10), Forward::Hit(24), "waits for the store's data");
    }

    #[test]
    fn a_load_that_a_store_covers_in_part_waits_until_it_has_drained() {
        let mut lsu = unit();
        lsu.stored(0x1000, 4, TIMES);
        assert_eq!(lsu.forward(0x1000, 8, 30), Forward::Wait(94));
        assert_eq!(lsu.forward(0x1004, 4, 30), Forward::None);
    }

    #[test]
    fn a_store_that_has_left_the_queue_forwards_nothing() {
        let mut lsu = unit();
        lsu.stored(0x1000, 8, TIMES);
        assert_eq!(lsu.forward(0x1000, 8, 90), Forward::None);
    }

    #[test]
    fn two_stores_drain_per_cycle() {
        let mut lsu = unit();
        let cycles: Vec<Cycle> =
            [9, 9, 9].into_iter().map(|retired| lsu.drain(retired, false)).collect();
        assert_eq!(cycles, [10, 10, 11]);
    }
}
