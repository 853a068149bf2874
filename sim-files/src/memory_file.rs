//! Files of targets without files, such as a browser: bytes in memory.

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// The bytes of a file, for reading.
#[derive(Debug)]
pub struct File(Cursor<Vec<u8>>);

impl File {
    /// Returns a file with this content.
    ///
    /// # Errors
    /// Never here; it fails on targets with files, where a system call creates it.
    pub fn of_bytes(bytes: Vec<u8>) -> io::Result<File> {
        Ok(File(Cursor::new(bytes)))
    }

    /// Refuses to open a file.
    ///
    /// # Errors
    /// Always.
    pub fn open(_path: &Path) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Read for File {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}
