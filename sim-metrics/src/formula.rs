//! Metric formulas: the expressions of perf's metric files, read, linked and evaluated.
//!
//! The way of a formula: text, by [`Formula::parse`] a list of nodes with places, by [`Linked::new`]
//! one with events and other metrics found, by [`Linked::evaluate`] a value with the reason if it is none.
//!
//! * `lexer`, `parser`: perf's grammar, with the column of what is wrong;
//! * [`node`]: the operations; [`event_use`]: an event as a formula names it;
//! * [`catalog`]: metrics by name; [`link`]: a formula with all that it refers to;
//! * [`evaluate`]: values, and why there is none; [`machine`]: what `#slots` and the like stand for;
//! * [`population`], [`dimension`]: what events count, and what operations make of it;
//! * [`mod@lint`]: what is wrong with a formula without any run; [`foreign`]: names of other cores.

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
pub use evaluate::{Evaluation, Trouble};
pub use event_use::{EventUse, Levels, Quantity};
pub use link::Linked;
pub use lint::{Finding, Kind, Severity, lint};
pub use machine::{Literal, Machine};
pub use node::{BinaryOp, Node, NodeId, Op, Span};
pub use parser::Formula;
