//! The value of a selected event of the mesh from the counts of the model.

use sim_core::chi::{Channel, Message};
use sim_core::mesh_counts::{
    Agent, AgentKind, DvmEvent, DvmOccupant, HomeEvent, MeshCounts, Occupant,
};
use thiserror::Error;

use super::events::Event;
use super::flit::{self, Data, Group, Unknown};
use super::kind::NodeKind;
use super::node::{Node, Nodes, Port};
use super::reason::Reason;
use super::rule::{Direction, Messages, Rule};
use super::selector::{Selector, Target};
use super::watchpoints::{Devices, Watchpoint};

/// Value of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Value.
    pub value: u64,
    /// Reason for which the event is zero in every run. None for events that the model counts.
    pub zero: Option<Reason>,
}

impl Counted {
    fn of(value: u64) -> Counted {
        Counted { value, zero: None }
    }

    fn zero(reason: Reason) -> Counted {
        Counted { value: 0, zero: Some(reason) }
    }
}

/// A selector that has no value in a mesh.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CountError {
    /// No node of the kind has this identifier.
    #[error("event \"{selector}\": no {kind} has nodeid={node:#x}; {hint}")]
    NoNode {
        /// Selector as it was written.
        selector: String,
        /// Name of the kind of node.
        kind: &'static str,
        /// Identifier.
        node: u16,
        /// Identifiers that exist.
        hint: String,
    },
    /// A watchpoint selects a field of flits that the model does not know.
    #[error(
        "event \"{selector}\": the model does not know the field \"{field}\" of flits on {channel}; \
         set its bits in wp_mask to ignore it"
    )]
    UnknownField {
        /// Selector as it was written.
        selector: String,
        /// Name of the field.
        field: &'static str,
        /// Name of the channel.
        channel: &'static str,
    },
}

/// Returns the value of a selected event. The nodes are those of the counts' floor plan.
///
/// # Errors
///
/// Fails if the selected node does not exist, or if a watchpoint selects a field that the model
/// does not know.
pub fn count(
    selector: &Selector,
    nodes: &Nodes,
    counts: &MeshCounts,
) -> Result<Counted, CountError> {
    match selector.target {
        Target::Event { event, occupid } => of_event(selector, (event, occupid), nodes, counts),
        Target::Watchpoint(watchpoint) => of_watchpoint(selector, &watchpoint, nodes, counts),
    }
}

/// Returns the nodes of a kind that a selector counts.
pub(super) fn selected<'a>(
    selector: &Selector,
    kind: NodeKind,
    nodes: &'a Nodes,
) -> Result<Vec<&'a Node>, CountError> {
    let all: Vec<&Node> = nodes.of_kind(kind).collect();
    // The driver does not look at the node of the cycle counter.
    let Some(id) = selector.node.filter(|_| kind != NodeKind::Dtc && !all.is_empty()) else {
        return Ok(all);
    };
    let own: Vec<&Node> = all.iter().copied().filter(|node| node.id == id).collect();
    if own.is_empty() {
        let ids: Vec<String> = all.iter().take(4).map(|node| format!("{:#x}", node.id)).collect();
        let more = if all.len() > ids.len() { ", ..." } else { "" };
        let hint = format!("they are {}{more}", ids.join(", "));
        let selector = selector.text.clone();
        return Err(CountError::NoNode { selector, kind: kind.name(), node: id, hint });
    }
    Ok(own)
}

/// Kinds of requests in the order of the values of `occupid`.
const OCCUPANTS: [Occupant; 5] =
    [Occupant::Any, Occupant::Read, Occupant::Write, Occupant::Atomic, Occupant::Stash];

/// Kinds of requests at the DVM node, in the order of the values of `occupid`.
const DVM_OCCUPANTS: [DvmOccupant; 3] =
    [DvmOccupant::Any, DvmOccupant::Operation, DvmOccupant::Sync];

