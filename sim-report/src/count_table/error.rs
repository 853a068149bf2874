//! Errors in a file of counts.

/// Error in a file of counts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CountTableError {
    /// Line that is not a JSON object.
    #[error("not a JSON object: {reason}")]
    Json {
        /// The line, from 1.
        line: usize,
        /// Fault found by the parser.
        reason: String,
    },
    /// JSON object without a field that every count has.
    #[error("`{field}` is missing; make the file with perf stat -j")]
    Field {
        /// The line, from 1.
        line: usize,
        /// The field.
        field: &'static str,
    },
    /// Line that is not a row of any known form.
    #[error("'{text}' is not a perf stat row; fix or remove it")]
    Row {
        /// The line, from 1.
        line: usize,
        /// Content of the line.
        text: String,
    },
    /// Value that is not a count.
    #[error("'{value}' is not a count")]
    Value {
        /// The line, from 1.
        line: usize,
        /// Value as written.
        value: String,
    },
    /// Two different counts of one event.
    #[error(
        "{event} occurs twice in one table, as {first} and {second}; remove one of the two lines"
    )]
    Twice {
        /// Line of the second count, from 1.
        line: usize,
        /// The event as printed.
        event: String,
        /// First count.
        first: u64,
        /// Second count.
        second: u64,
    },
    /// Human-readable table of `n2sim functions`.
    #[error(
        "a table by function holds only cycles and instructions, to which no rule applies; make the file with \
         n2sim functions -x, or -j"
    )]
    FunctionTable {
        /// First line of the table, from 1.
        line: usize,
    },
    /// File without counts of the core.
    #[error("no line holds the count of a {core} event; make the file with perf stat")]
    Nothing {
        /// Name of the core.
        core: &'static str,
    },
}

impl CountTableError {
    /// Returns the line with the fault.
    pub fn line(&self) -> Option<usize> {
        match self {
            CountTableError::Json { line, .. }
            | CountTableError::Field { line, .. }
            | CountTableError::Row { line, .. }
            | CountTableError::Value { line, .. }
            | CountTableError::FunctionTable { line }
            | CountTableError::Twice { line, .. } => Some(*line),
            CountTableError::Nothing { .. } => None,
        }
    }
}

/// Most characters of a line that a message shows.
const SHOWN_MAX: usize = 80;

/// Returns the beginning of a text from a file, for a message.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
