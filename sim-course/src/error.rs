//! Faults of a lesson or of a sheet of answers, each with its place and a remedy.

use sim_scenario::Place;

/// A fault of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{}:{}: {problem}", place.line, place.column)]
pub struct LessonError {
    /// The file as it was named to the parser.
    pub file: String,
    /// Place of the fault.
    pub place: Place,
    /// Kind of the fault, with the remedy.
    pub problem: Problem,
}

/// Kind of a fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file is not TOML.
    #[error("not valid TOML: {0}")]
    Toml(String),
    /// The key is unknown in this table.
    #[error("unknown key '{key}'; {table} has {known}")]
    UnknownKey {
        /// The key.
        key: String,
        /// Name of the table.
        table: &'static str,
        /// Known keys.
        known: String,
    },
    /// A required key is missing.
    #[error("{table} has no '{key}'; add {key} = {example}")]
    MissingKey {
        /// Name of the table.
        table: &'static str,
        /// The key.
        key: &'static str,
        /// A value of the key.
        example: &'static str,
    },
    /// The value has another type or is outside its range.
    #[error("'{key}' must be {expected}")]
    WrongType {
        /// Name of the key.
        key: String,
        /// Allowed values.
        expected: &'static str,
    },
    /// Any other fault; the text says what is wrong and what would be right.
    #[error("{0}")]
    Other(String),
}

/// A fault at a byte offset of the file, before lines are counted.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) offset: usize,
    pub(crate) problem: Problem,
}

impl Fault {
    pub(crate) fn new(offset: usize, problem: Problem) -> Fault {
        Fault { offset, problem }
    }

    /// Returns a fault with a text of its own.
    pub(crate) fn other(offset: usize, text: impl Into<String>) -> Fault {
        Fault::new(offset, Problem::Other(text.into()))
    }

    /// Returns the error of a file.
    pub(crate) fn of(self, file: &str, text: &str) -> LessonError {
        let place = place_of(text, self.offset);
        LessonError { file: file.to_owned(), place, problem: self.problem }
    }
}

/// Returns the place of byte `offset` in `text`; the end of the text for a larger offset.
pub(crate) fn place_of(text: &str, offset: usize) -> Place {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line = 1 + before.matches('\n').count();
    let column = 1 + before.rsplit('\n').next().unwrap_or_default().chars().count();
    Place { line, column }
}

/// Returns the place of `inner`, a place in a text that begins at `start`.
pub(crate) fn place_inside(start: Place, inner: Place) -> Place {
    match inner.line {
        0 | 1 => Place { line: start.line, column: start.column + inner.column.saturating_sub(1) },
        line => Place { line: start.line + line - 1, column: inner.column },
    }
}
