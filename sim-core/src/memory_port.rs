//! What the pipeline may ask of the memory system, and what it is told.
//!
//! Every request carries the cycle in which it starts; every reply the cycle in which its result
//! can be used. The memory system raises the events of guide sections 4.1 to 4.6 itself.

use crate::access::{LoadWait, MemReply, MemRequest};
use crate::addr::{PhysAddr, VirtAddr};
use crate::sink::EventSink;
use crate::time::Cycle;

/// The memory system as one core sees it.
pub trait MemoryPort {
    /// One instruction fetch inside one 64-byte line. `done` is when the words reach decode.
    fn fetch<S: EventSink>(&mut self, pc: VirtAddr, now: Cycle, sink: &mut S) -> MemReply;

    /// Translates the address of a store when its address operation issues. Raises the store half
    /// of flow 5.2 (`MEM_ACCESS_WR`, `L1D_TLB_WR` ...). `done` is when the translation is known.
    fn translate_store<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        sink: &mut S,
    ) -> MemReply;

    /// Performs one access: loads, atomics and preloads when they issue, stores and `DC ZVA` when
    /// they leave the store queue (flows 5.1, 5.4, 5.5, 5.7, 5.8).
    fn access<S: EventSink>(&mut self, request: MemRequest, now: Cycle, sink: &mut S) -> MemReply;

    /// A load that meets nothing: translation and line are at hand. False if it would meet something: then
    /// nothing has happened, and [`MemoryPort::access`] does it. `element_bytes` as in [`MemRequest`].
    fn load_hits<S: EventSink>(
        &mut self,
        addr: VirtAddr,
        bytes: u32,
        element_bytes: u32,
        now: Cycle,
        sink: &mut S,
    ) -> bool {
        let _ = (addr, bytes, element_bytes, now, sink);
        false
    }

    /// The same for both halves of a store.
    fn store_hits<S: EventSink>(
        &mut self,
        addr: VirtAddr,
        bytes: u32,
        now: Cycle,
        sink: &mut S,
    ) -> bool {
        let _ = (addr, bytes, now, sink);
        false
    }

    /// Where a virtual address of the running program lies in memory, if it is mapped. Pure: nothing is
    /// looked up, walked or counted.
    fn physical(&self, addr: VirtAddr) -> Option<PhysAddr> {
        let _ = addr;
        None
    }

    /// What the load at `pc` that missed the L1 waited for, if it was the last such and issued in `issued` or
    /// later. Pure.
    fn load_wait(&self, pc: VirtAddr, issued: Cycle) -> LoadWait {
        let _ = (pc, issued);
        LoadWait::default()
    }

    /// In how many cycles of `from..to` a miss of the L2 was pending outside the core. Pure.
    fn l2_miss_pending(&self, from: Cycle, to: Cycle) -> u64;
}
