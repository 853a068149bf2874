//! Times of messages between cores, home nodes and memory, with their waits for links, and the time
//! that a request is in the queue of its home node.
//!
//! Without `memory.mesh.link-contention` and `memory.slc.queue-entries`, a message takes the cycles
//! of its path, and a home node accepts each request when it arrives.

use sim_core::chi::Message;
use sim_core::mesh_counts::{Agent, Crosspoint, HomeEvent, Occupant};
use sim_core::{Cycle, LineAddr};

use crate::config::MemoryConfig;
use crate::uncore::Uncore;
use crate::uncore::links::Links;
use crate::uncore::mesh::Mesh;
use crate::uncore::request_queue::{Entry, RequestQueue};

/// Cycles of one entry, in cycles of the mesh, for which its home node counts one pulse.
const PULSE_CYCLES: u64 = 4096;

/// Queue of one home node, and the part of a pulse that it has not counted yet.
#[derive(Clone, Debug)]
struct HomeQueue {
    queue: RequestQueue,
    /// Remainders by kind of request, in hundredths of a cycle of the mesh.
    rests: [u64; 5],
}

/// Resources of the mesh that messages wait for; those that are not limited are absent.
#[derive(Clone, Debug)]
pub(crate) struct Contention {
    /// By chip and slice.
    queues: Option<Box<[HomeQueue]>>,
    links: Option<Links>,
    clock_percent: u64,
    /// Cycle in which all lines that the present transaction writes to memory have their places in
    /// limited queues there.
    placed: Cycle,
}

/// Request that its home node accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accepted {
    /// Cycle in which the home node has looked the line up.
    pub(crate) home: Cycle,
    entry: Option<Entry>,
    message: Message,
}

impl Contention {
    /// Creates empty queues and idle links.
    pub(crate) fn new(config: &MemoryConfig, mesh: &Mesh) -> Contention {
        let homes = (config.chips.count * config.slc.slices) as usize;
        let queues = RequestQueue::new(&config.slc)
            .map(|queue| vec![HomeQueue { queue, rests: [0; 5] }; homes].into());
        let percent = config.mesh.core_clock_percent;
        let links = || Links::new(mesh.plan(), config.mesh.hop_cycles.into(), percent);
        let links = config.mesh.link_contention.then(links);
        Contention { queues, links, clock_percent: percent.into(), placed: 0 }
    }

    /// Returns whether the queues of home nodes are limited, and whether links are.
    pub(crate) fn limits(&self) -> (bool, bool) {
        (self.queues.is_some(), self.links.is_some())
    }

    /// Notes that a line that the present transaction writes has its place in a queue of memory.
    pub(crate) fn note_placed(&mut self, at: Cycle) {
        self.placed = self.placed.max(at);
    }
}

impl Uncore {
    /// Returns the cycles for which a message waits at the links of its way.
    pub(super) fn wait(
        &mut self,
        from: Crosspoint,
        to: Crosspoint,
        message: Message,
        at: Cycle,
    ) -> Cycle {
        let Uncore { contention, traffic, .. } = self;
        let Some(links) = &mut contention.links else { return 0 };
        links.send((from, to), message, at, |crosspoint, side, cycles| {
            traffic.stall(crosspoint, side, message.channel(), cycles);
        })
    }

    /// Returns the crosspoint at which requests for a line leave the links of this chip.
    fn home_crosspoint(&self, line: LineAddr) -> Crosspoint {
        match self.remote.has(line) {
            true => self.mesh.gateway(),
            false => self.mesh.home(self.hash.slice_of(line)),
        }
    }

    /// Returns when a message that leaves a core at `at` is at the home node of a line.
    pub(crate) fn sent_to_home(
        &mut self,
        core: usize,
        line: LineAddr,
        message: Message,
        at: Cycle,
    ) -> Cycle {
        let enters = at + self.latencies.interface;
        let free = enters + self.path_cycles(core, line);
        if self.contention.links.is_none() {
            return free;
        }
        free + self.wait(self.mesh.core(core), self.home_crosspoint(line), message, enters)
    }

    /// Returns when a message that leaves the home node of a line at `at` is at a core.
    pub(crate) fn sent_to_core(
        &mut self,
        core: usize,
        line: LineAddr,
        message: Message,
        at: Cycle,
    ) -> Cycle {
        let free = self.at_core(core, line, at);
        if self.contention.links.is_none() {
            return free;
        }
        free + self.wait(self.home_crosspoint(line), self.mesh.core(core), message, at)
    }

    /// Returns when a line that a core of this chip sends at `at` is at another one.
    pub(crate) fn sent_between_cores(&mut self, from: usize, to: usize, at: Cycle) -> Cycle {
        let (from, to) = (self.mesh.core(from), self.mesh.core(to));
        at + self.mesh.cycles(from, to) + self.wait(from, to, Message::CompData, at)
    }

