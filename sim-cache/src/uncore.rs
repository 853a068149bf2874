//! The part of the memory system that the cores share. It has home nodes with the system level
//! cache and the snoop filter, memory, the mesh between them, and a second chip. PMU guide 3.2.12,
//! 3.2.21, 4.6.4.
//!
//! Each part is a file: `mesh`, `links`, `home_node`, `request_queue`, `slc`, `snoop_filter`,
//! `dvm`, `dvm_node`, `dram`, `write_queue`, `remote`. This file combines them into the path of a
//! request: core, mesh, home node, supplier, and back. `coherence` decides which other cores hold a
//! line. `passage` has the times of messages.

pub(crate) mod coherence;
pub(crate) mod dram;
pub(crate) mod dvm;
pub(crate) mod dvm_node;
pub(crate) mod home_node;
pub(crate) mod links;
pub(crate) mod mesh;
pub(crate) mod passage;
mod quantum;
pub(crate) mod quantum_log;
pub(crate) mod quantum_view;
pub(crate) mod remote;
pub(crate) mod request_queue;
pub(crate) mod slc;
pub(crate) mod snoop_filter;
pub(crate) mod snoop_queue;
pub(crate) mod traffic;
pub(crate) mod write_queue;

use rustc_hash::{FxHashMap, FxHashSet};
use sim_core::chi::Message;
use sim_core::mesh_counts::{Agent, HomeEvent};
use sim_core::{Cycle, DataSource, LineAddr, StateVisitor, WarmState};

use crate::config::MemoryConfig;
use crate::uncore::dram::Dram;
use crate::uncore::dvm_node::DvmNode;
use crate::uncore::home_node::HomeHash;
use crate::uncore::mesh::Mesh;
use crate::uncore::passage::Contention;
use crate::uncore::quantum_log::{Logged, QuantumLog};
use crate::uncore::quantum_view::{FilterView, SlcView};
use crate::uncore::remote::RemotePages;
use crate::uncore::slc::Slc;
use crate::uncore::snoop_filter::{Holders, SnoopFilter};
use crate::uncore::snoop_queue::SnoopQueues;
use crate::uncore::traffic::Traffic;
use crate::units::allocation_tags::AllocationTags;
use crate::units::page_map::PageMap;
use crate::units::request::CoherenceRequest;

/// Latencies of the stations, without the mesh between them.
#[derive(Clone, Copy, Debug)]
struct Latencies {
    interface: Cycle,
    home_node: Cycle,
    peer: Cycle,
    device: Cycle,
    link: Cycle,
}

/// Home nodes and memory of one chip.
#[derive(Clone, Debug)]
struct Chip {
    slc: Option<SlcView>,
    dram: Dram,
}

/// Shared part of the memory system.
#[derive(Clone, Debug)]
pub(crate) struct Uncore {
    /// Map from virtual to physical pages.
    pub(crate) page_map: PageMap,
    /// Snoops that cores have not answered yet.
    pub(crate) snoops: SnoopQueues,
    /// Directory of the lines that cores hold; `None` in a machine of one core.
    pub(crate) filter: Option<FilterView>,
    /// Buffer that every query of the filter reuses.
    pub(crate) others: Holders,
    /// Chip of the cores, and the second chip if configured.
    chips: Vec<Chip>,
    mesh: Mesh,
    /// Resources of the mesh that messages wait for.
    contention: Contention,
    /// Times of maintenance of all cores.
    pub(crate) dvm: DvmNode,
    /// Counts of the mesh's PMU.
    pub(crate) traffic: Traffic,
    hash: HomeHash,
    remote: RemotePages,
    latencies: Latencies,
    /// Allocation tags of memory.
    pub(crate) tags: AllocationTags,
    /// Lines whose data outside the cores is poisoned.
    poisoned: FxHashSet<LineAddr>,
    /// Lines whose supplier a scenario fixed.
    suppliers: FxHashMap<LineAddr, DataSource>,
    /// Lines that an agent outside the machine's cores holds alone, as another core would.
    external: FxHashSet<LineAddr>,
    cores: usize,
    /// Requests of the cores whose view this is; `None` in the machine's own uncore.
    log: Option<Box<QuantumLog>>,
    /// Cores that have got the snoops of a request that is performed again; see `quantum_log`.
    pub(crate) snooped: Vec<usize>,
}

/// Reply of the uncore to a read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UncoreReply {
    /// Cycle at which the first beat is back at the core's interface.
    pub(crate) arrives: Cycle,
    /// Supplier of the data.
    pub(crate) source: DataSource,
    /// The supplier transferred the duty to write the line back.
    pub(crate) dirty: bool,
    /// Other cores may have a copy.
    pub(crate) shared: bool,
}

