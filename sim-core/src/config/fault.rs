//! What is wrong with a configuration and where: file, line, the line itself with a caret.

use crate::shown::Shown;
use std::fmt;
use std::ops::Range;

use toml_edit::{DocumentMut, TableLike};

/// Why a configuration is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read the configuration {file}")]
    Read {
        /// The file.
        file: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file that is longer than any configuration.
    #[error("{file}: more than {max} bytes; this is no configuration")]
    TooLong {
        /// The file.
        file: String,
        /// The most that are read.
        max: u64,
    },
    /// A file names a base that is neither beside it nor part of the program.
    #[error("{file}: the base '{}' is neither a file beside it nor one of {known}", base.shown())]
    NoBase {
        /// The file that names the base.
        file: String,
        /// The name it gives.
        base: String,
        /// The files that are part of the program.
        known: String,
    },
    /// Bases of bases: most likely a circle.
    #[error("{file}: more than {max} files stand on one another; look for a circle of `base` keys")]
    TooManyBases {
        /// The file on top.
        file: String,
        /// The most that are followed.
        max: usize,
    },
    /// An override that is no `key=value`.
    #[error("cannot read the override '{}': write it as table.key=value, for example {EXAMPLE}", .0.shown())]
    Assignment(String),
    /// All faults that were found, each with its place.
    #[error("{}", list(.0))]
    Refused(Vec<Fault>),
}

/// An override as it is meant, for messages.
const EXAMPLE: &str = "core.clock-hz=3000000000";

/// What a check of parsed values found, not yet tied to a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Dotted key of the value, such as `memory.l1d.ways`; a table when a key is missing.
    pub key: String,
    /// The rule that is broken and what would be right.
    pub message: String,
}

impl Problem {
    /// A problem with the value of `key`.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { key: key.into(), message: message.into() }
    }
}

/// A problem with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where to repair it, if it was written anywhere.
    pub place: Option<Place>,
    /// Dotted key.
    pub key: String,
    /// The rule that is broken and what would be right.
    pub message: String,
}

/// A stretch of a line of a file, or of an override.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, or `--set`.
    pub source: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line as written.
    pub text: String,
    /// Characters to underline.
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

    /// The line and, under it, the caret.
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

/// The source that stands in messages about overrides.
const COMMAND_LINE: &str = "--set";

/// One text of a document with the places of its keys.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    source: String,
    spans: toml_edit::Document<String>,
}

impl Layer {
    /// A file. A fault of TOML itself is reported here.
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

    /// An override `key=value`; a value that TOML cannot read is meant as a string.
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

    /// The text in a form that can be changed and keeps comments.
    pub(super) fn editable(&self) -> DocumentMut {
        self.spans.clone().into_mut()
    }

    /// How a value that this layer changes says where it comes from.
    pub(super) fn reason(&self) -> String {
        if self.source == COMMAND_LINE {
            return String::from("set on the command line");
        }
        format!("set in {}", self.source)
    }

    /// The layer in the name of the document.
    pub(super) fn title(&self) -> String {
        if self.source == COMMAND_LINE {
            return format!("{COMMAND_LINE} {}", self.spans.raw().replacen(" = ", "=", 1));
        }
        self.source.clone()
    }

    /// The first line of this layer.
    pub(super) fn head(&self) -> Place {
        place(&self.source, self.spans.raw(), 0..0)
    }

    /// Where this layer writes `path`: the value, the key of a table, or nothing.
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

/// From the key to the end of its value.
fn whole(key: Range<usize>, value: Option<Range<usize>>) -> Range<usize> {
    key.start..value.map_or(key.end, |value| value.end.max(key.end))
}

/// The first line of `span`.
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
