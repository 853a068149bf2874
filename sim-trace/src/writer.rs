//! Writer of traces: takes code pages, block definitions and block executions.
//!
//! The writer uses a temporary file in the directory of the destination and renames it at the end.
//! A file with the final name is therefore always complete.

mod encoders;
pub(crate) mod output;
mod salvage;
pub(crate) mod stream_encoder;
mod summary;

use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use rustc_hash::FxHashMap;
use sim_files::{File, NewFile, Unfinished};
use sim_isa::Exit;

use crate::block::{Access, BlockId, BlockShape};
use crate::error::TraceError;
use crate::event::StreamEvent;
use crate::image::CodeImage;
use crate::layout::{
    MAX_BLOCK_INSTS, MAX_CHUNK_EVENTS, MAX_CHUNK_INSTS, MINOR_WITH_ELEMENTS, MINOR_WITH_REGISTERS,
    MINOR_WITH_TICKETS, check_machine,
};
use crate::limits;
use crate::meta::Meta;
use crate::page_map::PageMap;
use encoders::Encoders;
use output::{Output, begin_file, end_file};
use stream_encoder::StreamEncoder;

pub use summary::Summary;

/// Options of a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterOptions {
    /// zstd level: 1 while capturing, 3 to keep, 9 or 19 to archive.
    pub level: i32,
    /// Number of instructions at which a chunk ends, after the current block.
    pub chunk_instructions: u32,
}

impl Default for WriterOptions {
    fn default() -> Self {
        WriterOptions { level: 1, chunk_instructions: 1 << 20 }
    }
}

/// A defined block.
#[derive(Clone, Copy, Debug)]
struct Block {
    pc: u64,
    shape: BlockShape,
    exit: Exit,
}

/// Writer of one trace file.
pub struct TraceWriter<W: Write + Seek = BufWriter<File>> {
    output: Output<W>,
    temp: Option<Unfinished>,
    meta: Meta,
    options: WriterOptions,
    image: CodeImage,
    /// Addresses of pages that are not yet written.
    pending_pages: Vec<u64>,
    blocks: Vec<Block>,
    words: Vec<u32>,
    /// Numbers of blocks by hash of address and words.
    by_content: FxHashMap<u64, Vec<u32>>,
    /// Number of the first block that is not yet written.
    pending_block: usize,
    streams: Encoders,
    summary: Summary,
}

impl TraceWriter {
    /// Begins a trace that gets the name `path` when finished. Uses the options for fast capture.
    ///
    /// # Errors
    /// The temporary file cannot be created in the directory of `path`, or `meta.machine` is
    /// impossible.
    pub fn create(path: &Path, meta: Meta) -> Result<TraceWriter, TraceError> {
        TraceWriter::create_with(path, meta, WriterOptions::default())
    }

    /// Begins a trace like [`TraceWriter::create`], with these options.
    ///
    /// # Errors
    /// The same as for [`TraceWriter::create`].
    pub fn create_with(
        path: &Path,
        meta: Meta,
        options: WriterOptions,
    ) -> Result<TraceWriter, TraceError> {
        TraceWriter::begin(path, meta, options, NewFile::beside)
    }

    /// Begins a trace like [`TraceWriter::create_with`], for a recording that cannot be repeated.
    /// If this process is killed, the unfinished file remains as `NAME.XXXXXX.partial` in the
    /// directory of `path`. `n2sim trace recover` recovers its complete chunks.
    ///
    /// # Errors
    /// The same as for [`TraceWriter::create`].
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

