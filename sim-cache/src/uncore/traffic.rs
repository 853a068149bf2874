//! Counts for the PMU of the mesh: each message between agents, where it is sent, and each event of
//! a home node, where it happens. Lines whose home is on the other chip pass the gateway; the mesh
//! of that chip has a PMU of its own, which is not modeled.
//!
//! Nothing here changes the time of a run. In builds with debug assertions each count knows the
//! place outside of this file that causes it, so that tests can silence single places.

use sim_core::chi::{Channel, Message};
use sim_core::mesh_counts::{
    Agent, DvmEvent, DvmOccupant, FloorPlan, HomeEvent, MeshCounts, Occupant, Side,
};
use sim_core::{Cycle, LINE_BYTES, LineAddr, Snoop};

use crate::uncore::Uncore;
use crate::units::request::{CoherenceRequest, SnoopRequest};

/// Bytes of a data flit.
const FLIT_BYTES: u64 = 32;

/// Counts of the mesh, and the part of the run that is counted: while any core counts.
#[derive(Clone, Debug)]
pub(crate) struct Traffic {
    counts: MeshCounts,
    /// False if the caller does not ask for the counts: a miss then takes less time of the host.
    is_wanted: bool,
    /// Cores that count now.
    counting: u32,
    /// First and last cycle of the present part, or of the last one.
    part: (Cycle, Cycle),
    /// Cycles of a core in all parts that have ended.
    core_cycles: Cycle,
    /// Cycles of the mesh in 100 cycles of a core.
    clock_percent: u64,
}

impl Traffic {
    /// Starts with counts of zero.
    pub(crate) fn new(plan: FloorPlan, clock_percent: u32) -> Traffic {
        let counts = MeshCounts::new(plan);
        let clock_percent = clock_percent.into();
        let (counting, part, core_cycles, is_wanted) = (0, (0, 0), 0, true);
        Traffic { counts, is_wanted, counting, part, core_cycles, clock_percent }
    }

    /// Returns the counts so far.
    pub(crate) fn counts(&self) -> &MeshCounts {
        &self.counts
    }

    /// Counts nothing from now on.
    pub(crate) fn leave_uncounted(&mut self) {
        self.is_wanted = false;
    }

    /// Counts pairs of cores line by line too, from now on.
    pub(crate) fn keep_lines_of_pairs(&mut self) {
        self.counts.pairs.keep_lines();
    }

    /// Returns the counts so far, and starts again with zero.
    pub(crate) fn take(&mut self) -> MeshCounts {
        let mut empty = MeshCounts::new(self.counts.plan.clone());
        empty.limits_queues = self.counts.limits_queues;
        empty.limits_hazards = self.counts.limits_hazards;
        empty.limits_links = self.counts.limits_links;
        empty.limits_writes = self.counts.limits_writes;
        empty.synchronizes = self.counts.synchronizes;
        if self.counts.pairs.keeps_lines() {
            empty.pairs.keep_lines();
        }
        self.core_cycles = 0;
        std::mem::replace(&mut self.counts, empty)
    }

    /// Notes in the counts which resources are limited.
    pub(crate) fn note_limits(&mut self, queues: bool, hazards: bool, links: bool) {
        (self.counts.limits_queues, self.counts.limits_links) = (queues, links);
        self.counts.limits_hazards = hazards;
    }

    /// Notes in the counts that memory sends back writes that its queues have no room for.
    pub(crate) fn note_limited_writes(&mut self) {
        self.counts.limits_writes = true;
    }

    /// Notes in the counts whether maintenance of all cores is synchronized.
    pub(crate) fn note_sync(&mut self, synchronizes: bool) {
        self.counts.synchronizes = synchronizes;
    }

    /// Counts cycles of the mesh in which flits waited to leave a crosspoint.
    pub(crate) fn stall(&mut self, crosspoint: usize, side: Side, channel: Channel, cycles: u64) {
        if self.is_counting() {
            self.counts.stall(crosspoint, side, channel, cycles);
        }
    }

    /// Counts a read that a core sends again.
    pub(crate) fn send_again(&mut self, message: Message) {
        let reads = matches!(message, Message::ReadNotSharedDirty | Message::ReadUnique);
        self.counts.reads_sent_again += u64::from(reads && self.is_counting());
    }

