//! Events of crosspoints: a rule makes them from channel, interface and what is counted.

use sim_core::chi::Channel;
use sim_core::mesh_counts::Side;

use super::events::Event;
use super::kind::NodeKind;
use super::reason::Reason;
use super::rule::Rule;

/// Channels in the order of their numbers: name, and the channel of the model.
const CHANNELS: [(&str, Option<Channel>); 9] = [
    ("req", Some(Channel::Req)),
    ("rsp", Some(Channel::Rsp)),
    ("snp", Some(Channel::Snp)),
    ("dat", Some(Channel::Dat)),
    ("pub", None),
    ("rsp2", None),
    ("dat2", None),
    ("req2", None),
    ("snp2", None),
];

/// Number of the channel of internal messages.
const PUBLIC: usize = 4;

/// Interfaces in the order of their numbers: name in Linux, in Arm's telemetry, in text.
const INTERFACES: [(&str, &str, &str); 8] = [
    ("e", "EASTPORT", "to the east"),
    ("w", "WESTPORT", "to the west"),
    ("n", "NORTHPORT", "to the north"),
    ("s", "SOUTHPORT", "to the south"),
    ("p0", "DEVICEPORT0", "to the devices at port 0"),
    ("p1", "DEVICEPORT1", "to the devices at port 1"),
    ("p2", "DEVICEPORT2", "to the devices at port 2"),
    ("p3", "DEVICEPORT3", "to the devices at port 3"),
];

const SIDES: [Side; 4] = [Side::East, Side::West, Side::North, Side::South];

/// Counted things: number, name in Linux, end of the name in Arm's telemetry.
const COUNTED: [(u16, &str, &str); 3] = [
    (1, "txflit_valid", "COUNT"),
    (2, "txflit_stall", "STALL_COUNT"),
    (3, "partial_dat_flit", "PARTIAL_DAT_FLIT_COUNT"),
];

/// Returns all events of crosspoints.
pub(super) fn events() -> impl Iterator<Item = Event> {
    (0..CHANNELS.len()).flat_map(|channel| {
        (0..INTERFACES.len())
            .flat_map(move |interface| COUNTED.map(|counted| event(channel, interface, counted)))
    })
}

fn event(channel: usize, interface: usize, (what, linux, arm): (u16, &str, &str)) -> Event {
    let name = CHANNELS[channel].0;
    let (side, arm_side, to) = INTERFACES[interface];
    let upper = name.to_uppercase();
    // Arm's telemetry has no device ports of second channels.
    let has_arm_name = channel <= PUBLIC || interface < SIDES.len();
    let has_linux_name = what != 3 || (matches!(name, "dat" | "dat2") && interface >= SIDES.len());
    let text = match what {
        1 => format!("A flit of channel {upper} leaves {to}."),
        2 => format!("Cycles in which a flit of channel {upper} waits for a credit {to}."),
        _ => format!("A flit of channel {upper} with part of its data leaves {to}."),
    };
    Event {
        node: NodeKind::Xp,
        code: (channel as u16) << 5 | (interface as u16) << 2 | what,
        arm: has_arm_name.then(|| format!("CMN_XP_TX{upper}_{arm_side}_{arm}")),
        linux: has_linux_name.then(|| format!("mxp_{side}_{name}_{linux}")).into_iter().collect(),
        filter: None,
        rule: rule(channel, interface, what),
        text: text.into(),
    }
}

fn rule(channel: usize, interface: usize, what: u16) -> Rule {
    match (CHANNELS[channel].1, what) {
        (None, _) if channel == PUBLIC => Rule::Zero(Reason::NoPublicChannel),
        (None, _) => Rule::Zero(Reason::NoSecondChannel),
        (Some(channel), 1) => match SIDES.get(interface) {
            Some(side) => Rule::Side(channel, *side),
            None => Rule::Port(channel, (interface - SIDES.len()) as u8),
        },
        (Some(channel), 2) => match SIDES.get(interface) {
            Some(side) => Rule::Stall(channel, *side),
            None => Rule::Zero(Reason::NoCredits),
        },
        (Some(_), _) => Rule::Zero(Reason::NoPartialFlits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_hold_channel_interface_and_what_is_counted() {
        let all: Vec<Event> = events().collect();
        assert_eq!(all.len(), 9 * 8 * 3);
        let named = |arm: &str| all.iter().find(|event| event.arm.as_deref() == Some(arm));
        let east = named("CMN_XP_TXDAT_EASTPORT_COUNT").expect("east");
        assert_eq!((east.code, east.linux[0].as_str()), (0x61, "mxp_e_dat_txflit_valid"));
        assert_eq!(east.rule, Rule::Side(Channel::Dat, Side::East));
        let port = named("CMN_XP_TXREQ_DEVICEPORT3_COUNT").expect("port 3");
        assert_eq!((port.code, port.rule), (0x1D, Rule::Port(Channel::Req, 3)));
        let stall = named("CMN_XP_TXSNP2_WESTPORT_STALL_COUNT").expect("second channel");
        let waits = named("CMN_XP_TXDAT_EASTPORT_STALL_COUNT").expect("east");
        assert_eq!(waits.rule, Rule::Stall(Channel::Dat, Side::East));
        assert_eq!((stall.code, stall.rule), (0x106, Rule::Zero(Reason::NoSecondChannel)));
        let partial = named("CMN_XP_TXDAT_WESTPORT_PARTIAL_DAT_FLIT_COUNT").expect("partial");
        assert!(partial.linux.is_empty(), "Linux counts them at device ports only");
    }
}
