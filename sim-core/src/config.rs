//! Configuration documents: TOML files in layers, read into a type, with faults that name their place.
//!
//! A document is a base file, overlays that list only differences (`base = "other.toml"`), and
//! overrides from the command line. The layers are merged in the text's own form, so the comment
//! behind a value (its source) survives; [`Document::render`] prints what is in force and why.

mod fault;
mod merge;
pub mod units;

pub use fault::{ConfigError, Fault, Place, Problem};

use std::io::Read;
use std::path::Path;

use serde::de::DeserializeOwned;
use toml_edit::{DocumentMut, Item, TableLike, Value};

use crate::shown::Shown;
use fault::Layer;

/// The key by which an overlay names the file whose values it changes.
const BASE_KEY: &str = "base";
/// Files that may stand on one another: more is a mistake, most likely a circle.
const BASES_MAX: usize = 8;
/// Bytes of the longest file that is read.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Unknown keys reported together before the reader gives up.
const UNKNOWN_KEYS_MAX: usize = 20;

/// A configuration file that is part of the program.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// The name under which an overlay may name it.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// One value in force, as [`Document::settings`] lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Dotted key.
    pub key: String,
    /// The value in one spelling, as [`Document::get`] gives it.
    pub value: String,
    /// The comment behind the value: where it comes from.
    pub source: String,
}

/// A merged configuration document that remembers where each value was written.
#[derive(Clone, Debug)]
pub struct Document {
    merged: DocumentMut,
    layers: Vec<Layer>,
}

impl Document {
    /// Reads `path`; a `base` key is followed first beside the file, then among `embedded`.
    ///
    /// # Errors
    /// A file cannot be read, is no TOML, or changes a key that its base does not have.
    pub fn load(path: &Path, embedded: &[Embedded]) -> Result<Document, ConfigError> {
        let text = read(path)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Document::stack(&path.shown().to_string(), text, folder, embedded)
    }

    /// The embedded file `name`, standing on its base if it names one.
    ///
    /// # Errors
    /// As [`Document::load`].
    pub fn from_embedded(name: &str, embedded: &[Embedded]) -> Result<Document, ConfigError> {
        let file = find(name, embedded).ok_or_else(|| ConfigError::NoBase {
            file: String::from("the program"),
            base: name.to_owned(),
            known: names(embedded),
        })?;
        Document::stack(file.name, file.text.to_owned(), Path::new("."), embedded)
    }

    /// One text without a base; `name` stands in messages.
    ///
    /// # Errors
    /// The text is no TOML.
    pub fn from_text(name: &str, text: &str) -> Result<Document, ConfigError> {
        let layer = Layer::file(name, text)?;
        let mut merged = layer.editable();
        merged.remove(BASE_KEY);
        Ok(Document { merged, layers: vec![layer] })
    }

    /// This document with the differences of one more text on top.
    ///
    /// # Errors
    /// The text is no TOML, names unknown keys or gives a value of another type; all are listed.
    pub fn with_overlay(self, name: &str, text: &str) -> Result<Document, ConfigError> {
        let layer = Layer::file(name, text)?;
        self.with_layer(layer)
    }

    /// This document with `assignment` (`a.b.c=value`) on top. A word that is not a TOML value is
    /// taken as a string where the key holds a string; a number may have a unit ([`units::resolve`]),
    /// which the document's name no longer shows.
    ///
    /// # Errors
    /// The assignment cannot be read, its key does not exist or holds another type.
    pub fn set(self, assignment: &str) -> Result<Document, ConfigError> {
        let layer = Layer::command_line(&self.without_unit(assignment))?;
        self.with_layer(layer)
    }

