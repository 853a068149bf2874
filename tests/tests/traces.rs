//! Every committed trace, replayed: its counts must agree with the trace and with one another.
//! `cargo xtask check-traces` checks the whole traces; here each runs for a part.

use sim_core::PmuEvent;
use sim_machine::{ConfigSource, MachineConfig, Marker, Roi, RunHeader, RunOptions, Session};
use sim_tests::trace_check::check_trace;
use sim_tests::{files_below, repository};

/// Instructions of each thread that are run here.
const LIMIT: u64 = 1_000_000;

#[test]
fn every_committed_trace_keeps_all_identities() {
    let traces = files_below(&repository().join("traces"), "n2t");
    assert!(!traces.is_empty(), "traces/ holds recorded programs");
    let mut failures = Vec::new();
    for path in traces {
        if let Err(faults) = check_trace(&path, Some(LIMIT)) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            failures.extend(faults.iter().map(|fault| format!("{name}: {fault}")));
        }
    }
    assert!(failures.is_empty(), "{} faults:\n{}", failures.len(), failures.join("\n"));
}

/// The loops of `traces/src/vector.c` between its markers, counted by hand: 12 rounds over 1003
/// elements. Round r gathers 1003 - r words from two loads for each four. It scatters 1003 doubles
/// from two loads for each two, searches 1003 words, and reads 1096 - 7 r bytes of text, 16 with
/// each first-fault load.
#[test]
fn the_loops_of_the_vector_trace_count_as_computed_by_hand() {
    let rounds = 12u64;
    let gathers: u64 = (0..rounds).map(|r| (1003u64 - r).div_ceil(4)).sum();
    let first_fault: u64 = (0..rounds).map(|r| (1096 - 7 * r).div_ceil(16)).sum();
    let (scatters, looks) = (1003u64.div_ceil(2) * rounds, 1003u64.div_ceil(4) * rounds);
    let expected = [
        (PmuEvent::LD_SPEC, 2 * gathers + 2 * scatters + looks + first_fault),
        (PmuEvent::ST_SPEC, scatters),
        (PmuEvent::SVE_LDFF_SPEC, first_fault),
        (PmuEvent::L1D_CACHE_WR, 1003 * rounds),
    ];
    let document = ConfigSource::default()
        .document()
        .and_then(|document| document.set("pipeline.wrong-path.enabled=false"));
    let config = document.and_then(|document| MachineConfig::from_document(&document));
    let path = repository().join("traces/vector.n2t");
    let session = Session::open(&path, config.expect("the configuration"), RunHeader::default());
    let roi = Some(Roi { begin: Marker::Hint(40), end: Marker::Hint(41) });
    let outcome = session
        .and_then(|session| session.run(&RunOptions { roi, ..RunOptions::default() }, &mut |_| {}))
        .expect("the trace runs");
    for (event, count) in expected {
        assert_eq!(outcome.total().value(event), count, "{}", event.mnemonic());
    }
}

#[test]
fn perfect_prediction_never_mispredicts() {
    let path = repository().join("traces/btree.n2t");
    let overrides = ["pipeline.branch.direction=perfect".to_owned()];
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("a known key");
    let config = MachineConfig::from_document(&document).expect("a machine");
    let session = Session::open(&path, config, RunHeader::default()).expect("a committed trace");
    let options = RunOptions { limit: Some(300_000), ..RunOptions::default() };
    let outcome = session.run(&options, &mut |_| {}).expect("a run");
    let counts = outcome.total();
    assert_eq!(counts.value(PmuEvent::BR_MIS_PRED), 0);
    assert!(counts.value(PmuEvent::BR_RETIRED) > 10_000);
}
