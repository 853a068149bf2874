//! Stashing: an I/O agent sends a line into the L2 of a core. PMU guide 3.2.9, 4.4.2, 4.4.7;
//! decision A05.
//!
//! The home node writes the agent's data to memory and snoops the core, whose answer pulls the line
//! in. These two bus transactions count as neither a read nor a write, because no load or store
//! issued them (4.6.5, 4.6.6). The line counts as an L2 refill, but not as a read refill, an access
//! or a last level event.

use sim_core::{
    Cycle, DataSource, EventSink, FlowEdge, LINE_BYTES, LineAddr, Notice, PmuEvent, VirtAddr,
};

use crate::core_memory::CoreMemory;
use crate::memory_system::{CorePort, MemorySystem};
use crate::uncore::Uncore;
use crate::units::indexed::Indexed;
use crate::units::page_map::NotMapped;
use crate::units::replacement::Insertion;
use crate::units::tag_array::{LineState, RefillTime};

impl MemorySystem {
    /// Stashes the line of `addr` into the L2 of a core, as an I/O agent does. Returns when the
    /// line is present.
    ///
    /// # Errors
    ///
    /// [`NotMapped`] when the page faults.
    pub fn stash<S: EventSink>(
        &mut self,
        core: usize,
        addr: VirtAddr,
        at: Cycle,
        sink: &mut S,
    ) -> Result<Cycle, NotMapped> {
        let line = self.line_of(addr)?;
        let CorePort { core, uncore, .. } = self.port(core);
        core.answer_queued_snoops(uncore, sink);
        Ok(core.take_stash(line, at, uncore, sink))
    }
}

impl CoreMemory {
    fn take_stash<S: EventSink>(
        &mut self,
        line: LineAddr,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Cycle {
        // Merged stores of the line precede the agent's data.
        self.drain_held_line(line, at, uncore, sink);
        let received = self.bus.transaction(PmuEvent::BUS_ACCESS, 0, at, sink);
        let looked_up = received + self.latencies.l2_lookup;
        // The agent wrote the line, so older copies of this core are stale.
        let held = self.l2.probe(line).is_some();
        self.l1i.remove(line);
        if self.l1d.remove(line).is_some() {
            sink.raise(PmuEvent::L1D_CACHE_INVAL);
        }
        self.monitor.lose(line);
        let bytes = LINE_BYTES;
        let pulls = self.bus.transaction(PmuEvent::BUS_ACCESS, bytes, looked_up, sink);
        let supplied = uncore.stash(self.number, line, pulls);
        uncore.note_poison(line, false);
        let arrives = self.bus.receive_line(supplied);
        let state = LineState::refilled(RefillTime::between(at, arrives), DataSource::Slc);
        if held {
            self.change_copies(line, |_| state);
            return arrives;
        }
        sink.notify(Notice::At(arrives));
        sink.raise(PmuEvent::L2D_CACHE_REFILL);
        let victim = self.l2.allocate(Indexed::physically(line), state, Insertion::Demand);
        let sent_out = victim.is_some_and(|v| self.evict_from_l2(v, pulls, uncore, sink));
        sink.notify(Notice::Edge(if sent_out {
            FlowEdge::L2StashVictim
        } else {
            FlowEdge::L2StashNoVictim
        }));
        arrives
    }
}
