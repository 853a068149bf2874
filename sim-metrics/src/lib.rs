//! Formulas over event counts: ratios that reports print, identities that every count must keep.
//!
//! * [`formula`]: the expressions of metric files: parser, evaluator;
//! * [`metric_file`]: readers of published metric files and of our own;
//! * [`builtin`]: the metrics of `configs/neoverse-n2/metrics.toml`;
//! * [`metrics`]: the built-in ratios, each a weighted sum over a weighted sum of events;
//! * [`identities`]: sums, aliases, subsets and the slot identity, derived from the event table;
//! * [`lint`]: what no rule forbids and no machine shows: ratios above 1, negative shares;
//! * [`truth`]: what truly happened, by name, for metrics that claim to measure it;
//! * [`validator`]: formulas held against truths, with the reasons of a difference;
//! * [`cause`]: why a table usually breaks a rule; [`count`]: a count and its tolerance.

pub mod builtin;
pub mod cause;
pub mod count;
pub mod formula;
pub mod identities;
pub mod lint;
pub mod metric_file;
pub mod metrics;
pub mod truth;
pub mod validator;

pub use cause::Cause;
pub use count::Count;
pub use identities::{Assumptions, Check, Violation};
pub use lint::Doubt;
pub use metrics::{Metric, Unit};
pub use truth::{Truth, TruthUnit, Truths};
