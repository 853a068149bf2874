//! Fuzzes configurations: a whole text, or differences from an embedded configuration, with `--set`
//! lines after a zero byte. Every instruction class must run on an accepted machine. Nothing may
//! panic, hang or take much memory.
//!
//! Run: `cargo xtask fuzz config`

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::{Corpus, fuzz_target};
use sim_core::config::{ConfigError, Document};
use sim_machine::config::EMBEDDED;
use sim_machine::{MachineConfig, Profile};
use sim_scenario::{self as scenario, Case, Reading, Recorded, run_case_on};

/// Largest size of a cache, in bytes. Larger machines are valid, but slow to build.
const LARGEST_BYTES: u64 = 4 << 20;

static OURS: LazyLock<Document> = LazyLock::new(|| {
    let ours = Document::from_embedded(Profile::Guide.file_name(), &EMBEDDED).expect("ours");
    let small = ["memory.slc.slice-bytes=65536", "memory.snoop-filter.slice-lines=512"];
    small.into_iter().fold(ours, |ours, set| ours.set(set).expect("a smaller machine"))
});

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    scenario::parse("config.toml", include_str!("../seeds/every-kind-of-step.toml")).expect("ours")
});

fuzz_target!(|data: &[u8]| -> Corpus {
    let Ok(text) = std::str::from_utf8(data) else { return Corpus::Reject };
    let (text, assignments) = text.split_once('\0').unwrap_or((text, ""));
    let document = match text.starts_with("[core]") {
        true => Document::from_text("fuzz.toml", text),
        false => OURS.clone().with_overlay("fuzz.toml", text),
    };
    let set = |document: Result<Document, ConfigError>, line: &str| document?.set(line);
    match assignments.lines().fold(document, set) {
        Ok(document) => read(&document),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    Corpus::Keep
});

fn read(document: &Document) {
    let _ = (document.render(), document.hash(), document.name());
    assert!(document.settings().iter().all(|setting| !setting.key.is_empty()));
    match MachineConfig::from_document(document) {
        Ok(config) if is_quick(&config) => run(&config),
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn is_quick(config: &MachineConfig) -> bool {
    let memory = &config.memory;
    let slc = memory.slc.slice_bytes * u64::from(memory.slc.slices);
    [memory.l1i.size_bytes, memory.l1d.size_bytes, memory.l2.size_bytes, slc]
        .into_iter()
        .all(|bytes| bytes <= LARGEST_BYTES)
}

fn run(config: &MachineConfig) {
    for case in &*CASES {
        match run_case_on(case, config, Reading::Guide, Recorded::default()) {
            Ok(_) => {}
            Err(error) => drop(error.to_string()),
        }
    }
}
