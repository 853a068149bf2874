//! Writes a trace: give it code pages, define blocks, push block executions, finish.
//!
//! The file grows beside its destination and gets its name when it is finished, so that a file with
//! that name is always whole.

pub(crate) mod output;
mod salvage;
pub(crate) mod stream_encoder;

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use rustc_hash::FxHashMap;
use sim_files::{File, NewFile, Unfinished};

use crate::error::TraceError;
use crate::event::StreamEvent;
use crate::flow::Exits;
use crate::image::CodeImage;
use crate::layout::{
    MAX_BLOCK_INSTS, MAX_CHUNK_EVENTS, MAX_CHUNK_INSTS, MINOR_WITH_ELEMENTS, MINOR_WITH_REGISTERS,
    MINOR_WITH_TICKETS, check_machine,
};
use crate::limits;
use crate::meta::Meta;
use crate::page_map::PageMap;
use output::{Output, begin_file, end_file};
use stream_encoder::StreamEncoder;

/// Number of a block: address and words of straight-line code that never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// One data address of a block execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Which instruction of the block, from 0.
    pub index: u16,
    /// First byte accessed.
    pub addr: u64,
}

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterOptions {
    /// zstd level: 1 while capturing, 3 to keep, 9 or 19 to archive.
    pub level: i32,
    /// A chunk ends with the first block at or over this many instructions.
    pub chunk_instructions: u32,
}

impl Default for WriterOptions {
    fn default() -> Self {
        WriterOptions { level: 1, chunk_instructions: 1 << 20 }
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Executed instructions of all streams.
    pub instructions: u64,
    /// Block executions.
    pub blocks: u64,
    /// Data addresses.
    pub accesses: u64,
    /// Side events.
    pub events: u64,
    /// Redirects that the writer added because the next block could not follow.
    pub redirects: u64,
    /// Threads.
    pub streams: u32,
    /// Different blocks.
    pub distinct_blocks: u32,
    /// Bytes of the file.
    pub file_bytes: u64,
}

/// Place and length of a block in arrays over the instructions of all blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockShape {
    /// Index of its first instruction.
    pub(crate) start: u32,
    /// Its instructions.
    pub(crate) len: u16,
}

/// A block as the writer keeps it.
#[derive(Clone, Copy, Debug)]
struct Block {
    pc: u64,
    shape: BlockShape,
    exits: Exits,
}

/// Writes one trace file.
pub struct TraceWriter<W: Write + Seek = BufWriter<File>> {
    output: Output<W>,
    temp: Option<Unfinished>,
    meta: Meta,
    options: WriterOptions,
    image: CodeImage,
    /// Pages not yet written.
    pending_pages: Vec<u64>,
    blocks: Vec<Block>,
    words: Vec<u32>,
    /// Blocks by hash of address and words; equal hashes chain through the list.
    by_content: FxHashMap<u64, Vec<u32>>,
    /// First block not yet written.
    pending_block: usize,
    streams: BTreeMap<u32, StreamEncoder>,
    summary: Summary,
}

impl TraceWriter {
    /// Begins a trace that will be `path` when finished, written at capture speed.
    ///
    /// # Errors
    /// If the temporary file beside `path` cannot be made, or `meta.machine` is impossible.
    pub fn create(path: &Path, meta: Meta) -> Result<TraceWriter, TraceError> {
        TraceWriter::create_with(path, meta, WriterOptions::default())
    }

    /// As [`TraceWriter::create`], with a choice of compression and chunk length.
    ///
    /// # Errors
    /// As [`TraceWriter::create`].
    pub fn create_with(
        path: &Path,
        meta: Meta,
        options: WriterOptions,
    ) -> Result<TraceWriter, TraceError> {
        TraceWriter::begin(path, meta, options, NewFile::beside)
    }

    /// As [`TraceWriter::create_with`] for what cannot be made again: if this process is killed, its unfinished
    /// file stays beside `path` as `NAME.XXXXXX.partial`, from which `n2sim trace recover` takes whole chunks.
    ///
    /// # Errors
    /// As [`TraceWriter::create`].
    pub fn record(
        path: &Path,
        meta: Meta,
        options: WriterOptions,
    ) -> Result<TraceWriter, TraceError> {
        TraceWriter::begin(path, meta, options, NewFile::recording)
    }