/// Cycles of a request on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// Cycle in which it left the core.
    pub(crate) left: Cycle,
    /// Cycle in which its home node has looked the line up.
    pub(crate) home: Cycle,
}

impl Chip {
    fn new(config: &MemoryConfig, seed: u64) -> Chip {
        let slc = Slc::new(&config.slc, seed).map(SlcView::whole);
        Chip { slc, dram: Dram::new(&config.dram) }
    }
}

impl Uncore {
    /// Creates empty caches, an empty directory and idle channels.
    pub(crate) fn new(config: &MemoryConfig, cores: usize, seed: u64) -> Uncore {
        let (bus, slc, dram) = (&config.bus, &config.slc, &config.dram);
        let filter = || FilterView::whole(SnoopFilter::new(&config.snoop_filter, slc));
        let mesh = Mesh::new(&config.mesh, cores, slc.slices, dram.channels);
        let contention = Contention::new(config, &mesh);
        let mut traffic = Traffic::new(mesh.plan(), config.mesh.core_clock_percent);
        let (queues, links) = contention.limits();
        traffic.note_limits(queues, queues && slc.line_hazards, links);
        if dram.write_entries > 0 {
            traffic.note_limited_writes();
        }
        traffic.note_sync(config.dvm.sync);
        Uncore {
            page_map: PageMap::new(&config.pages, seed),
            snoops: SnoopQueues::new(cores),
            filter: (cores > 1).then(filter),
            others: Holders::new(),
            chips: vec![Chip::new(config, seed); config.chips.count as usize],
            traffic,
            mesh,
            contention,
            dvm: DvmNode::new(config),
            hash: HomeHash::new(slc.slices, 1),
            remote: RemotePages::new(&config.chips),
            latencies: Latencies {
                interface: bus.interface_cycles.into(),
                home_node: slc.home_node_cycles.into(),
                peer: bus.peer_cycles.into(),
                device: bus.device_cycles.into(),
                link: config.chips.link_cycles.into(),
            },
            tags: AllocationTags::default(),
            poisoned: FxHashSet::default(),
            suppliers: FxHashMap::default(),
            external: FxHashSet::default(),
            cores,
            log: None,
            snooped: Vec::new(),
        }
    }

    /// Records whether an external agent holds a line alone, as another core would.
    pub(crate) fn set_external(&mut self, line: LineAddr, external: bool) {
        if external {
            self.external.insert(line);
            self.slc_read(line, false);
        } else if !self.external.is_empty() {
            self.external.remove(&line);
        }
    }

    /// Reads a line from the external agent that holds it. A reader leaves it a clean copy, and the
    /// home node can serve the line from then on; a writer takes the only copy.
    fn read_external(
        &mut self,
        core: usize,
        line: LineAddr,
        request: CoherenceRequest,
        home: Cycle,
    ) -> UncoreReply {
        let found = self.resolve(core, line, request, home);
        self.count_look_up(line, found.in_slc, true);
        self.count_snoops(line, found.snooped);
        if !found.forwards {
            self.deliver(core, line, request, true);
        }
        self.set_external(line, false);
        let shared = !request.takes_away();
        if shared {
            self.grant(core, line, false, home);
            self.keep_at_home(line, true, home);
        }
        let arrives = self.arrival_from(DataSource::Peer, core, line, home);
        UncoreReply { arrives, source: DataSource::Peer, dirty: false, shared }
    }

    /// Returns whether a core other than `core`, or an agent outside of the machine, has the line.
    pub(crate) fn is_held_elsewhere(&self, core: usize, line: LineAddr) -> bool {
        let filter = self.filter.iter().flat_map(FilterView::entries);
        self.external.contains(&line)
            || self.suppliers.get(&line) == Some(&DataSource::Peer)
            || filter
                .filter(|(held, ..)| *held == line)
                .any(|(_, holders, _)| snoop_filter::cores_of(&holders).any(|other| other != core))
    }

    /// Returns the cycles between a core and the home node of a line. The path leads through the
    /// mesh and, if the line is remote, over the link to the other chip, which has the same floor
    /// plan.
    fn path_cycles(&self, core: usize, line: LineAddr) -> Cycle {
        let slice = self.hash.slice_of(line);
        if self.remote.has(line) {
            let (core, home) = (self.mesh.core(core), self.mesh.home(slice));
            let gateway = self.mesh.gateway();
            let hops = self.mesh.cycles(core, gateway) + self.mesh.cycles(gateway, home);
            return hops + self.latencies.link;
        }
        self.mesh.core_to_home(core, slice)
    }

