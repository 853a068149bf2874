//! Fields of a flit that a watchpoint matches, and what the model knows of them.
//!
//! The model knows the operation of a message and the size of its data. It does not know which
//! single agents a flit names, nor addresses, classes and transaction numbers.

use sim_core::chi::{Channel, Message};

use super::rule::is_atomic;

/// Group of the fields that a watchpoint sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// Identifiers, operation, size.
    Primary,
    /// Address, class; operation of data.
    Secondary,
}

impl Group {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Group::Primary => "primary",
            Group::Secondary => "secondary",
        }
    }
}

/// A field: name, first bit, bits.
pub(crate) type Field = (&'static str, u32, u32);

pub(crate) const OPCODE: &str = "opcode";
const SIZE: &str = "size";
const ALLOW_RETRY: &str = "allow-retry";

/// Size of a line: 2^6 bytes.
const LINE_SIZE: u64 = 6;

const OTHER_AGENT: &str = "id of the other agent";
const CLASS: &str = "class of quality of service";

const REQ_PRIMARY: &[Field] = &[
    (OTHER_AGENT, 0, 11),
    ("id of the agent to return to", 11, 11),
    ("stash or endianness", 22, 1),
    (OPCODE, 29, 7),
    (SIZE, 36, 3),
    ("non-secure", 39, 1),
    (ALLOW_RETRY, 40, 1),
    ("order", 41, 2),
    ("type of the credit", 43, 4),
    ("logical processor", 47, 5),
    ("group", 52, 3),
    ("expects CompAck", 55, 1),
    ("reserved", 56, 8),
];
const REQ_SECONDARY: &[Field] = &[
    (CLASS, 0, 4),
    ("address", 4, 52),
    ("likely shared", 56, 1),
    ("memory attributes", 57, 4),
    ("snoop attribute", 61, 1),
    ("exclusive", 62, 1),
    ("trace tag", 63, 1),
];
const RSP_PRIMARY: &[Field] = &[
    (CLASS, 0, 4),
    (OTHER_AGENT, 4, 11),
    (OPCODE, 15, 5),
    ("error", 20, 2),
    ("response state", 22, 3),
    ("forwarded state", 25, 3),
    ("busy", 28, 3),
    ("buffer id", 31, 12),
    ("type of the credit", 43, 4),
    ("trace tag", 49, 1),
    ("device event", 50, 2),
];
// Arm's telemetry has the operation of a snoop at bit 29, Arm's cmn-tools at bit 30. The telemetry
// is followed here, whose watchpoints have no other use.
const SNP_PRIMARY: &[Field] = &[
    (OTHER_AGENT, 0, 11),
    ("transaction to forward", 11, 8),
    ("id of the agent to forward to", 19, 10),
    (OPCODE, 29, 6),
    ("non-secure", 35, 1),
    ("do not go to shared dirty", 36, 1),
    ("return to source", 37, 1),
    ("trace tag", 38, 1),
    (CLASS, 39, 4),
    ("partition", 43, 11),
];
const SNP_SECONDARY: &[Field] = &[(OTHER_AGENT, 0, 11), ("address", 11, 49)];
const DAT_PRIMARY: &[Field] = &[
    (CLASS, 0, 4),
    (OTHER_AGENT, 4, 11),
    ("id of the home node", 15, 11),
    (OPCODE, 26, 4),
    ("error", 30, 2),
    ("response state", 32, 3),
    ("data source", 35, 4),
    ("busy", 39, 3),
    ("buffer id", 42, 12),
    ("number of the flit", 54, 4),
    ("poison", 58, 4),
    ("device event", 62, 2),
];
const DAT_SECONDARY: &[Field] = &[
    (OTHER_AGENT, 0, 11),
    (OPCODE, 11, 4),
    ("error", 15, 2),
    ("response state", 17, 3),
    ("memory tag", 20, 12),
    ("buffer id", 32, 12),
    ("trace tag", 44, 1),
    ("valid chunks", 45, 2),
    ("device event", 47, 2),
    ("reserved", 49, 7),
];

/// Returns the fields of a group, and its bits. Bits beyond them are zero in every flit.
fn fields(channel: Channel, group: Group) -> (&'static [Field], u32) {
    match (channel, group) {
        (Channel::Req, Group::Primary) => (REQ_PRIMARY, 64),
        (Channel::Req, Group::Secondary) => (REQ_SECONDARY, 64),
        (Channel::Rsp, Group::Primary) => (RSP_PRIMARY, 54),
        (Channel::Rsp, Group::Secondary) => (&[], 54),
        (Channel::Snp, Group::Primary) => (SNP_PRIMARY, 54),
        (Channel::Snp, Group::Secondary) => (SNP_SECONDARY, 60),
        (Channel::Dat, Group::Primary) => (DAT_PRIMARY, 64),
        (Channel::Dat, Group::Secondary) => (DAT_SECONDARY, 56),
    }
}

/// Returns a mask of the lowest bits.
fn low(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits).unwrap_or(0)
}

