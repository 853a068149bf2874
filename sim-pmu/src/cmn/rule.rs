//! Rules by which the model counts an event of the mesh.

use sim_core::chi::{Channel, Message};
use sim_core::mesh_counts::{AgentKind, DvmEvent, HomeEvent, Side};

use super::reason::Reason;

/// Direction of a flit between a device and its crosspoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the device into the mesh.
    Up,
    /// From the mesh to the device.
    Down,
}

impl Direction {
    /// Returns the name, `up` or `down`.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Up => "up",
            Direction::Down => "down",
        }
    }
}

/// Messages of an agent that an event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Messages {
    /// Every flit of a channel.
    Flits(Channel),
    /// Every message of a channel.
    Channel(Channel),
    /// Requests that read.
    Reads,
    /// Requests that write, atomics left out.
    Writes,
    /// Requests for an atomic operation.
    Atomics,
}

impl Messages {
    /// Returns how much one message of this kind adds to the event.
    pub(crate) fn weight(self, message: Message) -> u64 {
        match self {
            Messages::Flits(channel) if message.channel() == channel => message.flits(),
            Messages::Channel(channel) => (message.channel() == channel).into(),
            Messages::Reads => is_read(message).into(),
            Messages::Writes => is_write(message).into(),
            Messages::Atomics => is_atomic(message).into(),
            Messages::Flits(_) => 0,
        }
    }
}

/// Whether a request is a read.
fn is_read(message: Message) -> bool {
    use Message::{MakeReadUnique, ReadNoSnp, ReadNotSharedDirty, ReadUnique};
    matches!(message, ReadNoSnp | ReadNotSharedDirty | ReadUnique | MakeReadUnique)
}

/// Whether a request is a write that is no atomic.
fn is_write(message: Message) -> bool {
    use Message::{WriteBackFull, WriteCleanFull, WriteEvictOrEvict};
    use Message::{WriteNoSnpFull, WriteNoSnpPtl, WriteUniqueFullStash};
    let copies = matches!(message, WriteBackFull | WriteCleanFull | WriteEvictOrEvict);
    copies || matches!(message, WriteNoSnpFull | WriteNoSnpPtl | WriteUniqueFullStash)
}

/// Whether a request is an atomic.
pub(crate) fn is_atomic(message: Message) -> bool {
    matches!(message, Message::AtomicStore | Message::AtomicLoad | Message::AtomicSwap)
}

/// Rule by which an event is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Cycles of the mesh's clock.
    Cycles,
    /// An event of a home node.
    Home(HomeEvent),
    /// Pulses of taken entries of a home node's queue, of the kind of request that the filter
    /// selects.
    Occupancy,
    /// An event of the DVM node.
    Dvm(DvmEvent),
    /// Pulses of taken entries of the DVM node's tracker, of the kind of request that the filter
    /// selects.
    DvmOccupancy,
    /// Messages that the agent of a kind sends (up) or receives (down).
    Agent(AgentKind, Direction, Messages),
    /// Flits of a channel that leave a crosspoint at a side.
    Side(Channel, Side),
    /// Cycles in which flits of a channel wait to leave a crosspoint at a side.
    Stall(Channel, Side),
    /// Flits of a channel that leave a crosspoint to the devices at a port.
    Port(Channel, u8),
    /// Always zero.
    Zero(Reason),
}

impl Rule {
    /// Reads the rule of an event with number `code` from the table.
    pub(crate) fn parse(text: &str, code: u16) -> Option<Rule> {
        match text {
            "home" => find(HomeEvent::ALL, |event| *event as u16 == code).map(Rule::Home),
            "occupancy" => Some(Rule::Occupancy),
            "dvm" => find(DvmEvent::ALL, |event| *event as u16 == code).map(Rule::Dvm),
            "dvm-occupancy" => Some(Rule::DvmOccupancy),
            _ => match Reason::with_name(text) {
                Some(reason) => Some(Rule::Zero(reason)),
                None => agent_rule(text),
            },
        }
    }
}

/// Returns the first value that fits.
fn find<T: Copy>(all: &[T], fits: impl Fn(&T) -> bool) -> Option<T> {
    all.iter().copied().find(fits)
}

/// Reads agent, direction and messages, such as `io.up.req-flits`.
fn agent_rule(text: &str) -> Option<Rule> {
    let mut parts = text.split('.');
    let agent = match parts.next()? {
        "io" => AgentKind::Io,
        "device" => AgentKind::Device,
        "gateway" => AgentKind::Gateway,
        _ => return None,
    };
    let direction = match parts.next()? {
        "up" => Direction::Up,
        "down" => Direction::Down,
        _ => return None,
    };
    let messages = match parts.next()? {
        "reads" => Messages::Reads,
        "writes" => Messages::Writes,
        "atomics" => Messages::Atomics,
        channel => match channel.split_once('-')? {
            (name, "flits") => Messages::Flits(channel_with_name(name)?),
            (name, "messages") => Messages::Channel(channel_with_name(name)?),
            _ => return None,
        },
    };
    Some(Rule::Agent(agent, direction, messages))
}

/// Returns the channel with this name, such as `dat`.
pub(crate) fn channel_with_name(name: &str) -> Option<Channel> {
    find(&Channel::ALL, |channel| channel.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_from_their_text() {
        let io = Rule::Agent(AgentKind::Io, Direction::Up, Messages::Flits(Channel::Req));
        assert_eq!(Rule::parse("io.up.req-flits", 0), Some(io));
        assert_eq!(Rule::parse("home", 1), Some(Rule::Home(HomeEvent::CacheMiss)));
        assert_eq!(Rule::parse("dvm", 1), Some(Rule::Dvm(DvmEvent::Tlbi)));
        assert_eq!(Rule::parse("no-mpam", 0x21), Some(Rule::Zero(Reason::NoMpam)));
        assert_eq!(Rule::parse("home", 0x21), None, "the model does not raise it");
        assert_eq!(Rule::parse("io.sideways.reads", 0), None);
    }

    #[test]
    fn a_request_is_a_read_a_write_an_atomic_or_none_of_them() {
        for message in Message::ALL {
            let kinds = [Messages::Reads, Messages::Writes, Messages::Atomics];
            let weights = kinds.map(|kind| kind.weight(message));
            assert!(weights.iter().sum::<u64>() <= 1, "{}", message.name());
            assert!(weights == [0; 3] || message.channel() == Channel::Req, "{}", message.name());
        }
        assert_eq!(Messages::Flits(Channel::Dat).weight(Message::CompData), 2);
        assert_eq!(Messages::Channel(Channel::Dat).weight(Message::CompData), 1);
        assert_eq!(Messages::Channel(Channel::Rsp).weight(Message::CompData), 0);
    }
}
