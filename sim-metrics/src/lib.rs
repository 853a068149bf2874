//! Formulas over event counts: ratios for reports, and identities that all counts must satisfy.
//!
//! * [`formula`]: the expressions of metric files: parser, evaluator;
//! * [`metric_file`]: readers of published metric files and of the project's own format;
//! * [`builtin`]: the metrics of `configs/neoverse-n2/metrics.toml` and of the Cortex-A53;
//! * [`metrics`]: the built-in ratios, each a weighted sum over a weighted sum of events;
//! * [`rules`]: the form of a rule between counts, whatever the core;
//! * [`identities`]: sums, aliases, subsets and the slot identity, derived from the event table;
//! * [`a53_rules`]: the rules between counts of a Cortex-A53;
//! * [`lint`]: counts that no rule forbids and no machine shows: ratios above 1, negative shares;
//! * [`truth`]: ground-truth values by name, for metrics that claim to measure them; [`a53_truth`]:
//!   those of a Cortex-A53; [`mesh_truth`]: those of the mesh;
//! * [`validator`]: formulas compared with ground truth, with the reasons for a difference;
//! * [`cause`]: usual causes of a broken rule; [`count`]: a count and its tolerance.

pub mod a53_rules;
pub mod a53_truth;
pub mod builtin;
pub mod cause;
pub mod count;
pub mod formula;
pub mod identities;
pub mod lint;
pub mod mesh_truth;
pub mod metric_file;
pub mod metrics;
pub mod rules;
pub mod truth;
pub mod validator;

pub use cause::Cause;
pub use count::Count;
pub use identities::{Assumptions, Check, Violation};
pub use lint::Doubt;
pub use metrics::{Metric, Unit};
pub use truth::{Truth, TruthUnit, Truths};
