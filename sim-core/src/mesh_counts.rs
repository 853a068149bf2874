//! Counts of a CMN-700 mesh: what each agent sent and received, what home nodes did, and the flits
//! from crosspoint to crosspoint. The model raises each of them where it happens; every event of
//! the mesh's PMU is a sum of some of them.

use crate::chi::{Channel, Message};
use crate::core_pairs::CorePairs;
use crate::mesh_sites::{self, Counted};

/// Declares the events of a home node: name, number in CMN-700.
macro_rules! home_events {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// An event of a home node (HN-F) that the model raises.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum HomeEvent { $($(#[$doc])* $name = $code,)* }

        impl HomeEvent {
            /// Every event, in the order of the numbers.
            pub const ALL: &'static [HomeEvent] = &[$(HomeEvent::$name),*];
        }
    };
}

home_events! {
    /// The first look-up of a request does not find its line in the system level cache.
    CacheMiss = 0x01,
    /// A request looks the system level cache and the snoop filter up for the first time.
    CacheAccess = 0x02,
    /// A line is put into the system level cache.
    CacheFill = 0x03,
    /// A request is sent back because every entry of the queue is taken.
    RequestRetried = 0x04,
    /// A request arrives.
    RequestReceived = 0x05,
    /// A look-up finds its line in the snoop filter.
    FilterHit = 0x06,
    /// A line loses its entry in the snoop filter and leaves all caches.
    FilterEviction = 0x07,
    /// A request makes the home node snoop one core.
    DirectedSnoop = 0x08,
    /// A request makes the home node snoop several cores at once.
    BroadcastSnoop = 0x09,
    /// A modified line leaves the system level cache.
    CacheEviction = 0x0A,
    /// A line is put into a way of the system level cache that held none.
    FillInvalidWay = 0x0B,
    /// Memory sends a request back because its queue is full.
    MemoryRetried = 0x0C,
    /// A request is sent to memory, for the first time or again.
    MemoryRequest = 0x0D,
    /// A request takes an entry of the queue while an older one to its line is unfinished.
    AddressHazard = 0x10,
    /// An atomic takes an entry of the queue while an older request to its line is unfinished.
    AtomicHazard = 0x11,
    /// One or several cores are snooped, for a request or for an eviction from the snoop filter.
    SnoopSent = 0x18,
    /// An eviction from the snoop filter snoops one core.
    EvictionDirectedSnoop = 0x19,
    /// An eviction from the snoop filter snoops several cores at once.
    EvictionBroadcastSnoop = 0x1A,
    /// A core returns modified data for an eviction from the snoop filter.
    EvictionDirtyData = 0x1C,
    /// A line that an I/O agent wrote is announced to a core.
    StashSnoop = 0x1D,
    /// A core reads the announced line.
    StashDataPull = 0x1E,
    /// A snoop makes a core send the line to the requester.
    ForwardingSnoop = 0x1F,
    /// A line that several cores held loses its entry in the snoop filter.
    SharedEviction = 0x25,
    /// A core answers a snoop with clean data.
    CleanIntervention = 0x2D,
}

/// Numbers of home node events, as many as a register of CMN-700 can name.
const HOME_EVENTS: usize = 0x40;

/// Kinds of requests whose time in the queue of a home node is counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Occupant {
    /// Every request.
    Any,
    /// Reads, ownership and maintenance.
    Read,
    /// Write-backs.
    Write,
    /// Atomics.
    Atomic,
    /// Stashes.
    Stash,
}

/// Kinds of occupants.
const OCCUPANTS: usize = 5;

/// Declares the events of the DVM node: name, number in CMN-700.
macro_rules! dvm_events {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// An event of the DVM node that the model raises.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum DvmEvent { $($(#[$doc])* $name = $code,)* }

        impl DvmEvent {
            /// Every event, in the order of the numbers.
            pub const ALL: &'static [DvmEvent] = &[$(DvmEvent::$name),*];
        }
    };
}

