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
            None if rest > 0 || self.is_cut => {
                Err(Stop::at_byte(self.offset, "the trace ends inside a record"))
            }
            None => Ok(false),
        }
    }
}
