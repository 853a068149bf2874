//! Configuration documents: layers of TOML files, read into a type, with faults that name file and
//! line.
//!
//! A document is a base file, overlays that list only differences (`base = "other.toml"`), and
//! overrides from the command line. Merging keeps the TOML text, so the comment after a value (its
//! source) survives. [`Document::render`] prints every value in force with its source.

mod fault;
mod merge;
pub mod range;
pub mod units;

pub use fault::{ConfigError, Fault, Place, Problem};
pub use range::{Range, Steps};

use std::io::Read;
use std::path::Path;

use serde::de::DeserializeOwned;
use toml_edit::{DocumentMut, Item, TableLike, Value};

use crate::shown::Shown;
use fault::Layer;

/// The key by which an overlay names the file whose values it changes.
const BASE_KEY: &str = "base";
/// Largest number of nested files. More are a mistake, most likely a cycle of `base` keys.
const BASES_MAX: usize = 8;
/// Largest size of a configuration file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Largest number of unknown keys that are reported together.
const UNKNOWN_KEYS_MAX: usize = 20;

/// A configuration file that is part of the program.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// Name by which an overlay refers to the file.
    pub name: &'static str,
    /// Text of the file.
    pub text: &'static str,
}

/// A value in force, as [`Document::settings`] lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Dotted key.
    pub key: String,
    /// Value in normalized spelling, as [`Document::get`] returns it.
    pub value: String,
    /// Comment after the value, which names its source.
    pub source: String,
}

/// A merged configuration document that keeps the place where each value was written.
#[derive(Clone, Debug)]
pub struct Document {
    merged: DocumentMut,
    layers: Vec<Layer>,
}

impl Document {
    /// Reads the file at `path` and its bases. Looks for the file of a `base` key first in the same
    /// directory, then among `embedded`.
    ///
    /// # Errors
    /// A file cannot be read, is not TOML, or changes a key that its base does not have.
    pub fn load(path: &Path, embedded: &[Embedded]) -> Result<Document, ConfigError> {
        let text = read(path)?;
        let directory = path.parent().unwrap_or(Path::new("."));
        Document::stack(&path.shown().to_string(), text, directory, embedded)
    }

    /// Returns the document of the embedded file `name` and its bases.
    ///
    /// # Errors
    /// The same as for [`Document::load`].
    pub fn from_embedded(name: &str, embedded: &[Embedded]) -> Result<Document, ConfigError> {
        let file = find(name, embedded).ok_or_else(|| ConfigError::NoBase {
            file: String::from("the program"),
            base: name.to_owned(),
            known: names(embedded),
        })?;
        Document::stack(file.name, file.text.to_owned(), Path::new("."), embedded)
    }

    /// Returns the document of one text without a base. Messages call the text `name`.
    ///
    /// # Errors
    /// The text is not TOML.
    pub fn from_text(name: &str, text: &str) -> Result<Document, ConfigError> {
        let layer = Layer::file(name, text)?;
        let mut merged = layer.editable();
        merged.remove(BASE_KEY);
        Ok(Document { merged, layers: vec![layer] })
    }

    /// Returns this document with the differences of one more text on top.
    ///
    /// # Errors
    /// The text is not TOML, names unknown keys or gives a value of another type. The error lists
    /// all faults.
    pub fn with_overlay(self, name: &str, text: &str) -> Result<Document, ConfigError> {
        let layer = Layer::file(name, text)?;
        self.with_layer(layer)
    }

    /// Returns this document with `assignment` (`a.b.c=value`) on top. For a key that holds a
    /// string, a word that is not a TOML value counts as a string. A number may have a unit
    /// ([`units::resolve`]), which the name of the document does not show.
    ///
    /// # Errors
    /// The assignment cannot be read, its key does not exist, or its key holds another type.
    pub fn set(self, assignment: &str) -> Result<Document, ConfigError> {
        let layer = Layer::command_line(&self.without_unit(assignment))?;
        self.with_layer(layer)
    }

    /// Returns the assignment with a plain number if it gives a number with a unit to a numeric
    /// key.
    fn without_unit(&self, assignment: &str) -> String {
        let split = assignment.split_once('=');
        let number = split.and_then(|(key, value)| {
            let holds_number = self.get(key.trim())?.parse::<f64>().is_ok();
            let number = units::resolve(key.trim(), value.trim())?;
            holds_number.then(|| format!("{}={number}", key.trim()))
        });
        number.unwrap_or_else(|| assignment.to_owned())
    }