    /// Reads or writes a line in memory. Returns when the home node has the data or the answer.
    pub(crate) fn access_memory(&mut self, line: LineAddr, message: Message, at: Cycle) -> Cycle {
        let home = self.mesh.home(self.hash.slice_of(line));
        let memory = self.mesh.memory(self.chips[0].dram.channel_of(line));
        let hops = self.mesh.cycles(home, memory);
        if self.contention.links.is_none() || self.remote.has(line) {
            let done = self.chip_of(line).dram.access(line, at + hops);
            self.log_memory(line, at + hops, done);
            return done + hops;
        }
        let there = at + hops + self.wait(home, memory, message, at);
        let done = self.chip_of(line).dram.access(line, there);
        let writes = message != Message::ReadNoSnp;
        if writes {
            self.wait(home, memory, Message::NonCopyBackWrData, there + hops);
        }
        let answer = if writes { Message::CompDBIDResp } else { Message::CompData };
        done + hops + self.wait(memory, home, answer, done)
    }

    /// Sends the write of a line to its channel at `at`, again if the queue there is full. Returns
    /// when the home node has the answer that lets it send the line.
    pub(super) fn queue_write(&mut self, line: LineAddr, at: Cycle) -> Cycle {
        let request = Message::WriteNoSnpFull;
        let arrives = self.sent_to_memory(line, request, at);
        let room = self.chip_of(line).dram.write(line, arrives);
        let accepted = if room > arrives {
            self.count_memory_retry(line);
            let refused = self.sent_by_memory(line, Message::RetryAck, arrives);
            let granted = self.sent_by_memory(line, Message::PCrdGrant, room);
            self.sent_to_memory(line, request, granted.max(refused))
        } else {
            arrives
        };
        let answered = self.sent_by_memory(line, Message::CompDBIDResp, accepted);
        self.sent_to_memory(line, Message::NonCopyBackWrData, answered);
        answered
    }

    /// Returns when a message that leaves the home node of a line at `at` is at its channel.
    fn sent_to_memory(&mut self, line: LineAddr, message: Message, at: Cycle) -> Cycle {
        let (home, memory) = self.ends_at_memory(line);
        at + self.mesh.cycles(home, memory) + self.wait_here(line, (home, memory), message, at)
    }

    /// Returns when a message that leaves the channel of a line at `at` is at its home node.
    fn sent_by_memory(&mut self, line: LineAddr, message: Message, at: Cycle) -> Cycle {
        let (home, memory) = self.ends_at_memory(line);
        at + self.mesh.cycles(home, memory) + self.wait_here(line, (memory, home), message, at)
    }

    /// Returns the crosspoints of the home node and of the channel of a line.
    fn ends_at_memory(&self, line: LineAddr) -> (Crosspoint, Crosspoint) {
        let home = self.mesh.home(self.hash.slice_of(line));
        (home, self.mesh.memory(self.chips[0].dram.channel_of(line)))
    }

    /// Returns the cycles for which a message waits at links of this chip.
    fn wait_here(
        &mut self,
        line: LineAddr,
        (from, to): (Crosspoint, Crosspoint),
        message: Message,
        at: Cycle,
    ) -> Cycle {
        if self.remote.has(line) { 0 } else { self.wait(from, to, message, at) }
    }

    /// Sends a request that leaves a core at `at` to the home node of its line, again if the home
    /// node sends it back. The caller ends the transaction with one of the functions below.
    pub(crate) fn admit(
        &mut self,
        core: usize,
        line: LineAddr,
        message: Message,
        at: Cycle,
    ) -> Accepted {
        let arrives = self.sent_to_home(core, line, message, at);
        self.contention.placed = 0;
        if self.contention.queues.is_none() {
            return Accepted { home: arrives + self.latencies.home_node, entry: None, message };
        }
        self.enter_queue(core, line, message, arrives)
    }

    /// Takes an entry for a request that arrives at `at`.
    #[cold]
    fn enter_queue(
        &mut self,
        core: usize,
        line: LineAddr,
        message: Message,
        at: Cycle,
    ) -> Accepted {
        let free = self.queue_of(line).find(at);
        let accepted = match free.from > at {
            true => self.send_again(core, line, message, at, free.from),
            false => at,
        };
        let begins = self.queue_of(line).line_is_free(line, accepted);
        if begins > accepted {
            self.raise(line, HomeEvent::AddressHazard);
            if occupant(message) == Occupant::Atomic {
                self.raise(line, HomeEvent::AtomicHazard);
            }
        }
        let entry = Some(RequestQueue::accept(free, accepted));
        Accepted { home: begins + self.latencies.home_node, entry, message }
    }

    /// Sends a request that arrives at `at` back, and again with the credit that its home node
    /// grants at `granted`. Returns when it arrives then.
    fn send_again(
        &mut self,
        core: usize,
        line: LineAddr,
        message: Message,
        at: Cycle,
        granted: Cycle,
    ) -> Cycle {
        self.raise(line, HomeEvent::RequestRetried);
        self.home_sends(core, line, Message::RetryAck);
        self.home_sends(core, line, Message::PCrdGrant);
        self.request(Agent::Core(core as u32), line, message);
        self.traffic.send_again(message);
        let refused = self.sent_to_core(core, line, Message::RetryAck, at);
        let granted = self.sent_to_core(core, line, Message::PCrdGrant, granted);
        self.sent_to_home(core, line, message, granted.max(refused))
    }