    /// Counts pulses of the entries of a queue.
    pub(crate) fn occupy(&mut self, slice: u32, occupant: Occupant, pulses: u64) {
        if pulses > 0 && self.is_counting() {
            self.counts.occupy(slice, occupant, pulses);
        }
    }

    /// Counts pulses of the entries of the DVM node's tracker.
    pub(crate) fn occupy_dvm(&mut self, occupant: DvmOccupant, pulses: u64) {
        if pulses > 0 && self.is_counting() {
            self.counts.occupy_dvm(occupant, pulses);
        }
    }

    /// A core begins to count at `at`. `waiting` are the snoops without an answer, and those of
    /// them whose answer takes a line to another core.
    pub(crate) fn begin(&mut self, at: Cycle, waiting: (usize, usize)) {
        if self.counting == 0 {
            // A core that lags counts no cycle of an earlier part again.
            let from = at.max(self.part.1);
            self.part = (from, from);
            self.counts.unanswered -= waiting.0 as i64;
            self.counts.lines_under_way -= waiting.1 as i64;
        }
        self.counting += 1;
    }

    /// A core ends to count at `at`. `waiting` as for [`Traffic::begin`].
    pub(crate) fn end(&mut self, at: Cycle, waiting: (usize, usize)) {
        self.counting -= 1;
        self.part.1 = self.part.1.max(at);
        if self.counting == 0 {
            self.counts.unanswered += waiting.0 as i64;
            self.counts.lines_under_way += waiting.1 as i64;
            self.core_cycles += self.part.1 - self.part.0;
            self.counts.cycles = self.core_cycles * self.clock_percent / 100;
        }
    }

    /// Returns whether the caller asks for the counts.
    pub(crate) fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// Returns whether messages and events are counted now.
    pub(crate) fn is_counting(&self) -> bool {
        self.counting > 0
    }
}

impl Uncore {
    /// Returns the agent that answers requests for a line.
    fn home_of(&self, line: LineAddr) -> Agent {
        match self.is_remote(line) {
            true => Agent::Gateway,
            false => Agent::Home(self.hash.slice_of(line)),
        }
    }

