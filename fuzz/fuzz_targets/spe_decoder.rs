//! Fuzzes statistical profiles, bare or in a perf.data file: all records and all damage. Nothing
//! may panic or hang, and reading must advance. A record that N2 could have written must read the
//! same after it is written again.
//!
//! Run: `cargo xtask fuzz spe_decoder`

#![no_main]

use libfuzzer_sys::fuzz_target;
use sim_pmu::spe::decode::packets;
use sim_pmu::spe::{Events, Found, Item, Packet, Records, SpeRecord, encode_n2};
use sim_report::spe::input;

fuzz_target!(|data: &[u8]| {
    // The first byte is the low part of the address, which alignment commands use.
    let Some((&address, bytes)) = data.split_first() else { return };
    match input::find(bytes) {
        Ok(found) => {
            for buffer in &found.buffers {
                let bytes = &bytes[buffer.bytes.clone()];
                let _ = Records::at_address(bytes, buffer.address).count();
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let mut end = 0;
    for item in Records::at_address(bytes, address.into()) {
        let (from, to) = match item {
            Item::Record(found) => (found.offset, found.end),
            Item::Damage(damage) => {
                assert!(!damage.to_string().is_empty() && damage.offset >= damage.from);
                (damage.from, damage.to)
            }
        };
        // An alignment command may extend beyond the end.
        assert!(end <= from && from < to, "{end} {from} {to}");
        end = to;
        if let Item::Record(found) = item {
            check(&found);
        }
    }
    for (at, packet) in packets(bytes) {
        let Ok(packet) = packet else { continue };
        let encoded = packet.encode();
        assert_eq!(*encoded, bytes[at..at + encoded.len()]);
        let _ = matches!(packet, Packet::Operation(kind) if kind.access_class().is_some());
    }
});

fn check(found: &Found) {
    let record = found.record;
    let events = record.events.expect("a record without events is damage");
    assert!(events.names().count() == events.0.count_ones() as usize);
    let of_n2 = SpeRecord {
        events: Some(Events(events.0 & 0xffff_ffff)),
        issue_latency: record.issue_latency.map(|cycles| cycles.min(0xfff)),
        total_latency: record.total_latency.map(|cycles| cycles.min(0xfff)),
        translation_latency: record.translation_latency.map(|cycles| cycles.min(0xfff)),
        virtual_address: record.virtual_address.filter(|_| record.branch_target.is_none()),
        data_source: record.data_source.map(|source| source & 0xff),
        previous_target: None,
        ..record
    };
    let bytes = encode_n2(&of_n2);
    let again: Vec<Item> = Records::new(&bytes).collect();
    assert!(matches!(again[..], [Item::Record(Found { record, .. })] if record == of_n2));
}
