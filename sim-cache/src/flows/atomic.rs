//! Near atomic operations: read-modify-write in the L1 D-cache. Decision A20. Atomics done at the
//! home node are in `far_atomic`.

use sim_core::{
    AccessOutcome, Cycle, EventSink, MemKind, MemReply, MemRequest, Notice, PmuEvent, TagUse,
};

use crate::core_memory::CoreMemory;
use crate::flows::alignment::misaligned_on_device;
use crate::flows::fragment::{Fragment, Fragments};
use crate::flows::l1d_load::Operation;
use crate::flows::mte::TagHalf;
use crate::flows::translate::Translated;
use crate::uncore::Uncore;
use crate::units::indexed::Indexed;
use crate::units::mapping::MemoryType;
use crate::units::requester::Requester;

impl CoreMemory {
    /// Performs an atomic: one read and one write of the L1 D-cache for each fragment.
    pub(crate) fn atomic<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let mut whole = MemReply::NOTHING;
        for fragment in Fragments::of(request.addr, request.bytes.max(1)) {
            let part = self.atomic_fragment(request, fragment, now, uncore, sink);
            whole.join(part);
            if part.outcome.has(AccessOutcome::FAULT) {
                break;
            }
        }
        whole
    }

    fn atomic_fragment<S: EventSink>(
        &mut self,
        request: MemRequest,
        fragment: Fragment,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        let addr = fragment.addr;
        let translated = match self.translate_atomic(request, fragment, now, uncore, sink) {
            Ok(translated) => translated,
            Err(fault) => return fault,
        };
        if translated.target.memory != MemoryType::Cacheable {
            if let Some(fault) = misaligned_on_device(&request, addr, translated, uncore) {
                return fault;
            }
            // The operation is done outside the core: one bus write, and the old value returns.
            let sent = self.write_uncached(translated, fragment.bytes.into(), uncore, sink);
            let done = uncore.access_uncached(self.number, sent.done) + self.latencies.fill;
            let line = uncore.page_map.physical(addr, translated.target).line();
            if request.kind != MemKind::AtomicStore && uncore.is_remote(line) {
                sink.raise(PmuEvent::REMOTE_ACCESS);
            }
            return MemReply { done, ..sent };
        }
        let line = uncore.page_map.physical(addr, translated.target).line();
        if self.is_far(line) {
            return self.far_atomic(request, line, translated, uncore, sink);
        }
        sink.notify(Notice::At(translated.start));
        sink.raise(PmuEvent::L1D_CACHE_RD);
        sink.raise(PmuEvent::L1D_CACHE_WR);
        let operation = Operation {
            pc: request.pc,
            addr,
            line: Indexed::virtually(addr, line),
            requester: Requester::Write,
            consumes: true,
        };
        let reply = match self.l1d.lookup(operation.line) {
            Some(entry) => {
                let shared = self.l1d.state(entry).is_shared();
                let reply = self.l1d_wait(operation, entry, translated, uncore, sink);
                if shared { self.own_for_write(line, reply, uncore, sink) } else { reply }
            }
            // The read comes first, so the refill counts as a read's.
            None => self.l1d_miss(operation, translated, uncore, sink),
        };
        // A prefetch trained by this miss may have evicted the line.
        if let Some(entry) = self.l1d.probe(line) {
            let state = self.l1d.state(entry).with_dirty(true);
            self.l1d.set_state(entry, state);
            if state.is_in_l1i() {
                self.invalidate_l1i(line);
            }
        }
        reply
    }

    /// Translates an atomic. Counts its memory accesses, with one TLB lookup and one tag check
    /// each.
    fn translate_atomic<S: EventSink>(
        &mut self,
        request: MemRequest,
        fragment: Fragment,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Result<Translated, MemReply> {
        let (MemRequest { kind, tags, .. }, addr) = (request, fragment.addr);
        let mut read = None;
        let is_swap = kind == MemKind::AtomicSwap;
        if kind != MemKind::AtomicStore {
            sink.raise(PmuEvent::MEM_ACCESS_RD);
            sink.raise(PmuEvent::L1D_TLB_RD);
            // A swap counts as a read alone (4.6.8), but it writes its location.
            let requester = if is_swap { Requester::Swap } else { Requester::Read };
            let translated = self.translate(requester, addr, now, uncore, sink)?;
            read = Some(tag_checked(TagHalf::Read, tags, fragment, translated, uncore, sink)?);
        }
        if let (true, Some(read)) = (is_swap, read) {
            return Ok(read);
        }
        sink.raise(PmuEvent::MEM_ACCESS_WR);
        sink.raise(PmuEvent::L1D_TLB_WR);
        let translated = self.translate(Requester::Write, addr, now, uncore, sink)?;
        let write = tag_checked(TagHalf::Write, tags, fragment, translated, uncore, sink)?;
        Ok(read.unwrap_or(write))
    }
}

/// Checks the allocation tags of one half of an atomic. Fails with the reply of a failed check; the
/// atomic then changes nothing.
fn tag_checked<S: EventSink>(
    half: TagHalf,
    tags: TagUse,
    fragment: Fragment,
    translated: Translated,
    uncore: &Uncore,
    sink: &mut S,
) -> Result<Translated, MemReply> {
    let mut reply = translated.reply(translated.start + 1);
    reply.outcome.add(uncore.check_tag(half, tags, fragment, translated, sink));
    if reply.outcome.has(AccessOutcome::FAULT) { Err(reply) } else { Ok(translated) }
}
