//! Every committed trace, replayed: counts that must agree with the trace and with one another.
//! The whole traces are checked by `cargo xtask check-traces`; here each runs for a part.

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