    /// Reads the merged document into a type. Unknown keys are reported together.
    ///
    /// # Errors
    /// A key is unknown or missing, or a value has the wrong type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        let mut rest = self.merged.clone();
        let mut faults = Vec::new();
        loop {
            let text = rest.to_string();
            let error = match toml::from_str::<T>(&text) {
                Ok(value) if faults.is_empty() => return Ok(value),
                Ok(_) => return Err(ConfigError::Refused(faults)),
                Err(error) => error,
            };
            let path =
                error.span().map(|span| merge::path_at(&text, span.start)).unwrap_or_default();
            faults.push(self.fault(&Problem::new(path.join("."), plain_words(error.message()))));
            // An unknown key is removed, so that the next attempt finds the next fault; other
            // faults end the search.
            let is_unknown = error.message().starts_with("unknown field");
            let goes_on = is_unknown && faults.len() < UNKNOWN_KEYS_MAX;
            if !goes_on || merge::remove(rest.as_table_mut(), &path).is_none() {
                return Err(ConfigError::Refused(faults));
            }
        }
    }

    /// Turns the problems that a check found into an error that points into the files.
    ///
    /// # Errors
    /// There is at least one problem.
    pub fn refuse(&self, problems: &[Problem]) -> Result<(), ConfigError> {
        if problems.is_empty() {
            return Ok(());
        }
        Err(ConfigError::Refused(problems.iter().map(|problem| self.fault(problem)).collect()))
    }

    /// Returns the merged document: every value in force, with the comment that names its source.
    pub fn render(&self) -> String {
        self.merged.to_string()
    }

    /// Returns the names of all layers: files from the base upward, then overrides in order.
    pub fn name(&self) -> String {
        self.layers.iter().map(Layer::title).collect::<Vec<_>>().join(" + ")
    }

    /// Returns the 64-bit FNV-1a hash of keys and values. Comments, order and spelling do not
    /// affect it.
    pub fn hash(&self) -> u64 {
        fnv1a(self.canonical().as_bytes())
    }

    /// Returns all keys and values as lines `key=value` in one order and spelling. Documents that
    /// mean the same have the same text, wherever their values come from.
    pub fn canonical(&self) -> String {
        let mut lines = Vec::new();
        normalize(self.merged.as_table(), "", &mut lines);
        lines.sort_unstable();
        lines.join("\n")
    }

    /// Returns the rendered value of a dotted key, for reports and tests.
    pub fn get(&self, key: &str) -> Option<String> {
        let path: Vec<String> = key.split('.').map(str::to_owned).collect();
        merge::get(self.merged.as_table(), &path).and_then(Item::as_value).map(plain)
    }

    /// Returns every value in force, in the order of the document.
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        list(self.merged.as_table(), "", &mut settings);
        settings
    }

    /// Returns `text` merged onto its base. Each base is first merged onto its own base, down to a
    /// file without one.
    fn stack(
        name: &str,
        text: String,
        directory: &Path,
        embedded: &[Embedded],
    ) -> Result<Document, ConfigError> {
        let mut upper = vec![(name.to_owned(), text)];
        while let Some(base) = base_of(&upper[upper.len() - 1])? {
            if upper.len() == BASES_MAX {
                return Err(ConfigError::TooManyBases { file: name.to_owned(), max: BASES_MAX });
            }
            let neighbor = directory.join(&base);
            let found = if neighbor.is_file() {
                (neighbor.shown().to_string(), read(&neighbor)?)
            } else {
                let file = find(&base, embedded).ok_or_else(|| ConfigError::NoBase {
                    file: upper[upper.len() - 1].0.clone(),
                    base: base.clone(),
                    known: names(embedded),
                })?;
                (file.name.to_owned(), file.text.to_owned())
            };
            upper.push(found);
        }
        let (lowest, text) = upper.pop().expect("the stack starts with one file");
        let mut document = Document::from_text(&lowest, &text)?;
        for (name, text) in upper.into_iter().rev() {
            document = document.with_overlay(&name, &text)?;
        }
        Ok(document)
    }

    fn with_layer(mut self, layer: Layer) -> Result<Document, ConfigError> {
        let mut over = layer.editable();
        over.remove(BASE_KEY);
        let reason = layer.reason();
        let problems = merge::check(self.merged.as_table(), over.as_table());
        self.layers.push(layer);
        self.refuse(&problems)?;
        merge::apply(self.merged.as_table_mut(), over.as_table(), &reason);
        Ok(self)
    }

    /// Returns the problem with the place where the user can fix it, in the topmost layer that has
    /// the key.
    fn fault(&self, problem: &Problem) -> Fault {
        let path: Vec<String> = problem.key.split('.').map(str::to_owned).collect();
        let place = self.layers.iter().rev().find_map(|layer| layer.place(&path));
        // A missing top-level key has no place; report the lowest file, which should contain it.
        let place = place.or_else(|| path[0].is_empty().then(|| self.layers[0].head()));
        Fault { place, key: problem.key.clone(), message: problem.message.clone() }
    }
}