    fn begin(
        path: &Path,
        meta: Meta,
        options: WriterOptions,
        make: fn(&Path) -> io::Result<NewFile>,
    ) -> Result<TraceWriter, TraceError> {
        let (temp, file) = begin_file(path, make)?;
        let sink = BufWriter::with_capacity(1 << 18, file);
        let mut writer = TraceWriter::new(sink, path, meta, options)?;
        writer.temp = Some(temp);
        Ok(writer)
    }

    /// Writes what is left, the index and the totals, and gives the file its name.
    ///
    /// # Errors
    /// If the system refuses; the temporary file is removed then, but a recording ([`TraceWriter::record`]) that
    /// cannot be synced or renamed stays under its temporary name.
    pub fn finish(mut self) -> Result<Summary, TraceError> {
        let temp = self.temp.take();
        let (summary, sink) = self.finish_into()?;
        if let Some(temp) = temp {
            end_file(temp, sink)?;
        }
        Ok(summary)
    }
}

impl<W: Write + Seek> TraceWriter<W> {
    /// Writes a trace into any sink; `path` is for messages only.
    ///
    /// # Errors
    /// If the sink refuses, or `meta.machine` is impossible.
    pub fn new(
        sink: W,
        path: &Path,
        meta: Meta,
        options: WriterOptions,
    ) -> Result<TraceWriter<W>, TraceError> {
        check_machine(&meta.machine).map_err(TraceError::Rejected)?;
        let longest = MAX_CHUNK_INSTS - MAX_BLOCK_INSTS as u32;
        if !(1..=longest).contains(&options.chunk_instructions) {
            return Err(TraceError::Rejected("chunk instructions must be from 1 to 2093056"));
        }
        let image = CodeImage::new(meta.machine.page_bytes);
        Ok(TraceWriter {
            output: Output::begin(sink, path.to_path_buf(), &meta, options.level)?,
            temp: None,
            meta,
            options,
            image,
            pending_pages: Vec::new(),
            blocks: Vec::new(),
            words: Vec::new(),
            by_content: FxHashMap::default(),
            pending_block: 0,
            streams: BTreeMap::new(),
            summary: Summary::default(),
        })
    }

    /// Origin and limits as they will be written.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Changes what the trace says about itself; the state at [`finish`](TraceWriter::finish) holds.
    /// The page size must stay as it was.
    pub fn meta_mut(&mut self) -> &mut Meta {
        &mut self.meta
    }

    /// Says which physical pages the program's pages have. Give it before the first block runs, so
    /// that an unfinished file has it too.
    ///
    /// # Errors
    /// If the trace has a page map already, or the sink refuses.
    pub fn page_map(&mut self, map: &PageMap) -> Result<(), TraceError> {
        self.output.page_map(map)
    }

    /// Gives the code page at `va`, for the wrong path and so that blocks need not repeat words. A
    /// page given again replaces the earlier one (generated code); an equal one costs nothing.
    ///
    /// # Errors
    /// If `va` or the length does not fit the page size.
    pub fn image_page(&mut self, va: u64, bytes: &[u8]) -> Result<(), TraceError> {
        let page = self.image.page_bytes();
        if bytes.len() != page as usize || !va.is_multiple_of(page.into()) {
            return Err(TraceError::Rejected("an image page needs the page size and alignment"));
        }
        if self.image.page(va) != Some(bytes) {
            // A block defined on the old content must find it in the file before the new one.
            if self.image.page(va).is_some() {
                self.write_definitions()?;
            }
            self.image.insert(va, bytes);
            self.pending_pages.push(va);
        }
        Ok(())
    }

