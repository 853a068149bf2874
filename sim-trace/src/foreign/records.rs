//! Reader of binary records of one size.

use std::io::{self, Read};

use super::stop::Stop;

/// Number of records that are read at once.
const AT_ONCE: usize = 1024;

/// Reader of records of `size` bytes.
pub(super) struct Fixed<R> {
    bytes: R,
    size: usize,
    buffer: Vec<u8>,
    /// Bytes of the buffer that are read, and of those, bytes that were returned.
    filled: usize,
    at: usize,
    offset: u64,
    /// An error that comes after the bytes of the buffer.
    failed: Option<io::Error>,
    /// The trace ends inside the record after those of the buffer.
    is_cut: bool,
}

impl<R: Read> Fixed<R> {
    pub(super) fn new(bytes: R, size: usize) -> Fixed<R> {
        let buffer = vec![0; AT_ONCE * size];
        Fixed { bytes, size, buffer, filled: 0, at: 0, offset: 0, failed: None, is_cut: false }
    }

    /// Returns the number of bytes before the record that [`Fixed::next`] returns next.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the next record, or `None` at the end.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, Stop> {
        if self.at == self.filled && !self.fill()? {
            return Ok(None);
        }
        let from = self.at;
        self.at += self.size;
        self.offset += self.size as u64;
        Ok(self.buffer.get(from..from + self.size))
    }

    /// Reads whole records into the empty buffer. Returns whether there are any.
    #[cold]
    fn fill(&mut self) -> Result<bool, Stop> {
        if self.is_cut {
            return Err(Stop::at_byte(self.offset, "the trace ends inside a record"));
        }
        (self.filled, self.at) = (0, 0);
        while self.failed.is_none() && self.filled < self.buffer.len() {
            match self.bytes.read(&mut self.buffer[self.filled..]) {
                Ok(0) => break,
                Ok(n) => self.filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.failed = Some(error),
            }
        }
        let rest = self.filled % self.size;
        self.filled -= rest;
        if self.filled > 0 {
            self.is_cut = rest > 0;
            return Ok(true);
        }
        match self.failed.take() {
            Some(error) => Err(Stop::Input(error)),
            None if rest > 0 => Err(Stop::at_byte(self.offset, "the trace ends inside a record")),
            None => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns this many bytes, then `more` at a time, then bytes again as a growing file would.
    struct Growing {
        left: usize,
        at_once: usize,
        grows: usize,
    }

    impl Read for Growing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.left.min(self.at_once).min(buffer.len());
            if n == 0 {
                self.left = std::mem::take(&mut self.grows);
                return Ok(0);
            }
            buffer[..n].fill(7);
            self.left -= n;
            Ok(n)
        }
    }

    /// Returns the number of whole records, and the byte of the record in which the trace ends.
    fn read(bytes: usize, at_once: usize) -> (usize, Option<String>) {
        let mut records = Fixed::new(Growing { left: bytes, at_once, grows: 64 }, 64);
        let mut count = 0;
        loop {
            match records.next() {
                Ok(Some(record)) => {
                    assert_eq!(record, [7; 64]);
                    count += 1;
                }
                Ok(None) => return (count, None),
                Err(stop) => return (count, Some(format!("{stop:?}"))),
            }
        }
    }

    #[test]
    fn a_cut_record_is_refused_wherever_it_is_and_even_if_the_trace_grows() {
        for whole in [0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1] {
            for at_once in [1, 100, usize::MAX] {
                let (count, refused) = read(whole * 64 + 10, at_once);
                assert_eq!(count, whole, "{at_once} bytes at once");
                let refused = refused.expect("it is cut");
                let byte = (whole * 64).to_string();
                assert!(refused.contains("ends inside a record") && refused.contains(&byte));
            }
        }
        assert_eq!(read(2 * AT_ONCE * 64, usize::MAX), (2 * AT_ONCE, None));
    }
}
