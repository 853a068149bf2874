//! Builder that readers of foreign traces fill: joins single instructions to blocks.

use std::io::{Seek, Write};

use rustc_hash::FxHashMap;
use sim_isa::{Exit, always_accesses, is_prfm, is_sve, is_sve_access, is_zero_line};

use super::elf::Code;
use super::format::Format;
use super::stop::Stop;
use crate::block::{Access, BlockId};
use crate::error::TraceError;
use crate::event::StreamEvent;
use crate::missing_data::MissingData;
use crate::writer::{Summary, TraceWriter};

/// Largest number of instructions in a block. Longer code without a branch is split.
const BLOCK_MAX: usize = 256;
/// Largest number of instructions in all distinct blocks: 128 MiB of code. The limit bounds the
/// memory that a reader of the result needs.
const CODE_MAX: usize = 1 << 23;
/// Largest number of threads in a trace.
const THREADS_MAX: usize = 4096;

/// The unfinished block of a thread.
#[derive(Default)]
struct Open {
    pc: u64,
    words: Vec<u32>,
    accesses: Vec<Access>,
    /// The last instruction is a branch, which ends the block.
    has_branch: bool,
}

/// A block that was written before.
#[derive(Clone, Copy)]
struct Known {
    pc: u64,
    block: BlockId,
    /// Some of its words may lack what a foreign trace does not have.
    is_special: bool,
}

/// Number of recently written blocks that are remembered, by address.
const KNOWN: usize = 1 << 12;

impl Open {
    /// Returns true if the instruction at `pc` continues the block.
    #[inline]
    fn continues_at(&self, pc: u64) -> bool {
        let length = self.words.len();
        let next = self.pc.wrapping_add(4 * length as u64);
        next == pc && pc != 0 && (1..BLOCK_MAX).contains(&length) && !self.has_branch
    }

    /// Returns the data that the trace does not have about the instructions of the block.
    #[cold]
    fn missing(&self) -> [Option<MissingData>; 4] {
        let is_known = |at: usize| self.accesses.iter().any(|one| usize::from(one.index) == at);
        let is_missing = |is_one: fn(u32) -> bool| {
            let mut all = self.words.iter().enumerate().filter(|(_, word)| is_one(**word));
            all.any(|(at, _)| !is_known(at))
        };
        let is_predicated = self.words.iter().any(|word| is_sve(*word));
        // Tools that observe loads and stores do not see what DC ZVA writes, and no foreign format
        // has predicates.
        [
            (MissingData::ZeroedLines, is_missing(is_zero_line)),
            (MissingData::Prefetches, is_missing(is_prfm)),
            (MissingData::SveAccesses, is_missing(is_sve_access)),
            (MissingData::Predicates, is_predicated),
        ]
        .map(|(missing, is_missing)| is_missing.then_some(missing))
    }
}

/// Builder of a trace from single instructions of a foreign trace.
pub(super) struct Builder<W: Write + Seek> {
    writer: TraceWriter<W>,
    code: Option<Code>,
    threads: Vec<Open>,
    numbers: FxHashMap<(u32, u64), u32>,
    /// Name and stream of the thread asked for last.
    last_thread: Option<(u64, u32)>,
    known: Vec<Option<Known>>,
    file: u32,
    left: u64,
    instructions: u64,
    skipped: u64,
}

impl<W: Write + Seek> Builder<W> {
    /// Creates a builder that writes at most `limit` instructions to `writer`. `code` is the code
    /// of the program file.
    pub(super) fn new(
        mut writer: TraceWriter<W>,
        code: Option<Code>,
        limit: Option<u64>,
    ) -> Result<Builder<W>, TraceError> {
        match &code {
            Some(code) => {
                code.write_pages(&mut writer)?;
                writer.meta_mut().symbols = code.symbols();
            }
            None => writer.meta_mut().lacks.push(MissingData::Image),
        }
        Ok(Builder {
            writer,
            code,
            threads: Vec::new(),
            numbers: FxHashMap::default(),
            last_thread: None,
            known: vec![None; KNOWN],
            file: 0,
            left: limit.unwrap_or(u64::MAX),
            instructions: 0,
            skipped: 0,
        })
    }

    /// Starts another file, whose threads differ from those of the previous files.
    pub(super) fn next_file(&mut self) {
        self.file += 1;
        self.last_thread = None;
    }

    /// Returns the stream of the thread that the trace calls `name`.
    #[inline]
    pub(super) fn thread(&mut self, name: u64) -> Result<u32, Stop> {
        match self.last_thread {
            Some((last, stream)) if last == name => Ok(stream),
            _ => self.find_thread(name),
        }
    }

    fn find_thread(&mut self, name: u64) -> Result<u32, Stop> {
        let next = self.threads.len();
        let stream = *self.numbers.entry((self.file, name)).or_insert(next as u32);
        if stream as usize == next {
            if next == THREADS_MAX {
                let what = format!("more than {THREADS_MAX} threads: this is not such a trace");
                return Err(Stop::Fault { place: format!("thread {name}"), what });
            }
            self.threads.push(Open::default());
        }
        self.last_thread = Some((name, stream));
        Ok(stream)
    }