    /// The number of the block of `words` at `pc`: a new one, or the one that it got before.
    ///
    /// # Errors
    /// If `pc` is not a multiple of 4 or the block is empty, too long or wraps around.
    pub fn define_block(&mut self, pc: u64, words: &[u32]) -> Result<BlockId, TraceError> {
        let len = u16::try_from(words.len())
            .ok()
            .filter(|&n| (1..=MAX_BLOCK_INSTS).contains(&usize::from(n)))
            .ok_or(TraceError::Rejected("a block has from 1 to 4096 instructions"))?;
        if !pc.is_multiple_of(4) || pc.checked_add(4 * u64::from(len)).is_none() {
            return Err(TraceError::Rejected("a block's address must be a multiple of 4"));
        }
        let hash = content_hash(pc, words);
        let known = self.by_content.get(&hash).into_iter().flatten();
        for &id in known {
            let block = &self.blocks[id as usize];
            if block.pc == pc && self.words_of(block.shape) == words {
                return Ok(BlockId(id));
            }
        }
        let id = self.blocks.len() as u32;
        limits::places(self.words.len() as u64, words.len() as u64)
            .map_err(|_| TraceError::Rejected("over 4 G instructions in blocks"))?;
        let start = self.words.len() as u32;
        let last_pc = pc + 4 * u64::from(len - 1);
        let exits = Exits::of(last_pc, words[words.len() - 1]);
        self.blocks.push(Block { pc, shape: BlockShape { start, len }, exits });
        self.words.extend_from_slice(words);
        self.by_content.entry(hash).or_default().push(id);
        Ok(BlockId(id))
    }

    /// Appends one execution of `block` to `stream`: its first `executed` instructions, the
    /// addresses of those that accessed memory (one each, in rising order of index) and what
    /// happened after the last of them. `executed` 0 records the event alone.
    ///
    /// Where the block cannot follow the one before and no event says why, a
    /// [`StreamEvent::Redirect`] is written in between.
    ///
    /// # Errors
    /// If the block is unknown, an index is out of range or order, or the sink refuses.
    pub fn push_block(
        &mut self,
        stream: u32,
        block: BlockId,
        executed: u16,
        accesses: &[Access],
        event: Option<StreamEvent>,
    ) -> Result<(), TraceError> {
        let &Block { pc, shape, exits } = self
            .blocks
            .get(block.0 as usize)
            .ok_or(TraceError::Rejected("a block that was never defined"))?;
        check_execution(shape, executed, accesses)?;
        if executed > 0 {
            let exits = self.exits_after(pc, shape, executed, exits);
            let chunk_instructions = self.options.chunk_instructions;
            let encoder = encoder_of(&mut self.streams, stream);
            // The event that explains the arrival belongs to the chunk of the block before.
            let redirected = encoder.explain_arrival(pc);
            let full = encoder.open_instructions() >= chunk_instructions
                || encoder.open_events() >= MAX_CHUNK_EVENTS / 2;
            self.summary.redirects += u64::from(redirected);
            if full {
                self.write_stream_chunk(stream)?;
                self.stream_mut(stream).block(block.0, shape, executed, accesses, exits);
            } else {
                encoder.block(block.0, shape, executed, accesses, exits);
            }
        }
        match event {
            Some(event) => self.push_event(stream, event),
            None => Ok(()),
        }
    }

    /// Appends an event to `stream` behind its last instruction (or before its first).
    ///
    /// # Errors
    /// If the sink refuses.
    pub fn push_event(&mut self, stream: u32, event: StreamEvent) -> Result<(), TraceError> {
        match event {
            StreamEvent::Elements { .. } => self.output.needs(MINOR_WITH_ELEMENTS),
            StreamEvent::Register { .. } => self.output.needs(MINOR_WITH_REGISTERS),
            StreamEvent::Ticket { .. } => self.output.needs(MINOR_WITH_TICKETS),
            _ => {}
        }
        let encoder = self.stream_mut(stream);
        encoder.event(&event);
        // Only events without blocks between them get here; one redirect may still follow.
        if encoder.open_events() >= MAX_CHUNK_EVENTS - 1 {
            self.write_stream_chunk(stream)?;
        }
        Ok(())
    }

    /// Instructions pushed so far, all streams together.
    pub fn instructions(&self) -> u64 {
        let open: u64 = self.streams.values().map(|s| u64::from(s.open_instructions())).sum();
        self.summary.instructions + open
    }