    /// Writes the open chunks, the index and the totals, and gives the file its name.
    ///
    /// # Errors
    /// A system call fails. The temporary file is removed then. Only a recording
    /// ([`TraceWriter::record`]) that cannot be synced or renamed stays under its temporary name.
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
    /// Begins a trace in any sink. `path` is used in messages only.
    ///
    /// # Errors
    /// Writing to the sink fails, or `meta.machine` is impossible.
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
            streams: Encoders::default(),
            summary: Summary::default(),
        })
    }

    /// Returns origin and limits of the trace.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Returns origin and limits of the trace for changes. [`finish`](TraceWriter::finish) writes
    /// their last state. The page size must not change.
    pub fn meta_mut(&mut self) -> &mut Meta {
        &mut self.meta
    }

    /// Writes the page map of the program. Call it before the first block execution, so that an
    /// unfinished file has the map, too.
    ///
    /// # Errors
    /// The trace has a page map already, or writing to the sink fails.
    pub fn page_map(&mut self, map: &PageMap) -> Result<(), TraceError> {
        self.output.page_map(map)
    }

    /// Adds the code page at `va`. Wrong paths fetch from it, and blocks need not repeat its words.
    /// A page with new content replaces the earlier one (generated code).
    ///
    /// # Errors
    /// `va` or the length does not fit the page size.
    pub fn image_page(&mut self, va: u64, bytes: &[u8]) -> Result<(), TraceError> {
        let page = self.image.page_bytes();
        if bytes.len() != page as usize || !va.is_multiple_of(page.into()) {
            return Err(TraceError::Rejected("an image page needs the page size and alignment"));
        }
        if self.image.page(va) != Some(bytes) {
            // Blocks defined on the old content must precede the new content in the file.
            if self.image.page(va).is_some() {
                self.write_definitions()?;
            }
            self.image.insert(va, bytes);
            self.pending_pages.push(va);
        }
        Ok(())
    }

    /// Returns the number of the block of `words` at `pc`. Defines the block at its first use.
    ///
    /// # Errors
    /// `pc` is not a multiple of 4, or the block is empty, too long or wraps around.
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
        let exit = Exit::of(last_pc, words[words.len() - 1]);
        self.blocks.push(Block { pc, shape: BlockShape { start, len }, exit });
        self.words.extend_from_slice(words);
        self.by_content.entry(hash).or_default().push(id);
        Ok(BlockId(id))
    }

    /// Appends one execution of the first `executed` instructions of `block` to `stream`.
    /// `accesses` has one address for each accessing instruction, in increasing order of index.
    /// `event` follows the last instruction. With `executed` 0 only the event is recorded.
    ///
    /// If the block cannot follow the previous one and no event explains it, a
    /// [`StreamEvent::Redirect`] is written in between.
    ///
    /// # Errors
    /// The block is unknown, an index is out of range or order, or writing to the sink fails.
    pub fn push_block(
        &mut self,
        stream: u32,
        block: BlockId,
        executed: u16,
        accesses: &[Access],
        event: Option<StreamEvent>,
    ) -> Result<(), TraceError> {
        let Some(&Block { pc, shape, exit }) = self.blocks.get(block.0 as usize) else {
            return Err(TraceError::Rejected("a block that was never defined"));
        };
        check_execution(shape, executed, accesses)?;
        if executed > 0 {
            let exit = self.exit_after(pc, shape, executed, exit);
            let chunk_instructions = self.options.chunk_instructions;
            let encoder = self.streams.of(stream);
            // The event that explains the arrival belongs to the chunk of the previous block.
            let redirected = encoder.explain_arrival(pc);
            let full = encoder.open_instructions() >= chunk_instructions
                || encoder.open_events() >= MAX_CHUNK_EVENTS / 2;
            self.summary.redirects += u64::from(redirected);
            if full {
                self.write_stream_chunk(stream)?;
                self.streams.of(stream).block(block.0, shape, executed, accesses, exit);
            } else {
                encoder.block(block.0, shape, executed, accesses, exit);
            }
        }
        match event {
            Some(event) => self.push_event(stream, event),
            None => Ok(()),
        }
    }

    /// Appends an event to `stream` after its last instruction (or before its first).
    ///
    /// # Errors
    /// Writing to the sink fails.
    pub fn push_event(&mut self, stream: u32, event: StreamEvent) -> Result<(), TraceError> {
        match event {
            StreamEvent::Elements { .. } => self.output.needs(MINOR_WITH_ELEMENTS),
            StreamEvent::Register { .. } => self.output.needs(MINOR_WITH_REGISTERS),
            StreamEvent::Ticket { .. } => self.output.needs(MINOR_WITH_TICKETS),
            _ => {}
        }
        let encoder = self.streams.of(stream);
        encoder.event(&event);
        // Reached only by events without blocks in between; one redirect may still follow.
        if encoder.open_events() >= MAX_CHUNK_EVENTS - 1 {
            self.write_stream_chunk(stream)?;
        }
        Ok(())
    }

    /// Returns the number of instructions pushed so far to all streams.
    pub fn instructions(&self) -> u64 {
        let open: u64 = self.streams.all().iter().map(|s| u64::from(s.open_instructions())).sum();
        self.summary.instructions + open
    }

    /// Returns the last content of the code page at `va`.
    pub(crate) fn page_at(&self, va: u64) -> Option<&[u8]> {
        self.image.page(va)
    }

    /// Returns whether `block` is the block of `words` at `pc`.
    pub(crate) fn is_block(&self, block: BlockId, pc: u64, words: &[u32]) -> bool {
        let known = self.blocks.get(block.0 as usize);
        known.is_some_and(|block| block.pc == pc && self.words_of(block.shape) == words)
    }

    /// Returns the number of instructions of all distinct blocks so far.
    pub(crate) fn code_words(&self) -> usize {
        self.words.len()
    }

    /// Writes the open chunks, the index and the totals. Returns the sink, too.
    ///
    /// # Errors
    /// Writing to the sink fails.
    pub fn finish_into(mut self) -> Result<(Summary, W), TraceError> {
        let streams: Vec<u32> = self.streams.all().iter().map(StreamEncoder::stream).collect();
        self.write_definitions()?;
        for stream in streams {
            self.write_stream_chunk(stream)?;
        }
        self.output.meta(&self.meta)?;
        self.summary.streams = self.streams.all().len() as u32;
        self.summary.distinct_blocks = self.blocks.len() as u32;
        let (file_bytes, sink) = self.output.end(&self.meta, &self.summary)?;
        Ok((Summary { file_bytes, ..self.summary }, sink))
    }

    fn words_of(&self, shape: BlockShape) -> &[u32] {
        let start = shape.start as usize;
        &self.words[start..start + usize::from(shape.len)]
    }

    /// Returns the exit after the first `executed` instructions.
    #[inline]
    fn exit_after(&self, pc: u64, shape: BlockShape, executed: u16, whole: Exit) -> Exit {
        if executed == shape.len {
            return whole;
        }
        let last = u32::from(executed) - 1;
        Exit::of(pc + 4 * u64::from(last), self.words[(shape.start + last) as usize])
    }

    /// Writes the open chunk of `stream` after all definitions that it needs.
    fn write_stream_chunk(&mut self, stream: u32) -> Result<(), TraceError> {
        self.write_definitions()?;
        let encoder = self.streams.of(stream);
        if encoder.is_empty() {
            return Ok(());
        }
        let (header, columns) = encoder.chunk();
        self.output.meta_once(&self.meta)?;
        self.output.chunk(header, &columns)?;
        // Written chunks can be recovered if this process is killed.
        self.output.flush()?;
        self.summary.instructions += u64::from(header.instructions);
        self.summary.blocks += u64::from(header.blocks);
        self.summary.accesses += u64::from(header.accesses);
        self.summary.events += u64::from(header.events);
        encoder.next_chunk();
        Ok(())
    }

    /// Writes new pages and blocks.
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

/// Refuses an execution that a trace cannot represent.
#[inline]
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
                "accesses need increasing indexes below the executed count, one per instruction",
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
