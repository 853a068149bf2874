//! Ranges of assumed values, which a fit may use to their ends.

use sim_machine::{ConfigSource, MachineConfig};

/// Given either end of each range with all other values as they are, expect a machine.
#[test]
fn both_ends_of_every_range_are_machines() {
    let document = ConfigSource::default().document().expect("the built-in configuration");
    let mut ends = 0;
    for setting in document.settings() {
        let Some(range) = setting.range() else { continue };
        for value in [range.low, range.high] {
            let text = format!("{}={value}", setting.key);
            let changed = document.clone().set(&text).expect("the key exists");
            let machine = MachineConfig::from_document(&changed);
            assert!(machine.is_ok(), "{text}: {:?}", machine.err());
            ends += 1;
        }
    }
    assert!(ends >= 80, "{ends} ends");
}
