//! Output of results for users and for other programs. This crate computes only ratios of counts.
//!
//! * [`stat`]: selection of the counts to print: rows from a [`sim_machine::Outcome`];
//! * [`perf_stat`]: these rows in the formats of `perf stat`: text, CSV, JSON;
//! * [`stalls`]: the stall ledger as a table; [`prefetches`]: the outcome of prefetched lines;
//! * [`case_counts`]: counts of a scenario, step by step; [`case_tables`]: counts of all cases of a
//!   file;
//! * [`count_table`]: reader of counts that `perf stat` printed on any machine;
//! * [`spe`]: sample records, read, summarized and printed;
//! * [`diff`]: differences of counts between two configurations, with their causes;
//! * [`core_diff`]: one trace on two cores;
//! * [`counterfactual`]: cycles that a run would save if a resource cost nothing;
//! * [`scaling`]: time of a program over the number of its cores;
//! * [`perf_data`]: files for Linux `perf`; [`stacks`]: call stacks for other viewers;
//! * [`symbols`]: names of code;
//! * [`flow`]: the flows of the guide as figures and text;
//! * [`functions`]: costs of the functions of a program;
//! * [`validate`]: metrics against ground-truth values, [`error_figure`]: the same as a figure;
//! * [`pipeview`]: pipeline stages of operations;
//! * [`metrics`]: values of metrics, as `perf stat -M` prints them;
//! * [`explain`]: explanations of events, with the scenarios that prove them;
//! * [`export`]: traces for other simulators;
//! * [`event_bus`]: the exported event bus, as a value change dump or text;
//! * [`program_pmu`]: accesses of a traced program to its PMU;
//! * [`run_report`]: the data of a report about one run;
//! * [`run_diff`]: differences between two such reports;
//! * [`header`]: the description of a run in front of its results;
//! * [`page`]: the frame of every HTML page, and the colors of every drawing;
//! * [`memory_path`]: the levels that accesses ask, as a figure;
//! * [`ladder`]: latencies and bandwidths of the memory as tables; [`figure`]: the same as figures,
//!   and the figures of `docs`;
//! * [`a53_stat`], [`a53_ladder`]: counts and memory of a Cortex-A53.

pub mod a53_counts;
pub mod a53_ladder;
pub mod a53_stat;
pub mod book;
pub mod case_counts;
pub mod case_tables;
pub mod core_diff;
pub mod count_table;
pub mod counterfactual;
pub mod diff;
mod drawing_file;
pub mod error_figure;
pub mod event_bus;
pub mod explain;
pub mod export;
pub mod figure;
pub mod flow;
pub mod functions;
pub mod header;
pub mod ladder;
pub mod memory_path;
pub mod metrics;
pub mod page;
pub mod perf_data;
pub mod perf_stat;
pub mod pipeview;
pub mod prefetches;
pub mod program_pmu;
pub mod report_page;
pub mod run_diff;
pub mod run_report;
pub mod scaling;
pub mod spe;
pub mod stacks;
pub mod stalls;
pub mod stat;
pub mod symbols;
pub mod validate;
mod xml;

pub use run_report::RunReport;
pub use stat::{Owner, Reading, Row, Section, Selected, StatReport};
pub use symbols::Symbols;
