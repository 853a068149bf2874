//! Reader for the sample records of any profile in the format of SPE supplement 5, including
//! profiles of real machines. Packets of unknown kinds are skipped by their size; damage is
//! reported and skipped.

use super::events::Events;
use super::packet::{AddressKind, CounterKind, Packet, PacketError};
use super::record::{InstAddress, PhysicalAddress, SpeRecord};

/// Size of the longest record that an implementation may write, in bytes (`PMSIDR_EL1.MaxSize`).
const RECORD_BYTES_MAX: usize = 2048;

/// Record of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Offset of its first packet.
    pub offset: usize,
    /// Offset after its last packet.
    pub end: usize,
    /// Decoded record.
    pub record: SpeRecord,
    /// Number of its packets without a meaning in the supplement.
    pub unknown: u32,
}

/// Damaged part of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("offset {offset}: {fault}; skipped {} bytes from {from} to {to}", to - from)]
pub struct Damage {
    /// Offset of the fault.
    pub offset: usize,
    /// Kind of the fault.
    pub fault: Fault,
    /// Start of the lost record.
    pub from: usize,
    /// Offset at which reading continues: the next record, or the end of the stream.
    pub to: usize,
}

/// Fault in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The packet cannot be decoded.
    #[error(transparent)]
    Packet(#[from] PacketError),
    /// A record contains the same packet kind twice.
    #[error("a second packet of this kind in one record")]
    Repeated,
    /// A record ends without an events packet, which hardware always writes.
    #[error("the record has no events packet")]
    NoEvents,
    /// A record is longer than an implementation may write.
    #[error("no end of the record within {RECORD_BYTES_MAX} bytes")]
    NoEnd,
}

/// Item of a stream: a record or damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// Decoded record.
    Record(Found),
    /// Bytes that do not form a record.
    Damage(Damage),
}

/// Iterator over the records of a stream, in order.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    stream: Stream<'a>,
    at: usize,
}

impl<'a> Records<'a> {
    /// Reads `bytes`, which lie in memory at an address that is a multiple of 64 KiB.
    pub fn new(bytes: &'a [u8]) -> Records<'a> {
        Records::at_address(bytes, 0)
    }

    /// Reads `bytes`, the first of which was written at `address`. Alignment commands refer to that
    /// address.
    pub fn at_address(bytes: &'a [u8], address: u64) -> Records<'a> {
        Records { stream: Stream { bytes, address }, at: 0 }
    }
}

impl Iterator for Records<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        let (from, read) = match self.stream.first_packet(self.at) {
            Ok(from) if from >= self.stream.bytes.len() => return None,
            Ok(from) => (from, self.stream.record(from)),
            Err(error) => (error.0, Err(error)),
        };
        match read {
            Ok(found) => {
                self.at = found.end;
                Some(Item::Record(found))
            }
            Err((offset, fault)) => {
                // An alignment command may point past the end.
                let offset = offset.min(self.stream.bytes.len());
                let to = self.stream.resynchronize(from + 1);
                self.at = to;
                Some(Item::Damage(Damage { offset, fault, from, to }))
            }
        }
    }
}

/// Returns every packet of a stream with its offset, including framing. An error ends the
/// iteration.
pub fn packets(bytes: &[u8]) -> impl Iterator<Item = (usize, Result<Packet, PacketError>)> {
    packets_at(bytes, 0)
}

/// Returns [`packets`] of bytes whose first one was written at `address`.
pub fn packets_at(
    bytes: &[u8],
    address: u64,
) -> impl Iterator<Item = (usize, Result<Packet, PacketError>)> {
    let stream = Stream { bytes, address };
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let at = next.filter(|at| *at < bytes.len())?;
        let read = stream.packet(at);
        next = read.ok().map(|(_, end)| end);
        Some((at, read.map(|(packet, _)| packet)))
    })
}

/// Offset and fault of a place that cannot be decoded.
type FaultAt = (usize, Fault);

#[derive(Clone, Copy, Debug)]
struct Stream<'a> {
    bytes: &'a [u8],
    address: u64,
}

