//! Accesses of an engine that runs in program order: fetches, loads and stores, one after the
//! other.
//!
//! Two engines use them. [`InOrderEngine`](crate::InOrderEngine) runs the recorded instructions of
//! `--mode memory` and `--mode frontend`; functional warming in `sim-machine` runs the blocks of a
//! trace before a window. They differ in their clocks ([`InOrderClock`]).

use sim_core::{
    AccessOutcome, Cycle, EventSink, MemKind, MemReply, MemRequest, MemoryPort, PmuEvent, VirtAddr,
};

/// Misses of the first-level caches that may be pending in an [`OverlappingClock`].
const MISSES: usize = 16;
/// Instructions that begin per cycle of an [`OverlappingClock`].
const INSTS_PER_CYCLE: u64 = 4;

/// Clock of an engine that runs in program order.
pub trait InOrderClock {
    /// Returns the current cycle.
    fn now(&self) -> Cycle;

    /// Takes the reply to a fetch (`stall` is `STALL_FRONTEND`) or to a data access
    /// (`STALL_BACKEND`), and advances if what is younger has to wait for it.
    fn wait<S: EventSink>(&mut self, reply: &MemReply, stall: PmuEvent, sink: &mut S);

    /// Returns the cycle in which a store writes, after its translation.
    fn begin_write<S: EventSink>(&mut self, translated: &MemReply, sink: &mut S) -> Cycle;
}

/// Clock of a core whose misses overlap: four instructions begin per cycle, and a miss waits for
/// the 16th older one. It raises no events.
#[derive(Clone, Debug, Default)]
pub struct OverlappingClock {
    /// Instructions that could have begun.
    slots: u64,
    /// Completion cycles of the last misses, in a ring.
    misses: [Cycle; MISSES],
    next_miss: usize,
}

impl OverlappingClock {
    /// Begins one instruction.
    #[inline(always)]
    pub(crate) fn begin_inst(&mut self) {
        self.slots += 1;
    }

    /// Begins this number of instructions.
    #[inline(always)]
    pub(crate) fn begin_insts(&mut self, count: u64) {
        self.slots += count;
    }

    /// Returns the number of instructions that can begin until the clock passes a cycle.
    #[inline(always)]
    pub(crate) fn room(&self, until: Cycle) -> usize {
        let end = until.saturating_add(1).saturating_mul(INSTS_PER_CYCLE);
        usize::try_from(end.saturating_sub(self.slots + 1)).unwrap_or(usize::MAX)
    }

    /// Delays the next instruction until this cycle.
    #[inline]
    pub(crate) fn wait_until(&mut self, cycle: Cycle) {
        self.slots = self.slots.max(cycle.saturating_mul(INSTS_PER_CYCLE));
    }
}

impl InOrderClock for OverlappingClock {
    #[inline(always)]
    fn now(&self) -> Cycle {
        self.slots / INSTS_PER_CYCLE
    }

    #[inline]
    fn wait<S: EventSink>(&mut self, reply: &MemReply, _: PmuEvent, _: &mut S) {
        if is_late(reply) {
            self.wait_until(self.misses[self.next_miss]);
            self.misses[self.next_miss] = reply.done;
            self.next_miss = (self.next_miss + 1) % MISSES;
        }
    }

    #[inline]
    fn begin_write<S: EventSink>(&mut self, translated: &MemReply, sink: &mut S) -> Cycle {
        self.wait(translated, PmuEvent::STALL_BACKEND, sink);
        self.now()
    }
}

/// Returns whether the access missed a first-level cache or TLB, so that its data arrives late.
#[inline(always)]
pub fn is_late(reply: &MemReply) -> bool {
    reply.outcome.0 & (AccessOutcome::L1_MISS.0 | AccessOutcome::L1_TLB_MISS.0) != 0
}

/// Engine that makes accesses in program order, for as long as it borrows its clock.
#[derive(Debug)]
pub struct InOrderAccess<'a, C, M, S> {
    /// Says when an access begins, and waits for it.
    pub clock: &'a mut C,
    /// Memory of the core.
    pub memory: &'a mut M,
    /// Receives the events of the memory, and those of the clock.
    pub sink: &'a mut S,
}

impl<C: InOrderClock, M: MemoryPort, S: EventSink> InOrderAccess<'_, C, M, S> {
    /// Fetches the line of the instruction at `pc`. Returns `false` if it may not be executed.
    #[inline]
    pub fn fetch(&mut self, pc: u64) -> bool {
        let reply = self.memory.fetch(VirtAddr(pc), self.clock.now(), self.sink);
        self.clock.wait(&reply, PmuEvent::STALL_FRONTEND, self.sink);
        !reply.outcome.has(AccessOutcome::FAULT)
    }

    /// Performs one load or store of consecutive bytes. Returns `false` if it faults.
    #[inline]
    pub fn load_or_store(&mut self, request: MemRequest) -> bool {
        let MemRequest { addr, bytes, element_bytes, .. } = request;
        let now = self.clock.now();
        let hits = match request.kind {
            MemKind::Store => self.memory.store_hits(addr, bytes, now, self.sink),
            _ => self.memory.load_hits(addr, bytes, element_bytes, now, self.sink),
        };
        hits || self.access(request)
    }

    /// Performs an access that may miss or has rules of its own. A store is translated first, and
    /// writes after its translation. Returns `false` if the access faults.
    #[inline(never)]
    pub fn access(&mut self, request: MemRequest) -> bool {
        let is_store = matches!(request.kind, MemKind::Store | MemKind::ZeroLine);
        let mut start = self.clock.now();
        if is_store {
            let translated = self.memory.translate_store(request, start, self.sink);
            if translated.outcome.has(AccessOutcome::FAULT) {
                return false;
            }
            start = self.clock.begin_write(&translated, self.sink);
        }
        let reply = self.memory.access(request, start, self.sink);
        self.clock.wait(&reply, PmuEvent::STALL_BACKEND, self.sink);
        // A store has already retired when it writes.
        is_store || !reply.outcome.has(AccessOutcome::FAULT)
    }
}
