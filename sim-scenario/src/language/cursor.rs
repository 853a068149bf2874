//! Reader of the small languages inside a scenario: words, numbers and signs with their offsets.

use std::collections::BTreeMap;

use super::error::{Fault, Problem};

/// Names of addresses in a scenario.
pub(crate) type Names = BTreeMap<String, u64>;

/// Longest range of addresses.
const MAX_RANGE: u64 = 4096;

/// A text and the read position. `base` is the offset of the text in its file.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    base: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str, base: usize) -> Cursor<'a> {
        Cursor { text, at: 0, base }
    }

    /// Returns the file offset of the next item.
    pub(crate) fn offset(&mut self) -> usize {
        self.skip_space();
        self.base + self.at
    }

    /// Returns the text read since file offset `from`, without spaces around it.
    pub(crate) fn text_since(&self, from: usize) -> &'a str {
        self.text[from - self.base..self.at].trim()
    }

    /// Returns true if only spaces are left.
    pub(crate) fn is_done(&mut self) -> bool {
        self.skip_space();
        self.at == self.text.len()
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Returns the text that is left, from the next item on.
    pub(crate) fn rest(&mut self) -> &'a str {
        self.skip_space();
        &self.text[self.at..]
    }

    /// Takes `sign` if it is next.
    pub(crate) fn take(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        found
    }

    /// Takes `word` if it is next as a whole word.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == Some(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// Takes everything up to `end`, and `end` itself.
    pub(crate) fn until(&mut self, end: &str) -> Option<&'a str> {
        let (text, _) = self.rest().split_once(end)?;
        self.at += text.len() + end.len();
        Some(text.trim())
    }

    /// Returns the next word (letters, digits, `_ . -`) without taking it.
    pub(crate) fn peek_word(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || "_.-".contains(c)))
            .unwrap_or(rest.len());
        // `a0..a4` is two words with a sign between them.
        let end = rest[..end].find("..").unwrap_or(end);
        (end > 0).then(|| &rest[..end])
    }

    /// Takes the next word.
    pub(crate) fn word(&mut self) -> Option<&'a str> {
        let word = self.peek_word()?;
        self.at += word.len();
        Some(word)
    }

    /// Takes a decimal or `0x` number if it is next.
    pub(crate) fn number(&mut self) -> Result<Option<u64>, Fault> {
        let Some(word) = self.peek_word().filter(|w| w.starts_with(|c: char| c.is_ascii_digit()))
        else {
            return Ok(None);
        };
        let digits = word.replace('_', "");
        let number = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        match number {
            Ok(number) => {
                self.at += word.len();
                Ok(Some(number))
            }
            Err(_) => Err(self.expected("a number of 64 bits, decimal or 0x")),
        }
    }

    /// Takes a number, or fails.
    pub(crate) fn need_number(&mut self, what: &str) -> Result<u64, Fault> {
        self.number()?.ok_or_else(|| self.expected(what))
    }

    /// Takes an address: a number or a name, with an optional `+ number`.
    pub(crate) fn address(&mut self, names: &Names) -> Result<u64, Fault> {
        let offset = self.offset();
        let start = match self.number()? {
            Some(number) => number,
            None => {
                let name = self.word().ok_or_else(|| self.expected("an address"))?;
                let known = names.get(name).copied();
                known.ok_or_else(|| Fault::new(offset, Problem::UnknownName(name.to_owned())))?
            }
        };
        if self.take("+") {
            return Ok(start.wrapping_add(self.need_number("an offset in bytes")?));
        }
        Ok(start)
    }

    /// Takes one address, or a range of named ones: `a0..a3`.
    pub(crate) fn addresses(&mut self, names: &Names) -> Result<Vec<u64>, Fault> {
        let first = self.peek_word();
        let address = self.address(names)?;
        if !self.take("..") {
            return Ok(vec![address]);
        }
        let offset = self.offset();
        let last = self.word();
        let range = first.zip(last).and_then(|(first, last)| numbered_range(first, last));
        let Some(range) = range else {
            let expected = "two names of one series, as in a0..a3".to_owned();
            let found = found(last.unwrap_or(""));
            return Err(Fault::new(offset, Problem::Expected { expected, found }));
        };
        range
            .into_iter()
            .map(|name| {
                let known = names.get(&name).copied();
                known.ok_or_else(|| Fault::new(offset, Problem::UnknownName(name)))
            })
            .collect()
    }

    /// Returns the fault that `what` was expected here.
    pub(crate) fn expected(&mut self, what: &str) -> Fault {
        let rest = self.rest();
        let shown = rest.split_whitespace().next().unwrap_or("");
        let problem = Problem::Expected { expected: what.to_owned(), found: found(shown) };
        Fault::new(self.base + self.at, problem)
    }
}

/// Returns a found text in the form of a message.
fn found(text: &str) -> String {
    if text.is_empty() { "the end".to_owned() } else { format!("'{text}'") }
}

/// Returns the names from `first` to `last`, which differ only in their number: `a0`, `a3`.
fn numbered_range(first: &str, last: &str) -> Option<Vec<String>> {
    let stem = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let from: u64 = first[stem.len()..].parse().ok()?;
    let to: u64 = last.strip_prefix(stem)?.parse().ok()?;
    (from <= to && to - from < MAX_RANGE)
        .then(|| (from..=to).map(|n| format!("{stem}{n}")).collect())
}
