//! Packet of the profile format: a header of one or two bytes, followed by 0, 1, 2, 4 or 8 bytes
//! (SPE supplement 5.2 and 5.3).

use super::operation_type::{OperationClass, OperationType};

/// Size of a payload, as in the size field of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// One byte.
    Byte,
    /// Two bytes.
    Half,
    /// Four bytes.
    Word,
    /// Eight bytes.
    Double,
}

impl Width {
    /// Returns the width in bits 5:4 of a header byte.
    pub fn of_header(header: u8) -> Width {
        match header >> 4 & 3 {
            0 => Width::Byte,
            1 => Width::Half,
            2 => Width::Word,
            _ => Width::Double,
        }
    }

    /// Returns the size in bytes.
    pub fn bytes(self) -> usize {
        1 << self as usize
    }

    /// Returns the size field at its position in a header.
    fn field(self) -> u8 {
        (self as u8) << 4
    }
}

/// Kind of an address packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// Address of the instruction.
    Pc = 0,
    /// Branch target.
    Target = 1,
    /// Virtual address of data.
    Virtual = 2,
    /// Physical address of data.
    Physical = 3,
    /// Target of the previous taken branch (SPEv1p2).
    PreviousTarget = 4,
}

impl AddressKind {
    /// Returns the address packet with its short header.
    pub fn packet(self, value: u64) -> Packet {
        Packet::Address { index: self as u8, value, extended: false }
    }
}

/// Kind of a latency packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterKind {
    /// Dispatch to completion.
    Total = 0,
    /// Dispatch to issue.
    Issue = 1,
    /// Address translation.
    Translation = 2,
}

impl CounterKind {
    /// Returns the latency packet with its short header.
    pub fn packet(self, value: u16) -> Packet {
        Packet::Counter { index: self as u8, value, extended: false }
    }
}

/// Kind of a context packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextKind {
    /// `CONTEXTIDR_EL1`.
    El1 = 0,
    /// `CONTEXTIDR_EL2`.
    El2 = 1,
}

/// Packet of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// One byte of padding.
    Padding,
    /// End of a record without timestamp.
    End,
    /// Alignment command: the next packet is at a multiple of `2 << size` bytes.
    Alignment {
        /// Size exponent, 0 to 15.
        size: u8,
    },
    /// Timestamp, which ends a record.
    Timestamp(u64),
    /// Events of the operation.
    Events {
        /// Event bits. Bits that were not output are 0.
        bits: u64,
        /// Size of the payload.
        width: Width,
    },
    /// Data source of a load.
    DataSource {
        /// Number of the source.
        value: u16,
        /// Size of the payload, one or two bytes.
        width: Width,
    },
    /// Context register.
    Context {
        /// Register: 0 for EL1, 1 for EL2; 2 and 3 are reserved.
        index: u8,
        /// Value of the register.
        value: u32,
    },
    /// Kind of operation.
    Operation(OperationType),
    /// Latency.
    Counter {
        /// Index, 0 to 31.
        index: u8,
        /// Latency in cycles.
        value: u16,
        /// The header has two bytes, as required from index 8 on.
        extended: bool,
    },
    /// Address.
    Address {
        /// Index, 0 to 31.
        index: u8,
        /// Payload with all its fields.
        value: u64,
        /// The header has two bytes, as required from index 8 on.
        extended: bool,
    },
    /// Packet of an unknown kind, skipped by the size in its header.
    Unknown {
        /// Header byte; the second one of an extended header.
        header: u8,
        /// First byte of an extended header.
        prefix: Option<u8>,
        /// Payload.
        value: u64,
    },
}

/// Reason why no packet can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// The stream ends inside the packet.
    #[error("the stream ends inside a packet")]
    Truncated,
    /// The header is reserved and has no size field, so the size of the packet is unknown.
    #[error("0x{0:02x} is not a packet header")]
    NoHeader(u8),
}

/// Headers without index or class.
const PADDING: u8 = 0x00;
const END: u8 = 0x01;
const TIMESTAMP: u8 = 0x71;
/// Bits 7:5 of the first byte of an extended header.
const PREFIX: u8 = 0x20;
/// Headers with index, class and size bits cleared.
const EVENTS: u8 = 0x42;
const DATA_SOURCE: u8 = 0x43;
const CONTEXT: u8 = 0x64;
const OPERATION: u8 = 0x48;
const COUNTER: u8 = 0x98;
const ADDRESS: u8 = 0xb0;

impl Packet {
    /// Decodes the packet at the start of `bytes`. Returns it with its size, which excludes the
    /// bytes that an alignment command skips.
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

    /// Encodes the packet.
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

/// Decodes a packet whose header byte `header`, the first of `bytes`, has a size field.
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
        // The two larger sizes have no meaning for a data source.
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

/// Bytes of one packet: at most two of header and eight of payload.
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

    /// Appends a header and as many bytes of `value` as its size field specifies.
    fn header_and(&mut self, header: u8, value: u64) {
        self.push(header);
        for byte in &value.to_le_bytes()[..Width::of_header(header).bytes()] {
            self.push(*byte);
        }
    }

    /// Appends a packet with an index. The header is short where possible, unless the extended one
    /// is requested.
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
    fn headers_without_size_and_truncated_packets_are_refused() {
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