/// Returns the mask that ignores every bit of a group.
pub(crate) fn ignore_all(channel: Channel, group: Group) -> u64 {
    low(fields(channel, group).1)
}

/// Returns the first bit and the mask of a field, by name.
pub(crate) fn field(channel: Channel, group: Group, name: &str) -> Option<(u32, u64)> {
    let (all, _) = fields(channel, group);
    let (_, first, bits) = all.iter().find(|(own, ..)| *own == name)?;
    Some((*first, low(*bits) << first))
}

/// Data of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// A whole line.
    Line,
    /// Less than a line; the model does not know how much.
    Less,
}

/// Returns the size of a message of a device or to one (`of_device`), or of another.
pub(crate) fn data(message: Message, of_device: bool) -> Data {
    let partial = matches!(message, Message::WriteNoSnpPtl | Message::DVMOp);
    match partial || is_atomic(message) || (of_device && message == Message::ReadNoSnp) {
        true => Data::Less,
        false => Data::Line,
    }
}

/// Returns the lowest bits of the operation code that the model does not know: those that say which
/// atomic operation it is, such as an addition. A compare-and-swap is not distinguished from others
/// that return the old value.
fn unknown_bits(message: Message) -> u32 {
    match message {
        Message::AtomicStore => 3,
        Message::AtomicLoad | Message::AtomicSwap => 4,
        _ => 0,
    }
}

/// Content of a flit as far as the model knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Content {
    /// Known bits.
    known: u64,
    /// Their values.
    value: u64,
}

impl Content {
    fn with(self, channel: Channel, group: Group, name: &str, number: u64) -> Content {
        let Some((first, mask)) = field(channel, group, name) else { return self };
        let value = (self.value & !mask) | ((number << first) & mask);
        Content { known: self.known | mask, value }
    }
}

/// A field that a watchpoint selects and the model does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unknown(pub(crate) &'static str);

/// Returns whether the flits of a message match: all bits that `mask` does not ignore equal those
/// of `value`.
pub(crate) fn matches(
    message: Message,
    data: Data,
    group: Group,
    value: u64,
    mask: u64,
) -> Result<bool, Unknown> {
    let channel = message.channel();
    let (_, bits) = fields(channel, group);
    let beyond = Content { known: !low(bits), value: 0 };
    let mut content = beyond.with(channel, group, OPCODE, message.opcode().into());
    content = content.with(channel, group, ALLOW_RETRY, 1);
    if let Some((first, _)) = field(channel, group, OPCODE) {
        content.known &= !(low(unknown_bits(message)) << first);
    }
    let sizes = match data {
        Data::Line => LINE_SIZE..=LINE_SIZE,
        Data::Less => 0..=LINE_SIZE - 1,
    };
    let mut answers = sizes.map(|size| {
        let content = content.with(channel, group, SIZE, size);
        matches_content(content, channel, group, value, !mask)
    });
    let Some(first) = answers.next() else { return Ok(false) };
    let first = first?;
    for answer in answers {
        if answer? != first {
            return Err(Unknown(SIZE));
        }
    }
    Ok(first)
}

fn matches_content(
    content: Content,
    channel: Channel,
    group: Group,
    value: u64,
    selected: u64,
) -> Result<bool, Unknown> {
    if (content.value ^ value) & content.known & selected != 0 {
        return Ok(false);
    }
    match selected & !content.known {
        0 => Ok(true),
        unknown => Err(Unknown(name_of_bit(channel, group, unknown.trailing_zeros()))),
    }
}