    /// Returns when the home node has looked up a request that left a core at `at`.
    pub(crate) fn at_home_node(&self, core: usize, line: LineAddr, at: Cycle) -> Cycle {
        at + self.latencies.interface + self.path_cycles(core, line) + self.latencies.home_node
    }

    /// Returns when a message that a home node sends at `at` reaches a core.
    pub(crate) fn at_core(&self, core: usize, line: LineAddr, at: Cycle) -> Cycle {
        at + self.path_cycles(core, line) + self.latencies.interface
    }

    fn chip_of(&mut self, line: LineAddr) -> &mut Chip {
        let number = usize::from(self.remote.has(line));
        &mut self.chips[number]
    }

    /// Reads a line from memory. Returns when the home node has the data.
    #[cfg_attr(debug_assertions, track_caller)]
    fn read_memory(&mut self, line: LineAddr, at: Cycle) -> Cycle {
        self.count_memory_read(line);
        self.access_memory(line, Message::ReadNoSnp, at)
    }

    /// Writes a line to memory. The transaction that causes this ends no sooner than the line has
    /// its place in a limited queue of the channel.
    #[cfg_attr(debug_assertions, track_caller)]
    fn write_memory(&mut self, line: LineAddr, at: Cycle) {
        self.count_memory_write(line);
        if self.chip_of(line).dram.limits_writes() {
            let placed = self.queue_write(line, at);
            self.contention.note_placed(placed);
        } else {
            self.access_memory(line, Message::WriteNoSnpFull, at);
        }
    }

    /// Returns when the copy of `peer`, another core of this chip, reaches `core` directly. The
    /// snoop reaches the peer at `at`.
    fn peer_access(&mut self, core: usize, peer: usize, at: Cycle) -> Cycle {
        // The answer time of a peer includes its interface, as the time of the snoop does.
        let sent = at - self.latencies.interface + self.latencies.peer;
        self.sent_between_cores(peer, core, sent)
    }

    /// Reads a cacheable line for a request that left the core at `at`.
    pub(crate) fn read(
        &mut self,
        core: usize,
        line: LineAddr,
        request: CoherenceRequest,
        at: Cycle,
    ) -> UncoreReply {
        let place = self.log_place();
        let (arrives, source) = (at, DataSource::Dram);
        self.log(core, line, Some(at), Logged::Read { request, arrives, source });
        self.request(Agent::Core(core as u32), line, request.message());
        let accepted = self.admit(core, line, request.message(), at);
        let sent = Sent { left: at, home: accepted.home };
        let reply = self.supply(core, line, request, 0, sent);
        self.acknowledge(core, line, accepted, reply.arrives);
        self.log_reply(place, &reply);
        reply
    }

    /// Finds a cacheable line for a request and changes who holds it. `own_copies` is 1 if the home
    /// node snoops the requester itself.
    pub(crate) fn supply(
        &mut self,
        core: usize,
        line: LineAddr,
        request: CoherenceRequest,
        own_copies: usize,
        Sent { left, home }: Sent,
    ) -> UncoreReply {
        if !self.external.is_empty() && self.external.contains(&line) {
            return self.read_external(core, line, request, home);
        }
        if let Some(source) = self.supplier(line) {
            self.count_look_up(line, source == DataSource::Slc, source == DataSource::Peer);
            // The fixed supplier replaces the whole outside; only the filter has to stay correct.
            let found = self.filter.is_some().then(|| self.resolve(core, line, request, home));
            let shared = found.is_some_and(|found| found.shared);
            self.count_snoops(line, own_copies + found.map_or(0, |found| found.snooped));
            if found.is_none_or(|found| !found.forwards) {
                self.deliver(core, line, request, source == DataSource::Peer);
            }
            let arrives = self.arrival_from(source, core, line, home);
            return UncoreReply { arrives, source, dirty: false, shared };
        }
        let found = self.resolve(core, line, request, home);
        self.count_look_up(line, found.in_slc, found.in_filter || own_copies > 0);
        self.count_snoops(line, own_copies + found.snooped);
        let (arrives, source) = match (found.peer, found.in_slc) {
            (Some(peer), _) => {
                let sent = self.peer_access(core, peer, found.peer_snooped);
                let arrives = sent + self.latencies.interface;
                self.count_pair_line(core, peer, line, arrives - left);
                (arrives, DataSource::Peer)
            }
            (None, true) => {
                (self.sent_to_core(core, line, Message::CompData, home), DataSource::Slc)
            }
            (None, false) => {
                let supplied = self.read_memory(line, home);
                (self.sent_to_core(core, line, Message::CompData, supplied), DataSource::Dram)
            }
        };
        if !found.forwards {
            self.deliver(core, line, request, false);
        }
        let is_remote = found.peer.is_none() && self.remote.has(line);
        let source = if is_remote { DataSource::Remote } else { source };
        let dirty = found.dirty_from_slc;
        UncoreReply { arrives, source, dirty, shared: found.shared }
    }

