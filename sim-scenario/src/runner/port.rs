//! Memory port of a scenario's data steps: their own fetches take no time and count nothing, unless
//! the case asks for them.

use sim_cache::CorePort;
use sim_core::{
    AccessOutcome, Cycle, EventSink, LoadWait, MemReply, MemRequest, MemoryPort, PhysAddr, VirtAddr,
};

/// A core's memory with a silent I-side by default, and with delayed fetches.
pub(super) struct DataPort<'a> {
    pub(super) inner: CorePort<'a>,
    /// First cycle of fetches, by which a step waits for the one before it.
    pub(super) not_before: Cycle,
    /// Fetches go through the I-side and count.
    pub(super) own_fetches: bool,
    /// Cycle in which all requests so far are complete.
    pub(super) busy_until: &'a mut Cycle,
}

impl DataPort<'_> {
    fn note(&mut self, reply: MemReply) -> MemReply {
        *self.busy_until = (*self.busy_until).max(reply.done);
        reply
    }
}

impl MemoryPort for DataPort<'_> {
    fn fetch<S: EventSink>(&mut self, pc: VirtAddr, now: Cycle, sink: &mut S) -> MemReply {
        let start = now.max(self.not_before);
        let mut reply = MemReply { done: start, ..MemReply::default() };
        if self.own_fetches {
            reply = self.inner.fetch(pc, start, sink);
            reply = self.note(reply);
        }
        if self.not_before > now {
            // The front end always waits for a miss of the L1 TLB.
            reply.outcome.add(AccessOutcome::L1_TLB_MISS);
        }
        reply
    }

    fn translate_store<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        sink: &mut S,
    ) -> MemReply {
        let reply = self.inner.translate_store(request, now, sink);
        self.note(reply)
    }

    fn access<S: EventSink>(&mut self, request: MemRequest, now: Cycle, sink: &mut S) -> MemReply {
        let reply = self.inner.access(request, now, sink);
        self.note(reply)
    }

    fn physical(&self, addr: VirtAddr) -> Option<PhysAddr> {
        self.inner.physical(addr)
    }

    fn load_wait(&self, pc: VirtAddr, issued: Cycle) -> LoadWait {
        self.inner.load_wait(pc, issued)
    }

    fn l2_miss_pending(&self, from: Cycle, to: Cycle) -> u64 {
        self.inner.l2_miss_pending(from, to)
    }
}

/// A memory in which everything hits and nothing counts, to train predictors.
pub(super) struct NoMemory;

impl MemoryPort for NoMemory {
    fn fetch<S: EventSink>(&mut self, _pc: VirtAddr, now: Cycle, _sink: &mut S) -> MemReply {
        MemReply { done: now, ..MemReply::default() }
    }

    fn translate_store<S: EventSink>(
        &mut self,
        _request: MemRequest,
        now: Cycle,
        _sink: &mut S,
    ) -> MemReply {
        MemReply { done: now + 1, ..MemReply::default() }
    }

    fn access<S: EventSink>(&mut self, _: MemRequest, now: Cycle, _sink: &mut S) -> MemReply {
        MemReply { done: now + 1, ..MemReply::default() }
    }

    fn l2_miss_pending(&self, _from: Cycle, _to: Cycle) -> u64 {
        0
    }
}
