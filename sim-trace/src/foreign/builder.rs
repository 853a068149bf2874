//! From single instructions to blocks: what readers of foreign traces fill.

use std::io::{Seek, Write};

use rustc_hash::FxHashMap;

use super::elf::Code;
use super::stop::Stop;
use crate::error::TraceError;
use crate::event::StreamEvent;
use crate::flow::{is_branch, is_prefetch, is_sve, is_sve_access, must_access};
use crate::missing_data::MissingData;
use crate::writer::{Access, Summary, TraceWriter};

/// Longest block that is made: code without a branch is cut there.
const BLOCK_MAX: usize = 256;
/// Instructions that all different blocks may have together: 128 MiB of code, and as much memory as a
/// reader of the result is willing to spend.
const CODE_MAX: usize = 1 << 23;
/// Instructions that zero a line, without the register that has its address. Tools that watch loads and
/// stores do not see what they write.
const DC_ZVA: u32 = 0xd50b_7420;
const DC_GZVA: u32 = 0xd50b_7480;
/// Threads that a trace may have.
const THREADS_MAX: usize = 4096;

/// A block of a thread that may still grow.
#[derive(Default)]
struct Open {
    pc: u64,
    words: Vec<u32>,
    accesses: Vec<Access>,
}

impl Open {
    /// True if the instruction at `pc` belongs to the block.
    fn goes_on_at(&self, pc: u64) -> bool {
        let Some(last) = self.words.last() else { return false };
        let next = self.pc.wrapping_add(4 * self.words.len() as u64);
        next == pc && pc != 0 && self.words.len() < BLOCK_MAX && !is_branch(*last)
    }
}

/// Where the instructions of a foreign trace go.
pub(super) struct Builder<W: Write + Seek> {
    writer: TraceWriter<W>,
    code: Option<Code>,
    threads: Vec<Open>,
    numbers: FxHashMap<(u32, u64), u32>,
    file: u32,
    left: u64,
    instructions: u64,
    skipped: u64,
}

impl<W: Write + Seek> Builder<W> {
    /// Writes to `writer` at most `limit` instructions. `code` is the program's file.
    pub(super) fn new(
        mut writer: TraceWriter<W>,
        code: Option<Code>,
        limit: Option<u64>,
    ) -> Result<Builder<W>, TraceError> {
        match &code {
            Some(code) => {
                code.give_pages(&mut writer)?;
                writer.meta_mut().symbols = code.symbols();
            }
            None => writer.meta_mut().lacks.push(MissingData::Image),
        }
        Ok(Builder {
            writer,
            code,
            threads: Vec::new(),
            numbers: FxHashMap::default(),
            file: 0,
            left: limit.unwrap_or(u64::MAX),
            instructions: 0,
            skipped: 0,
        })
    }

    /// What follows stands in another file: its threads are others.
    pub(super) fn next_file(&mut self) {
        self.file += 1;
    }

    /// The stream of the thread that the trace calls `name`.
    pub(super) fn thread(&mut self, name: u64) -> Result<u32, Stop> {
        let next = self.threads.len();
        let stream = *self.numbers.entry((self.file, name)).or_insert(next as u32);
        if stream as usize == next {
            if next == THREADS_MAX {
                let what = format!("more than {THREADS_MAX} threads: this is no such trace");
                return Err(Stop::Fault { place: format!("thread {name}"), what });
            }
            self.threads.push(Open::default());
        }
        Ok(stream)
    }

    /// The next instruction of a thread.
    pub(super) fn inst(&mut self, stream: u32, pc: u64, word: u32) -> Result<(), Stop> {
        if self.left == 0 {
            return Err(Stop::Enough);
        }
        if !pc.is_multiple_of(4) || pc > u64::MAX - 4 * BLOCK_MAX as u64 {
            let what =
                format!("an instruction at {pc:#x}: the address of A64 code is a multiple of 4");
            return Err(Stop::Fault { place: format!("instruction {}", self.instructions), what });
        }
        if !self.threads[stream as usize].goes_on_at(pc) {
            self.end_block(stream)?;
            self.threads[stream as usize].pc = pc;
        }
        self.threads[stream as usize].words.push(word);
        self.left -= 1;
        self.instructions += 1;
        Ok(())
    }

