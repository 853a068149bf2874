//! Records programs with instructions whose addresses the engine's plugin interface does not show:
//! they are rebuilt, or seen by a second run, or the counts that need them are marked.

use crate::recording::{Bench, N2SIM, Recording};
use sim_core::{Activity, InstFlags};
use sim_trace::MissingData;
use std::path::Path;
use std::process::Command;

const LD1W: u32 = 0xa540_a000;
const LD1W_NONE: u32 = 0xa540_a406;
const LD1RW: u32 = 0x8554_c005;
const DC_ZVA: u32 = 0xd50b_7420;
const DC_CIVAC: u32 = 0xd50b_7e21;
const IC_IVAU: u32 = 0xd50b_7521;
const PRFM: u32 = 0xf980_8020;
const PRFM_INDEXED: u32 = 0xf8a2_7820;

/// Returns the counts of some events without wrong paths, as CSV.
fn counts(trace: &Path, events: &str) -> String {
    let output = Command::new(N2SIM)
        .args(["stat", "-x,", "--no-multiplex", "--set", "pipeline.wrong-path.enabled=false", "-e"])
        .arg(events)
        .arg(trace)
        .output()
        .expect("n2sim runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    said + &String::from_utf8_lossy(&output.stdout)
}

fn line<'a>(counts: &'a str, event: &str) -> &'a str {
    let is_it = |line: &&str| line.split(',').any(|field| field == event);
    counts.lines().find(is_it).unwrap_or_else(|| panic!("no {event} in {counts}"))
}

/// Whether the engine shows SVE accesses decides what it lacks; the one of the N1 has no SVE at
/// all.
#[test]
fn sve_that_the_engine_does_not_show_is_marked_as_doubtful() {
    let Some(bench) = Bench::of("sve.S") else { return };
    let recording = bench.record(&["--cpu", "max,sve128=on,sve256=off"]);
    let lacks = &recording.file.meta().lacks;
    assert_eq!(*lacks, [MissingData::SveAccesses, MissingData::Predicates], "{}", recording.said);
    assert!(recording.said.contains("`--second-run` records them"), "{}", recording.said);
    let counts = counts(&bench.trace(), "LD_SPEC,MEM_ACCESS,L1D_TLB,SVE_PRED_EMPTY_SPEC");
    assert!(counts.contains("a recording with --second-run has them"), "{counts}");
    assert!(line(&counts, "MEM_ACCESS").contains("no SVE accesses"), "{counts}");
    assert!(line(&counts, "L1D_TLB").contains("no SVE accesses"), "{counts}");
    assert!(line(&counts, "SVE_PRED_EMPTY_SPEC").contains("no SVE predicates"), "{counts}");
    assert!(!line(&counts, "LD_SPEC").contains("no SVE"), "{counts}");
}

#[test]
fn a_second_run_sees_every_sve_access_and_predicate() {
    let Some(bench) = Bench::of("sve.S") else { return };
    let recording = bench.record(&["--second-run"]);
    assert!(recording.file.meta().lacks.is_empty(), "{}", recording.said);
    let start = recording.addresses(LD1W)[0];
    assert_eq!(recording.addresses(LD1W), [start; 100]);
    assert_eq!(recording.addresses(LD1RW), [start + 80; 100]);
    let none = recording.insts.iter().filter(|inst| recording.word(inst) == LD1W_NONE);
    let none: Vec<_> = none.map(|inst| (inst.flags.activity(), inst.flags)).collect();
    assert_eq!(none.len(), 100);
    let is_silent = |(activity, flags): &(Activity, InstFlags)| {
        *activity == Activity::None && !flags.has(InstFlags::HAS_ADDR)
    };
    assert!(none.iter().all(is_silent));

    let counts = counts(
        &bench.trace(),
        "MEM_ACCESS,MEM_ACCESS_RD,L1D_CACHE,SVE_PRED_EMPTY_SPEC,SVE_PRED_PARTIAL_SPEC",
    );
    assert!(!counts.contains("doubt") && !counts.contains("lack"), "{counts}");
    for (event, count) in [
        ("MEM_ACCESS", 700),
        ("MEM_ACCESS_RD", 600),
        ("L1D_CACHE", 700),
        ("SVE_PRED_EMPTY_SPEC", 100),
        ("SVE_PRED_PARTIAL_SPEC", 100),
    ] {
        let message = line(&counts, event).split(',').next().unwrap_or_default().to_owned();
        assert_eq!(message, count.to_string(), "{event} in {counts}");
    }
}

#[test]
fn the_error_for_a_program_that_the_cpu_cannot_run_names_one_that_can() {
    let Some(bench) = Bench::of("sve.S") else { return };
    let recording = bench.record(&["--cpu", "neoverse-n1"]);
    assert_eq!(recording.note("program-end"), Some("killed by signal 4"));
    assert!(recording.said.contains("try `--cpu max`"), "{}", recording.said);
}

fn assert_operands(recording: &Recording) {
    let start = recording.addresses(DC_ZVA)[0];
    let lines: Vec<u64> = (0..16).map(|line| start + 64 * line).collect();
    assert_eq!(recording.addresses(DC_ZVA), lines, "{}", recording.said);
    assert_eq!(recording.addresses(DC_CIVAC), lines);
    assert_eq!(recording.addresses(IC_IVAU), lines);
    let ahead: Vec<u64> = lines.iter().map(|line| line + 256).collect();
    assert_eq!(recording.addresses(PRFM), ahead);
    let indexed: Vec<u64> = (0..16).map(|line| start + 72 * line).collect();
    assert_eq!(recording.addresses(PRFM_INDEXED), indexed);
    assert!(recording.file.meta().lacks.is_empty(), "{}", recording.said);
}

#[test]
fn operands_of_preloads_and_maintenance_are_rebuilt() {
    let Some(bench) = Bench::of("operands.S") else { return };
    let recording = bench.record(&[]);
    assert_operands(&recording);
    for known in
        ["DC ZVA were rebuilt from register values: 16 of 16", "PRFM were", "DC and IC were"]
    {
        assert!(recording.said.contains(known), "{}", recording.said);
    }
    // Sixteen lines are zeroed and thrown out again; one store more.
    let counts = counts(&bench.trace(), "L1D_CACHE_INVAL,MEM_ACCESS_WR");
    assert!(!counts.contains("doubt"), "{counts}");
    assert!(line(&counts, "MEM_ACCESS_WR").starts_with("17,"), "{counts}");
    assert!(line(&counts, "L1D_CACHE_INVAL").starts_with("16,"), "{counts}");
}

#[test]
fn operands_of_preloads_and_maintenance_are_seen_by_a_second_run() {
    let Some(bench) = Bench::of("operands.S") else { return };
    // Blocks of 64 bytes, as the N2 clears them.
    assert_operands(&bench.record(&["--second-run", "--cpu", "max,sve128=on,sve256=off"]));
}