dvm_events! {
    /// A TLB invalidation arrives.
    Tlbi = 0x01,
    /// An invalidation of instruction caches by physical address arrives.
    Pici = 0x03,
    /// A synchronization arrives.
    Sync = 0x05,
    /// A snoop flit is sent to a core.
    SnoopFlit = 0x09,
    /// A request takes an entry of the tracker.
    TrackerAllocation = 0x0F,
    /// A synchronization waits for older operations of its core.
    SyncStall = 0x14,
}

/// Numbers of DVM events.
const DVM_EVENTS: usize = 0x20;

/// Kinds of requests whose time in the tracker of the DVM node is counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum DvmOccupant {
    /// Every request.
    Any,
    /// Operations.
    Operation,
    /// Synchronizations.
    Sync,
}

/// Kinds of occupants of the tracker.
const DVM_OCCUPANTS: usize = 3;

/// An agent of the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Agent {
    /// A core with its caches (RN-F).
    Core(u32),
    /// A home node with its slice of the system level cache (HN-F).
    Home(u32),
    /// A memory controller (SN-F).
    Memory(u32),
    /// The home node of devices (HN-I).
    Device,
    /// The DVM node.
    Dvm,
    /// The gateway to the other chip (CCG).
    Gateway,
    /// An I/O agent that writes memory (RN-I).
    Io,
}

/// Kind of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AgentKind {
    /// Cores (RN-F).
    Core,
    /// Home nodes (HN-F).
    Home,
    /// Memory controllers (SN-F).
    Memory,
    /// The home node of devices (HN-I).
    Device,
    /// The DVM node.
    Dvm,
    /// The gateway to the other chip (CCG).
    Gateway,
    /// An I/O agent (RN-I).
    Io,
}

impl Agent {
    /// Returns the kind.
    pub fn kind(self) -> AgentKind {
        match self {
            Agent::Core(_) => AgentKind::Core,
            Agent::Home(_) => AgentKind::Home,
            Agent::Memory(_) => AgentKind::Memory,
            Agent::Device => AgentKind::Device,
            Agent::Dvm => AgentKind::Dvm,
            Agent::Gateway => AgentKind::Gateway,
            Agent::Io => AgentKind::Io,
        }
    }
}

/// Position of a crosspoint on the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Crosspoint {
    /// Column, from the left (X).
    pub column: u32,
    /// Row, from the bottom (Y).
    pub row: u32,
}

/// Floor plan of a mesh: the grid, and the crosspoint of each agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FloorPlan {
    /// Columns of the grid.
    pub columns: u32,
    /// Rows of the grid.
    pub rows: u32,
    /// Crosspoint of each core.
    pub cores: Vec<Crosspoint>,
    /// Crosspoint of each home node.
    pub homes: Vec<Crosspoint>,
    /// Crosspoint of each memory controller.
    pub memories: Vec<Crosspoint>,
    /// Crosspoint of the home node of devices, the DVM node, the gateway and the I/O agent.
    pub corner: Crosspoint,
}

impl FloorPlan {
    /// Returns the number of agents.
    pub fn agents(&self) -> usize {
        self.cores.len() + self.homes.len() + self.memories.len() + 4
    }

