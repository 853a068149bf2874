//! Watchpoints: counts of the flits at a port of a crosspoint that match a value, and the named
//! watchpoints of Arm's telemetry of CMN-700.
//!
//! `watchpoints.tsv` has a row for each name after the kind of the device, and the kinds.

use std::sync::LazyLock;

use sim_core::chi::Channel;

use super::flit::{self, Group};
use super::kind::NodeKind;
use super::rule::{Direction, channel_with_name};

/// Table of named watchpoints, columns divided by tabs.
const TABLE: &str = include_str!("watchpoints.tsv");

/// Devices whose flits a watchpoint sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Devices {
    /// Devices at the port with this number.
    Port(u8),
    /// Devices at every port that has one of this kind.
    Kind(NodeKind),
}

/// A watchpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Watchpoint {
    /// Direction of the flits.
    pub direction: Direction,
    /// Devices that send or receive them.
    pub devices: Devices,
    /// Channel.
    pub channel: Channel,
    /// Group of fields that `value` and `mask` describe.
    pub group: Group,
    /// Whether the flits that do not match are counted.
    pub exclusive: bool,
    /// Value of the bits that `mask` does not ignore.
    pub value: u64,
    /// Bits to ignore.
    pub mask: u64,
}

/// A named watchpoint of Arm's telemetry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedWatchpoint {
    /// Name, such as `CMN_RNF_WP_TXREQ_COUNT`.
    pub name: String,
    /// Kind of the device at the port.
    pub node: NodeKind,
    /// Watchpoint, at the ports of this kind.
    pub watchpoint: Watchpoint,
    /// Meaning, one sentence.
    pub text: String,
}

/// Returns every named watchpoint.
pub fn watchpoints() -> &'static [NamedWatchpoint] {
    static WATCHPOINTS: LazyLock<Vec<NamedWatchpoint>> = LazyLock::new(|| {
        let rows = TABLE.lines().skip(1).map(|line| row(line).unwrap_or_else(|| wrong(line)));
        rows.flatten().collect()
    });
    &WATCHPOINTS
}

/// A wrong row is an error of this crate, which a test of the table finds.
fn wrong(line: &str) -> Vec<NamedWatchpoint> {
    unreachable!("row of the table of watchpoints: {line}")
}

fn row(line: &str) -> Option<Vec<NamedWatchpoint>> {
    let mut columns = line.split('\t');
    let mut column = || columns.next();
    let name = column()?;
    let direction = match column()? {
        "up" => Direction::Up,
        "down" => Direction::Down,
        _ => return None,
    };
    let channel = channel_with_name(column()?)?;
    let group = match column()? {
        "primary" => Group::Primary,
        "secondary" => Group::Secondary,
        _ => return None,
    };
    let fields = column()?;
    let (value, mask) = value_and_mask(channel, group, fields)?;
    let kinds = column()?.split(',').map(NodeKind::with_name);
    let of_kind = |kind: Option<NodeKind>| {
        let node = kind?;
        let name = format!("CMN_{}_WP_{name}", node.name().replace('-', ""));
        let devices = Devices::Kind(node);
        let watchpoint =
            Watchpoint { direction, devices, channel, group, exclusive: false, value, mask };
        let text = text(node, direction, channel, fields);
        Some(NamedWatchpoint { name, node, watchpoint, text })
    };
    kinds.map(of_kind).collect()
}

/// Returns value and mask of fields such as `opcode=0x26,allow-retry=1`.
fn value_and_mask(channel: Channel, group: Group, fields: &str) -> Option<(u64, u64)> {
    let (mut value, mut mask) = (0, flit::ignore_all(channel, group));
    for text in fields.split(',').filter(|text| *text != "-") {
        let (name, number) = text.split_once('=')?;
        let number = match number.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        let (first, bits) = flit::field(channel, group, name)?;
        value |= number << first;
        mask &= !bits;
    }
    Some((value, mask))
}

fn text(node: NodeKind, direction: Direction, channel: Channel, fields: &str) -> String {
    let action = match direction {
        Direction::Up => "send",
        Direction::Down => "receive",
    };
    let (channel, node) = (channel.name().to_uppercase(), node.name());
    let condition = match fields {
        "-" => String::new(),
        _ => format!(" with {}", fields.replace('=', " ").replace(',', " and ")),
    };
    format!("Flits of channel {channel}{condition} that the devices at ports of {node} {action}.")
}

/// Returns the watchpoint with this name. Upper and lower case are the same.
pub fn watchpoint_with_name(name: &str) -> Option<&'static NamedWatchpoint> {
    watchpoints().iter().find(|own| own.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_row_of_the_table_is_read() {
        let wrong: Vec<&str> = TABLE.lines().skip(1).filter(|line| row(line).is_none()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        // Arm's telemetry of CMN-700 has 299.
        assert_eq!(watchpoints().len(), 299);
        let names: HashSet<&str> = watchpoints().iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names.len(), 299);
    }

    #[test]
    fn value_and_mask_are_those_of_the_telemetry() {
        let of = |name: &str| watchpoint_with_name(name).map(|own| own.watchpoint);
        let unique = of("CMN_HNF_WP_RXREQ_READUNIQUE_COUNT").expect("reads for ownership");
        assert_eq!((unique.value, unique.mask), (0x100_E000_0000, 0xFFFF_FEF0_1FFF_FFFF));
        assert_eq!((unique.direction, unique.channel), (Direction::Down, Channel::Req));
        let line = of("cmn_snf_wp_64b_rxreq_count").expect("lines from memory");
        assert_eq!((line.value, line.mask), (0x160_0000_0000, 0xFFFF_FE8F_FFFF_FFFF));
        let retry = of("CMN_HNI_WP_TXRSP_RETRY_COUNT").expect("retries");
        assert_eq!((retry.value, retry.mask), (0x1_8000, 0x3F_FFFF_FFF0_7FFF));
        let snoop = of("CMN_RNF_WP_RXSNP_SNPUNIQUEFWD_COUNT").expect("snoops");
        assert_eq!((snoop.value, snoop.mask), (0x2_E000_0000, 0x3F_FFF8_1FFF_FFFF));
        let data = of("CMN_CCG_WP_TXDAT_COUNT").expect("data");
        assert_eq!((data.group, data.mask), (Group::Secondary, 0xFF_FFFF_FFFF_FFFF));
    }

    #[test]
    fn the_text_says_the_devices_and_the_fields() {
        let own = watchpoint_with_name("CMN_RNF_WP_64B_TXREQ_COUNT").expect("requests of cores");
        let text = "Flits of channel REQ with size 6 that the devices at ports of RN-F send.";
        assert_eq!(own.text, text);
    }
}