/// Returns the reason for which an event is zero with the limits of this configuration.
fn unlimited(rule: Rule, counts: &MeshCounts) -> Option<Reason> {
    let of_hazards = [HomeEvent::AddressHazard, HomeEvent::AtomicHazard];
    match rule {
        Rule::Occupancy if !counts.limits_queues => Some(Reason::UnlimitedQueue),
        Rule::Home(HomeEvent::RequestRetried) if !counts.limits_queues => {
            Some(Reason::UnlimitedQueue)
        }
        Rule::Home(HomeEvent::MemoryRetried) if !counts.limits_writes => {
            Some(Reason::MemoryAcceptsAll)
        }
        Rule::Home(event) if of_hazards.contains(&event) && !counts.limits_hazards => {
            let has_queue = counts.limits_queues;
            Some(if has_queue { Reason::NoLineHazards } else { Reason::UnlimitedQueue })
        }
        Rule::DvmOccupancy | Rule::Dvm(DvmEvent::Sync | DvmEvent::SyncStall)
            if !counts.synchronizes =>
        {
            Some(Reason::NoDvmSync)
        }
        Rule::Stall(..) if !counts.limits_links => Some(Reason::NoContention),
        _ => None,
    }
}

fn of_event(
    selector: &Selector,
    (event, occupid): (&Event, u8),
    nodes: &Nodes,
    counts: &MeshCounts,
) -> Result<Counted, CountError> {
    if let Some(reason) = unlimited(event.rule, counts) {
        return Ok(Counted::zero(reason));
    }
    let chosen = selected(selector, event.node, nodes)?;
    let value = match event.rule {
        Rule::Zero(reason) => return Ok(Counted::zero(reason)),
        Rule::Cycles => counts.cycles,
        Rule::Home(home) => {
            chosen.iter().map(|node| counts.of_home(node.logical.into(), home)).sum()
        }
        Rule::Occupancy => {
            let Some(occupant) = OCCUPANTS.get(usize::from(occupid)) else {
                return Ok(Counted::of(0));
            };
            chosen.iter().map(|node| counts.occupied(node.logical.into(), *occupant)).sum()
        }
        Rule::Dvm(dvm) => counts.of_dvm(dvm),
        Rule::DvmOccupancy => DVM_OCCUPANTS
            .get(usize::from(occupid))
            .map_or(0, |occupant| counts.occupied_dvm(*occupant)),
        Rule::Agent(kind, direction, messages) => of_agents(kind, direction, messages, counts),
        Rule::Side(channel, side) => {
            let by_side = counts.flits_by_side(channel);
            chosen.iter().map(|node| by_side[node.crosspoint][side as usize]).sum()
        }
        Rule::Stall(channel, side) => {
            let by_side = counts.stalls_by_side(channel);
            chosen.iter().map(|node| by_side[node.crosspoint][side as usize]).sum()
        }
        Rule::Port(channel, number) => {
            let is_chosen = |port: &&Port| {
                port.number == number
                    && chosen.iter().any(|node| node.crosspoint == port.crosspoint)
            };
            let ports: Vec<&Port> = nodes.ports().iter().filter(is_chosen).collect();
            if ports.is_empty() {
                return Ok(Counted::zero(Reason::NoPort));
            }
            let agents = ports.iter().flat_map(|port| &port.agents);
            let flits = Messages::Flits(channel);
            agents.map(|agent| weigh(*agent, Direction::Down, flits, counts)).sum()
        }
    };
    Ok(Counted::of(value))
}

fn of_agents(
    kind: AgentKind,
    direction: Direction,
    messages: Messages,
    counts: &MeshCounts,
) -> u64 {
    let agents = counts.plan.all().filter(|agent| agent.kind() == kind);
    agents.map(|agent| weigh(agent, direction, messages, counts)).sum()
}

/// Returns what the messages of one agent add up to.
fn weigh(agent: Agent, direction: Direction, messages: Messages, counts: &MeshCounts) -> u64 {
    let all = Message::ALL.iter();
    all.map(|message| messages.weight(*message) * passed(agent, direction, *message, counts)).sum()
}

/// Returns the messages that an agent sent or received.
fn passed(agent: Agent, direction: Direction, message: Message, counts: &MeshCounts) -> u64 {
    match direction {
        Direction::Up => counts.sent(agent, message),
        Direction::Down => counts.received(agent, message),
    }
}

