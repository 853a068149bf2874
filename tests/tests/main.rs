//! Tests that need several crates: scenarios, whole runs, and checks of the source itself.

mod circles;
mod conformance;
mod deferred;
mod documents;
mod encodings;
mod event_bus;
mod explain;
mod flows;
mod follow;
mod foreign;
mod formulas;
mod fuzz_seeds;
mod kernels;
mod layering;
mod multiplex;
mod mutation;
mod program_pmu;
mod recorded_counts;
mod report;
mod scenarios;
mod schema;
mod space;
mod spe_totals;
mod threads;
mod tidy;
mod traces;
mod truth;
mod words;

// The fuzz targets in `fuzz_seeds` name these items of libFuzzer's crate.
extern crate self as libfuzzer_sys;

use fuzz_seeds::{Corpus, fuzz_target};
