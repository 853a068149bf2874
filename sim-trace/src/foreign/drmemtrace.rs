//! Offline traces of DynamoRIO (drmemtrace): records of 12 bytes with type u16, size u16, value
//! u64.
//!
//! A record with the word precedes an instruction at its first execution and after its code
//! changed. Records of its accesses follow the instruction. Markers give architecture, thread and
//! kernel events. Only AArch64 traces can be replayed.

use std::io::{Read, Seek, Write};

use rustc_hash::FxHashMap;

use super::builder::Builder;
use super::records::Fixed;
use super::stop::Stop;
use super::words::{Class, Reg, Sketch, word};
use crate::event::StreamEvent;
use crate::missing_data::MissingData;

/// Size of a record, in bytes.
const RECORD_BYTES: usize = 12;
/// Largest number of addresses whose words are stored.
const WORDS_MAX: usize = 1 << 23;

/// Types of records. Later versions of the format only append types.
mod kind {
    pub(super) const READ: u16 = 0;
    pub(super) const WRITE: u16 = 1;
    pub(super) const PREFETCH: u16 = 2;
    pub(super) const PREFETCH_LAST: u16 = 9;
    pub(super) const INST: u16 = 10;
    pub(super) const DIRECT_JUMP: u16 = 11;
    pub(super) const INDIRECT_JUMP: u16 = 12;
    pub(super) const CONDITIONAL: u16 = 13;
    pub(super) const DIRECT_CALL: u16 = 14;
    pub(super) const INDIRECT_CALL: u16 = 15;
    pub(super) const RETURN: u16 = 16;
    pub(super) const BUNDLE: u16 = 17;
    pub(super) const DATA_FLUSH: u16 = 20;
    pub(super) const THREAD: u16 = 22;
    pub(super) const HEADER: u16 = 25;
    pub(super) const MARKER: u16 = 28;
    pub(super) const NO_FETCH: u16 = 29;
    pub(super) const PREFETCH_MORE: u16 = 32;
    pub(super) const PREFETCH_MORE_LAST: u16 = 46;
    pub(super) const ENCODING: u16 = 47;
    pub(super) const TAKEN: u16 = 48;
    pub(super) const UNTAKEN: u16 = 49;
}

/// Types of markers, stored in the size field of their record.
mod marker {
    pub(super) const KERNEL_EVENT: u16 = 0;
    pub(super) const KERNEL_XFER: u16 = 1;
    pub(super) const FILETYPE: u16 = 9;
    pub(super) const WINDOW: u16 = 14;
    pub(super) const SYSCALL: u16 = 25;
    pub(super) const UNCOMPLETED: u16 = 41;
}

/// Bits of the file type.
mod file_type {
    pub(super) const FILTERED: u64 = 0x1;
    pub(super) const INSTRUCTION_ONLY: u64 = 0x4;
    pub(super) const AARCH64: u64 = 0x8;
    pub(super) const OTHER: u64 = 0x10 | 0x20 | 0x40;
    pub(super) const INSTRUCTIONS_FILTERED: u64 = 0x80;
    pub(super) const DATA_FILTERED: u64 = 0x100;
}

/// A record of the trace.
#[derive(Clone, Copy, Debug)]
struct Record {
    kind: u16,
    size: u16,
    value: u64,
}

impl Record {
    fn of(bytes: &[u8; RECORD_BYTES]) -> Record {
        let [a, b, c, d, value @ ..] = *bytes;
        let (kind, size) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        Record { kind, size, value: u64::from_le_bytes(value) }
    }
}

/// Returns true if `head` begins with a drmemtrace header and a marker.
pub(super) fn is_begun_by(head: &[u8]) -> bool {
    let mut records = head.as_chunks().0.iter().map(Record::of);
    let is_header = |record: Record| record.kind == kind::HEADER && record.value < 256;
    records.next().is_some_and(is_header)
        && records.next().is_some_and(|second| second.kind == kind::MARKER)
}

