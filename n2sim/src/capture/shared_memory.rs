//! The reader's side of the memory that the plugin fills.
//!
//! The memory is an anonymous file that the plugin maps and this side reads and writes by plain
//! file calls: no mapping, no unsafe code, and the copy is a small part of the work.

use super::wire::{self, control, header};
use anyhow::{Context, Result};
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{Ordering, fence};

const WORD_BYTES: usize = size_of::<u64>();

/// The header of one slot as it was when it was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotHeader {
    /// Number of the slot.
    pub(super) slot: usize,
    /// One of the states of [`wire`].
    pub(super) state: u64,
    /// Stream number.
    pub(super) stream: u64,
    /// Position in the stream.
    pub(super) sequence: u64,
    /// Valid words.
    pub(super) cursor: usize,
}

/// The shared memory, owned by the recorder.
#[derive(Debug)]
pub(super) struct SharedMemory {
    file: File,
    bytes: Vec<u8>,
}

impl SharedMemory {
    /// New memory, all zero.
    pub(super) fn create() -> Result<SharedMemory> {
        let fd = memfd_create("n2sim-capture", MemfdFlags::CLOEXEC)
            .context("cannot make the memory shared with the plugin")?;
        let file = File::from(fd);
        file.set_len((wire::TOTAL_WORDS * WORD_BYTES) as u64)
            .context("cannot size the memory shared with the plugin")?;
        Ok(SharedMemory { file, bytes: Vec::new() })
    }

    /// The path under which a child process can open it.
    pub(super) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    fn read_bytes(&mut self, word: usize, words: usize) -> Result<&[u8]> {
        self.bytes.resize(words * WORD_BYTES, 0);
        self.file
            .read_exact_at(&mut self.bytes, (word * WORD_BYTES) as u64)
            .context("cannot read the memory shared with the plugin")?;
        Ok(&self.bytes)
    }

    /// Copies `words` words from position `word`.
    pub(super) fn read(&mut self, word: usize, words: usize) -> Result<Vec<u64>> {
        let bytes = self.read_bytes(word, words)?;
        Ok(bytes.as_chunks::<WORD_BYTES>().0.iter().map(|b| u64::from_le_bytes(*b)).collect())
    }

    fn write(&self, word: usize, value: u64) -> Result<()> {
        self.file
            .write_all_at(&value.to_le_bytes(), (word * WORD_BYTES) as u64)
            .context("cannot write the memory shared with the plugin")
    }

    /// A control word.
    pub(super) fn control(&mut self, index: usize) -> Result<u64> {
        Ok(self.read(index, 1)?[0])
    }

    /// Tells the plugin to record no more.
    pub(super) fn stop(&self) -> Result<()> {
        self.tell(control::STOP, 1)
    }

    /// Sets a control word.
    pub(super) fn tell(&self, index: usize, value: u64) -> Result<()> {
        self.write(index, value)
    }

    /// The headers of all slots used so far.
    pub(super) fn headers(&mut self) -> Result<Vec<SlotHeader>> {
        let used = (self.control(control::SLOTS_USED)? as usize).min(wire::SLOTS);
        let words = self.read(wire::HEADERS_AT, used * wire::HEADER_WORDS)?;
        // What a header announces was written before it, and is read after it.
        fence(Ordering::Acquire);
        let headers = words.chunks_exact(wire::HEADER_WORDS).enumerate();
        Ok(headers
            .map(|(slot, words)| SlotHeader {
                slot,
                state: words[header::STATE],
                stream: words[header::STREAM],
                sequence: words[header::SEQUENCE],
                cursor: (words[header::CURSOR] as usize).min(wire::SLOT_WORDS),
            })
            .collect())
    }

    /// The words of a slot from `from` to its cursor.
    pub(super) fn slot(&mut self, header: &SlotHeader, from: usize) -> Result<Vec<u64>> {
        let at = wire::SLOTS_AT + header.slot * wire::SLOT_WORDS;
        self.read(at + from, header.cursor.saturating_sub(from))
    }

    /// Gives a slot back to the plugin.
    pub(super) fn free(&self, header: &SlotHeader) -> Result<()> {
        self.write(wire::HEADERS_AT + header.slot * wire::HEADER_WORDS + header::STATE, wire::FREE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_written_through_the_path_are_read_back() {
        let mut memory = SharedMemory::create().expect("memory files exist on Linux");
        let other = File::options().write(true).open(memory.path()).expect("the path opens");
        let at = |word: usize| (word * WORD_BYTES) as u64;
        other.write_all_at(&1u64.to_le_bytes(), at(control::SLOTS_USED)).expect("writes");
        let cursor = at(wire::HEADERS_AT + header::CURSOR);
        other.write_all_at(&2u64.to_le_bytes(), cursor).expect("writes");
        other.write_all_at(&77u64.to_le_bytes(), at(wire::SLOTS_AT + 1)).expect("writes");
        let headers = memory.headers().expect("reads");
        assert_eq!(headers.len(), 1);
        assert_eq!(memory.slot(&headers[0], 0).expect("reads"), [0, 77]);
        assert_eq!(memory.slot(&headers[0], 1).expect("reads"), [77]);
    }
}