    /// The assignment with a plain number, where it gives one with a unit to a key that holds a number.
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
            // An unknown key can be taken out to see what else is wrong; other faults end the search.
            let is_unknown = error.message().starts_with("unknown field");
            let goes_on = is_unknown && faults.len() < UNKNOWN_KEYS_MAX;
            if !goes_on || merge::remove(rest.as_table_mut(), &path).is_none() {
                return Err(ConfigError::Refused(faults));
            }
        }
    }

    /// Turns what a check found into an error that points at the files, or says that all is well.
    ///
    /// # Errors
    /// There is at least one problem.
    pub fn refuse(&self, problems: &[Problem]) -> Result<(), ConfigError> {
        if problems.is_empty() {
            return Ok(());
        }
        Err(ConfigError::Refused(problems.iter().map(|problem| self.fault(problem)).collect()))
    }

    /// The merged document: every value in force, with the comment that gives its source.
    pub fn render(&self) -> String {
        self.merged.to_string()
    }

    /// What the document was made of: files from the base upward, then overrides in order.
    pub fn name(&self) -> String {
        self.layers.iter().map(Layer::title).collect::<Vec<_>>().join(" + ")
    }

    /// A hash of keys and values (64-bit FNV-1a); comments, order and spelling do not count.
    pub fn hash(&self) -> u64 {
        let mut lines = Vec::new();
        normalise(self.merged.as_table(), "", &mut lines);
        lines.sort_unstable();
        fnv1a(lines.join("\n").as_bytes())
    }

    /// The rendered value of a dotted key, for reports and tests.
    pub fn get(&self, key: &str) -> Option<String> {
        let path: Vec<String> = key.split('.').map(str::to_owned).collect();
        merge::get(self.merged.as_table(), &path).and_then(Item::as_value).map(plain)
    }

    /// Every value in force, in the order of the document.
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        list(self.merged.as_table(), "", &mut settings);
        settings
    }

    /// Puts `text` on its base, and that on its own, down to a file without one.
    fn stack(
        name: &str,
        text: String,
        folder: &Path,
        embedded: &[Embedded],
    ) -> Result<Document, ConfigError> {
        let mut upper = vec![(name.to_owned(), text)];
        while let Some(base) = base_of(&upper[upper.len() - 1])? {
            if upper.len() == BASES_MAX {
                return Err(ConfigError::TooManyBases { file: name.to_owned(), max: BASES_MAX });
            }
            let beside = folder.join(&base);
            let found = if beside.is_file() {
                (beside.shown().to_string(), read(&beside)?)
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

    /// A problem with the place where the user can repair it: the topmost layer that has the key.
    fn fault(&self, problem: &Problem) -> Fault {
        let path: Vec<String> = problem.key.split('.').map(str::to_owned).collect();
        let place = self.layers.iter().rev().find_map(|layer| layer.place(&path));
        // What is missing at the top stands nowhere; the lowest file is the one that lacks it.
        let place = place.or_else(|| path[0].is_empty().then(|| self.layers[0].head()));
        Fault { place, key: problem.key.clone(), message: problem.message.clone() }
    }
}

/// The text of a file; of an endless one (a device) no more than a configuration can have.
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

/// A complaint of the TOML reader in words that need no knowledge of Rust.
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

/// What a number of this Rust type may be; other expectations stay as they are.
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

/// The file that this one stands on, if it names one.
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

/// One setting per leaf.
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

/// One line `path=value` per leaf.
fn normalise(table: &dyn TableLike, prefix: &str, lines: &mut Vec<String>) {
    for (key, item) in table.iter() {
        let path = format!("{prefix}{key}");
        if let Some(inner) = item.as_table_like() {
            normalise(inner, &format!("{path}."), lines);
        } else if let Some(value) = item.as_value() {
            lines.push(format!("{path}={}", plain(value)));
        } else if let Some(rows) = item.as_array_of_tables() {
            for (i, row) in rows.iter().enumerate() {
                normalise(row, &format!("{path}[{i}]."), lines);
            }
        }
    }
}

/// A value without the way it was written (underscores, base, spaces, comments).
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
            normalise(table, "", &mut fields);
            fields.sort_unstable();
            format!("{{{}}}", fields.join(","))
        }
    }
}

/// The 64-bit FNV-1a hash: stable across versions, platforms and languages.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
