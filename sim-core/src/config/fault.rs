//! Faults of a configuration: file, line number, and the line itself with a caret.

use crate::shown::Shown;
use std::fmt;
use std::ops::Range;

use toml_edit::{DocumentMut, TableLike};

/// Error that refuses a configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read the configuration {file}")]
    Read {
        /// File that cannot be read.
        file: String,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A file is longer than any configuration.
    #[error("{file}: more than {max} bytes; this is not a configuration")]
    TooLong {
        /// File that is too long.
        file: String,
        /// Largest size that is read, in bytes.
        max: u64,
    },
    /// A file names a base that is neither in its directory nor part of the program.
    #[error("{file}: the base '{}' is neither a file in its directory nor one of {known}", base.shown())]
    NoBase {
        /// The file that names the base.
        file: String,
        /// Name of the base.
        base: String,
        /// Names of the files that are part of the program.
        known: String,
    },
    /// Too many nested base files, most likely a cycle of `base` keys.
    #[error("{file}: more than {max} nested base files; check the `base` keys for a cycle")]
    TooManyBases {
        /// File at the top of the chain of bases.
        file: String,
        /// Largest number of files.
        max: usize,
    },
    /// An override is not of the form `key=value`.
    #[error("cannot read the override '{}': write it as table.key=value, for example {EXAMPLE}", .0.shown())]
    Assignment(String),
    /// The document has faults; each has its place.
    #[error("{}", list(.0))]
    Refused(Vec<Fault>),
}

/// Example of a correct override, for messages.
const EXAMPLE: &str = "core.clock-hz=3000000000";

/// A problem that a check of parsed values found, not yet tied to a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Dotted key of the value, such as `memory.l1d.ways`. Names the table if a key is missing.
    pub key: String,
    /// Broken rule and remedy.
    pub message: String,
}

impl Problem {
    /// Creates a problem with the value of `key`.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { key: key.into(), message: message.into() }
    }
}

/// A problem with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Place to fix, if the value was written anywhere.
    pub place: Option<Place>,
    /// Dotted key.
    pub key: String,
    /// Broken rule and remedy.
    pub message: String,
}

/// A range of characters in one line of a file or override.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the file, or `--set`.
    pub source: String,
    /// Line number, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Line as written.
    pub text: String,
    /// Number of characters to underline.
    pub width: usize,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => {
                writeln!(f, "{}: {}", place.head(), self.message)?;
                place.draw(f)
            }
            None if self.key.is_empty() => write!(f, "{}", self.message),
            None => write!(f, "{}: {}", self.key, self.message),
        }
    }
}

impl Place {
    fn head(&self) -> String {
        if self.source == COMMAND_LINE {
            return self.source.clone();
        }
        format!("{}:{}:{}", self.source, self.line, self.column)
    }

    /// Prints the line with carets below the range.
    fn draw(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let indent = " ".repeat(self.column - 1);
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {}", self.text)?;
        write!(f, "{margin} | {indent}{}", "^".repeat(self.width))
    }
}

fn list(faults: &[Fault]) -> String {
    let all = faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("\n\n");
    match faults.len() {
        0 | 1 => all,
        n => format!("{n} faults in the configuration\n\n{all}"),
    }
}

/// Name of overrides as a source, for messages.
const COMMAND_LINE: &str = "--set";

/// One text of a document, with the places of its keys.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    source: String,
    spans: toml_edit::Document<String>,
}

impl Layer {
    /// Parses the text of a file. Fails if it is not TOML.
    pub(super) fn file(name: &str, text: &str) -> Result<Layer, ConfigError> {
        match toml_edit::Document::parse(text.to_owned()) {
            Ok(spans) => Ok(Layer { source: name.to_owned(), spans }),
            Err(error) => Err(ConfigError::Refused(vec![Fault {
                place: error.span().map(|span| place(name, text, span)),
                key: String::new(),
                message: error.message().trim_end().replace('\n', "; "),
            }])),
        }
    }

    /// Parses an override `key=value`. A value that is not TOML counts as a string.
    pub(super) fn command_line(assignment: &str) -> Result<Layer, ConfigError> {
        let broken = || ConfigError::Assignment(assignment.to_owned());
        let (key, value) = assignment.split_once('=').ok_or_else(broken)?;
        let (key, value) = (key.trim(), value.trim());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.\"".contains(c);
        if value.is_empty() || key.is_empty() || !key.chars().all(is_plain) {
            return Err(broken());
        }
        let as_toml = format!("{key} = {value}");
        let as_word = format!("{key} = {value:?}");
        let spans = toml_edit::Document::parse(as_toml)
            .or_else(|_| toml_edit::Document::parse(as_word))
            .map_err(|_| broken())?;
        Ok(Layer { source: COMMAND_LINE.to_owned(), spans })
    }

    /// Returns the text in a form that can be edited and that keeps comments.
    pub(super) fn editable(&self) -> DocumentMut {
        self.spans.clone().into_mut()
    }

    /// Returns the source that is noted on the values that this layer changes.
    pub(super) fn reason(&self) -> String {
        if self.source == COMMAND_LINE {
            return String::from("set on the command line");
        }
        format!("set in {}", self.source)
    }

    /// Returns the part of the document's name that names this layer.
    pub(super) fn title(&self) -> String {
        if self.source == COMMAND_LINE {
            return format!("{COMMAND_LINE} {}", self.spans.raw().replacen(" = ", "=", 1));
        }
        self.source.clone()
    }

    /// Returns the first line of this layer.
    pub(super) fn head(&self) -> Place {
        place(&self.source, self.spans.raw(), 0..0)
    }

    /// Returns the place of `path` in this layer: the value or the key of a table.
    pub(super) fn place(&self, path: &[String]) -> Option<Place> {
        let (last, parents) = path.split_last()?;
        let mut table: &dyn TableLike = self.spans.as_table();
        for part in parents {
            table = table.get(part)?.as_table_like()?;
        }
        let item = table.get(last)?;
        let span = match item.as_table() {
            Some(inner) => inner.span(),
            None => None,
        };
        let span = span.or_else(|| Some(whole(table.key(last)?.span()?, item.span())))?;
        Some(place(&self.source, self.spans.raw(), span))
    }
}

/// Returns the range from the start of a key to the end of its value.
fn whole(key: Range<usize>, value: Option<Range<usize>>) -> Range<usize> {
    key.start..value.map_or(key.end, |value| value.end.max(key.end))
}

/// Returns the first line of `span`.
fn place(source: &str, text: &str, span: Range<usize>) -> Place {
    let start = span.start.min(text.len());
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let line = text[line_start..line_end].trim_end();
    let end = span.end.clamp(start, line_end);
    Place {
        source: source.to_owned(),
        line: text[..start].matches('\n').count() + 1,
        column: text[line_start..start].chars().count() + 1,
        text: line.to_owned(),
        width: text[start..end].trim_end().chars().count().max(1),
    }
}
