//! The events against the table of the manual (Cortex-A53 manual, table 12.28).

use sim_a53::A53Event;
use sim_pmu::other_core::CORTEX_A53;

#[test]
fn every_numbered_row_of_the_table_is_an_event() {
    let rows: Vec<u16> = CORTEX_A53.events.iter().filter_map(|row| row.code).collect();
    let events: Vec<u16> = A53Event::ALL.iter().map(|event| event.code()).collect();
    assert_eq!(rows, events);
}

#[test]
fn mnemonics_are_those_of_the_table() {
    for row in CORTEX_A53.events {
        if let (Some(code), Some(mnemonic)) = (row.code, row.mnemonic) {
            let event = A53Event::from_code(code).expect("every row is an event");
            assert_eq!(event.mnemonic(), mnemonic);
            assert_eq!(A53Event::from_mnemonic(mnemonic), Some(event));
        }
    }
}
