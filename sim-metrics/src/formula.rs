//! Metric formulas: the expressions of perf's metric files, parsed, linked and evaluated.
//!
//! Stages of a formula: [`Formula::parse`] turns text into a list of nodes with positions.
//! [`Linked::new`] resolves its events and other metrics. [`Linked::evaluate`] computes a value, or
//! the reason why there is none.
//!
//! * `lexer`, `parser`: perf's grammar, with the column of an error;
//! * [`node`]: the operations; [`event_use`]: an event as a formula names it;
//! * [`catalog`]: metrics by name; [`link`]: a formula with everything that it refers to;
//! * [`evaluate`]: values, and reasons for a missing value; [`machine`]: the values of `#slots` and
//!   similar literals;
//! * [`population`], [`dimension`]: the units that events count, and those of operations on them;
//! * [`mod@lint`]: faults of a formula that need no run, `a53_lint` those for a Cortex-A53;
//!   [`foreign`]: event names of other cores.

pub mod a53_lint;
pub(crate) mod bandwidth_unit;
pub mod catalog;
pub mod dimension;
pub mod double_count;
pub mod error;
pub mod evaluate;
pub mod event_use;
pub mod foreign;
mod lexer;
pub mod link;
pub mod lint;
pub mod machine;
pub mod node;
mod parser;
pub mod population;
mod quotient;
mod unit;

pub use catalog::{Catalog, MetricFormula, Scale};
pub use error::{FormulaError, LinkError};
pub use evaluate::{Evaluation, NanReason};
pub use event_use::{EventUse, FormulaCore, Levels, Quantity};
pub use link::Linked;
pub use lint::{Finding, Kind, Severity, lint};
pub use machine::{Literal, Machine};
pub use node::{BinaryOp, Node, NodeId, Op, Span};
pub use parser::Formula;
