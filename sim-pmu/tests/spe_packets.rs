//! Packet cases S.PKT.*: encoding and decoding of records, for this core and others.

use proptest::prelude::*;
use sim_core::{AccessKind, AccessShape, BranchCourse, Operation, OperationKind};
use sim_pmu::spe::decode::packets;
use sim_pmu::spe::packet::Width;
use sim_pmu::spe::{
    Events, Found, InstAddress, Item, N2_RECORD_BYTES, OperationClass, OperationType, Packet,
    PacketError, PhysicalAddress, Records, SpeRecord, encode_n2,
};

/// Returns the packets of a record without padding.
fn packets_of(record: &SpeRecord) -> Vec<Packet> {
    packets(&encode_n2(record))
        .map(|(_, packet)| packet.expect("our own packets can be read"))
        .filter(|packet| *packet != Packet::Padding)
        .collect()
}

fn only_record(bytes: &[u8]) -> Found {
    let items: Vec<Item> = Records::new(bytes).collect();
    match items[..] {
        [Item::Record(found)] => found,
        _ => panic!("one record was expected: {items:?}"),
    }
}

fn access(kind: AccessKind) -> AccessShape {
    AccessShape {
        kind,
        exclusive: false,
        ordered: false,
        aligned: true,
        scattered: false,
        bytes: 8,
    }
}

fn type_of(kind: OperationKind) -> OperationType {
    OperationType::of(&Operation { kind, ..Operation::default() })
}

fn branch(conditional: bool, indirect: bool) -> OperationType {
    type_of(OperationKind::Branch(BranchCourse {
        conditional,
        indirect,
        ..BranchCourse::default()
    }))
}

/// Returns a load that hits, retires and needs no walk.
fn hit() -> SpeRecord {
    SpeRecord {
        pc: Some(InstAddress { address: 0x40_0000, level: 0, non_secure: true }),
        operation: Some(type_of(OperationKind::Access(access(AccessKind::Load)))),
        events: Some(Events::RETIRED.with(Events::L1D_ACCESS).with(Events::TLB_ACCESS)),
        issue_latency: Some(4),
        total_latency: Some(8),
        translation_latency: Some(1),
        virtual_address: Some(0x8000),
        data_source: Some(0),
        ..SpeRecord::default()
    }
}

/// S.PKT.1
#[test]
fn a_load_without_context_and_timestamp_ends_with_an_end_packet() {
    let bytes = encode_n2(&hit());
    assert_eq!(bytes[19..24], [0x49, 0x00, 0x52, 0x16, 0x00]);
    let expected = [
        Packet::Address { index: 0, value: 1 << 63 | 0x40_0000, extended: false },
        Packet::Operation(OperationType { class: OperationClass::Access, payload: 0 }),
        Packet::Events { bits: 0x16, width: Width::Half },
        Packet::Counter { index: 1, value: 4, extended: false },
        Packet::Counter { index: 0, value: 8, extended: false },
        Packet::Address { index: 2, value: 0x8000, extended: false },
        Packet::Counter { index: 2, value: 1, extended: false },
        Packet::DataSource { value: 0, width: Width::Byte },
        Packet::End,
    ];
    assert_eq!(packets_of(&hit()), expected);
}

/// S.PKT.2
#[test]
fn a_timestamp_takes_the_place_of_the_end_packet() {
    let record = SpeRecord { timestamp: Some(0x0102_0304_0506_0708), ..hit() };
    let bytes = encode_n2(&record);
    assert_eq!(bytes[55..], [0x71, 8, 7, 6, 5, 4, 3, 2, 1]);
    assert!(!packets_of(&record).contains(&Packet::End));
}

/// S.PKT.3
#[test]
fn a_branch_that_was_not_taken_has_its_event() {
    let operation = branch(true, false);
    assert_eq!((operation.class, operation.payload), (OperationClass::Branch, 0x01));
    let events = Events::RETIRED.with(Events::NOT_TAKEN).with(Events::MISPREDICTED);
    let next = InstAddress { address: 0x40_0004, level: 0, non_secure: true };
    let record = SpeRecord {
        operation: Some(operation),
        events: Some(events),
        branch_target: Some(next),
        virtual_address: None,
        translation_latency: None,
        data_source: None,
        ..hit()
    };
    let bytes = encode_n2(&record);
    assert_eq!(bytes[19..24], [0x4a, 0x01, 0x52, 0xc2, 0x00]);
    assert_eq!(bytes[30..39], [0xb1, 4, 0, 0x40, 0, 0, 0, 0, 0x80]);
}