    /// A data address of the last instruction of a thread; of several the first counts.
    pub(super) fn access(&mut self, stream: u32, addr: u64) {
        let open = &mut self.threads[stream as usize];
        let Some(last) = open.words.len().checked_sub(1) else { return };
        let index = last as u16;
        if open.accesses.last().is_none_or(|access| access.index < index) {
            open.accesses.push(Access { index, addr });
        }
    }

    /// The same where the lowest counts.
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

    /// Address of the last instruction of a thread, if it must access memory and did not.
    pub(super) fn unaccessed(&self, stream: u32) -> Option<u64> {
        let open = &self.threads[stream as usize];
        let (last, word) = open.words.iter().enumerate().next_back()?;
        let accessed = open.accesses.last().is_some_and(|one| usize::from(one.index) == last);
        (must_access(*word) && !accessed).then_some(open.pc + 4 * last as u64)
    }

    /// Something that happened behind the last instruction of a thread.
    pub(super) fn event(&mut self, stream: u32, event: StreamEvent) -> Result<(), Stop> {
        self.end_block(stream)?;
        Ok(self.writer.push_event(stream, event)?)
    }

    /// The word that the program's file has at `pc`.
    pub(super) fn word_at(&self, pc: u64) -> Option<u32> {
        self.code.as_ref()?.word_at(pc)
    }

    /// True if the program's file is known.
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

    /// A line or record that says nothing was passed over.
    pub(super) fn skip(&mut self) {
        self.skipped += 1;
    }

    /// Instructions so far.
    pub(super) fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Writes what is left; returns the lines and records passed over beside the writer.
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
                .insert("skipped".into(), format!("{skipped} lines or records that say nothing"));
        }
        Ok((self.writer, skipped))
    }

    /// Writes the open block of a thread.
    fn end_block(&mut self, stream: u32) -> Result<(), Stop> {
        let open = &mut self.threads[stream as usize];
        if open.words.is_empty() {
            return Ok(());
        }
        let is_known = |at: usize| open.accesses.iter().any(|one| usize::from(one.index) == at);
        let is_missing = |is_one: fn(u32) -> bool| {
            let mut all = open.words.iter().enumerate().filter(|(_, word)| is_one(**word));
            all.any(|(at, _)| !is_known(at))
        };
        let is_zeroing: fn(u32) -> bool = |word| matches!(word & !0x1f, DC_ZVA | DC_GZVA);
        let unknown = [
            (MissingData::ZeroedLines, is_zeroing),
            (MissingData::Prefetches, is_prefetch),
            (MissingData::SveAccesses, is_sve_access),
        ];
        let unknown = unknown.map(|(missing, is_one)| is_missing(is_one).then_some(missing));
        let is_predicated = open.words.iter().any(|word| is_sve(*word));
        let block = self.writer.define_block(open.pc, &open.words)?;
        let executed = open.words.len() as u16;
        self.writer.push_block(stream, block, executed, &open.accesses, None)?;
        open.words.clear();
        open.accesses.clear();
        // No other format has predicates.
        let is_predicated = is_predicated.then_some(MissingData::Predicates);
        unknown
            .into_iter()
            .chain([is_predicated])
            .flatten()
            .for_each(|missing| self.note_missing(missing));
        if self.writer.code_words() > CODE_MAX {
            let what =
                format!("more than {CODE_MAX} different instructions: this is no such trace");
            return Err(Stop::Fault { place: format!("instruction {}", self.instructions), what });
        }
        Ok(())
    }
}

/// What an import wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The format that was read.
    pub format: super::Format,
    /// Packings that were taken off, the outermost first.
    pub packings: Vec<&'static str>,
    /// Lines or records that said nothing.
    pub skipped: u64,
    /// What was written.
    pub summary: Summary,
}