/// Returns the text of a file. Stops early on an endless file, such as a device.
fn read(path: &Path) -> Result<String, ConfigError> {
    let refuse = |source| ConfigError::Read { file: path.shown().to_string(), source };
    let file = std::fs::File::open(path).map_err(refuse)?;
    let mut text = String::new();
    file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(refuse)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        let file = path.shown().to_string();
        return Err(ConfigError::TooLong { file, max: FILE_BYTES_MAX });
    }
    Ok(text)
}

/// Returns a message of the TOML reader in words that require no knowledge of Rust.
fn plain_words(message: &str) -> String {
    let message = message.trim_end().replace('\n', "; ");
    if message.starts_with("missing field") {
        return format!("{message}; add it, or change only what differs with a `base` line");
    }
    match message.rsplit_once(", expected ") {
        Some((wrong, kind)) => format!("{wrong}, expected {}", number_kind(kind)),
        None => message,
    }
}

/// Returns the range of the Rust number type `name` in words; returns any other text unchanged.
fn number_kind(name: &str) -> &str {
    match name {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number from 0",
        "f64" => "a number",
        other => other,
    }
}

fn find(name: &str, embedded: &[Embedded]) -> Option<Embedded> {
    embedded.iter().copied().find(|file| file.name == name)
}

fn names(embedded: &[Embedded]) -> String {
    embedded.iter().map(|file| file.name).collect::<Vec<_>>().join(", ")
}

/// Returns the base of a file, if it names one.
fn base_of((name, text): &(String, String)) -> Result<Option<String>, ConfigError> {
    let layer = Layer::file(name, text)?;
    match layer.editable().get(BASE_KEY) {
        None => Ok(None),
        Some(Item::Value(Value::String(base))) => Ok(Some(base.value().clone())),
        Some(_) => Err(ConfigError::Refused(vec![Fault {
            place: layer.place(&[BASE_KEY.to_owned()]),
            key: BASE_KEY.to_owned(),
            message: String::from("`base` is the name of a file, in quotes"),
        }])),
    }
}

/// Appends one setting per leaf.
fn list(table: &dyn TableLike, prefix: &str, settings: &mut Vec<Setting>) {
    for (key, item) in table.iter() {
        let key = format!("{prefix}{key}");
        if let Some(value) = item.as_value() {
            let comment = value.decor().suffix().and_then(|suffix| suffix.as_str());
            let source = comment.unwrap_or_default().trim().trim_start_matches('#').trim();
            settings.push(Setting { key, value: plain(value), source: source.to_owned() });
        } else if let Some(inner) = item.as_table_like() {
            list(inner, &format!("{key}."), settings);
        }
    }
}

/// Appends one line `path=value` per leaf.
fn normalize(table: &dyn TableLike, prefix: &str, lines: &mut Vec<String>) {
    for (key, item) in table.iter() {
        let path = format!("{prefix}{key}");
        if let Some(inner) = item.as_table_like() {
            normalize(inner, &format!("{path}."), lines);
        } else if let Some(value) = item.as_value() {
            lines.push(format!("{path}={}", plain(value)));
        } else if let Some(rows) = item.as_array_of_tables() {
            for (i, row) in rows.iter().enumerate() {
                normalize(row, &format!("{path}[{i}]."), lines);
            }
        }
    }
}

/// Returns a value in one spelling, whatever underscores, base, spaces and comments it was written
/// with.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{:?}", text.value()),
        Value::Integer(number) => number.value().to_string(),
        Value::Float(number) => format!("{:?}", number.value()),
        Value::Boolean(is) => is.value().to_string(),
        Value::Datetime(when) => when.value().to_string(),
        Value::Array(list) => {
            format!("[{}]", list.iter().map(plain).collect::<Vec<_>>().join(","))
        }
        Value::InlineTable(table) => {
            let mut fields = Vec::new();
            normalize(table, "", &mut fields);
            fields.sort_unstable();
            format!("{{{}}}", fields.join(","))
        }
    }
}

/// Returns the 64-bit FNV-1a hash, which is stable across versions, platforms and languages.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