/// S.PKT.4 and S.PKT.5
#[test]
fn returns_are_indirect_and_carry_the_level_of_their_target() {
    assert_eq!(branch(false, true).payload, 0x02);
    let course = BranchCourse { indirect: true, exception_return: true, ..BranchCourse::default() };
    let exception_return = type_of(OperationKind::Branch(course));
    assert_eq!(
        (exception_return.class, exception_return.is_conditional()),
        (OperationClass::Branch, false)
    );
    let target = InstAddress { address: 0xff_8000_0000_1000, level: 2, non_secure: true };
    assert_eq!(target.payload(), 0xc0ff_8000_0000_1000);
    assert_eq!(InstAddress::from_payload(target.payload()), target);
}

/// S.PKT.6, S.PKT.7 and S.PKT.8, and related kinds.
#[test]
fn the_kind_of_an_access_is_in_its_payload() {
    let payload = |shape: AccessShape| {
        let kind = type_of(OperationKind::Access(shape));
        assert_eq!(kind.class, OperationClass::Access);
        kind.payload
    };
    let load = access(AccessKind::Load);
    let acquire = AccessShape { exclusive: true, ordered: true, ..load };
    assert_eq!(payload(acquire), 0x1a, "load-acquire exclusive");
    assert_eq!(payload(AccessShape { kind: AccessKind::Store, ..acquire }), 0x1b);
    let atomic = |kind| payload(AccessShape { kind, ordered: true, ..load });
    assert_eq!(atomic(AccessKind::AtomicLoad), 0x16, "atomic with result, acquire");
    assert_eq!(atomic(AccessKind::AtomicSwap), 0x16);
    assert_eq!(atomic(AccessKind::AtomicStore), 0x17);
    assert_eq!(payload(access(AccessKind::AtomicLoad)), 0x06);
    assert_eq!(payload(access(AccessKind::ZeroLine)), 0x01);
    let simd = Operation {
        kind: OperationKind::Access(access(AccessKind::Store)),
        simd: true,
        ..Operation::default()
    };
    assert_eq!(OperationType::of(&simd).payload, 0x05, "SIMD store");
    let gather = Operation {
        kind: OperationKind::Access(AccessShape { scattered: true, ..load }),
        sve: true,
        simd: true,
        predicated: true,
        ..Operation::default()
    };
    assert_eq!(OperationType::of(&gather).payload, 0xac, "SVE gather of 128 bits, predicated");
}

/// S.PKT.9
#[test]
fn a_latency_of_5000_cycles_is_0xfff() {
    let record = SpeRecord { total_latency: Some(5000), ..hit() };
    assert_eq!(encode_n2(&record)[27..30], [0x98, 0xff, 0x0f]);
}

/// S.PKT.12 and S.PKT.13
#[test]
fn events_are_written_as_a_halfword() {
    let far = Events::LL_ACCESS.with(Events::LL_MISS).with(Events::REMOTE_ACCESS);
    let bytes = encode_n2(&SpeRecord { events: Some(far), ..hit() });
    assert_eq!(bytes[21..24], [0x52, 0x00, 0x07]);
    let abandoned = Events::L1D_ACCESS.with(Events::TLB_ACCESS);
    let bytes = encode_n2(&SpeRecord { events: Some(abandoned), ..hit() });
    assert_eq!(bytes[22] & 3, 0);
}

/// S.PKT.15
#[test]
fn records_fill_64_bytes_each() {
    let stream =
        [hit(), SpeRecord { timestamp: Some(9), ..hit() }].map(|it| encode_n2(&it)).concat();
    let ends: Vec<usize> = Records::new(&stream)
        .map(|item| match item {
            Item::Record(found) => found.end,
            Item::Damage(damage) => panic!("{damage}"),
        })
        .collect();
    assert_eq!(ends, [N2_RECORD_BYTES, 2 * N2_RECORD_BYTES]);
}

