//! `n2sim diff` as a user meets it.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;
use std::process::{Command, Output};

fn trace() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/hash.n2t");
    path.display().to_string()
}

fn n2sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).output().unwrap()
}

fn printed(args: &[&str]) -> String {
    let output = n2sim(args);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(args: &[&str]) -> String {
    let output = n2sim(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn profiles_are_compared_in_every_form() {
    let trace = trace();
    let common = ["diff", &trace, "--limit", "50k"];
    let text = printed(&common);
    let bus = text.lines().find(|line| line.contains(" bus_access_rd ")).unwrap();
    assert!(bus.contains("  semantics.bus-unit"), "{text}");
    assert!(text.contains("semantics.bus-unit: \"transaction\" -> \"beats\"  [Arm Learning Path"));

    let csv = printed(&[&common[..], &["-x,"]].concat());
    assert!(csv.lines().all(|line| line.split(',').count() == 7), "{csv}");
    let json = printed(&[&common[..], &["-j"]].concat());
    let object: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(object["events"].as_array().unwrap().len(), csv.lines().count());
    let table = printed(&[&common[..], &["--markdown"]].concat());
    assert!(table.contains("\n| `bus_access_rd` | 1 of 1 | +"), "{table}");
}

#[test]
fn files_are_configurations_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("small.toml");
    let text = "base = \"neoverse-n2.toml\"\n[memory.l2]\nsize-bytes = 524288 # [what if]\n";
    std::fs::write(&file, text).unwrap();
    let text = printed(&["diff", &trace(), "--to", file.to_str().unwrap(), "--limit", "200k"]);
    assert!(text.contains("  memory.l2.size-bytes: 1048576 -> 524288  [what if]\n"), "{text}");
}

#[test]
fn wrong_use_is_refused_with_the_remedy() {
    let trace = trace();
    let message = refused(&["diff", &trace, "--to", "guide"]);
    assert!(message.contains("there is nothing to compare"), "{message}");
    let message = refused(&["diff", &trace, "--from", "/nowhere/x.toml"]);
    assert!(message.contains("/nowhere/x.toml"), "{message}");
    let message = refused(&["diff", "/nowhere/x.n2t"]);
    assert!(message.contains("/nowhere/x.n2t"), "{message}");
    refused(&["diff"]);
    refused(&["diff", &trace, "-j", "--markdown"]);
    refused(&["diff", &trace, "--limit", "0"]);
}
