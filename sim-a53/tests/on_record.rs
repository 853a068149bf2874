//! Counts on record: every event of every committed trace, and the use of the issue slots.
//!
//! `N2SIM_BLESS=1 cargo test -p sim-a53 on_record::` writes the present ones to `counts.tsv`. Read
//! the difference, and say in the commit why it is right.

use std::fmt::Write;
use std::path::Path;

use sim_a53::A53Event;
use sim_a53::slots::LostTo;

use crate::traces::{cores, traces};

/// Instructions of each thread.
const LIMIT: u64 = 100_000;

/// Returns a line for each trace and each event that is not 0.
fn counts() -> String {
    let mut text = String::from("# trace, event or lost slots, sum over all threads\n");
    for path in traces() {
        let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
        let cores = cores(&path, Some(LIMIT));
        let mut line = |what: &str, count: u64| {
            if count > 0 {
                let _ = writeln!(text, "{name}\t{what}\t{count}");
            }
        };
        for event in A53Event::ALL {
            let sum = cores.iter().map(|core| core.counts.value(event)).sum();
            line(event.mnemonic(), sum);
        }
        for cause in LostTo::ALL {
            let sum = cores.iter().map(|core| core.slots.lost(cause)).sum();
            line(&format!("{cause:?}"), sum);
        }
    }
    text
}

#[test]
fn every_trace_has_the_counts_on_record() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/counts.tsv");
    let present = counts();
    if std::env::var_os("N2SIM_BLESS").is_some() {
        std::fs::write(&path, &present).expect("a folder that can be written");
    }
    let kept = std::fs::read_to_string(&path).expect("the counts on record");
    let different: Vec<String> = present
        .lines()
        .filter(|line| !kept.lines().any(|other| other == *line))
        .map(|line| format!("+ {line}"))
        .chain(
            kept.lines()
                .filter(|line| !present.lines().any(|other| other == *line))
                .map(|line| format!("- {line}")),
        )
        .collect();
    assert!(different.is_empty(), "{} lines differ:\n{}", different.len(), different.join("\n"));
}
