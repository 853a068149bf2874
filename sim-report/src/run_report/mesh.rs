//! Traffic on the mesh: flits on each link, requests at each home node, and what cores cause at one
//! another. Counts of the same places of the model as the events of the mesh's PMU.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::chi::{Channel, Message};
use sim_core::core_pairs::{CorePair, PairCounts};
use sim_core::mesh_counts::{Agent, AgentKind, Crosspoint, HomeEvent, MeshCounts, Side};

use super::observed::Observed;

/// Traffic on the mesh, while any core counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeshTraffic {
    /// Columns of the grid of crosspoints.
    pub columns: u32,
    /// Rows of the grid.
    pub rows: u32,
    /// Cycles of the mesh's clock. Flits can share a cycle of a link, unless links have
    /// a limit (`memory.mesh.link-contention`): then it is one flit of each channel, and links have
    /// `waits`.
    pub cycles: u64,
    /// Agents: cores, home nodes, memory controllers and others.
    pub agents: Vec<MeshAgent>,
    /// Home nodes with their slices of the system level cache.
    pub home_nodes: Vec<HomeNode>,
    /// Links between neighboring crosspoints, one for each direction.
    pub links: Vec<MeshLink>,
    /// Pairs of cores with any count: snoops and lines that requests of one caused at the other.
    pub core_pairs: Vec<CorePairCount>,
    /// Whether `shared_lines[].core_pairs` misses counts, because too many pairs and lines had one.
    #[serde(default)]
    pub line_pairs_are_cut: bool,
}

/// Agent at a crosspoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeshAgent {
    /// Name, such as `core 0` or `home node 3`.
    pub name: String,
    /// Short name for drawings, such as `C0` or `H3`.
    pub label: String,
    /// Column of its crosspoint, from the left, from 0.
    pub column: u32,
    /// Row of its crosspoint, from the bottom, from 0.
    pub row: u32,
    /// Flits that it sent.
    pub flits_sent: u64,
    /// Flits that it received.
    pub flits_received: u64,
}

/// Home node with its slice of the system level cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HomeNode {
    /// Number.
    pub number: u32,
    /// Column of its crosspoint.
    pub column: u32,
    /// Row of its crosspoint.
    pub row: u32,
    /// Requests that it looked up (`hnf_slc_sf_cache_access`).
    pub look_ups: u64,
    /// Look-ups whose line was not in the system level cache (`hnf_cache_miss`).
    pub misses: u64,
    /// Look-ups whose line was in the snoop filter (`hnf_sf_hit`).
    pub filter_hits: u64,
    /// Times that it snooped one or several cores (`hnf_snp_sent`).
    pub snoops: u64,
    /// Requests that it sent to memory (`hnf_mc_reqs`).
    pub memory_requests: u64,
}

/// Flits by channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChannelFlits {
    /// Requests.
    pub req: u64,
    /// Responses without data.
    pub rsp: u64,
    /// Snoops.
    pub snp: u64,
    /// Data.
    pub dat: u64,
}

/// Link from one crosspoint to a neighbor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeshLink {
    /// Column of the crosspoint that flits leave.
    pub column: u32,
    /// Row of this crosspoint.
    pub row: u32,
    /// Side to which they leave: `east`, `west`, `north` or `south`.
    pub side: String,
    /// Flits that passed.
    pub flits: ChannelFlits,
    /// Cycles of the mesh in which flits waited for the link; absent if links have no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<ChannelFlits>,
}

/// Counts of a pair of cores: what requests of one caused at the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CorePairCount {
    /// Number of the core that requested lines, and waited.
    pub requester: u32,
    /// Number of the core that was snooped. It is the requester itself where its own copy had to
    /// leave: for a far atomic, or because its request removed a line from the snoop filter.
    pub snooped: u32,
    /// Snoops for lines that the requester asked for; without those of DVM operations and stashes.
    pub snoops: u64,
    /// Snoops because a request removed a line from the snoop filter.
    pub evictions: u64,
    /// Lines that the snooped core supplied.
    pub lines: u64,
    /// Sum of the cycles of these lines, from the request leaving the core to the data, of loads,
    /// stores, atomics, fetches, prefetches and table walks. A core can do other work in them.
    pub cycles: u64,
}

impl MeshTraffic {
    /// Returns whether links have a limit, so that flits wait for them.
    pub fn limits_links(&self) -> bool {
        self.links.iter().any(|link| link.waits.is_some())
    }

    /// Returns the traffic of a run of several cores, if the session counted it.
    pub(super) fn of(observed: &Observed<'_>) -> Option<MeshTraffic> {
        let is_shared = observed.outcome.cores.len() > 1;
        let counts = &observed.outcome.mesh;
        (is_shared && observed.session.counts_mesh()).then(|| MeshTraffic {
            columns: counts.plan.columns,
            rows: counts.plan.rows,
            cycles: counts.cycles,
            agents: counts.plan.all().map(|agent| MeshAgent::of(agent, counts)).collect(),
            home_nodes: (0..).zip(&counts.plan.homes).map(|at| HomeNode::of(at, counts)).collect(),
            links: links(counts),
            core_pairs: counts.pairs.all().map(CorePairCount::of).collect(),
            line_pairs_are_cut: counts.pairs.is_cut(),
        })
    }
}