/// An instruction whose accesses are not yet complete.
struct Pending {
    pc: u64,
    kind: u16,
    word: Option<u32>,
    load: Option<Access>,
    store: Option<Access>,
}

#[derive(Clone, Copy)]
struct Access {
    addr: u64,
    bytes: u8,
}

/// State of reading one file.
struct File<'a, W: Write + Seek> {
    to: &'a mut Builder<W>,
    stream: Option<u32>,
    words: FxHashMap<u64, u32>,
    /// Bytes of the word of the next instruction.
    encoding: Vec<u8>,
    pending: Option<Pending>,
    /// Last targets of direct branches.
    targets: FxHashMap<u64, u64>,
    window: Option<u64>,
}

/// Reads one file: the trace of one thread, or of several threads one after the other.
pub(super) fn read<W: Write + Seek>(bytes: impl Read, to: &mut Builder<W>) -> Result<(), Stop> {
    let mut file = File {
        to,
        stream: None,
        words: FxHashMap::default(),
        encoding: Vec::new(),
        pending: None,
        targets: FxHashMap::default(),
        window: None,
    };
    let mut records = Fixed::new(bytes, RECORD_BYTES);
    loop {
        let offset = records.offset();
        let Some(record) = records.next()?.and_then(|bytes| bytes.first_chunk()) else {
            return file.end_inst(None);
        };
        file.take(Record::of(record), offset)?;
    }
}

