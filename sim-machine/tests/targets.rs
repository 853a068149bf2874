//! The published quantities that the model is held to: each within a tenth, or with a reason.

use sim_machine::config::{ConfigSource, MachineConfig};
use sim_machine::targets::{Target, front_end};

/// Farthest that a target may be missed without a reason, as a part of the published value.
const CLOSE: f64 = 0.10;
/// Farthest with one.
const FAR: f64 = 0.35;

fn config() -> MachineConfig {
    let document = ConfigSource::default().document().expect("the built-in document parses");
    MachineConfig::from_document(&document).expect("the built-in configuration")
}

fn hold(rows: &[Target]) {
    let far: Vec<String> = rows
        .iter()
        .filter(|row| {
            let bound = if row.reason.is_empty() { CLOSE } else { FAR };
            row.error().abs() > bound || row.reason.is_empty() == (row.error().abs() > CLOSE)
        })
        .map(|row| {
            format!("{} {}: published {}, ours {}", row.id, row.what, row.published, row.ours)
        })
        .collect();
    assert!(far.is_empty(), "missed, or a reason without need:\n{}", far.join("\n"));
}

#[test]
fn the_front_end_meets_what_was_published() {
    let rows = front_end::measure(&config());
    let mut ids: Vec<&str> = rows.iter().map(|row| row.id).collect();
    ids.dedup();
    assert_eq!(ids.len(), rows.len(), "each target has one row");
    for number in 18..=24 {
        let id = format!("T{number}");
        assert!(rows.iter().any(|row| row.id.starts_with(&id)), "no row for {id}");
    }
    hold(&rows);
}