/// Record with consecutive packets, in which EL2 alone uses the contexts' slot: 64 bytes written by
/// hand from the packet descriptions.
#[test]
fn a_record_of_another_layout_decodes_to_the_same_fields() {
    #[rustfmt::skip]
    let bytes: [u8; 64] = [
        0xb0, 0x58, 0x01, 0x40, 0, 0, 0, 0, 0x80, // PC, EL0, Non-secure
        0x65, 0x92, 0x10, 0, 0, // context of EL2
        0x49, 0x00, 0x52, 0x1e, 0x01, // load; retired, refill, last level
        0x99, 0x04, 0x00, 0x98, 0x42, 0x00, // issue 4, total 66
        0xb2, 0x28, 0x89, 0x42, 0, 0, 0, 0, 0, 0x9a, 0x01, 0x00, // data, translation
        0xb3, 0x28, 0x89, 0x42, 0x80, 0, 0, 0, 0x80, 0x43, 0x0b, // physical, source
        0, 0, 0, 0, 0, 0, 0, // padding
        0x71, 0xe8, 0xcd, 0x9a, 0x3b, 0, 0, 0, 0, // timestamp
    ];
    let expected = SpeRecord {
        pc: Some(InstAddress { address: 0x40_0158, level: 0, non_secure: true }),
        context_el2: Some(0x1092),
        operation: Some(OperationType { class: OperationClass::Access, payload: 0 }),
        events: Some(Events(0x11e)),
        issue_latency: Some(4),
        total_latency: Some(66),
        translation_latency: Some(1),
        virtual_address: Some(0x42_8928),
        physical_address: Some(PhysicalAddress {
            address: 0x8042_8928,
            non_secure: true,
            checked: false,
            tag: 0,
        }),
        data_source: Some(0xb),
        timestamp: Some(1_000_001_000),
        ..SpeRecord::default()
    };
    assert_eq!(only_record(&bytes).record, expected);
    // N2 has fixed positions for both contexts, so its bytes differ with the same meaning.
    assert_eq!(only_record(&encode_n2(&expected)).record, expected);
}

fn place() -> impl Strategy<Value = InstAddress> {
    (0..1_u64 << 56, 0..4_u8, any::<bool>()).prop_map(|(address, level, non_secure)| InstAddress {
        address,
        level,
        non_secure,
    })
}

fn maybe<T: std::fmt::Debug + Clone + 'static>(
    value: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Option<T>> {
    proptest::option::of(value)
}

prop_compose! {
    fn physical()(address in 0..1_u64 << 56, non_secure: bool, checked: bool, tag in 0..16_u8)
        -> PhysicalAddress {
        PhysicalAddress { address, non_secure, checked, tag }
    }
}

prop_compose! {
    fn front()(
        pc in maybe(place()),
        context_el1: Option<u32>,
        context_el2: Option<u32>,
        operation in maybe((0..3_u8, any::<u8>())),
        events in prop_oneof![0..1_u64 << 16, 0..1_u64 << 32],
    ) -> SpeRecord {
        let operation = operation.map(|(class, payload)| OperationType {
            class: OperationClass::from_bits(class),
            payload,
        });
        SpeRecord {
            pc, context_el1, context_el2, operation, events: Some(Events(events)),
            ..SpeRecord::default()
        }
    }
}

prop_compose! {
    /// Generates every field that N2's layout has a position for: a branch target or a data
    /// address, not both.
    fn n2_record()(
        front in front(),
        latencies in proptest::array::uniform3(maybe(0..0x1000_u16)),
        is_branch: bool,
        target in maybe(place()),
        virtual_address: Option<u64>,
        physical_address in maybe(physical()),
        source in maybe(0..0x100_u16),
        timestamp: Option<u64>,
    ) -> SpeRecord {
        let [issue_latency, total_latency, translation_latency] = latencies;
        SpeRecord {
            issue_latency, total_latency, translation_latency,
            branch_target: target.filter(|_| is_branch),
            virtual_address: virtual_address.filter(|_| !is_branch),
            physical_address, data_source: source, timestamp,
            ..front
        }
    }
}

