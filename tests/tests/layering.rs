//! The dependencies between the crates: each may use crates of lower rows only, and no sibling.

use sim_tests::{read, repository};

/// Lowest row first. A crate may use only crates of earlier rows.
const LAYERS: [&[&str]; 7] = [
    &["sim-core", "sim-files"],
    &["sim-isa"],
    &["sim-trace", "sim-pipeline", "sim-cache", "sim-pmu", "sim-metrics", "sim-asm"],
    &["sim-machine", "sim-a53", "sim-space"],
    &["sim-scenario", "sim-lab"],
    &["sim-runs", "sim-report", "sim-course", "sim-litmus", "sim-calibrate"],
    &["n2sim"],
];

/// Crates outside the rows: a plugin that another program loads, the model of a page, which a
/// browser loads, and crates that test and measure the others. No crate of the rows may use them.
const OUTSIDE: [&str; 5] = ["sim-capture", "sim-playground", "sim-tests", "sim-benches", "xtask"];

/// Crates that may not use all of the rows below theirs.
const NARROWER: [(&str, &[&str]); 12] = [
    // The model is the caller's.
    ("sim-calibrate", &["sim-core"]),
    ("sim-asm", &["sim-core", "sim-isa"]),
    ("sim-cache", &["sim-core"]),
    ("sim-pmu", &["sim-core"]),
    ("sim-metrics", &["sim-core"]),
    ("sim-space", &["sim-core", "sim-metrics"]),
    ("sim-pipeline", &["sim-core", "sim-isa"]),
    ("sim-trace", &["sim-core", "sim-files", "sim-isa"]),
    ("sim-a53", &["sim-core", "sim-isa", "sim-pmu", "sim-trace"]),
    // A scenario has no trace file and no formulas.
    (
        "sim-scenario",
        &["sim-core", "sim-isa", "sim-cache", "sim-pipeline", "sim-pmu", "sim-machine", "sim-a53"],
    ),
    // Lessons also run in a browser: no trace file, no experiment.
    ("sim-course", &["sim-core", "sim-metrics", "sim-pmu", "sim-machine", "sim-scenario"]),
    (
        "sim-litmus",
        &[
            "sim-core",
            "sim-files",
            "sim-isa",
            "sim-machine",
            "sim-metrics",
            "sim-scenario",
            "sim-trace",
        ],
    ),
];

fn layer_of(name: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&name))
}

/// Returns the workspace members: directory and package name.
fn members() -> Vec<(String, String)> {
    let root: toml::Table =
        read(&repository().join("Cargo.toml")).parse().expect("the root manifest is TOML");
    let members = root["workspace"]["members"].as_array().expect("members is a list");
    members
        .iter()
        .map(|member| {
            let folder = member.as_str().expect("a member is a directory").to_owned();
            let package = manifest(&folder)["package"]["name"].as_str().map(str::to_owned);
            (folder, package.expect("a package has a name"))
        })
        .collect()
}

fn manifest(folder: &str) -> toml::Table {
    let path = repository().join(folder).join("Cargo.toml");
    read(&path).parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the packages of this workspace that a package uses, without dev-dependencies.
fn uses(folder: &str, all: &[String]) -> Vec<String> {
    let manifest = manifest(folder);
    let tables = ["dependencies", "build-dependencies"];
    let mut used: Vec<String> = tables
        .iter()
        .filter_map(|table| manifest.get(*table)?.as_table())
        .flat_map(|table| table.keys().cloned())
        .filter(|name| all.contains(name))
        .collect();
    used.sort();
    used
}

#[test]
fn every_crate_uses_only_crates_of_lower_rows() {
    let members = members();
    let names: Vec<String> = members.iter().map(|(_, name)| name.clone()).collect();
    let mut faults = Vec::new();
    for (folder, name) in &members {
        let layer = layer_of(name);
        if layer.is_none() && !OUTSIDE.contains(&name.as_str()) {
            faults.push(format!(
                "{name} is in no row: add it to LAYERS in tests/tests/layering.rs, in the row \
                 above everything that it uses, and give it a paragraph in ARCHITECTURE.md"
            ));
        }
        for used in uses(folder, &names) {
            let narrower = NARROWER.iter().find(|(narrow, _)| narrow == name);
            let allowed = match (layer, layer_of(&used), narrower) {
                // All crates that check the others from outside share the harness.
                (None, None, _) => used == "sim-tests",
                (Some(_), None, _) => false,
                (Some(_), Some(_), Some((_, list))) => list.contains(&used.as_str()),
                (Some(own), Some(below), None) => below < own,
                (None, Some(_), _) => name != "sim-capture" || used == "sim-isa",
            };
            if !allowed {
                faults.push(format!(
                    "{name} may not use {used}: siblings and upper rows meet through the traits \
                     and types of sim-core"
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn architecture_names_every_crate() {
    let text = read(&repository().join("ARCHITECTURE.md"));
    let words: Vec<&str> =
        text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_".contains(c))).collect();
    let missing: Vec<String> = members()
        .into_iter()
        .filter(|(folder, name)| [folder, name].iter().all(|word| !words.contains(&word.as_str())))
        .map(|(_, name)| name)
        .collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md says nothing about {}", missing.join(", "));
}
