//! Errors of a formula, with the column and the correct form.

use super::machine::Literal;
use super::node::Span;
use sim_core::Shown;

/// Error of a formula that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {}", fault.to_string().shown())]
pub struct FormulaError {
    /// Position of the error.
    pub span: Span,
    /// Column of the error in characters, from 1.
    pub column: usize,
    /// Kind of the error.
    pub fault: Fault,
}

impl FormulaError {
    pub(super) fn new(text: &str, span: Span, fault: Fault) -> FormulaError {
        FormulaError { span, column: span.column(text), fault }
    }
}

/// Kind of a parse error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The character cannot occur in a formula.
    #[error("'{0}' has no meaning in a formula; write '-', ',' or '=' in a name after a \\")]
    Character(char),
    /// perf has no `#` literal with this name.
    #[error("unknown literal '{0}'; known are {known} (put a blank before a '-')", known = literals())]
    UnknownLiteral(String),
    /// The number does not fit into a double.
    #[error("the number {0} is too large")]
    NumberTooLarge(String),
    /// The text is longer than a formula may be.
    #[error("the formula is longer than {0} bytes")]
    TooLong(usize),
    /// Too many parentheses, signs or choices are nested.
    #[error("more than {0} parentheses, signs and choices are nested")]
    TooDeep(usize),
    /// The word cannot occur at this position.
    #[error("'{found}' where {expected} is expected")]
    Unexpected {
        /// Word found.
        found: String,
        /// Expected word.
        expected: &'static str,
    },
    /// The formula ends too early.
    #[error("the formula ends where {0} is expected")]
    Ends(&'static str),
    /// The argument of `strcmp_cpuid_str` is not a MIDR.
    #[error("'{0}' is not a MIDR_EL1; write it as strcmp_cpuid_str(0x410fd493)")]
    Midr(String),
}

fn literals() -> String {
    let name = |(name, _): &(&str, Literal)| format!("#{name}");
    Literal::ALL.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Error of a formula that refers to something unusable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Metrics refer to each other in a cycle.
    #[error("metrics refer to each other in a cycle: {}", .0.join(" -> "))]
    Cycle(Vec<String>),
    /// The chain of metrics is too long.
    #[error("more than {0} metrics refer to one another in a chain")]
    TooDeep(usize),
    /// The formula of a referenced metric cannot be parsed.
    #[error("metric '{metric}': {error}")]
    Unreadable {
        /// Name of the metric.
        metric: String,
        /// Error in its formula.
        error: FormulaError,
    },
}