    /// Appends an instruction to a thread.
    #[inline]
    pub(super) fn inst(&mut self, stream: u32, pc: u64, word: u32) -> Result<(), Stop> {
        if self.left == 0 {
            return Err(Stop::Enough);
        }
        if !pc.is_multiple_of(4) || pc > u64::MAX - 4 * BLOCK_MAX as u64 {
            return Err(self.bad_address(pc));
        }
        if !self.threads[stream as usize].continues_at(pc) {
            self.end_block(stream)?;
            self.threads[stream as usize].pc = pc;
        }
        let open = &mut self.threads[stream as usize];
        open.words.push(word);
        open.has_branch = Exit::of(pc, word).is_branch();
        self.left -= 1;
        self.instructions += 1;
        Ok(())
    }

    #[cold]
    fn bad_address(&self, pc: u64) -> Stop {
        let what = format!("an instruction at {pc:#x}: the address of A64 code is a multiple of 4");
        Stop::Fault { place: format!("instruction {}", self.instructions), what }
    }

    /// Adds a data address to the last instruction of a thread. Keeps only the first of several.
    pub(super) fn access(&mut self, stream: u32, addr: u64) {
        let open = &mut self.threads[stream as usize];
        let Some(last) = open.words.len().checked_sub(1) else { return };
        let index = last as u16;
        if open.accesses.last().is_none_or(|access| access.index < index) {
            open.accesses.push(Access { index, addr });
        }
    }

    /// Adds a data address to the last instruction of a thread. Keeps only the lowest of several.
    pub(super) fn lowest_access(&mut self, stream: u32, addr: u64) {
        let open = &mut self.threads[stream as usize];
        let last = open.words.len().wrapping_sub(1);
        match open.accesses.last_mut() {
            Some(access) if usize::from(access.index) == last => {
                access.addr = access.addr.min(addr)
            }
            _ => self.access(stream, addr),
        }
    }

    /// Returns the address of the last instruction of a thread if it must access memory and did
    /// not.
    pub(super) fn unaccessed(&self, stream: u32) -> Option<u64> {
        let open = &self.threads[stream as usize];
        let (word, before) = open.words.split_last()?;
        let last = before.len();
        let accessed = open.accesses.last().is_some_and(|one| usize::from(one.index) == last);
        (always_accesses(*word) && !accessed).then_some(open.pc + 4 * last as u64)
    }

    /// Appends an event after the last instruction of a thread.
    pub(super) fn event(&mut self, stream: u32, event: StreamEvent) -> Result<(), Stop> {
        self.end_block(stream)?;
        Ok(self.writer.push_event(stream, event)?)
    }

    /// Returns the word at `pc` in the program file.
    pub(super) fn word_at(&self, pc: u64) -> Option<u32> {
        self.code.as_ref()?.word_at(pc)
    }

    /// Returns true if the program file is known.
    pub(super) fn has_code(&self) -> bool {
        self.code.is_some()
    }

    /// Records in META that data is missing.
    pub(super) fn note_missing(&mut self, missing: MissingData) {
        let all = &mut self.writer.meta_mut().lacks;
        if let Err(place) = all.binary_search(&missing) {
            all.insert(place, missing);
        }
    }

    /// Counts a skipped line or record.
    pub(super) fn skip(&mut self) {
        self.skipped += 1;
    }

    /// Returns the number of instructions so far.
    pub(super) fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Writes the unfinished blocks. Returns the writer and the number of skipped lines and
    /// records.
    pub(super) fn finish(mut self) -> Result<(TraceWriter<W>, u64), Stop> {
        for stream in 0..self.threads.len() {
            self.end_block(stream as u32)?;
        }
        let skipped = self.skipped;
        let meta = self.writer.meta_mut();
        let sentences: Vec<String> =
            meta.lacks.iter().map(|missing| missing.sentence().to_owned()).collect();
        meta.gaps.extend(sentences);
        if skipped > 0 {
            meta.notes
                .insert("skipped".into(), format!("{skipped} lines or records without content"));
        }
        Ok((self.writer, skipped))
    }

    /// Writes the unfinished block of a thread.
    fn end_block(&mut self, stream: u32) -> Result<(), Stop> {
        let open = &mut self.threads[stream as usize];
        if open.words.is_empty() {
            return Ok(());
        }
        let (pc, words) = (open.pc, &open.words[..]);
        let place = &mut self.known[(pc / 4) as usize % KNOWN];
        let known = place.filter(|known| known.pc == pc);
        let known = known.filter(|known| self.writer.is_block(known.block, pc, words));
        let Known { block, is_special, .. } = match known {
            Some(known) => known,
            None => {
                let block = self.writer.define_block(pc, words)?;
                *place.insert(Known {
                    pc,
                    block,
                    is_special: words.iter().any(|word| is_special(*word)),
                })
            }
        };
        let missing = if is_special { open.missing() } else { [None; 4] };
        self.writer.push_block(stream, block, words.len() as u16, &open.accesses, None)?;
        open.words.clear();
        open.accesses.clear();
        missing.into_iter().flatten().for_each(|missing| self.note_missing(missing));
        if known.is_none() && self.writer.code_words() > CODE_MAX {
            let what =
                format!("more than {CODE_MAX} different instructions: this is not such a trace");
            return Err(Stop::Fault { place: format!("instruction {}", self.instructions), what });
        }
        Ok(())
    }
}

/// Returns whether foreign traces may lack data of an instruction besides its address.
fn is_special(word: u32) -> bool {
    is_zero_line(word) || is_prfm(word) || is_sve_access(word) || is_sve(word)
}

/// Result of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Format of the foreign trace.
    pub format: Format,
    /// Compressions of the foreign trace, the outermost first.
    pub packings: Vec<&'static str>,
    /// Number of skipped lines or records.
    pub skipped: u64,
    /// Summary of the written trace.
    pub summary: Summary,
}
