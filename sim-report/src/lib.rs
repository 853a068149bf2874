//! Writes results for people and for other programs. It computes nothing but ratios of counts.
//!
//! * [`stat`]: which counts to print: rows from an [`sim_machine::Outcome`];
//! * [`perf_stat`]: those rows as `perf stat` prints them: text, CSV, JSON;
//! * [`stalls`]: the stall ledger as a table; [`prefetches`]: what became of prefetched lines;
//! * [`case_counts`]: what a scenario counted, step by step; [`case_tables`]: the same of all cases of a file;
//! * [`count_table`]: counts that `perf stat` printed, of any machine, read again;
//! * [`spe`]: sample records, read, summed up and printed;
//! * [`diff`]: why two configurations count differently;
//! * [`perf_data`]: files that Linux' `perf` reads; [`symbols`]: names of code;
//! * [`flow`]: the flows of the guide as pictures and text;
//! * [`functions`]: what the functions of a program cost;
//! * [`validate`]: how metrics did against the truth, [`error_figure`]: as a picture;
//! * [`pipeview`]: the lives of operations, stage by stage; [`disassembly`]: words as text;
//! * [`metrics`]: values of metrics, as `perf stat -M` prints them;
//! * [`explain`]: what an event is, and what proves it;
//! * [`export`]: traces for other simulators;
//! * [`event_bus`]: the exported event bus, as a value change dump or text;
//! * [`program_pmu`]: what a traced program did to its PMU;
//! * [`run_report`]: everything that a report about one run shows, as data;
//! * [`run_diff`]: what changed between two of those;
//! * [`header`]: what produced a result;
//! * [`page`]: what every page (HTML) is made in, and the colors of every drawing;
//! * [`ladder`]: what the memory's latencies and rates are, as tables; [`figure`]: as pictures, and those of `docs`.

pub mod case_counts;
pub mod case_tables;
pub mod count_table;
pub mod counterfactual;
pub mod diff;
pub mod disassembly;
pub mod error_figure;
pub mod event_bus;
pub mod explain;
pub mod export;
pub mod figure;
pub mod flow;
pub mod functions;
pub mod header;
pub mod ladder;
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
pub mod spe;
pub mod stalls;
pub mod stat;
pub mod symbols;
pub mod validate;

pub use run_report::RunReport;
pub use stat::{Owner, Reading, Row, Section, Selected, StatReport};
pub use symbols::Symbols;