    /// Returns whether the memory of a line is on another chip.
    pub(crate) fn is_remote(&self, line: LineAddr) -> bool {
        match self.supplier(line) {
            Some(source) => source == DataSource::Remote,
            None => self.remote.has(line),
        }
    }

    fn supplier(&self, line: LineAddr) -> Option<DataSource> {
        if self.suppliers.is_empty() { None } else { self.suppliers.get(&line).copied() }
    }

    /// Returns when a line from a fixed supplier reaches the core. A peer is the neighbor at the
    /// crosspoint.
    fn arrival_from(
        &mut self,
        source: DataSource,
        core: usize,
        line: LineAddr,
        home: Cycle,
    ) -> Cycle {
        let supplied = match source {
            DataSource::Peer => home + self.latencies.peer,
            DataSource::Remote => {
                let away = home + self.latencies.link;
                self.access_memory(line, Message::ReadNoSnp, away) + self.latencies.link
            }
            DataSource::Dram => self.read_memory(line, home),
            _ => home,
        };
        self.sent_to_core(core, line, Message::CompData, supplied)
    }

    /// Requests ownership of a line without its data. Returns when the answer is back at the core.
    pub(crate) fn request_without_data(
        &mut self,
        core: usize,
        line: LineAddr,
        request: CoherenceRequest,
        at: Cycle,
    ) -> Cycle {
        self.log(core, line, Some(at), Logged::Claim(request));
        self.request(Agent::Core(core as u32), line, request.message());
        let accepted = self.admit(core, line, request.message(), at);
        self.set_external(line, false);
        let found = self.resolve(core, line, request, accepted.home);
        self.count_look_up(line, found.in_slc, found.in_filter);
        self.count_snoops(line, found.snooped);
        self.home_sends(core, line, Message::Comp);
        let done = self.sent_to_core(core, line, Message::Comp, accepted.home);
        self.acknowledge(core, line, accepted, done);
        done
    }

    /// Accesses memory that no cache holds. Returns when the answer is back at the core.
    pub(crate) fn access_uncached(&self, core: usize, at: Cycle) -> Cycle {
        let way = self.mesh.cycles(self.mesh.core(core), self.mesh.gateway());
        let there = at + self.latencies.interface + way + self.latencies.home_node;
        there + self.latencies.device + way + self.latencies.interface
    }

    /// Reads a line from the system level cache and removes it unless `stays` is set. Returns
    /// whether it was dirty, or `None` if it is absent.
    pub(crate) fn slc_read(&mut self, line: LineAddr, stays: bool) -> Option<bool> {
        let slc = self.chip_of(line).slc.as_mut()?;
        if stays { slc.read(line) } else { slc.take(line) }
    }

    /// Puts a line into the system level cache, or writes it to memory if there is no such cache.
    /// Returns whether the cache held it before.
    pub(crate) fn keep_at_home(&mut self, line: LineAddr, dirty: bool, at: Cycle) -> bool {
        let Some(slc) = self.chip_of(line).slc.as_mut() else {
            if dirty {
                self.write_memory(line, at);
            }
            return false;
        };
        let put = slc.put(line, dirty);
        if put.is_new {
            self.raise(line, HomeEvent::CacheFill);
        }
        if put.is_new && put.into_empty {
            self.raise(line, HomeEvent::FillInvalidWay);
        }
        if let Some(victim) = put.written {
            self.raise(victim, HomeEvent::CacheEviction);
            self.write_memory(victim, at);
        }
        !put.is_new
    }

