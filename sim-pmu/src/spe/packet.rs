//! One packet of the profile format: a header of one or two bytes and 0, 1, 2, 4 or 8 bytes behind it
//! (SPE supplement 5.2 and 5.3).

use super::operation_type::{OperationClass, OperationType};

/// Bytes of a payload: the size field of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// One byte.
    Byte,
    /// Two.
    Half,
    /// Four.
    Word,
    /// Eight.
    Double,
}

impl Width {
    /// The width in bits 5:4 of a header byte.
    pub fn of_header(header: u8) -> Width {
        match header >> 4 & 3 {
            0 => Width::Byte,
            1 => Width::Half,
            2 => Width::Word,
            _ => Width::Double,
        }
    }

    /// Bytes.
    pub fn bytes(self) -> usize {
        1 << self as usize
    }

    /// In the place where headers have it.
    fn field(self) -> u8 {
        (self as u8) << 4
    }
}

/// Which address a packet gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// The instruction.
    Pc = 0,
    /// Where a branch went.
    Target = 1,
    /// Virtual address of data.
    Virtual = 2,
    /// Physical address of data.
    Physical = 3,
    /// Target of the taken branch before (SPEv1p2).
    PreviousTarget = 4,
}

impl AddressKind {
    /// The packet with its short header.
    pub fn packet(self, value: u64) -> Packet {
        Packet::Address { index: self as u8, value, extended: false }
    }
}

/// Which latency a packet gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterKind {
    /// Dispatch to completion.
    Total = 0,
    /// Dispatch to issue.
    Issue = 1,
    /// Translation.
    Translation = 2,
}

impl CounterKind {
    /// The packet with its short header.
    pub fn packet(self, value: u16) -> Packet {
        Packet::Counter { index: self as u8, value, extended: false }
    }
}

/// Which context register a packet gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextKind {
    /// `CONTEXTIDR_EL1`.
    El1 = 0,
    /// `CONTEXTIDR_EL2`.
    El2 = 1,
}

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// One byte of padding.
    Padding,
    /// The end of a record without timestamp.
    End,
    /// The next packet is at a multiple of `2 << size` bytes.
    Alignment {
        /// 0 to 15.
        size: u8,
    },
    /// The end of a record with a timestamp.
    Timestamp(u64),
    /// What the operation met.
    Events {
        /// Bits that were not output are 0.
        bits: u64,
        /// Bytes of the payload.
        width: Width,
    },
    /// Where a load got its data.
    DataSource {
        /// Its number.
        value: u16,
        /// One or two bytes.
        width: Width,
    },
    /// A context register.
    Context {
        /// 0 for EL1, 1 for EL2; 2 and 3 are reserved.
        index: u8,
        /// Its value.
        value: u32,
    },
    /// The kind of operation.
    Operation(OperationType),
    /// A latency.
    Counter {
        /// 0 to 31.
        index: u8,
        /// Its value.
        value: u16,
        /// Its header has two bytes, as it must from index 8 on.
        extended: bool,
    },
    /// An address.
    Address {
        /// 0 to 31.
        index: u8,
        /// The payload with all its fields.
        value: u64,
        /// Its header has two bytes, as it must from index 8 on.
        extended: bool,
    },
    /// A packet of no known kind, skipped by the size in its header.
    Unknown {
        /// Its header byte; for an extended one the second.
        header: u8,
        /// The first byte of an extended header.
        prefix: Option<u8>,
        /// Its payload.
        value: u64,
    },
}

/// Why no packet could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// The stream ends inside the packet.
    #[error("the stream ends inside a packet")]
    Truncated,
    /// A header that is reserved and has no size field, so that nothing says how far to skip.
    #[error("0x{0:02x} is no packet header")]
    NoHeader(u8),
}