fn of_watchpoint(
    selector: &Selector,
    watchpoint: &Watchpoint,
    nodes: &Nodes,
    counts: &MeshCounts,
) -> Result<Counted, CountError> {
    let chosen = selected(selector, NodeKind::Xp, nodes)?;
    match check_fields(watchpoint) {
        // Only atomics have an operation that the model does not know.
        Err(Unknown(flit::OPCODE)) => return Ok(Counted::zero(Reason::AnyAtomic)),
        checked => checked.map_err(|unknown| unknown_field(selector, watchpoint, unknown))?,
    }
    let is_seen = |port: &&Port| {
        let at_port = match watchpoint.devices {
            Devices::Port(number) => port.number == number,
            Devices::Kind(kind) => port.has(kind),
        };
        at_port && chosen.iter().any(|node| node.crosspoint == port.crosspoint)
    };
    let ports: Vec<&Port> = nodes.ports().iter().filter(is_seen).collect();
    if ports.is_empty() {
        return Ok(Counted::zero(no_port(watchpoint.devices)));
    }
    if !of_channel(watchpoint.channel).any(|message| is_ever_match(message, watchpoint)) {
        return Ok(Counted::zero(Reason::NoSuchMessage));
    }
    let agents = || ports.iter().flat_map(|port| &port.agents);
    if agents().any(|agent| repeats(*agent, watchpoint.direction, counts)) {
        check_tries(watchpoint).map_err(|unknown| unknown_field(selector, watchpoint, unknown))?;
    }
    Ok(Counted::of(agents().map(|agent| flits_of(*agent, watchpoint, counts)).sum()))
}

fn unknown_field(
    selector: &Selector,
    watchpoint: &Watchpoint,
    Unknown(field): Unknown,
) -> CountError {
    let (selector, channel) = (selector.text.clone(), watchpoint.channel.name());
    CountError::UnknownField { selector, field, channel }
}

/// Returns the reason for which a watchpoint sees no port.
fn no_port(devices: Devices) -> Reason {
    match devices {
        Devices::Kind(NodeKind::HnS) => Reason::NoHnS,
        Devices::Kind(NodeKind::HnP) => Reason::NoHnP,
        Devices::Kind(NodeKind::RnD) => Reason::NoRnD,
        Devices::Kind(NodeKind::Sbsx) => Reason::NoSbsx,
        Devices::Kind(_) | Devices::Port(_) => Reason::NoPort,
    }
}

/// Checks that the model knows every field that decides, whatever flits are sent.
fn check_fields(watchpoint: &Watchpoint) -> Result<(), Unknown> {
    for message in of_channel(watchpoint.channel) {
        for of_device in [false, true] {
            is_match(message, of_device, watchpoint)?;
        }
    }
    Ok(())
}

/// Returns whether some requests that an agent sent or received were tried twice.
fn repeats(agent: Agent, direction: Direction, counts: &MeshCounts) -> bool {
    // The answer to a request passes the port in the other direction.
    let answers = match direction {
        Direction::Up => Direction::Down,
        Direction::Down => Direction::Up,
    };
    passed(agent, answers, Message::RetryAck, counts) > 0
}

/// Checks that a watchpoint does not distinguish first tries from others: the model counts
/// requests that are sent again together with these.
fn check_tries(watchpoint: &Watchpoint) -> Result<(), Unknown> {
    let is_request = (watchpoint.channel, watchpoint.group) == (Channel::Req, Group::Primary);
    let name = "allow-retry";
    let selects = flit::field(watchpoint.channel, watchpoint.group, name)
        .is_some_and(|(_, bits)| bits & !watchpoint.mask != 0);
    if is_request && selects { Err(Unknown(name)) } else { Ok(()) }
}

fn of_channel(channel: Channel) -> impl Iterator<Item = Message> {
    Message::ALL.into_iter().filter(move |message| message.channel() == channel)
}

fn is_match(message: Message, of_device: bool, watchpoint: &Watchpoint) -> Result<bool, Unknown> {
    let data: Data = flit::data(message, of_device);
    let Watchpoint { group, value, mask, .. } = *watchpoint;
    Ok(flit::matches(message, data, group, value, mask)? != watchpoint.exclusive)
}

/// Returns whether a message matches, of a device or of another agent. Its fields are checked.
fn is_ever_match(message: Message, watchpoint: &Watchpoint) -> bool {
    [false, true].iter().any(|of_device| is_match(message, *of_device, watchpoint) == Ok(true))
}

/// Returns the flits of one agent that a watchpoint counts. Their fields are checked.
fn flits_of(agent: Agent, watchpoint: &Watchpoint, counts: &MeshCounts) -> u64 {
    let of_device = matches!(agent.kind(), AgentKind::Core | AgentKind::Device);
    let counted = of_channel(watchpoint.channel)
        .filter(|message| is_match(*message, of_device, watchpoint).unwrap_or(false));
    counted
        .map(|message| message.flits() * passed(agent, watchpoint.direction, message, counts))
        .sum()
}

#[cfg(test)]
mod tests;
