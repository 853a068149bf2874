//! Interface between the pipeline and the memory system.
//!
//! Every request carries its start cycle. Every reply carries the cycle in which its result can be
//! used. The memory system itself raises the events of guide sections 4.1 to 4.6.

use crate::access::{LoadWait, MemReply, MemRequest};
use crate::addr::{PhysAddr, VirtAddr};
use crate::sink::EventSink;
use crate::time::Cycle;

/// The memory system as one core sees it.
pub trait MemoryPort {
    /// Performs one instruction fetch inside one 64-byte line. `done` is the cycle in which the
    /// words reach decode.
    fn fetch<S: EventSink>(&mut self, pc: VirtAddr, now: Cycle, sink: &mut S) -> MemReply;

    /// Translates the address of a store when its address operation issues. Raises the store half
    /// of flow 5.2 (`MEM_ACCESS_WR`, `L1D_TLB_WR` ...). `done` is the cycle in which the
    /// translation is known.
    fn translate_store<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        sink: &mut S,
    ) -> MemReply;

    /// Performs one access (flows 5.1, 5.4, 5.5, 5.7, 5.8). Loads, atomics and preloads arrive when
    /// they issue, stores and `DC ZVA` when they leave the store queue.
    fn access<S: EventSink>(&mut self, request: MemRequest, now: Cycle, sink: &mut S) -> MemReply;

    /// Performs a load that hits the L1 TLB and L1 D-cache. Returns `false`, with no event raised,
    /// if any condition fails; [`MemoryPort::access`] then performs the load. `element_bytes` is
    /// defined as in [`MemRequest`].
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

    /// Performs translation and write of a store that hits the L1 TLB and L1 D-cache. Returns
    /// `false`, with no event raised, if any condition fails.
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

    /// Returns the physical address of a virtual address of the running program, if it is mapped.
    /// Has no side effects: no lookup, walk or count.
    fn physical(&self, addr: VirtAddr) -> Option<PhysAddr> {
        let _ = addr;
        None
    }

    /// Returns the wait of the load at `pc` if it was the last load that missed the L1 and it
    /// issued in cycle `issued` or later. Has no side effects.
    fn load_wait(&self, pc: VirtAddr, issued: Cycle) -> LoadWait {
        let _ = (pc, issued);
        LoadWait::default()
    }

    /// Returns the number of cycles of `from..to` in which an L2 miss was pending outside the core.
    /// Has no side effects.
    fn l2_miss_pending(&self, from: Cycle, to: Cycle) -> u64;
}