/// Headers without index or class.
const PADDING: u8 = 0x00;
const END: u8 = 0x01;
const TIMESTAMP: u8 = 0x71;
/// Bits 7:5 of the first byte of an extended header.
const PREFIX: u8 = 0x20;
/// Headers with their index, class or size taken out.
const EVENTS: u8 = 0x42;
const DATA_SOURCE: u8 = 0x43;
const CONTEXT: u8 = 0x64;
const OPERATION: u8 = 0x48;
const COUNTER: u8 = 0x98;
const ADDRESS: u8 = 0xb0;

impl Packet {
    /// Reads the packet at the start of `bytes`, and how many of them it takes. What an alignment
    /// command skips is not among them.
    pub fn decode(bytes: &[u8]) -> Result<(Packet, usize), PacketError> {
        let header = *bytes.first().ok_or(PacketError::Truncated)?;
        match header {
            PADDING => Ok((Packet::Padding, 1)),
            END => Ok((Packet::End, 1)),
            _ if header & 0xe0 == PREFIX => {
                let second = *bytes.get(1).ok_or(PacketError::Truncated)?;
                if second == 0 && header & 0x10 == 0 {
                    return Ok((Packet::Alignment { size: header & 0xf }, 2));
                }
                let (packet, taken) = payload_packet(&bytes[1..], second, Some(header))?;
                Ok((packet, taken + 1))
            }
            _ => payload_packet(bytes, header, None),
        }
    }

    /// The bytes of the packet.
    pub fn encode(&self) -> PacketBytes {
        let mut out = PacketBytes::default();
        match *self {
            Packet::Padding => out.push(PADDING),
            Packet::End => out.push(END),
            Packet::Alignment { size } => {
                out.push(PREFIX | size & 0xf);
                out.push(0);
            }
            Packet::Timestamp(time) => out.header_and(TIMESTAMP, time),
            Packet::Events { bits, width } => out.header_and(EVENTS | width.field(), bits),
            Packet::DataSource { value, width } => {
                out.header_and(DATA_SOURCE | width.field(), u64::from(value));
            }
            Packet::Context { index, value } => {
                out.header_and(CONTEXT | index & 3, u64::from(value));
            }
            Packet::Operation(kind) => {
                out.header_and(OPERATION | kind.class.bits(), u64::from(kind.payload));
            }
            Packet::Counter { index, value, extended } => {
                out.indexed(COUNTER, index, extended, u64::from(value));
            }
            Packet::Address { index, value, extended } => {
                out.indexed(ADDRESS, index, extended, value);
            }
            Packet::Unknown { header, prefix, value } => {
                if let Some(prefix) = prefix {
                    out.push(prefix);
                }
                out.header_and(header, value);
            }
        }
        out
    }
}

/// Reads a packet whose header byte `header`, the first of `bytes`, has a size field.
fn payload_packet(
    bytes: &[u8],
    header: u8,
    prefix: Option<u8>,
) -> Result<(Packet, usize), PacketError> {
    if header & 0xc0 == 0 {
        return Err(PacketError::NoHeader(prefix.unwrap_or(header)));
    }
    let width = Width::of_header(header);
    let payload = bytes.get(1..=width.bytes()).ok_or(PacketError::Truncated)?;
    let mut wide = [0; 8];
    wide[..payload.len()].copy_from_slice(payload);
    let value = u64::from_le_bytes(wide);
    let packet = match prefix {
        None => short_packet(header, width, value),
        Some(prefix) => extended_packet(header, prefix, value),
    };
    Ok((packet, 1 + width.bytes()))
}

fn short_packet(header: u8, width: Width, value: u64) -> Packet {
    match header {
        TIMESTAMP => Packet::Timestamp(value),
        _ if header & 0xcf == EVENTS => Packet::Events { bits: value, width },
        // Of a data source the two larger sizes have no meaning.
        _ if header & 0xef == DATA_SOURCE => Packet::DataSource { value: value as u16, width },
        _ if header & 0xfc == CONTEXT => Packet::Context { index: header & 3, value: value as u32 },
        _ if header & 0xfc == OPERATION => Packet::Operation(OperationType {
            class: OperationClass::from_bits(header),
            payload: value as u8,
        }),
        _ if header & 0xf8 == COUNTER => {
            Packet::Counter { index: header & 7, value: value as u16, extended: false }
        }
        _ if header & 0xf8 == ADDRESS => {
            Packet::Address { index: header & 7, value, extended: false }
        }
        _ => Packet::Unknown { header, prefix: None, value },
    }
}

