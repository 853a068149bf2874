//! What is wrong with a formula, with the column and what would be right.

use super::machine::Literal;
use super::node::Span;
use sim_core::Shown;

/// A formula that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {}", fault.to_string().shown())]
pub struct FormulaError {
    /// The place.
    pub span: Span,
    /// Column of the place in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub fault: Fault,
}

impl FormulaError {
    pub(super) fn new(text: &str, span: Span, fault: Fault) -> FormulaError {
        FormulaError { span, column: span.column(text), fault }
    }
}

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A character that no formula contains.
    #[error("'{0}' means nothing in a formula; a '-', ',' or '=' in a name is written behind a \\")]
    Character(char),
    /// A `#` name that perf does not have.
    #[error("unknown literal '{0}'; known are {known} (a '-' behind one needs a blank)", known = literals())]
    UnknownLiteral(String),
    /// A number outside of what a double holds.
    #[error("the number {0} is too large")]
    NumberTooLarge(String),
    /// More text than a formula can have.
    #[error("the formula is longer than {0} bytes")]
    TooLong(usize),
    /// Too many parentheses, signs or choices in each other.
    #[error("more than {0} parentheses, signs and choices are nested")]
    TooDeep(usize),
    /// A word in a place where it cannot stand.
    #[error("'{found}' where {expected} is expected")]
    Unexpected {
        /// The word.
        found: String,
        /// What could stand there.
        expected: &'static str,
    },
    /// The formula ends too early.
    #[error("the formula ends where {0} is expected")]
    Ends(&'static str),
    /// `strcmp_cpuid_str` of something that is no MIDR.
    #[error("'{0}' is no MIDR_EL1; write it as strcmp_cpuid_str(0x410fd493)")]
    Midr(String),
}

fn literals() -> String {
    let name = |(name, _): &(&str, Literal)| format!("#{name}");
    Literal::ALL.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// A formula that refers to something that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Metrics that refer to each other in a circle.
    #[error("metrics refer to each other in a circle: {}", .0.join(" -> "))]
    Circle(Vec<String>),
    /// A chain of metrics that is too long.
    #[error("more than {0} metrics refer to one another in a chain")]
    TooDeep(usize),
    /// The formula of a metric that is referred to cannot be read.
    #[error("metric '{metric}': {error}")]
    Unreadable {
        /// The metric.
        metric: String,
        /// What is wrong with it.
        error: FormulaError,
    },
}