    /// Returns every agent, in the order of [`FloorPlan::index`].
    pub fn all(&self) -> impl Iterator<Item = Agent> + '_ {
        let cores = (0..self.cores.len() as u32).map(Agent::Core);
        let homes = (0..self.homes.len() as u32).map(Agent::Home);
        let memories = (0..self.memories.len() as u32).map(Agent::Memory);
        let others = [Agent::Device, Agent::Dvm, Agent::Gateway, Agent::Io];
        cores.chain(homes).chain(memories).chain(others)
    }

    /// Returns the number of an agent among all.
    pub fn index(&self, agent: Agent) -> usize {
        let (cores, homes) = (self.cores.len(), self.homes.len());
        let others = cores + homes + self.memories.len();
        match agent {
            Agent::Core(number) => number as usize,
            Agent::Home(number) => cores + number as usize,
            Agent::Memory(number) => cores + homes + number as usize,
            Agent::Device => others,
            Agent::Dvm => others + 1,
            Agent::Gateway => others + 2,
            Agent::Io => others + 3,
        }
    }

    /// Returns the crosspoint of an agent.
    ///
    /// # Panics
    ///
    /// If there is no such agent.
    pub fn crosspoint(&self, agent: Agent) -> Crosspoint {
        match agent {
            Agent::Core(number) => self.cores[number as usize],
            Agent::Home(number) => self.homes[number as usize],
            Agent::Memory(number) => self.memories[number as usize],
            Agent::Device | Agent::Dvm | Agent::Gateway | Agent::Io => self.corner,
        }
    }

    /// Returns the number of crosspoints.
    pub fn crosspoints(&self) -> usize {
        self.columns as usize * self.rows as usize
    }

    /// Returns the number of a crosspoint: row by row, as in CMN-700.
    pub fn number(&self, at: Crosspoint) -> usize {
        (at.row * self.columns + at.column) as usize
    }

    /// Returns the position of a crosspoint by its number.
    pub fn position(&self, number: usize) -> Crosspoint {
        let number = number as u32;
        Crosspoint { column: number % self.columns, row: number / self.columns }
    }

    /// Calls `pass` with every crosspoint that a flit leaves on its way to another one, and the
    /// side. Flits are routed along the row first, then along the column.
    #[inline]
    pub fn route(&self, from: usize, to: usize, mut pass: impl FnMut(usize, Side)) {
        let (start, end) = (self.position(from), self.position(to));
        let columns = self.columns as usize;
        let mut at = from;
        for _ in 0..start.column.abs_diff(end.column) {
            let is_east = start.column < end.column;
            pass(at, if is_east { Side::East } else { Side::West });
            at = if is_east { at + 1 } else { at - 1 };
        }
        for _ in 0..start.row.abs_diff(end.row) {
            let is_north = start.row < end.row;
            pass(at, if is_north { Side::North } else { Side::South });
            at = if is_north { at + columns } else { at - columns };
        }
    }
}

/// Side of a crosspoint to which a flit leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Side {
    /// To the next column.
    East,
    /// To the previous column.
    West,
    /// To the next row.
    North,
    /// To the previous row.
    South,
}

/// Counts of a mesh, in the counted part of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeshCounts {
    /// Floor plan.
    pub plan: FloorPlan,
    /// Messages that each agent sent: `sent[agent * Message::COUNT + message]`.
    sent: Vec<u64>,
    /// Messages that each agent received.
    received: Vec<u64>,
    /// Flits that left each crosspoint: `links[crosspoint][side * 4 + channel]`.
    links: Vec<[u64; 16]>,
    /// Cycles in which flits waited, in the order of `links`.
    stalls: Vec<[u64; 16]>,
    /// Number of the crosspoint of each agent.
    places: Vec<u32>,
    /// Events of the home nodes: `home[slice * HOME_EVENTS + event]`.
    home: Vec<u64>,
    /// Pulses of taken entries of the queues: `occupied[slice][occupant]`.
    occupied: Vec<[u64; OCCUPANTS]>,
    /// Events of the DVM node.
    dvm: Vec<u64>,
    /// Pulses of taken entries of the tracker of the DVM node, by occupant.
    dvm_occupied: [u64; DVM_OCCUPANTS],
    /// Maintenance of all cores takes time, and a `DSB` waits for it.
    pub synchronizes: bool,
    /// The queues of home nodes have a limited number of entries.
    pub limits_queues: bool,
    /// Requests to a line wait at its home node for an earlier one.
    pub limits_hazards: bool,
    /// Memory sends writes back that its queues have no room for.
    pub limits_writes: bool,
    /// Flits wait for links.
    pub limits_links: bool,
    /// Cycles of the mesh's clock.
    pub cycles: u64,
    /// Reads of lines that cores sent a second time, because the home node sent them back.
    pub reads_sent_again: u64,
    /// Snoops that had no answer yet at the end of the counted part, less those at its begin.
    pub unanswered: i64,
    /// Lines on their way from one core to another at the end of the counted part, less those at
    /// its begin.
    pub lines_under_way: i64,
    /// Snoops and lines that the requests of each core caused at others.
    pub pairs: CorePairs,
}