    fn queue_of(&mut self, line: LineAddr) -> &mut RequestQueue {
        let number = self.queue_number(line);
        let queues = self.contention.queues.as_mut().expect("the caller checked that queues exist");
        &mut queues[number].queue
    }

    fn queue_number(&self, line: LineAddr) -> usize {
        let slices = self.mesh.homes();
        usize::from(self.remote.has(line)) * slices + self.hash.slice_of(line) as usize
    }

    /// Ends a transaction at its home node at `at`, or when the lines that it writes to memory have
    /// their places there.
    pub(crate) fn end(&mut self, line: LineAddr, accepted: Accepted, at: Cycle) {
        let Some(entry) = accepted.entry else { return };
        let at = at.max(self.contention.placed);
        let taken = self.queue_of(line).end(entry, line, at);
        let number = self.queue_number(line);
        let Contention { queues: Some(queues), clock_percent, .. } = &mut self.contention else {
            return;
        };
        let rests = &mut queues[number].rests;
        let pulses = [Occupant::Any, occupant(accepted.message)].map(|occupant| {
            (occupant, pulses(&mut rests[occupant as usize], taken, *clock_percent))
        });
        if !self.is_remote(line) {
            let slice = self.hash.slice_of(line);
            for (occupant, pulses) in pulses {
                self.traffic.occupy(slice, occupant, pulses);
            }
        }
    }

    /// Ends a transaction with the core's `CompAck`, which leaves at `at`.
    pub(crate) fn acknowledge(
        &mut self,
        core: usize,
        line: LineAddr,
        accepted: Accepted,
        at: Cycle,
    ) {
        self.core_sends(core, line, Message::CompAck);
        if self.contention.limits() == (false, false) {
            return;
        }
        let end = self.sent_to_home(core, line, Message::CompAck, at);
        self.end(line, accepted, end);
    }

    /// Answers a write-back: the answer goes to the core, its data to the home node. Returns when
    /// the answer is at the core, and when the transaction can end.
    pub(crate) fn copy_back(
        &mut self,
        core: usize,
        line: LineAddr,
        accepted: Accepted,
        answer: Message,
    ) -> (Cycle, Cycle) {
        self.home_sends(core, line, answer);
        let takes_data = answer == Message::CompDBIDResp;
        if takes_data {
            self.core_sends(core, line, Message::CopyBackWrData);
        }
        let answered = self.sent_to_core(core, line, answer, accepted.home);
        let end = match takes_data && self.contention.limits() != (false, false) {
            true => self.sent_to_home(core, line, Message::CopyBackWrData, answered),
            false => accepted.home,
        };
        (answered, end)
    }

    /// Sends the operand of an atomic to its home node, which the result, at the core at `arrives`,
    /// leaves. Returns when the transaction can end.
    pub(crate) fn take_operand(
        &mut self,
        core: usize,
        line: LineAddr,
        accepted: Accepted,
        arrives: Cycle,
    ) -> Cycle {
        if self.contention.limits() == (false, false) {
            return arrives;
        }
        let asked = self.sent_to_core(core, line, Message::DBIDResp, accepted.home);
        let operand = self.sent_to_home(core, line, Message::PartWrData, asked);
        let way = self.path_cycles(core, line) + self.latencies.interface;
        operand.max(arrives.saturating_sub(way))
    }

    /// Ends maintenance, whose last answer to a snoop is at the home node at `end`. Returns when
    /// the answer is at the core.
    pub(crate) fn end_maintenance(
        &mut self,
        core: usize,
        line: LineAddr,
        accepted: Accepted,
        end: Cycle,
    ) -> Cycle {
        self.home_sends(core, line, Message::Comp);
        self.end(line, accepted, end.max(accepted.home));
        self.sent_to_core(core, line, Message::Comp, accepted.home)
    }

    /// Returns when the answer of a core to a snoop, which reached it at `at`, is at the home node
    /// of the line.
    pub(crate) fn snoop_answered(&mut self, core: usize, line: LineAddr, at: Cycle) -> Cycle {
        self.sent_to_home(core, line, Message::SnpResp, at)
    }
}

/// Adds core cycles of a taken entry to a part of a pulse, in hundredths of a cycle of the mesh.
/// Returns the whole pulses, and leaves the rest.
pub(super) fn pulses(rest: &mut u64, cycles: Cycle, clock_percent: u64) -> u64 {
    *rest += cycles * clock_percent;
    let pulses = *rest / (PULSE_CYCLES * 100);
    *rest %= PULSE_CYCLES * 100;
    pulses
}

/// Returns the kind of a request, as the occupancy of a queue is counted.
fn occupant(message: Message) -> Occupant {
    use Message::{AtomicLoad, AtomicStore, AtomicSwap};
    use Message::{Evict, WriteBackFull, WriteCleanFull, WriteEvictOrEvict};
    match message {
        AtomicStore | AtomicLoad | AtomicSwap => Occupant::Atomic,
        WriteBackFull | WriteCleanFull | WriteEvictOrEvict | Evict => Occupant::Write,
        _ => Occupant::Read,
    }
}