impl MeshAgent {
    fn of(agent: Agent, counts: &MeshCounts) -> MeshAgent {
        let Crosspoint { column, row } = counts.plan.crosspoint(agent);
        let flits = |passed: fn(&MeshCounts, Agent, Message) -> u64| {
            let of = |message: Message| passed(counts, agent, message) * message.flits();
            Message::ALL.into_iter().map(of).sum()
        };
        let (name, label) = names(agent);
        MeshAgent {
            name,
            label,
            column,
            row,
            flits_sent: flits(MeshCounts::sent),
            flits_received: flits(MeshCounts::received),
        }
    }
}

/// Returns the name of an agent, and its short name.
fn names(agent: Agent) -> (String, String) {
    let (name, label) = match agent.kind() {
        AgentKind::Core => ("core", "C"),
        AgentKind::Home => ("home node", "H"),
        AgentKind::Memory => ("memory controller", "M"),
        AgentKind::Device => ("home node of devices", "D"),
        AgentKind::Dvm => ("DVM node", "DVM"),
        AgentKind::Gateway => ("gateway to the other chip", "GW"),
        AgentKind::Io => ("I/O agent", "IO"),
    };
    match agent {
        Agent::Core(number) | Agent::Home(number) | Agent::Memory(number) => {
            (format!("{name} {number}"), format!("{label}{number}"))
        }
        _ => (name.to_owned(), label.to_owned()),
    }
}

impl HomeNode {
    fn of((number, at): (u32, &Crosspoint), counts: &MeshCounts) -> HomeNode {
        let of = |event| counts.of_home(number, event);
        HomeNode {
            number,
            column: at.column,
            row: at.row,
            look_ups: of(HomeEvent::CacheAccess),
            misses: of(HomeEvent::CacheMiss),
            filter_hits: of(HomeEvent::FilterHit),
            snoops: of(HomeEvent::SnoopSent),
            memory_requests: of(HomeEvent::MemoryRequest),
        }
    }
}

impl ChannelFlits {
    /// Returns the flits of a channel.
    pub fn of(&self, channel: Channel) -> u64 {
        match channel {
            Channel::Req => self.req,
            Channel::Rsp => self.rsp,
            Channel::Snp => self.snp,
            Channel::Dat => self.dat,
        }
    }

    /// Returns the flits of all channels.
    pub fn all(&self) -> u64 {
        Channel::ALL.into_iter().map(|channel| self.of(channel)).sum()
    }

    fn from(of: impl Fn(Channel) -> u64) -> ChannelFlits {
        ChannelFlits {
            req: of(Channel::Req),
            rsp: of(Channel::Rsp),
            snp: of(Channel::Snp),
            dat: of(Channel::Dat),
        }
    }
}

impl MeshLink {
    /// Returns the crosspoint that flits reach: column and row.
    pub fn end(&self) -> (u32, u32) {
        let (column, row) = (self.column, self.row);
        match self.side.as_str() {
            "east" => (column + 1, row),
            "west" => (column.saturating_sub(1), row),
            "north" => (column, row + 1),
            _ => (column, row.saturating_sub(1)),
        }
    }
}

/// Returns every link, crosspoint by crosspoint.
fn links(counts: &MeshCounts) -> Vec<MeshLink> {
    let plan = &counts.plan;
    let flits = Channel::ALL.map(|channel| counts.flits_by_side(channel));
    let waits = Channel::ALL.map(|channel| counts.stalls_by_side(channel));
    let link = |at: usize, side: Side, name: &str| {
        let Crosspoint { column, row } = plan.position(at);
        let of = |table: &[Vec<[u64; 4]>; 4]| {
            ChannelFlits::from(|channel| table[channel as usize][at][side as usize])
        };
        MeshLink {
            column,
            row,
            side: name.to_owned(),
            flits: of(&flits),
            waits: counts.limits_links.then(|| of(&waits)),
        }
    };
    let sides = |at: usize| {
        let Crosspoint { column, row } = plan.position(at);
        let all = [
            (Side::East, "east", column + 1 < plan.columns),
            (Side::West, "west", column > 0),
            (Side::North, "north", row + 1 < plan.rows),
            (Side::South, "south", row > 0),
        ];
        all.into_iter().filter(|(.., is_there)| *is_there)
    };
    let all = (0..plan.crosspoints()).flat_map(|at| sides(at).map(move |side| (at, side)));
    all.map(|(at, (side, name, _))| link(at, side, name)).collect()
}

impl CorePairCount {
    /// Returns whether the requester asked for lines that the other core had.
    pub fn has_requests(&self) -> bool {
        self.snoops > 0 || self.lines > 0
    }

    pub(super) fn of((pair, counts): (CorePair, PairCounts)) -> CorePairCount {
        let CorePair { requester, snooped } = pair;
        let PairCounts { snoops, evictions, lines, cycles } = counts;
        CorePairCount { requester, snooped, snoops, evictions, lines, cycles }
    }
}
