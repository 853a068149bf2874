//! Answers of this core to snoops of other agents. PMU guide 3.2.12, 4.2.3, 4.2.11, 4.2.12, 4.4.3,
//! 4.4.10, 4.4.11, 4.6.2; decisions A01, A08, A40.
//!
//! A snoop is one bus transaction in and one out. Data from the L1 D-cache is not a write-back of
//! the L2; the lookups count in no access event. Data is checked for errors on its way out and
//! keeps its poison (3.2.20). Not modeled: poison that reaches another core before the owner has
//! answered the snoop in its queue.

use sim_core::{Cycle, EventSink, LINE_BYTES, LineAddr, PmuEvent, Snoop, VirtAddr};

use crate::core_memory::CoreMemory;
use crate::flows::ras::check_l2_data;
use crate::memory_system::{CorePort, MemorySystem};
use crate::uncore::Uncore;
use crate::units::page_map::NotMapped;
use crate::units::request::{SnoopRequest, invalidates, shares, takes_data};
use crate::units::tag_array::{Defect, LineState, arriving_defect};

/// Data of a line on its way to another agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SnoopData {
    /// The data is newer than memory.
    dirty: bool,
    /// The data was found broken, now or before.
    poisoned: bool,
}

impl MemorySystem {
    /// Performs a snoop by an agent outside the cores for the line of `addr`. Returns when the
    /// answer has left the core.
    ///
    /// # Errors
    ///
    /// [`NotMapped`] when the page faults.
    pub fn snoop<S: EventSink>(
        &mut self,
        core: usize,
        snoop: Snoop,
        addr: VirtAddr,
        at: Cycle,
        sink: &mut S,
    ) -> Result<Cycle, NotMapped> {
        let line = self.line_of(addr)?;
        let CorePort { core, uncore, .. } = self.port(core);
        core.answer_queued_snoops(uncore, sink);
        uncore.note_external_snoop(core.number, snoop, line);
        if snoop == Snoop::MakeInvalid {
            // The agent overwrites the whole line.
            uncore.note_poison(line, false);
        }
        let request = SnoopRequest::new(snoop, line, at);
        uncore.home_sends(core.number, line, request.message);
        uncore.count_snoops(line, 1);
        Ok(core.handle_snoop(request, uncore, sink))
    }
}

impl MemorySystem {
    /// Advances the time of a core to `now`: stores that have waited too long for the rest of their
    /// line leave.
    pub fn pass_time<S: EventSink>(&mut self, core: usize, now: Cycle, sink: &mut S) {
        let CorePort { core, uncore, .. } = self.port(core);
        core.drain_idle(now, uncore, sink);
    }
}

impl CoreMemory {
    /// Answers a snoop, which also drains stores that are merged for its line. They drain before
    /// the answer if this core may write the line, otherwise afterwards, when it has requested the
    /// line again.
    fn handle_snoop<S: EventSink>(
        &mut self,
        request: SnoopRequest,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Cycle {
        let SnoopRequest { line, at, .. } = request;
        if self.may_write(line) {
            self.drain_held_line(line, at, uncore, sink);
        }
        let sent = self.answer_snoop(request, uncore, sink);
        self.drain_held_line(line, sent, uncore, sink);
        sent
    }

    /// Returns whether the L2 holds the line and no other core does.
    pub(crate) fn may_write(&self, line: LineAddr) -> bool {
        self.l2.probe(line).is_some_and(|entry| !self.l2.state(entry).is_shared())
    }

    /// Looks the line up, sends its data if the snoop takes it, and changes or removes the copies.
    /// Returns when the answer has left.
    pub(crate) fn answer_snoop<S: EventSink>(
        &mut self,
        request: SnoopRequest,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> Cycle {
        let SnoopRequest { line, snoop, at, .. } = request;
        let received = self.bus.transaction(PmuEvent::BUS_ACCESS, 0, at, sink);
        // By inclusion, only lines of the L2 are looked up in the L1, which reads the tags there.
        if self.l1d.has_broken_tags() && self.l2.probe(line).is_some() {
            self.repair_l1d_tags(line, sink);
        }
        let data = self.snoop_data(request, sink);
        if invalidates(snoop) {
            self.invalidate(line, sink);
            self.monitor.lose(line);
        } else if takes_data(snoop) {
            self.keep_clean(line, shares(snoop));
        }
        let bytes = if data.is_some() { LINE_BYTES } else { 0 };
        let answered = received + self.latencies.l2_lookup;
        let leaves = self.bus.transaction(PmuEvent::BUS_ACCESS, bytes, answered, sink);
        let sent = if bytes > 0 { self.bus.send_line(leaves) } else { leaves };
        uncore.count_answer(self.number, request, data.map(|data| data.dirty));
        if let Some(data) = data.filter(|data| data.dirty) {
            uncore.note_poison(line, data.poisoned);
            // A writer also takes over the duty to write the line back. For a reader, the data
            // returns to the home node.
            if !request.takes_duty() {
                uncore.accept_snoop_data(self.number, line, sent);
            }
        }
        sent
    }

    /// Reads the newest data of the line and checks it for errors (3.2.20). Returns `None` if the
    /// line is absent or clean, or if the snoop does not take data.
    fn snoop_data<S: EventSink>(
        &mut self,
        request: SnoopRequest,
        sink: &mut S,
    ) -> Option<SnoopData> {
        let SnoopRequest { line, snoop, forward, .. } = request;
        if !takes_data(snoop) {
            return None;
        }
        let newest = self.l1d.probe(line).filter(|entry| self.l1d.state(*entry).is_dirty());
        if let Some(entry) = newest {
            sink.raise(PmuEvent::L1D_CACHE_WB_CLEAN);
            let poisoned = self.check_l1d_data(entry, sink).is_lost();
            return Some(SnoopData { dirty: true, poisoned });
        }
        let entry = self.l2.probe(line)?;
        let dirty = self.l2.state(entry).is_dirty();
        if !dirty && !forward {
            return None;
        }
        sink.raise(PmuEvent::L2D_CACHE_WB_CLEAN);
        Some(SnoopData { dirty, poisoned: check_l2_data(&mut self.l2, entry) })
    }

    /// Removes every copy. A line in both caches counts once in each.
    fn invalidate<S: EventSink>(&mut self, line: LineAddr, sink: &mut S) {
        self.l1i.remove(line);
        if self.l1d.remove(line).is_some() {
            sink.raise(PmuEvent::L1D_CACHE_INVAL);
        }
        if self.l2.remove(line).is_some() {
            sink.raise(PmuEvent::L2D_CACHE_INVAL);
        }
    }

    /// Keeps the copies as clean. The L2 copy receives the data of the L1 copy.
    fn keep_clean(&mut self, line: LineAddr, shared: bool) {
        let newest = self.l1d.probe(line).map(|entry| self.l1d.state(entry));
        if let Some(above) = newest.filter(|state| state.is_dirty())
            && let Some(entry) = self.l2.probe(line)
        {
            let poisoned = above.defect() == Defect::Poisoned;
            let state = self.l2.state(entry).with_defect(arriving_defect(poisoned));
            self.l2.set_state(entry, state);
        }
        self.change_copies(line, |state| {
            state.with_dirty(false).with_shared(state.is_shared() | shared)
        });
    }

    /// Changes the states of a line in the L1 D-cache and the L2.
    pub(crate) fn change_copies(&mut self, line: LineAddr, to: impl Fn(LineState) -> LineState) {
        for cache in [&mut self.l1d, &mut self.l2] {
            if let Some(entry) = cache.probe(line) {
                cache.rewrite(entry, to(cache.state(entry)));
            }
        }
    }
}
