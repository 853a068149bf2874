//! Lines of a text of any length: one at a time, of bounded length, numbered.

use std::io::{self, BufRead};

use super::stop::Stop;

/// Bytes of the longest line; a gather of many elements has a few thousand.
const LINE_MAX: u64 = 1 << 20;

/// Reads a text line by line.
pub(super) struct Lines<R> {
    bytes: R,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(bytes: R) -> Lines<R> {
        Lines { bytes, line: Vec::new(), number: 0 }
    }

    /// The next line without its end; `None` behind the last. What is no text reads as an empty line.
    pub(super) fn next(&mut self) -> Result<Option<&str>, Stop> {
        self.line.clear();
        let mut bounded = io::Read::take(&mut self.bytes, LINE_MAX);
        if bounded.read_until(b'\n', &mut self.line).map_err(Stop::Input)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.line.len() as u64 == LINE_MAX && self.line.last() != Some(&b'\n') {
            return Err(self.fault(format!("the line has more than {LINE_MAX} bytes")));
        }
        Ok(Some(std::str::from_utf8(&self.line).unwrap_or("").trim_end()))
    }

    /// What is wrong with the line that was read last.
    pub(super) fn fault(&self, what: impl Into<String>) -> Stop {
        Stop::Fault { place: format!("line {}", self.number), what: what.into() }
    }
}

/// A number in hexadecimal digits, with or without `0x` before them.
pub(super) fn hex(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    if digits.starts_with('+') { None } else { u64::from_str_radix(digits, 16).ok() }
}

/// An instruction word: at most eight hexadecimal digits.
pub(super) fn hex_word(text: &str) -> Option<u32> {
    hex(text).and_then(|word| u32::try_from(word).ok())
}
