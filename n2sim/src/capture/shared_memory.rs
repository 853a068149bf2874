//! The reader's side of the memory that the plugin fills.
//!
//! The memory is an anonymous file. The plugin maps it; this side reads and writes it with plain
//! file calls, without a mapping and without unsafe code. The copies are a small part of the work.
//!
//! The recorded program runs inside the engine, so it can change every word. The size is sealed, so
//! it cannot take memory away; what is read here is checked before it is used.

use super::wire::{self, control, header};
use anyhow::{Context, Result, bail};
use rustix::fs::{SealFlags, fcntl_add_seals};
use rustix::io::{FdFlags, fcntl_setfd};
use sim_files::File;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{Ordering, fence};
use thiserror::Error;

const WORD_BYTES: usize = size_of::<u64>();

/// The header of one slot, as read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotHeader {
    /// Number of the slot.
    pub(crate) slot: usize,
    /// One of the states of [`wire`].
    pub(crate) state: u64,
    /// Stream number.
    pub(crate) stream: u64,
    /// Position in the stream.
    pub(crate) sequence: u64,
    /// Valid words.
    pub(crate) cursor: usize,
}

impl SlotHeader {
    /// Returns the header in `words`, and the state that it had before; in damaged memory the state
    /// may be any.
    fn read(slot: usize, state: u64, words: &[u64], is_damaged: bool) -> Result<SlotHeader> {
        let cursor = words[header::CURSOR];
        if !is_damaged && state > wire::CLAIMED || cursor > wire::SLOT_WORDS as u64 {
            bail!(Damage(format!("slot {slot} has the state {state} and {cursor} words")));
        }
        let (stream, sequence) = (words[header::STREAM], words[header::SEQUENCE]);
        Ok(SlotHeader { slot, state, stream, sequence, cursor: cursor as usize })
    }
}

/// The memory holds data that no plugin writes: the recorded program wrote into it. The data before
/// it stays valid.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct Damage(pub(super) String);

/// The shared memory, owned by the recorder.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    file: File,
    bytes: Vec<u8>,
    /// Slots that the plugin has used.
    used: u64,
    /// Damage was found, and the intact part is salvaged.
    is_damaged: bool,
}

