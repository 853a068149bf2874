//! Fuzzes the count inputs of `check` and `diff`: tables of `perf stat` in every form, lists of
//! events, reports of runs. Nothing may panic or hang.
//!
//! Run: `cargo xtask fuzz count_table`

#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use sim_core::PmuEvent;
use sim_metrics::identities::{self, Assumptions};
use sim_metrics::{Count, cause, lint};
use sim_report::count_table::{self, CountTable, Tolerance};
use sim_report::run_diff::{self, NamedRun, RunDiff};
use sim_report::run_report::RunReport;

// Include modules of the program, which is not a library.
#[allow(dead_code)]
#[path = "../../n2sim/src/counting/event_list.rs"]
mod event_list;
#[allow(dead_code)]
#[path = "../../n2sim/src/counting/metric_name.rs"]
mod metric_name;

fuzz_target!(|data: &[u8]| -> Corpus {
    let Ok(text) = std::str::from_utf8(data) else { return Corpus::Reject };
    if let Ok(report) = serde_json::from_str::<RunReport>(text) {
        compare(&report);
    }
    let _ =
        event_list::parse_all::<PmuEvent>(&[text.to_owned()]).map_err(|error| error.to_string());
    for tolerance in [Tolerance::Usual, Tolerance::Given(1.0)] {
        match count_table::read(text, tolerance) {
            Ok(tables) => tables.iter().for_each(check),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert!(error.line().is_none_or(|line| line <= text.lines().count()));
            }
        }
    }
    Corpus::Keep
});

fn check(table: &CountTable) {
    let count = |event: PmuEvent| -> Option<Count> { table.counts.get(&event).copied() };
    for (has_stall_slot_erratum, has_external_llc) in
        [(None, None), (Some(true), Some(false)), (Some(false), Some(true))]
    {
        let assumptions =
            Assumptions { has_stall_slot_erratum, has_external_llc, ..Assumptions::default() };
        let check = identities::check(count, &assumptions);
        for violation in &check.violations {
            let text =
                format!("{violation} {}", cause::usual_cause(violation, count, &assumptions));
            assert!(!text.is_empty());
            let _ = (violation.difference(), violation.difference_share());
        }
        let doubts = lint::doubts(count, &assumptions);
        assert!(doubts.iter().all(|doubt| !doubt.to_string().is_empty()));
    }
    let _ = table.estimates();
}

fn compare(report: &RunReport) {
    let named = |name| NamedRun { name, report };
    let diff = RunDiff::new(named("a"), named("b"), 0.0);
    assert_eq!(diff.changed(), 0, "a report differs from itself");
    let mut out = Vec::new();
    run_diff::write_text(&mut out, &diff).expect("memory takes it");
    assert!(!run_diff::html(&diff).is_empty());
}