/// Generates any packet, with all header forms.
fn packet() -> impl Strategy<Value = Packet> {
    let word = any::<u64>();
    prop_oneof![
        Just(Packet::Padding),
        Just(Packet::End),
        (0..16_u8).prop_map(|size| Packet::Alignment { size }),
        word.prop_map(Packet::Timestamp),
        any::<u8>().prop_map(|bits| Packet::Events { bits: bits.into(), width: Width::Byte }),
        any::<u16>().prop_map(|bits| Packet::Events { bits: bits.into(), width: Width::Half }),
        any::<u32>().prop_map(|bits| Packet::Events { bits: bits.into(), width: Width::Word }),
        word.prop_map(|bits| Packet::Events { bits, width: Width::Double }),
        any::<u8>()
            .prop_map(|value| Packet::DataSource { value: value.into(), width: Width::Byte }),
        any::<u16>().prop_map(|value| Packet::DataSource { value, width: Width::Half }),
        (0..4_u8, any::<u32>()).prop_map(|(index, value)| Packet::Context { index, value }),
        (0..4_u8, any::<u8>()).prop_map(|(class, payload)| {
            Packet::Operation(OperationType { class: OperationClass::from_bits(class), payload })
        }),
        (0..32_u8, any::<u16>(), any::<bool>()).prop_map(|(index, value, long)| {
            Packet::Counter { index, value, extended: long || index > 7 }
        }),
        (0..32_u8, any::<u64>(), any::<bool>()).prop_map(|(index, value, long)| {
            Packet::Address { index, value, extended: long || index > 7 }
        }),
        (0xc0..0xff_u8, any::<bool>(), any::<u64>()).prop_map(|(header, long, value)| {
            let bits = 8 << (header >> 4 & 3);
            let value = value >> (64 - bits);
            Packet::Unknown { header, prefix: long.then_some(0x25), value }
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn records_of_n2_decode_unchanged(records in proptest::collection::vec(n2_record(), 0..5)) {
        let bytes: Vec<u8> = records.iter().flat_map(encode_n2).collect();
        let read: Vec<SpeRecord> = Records::new(&bytes)
            .map(|item| match item {
                Item::Record(found) => found.record,
                Item::Damage(damage) => panic!("{damage}"),
            })
            .collect();
        prop_assert_eq!(read, records);
    }

    #[test]
    fn every_packet_decodes_unchanged(packet in packet(), rest: [u8; 4]) {
        let mut bytes = packet.encode().to_vec();
        let length = bytes.len();
        bytes.extend(rest);
        prop_assert_eq!(Packet::decode(&bytes), Ok((packet, length)));
        for cut in 0..length {
            prop_assert_eq!(Packet::decode(&bytes[..cut]), Err(PacketError::Truncated));
        }
    }

    #[test]
    fn every_decoded_packet_encodes_to_its_bytes(bytes: [u8; 12]) {
        if let Ok((packet, length)) = Packet::decode(&bytes) {
            prop_assert_eq!(&*packet.encode(), &bytes[..length]);
        }
    }

    /// One byte of a stream is overwritten. All records except the damaged one and at most its
    /// neighbor must be read unchanged, up to the end of the stream.
    #[test]
    fn damage_is_confined_to_its_record(
        records in proptest::collection::vec(n2_record(), 6),
        at in 0..384_usize,
        byte: u8,
    ) {
        // A new alignment command may skip whole records.
        prop_assume!(byte >> 5 != 1);
        let whole = |record: &SpeRecord| SpeRecord {
            pc: Some(record.pc.unwrap_or_default()),
            operation: Some(record.operation.unwrap_or_default()),
            issue_latency: Some(3),
            total_latency: Some(4),
            ..*record
        };
        let records: Vec<SpeRecord> = records.iter().map(whole).collect();
        let mut bytes: Vec<u8> = records.iter().flat_map(encode_n2).collect();
        bytes[at] = byte;
        let read: Vec<Found> = Records::new(&bytes)
            .filter_map(|item| match item {
                Item::Record(found) => Some(found),
                Item::Damage(_) => None,
            })
            .collect();
        let hit = at / N2_RECORD_BYTES;
        for (i, record) in records.iter().enumerate() {
            let is_near = i == hit || i == hit + 1;
            let is_read = read.iter().any(|found| found.record == *record);
            prop_assert!(is_near || is_read, "record {i} is lost");
        }
    }
}
