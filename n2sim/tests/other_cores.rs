//! `--core` of a core without a timing model: its events, its formulas, its counts.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;
use std::process::Command;

/// Runs the program. Returns its exit code and both outputs.
fn n2sim(args: &[&str]) -> (i32, String, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output =
        Command::new(env!("CARGO_BIN_EXE_n2sim")).current_dir(root).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_list_has_the_events_of_the_core() {
    for (core, events, lacking) in [
        ("neoverse-v2", "155 events", "that it lacks: ldst_spec\n"),
        ("neoverse-v1", "132 events", "fp_sp_spec"),
        ("neoverse-n1", "110 events", "stall_slot, "),
    ] {
        let (code, list, _) = n2sim(&["list", "events", "--core", core]);
        assert_eq!(code, 0);
        assert!(list.contains(events) && list.contains("No timing model yet"), "{list}");
        let (own, absent) = list.split_once("events of the Neoverse N2 that it lacks").unwrap();
        assert!(own.contains("  r0070  ld_spec "), "{own}");
        assert!(format!("that it lacks{absent}").contains(lacking), "{absent}");
        assert!(!own.contains("  ldst_spec "), "{own}");
    }
}

#[test]
fn an_explanation_says_whether_the_core_has_the_event() {
    let explained = |event, core| n2sim(&["explain", event, "--core", core]).1;
    let text = explained("stall_slot", "neoverse-v2");
    assert!(text.contains("on neoverse-v2: STALL_SLOT, 0x3F") && text.contains("Slot"), "{text}");
    let text = explained("stall_slot", "neoverse-n1");
    assert!(text.contains("of that core has no event 0x3F"), "{text}");
    assert!(explained("trb_wrap", "neoverse-v2").contains("TRB_WRAP, 0x400C"));
    let text = explained("l3d_cache", "neoverse-n1");
    assert!(text.contains("that it stays 0 is known of the Neoverse N2 only"), "{text}");
}

#[test]
fn formulas_are_checked_with_the_width_of_the_core() {
    let lint = |core, formula| n2sim(&["lint", "--core", core, "--formula", formula]);
    let (code, text, _) = lint("neoverse-v2", "STALL_SLOT / (8 * CPU_CYCLES)");
    assert_eq!(code, 0, "{text}");
    let (code, text, _) = lint("neoverse-v2", "STALL_SLOT / (5 * CPU_CYCLES)");
    assert!(code == 1 && text.contains("5 slots in a cycle; this core has 8"), "{text}");
    let (code, text, _) = lint("neoverse-v1", "FP_SP_SPEC / INST_SPEC");
    assert!(code == 1 && text.contains("which a Neoverse V1 does not have"), "{text}");
}

#[test]
fn counts_of_events_that_the_core_lacks_take_no_part_in_rules() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("n1.csv");
    let rows = "100,,cpu_cycles,1,100.00,,\n900,,stall_slot,1,100.00,,\n10,,op_spec,1,100.00,,\n\
                9,,inst_retired,1,100.00,,\n8,,l1d_cache,1,100.00,,\n5,,l1d_cache_rd,1,100.00,,\n\
                3,,l1d_cache_wr,1,100.00,,\n";
    std::fs::write(&file, rows).unwrap();
    let check = |core| n2sim(&["check", file.to_str().unwrap(), "--core", core]);
    let (code, text, _) = check("neoverse-n1");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("not an event of this core: op_spec, stall_slot"), "{text}");
    let (code, text, _) = check("neoverse-v2");
    assert!(code == 1 && text.contains("OP_SPEC + STALL_SLOT = 8 x CPU_CYCLES"), "{text}");
}

#[test]
fn what_needs_a_model_is_refused_with_a_remedy() {
    let trace = "traces/hash.n2t";
    for (args, message) in [
        (
            &["stat", trace, "--core", "neoverse-v2"][..],
            "no timing model of this core yet, only its events; cores with a model: neoverse-n2, cortex-a53",
        ),
        (&["event-bus", trace, "--run-on", "neoverse-v1"], "no timing model of this core yet"),
        (&["event-bus", trace, "--core", "neoverse-v1"], "its event bus is not known"),
        (&["lint", "--core", "neoverse-v2"], "give files or --formula"),
        (&["lint", "--core", "cortex-a32"], "n2sim checks formulas for neoverse-n2, cortex-a53"),
        (
            &["check", "tests/counts/true-v2.csv", "--core", "cortex-a32"],
            "n2sim has no rules for its counts",
        ),
        (
            &["check", "tests/counts/true-v2.csv", "--core", "neoverse-v2", "--revision", "r0p3"],
            "--revision: a neoverse-v2 has no such setting",
        ),
    ] {
        let (code, _, error) = n2sim(args);
        assert!(code == 2 && error.contains(message), "{args:?}: {error}");
    }
}

/// An event that only a Cortex-A53 has is a hint at the core.
#[test]
fn a_table_of_unknown_events_hints_at_their_core() {
    let (code, text, _) = n2sim(&["check", "tests/counts/true-a53-hint.csv"]);
    assert!(code == 0 && text.contains("check the table with --core cortex-a53"), "{text}");
}