    /// The code page at `va` as it was given last.
    pub(crate) fn page_at(&self, va: u64) -> Option<&[u8]> {
        self.image.page(va)
    }

    /// Instructions of all different blocks so far.
    pub(crate) fn code_words(&self) -> usize {
        self.words.len()
    }

    /// Writes what is left, the index and the totals, and gives the sink back.
    ///
    /// # Errors
    /// If the sink refuses.
    pub fn finish_into(mut self) -> Result<(Summary, W), TraceError> {
        let streams: Vec<u32> = self.streams.keys().copied().collect();
        self.write_definitions()?;
        for stream in streams {
            self.write_stream_chunk(stream)?;
        }
        self.output.meta(&self.meta)?;
        self.summary.streams = self.streams.len() as u32;
        self.summary.distinct_blocks = self.blocks.len() as u32;
        let (file_bytes, sink) = self.output.end(&self.meta, &self.summary)?;
        Ok((Summary { file_bytes, ..self.summary }, sink))
    }

    fn stream_mut(&mut self, stream: u32) -> &mut StreamEncoder {
        encoder_of(&mut self.streams, stream)
    }

    fn words_of(&self, shape: BlockShape) -> &[u32] {
        let start = shape.start as usize;
        &self.words[start..start + usize::from(shape.len)]
    }

    /// Where control may go after the first `executed` instructions.
    fn exits_after(&self, pc: u64, shape: BlockShape, executed: u16, whole: Exits) -> Exits {
        if executed == shape.len {
            return whole;
        }
        let last = u32::from(executed) - 1;
        Exits::of(pc + 4 * u64::from(last), self.words[(shape.start + last) as usize])
    }

    /// Writes the open chunk of `stream` behind all definitions that it needs.
    fn write_stream_chunk(&mut self, stream: u32) -> Result<(), TraceError> {
        self.write_definitions()?;
        let Some(encoder) = self.streams.get_mut(&stream).filter(|e| !e.is_empty()) else {
            return Ok(());
        };
        let (header, columns) = encoder.chunk();
        self.output.meta_once(&self.meta)?;
        self.output.chunk(header, &columns)?;
        // What is in the file can be recovered if this process is killed.
        self.output.flush()?;
        self.summary.instructions += u64::from(header.instructions);
        self.summary.blocks += u64::from(header.blocks);
        self.summary.accesses += u64::from(header.accesses);
        self.summary.events += u64::from(header.events);
        encoder.next_chunk();
        Ok(())
    }

    /// Writes pages and blocks that are new.
    fn write_definitions(&mut self) -> Result<(), TraceError> {
        let mut pages = std::mem::take(&mut self.pending_pages);
        pages.sort_unstable();
        self.output.image(&self.image, &pages)?;
        let new = self.pending_block..self.blocks.len();
        self.pending_block = new.end;
        let blocks = self.blocks[new.clone()].iter();
        let words = &self.words;
        self.output.blocks(
            new.start as u64,
            blocks.map(|b| {
                let start = b.shape.start as usize;
                (b.pc, &words[start..start + usize::from(b.shape.len)])
            }),
            &self.image,
        )
    }
}

/// Refuses an execution that a trace cannot hold.
fn check_execution(
    shape: BlockShape,
    executed: u16,
    accesses: &[Access],
) -> Result<(), TraceError> {
    if executed > shape.len {
        return Err(TraceError::Rejected("more instructions executed than the block has"));
    }
    let mut free = 0;
    for access in accesses {
        if access.index < free || access.index >= executed {
            return Err(TraceError::Rejected(
                "accesses need rising indexes below the executed count, one per instruction",
            ));
        }
        free = access.index + 1;
    }
    Ok(())
}

fn content_hash(pc: u64, words: &[u32]) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    pc.hash(&mut hasher);
    words.hash(&mut hasher);
    hasher.finish()
}

fn encoder_of(streams: &mut BTreeMap<u32, StreamEncoder>, stream: u32) -> &mut StreamEncoder {
    streams.entry(stream).or_insert_with(|| StreamEncoder::new(stream))
}