    /// Accepts a line that an L2 evicted. A clean line goes nowhere without a system level cache.
    /// Returns when the answer is at the core.
    pub(crate) fn accept_victim(
        &mut self,
        core: usize,
        line: LineAddr,
        dirty: bool,
        at: Cycle,
    ) -> Cycle {
        self.log(core, line, Some(at), Logged::Victim(dirty));
        self.forget_holder(core, line);
        let takes_data = dirty || self.chip_of(line).slc.is_some();
        let (request, answer) = match (dirty, takes_data) {
            (true, _) => (Message::WriteBackFull, Message::CompDBIDResp),
            (false, true) => (Message::WriteEvictOrEvict, Message::CompDBIDResp),
            (false, false) => (Message::Evict, Message::Comp),
        };
        self.request(Agent::Core(core as u32), line, request);
        let accepted = self.admit(core, line, request, at);
        let (answered, end) = self.copy_back(core, line, accepted, answer);
        let in_slc = self.keep_at_home(line, dirty, accepted.home);
        self.end(line, accepted, end);
        self.count_look_up(line, in_slc, true);
        answered
    }

    /// Accepts modified data of a line that a core keeps as a clean copy.
    pub(crate) fn accept_clean(&mut self, core: usize, line: LineAddr, at: Cycle) {
        self.log(core, line, Some(at), Logged::CleanCopy);
        self.request(Agent::Core(core as u32), line, Message::WriteCleanFull);
        let accepted = self.admit(core, line, Message::WriteCleanFull, at);
        let (_, end) = self.copy_back(core, line, accepted, Message::CompDBIDResp);
        let in_slc = self.keep_at_home(line, true, accepted.home);
        self.end(line, accepted, end);
        self.count_look_up(line, in_slc, true);
    }

    /// Records whether modified data that left a core is poisoned.
    pub(crate) fn note_poison(&mut self, line: LineAddr, poisoned: bool) {
        if poisoned {
            self.poisoned.insert(line);
        } else if !self.poisoned.is_empty() {
            self.poisoned.remove(&line);
        }
    }

    /// Returns whether a read of the line gets poisoned data.
    pub(crate) fn is_poisoned(&self, line: LineAddr) -> bool {
        !self.poisoned.is_empty() && self.poisoned.contains(&line)
    }

    /// Returns when the answer to a message that left the core at `at` is back from the home node.
    pub(crate) fn round_trip(&self, core: usize, line: LineAddr, at: Cycle) -> Cycle {
        let home = self.at_home_node(core, line, at);
        self.at_core(core, line, home)
    }

    /// Accepts modified data that a core returned for a snoop. The core may keep a clean copy.
    pub(crate) fn accept_snoop_data(&mut self, core: usize, line: LineAddr, at: Cycle) {
        self.log(core, line, Some(at), Logged::SnoopData);
        let arrives = self.sent_to_home(core, line, Message::SnpRespData, at);
        self.keep_at_home(line, true, arrives + self.latencies.home_node);
    }

    /// Writes an I/O agent's line to memory and sends it to a core, which answers at `at`. Returns
    /// when the line is there.
    pub(crate) fn stash(&mut self, core: usize, line: LineAddr, at: Cycle) -> Cycle {
        self.log_needs_all();
        let home = self.at_home_node(core, line, at);
        self.request(Agent::Io, line, Message::WriteUniqueFullStash);
        self.set_external(line, false);
        let found = self.resolve(core, line, CoherenceRequest::Claim, home);
        self.count_look_up(line, found.in_slc, found.in_filter);
        self.count_snoops(line, found.snooped);
        self.write_memory(line, home);
        self.count_stash(core, line);
        self.at_core(core, line, home)
    }

    /// Empties caches, directory, snoop queues and the bookings of all channels.
    pub(crate) fn flush(&mut self, config: &MemoryConfig, seed: u64) {
        let empty = Uncore::new(config, self.cores, seed);
        self.chips = empty.chips;
        self.contention = empty.contention;
        self.dvm = empty.dvm;
        self.filter = empty.filter;
        self.snoops = empty.snoops;
        self.poisoned.clear();
        self.external.clear();
    }

    /// Fixes the supplier of a line; `None` restores the model's own rule.
    pub(crate) fn set_supplier(&mut self, line: LineAddr, source: Option<DataSource>) {
        match source {
            Some(source) => self.suppliers.insert(line, source),
            None => self.suppliers.remove(&line),
        };
    }

    /// Returns whether a line in the system level cache is dirty, or `None` if it is absent. Has no
    /// side effects.
    pub(crate) fn slc_state(&self, line: LineAddr) -> Option<bool> {
        let chip = usize::from(self.remote.has(line));
        self.chips[chip].slc.as_ref()?.state(line)
    }
}

/// The saved state is that of the system level caches, and of the directory if there is one.
impl WarmState for Uncore {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        for slc in self.chips.iter_mut().filter_map(|chip| chip.slc.as_mut()) {
            slc.visit(visitor);
        }
        if let Some(filter) = &mut self.filter {
            filter.visit(self.cores, visitor);
        }
    }
}
