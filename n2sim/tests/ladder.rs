//! `n2sim membench` from the command line.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::process::{Command, Output};

fn n2sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn bandwidth_is_printed_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("bandwidth.svg");
    let text = stdout(&n2sim(&["membench", "bandwidth", "-o", picture.to_str().unwrap()]));
    assert_eq!(text.matches("  met  [").count(), 4, "{text}");
    let svg = std::fs::read_to_string(picture).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("bytes per cycle"), "{svg:.200}");
}

#[test]
fn csv_follows_the_machine() {
    let args = ["membench", "bandwidth", "--csv", "--set", "memory.l1d.size-bytes=32768"];
    let text = stdout(&n2sim(&args));
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("level,footprint_bytes,prefetch,bytes_per_cycle,gigabytes_per_second")
    );
    assert!(lines.next().unwrap().starts_with("L1D,16384,true,"), "{text}");
}

#[test]
fn saved_loops_are_traces() {
    let folder = tempfile::tempdir().unwrap();
    let traces = folder.path().join("loops");
    let text = stdout(&n2sim(&["membench", "tlb", "--save-traces", traces.to_str().unwrap()]));
    assert_eq!(text.lines().count(), 4, "{text}");
    let trace = traces.join("pages-64.n2t");
    let text = stdout(&n2sim(&["stat", trace.to_str().unwrap(), "-e", "dtlb_walk", "-x,"]));
    assert!(text.starts_with("64,"), "each page is walked once: {text}");
}

#[test]
fn wrong_use_is_refused() {
    for args in [
        &["membench", "speed"][..],
        &["membench", "--set", "memory.l2.sise-bytes=1"],
        &["membench", "tlb", "-o", "/nowhere/knees.svg"],
        &["membench", "--save-traces", "folder", "--csv"],
    ] {
        let output = n2sim(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}