impl Stream<'_> {
    /// Returns the packet at `at` and the offset of the next one.
    fn packet(&self, at: usize) -> Result<(Packet, usize), PacketError> {
        let (packet, taken) = Packet::decode(&self.bytes[at.min(self.bytes.len())..])?;
        let end = match packet {
            Packet::Alignment { size } => self.aligned(at + taken, size),
            _ => at + taken,
        };
        Ok((packet, end))
    }

    /// Returns the first offset from `at` on whose address is a multiple of `2 << size`.
    fn aligned(&self, at: usize, size: u8) -> usize {
        let mask = (2_u64 << size) - 1;
        let past = self.address.wrapping_add(at as u64) & mask;
        at + (past.wrapping_neg() & mask) as usize
    }

    /// Skips the padding and alignment commands between two records.
    fn first_packet(&self, mut at: usize) -> Result<usize, FaultAt> {
        while at < self.bytes.len() {
            match self.packet(at) {
                Ok((Packet::Padding | Packet::Alignment { .. }, end)) => at = end,
                // Any other packet belongs to a record.
                Ok(_) => break,
                Err(error) => return Err((at, error.into())),
            }
        }
        Ok(at)
    }

    /// Reads the record whose first packet is at `from`.
    fn record(&self, from: usize) -> Result<Found, FaultAt> {
        let mut found = Found { offset: from, end: from, record: SpeRecord::default(), unknown: 0 };
        loop {
            let at = found.end;
            if at - from > RECORD_BYTES_MAX {
                return Err((at, Fault::NoEnd));
            }
            let (packet, end) = self.packet(at).map_err(|error| (at, error.into()))?;
            found.end = end;
            let is_last = matches!(packet, Packet::End | Packet::Timestamp(_));
            found.take(packet).map_err(|fault| (at, fault))?;
            if is_last {
                return match found.record.events {
                    Some(_) => Ok(found),
                    None => Err((at, Fault::NoEvents)),
                };
            }
        }
    }

    /// Returns the next offset after `from` at which a record certainly starts, or the end of the
    /// stream. Such a record has its PC, only known packets, and every packet that all records
    /// have.
    fn resynchronize(&self, from: usize) -> usize {
        let is_record = |at: &usize| {
            let is_pc = matches!(
                self.packet(*at),
                Ok((Packet::Address { index, .. }, _)) if index == AddressKind::Pc as u8
            );
            is_pc && self.record(*at).is_ok_and(|found| found.is_whole())
        };
        (from..self.bytes.len()).find(is_record).unwrap_or(self.bytes.len())
    }
}

impl Found {
    /// Returns whether the record has what the supplement requires for all operations, and no
    /// unknown packet.
    fn is_whole(&self) -> bool {
        let record = &self.record;
        self.unknown == 0
            && record.pc.is_some()
            && record.operation.is_some()
            && record.issue_latency.is_some()
            && record.total_latency.is_some()
    }

    /// Adds the contents of a packet to the record.
    fn take(&mut self, packet: Packet) -> Result<(), Fault> {
        let record = &mut self.record;
        match packet {
            Packet::Padding | Packet::Alignment { .. } | Packet::End => Ok(()),
            Packet::Timestamp(time) => enter(&mut record.timestamp, time),
            Packet::Events { bits, .. } => enter(&mut record.events, Events(bits)),
            Packet::DataSource { value, .. } => enter(&mut record.data_source, value),
            Packet::Operation(kind) => enter(&mut record.operation, kind),
            Packet::Context { index: 0, value } => enter(&mut record.context_el1, value),
            Packet::Context { index: 1, value } => enter(&mut record.context_el2, value),
            Packet::Counter { index, value, .. } => self.take_counter(index, value),
            Packet::Address { index, value, .. } => self.take_address(index, value),
            Packet::Context { .. } | Packet::Unknown { .. } => {
                self.unknown += 1;
                Ok(())
            }
        }
    }

    fn take_counter(&mut self, index: u8, value: u16) -> Result<(), Fault> {
        const TOTAL: u8 = CounterKind::Total as u8;
        const ISSUE: u8 = CounterKind::Issue as u8;
        const TRANSLATION: u8 = CounterKind::Translation as u8;
        match index {
            TOTAL => enter(&mut self.record.total_latency, value),
            ISSUE => enter(&mut self.record.issue_latency, value),
            TRANSLATION => enter(&mut self.record.translation_latency, value),
            _ => {
                self.unknown += 1;
                Ok(())
            }
        }
    }

    fn take_address(&mut self, index: u8, value: u64) -> Result<(), Fault> {
        const PC: u8 = AddressKind::Pc as u8;
        const TARGET: u8 = AddressKind::Target as u8;
        const VIRTUAL: u8 = AddressKind::Virtual as u8;
        const PHYSICAL: u8 = AddressKind::Physical as u8;
        const PREVIOUS: u8 = AddressKind::PreviousTarget as u8;
        let record = &mut self.record;
        let place = InstAddress::from_payload(value);
        match index {
            PC => enter(&mut record.pc, place),
            TARGET => enter(&mut record.branch_target, place),
            PREVIOUS => enter(&mut record.previous_target, place),
            VIRTUAL => enter(&mut record.virtual_address, value),
            PHYSICAL => enter(&mut record.physical_address, PhysicalAddress::from_payload(value)),
            _ => {
                self.unknown += 1;
                Ok(())
            }
        }
    }
}