fn extended_packet(header: u8, prefix: u8, value: u64) -> Packet {
    let index = (prefix & 3) << 3 | header & 7;
    match header & 0xf8 {
        COUNTER if prefix & 0xfc == PREFIX => {
            Packet::Counter { index, value: value as u16, extended: true }
        }
        ADDRESS if prefix & 0xfc == PREFIX => Packet::Address { index, value, extended: true },
        _ => Packet::Unknown { header, prefix: Some(prefix), value },
    }
}

/// The bytes of one packet: at most two of header and eight of payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketBytes {
    bytes: [u8; 10],
    len: usize,
}

impl std::ops::Deref for PacketBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl PacketBytes {
    fn push(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    /// A header and as many bytes of `value` as its size field says.
    fn header_and(&mut self, header: u8, value: u64) {
        self.push(header);
        for byte in &value.to_le_bytes()[..Width::of_header(header).bytes()] {
            self.push(*byte);
        }
    }

    /// A packet with an index: the short header where it fits, unless the long one is asked for.
    fn indexed(&mut self, header: u8, index: u8, extended: bool, value: u64) {
        if extended || index > 7 {
            self.push(PREFIX | index >> 3 & 3);
        }
        self.header_and(header | index & 7, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_extended_headers_name_the_same_packet() {
        let short = Packet::decode(&[0x99, 7, 0]);
        assert_eq!(short, Ok((CounterKind::Issue.packet(7), 3)));
        let extended = Packet::Counter { index: 1, value: 7, extended: true };
        assert_eq!(Packet::decode(&[0x20, 0x99, 7, 0]), Ok((extended, 4)));
        let far = Packet::Address { index: 0x1b, value: 5, extended: true };
        assert_eq!(far.encode()[..3], [0x23, 0xb3, 5]);
        assert_eq!(Packet::decode(&far.encode()), Ok((far, 10)));
    }

    #[test]
    fn an_unknown_packet_is_skipped_by_its_size_field() {
        // S.PKT.16: one header of each size, and an extended one.
        for (header, size) in [(0xc0, 1), (0xd5, 2), (0xe7, 4), (0xff, 8), (0x78, 8)] {
            let bytes = [header, 1, 0, 0, 0, 0, 0, 0, 0, 0];
            let unknown = Packet::Unknown { header, prefix: None, value: 1 };
            assert_eq!(Packet::decode(&bytes), Ok((unknown, 1 + size)), "0x{header:02x}");
        }
        let unknown = Packet::Unknown { header: 0x40, prefix: Some(0x2f), value: 9 };
        assert_eq!(Packet::decode(&[0x2f, 0x40, 9]), Ok((unknown, 3)));
    }

    #[test]
    fn what_has_no_size_or_no_rest_is_refused() {
        assert_eq!(Packet::decode(&[0x02, 0]), Err(PacketError::NoHeader(0x02)));
        assert_eq!(Packet::decode(&[0x20, 0x3f]), Err(PacketError::NoHeader(0x20)));
        assert_eq!(Packet::decode(&[0x30, 0x00]), Err(PacketError::NoHeader(0x30)));
        for cut in [&[][..], &[0x20], &[0xb0, 1, 2], &[0x20, 0xb0, 1], &[0x71]] {
            assert_eq!(Packet::decode(cut), Err(PacketError::Truncated), "{cut:?}");
        }
    }

    #[test]
    fn an_alignment_command_is_two_bytes() {
        for size in 0..16 {
            let command = Packet::Alignment { size };
            assert_eq!(command.encode()[..], [0x20 | size, 0]);
            assert_eq!(Packet::decode(&command.encode()), Ok((command, 2)));
        }
    }
}
