//! Reader of text lines with bounded length, which counts lines.

use std::io::{self, BufRead};

use super::stop::Stop;

/// Largest length of a line, in bytes. A gather of many elements has a few thousand.
const LINE_MAX: u64 = 1 << 20;

/// Reader of a text, line by line.
pub(super) struct Lines<R> {
    bytes: R,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(bytes: R) -> Lines<R> {
        Lines { bytes, line: Vec::new(), number: 0 }
    }

    /// Returns the next line without its end, or `None` after the last. A line that is not UTF-8
    /// reads as empty.
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

    /// Returns a fault in the last line.
    pub(super) fn fault(&self, what: impl Into<String>) -> Stop {
        Stop::Fault { place: format!("line {}", self.number), what: what.into() }
    }
}

/// Parses a hexadecimal number, with or without `0x`.
pub(super) fn hex(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    if digits.starts_with('+') { None } else { u64::from_str_radix(digits, 16).ok() }
}

/// Parses an instruction word of at most 32 bits in hexadecimal.
pub(super) fn hex_word(text: &str) -> Option<u32> {
    hex(text).and_then(|word| u32::try_from(word).ok())
}