impl MeshCounts {
    /// Returns counts of zero for a floor plan.
    pub fn new(plan: FloorPlan) -> MeshCounts {
        let agents = plan.agents();
        let place = |agent| plan.number(plan.crosspoint(agent)) as u32;
        MeshCounts {
            sent: vec![0; agents * Message::COUNT],
            received: vec![0; agents * Message::COUNT],
            links: vec![[0; 16]; plan.crosspoints()],
            stalls: vec![[0; 16]; plan.crosspoints()],
            places: plan.all().map(place).collect(),
            home: vec![0; plan.homes.len() * HOME_EVENTS],
            occupied: vec![[0; OCCUPANTS]; plan.homes.len()],
            dvm: vec![0; DVM_EVENTS],
            dvm_occupied: [0; DVM_OCCUPANTS],
            synchronizes: false,
            limits_queues: false,
            limits_hazards: false,
            limits_writes: false,
            limits_links: false,
            cycles: 0,
            reads_sent_again: 0,
            unanswered: 0,
            lines_under_way: 0,
            pairs: CorePairs::default(),
            plan,
        }
    }

    /// Counts messages of one kind from one agent to another.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn send(&mut self, from: Agent, to: Agent, message: Message) {
        let times = mesh_sites::times(Counted::Message(message));
        let (sender, receiver) = (self.plan.index(from), self.plan.index(to));
        self.sent[sender * Message::COUNT + message as usize] += times;
        self.received[receiver * Message::COUNT + message as usize] += times;
        let (from, to) = (self.places[sender] as usize, self.places[receiver] as usize);
        let (channel, links) = (message.channel() as usize, &mut self.links);
        self.plan.route(from, to, |at, side| {
            links[at][side as usize * Channel::ALL.len() + channel] += message.flits() * times;
        });
    }

    /// Counts an event of a home node.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn raise(&mut self, slice: u32, event: HomeEvent) {
        let times = mesh_sites::times(Counted::Home(event));
        self.home[slice as usize * HOME_EVENTS + event as usize] += times;
    }

    /// Counts pulses of the entries that requests of a kind take in the queue of a home node.
    pub fn occupy(&mut self, slice: u32, occupant: Occupant, pulses: u64) {
        self.occupied[slice as usize][occupant as usize] += pulses;
    }

    /// Counts cycles of the mesh in which flits of a channel waited to leave a crosspoint.
    pub fn stall(&mut self, crosspoint: usize, side: Side, channel: Channel, cycles: u64) {
        self.stalls[crosspoint][side as usize * Channel::ALL.len() + channel as usize] += cycles;
    }

    /// Counts an event of the DVM node `times` times.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn raise_dvm(&mut self, event: DvmEvent, times: u64) {
        self.dvm[event as usize] += times * mesh_sites::times(Counted::Dvm(event));
    }

    /// Counts pulses of the entries that requests of a kind take in the tracker of the DVM node.
    pub fn occupy_dvm(&mut self, occupant: DvmOccupant, pulses: u64) {
        self.dvm_occupied[occupant as usize] += pulses;
    }

    /// Returns the messages of one kind that an agent sent.
    pub fn sent(&self, agent: Agent, message: Message) -> u64 {
        self.sent[self.plan.index(agent) * Message::COUNT + message as usize]
    }

    /// Returns the messages of one kind that an agent received.
    pub fn received(&self, agent: Agent, message: Message) -> u64 {
        self.received[self.plan.index(agent) * Message::COUNT + message as usize]
    }

    /// Returns the messages of one kind that all agents of a kind sent.
    pub fn sent_by(&self, kind: AgentKind, message: Message) -> u64 {
        self.agents_of(kind).map(|agent| self.sent(agent, message)).sum()
    }

    /// Returns the messages of one kind that all agents of a kind received.
    pub fn received_by(&self, kind: AgentKind, message: Message) -> u64 {
        self.agents_of(kind).map(|agent| self.received(agent, message)).sum()
    }

    fn agents_of(&self, kind: AgentKind) -> impl Iterator<Item = Agent> + '_ {
        self.plan.all().filter(move |agent| agent.kind() == kind)
    }

    /// Returns the count of an event of one home node.
    pub fn of_home(&self, slice: u32, event: HomeEvent) -> u64 {
        self.home[slice as usize * HOME_EVENTS + event as usize]
    }

    /// Returns the count of an event of all home nodes.
    pub fn of_homes(&self, event: HomeEvent) -> u64 {
        (0..self.plan.homes.len() as u32).map(|slice| self.of_home(slice, event)).sum()
    }

    /// Returns the pulses of taken entries in the queue of one home node: one for 4096 cycles of
    /// the mesh that an entry is taken.
    pub fn occupied(&self, slice: u32, occupant: Occupant) -> u64 {
        self.occupied[slice as usize][occupant as usize]
    }

    /// Returns the count of an event of the DVM node.
    pub fn of_dvm(&self, event: DvmEvent) -> u64 {
        self.dvm[event as usize]
    }

    /// Returns the pulses of taken entries in the tracker of the DVM node: one for 4096 cycles of
    /// the mesh that an entry is taken.
    pub fn occupied_dvm(&self, occupant: DvmOccupant) -> u64 {
        self.dvm_occupied[occupant as usize]
    }

    /// Returns the flits that left each crosspoint at each side, on a channel, by the number of the
    /// crosspoint and of the [`Side`].
    pub fn flits_by_side(&self, channel: Channel) -> Vec<[u64; 4]> {
        by_side(&self.links, channel)
    }

    /// Returns the cycles in which flits waited to leave each crosspoint at each side, on a
    /// channel, in the order of [`MeshCounts::flits_by_side`].
    pub fn stalls_by_side(&self, channel: Channel) -> Vec<[u64; 4]> {
        by_side(&self.stalls, channel)
    }

    /// Returns the difference to the earlier counts `before` of the same mesh.
    #[must_use]
    pub fn since(&self, before: &MeshCounts) -> MeshCounts {
        let mut counts = self.clone();
        counts.combine(before, -1, |now, before| *now -= before);
        counts
    }

    /// Adds counts of the same mesh.
    pub fn add(&mut self, more: &MeshCounts) {
        self.combine(more, 1, |one, other| *one += other);
    }

    fn combine(&mut self, other: &MeshCounts, sign: i64, apply: impl Fn(&mut u64, u64)) {
        let tables = [
            (&mut self.sent, &other.sent),
            (&mut self.received, &other.received),
            (&mut self.home, &other.home),
            (&mut self.dvm, &other.dvm),
        ];
        for (one, other) in tables {
            one.iter_mut().zip(other).for_each(|(one, other)| apply(one, *other));
        }
        for (one, other) in [(&mut self.links, &other.links), (&mut self.stalls, &other.stalls)] {
            let all = one.iter_mut().flatten().zip(other.iter().flatten());
            all.for_each(|(one, other)| apply(one, *other));
        }
        let occupied = self.occupied.iter_mut().flatten().zip(other.occupied.iter().flatten());
        occupied.for_each(|(one, other)| apply(one, *other));
        let of_dvm = self.dvm_occupied.iter_mut().zip(other.dvm_occupied);
        of_dvm.for_each(|(one, other)| apply(one, other));
        apply(&mut self.cycles, other.cycles);
        apply(&mut self.reads_sent_again, other.reads_sent_again);
        self.unanswered += sign * other.unanswered;
        self.lines_under_way += sign * other.lines_under_way;
        self.pairs.combine(&other.pairs, apply);
    }
}

fn by_side(links: &[[u64; 16]], channel: Channel) -> Vec<[u64; 4]> {
    let at = |side| side * Channel::ALL.len() + channel as usize;
    links.iter().map(|link| [0, 1, 2, 3].map(|side| link[at(side)])).collect()
}

#[cfg(test)]
mod tests;
