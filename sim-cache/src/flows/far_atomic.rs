//! Far atomics: the home node performs the operation and keeps the line. PMU guide 4.2, 4.6.6;
//! decision A20, key `memory.far-atomics`.
//!
//! A far atomic is one bus write and no access of the L1 D-cache or the L2. A snoop removes this
//! core's copy, as it does for any other core.

use sim_core::chi::Message;
use sim_core::mesh_counts::Agent;
use sim_core::{
    Cycle, DataSource, EventSink, LineAddr, MemKind, MemReply, MemRequest, PmuEvent, Snoop,
};

use crate::config::{FarAtomics, IdealData};
use crate::core_memory::CoreMemory;
use crate::flows::translate::Translated;
use crate::uncore::quantum_log::Logged;
use crate::uncore::{Sent, Uncore, UncoreReply};
use crate::units::bus::BytesMoved;
use crate::units::request::{CoherenceRequest, SnoopRequest};

impl CoreMemory {
    /// Returns whether the home node of this line performs atomics on it.
    pub(crate) fn is_far(&self, line: LineAddr) -> bool {
        match self.far_atomics {
            FarAtomics::Never => false,
            FarAtomics::Miss => {
                let here = self.l2.probe(line);
                here.is_none_or(|entry| self.l2.state(entry).is_shared())
            }
            FarAtomics::Always => true,
        }
    }

    /// Sends the operation to the home node. It is done when the old value returns.
    pub(crate) fn far_atomic<S: EventSink>(
        &mut self,
        request: MemRequest,
        line: LineAddr,
        translated: Translated,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> MemReply {
        self.drain_held_line(line, translated.start, uncore, sink);
        let at = translated.start + self.latencies.l1d_hit + self.latencies.l2_lookup;
        let bytes = request.bytes.into();
        let leaves = self.bus.transaction(PmuEvent::BUS_ACCESS_WR, bytes, at, sink);
        let returned = if request.kind == MemKind::AtomicStore { 0 } else { bytes };
        self.bus.note_moved(BytesMoved { read: returned, written: bytes });
        let own_copies = usize::from(self.l2.probe(line).is_some());
        if own_copies > 0 {
            let home = uncore.at_home_node(self.number, line, leaves);
            let at = uncore.at_core(self.number, line, home);
            let own = SnoopRequest::new(Snoop::CleanInvalidate, line, at);
            let own = SnoopRequest { message: Message::SnpUnique, ..own };
            uncore.home_sends(self.number, line, own.message);
            uncore.count_pair_snoop(self.number, self.number, line);
            self.answer_snoop(own, uncore, sink);
        }
        let message = message_of(request.kind);
        let reply = uncore.perform(self.number, line, message, own_copies, leaves);
        if request.kind != MemKind::AtomicStore && reply.source == DataSource::Remote {
            sink.raise(PmuEvent::REMOTE_ACCESS);
        }
        let done = match self.ideal.data {
            IdealData::Nowhere => reply.arrives + self.latencies.fill,
            IdealData::BeyondL2 => at,
            IdealData::BeyondL1 => translated.start + self.latencies.l1d_hit,
        };
        MemReply { source: reply.source, ..translated.reply(done) }
    }
}

/// Returns the request of an atomic operation.
fn message_of(kind: MemKind) -> Message {
    match kind {
        MemKind::AtomicStore => Message::AtomicStore,
        MemKind::AtomicSwap => Message::AtomicSwap,
        _ => Message::AtomicLoad,
    }
}

impl Uncore {
    /// Performs an atomic operation at the home node, which then holds the only copy of the line.
    pub(crate) fn perform(
        &mut self,
        core: usize,
        line: LineAddr,
        message: Message,
        own_copies: usize,
        at: Cycle,
    ) -> UncoreReply {
        self.log(core, line, Some(at), Logged::Atomic { message, own_copies });
        self.request(Agent::Core(core as u32), line, message);
        self.home_sends(core, line, Message::DBIDResp);
        self.core_sends(core, line, Message::PartWrData);
        let accepted = self.admit(core, line, message, at);
        let sent = Sent { left: at, home: accepted.home };
        let reply = self.supply(core, line, CoherenceRequest::Atomic, own_copies, sent);
        let end = self.take_operand(core, line, accepted, reply.arrives);
        let is_store = message == Message::AtomicStore;
        let answer = if is_store { Message::Comp } else { Message::PartCompData };
        self.home_sends(core, line, answer);
        self.forget_holder(core, line);
        self.keep_at_home(line, true, reply.arrives);
        self.end(line, accepted, end);
        reply
    }
}