/// Returns the name of the field with this bit.
fn name_of_bit(channel: Channel, group: Group, bit: u32) -> &'static str {
    let holds = |(_, first, bits): &&Field| (*first..first + bits).contains(&bit);
    fields(channel, group).0.iter().find(holds).map_or("other bits", |(name, ..)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First tries of ReadUnique.
    const READ_UNIQUE: (u64, u64) = (0x100_E000_0000, 0xFFFF_FEF0_1FFF_FFFF);

    #[test]
    fn which_atomic_operation_a_flit_asks_for_is_not_known() {
        let is = |opcode: u64, message| {
            let (value, mask) = (opcode << 29, !(0x7F << 29));
            matches(message, Data::Less, Group::Primary, value, mask)
        };
        for (opcode, message) in [(0x30, Message::AtomicLoad), (0x39, Message::AtomicSwap)] {
            assert_eq!(is(opcode, message), Err(Unknown(OPCODE)));
        }
        assert_eq!(is(0x28, Message::AtomicStore), Err(Unknown(OPCODE)));
        assert_eq!(is(0x30, Message::AtomicStore), Ok(false));
        assert_eq!(is(0x07, Message::AtomicLoad), Ok(false));
    }

    #[test]
    fn a_flit_matches_by_its_operation() {
        let (value, mask) = READ_UNIQUE;
        let is = |message| matches(message, data(message, false), Group::Primary, value, mask);
        assert_eq!(is(Message::ReadUnique), Ok(true));
        assert_eq!(is(Message::ReadNoSnp), Ok(false));
        assert_eq!(is(Message::AtomicLoad), Ok(false));
        let again = matches(Message::ReadUnique, Data::Line, Group::Primary, 0xE000_0000, mask);
        assert_eq!(again, Ok(false), "AllowRetry is 1");
    }

    #[test]
    fn a_line_has_size_six_and_less_is_unknown() {
        let is = |message, size: u64| {
            let mask = !(7 << 36);
            matches(message, data(message, false), Group::Primary, size << 36, mask)
        };
        assert_eq!(is(Message::ReadUnique, 6), Ok(true));
        assert_eq!(is(Message::ReadUnique, 3), Ok(false));
        assert_eq!(is(Message::AtomicLoad, 6), Ok(false));
        assert_eq!(is(Message::AtomicLoad, 3), Err(Unknown("size")));
        let device = data(Message::ReadNoSnp, true);
        assert_eq!((device, data(Message::ReadNoSnp, false)), (Data::Less, Data::Line));
    }

    #[test]
    fn a_selected_field_that_the_model_does_not_know_is_named() {
        let is = |message: Message, group, mask| matches(message, Data::Line, group, 0, mask);
        let unknown = |name| Err(Unknown(name));
        let request = Message::ReadUnique;
        assert_eq!(is(request, Group::Primary, !0x7FF), unknown("id of the other agent"));
        assert_eq!(is(request, Group::Secondary, !(1 << 20)), unknown("address"));
        assert_eq!(is(request, Group::Secondary, !0xF), unknown("class of quality of service"));
        assert_eq!(is(request, Group::Secondary, u64::MAX), Ok(true));
        assert_eq!(is(Message::CompAck, Group::Primary, !(1 << 60)), Ok(true), "no such bit");
    }

    #[test]
    fn bits_of_a_group_are_ignored_by_the_mask_of_the_telemetry() {
        assert_eq!(ignore_all(Channel::Req, Group::Primary), u64::MAX);
        assert_eq!(ignore_all(Channel::Rsp, Group::Primary), 0x3F_FFFF_FFFF_FFFF);
        assert_eq!(ignore_all(Channel::Dat, Group::Secondary), 0xFF_FFFF_FFFF_FFFF);
        for channel in Channel::ALL {
            for group in [Group::Primary, Group::Secondary] {
                let (all, bits) = fields(channel, group);
                let used: Vec<u64> = all.iter().map(|(_, first, n)| low(*n) << first).collect();
                assert_eq!(used.iter().fold(0, |sum, mask| sum | mask) & !low(bits), 0);
                let sum: u32 = used.iter().map(|mask| mask.count_ones()).sum();
                let union = used.iter().fold(0, |sum, mask| sum | mask);
                assert_eq!(sum, union.count_ones(), "fields overlap");
            }
        }
    }
}
