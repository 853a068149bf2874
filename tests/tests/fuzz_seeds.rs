//! Runs every committed seed through its fuzz target, with the stable compiler.
//!
//! The targets of `fuzz/fuzz_targets` are used unchanged; this file replaces the parts of libFuzzer
//! that they need. So they compile wherever the tests do, and a seed that once showed a fault shows
//! it again if the fault returns.

// Allows program attributes, undocumented items of a program, and modules that each program
// includes.
#![allow(unused_attributes, missing_docs, unreachable_pub, clippy::duplicate_mod)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sim_tests::repository;

/// Whether libFuzzer would keep an input.
#[derive(PartialEq)]
pub(crate) enum Corpus {
    Keep,
    Reject,
}

#[path = "../../fuzz/fuzz_targets/config.rs"]
mod config;
#[path = "../../fuzz/fuzz_targets/count_table.rs"]
mod count_table;
#[path = "../../fuzz/fuzz_targets/foreign_reader.rs"]
mod foreign_reader;
#[path = "../../fuzz/fuzz_targets/kernel_symbols.rs"]
mod kernel_symbols;
#[path = "../../fuzz/fuzz_targets/metrics.rs"]
mod metrics;
#[path = "../../fuzz/fuzz_targets/n2t_reader.rs"]
mod n2t_reader;
#[path = "../../fuzz/fuzz_targets/program_file.rs"]
mod program_file;
#[path = "../../fuzz/fuzz_targets/regions.rs"]
mod regions;
#[path = "../../fuzz/fuzz_targets/replay.rs"]
mod replay;
#[path = "../../fuzz/fuzz_targets/scenario.rs"]
mod scenario;
#[path = "../../fuzz/fuzz_targets/spe_decoder.rs"]
mod spe_decoder;
#[path = "../../fuzz/fuzz_targets/states.rs"]
mod states;

/// Makes a function of the body of a target.
macro_rules! fuzz_target {
    (|$data:ident: &[u8]| -> Corpus $body:block) => {
        pub(crate) fn fuzz_input($data: &[u8]) -> crate::fuzz_seeds::Corpus {
            $body
        }
    };
    (|$data:ident: &[u8]| $body:block) => {
        pub(crate) fn fuzz_input($data: &[u8]) -> crate::fuzz_seeds::Corpus {
            let judge = |$data: &[u8]| $body;
            judge($data);
            crate::fuzz_seeds::Corpus::Keep
        }
    };
}
pub(crate) use fuzz_target;

type Target = fn(&[u8]) -> Corpus;

/// Every target with its name.
const TARGETS: [(&str, Target); 12] = [
    ("config", config::fuzz_input),
    ("count_table", count_table::fuzz_input),
    ("foreign_reader", foreign_reader::fuzz_input),
    ("kernel_symbols", kernel_symbols::fuzz_input),
    ("metrics", metrics::fuzz_input),
    ("n2t_reader", n2t_reader::fuzz_input),
    ("program_file", program_file::fuzz_input),
    ("regions", regions::fuzz_input),
    ("replay", replay::fuzz_input),
    ("scenario", scenario::fuzz_input),
    ("spe_decoder", spe_decoder::fuzz_input),
    ("states", states::fuzz_input),
];

/// Runs a target on its seeds, whole and cut off at the end. Nothing panics, and libFuzzer would
/// keep some seed.
fn run_seeds(name: &str) {
    let (_, run) = TARGETS.into_iter().find(|(known, _)| *known == name).expect("in the list");
    let mut kept = 0;
    for seed in files(&repository().join("fuzz/seeds").join(name)) {
        let bytes = fs::read(&seed).expect("a committed file");
        kept += usize::from(run(&bytes) == Corpus::Keep);
        for end in [0, bytes.len() / 2, bytes.len().saturating_sub(1)] {
            run(&bytes[..end]);
        }
    }
    assert!(kept > 0, "{name}: no seed is an input that it takes");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("readable").path()).collect()
}

#[test]
fn every_target_is_replayed() {
    let sources = files(&repository().join("fuzz/fuzz_targets"));
    let stems =
        sources.iter().filter_map(|path| path.file_stem()?.to_str()).collect::<BTreeSet<_>>();
    assert_eq!(stems, TARGETS.iter().map(|(name, _)| *name).collect());
}

/// Defines one test per target, so that a failure names it and they run in parallel.
macro_rules! replays {
    ($($test:ident: $target:literal),+ $(,)?) => {
        $(#[test]
        fn $test() {
            run_seeds($target);
        })+
    };
}

replays! {
    seeds_of_config: "config",
    seeds_of_count_table: "count_table",
    seeds_of_foreign_reader: "foreign_reader",
    seeds_of_kernel_symbols: "kernel_symbols",
    seeds_of_metrics: "metrics",
    seeds_of_n2t_reader: "n2t_reader",
    seeds_of_program_file: "program_file",
    seeds_of_regions: "regions",
    seeds_of_replay: "replay",
    seeds_of_scenario: "scenario",
    seeds_of_spe_decoder: "spe_decoder",
    seeds_of_states: "states",
}