impl SharedMemory {
    /// Returns new memory of zeros.
    pub(crate) fn create() -> Result<SharedMemory> {
        let file = File::of_memory("n2sim-capture")
            .context("cannot make the memory shared with the plugin")?;
        file.set_len((wire::TOTAL_WORDS * WORD_BYTES) as u64)
            .context("cannot size the memory shared with the plugin")?;
        // The engine would crash if a page of the memory disappeared.
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)
            .context("cannot fix the size of the memory shared with the plugin")?;
        Ok(SharedMemory { file, bytes: Vec::new(), used: 0, is_damaged: false })
    }

    /// Returns the path under which the next started process can open the memory. It inherits the
    /// descriptor and closes it before the program begins. Other processes inherit it too until
    /// [`SharedMemory::keep`].
    ///
    /// # Errors
    ///
    /// If the system does not let it be inherited.
    pub(crate) fn hand_over(&self) -> Result<String> {
        fcntl_setfd(self.file.as_fd(), FdFlags::empty())
            .context("cannot hand over the memory shared with the plugin")?;
        Ok(format!("/proc/self/fd/{}", self.file.as_fd().as_raw_fd()))
    }

    /// Prevents processes that start from now on from inheriting the memory.
    pub(crate) fn keep(&self) {
        // The call can fail only for a closed descriptor.
        let _ = fcntl_setfd(self.file.as_fd(), FdFlags::CLOEXEC);
    }

    fn read_bytes(&mut self, word: usize, words: usize) -> Result<&[u8]> {
        self.bytes.resize(words * WORD_BYTES, 0);
        self.file
            .read_exact_at(&mut self.bytes, (word * WORD_BYTES) as u64)
            .context("cannot read the memory shared with the plugin")?;
        Ok(&self.bytes)
    }

    /// Copies `words` words from position `word`.
    pub(crate) fn read(&mut self, word: usize, words: usize) -> Result<Vec<u64>> {
        let bytes = self.read_bytes(word, words)?;
        Ok(bytes.as_chunks::<WORD_BYTES>().0.iter().map(|b| u64::from_le_bytes(*b)).collect())
    }

    fn write(&self, word: usize, value: u64) -> Result<()> {
        self.file
            .write_all_at(&value.to_le_bytes(), (word * WORD_BYTES) as u64)
            .context("cannot write the memory shared with the plugin")
    }

    /// Returns a control word.
    pub(crate) fn control(&mut self, index: usize) -> Result<u64> {
        Ok(self.read(index, 1)?[0])
    }

    /// Requests the plugin to stop recording.
    pub(crate) fn stop(&self) -> Result<()> {
        self.set(control::STOP, 1)
    }

    /// Sets a control word.
    pub(crate) fn set(&self, index: usize, value: u64) -> Result<()> {
        self.write(index, value)
    }

    /// Makes later reads skip impossible headers instead of refusing them.
    pub(crate) fn salvage(&mut self) {
        self.is_damaged = true;
    }

    /// Returns the headers of all slots used so far.
    pub(crate) fn headers(&mut self) -> Result<Vec<SlotHeader>> {
        let used = match self.is_damaged {
            true => wire::SLOTS as u64,
            false => self.control(control::SLOTS_USED)?,
        };
        if used < self.used || used > wire::SLOTS as u64 {
            bail!(Damage(format!("{used} of {} slots are said to be in use", wire::SLOTS)));
        }
        self.used = used;
        let table = used as usize * wire::HEADER_WORDS;
        // Data is written before the state that announces it, and read after it. A single copy of
        // the table may hold a new state together with the remains of the slot's last use.
        let states = self.read(wire::HEADERS_AT, table)?;
        fence(Ordering::Acquire);
        let words = self.read(wire::HEADERS_AT, table)?;
        fence(Ordering::Acquire);
        let states = states.chunks_exact(wire::HEADER_WORDS).map(|words| words[header::STATE]);
        let headers = states.zip(words.chunks_exact(wire::HEADER_WORDS)).enumerate();
        let headers = headers
            .map(|(slot, (state, words))| SlotHeader::read(slot, state, words, self.is_damaged));
        headers.filter(|header| !self.is_damaged || header.is_ok()).collect()
    }

    /// Returns the words of a slot from `from` to its cursor.
    pub(crate) fn slot(&mut self, header: &SlotHeader, from: usize) -> Result<Vec<u64>> {
        let at = wire::SLOTS_AT + header.slot * wire::SLOT_WORDS;
        self.read(at + from, header.cursor.saturating_sub(from))
    }

    /// Gives a slot back to the plugin, empty: a claimed slot that is not begun announces nothing.
    pub(crate) fn free(&self, slot: &SlotHeader) -> Result<()> {
        let at = wire::HEADERS_AT + slot.slot * wire::HEADER_WORDS;
        self.write(at + header::CURSOR, 0)?;
        self.write(at + header::STATE, wire::FREE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the memory as the engine opens it.
    fn other_side(memory: &SharedMemory) -> File {
        let path = memory.hand_over().expect("it can be inherited");
        memory.keep();
        let options = &mut std::fs::File::options();
        File::open_with(options.write(true), path.as_ref()).expect("the path opens")
    }

    #[test]
    fn the_size_cannot_change() {
        let memory = SharedMemory::create().expect("memory files exist on Linux");
        let other = other_side(&memory);
        let bytes = (wire::TOTAL_WORDS * WORD_BYTES) as u64;
        for length in [0, bytes - 1, bytes + 1] {
            assert!(other.set_len(length).is_err(), "{length}");
        }
    }

    #[test]
    fn headers_that_no_plugin_writes_are_damage() {
        let at = |word: usize| (word * WORD_BYTES) as u64;
        let first = |field: usize| wire::HEADERS_AT + field;
        let cases = [
            (control::SLOTS_USED, wire::SLOTS as u64 + 1),
            (control::SLOTS_USED, 0),
            (first(header::STATE), wire::CLAIMED + 1),
            (first(header::CURSOR), wire::SLOT_WORDS as u64 + 1),
        ];
        for (word, value) in cases {
            let mut memory = SharedMemory::create().expect("memory files exist on Linux");
            let other = other_side(&memory);
            other.write_all_at(&1u64.to_le_bytes(), at(control::SLOTS_USED)).expect("writes");
            memory.headers().expect("a plugin may have written these");
            other.write_all_at(&value.to_le_bytes(), at(word)).expect("writes");
            let error = memory.headers().expect_err("no plugin writes these");
            assert!(error.is::<Damage>(), "word {word}: {error}");
        }
    }

    #[test]
    fn words_written_through_the_path_are_read_back() {
        let mut memory = SharedMemory::create().expect("memory files exist on Linux");
        let other = other_side(&memory);
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