/// Sets a field that may occur only once.
fn enter<T>(field: &mut Option<T>, value: T) -> Result<(), Fault> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err(Fault::Repeated),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spe::{OperationType, encode_n2};

    fn load(pc: u64) -> SpeRecord {
        SpeRecord {
            pc: Some(InstAddress { address: pc, level: 0, non_secure: true }),
            operation: Some(OperationType::default()),
            events: Some(Events::RETIRED),
            issue_latency: Some(4),
            total_latency: Some(8),
            data_source: Some(8),
            timestamp: Some(pc * 10),
            ..SpeRecord::default()
        }
    }

    fn three() -> Vec<u8> {
        [1, 2, 3].map(|pc| encode_n2(&load(pc))).concat()
    }

    fn summary(bytes: &[u8]) -> (Vec<u64>, Vec<Damage>) {
        let (mut pcs, mut damage) = (Vec::new(), Vec::new());
        for item in Records::new(bytes) {
            match item {
                Item::Record(found) => pcs.extend(found.record.pc.map(|pc| pc.address)),
                Item::Damage(found) => damage.push(found),
            }
        }
        (pcs, damage)
    }

    #[test]
    fn whole_streams_are_read_without_damage() {
        assert_eq!(summary(&three()), (vec![1, 2, 3], vec![]));
        assert_eq!(summary(&[]), (vec![], vec![]));
        assert_eq!(summary(&[0; 100]), (vec![], vec![]), "padding alone is a stream");
    }

    #[test]
    fn a_bad_header_loses_only_its_record() {
        let mut bytes = three();
        bytes[64 + 19] = 0x02;
        let damage = Damage {
            offset: 64 + 19,
            fault: Fault::Packet(PacketError::NoHeader(2)),
            from: 64,
            to: 128,
        };
        assert_eq!(summary(&bytes), (vec![1, 3], vec![damage]));
        let expected = "offset 83: 0x02 is not a packet header; skipped 64 bytes from 64 to 128";
        assert_eq!(damage.to_string(), expected);
    }

    #[test]
    fn a_lost_end_does_not_merge_two_records() {
        let mut bytes = three();
        bytes[55..64].fill(0);
        let damage = Damage { offset: 64, fault: Fault::Repeated, from: 0, to: 64 };
        assert_eq!(summary(&bytes), (vec![2, 3], vec![damage]));
    }

    #[test]
    fn bytes_lost_inside_a_record_are_reported_at_the_next_record() {
        let mut bytes = three();
        bytes.drain(70..90);
        let (pcs, damage) = summary(&bytes);
        assert_eq!((pcs, damage.len()), (vec![1, 3], 1));
        assert_eq!((damage[0].from, damage[0].to), (64, 128 - 20));
    }

    #[test]
    fn a_cut_stream_and_a_record_without_events_are_reported() {
        let mut cut = three();
        cut.truncate(150);
        let (pcs, damage) = summary(&cut);
        assert_eq!(pcs, [1, 2]);
        assert_eq!(damage[0].fault, Fault::Packet(PacketError::Truncated));
        assert_eq!((damage[0].from, damage[0].to), (128, 150));
        let no_events = encode_n2(&SpeRecord { events: None, ..load(9) });
        assert_eq!(summary(&no_events).1[0].fault, Fault::NoEvents);
        let endless = [vec![0xb0, 1], vec![0; 3000]].concat();
        assert_eq!(summary(&endless).1[0].fault, Fault::NoEnd);
    }

    #[test]
    fn an_alignment_command_skips_to_the_next_multiple_of_its_size() {
        // 16 bytes: three of unknown content after a command at offset 11.
        let mut bytes = vec![0; 11];
        bytes.extend([0x23, 0x00, 0xff, 0xff, 0xff]);
        bytes.extend(encode_n2(&load(7)));
        assert_eq!(summary(&bytes), (vec![7], vec![]));
        let shifted: Vec<Item> = Records::at_address(&bytes[3..], 3).collect();
        assert!(matches!(shifted[..], [Item::Record(Found { offset: 13, .. })]));
        // The address after the command is already aligned, so nothing is skipped.
        let aligned = [&[0; 14][..], &[0x23, 0x00], &encode_n2(&load(7))].concat();
        assert_eq!(summary(&aligned), (vec![7], vec![]));
    }

    #[test]
    fn unknown_packets_are_counted_and_skipped() {
        let mut bytes = encode_n2(&load(5)).to_vec();
        // An implementation-defined counter and address, a reserved context, and a packet kind of
        // the future.
        let strange = [
            &[0x9e, 1, 0][..],
            &[0x22, 0xb1, 1, 2, 3, 4, 5, 6, 7, 8],
            &[0x66, 1, 2, 3, 4],
            &[0xd0, 0, 0],
        ];
        bytes.splice(9..9, strange.concat());
        let items: Vec<Item> = Records::new(&bytes).collect();
        let [Item::Record(found)] = items[..] else { panic!("{items:?}") };
        assert_eq!((found.unknown, found.record), (4, load(5)));
    }

    #[test]
    fn packets_are_listed_with_their_offsets() {
        let listed: Vec<_> = packets(&[0x00, 0x52, 2, 0, 0x01, 0x02, 0x01]).collect();
        let events = Packet::Events { bits: 2, width: crate::spe::packet::Width::Half };
        let expected = [
            (0, Ok(Packet::Padding)),
            (1, Ok(events)),
            (4, Ok(Packet::End)),
            (5, Err(PacketError::NoHeader(2))),
        ];
        assert_eq!(listed, expected);
    }
}