    /// Counts a message.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn pass(&mut self, from: Agent, to: Agent, message: Message) {
        if self.traffic.is_counting() {
            self.traffic.counts.send(from, to, message);
        }
    }

    /// Counts a message of a core to the home node of a line.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn core_sends(&mut self, core: usize, line: LineAddr, message: Message) {
        if self.traffic.is_counting() {
            self.pass(Agent::Core(core as u32), self.home_of(line), message);
        }
    }

    /// Counts a message of the home node of a line to a core.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn home_sends(&mut self, core: usize, line: LineAddr, message: Message) {
        if self.traffic.is_counting() {
            self.pass(self.home_of(line), Agent::Core(core as u32), message);
        }
    }

    /// Counts the data of a line for the core that requested it: from its home node, or from an
    /// agent outside of the machine.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn deliver(
        &mut self,
        core: usize,
        line: LineAddr,
        request: CoherenceRequest,
        from_outside: bool,
    ) {
        if request.takes_data_itself() {
            let from = if from_outside { Agent::Gateway } else { self.home_of(line) };
            self.pass(from, Agent::Core(core as u32), Message::CompData);
        }
    }

    /// Counts an event of the home node of a line.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn raise(&mut self, line: LineAddr, event: HomeEvent) {
        if self.traffic.is_counting() && !self.is_remote(line) {
            self.traffic.counts.raise(self.hash.slice_of(line), event);
        }
    }

    /// Counts a request that reaches the home node of a line.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn request(&mut self, from: Agent, line: LineAddr, message: Message) {
        if self.traffic.is_counting() {
            self.pass(from, self.home_of(line), message);
            self.raise(line, HomeEvent::RequestReceived);
        }
    }

    /// Counts the look-up of a request in the system level cache and the snoop filter.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn count_look_up(&mut self, line: LineAddr, in_slc: bool, in_filter: bool) {
        self.raise(line, HomeEvent::CacheAccess);
        if !in_slc {
            self.raise(line, HomeEvent::CacheMiss);
        }
        if in_filter {
            self.raise(line, HomeEvent::FilterHit);
        }
    }

    /// Counts the snoops that one request causes, at `cores` cores.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn count_snoops(&mut self, line: LineAddr, cores: usize) {
        if cores > 0 {
            let one = cores == 1;
            let event = if one { HomeEvent::DirectedSnoop } else { HomeEvent::BroadcastSnoop };
            self.raise(line, event);
            self.raise(line, HomeEvent::SnoopSent);
        }
    }

    /// Counts a snoop of another core for a request of `core`.
    pub(crate) fn count_pair_snoop(&mut self, core: usize, other: usize, line: LineAddr) {
        if self.traffic.is_counting() {
            self.traffic.counts.pairs.snoop(core, other, line);
        }
    }

    /// Counts a snoop of a holder because a request of `core` removed its line from the filter.
    pub(crate) fn count_pair_eviction(&mut self, core: usize, holder: usize, line: LineAddr) {
        if self.traffic.is_counting() {
            self.traffic.counts.pairs.evict(core, holder, line);
        }
    }

    /// Counts a line that another core supplies, and the cycles that the request of `core` took.
    pub(crate) fn count_pair_line(
        &mut self,
        core: usize,
        peer: usize,
        line: LineAddr,
        cycles: Cycle,
    ) {
        if self.traffic.is_counting() {
            self.traffic.counts.pairs.supply(core, peer, line, cycles);
        }
    }

    /// Counts the snoops that an eviction from the filter causes, at `cores` cores.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn count_eviction(&mut self, line: LineAddr, cores: usize) {
        self.raise(line, HomeEvent::FilterEviction);
        let event = match cores {
            0 => return,
            1 => HomeEvent::EvictionDirectedSnoop,
            _ => HomeEvent::EvictionBroadcastSnoop,
        };
        self.raise(line, event);
        self.raise(line, HomeEvent::SnoopSent);
        if cores > 1 {
            self.raise(line, HomeEvent::SharedEviction);
        }
    }

    /// Sends a snoop to a core.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn snoop(&mut self, core: usize, request: SnoopRequest) {
        if let Some(log) = &mut self.log
            && !log.cores.contains(&core)
        {
            log.snoops.push((core, request.line));
            return;
        }
        // A line that loses its entry in the filter does so in no view.
        if self.snooped.contains(&core) && !request.evicts {
            return;
        }
        self.home_sends(core, request.line, request.message);
        if !self.snoops.send(core, request) {
            self.count_answer(core, request, None);
        }
    }

    /// Counts the answer of a core to a snoop. `dirty` says whether it has the line's data, and
    /// whether the data is newer than memory.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn count_answer(&mut self, core: usize, request: SnoopRequest, dirty: Option<bool>) {
        if !self.traffic.is_counting() {
            return;
        }
        let SnoopRequest { line, requester, .. } = request;
        if let Some(requester) = requester {
            let from = Agent::Core(core as u32);
            self.pass(from, Agent::Core(requester), Message::CompData);
        }
        // The home node gets data that is newer than its own, and a copy that it keeps for readers.
        let keeps = requester.is_some() && request.snoop == Snoop::Forward;
        let returns = keeps || dirty == Some(true) && !request.takes_duty();
        let answer = match (requester.is_some(), returns, dirty) {
            (true, true, _) => Message::SnpRespDataFwded,
            (true, false, _) => Message::SnpRespFwded,
            (false, _, Some(_)) => Message::SnpRespData,
            (false, _, None) => Message::SnpResp,
        };
        self.core_sends(core, line, answer);
        if dirty == Some(false) {
            self.raise(line, HomeEvent::CleanIntervention);
        }
        if request.evicts && dirty == Some(true) {
            self.raise(line, HomeEvent::EvictionDirtyData);
        }
    }

    /// Counts the read of a line from memory by its home node.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn count_memory_read(&mut self, line: LineAddr) {
        if !self.traffic.is_counting() {
            return;
        }
        self.count_memory_request(line, Message::ReadNoSnp);
        let (home, memory) = (self.home_of(line), self.memory_of(line));
        self.pass_here(line, memory, home, Message::CompData);
    }

    /// Counts the write of a line to memory by its home node.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn count_memory_write(&mut self, line: LineAddr) {
        if !self.traffic.is_counting() {
            return;
        }
        self.count_memory_request(line, Message::WriteNoSnpFull);
        let (home, memory) = (self.home_of(line), self.memory_of(line));
        self.pass_here(line, memory, home, Message::CompDBIDResp);
        self.pass_here(line, home, memory, Message::NonCopyBackWrData);
    }

    /// Counts a write that memory sends back, and that its home node sends again with a credit.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn count_memory_retry(&mut self, line: LineAddr) {
        if !self.traffic.is_counting() {
            return;
        }
        let (home, memory) = (self.home_of(line), self.memory_of(line));
        self.raise(line, HomeEvent::MemoryRetried);
        self.pass_here(line, memory, home, Message::RetryAck);
        self.pass_here(line, memory, home, Message::PCrdGrant);
        self.count_memory_request(line, Message::WriteNoSnpFull);
    }

    #[cfg_attr(debug_assertions, track_caller)]
    fn count_memory_request(&mut self, line: LineAddr, message: Message) {
        let (home, memory) = (self.home_of(line), self.memory_of(line));
        self.pass_here(line, home, memory, message);
        self.raise(line, HomeEvent::MemoryRequest);
    }

    /// Counts a message if the line is at home on this chip.
    #[cfg_attr(debug_assertions, track_caller)]
    fn pass_here(&mut self, line: LineAddr, from: Agent, to: Agent, message: Message) {
        if !self.is_remote(line) {
            self.pass(from, to, message);
        }
    }

    fn memory_of(&self, line: LineAddr) -> Agent {
        Agent::Memory(self.chips[0].dram.channel_of(line))
    }

    /// Counts the data of a line that an I/O agent wrote, which its home node announces to a core
    /// and the core reads.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn count_stash(&mut self, core: usize, line: LineAddr) {
        let home = self.home_of(line);
        self.pass(home, Agent::Io, Message::CompDBIDResp);
        self.pass(Agent::Io, home, Message::NonCopyBackWrData);
        self.home_sends(core, line, Message::SnpMakeInvalidStash);
        self.core_sends(core, line, Message::SnpResp);
        self.home_sends(core, line, Message::CompData);
        self.core_sends(core, line, Message::CompAck);
        self.raise(line, HomeEvent::StashSnoop);
        self.raise(line, HomeEvent::StashDataPull);
    }

    /// Counts a read of some bytes of memory that no cache holds.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn count_uncached_read(&mut self, core: usize, bytes: u64) {
        let (core, device) = (Agent::Core(core as u32), Agent::Device);
        let data = if bytes > FLIT_BYTES { Message::CompData } else { Message::PartCompData };
        self.pass(core, device, Message::ReadNoSnp);
        self.pass(device, core, data);
    }

    /// Counts a write of some bytes of memory that no cache holds.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn count_uncached_write(&mut self, core: usize, bytes: u64) {
        let (core, device) = (Agent::Core(core as u32), Agent::Device);
        let is_line = bytes == LINE_BYTES;
        let request = if is_line { Message::WriteNoSnpFull } else { Message::WriteNoSnpPtl };
        let is_long = bytes > FLIT_BYTES;
        let data = if is_long { Message::NonCopyBackWrData } else { Message::PartWrData };
        self.pass(core, device, request);
        self.pass(device, core, Message::CompDBIDResp);
        self.pass(core, device, data);
    }

    /// Counts an event of the DVM node.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn raise_dvm(&mut self, event: DvmEvent) {
        if self.traffic.is_counting() {
            self.traffic.counts.raise_dvm(event, 1);
        }
    }

    /// Counts maintenance of TLBs or instruction caches, or its synchronization, that a core sends
    /// to all others.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn count_broadcast(&mut self, core: usize, event: DvmEvent) {
        if !self.traffic.is_counting() {
            return;
        }
        let (from, dvm) = (Agent::Core(core as u32), Agent::Dvm);
        self.pass(from, dvm, Message::DVMOp);
        self.pass(dvm, from, Message::DBIDResp);
        self.pass(from, dvm, Message::PartWrData);
        let others = (0..self.cores).filter(|other| *other != core);
        for other in others.map(|other| Agent::Core(other as u32)) {
            self.pass(dvm, other, Message::SnpDVMOp);
            self.pass(other, dvm, Message::SnpResp);
        }
        self.pass(dvm, from, Message::Comp);
        let flits = (self.cores as u64 - 1) * Message::SnpDVMOp.flits();
        let counts = &mut self.traffic.counts;
        counts.raise_dvm(event, 1);
        counts.raise_dvm(DvmEvent::TrackerAllocation, 1);
        counts.raise_dvm(DvmEvent::SnoopFlit, flits);
    }
}
