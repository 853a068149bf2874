//! `n2sim space`, and `n2sim check` on tables that the flows of the guide rule out.

use std::path::Path;
use std::process::{Command, Output};

use crate::recording::N2SIM;

fn n2sim(arguments: &[&str], folder: &Path) -> Output {
    Command::new(N2SIM).args(arguments).current_dir(folder).output().expect("n2sim runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the exit code and the output of `n2sim check` on counts.
fn check(counts: &[(&str, u64)], options: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let line = |(event, count): &(&str, u64)| format!("{count},,{event},1000,100.00,,\n");
    let table: String = counts.iter().map(line).collect();
    std::fs::write(folder.path().join("counts.csv"), table).expect("a file");
    let output = n2sim(&[&["check", "counts.csv"], options].concat(), folder.path());
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

/// Returns the message of a refused call, which writes nothing else.
fn refused(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = n2sim(arguments, folder.path());
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    text(&output.stderr)
}

const SWAPPED: [(&str, u64); 5] = [
    ("l1i_cache_refill", 41_678),
    ("l1d_cache_refill_rd", 38_629),
    ("l2d_cache_rd", 23),
    ("inst_retired", 945_657),
    ("inst_spec", 2_000_000),
];

#[test]
fn check_names_the_inequality_the_values_and_the_sections() {
    let (code, printed) = check(&SWAPPED, &[]);
    assert_eq!(code, Some(1), "{printed}");
    for part in [
        "1 rules tested, 0 do not hold",
        "1 impossible by the flows",
        "L1D_CACHE_REFILL_RD <= L2D_CACHE_RD does not hold: 38629 against 23 (guide 5.4, 5.7)",
        "counted: L1D_CACHE_REFILL_RD 38629, L2D_CACHE_RD 23",
        "usual cause: ",
    ] {
        assert!(printed.contains(part), "{part} in {printed}");
    }
}

/// The same counts in their right columns; then tables that are not of a whole run of an N2.
#[test]
fn check_accepts_what_can_be() {
    let mut right = SWAPPED;
    (right[0].1, right[2].1) = (SWAPPED[2].1, SWAPPED[0].1);
    let (code, printed) = check(&right, &[]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(!printed.contains("impossible"), "{printed}");
    right[1].1 = right[2].1 + 400;
    assert_eq!(check(&right, &[]).0, Some(1));
    assert_eq!(check(&right, &["--tolerance", "1"]).0, Some(0), "400 of 41678");
    let sums = [("l1d_cache", 9), ("l1d_cache_rd", 5), ("l1d_cache_wr", 4)];
    let other = [&sums[..], &[("l1i_cache_refill", 9), ("l2d_cache_rd", 2)]].concat();
    assert_eq!(check(&other, &[]).0, Some(1));
    assert_eq!(check(&other, &["--core", "neoverse-v2"]).0, Some(0), "not the flows of a V2");
}

/// Two events of different flows are in no rule of chapter 4.
#[test]
fn flows_alone_are_tested() {
    let counts = |reads| [("l1i_cache_refill", 9), ("l2d_cache_rd", reads)];
    let (code, printed) = check(&counts(9), &[]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("possible by the flows"), "{printed}");
    assert_eq!(check(&counts(8), &[]).0, Some(1));
    let (code, printed) = check(&[("sw_incr", 9), ("l2d_cache_rd", 8)], &[]);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("nothing could be checked"), "{printed}");
}

/// Inequalities between the events of a broken rule say nothing new.
#[test]
fn a_broken_rule_is_printed_once() {
    let sums = [("l1d_cache", 9), ("l1d_cache_rd", 4), ("l1d_cache_wr", 4)];
    let (code, printed) = check(&sums, &[]);
    assert_eq!(code, Some(1));
    assert_eq!(printed.matches("does not hold").count(), 1, "{printed}");
    assert!(!printed.contains("impossible"), "{printed}");
}

#[test]
fn list_prints_the_inequalities_of_each_flow() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = n2sim(&["space", "list"], folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let all = text(&output.stdout);
    for line in [
        "guide 5.1: D-side TLB, load",
        "    L1D_CACHE_REFILL_RD <= L1D_CACHE_RD",
        "    INST_RETIRED <= INST_SPEC",
    ] {
        assert!(all.lines().any(|own| own == line), "{line} in {all}");
    }
    let arguments = ["space", "list", "--events", "l1d_cache_refill,l1i_cache_refill,l2d_cache"];
    let some = text(&n2sim(&arguments, folder.path()).stdout);
    assert!(some.contains("    L1I_CACHE_REFILL + L1D_CACHE_REFILL <= L2D_CACHE\n"), "{some}");
    assert!(some.contains("    L1D_CACHE_REFILL, L2D_CACHE\n        5.1 "), "{some}");
}

/// Every generator keeps every half-space, as the page on the format says.
#[test]
fn export_writes_both_forms() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for events in [&[][..], &["--events", "l1d_cache_rd,l1d_cache_refill_rd,l2d_cache_rd"]] {
        let arguments = [&["space", "export", "-o", "space.json"], events].concat();
        let output = n2sim(&arguments, folder.path());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let written = std::fs::read_to_string(folder.path().join("space.json")).expect("a file");
        let document: serde_json::Value = serde_json::from_str(&written).expect("JSON");
        assert_eq!(document["format"], "n2sim-space");
        let list = |key: &str| document[key].as_array().cloned().unwrap_or_default();
        let (generators, half_spaces) = (list("generators"), list("half_spaces"));
        assert!(generators.len() >= 3 && half_spaces.len() >= 2, "{written}");
        // Rules limit sums of the generators of the whole space, not each of them.
        for generator in generators.iter().filter(|_| !events.is_empty()) {
            for half_space in &half_spaces {
                let weights = half_space["weights"].as_object().expect("an object");
                let term = |(event, weight): (&String, &serde_json::Value)| {
                    weight.as_i64().unwrap_or(0) * generator["counts"][event].as_i64().unwrap_or(0)
                };
                let sum: i64 = weights.iter().map(term).sum();
                assert!(sum <= 0, "{half_space} of {generator}");
            }
        }
    }
}

#[test]
fn wrong_use_is_explained() {
    assert!(refused(&["space"]).contains("list"));
    assert!(refused(&["space", "list", "--events", "l1d_cach"]).contains("L1D_CACHE"));
    assert!(refused(&["space", "list", "--event", "x"]).contains("--events"));
    assert!(
        refused(&["space", "export", "-o", "nowhere/a.json"]).contains("there is no directory")
    );
    assert!(refused(&["check", "missing.csv"]).contains("missing.csv"));
    let (code, printed) = check(&[], &[]);
    assert_eq!(code, Some(2));
    assert!(printed.contains("counts.csv"), "{printed}");
}

/// Given slots of r0p0, which counts one more in every cycle, expect no inequality without the
/// revision, and one for a revision without the erratum.
#[test]
fn an_unknown_revision_refutes_no_slots() {
    let slots =
        [("stall_slot", 178_857_153), ("cpu_cycles", 30_624_945), ("inst_retired", 945_657)];
    let parts = [
        ("stall_slot_frontend", 33_000_000),
        ("stall_slot_backend", 145_857_153),
        ("op_spec", 2_000_000),
        ("cpu_cycles", 30_624_945),
    ];
    for counts in [&slots[..], &parts[..]] {
        let (_, printed) = check(counts, &[]);
        assert!(!printed.contains("does not hold"), "{printed}");
        let (code, printed) = check(counts, &["--revision", "r0p3"]);
        assert_eq!(code, Some(1), "{printed}");
    }
}
