//! TOML tables with the place of every key.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Fault, Problem};

/// A key and its value.
pub(crate) type Entry<'a> = (&'a Spanned<Cow<'a, str>>, &'a Spanned<DeValue<'a>>);

/// A table of a file.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    pub(crate) text: &'a str,
    pub(crate) table: &'a DeTable<'a>,
    /// Name of the table in messages.
    pub(crate) name: &'static str,
    pub(crate) offset: usize,
}

/// A string of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    pub(crate) text: &'a str,
    /// Offset of the first character in the file.
    pub(crate) offset: usize,
}

/// Reads a file and passes its head to `read`.
pub(crate) fn read_file<T>(
    text: &str,
    name: &'static str,
    read: impl FnOnce(Table<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let document = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        // The parser may add lines of advice; a message is one line.
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        Fault::new(offset, Problem::Toml(message))
    })?;
    read(Table { text, table: document.get_ref(), name, offset: 0 })
}

impl<'a> Table<'a> {
    /// Returns the value of a key, with the place of the key.
    pub(crate) fn entry(&self, key: &str) -> Option<(Range<usize>, &'a Spanned<DeValue<'a>>)> {
        let (name, value) = self.table.get_key_value(key)?;
        Some((name.span(), value))
    }

    /// Returns the keys with their offsets.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&'a str, usize)> {
        self.table.iter().map(|(key, _)| (key.get_ref().as_ref(), key.span().start))
    }

    /// Refuses a key outside `known`.
    pub(crate) fn refuse_unknown(&self, known: &[&str]) -> Result<(), Fault> {
        for (key, offset) in self.keys() {
            if !known.contains(&key) {
                let (key, known) = (key.to_owned(), known.join(", "));
                let problem = Problem::UnknownKey { key, table: self.name, known };
                return Err(Fault::new(offset, problem));
            }
        }
        Ok(())
    }

    pub(crate) fn string(&self, key: &str) -> Result<Option<Text<'a>>, Fault> {
        let Some((_, value)) = self.entry(key) else { return Ok(None) };
        let span = value.span();
        let DeValue::String(string) = value.get_ref() else {
            return Err(wrong_type(span.start, key, "a string"));
        };
        let literal = self.text.get(span.clone()).unwrap_or_default();
        let is_long = literal.starts_with("\"\"\"") || literal.starts_with("'''");
        let opening = if is_long { 3 } else { 1 };
        let newline = usize::from(is_long && literal[opening..].starts_with('\n'));
        Ok(Some(Text { text: string.as_ref(), offset: span.start + opening + newline }))
    }

    pub(crate) fn need_string(
        &self,
        key: &'static str,
        example: &'static str,
    ) -> Result<Text<'a>, Fault> {
        self.string(key)?.ok_or_else(|| self.missing(key, example))
    }

    pub(crate) fn missing(&self, key: &'static str, example: &'static str) -> Fault {
        Fault::new(self.offset, Problem::MissingKey { table: self.name, key, example })
    }

    /// Returns a number from `least` to `most`, with its offset.
    pub(crate) fn integer(
        &self,
        key: &str,
        (least, most): (u64, u64),
        expected: &'static str,
    ) -> Result<Option<(u64, usize)>, Fault> {
        let Some((_, value)) = self.entry(key) else { return Ok(None) };
        let offset = value.span().start;
        match integer_of(value) {
            Some(number) if (least..=most).contains(&number) => Ok(Some((number, offset))),
            _ => Err(wrong_type(offset, key, expected)),
        }
    }

    /// Returns the tables under `[[key]]`, each with the name `name` in messages.
    pub(crate) fn tables(
        &self,
        key: &'static str,
        name: &'static str,
        expected: &'static str,
    ) -> Result<Vec<Table<'a>>, Fault> {
        let Some((span, value)) = self.entry(key) else { return Ok(Vec::new()) };
        let DeValue::Array(tables) = value.get_ref() else {
            return Err(wrong_type(span.start, key, expected));
        };
        let table = |value: &'a Spanned<DeValue<'a>>| match value.get_ref() {
            DeValue::Table(table) => {
                Ok(Table { text: self.text, table, name, offset: value.span().start })
            }
            _ => Err(wrong_type(value.span().start, key, expected)),
        };
        tables.iter().map(table).collect()
    }

    /// Returns the entries of an inline table.
    pub(crate) fn entries(
        &self,
        key: &'static str,
        expected: &'static str,
    ) -> Result<Vec<Entry<'a>>, Fault> {
        let Some((_, value)) = self.entry(key) else { return Ok(Vec::new()) };
        match value.get_ref() {
            DeValue::Table(table) => Ok(table.iter().collect()),
            _ => Err(wrong_type(value.span().start, key, expected)),
        }
    }

    /// Returns the texts of a list of strings.
    pub(crate) fn strings(&self, key: &'static str) -> Result<Option<Vec<Text<'a>>>, Fault> {
        let expected = "a list of strings: [\"one\", \"two\"]";
        let Some((_, value)) = self.entry(key) else { return Ok(None) };
        let DeValue::Array(list) = value.get_ref() else {
            return Err(wrong_type(value.span().start, key, expected));
        };
        let text = |value: &'a Spanned<DeValue<'a>>| match value.get_ref() {
            DeValue::String(text) => Ok(Text { text: text.as_ref(), offset: value.span().start }),
            _ => Err(wrong_type(value.span().start, key, expected)),
        };
        list.iter().map(text).collect::<Result<_, _>>().map(Some)
    }
}

/// Returns a number from 0 to 2^64 - 1.
pub(crate) fn integer_of(value: &Spanned<DeValue<'_>>) -> Option<u64> {
    match value.get_ref() {
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    }
}

pub(crate) fn wrong_type(offset: usize, key: &str, expected: &'static str) -> Fault {
    Fault::new(offset, Problem::WrongType { key: key.to_owned(), expected })
}