impl<W: Write + Seek> File<'_, W> {
    fn take(&mut self, record: Record, offset: u64) -> Result<(), Stop> {
        match record.kind {
            kind::READ | kind::PREFETCH..=kind::PREFETCH_LAST | kind::DATA_FLUSH => {
                self.access(record, true)
            }
            kind::PREFETCH_MORE..=kind::PREFETCH_MORE_LAST => self.access(record, true),
            kind::WRITE => self.access(record, false),
            kind::INST..=kind::RETURN | kind::TAKEN | kind::UNTAKEN | kind::NO_FETCH => {
                if record.size != 4 {
                    let what =
                        format!("an instruction of {} bytes: this is not A64 code", record.size);
                    return Err(Stop::at_byte(offset, what));
                }
                self.inst(record.kind, record.value)?;
            }
            kind::BUNDLE => self.bundle(record)?,
            kind::ENCODING => {
                let bytes = record.value.to_le_bytes();
                self.encoding.extend(&bytes[..usize::from(record.size).min(8)]);
                self.encoding.truncate(16);
            }
            kind::THREAD => {
                self.end_inst(None)?;
                self.stream = Some(self.to.thread(record.value)?);
            }
            kind::MARKER => self.marker(record, offset)?,
            kind::HEADER if offset > 0 => return Err(Stop::at_byte(offset, "a second header")),
            _ => {}
        }
        Ok(())
    }

    fn access(&mut self, record: Record, is_load: bool) {
        let Some(pending) = &mut self.pending else { return };
        let slot = if is_load { &mut pending.load } else { &mut pending.store };
        slot.get_or_insert(Access { addr: record.value, bytes: record.size.min(16) as u8 });
    }

    /// Begins the instruction at `pc`. The previous one is complete.
    fn inst(&mut self, kind: u16, pc: u64) -> Result<(), Stop> {
        self.end_inst(Some(pc))?;
        if let Some(word) = self.encoding.first_chunk() {
            if self.words.len() >= WORDS_MAX {
                self.words.clear();
            }
            self.words.insert(pc, u32::from_le_bytes(*word));
        }
        self.encoding.clear();
        let word = self.words.get(&pc).copied();
        self.pending = Some(Pending { pc, kind, word, load: None, store: None });
        Ok(())
    }

    /// Begins the instructions of a bundle, which directly follow the last one.
    fn bundle(&mut self, record: Record) -> Result<(), Stop> {
        for _ in 0..record.size.min(8) {
            let Some(pc) = self.pending.as_ref().map(|last| last.pc.wrapping_add(4)) else { break };
            self.inst(kind::INST, pc)?;
        }
        Ok(())
    }

    /// Writes the pending instruction. `next` is the address of the next one.
    fn end_inst(&mut self, next: Option<u64>) -> Result<(), Stop> {
        let Some(pending) = self.pending.take() else { return Ok(()) };
        let stream = match self.stream {
            Some(stream) => stream,
            None => *self.stream.insert(self.to.thread(0)?),
        };
        let word = match pending.word.or_else(|| self.to.word_at(pending.pc)) {
            Some(word) => word,
            None => self.stand_in(&pending, next),
        };
        self.to.inst(stream, pending.pc, word)?;
        if let Some(access) = pending.load.or(pending.store) {
            self.to.access(stream, access.addr);
        }
        Ok(())
    }

    /// Returns a word of the same class, for a trace that was recorded without words.
    fn stand_in(&mut self, pending: &Pending, next: Option<u64>) -> u32 {
        self.to.note_missing(MissingData::Words);
        let Pending { pc, kind, load, store, .. } = *pending;
        let is_taken = matches!(kind, kind::TAKEN | kind::DIRECT_JUMP | kind::DIRECT_CALL)
            || kind == kind::CONDITIONAL && next != Some(pc.wrapping_add(4));
        if let Some(next) = next.filter(|_| is_taken && self.targets.len() < WORDS_MAX) {
            self.targets.insert(pc, next);
        }
        let class = match (kind, load, store) {
            (kind::DIRECT_JUMP, ..) => Class::Jump,
            (kind::INDIRECT_JUMP, ..) => Class::IndirectJump,
            (kind::CONDITIONAL | kind::TAKEN | kind::UNTAKEN, ..) => Class::Conditional,
            (kind::DIRECT_CALL, ..) => Class::Call,
            (kind::INDIRECT_CALL, ..) => Class::IndirectCall,
            (kind::RETURN, ..) => Class::Return,
            (_, Some(_), Some(_)) => Class::ReadModifyWrite,
            (_, Some(load), None) => Class::Load(load.bytes),
            (_, None, Some(store)) => Class::Store(store.bytes),
            _ => Class::Integer,
        };
        let target = self.targets.get(&pc).copied();
        // Choose registers by address, so that not all instructions depend on each other.
        let (read, written) = ((pc >> 2) % 13, (pc >> 2) % 17 + 13);
        let (reads, writes) = ([Reg::X(read as u8)], [Reg::X(written as u8)]);
        word(&Sketch { class, pc, target, reads: &reads, writes: &writes, base_step: None })
    }

    fn marker(&mut self, record: Record, offset: u64) -> Result<(), Stop> {
        let event = match record.size {
            marker::FILETYPE => return self.file_type(record.value, offset),
            marker::KERNEL_EVENT => StreamEvent::Signal { number: 0, abandoned: false },
            marker::KERNEL_XFER => StreamEvent::Redirect,
            marker::SYSCALL => {
                StreamEvent::Syscall { number: record.value, args: [0; 6], result: None }
            }
            marker::WINDOW => match self.window.replace(record.value) {
                Some(before) if before != record.value => StreamEvent::Gap { instructions: None },
                _ => return Ok(()),
            },
            marker::UNCOMPLETED => {
                // The instruction of the next word began and did not complete.
                self.encoding.clear();
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.end_inst(None)?;
        match self.stream {
            Some(stream) => self.to.event(stream, event),
            None => Ok(()),
        }
    }

    fn file_type(&mut self, bits: u64, offset: u64) -> Result<(), Stop> {
        if bits & file_type::AARCH64 == 0 && bits & file_type::OTHER != 0 {
            let what =
                "the trace is from another architecture; only AArch64 traces can be replayed";
            return Err(Stop::at_byte(offset, what));
        }
        if bits & file_type::INSTRUCTION_ONLY != 0 {
            self.to.note_missing(MissingData::Addresses);
        }
        let filters =
            file_type::FILTERED | file_type::INSTRUCTIONS_FILTERED | file_type::DATA_FILTERED;
        if bits & filters != 0 {
            self.to.note_missing(MissingData::Filtered);
        }
        Ok(())
    }
}
