//! Record layout of the Neoverse N2: 64 bytes with a fixed position for every packet, and padding
//! where a packet was not collected.

use super::packet::{AddressKind, ContextKind, CounterKind, Packet, Width};
use super::record::{LATENCY_MAX, SpeRecord};

/// Size and alignment of a record in bytes (`PMSIDR_EL1.MaxSize`, `PMBIDR_EL1.Align`).
pub const N2_RECORD_BYTES: usize = 64;

/// Offsets of the optional packets, for an events packet of 16 bits. An events packet of 32 bits
/// moves the following packets by two.
const CONTEXT_EL1: usize = 9;
const CONTEXT_EL2: usize = 14;
const OPERATION: usize = 19;
const EVENTS: usize = 21;
const ISSUE: usize = 24;
const TOTAL: usize = 27;
const TARGET_OR_DATA: usize = 30;
const TRANSLATION: usize = 39;
const PHYSICAL: usize = 42;
const SOURCE: usize = 51;
/// Offset of the timestamp. Without a timestamp, the end packet is the last byte.
const TIMESTAMP: usize = 55;
const END: usize = 63;

/// Packet with the offset of its first byte.
type Placed = Option<(usize, Packet)>;

/// Encodes a record as N2 writes it. The layout has no position for a previous branch target,
/// events above bit 31, or a data source of more than eight bits. N2 never produces them, and they
/// are left out. A latency above 12 bits saturates.
pub fn encode_n2(record: &SpeRecord) -> [u8; N2_RECORD_BYTES] {
    let mut bytes = [0; N2_RECORD_BYTES];
    let last = match record.timestamp {
        Some(time) => (TIMESTAMP, Packet::Timestamp(time)),
        None => (END, Packet::End),
    };
    let (packets_before_latencies, shift) = packets_before_latencies(record);
    for (at, packet) in packets_before_latencies
        .into_iter()
        .chain(latencies_and_addresses(record, shift))
        .flatten()
        .chain([last])
    {
        let encoded = packet.encode();
        bytes[at..at + encoded.len()].copy_from_slice(&encoded);
    }
    bytes
}

/// Returns the packets before the latencies, and the shift of the following ones.
fn packets_before_latencies(record: &SpeRecord) -> ([Placed; 5], usize) {
    let context = |kind: ContextKind, at, id: Option<u32>| {
        id.map(|value| (at, Packet::Context { index: kind as u8, value }))
    };
    let events = record.events.map(|events| {
        let width = if events.0 >> 16 == 0 { Width::Half } else { Width::Word };
        (EVENTS, Packet::Events { bits: events.0 & u64::from(u32::MAX), width })
    });
    let shift = match events {
        Some((_, Packet::Events { width: Width::Word, .. })) => 2,
        _ => 0,
    };
    let placed = [
        record.pc.map(|pc| (0, AddressKind::Pc.packet(pc.payload()))),
        context(ContextKind::El1, CONTEXT_EL1, record.context_el1),
        context(ContextKind::El2, CONTEXT_EL2, record.context_el2),
        record.operation.map(|kind| (OPERATION, Packet::Operation(kind))),
        events,
    ];
    (placed, shift)
}

/// Returns the latencies, addresses and the data source.
fn latencies_and_addresses(record: &SpeRecord, shift: usize) -> [Placed; 6] {
    let counter = |at, kind: CounterKind, cycles: Option<u16>| {
        cycles.map(|cycles| (at + shift, kind.packet(cycles.min(LATENCY_MAX))))
    };
    let target = record.branch_target.map(|to| AddressKind::Target.packet(to.payload()));
    let data = record.virtual_address.map(|at| AddressKind::Virtual.packet(at));
    [
        counter(ISSUE, CounterKind::Issue, record.issue_latency),
        counter(TOTAL, CounterKind::Total, record.total_latency),
        target.or(data).map(|packet| (TARGET_OR_DATA + shift, packet)),
        counter(TRANSLATION, CounterKind::Translation, record.translation_latency),
        record
            .physical_address
            .map(|at| (PHYSICAL + shift, AddressKind::Physical.packet(at.payload()))),
        record.data_source.map(|source| {
            (SOURCE + shift, Packet::DataSource { value: source & 0xff, width: Width::Byte })
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spe::{AccessClass, Events, InstAddress, OperationType, PhysicalAddress};

    /// Returns a load that missed in all caches on the chip, with all fields that N2 can collect.
    fn load() -> SpeRecord {
        SpeRecord {
            pc: Some(InstAddress { address: 0x40_0158, level: 1, non_secure: true }),
            context_el1: Some(0x1092),
            context_el2: Some(0xaabb_ccdd),
            operation: Some(OperationType::access(false, AccessClass::General)),
            events: Some(Events(0x71e)),
            issue_latency: Some(4),
            total_latency: Some(5000),
            translation_latency: Some(1),
            virtual_address: Some(0xb400_0000_0042_8928),
            physical_address: Some(PhysicalAddress {
                address: 0x8042_8928,
                non_secure: true,
                checked: false,
                tag: 0,
            }),
            data_source: Some(0xd),
            timestamp: Some(1_000_001_000),
            ..SpeRecord::default()
        }
    }

    #[test]
    fn every_packet_has_its_position() {
        #[rustfmt::skip]
        let expected: [u8; 64] = [
            0xb0, 0x58, 0x01, 0x40, 0, 0, 0, 0, 0xa0, // PC, EL1, Non-secure
            0x64, 0x92, 0x10, 0, 0, 0x65, 0xdd, 0xcc, 0xbb, 0xaa, // contexts
            0x49, 0x00, 0x52, 0x1e, 0x07, // load and its events
            0x99, 4, 0, 0x98, 0xff, 0x0f, // issue and total latency; the latter is saturated
            0xb2, 0x28, 0x89, 0x42, 0, 0, 0, 0, 0xb4, 0x9a, 1, 0, // data address, translation
            0xb3, 0x28, 0x89, 0x42, 0x80, 0, 0, 0, 0x80, 0x43, 0x0d, 0, 0, // physical, source
            0x71, 0xe8, 0xcd, 0x9a, 0x3b, 0, 0, 0, 0, // timestamp
        ];
        assert_eq!(encode_n2(&load()), expected);
    }

    #[test]
    fn predicate_events_take_the_two_bytes_of_padding() {
        let wide = SpeRecord { events: Some(Events(1 << 18 | 2)), ..load() };
        let bytes = encode_n2(&wide);
        assert_eq!(bytes[21..29], [0x62, 2, 0, 4, 0, 0x99, 4, 0]);
        assert_eq!(bytes[53..56], [0x43, 0x0d, 0x71]);
    }

    #[test]
    fn a_record_without_timestamp_ends_in_its_last_byte() {
        let bare = SpeRecord {
            pc: Some(InstAddress::default()),
            branch_target: Some(InstAddress { address: 0x10, level: 2, non_secure: false }),
            ..SpeRecord::default()
        };
        let mut expected = [0; 64];
        expected[0] = 0xb0;
        expected[30..32].copy_from_slice(&[0xb1, 0x10]);
        expected[38] = 0x40;
        expected[63] = 0x01;
        assert_eq!(encode_n2(&bare), expected);
    }
}
