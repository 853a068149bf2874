//! Writes parts of traces, or several traces, as a new one: instruction by instruction, with the code image,
//! the page map and the side events.

use std::io::{Read, Seek};
use std::ops::Range;
use std::path::Path;

use sim_core::{InstFlags, TraceInst};

use crate::error::TraceError;
use crate::event::StreamEvent;
use crate::file::TraceFile;
use crate::meta::Meta;
use crate::reader::EventAt;
use crate::writer::{Access, BlockId, Summary, TraceWriter, WriterOptions};

/// What [`slice()`] keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The threads, by the number of their streams; all if empty.
    pub streams: Vec<u32>,
    /// Positions of instructions in each stream.
    pub range: Range<u64>,
    /// Without the order in which the threads synchronized: nobody waits for another one in a replay.
    pub without_order: bool,
}

/// How traces are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// Each is one stretch of the same run: a stream goes on in the stream of that number.
    Parts,
    /// Each has threads of its own, which get new numbers.
    Threads,
}

/// What a trace lacks whose tickets were left out.
const NO_ORDER: &str = "the order in which the threads synchronized was not kept";

/// Writes a part of `file` to `destination`.
///
/// # Errors
/// If the part is empty, a stream is absent or damaged, or the system refuses; `destination` is untouched
/// then.
pub fn slice<R: Read + Seek>(
    file: &TraceFile<R>,
    what: &Slice,
    destination: &Path,
    options: WriterOptions,
) -> Result<Summary, TraceError> {
    let Slice { streams, range, without_order } = what;
    let known: Vec<u32> = file.streams().iter().map(|info| info.stream).collect();
    let streams = if streams.is_empty() { &known } else { streams };
    let mut meta = file.meta().clone();
    let (start, end) = (range.start, range.end);
    let part = match end {
        u64::MAX => format!("instructions {start} and later"),
        _ => format!("instructions {start} to {end}"),
    };
    meta.gaps.push(format!("of each thread only {part} of {:016x} are here", file.hash()));
    if *without_order && file.has_tickets() {
        meta.gaps.push(NO_ORDER.to_owned());
    }
    meta.notes.insert("slice-of".to_owned(), format!("{:016x}, {part}", file.hash()));
    let mut joined = Joined::create(destination, meta, options)?;
    joined.keeps_tickets = !without_order;
    joined.code(file, Join::Parts)?;
    for &stream in streams {
        joined.stream(file, stream, stream, range.clone())?;
    }
    joined.finish(format!("{part} in stream {}", list(streams)))
}

/// True if the tickets of each file are above those of the files before it, as those of parts of one recording are.
fn have_one_order<R: Read + Seek>(files: &[TraceFile<R>]) -> Result<bool, TraceError> {
    let mut above = None;
    for file in files.iter().filter(|file| file.has_tickets()) {
        let before = above;
        for stream in file.streams() {
            let mut tickets = file.tickets(stream.stream)?;
            while let Some(ticket) = tickets.next_ticket()? {
                if before.is_some_and(|before| ticket.order <= before) {
                    return Ok(false);
                }
                above = above.max(Some(ticket.order));
            }
        }
    }
    Ok(true)
}

/// Writes several traces as one to `destination`. They must have been recorded on the same machine; what the
/// first says of itself holds.
///
/// # Errors
/// If the traces do not fit together, a stream is damaged, or the system refuses; `destination` is
/// untouched then.
pub fn merge<R: Read + Seek>(
    files: &[TraceFile<R>],
    join: Join,
    destination: &Path,
    options: WriterOptions,
) -> Result<Summary, TraceError> {
    let Some(first) = files.first() else {
        return Err(TraceError::Rejected("nothing to merge"));
    };
    let mut meta = merged_meta(first, files);
    let keeps_tickets = match join {
        Join::Parts => have_one_order(files)?,
        // Numbers of several recordings say nothing about each other.
        Join::Threads => files.iter().filter(|file| file.has_tickets()).count() <= 1,
    };
    if !keeps_tickets {
        meta.gaps.push(NO_ORDER.to_owned());
    }
    let mut joined = Joined::create(destination, meta, options)?;
    joined.keeps_tickets = keeps_tickets;
    let mut next = 0u32;
    for file in files {
        check_fits(first, file)?;
        joined.code(file, join)?;
        let base = if join == Join::Threads { next } else { 0 };
        for info in file.streams() {
            if join == Join::Parts && joined.has_begun(info.stream) {
                joined.writer.push_event(info.stream, StreamEvent::Gap { instructions: None })?;
            }
            let to = base
                .checked_add(info.stream)
                .ok_or(TraceError::Rejected("the numbers of the threads do not fit 32 bits"))?;
            joined.stream(file, info.stream, to, 0..u64::MAX)?;
            next = next.max(to.saturating_add(1));
        }
    }
    joined.finish("instruction in any of them".to_owned())
}

/// What a merged trace says of itself: the first's words, and every gap.
fn merged_meta<R: Read + Seek>(first: &TraceFile<R>, files: &[TraceFile<R>]) -> Meta {
    let mut meta = first.meta().clone();
    for file in files {
        let other = file.meta();
        for gap in other.gaps.iter().filter(|gap| !first.meta().gaps.contains(gap)) {
            meta.gaps.push(gap.clone());
        }
        meta.lacks.extend(&other.lacks);
        let known = meta.symbols.len();
        for symbol in &other.symbols {
            // The first's symbols are sorted as recorded; a trace of another program adds its own.
            if !meta.symbols[..known].contains(symbol) {
                meta.symbols.push(symbol.clone());
            }
        }
    }
    meta.lacks.sort_unstable();
    meta.lacks.dedup();
    meta.symbols.sort_by_key(|symbol| symbol.addr);
    let hashes: Vec<String> = files.iter().map(|file| format!("{:016x}", file.hash())).collect();
    meta.notes.insert("merged-from".to_owned(), hashes.join(", "));
    meta
}

/// Refuses what one machine cannot have recorded.
fn check_fits<R: Read + Seek>(first: &TraceFile<R>, file: &TraceFile<R>) -> Result<(), TraceError> {
    let refuse = |what| Err(TraceError::Misfit { path: file.path().to_path_buf(), what });
    if file.meta().machine != first.meta().machine {
        return refuse("it was recorded on another machine (`n2sim trace info`: machine)");
    }
    match (first.page_map(), file.page_map()) {
        (Some(one), Some(other)) if one != other => refuse("its page map is another one"),
        (None, Some(_)) => refuse("it has a page map and the first has none"),
        _ => Ok(()),
    }
}

/// How many instructions before it an event belongs to.
fn reach(event: &StreamEvent) -> u64 {
    match event {
        StreamEvent::StoreExclusive { back, .. } | StreamEvent::Elements { back, .. } => {
            u64::from(*back).max(1)
        }
        StreamEvent::Ticket { back, .. } => u64::from(*back),
        _ => 1,
    }
}

/// The event at `last`, if it stands behind and tells of an instruction before.
fn pulled_to(last: u32, at: EventAt) -> EventAt {
    let by = at.position.saturating_sub(last);
    let mut event = at.event;
    let (StreamEvent::Ticket { back, .. }
    | StreamEvent::Elements { back, .. }
    | StreamEvent::StoreExclusive { back, .. }) = &mut event
    else {
        return at;
    };
    if by == 0 || u32::from(*back) <= by {
        return at;
    }
    *back -= by as u16;
    EventAt { position: last, event }
}

fn list(streams: &[u32]) -> String {
    streams.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// The trace that grows.
struct Joined {
    writer: TraceWriter,
    has_map: bool,
    begun: Vec<u32>,
    keeps_tickets: bool,
}

impl Joined {
    fn create(
        destination: &Path,
        meta: Meta,
        options: WriterOptions,
    ) -> Result<Joined, TraceError> {
        let writer = TraceWriter::create_with(destination, meta, options)?;
        Ok(Joined { writer, has_map: false, begun: Vec::new(), keeps_tickets: true })
    }

    /// Pages and page map of `file`. Threads of one trace share an address space.
    fn code<R: Read + Seek>(&mut self, file: &TraceFile<R>, join: Join) -> Result<(), TraceError> {
        if let Some(map) = file.page_map().filter(|_| !self.has_map) {
            self.writer.page_map(map)?;
            self.has_map = true;
        }
        for (va, bytes) in file.image().pages() {
            let other = self.writer.page_at(va).filter(|page| *page != bytes);
            if join == Join::Threads && other.is_some() {
                let what = "its code at the same addresses is another program's: threads of one \
                            trace share their memory";
                return Err(TraceError::Misfit { path: file.path().to_path_buf(), what });
            }
            self.writer.image_page(va, bytes)?;
        }
        Ok(())
    }

    fn has_begun(&self, stream: u32) -> bool {
        self.begun.contains(&stream)
    }

    /// Appends the instructions `range` of stream `from` to stream `to`.
    fn stream<R: Read + Seek>(
        &mut self,
        file: &TraceFile<R>,
        from: u32,
        to: u32,
        range: Range<u64>,
    ) -> Result<(), TraceError> {
        let mut copier = Copier::new(file, to);
        // From one instruction earlier: a ticket of the first may end the chunk before its own.
        let mut reader = file.reader_at(from, range.start.saturating_sub(1))?;
        let mut batch = Vec::new();
        while reader.next_batch(&mut batch)? {
            let start = reader.batch_start();
            if start > range.end {
                break;
            }
            let first = range.start.saturating_sub(start).min(batch.len() as u64) as u32;
            let last = range.end.saturating_sub(start).min(batch.len() as u64) as u32;
            // What belongs to an instruction before the first is not kept.
            let is_inside = |at: &EventAt| {
                let kept_before = (start + u64::from(at.position)).checked_sub(range.start);
                let has_its_own = kept_before.is_some_and(|kept| kept >= reach(&at.event));
                let is_kept = match at.event {
                    // It may stand before its instruction, which must not be the one behind the last.
                    StreamEvent::Ticket { back, .. } => {
                        let behind = start + u64::from(at.position) >= range.end;
                        self.keeps_tickets && !(behind && back == 0)
                    }
                    _ => true,
                };
                (has_its_own || range.start == 0) && at.position <= last && is_kept
            };
            let events = reader.events().iter().map(|at| pulled_to(last, *at));
            let events: Vec<EventAt> = events.filter(is_inside).collect();
            copier.batch(&batch, first..last, &events, &mut self.writer)?;
        }
        self.begun.push(to);
        Ok(())
    }

    fn finish(self, what: String) -> Result<Summary, TraceError> {
        if self.writer.instructions() == 0 {
            return Err(TraceError::Nothing { what });
        }
        self.writer.finish()
    }
}

/// Where a static instruction stands in the old trace's blocks, and its straight line in the new trace.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// The block with the most instructions behind it, and its index there.
    block: u32,
    index: u16,
    /// Instructions from it to the block's end.
    len: u16,
    /// Those as a block of the new trace, once they are defined.
    id: Option<BlockId>,
}

/// Copies one stream.
struct Copier<'a, R: Read + Seek> {
    file: &'a TraceFile<R>,
    /// By static instruction.
    lines: Vec<Line>,
    to: u32,
    accesses: Vec<Access>,
}

impl<'a, R: Read + Seek> Copier<'a, R> {
    fn new(file: &'a TraceFile<R>, to: u32) -> Copier<'a, R> {
        let statics = file.statics();
        let mut lines = vec![Line::default(); statics.len()];
        for block in 0..statics.blocks() as u32 {
            let insts = statics.block(BlockId(block)).unwrap_or_default();
            for (&inst, index) in insts.iter().zip(0u16..) {
                let len = insts.len() as u16 - index;
                let line = &mut lines[inst as usize];
                if line.len < len {
                    *line = Line { block, index, len, id: None };
                }
            }
        }
        Copier { file, lines, to, accesses: Vec::new() }
    }

    /// Copies the instructions `range` of a batch and the events among them.
    fn batch(
        &mut self,
        batch: &[TraceInst],
        range: Range<u32>,
        events: &[EventAt],
        writer: &mut TraceWriter,
    ) -> Result<(), TraceError> {
        let mut events = events.iter().peekable();
        let mut at = range.start;
        loop {
            while let Some(event) = events.next_if(|event| event.position <= at) {
                writer.push_event(self.to, event.event)?;
            }
            if at >= range.end {
                return Ok(());
            }
            let until = events.peek().map_or(range.end, |event| event.position.min(range.end));
            at += self.run(&batch[at as usize..until as usize], writer)?;
        }
    }

    /// Copies the straight line at the start of `insts`; how many instructions it has.
    fn run(&mut self, insts: &[TraceInst], writer: &mut TraceWriter) -> Result<u32, TraceError> {
        let statics = self.file.statics();
        let line = &mut self.lines[insts[0].id as usize];
        let ids = statics.block(BlockId(line.block)).unwrap_or_default();
        let ids = &ids[usize::from(line.index)..];
        let block = match line.id {
            Some(block) => block,
            None => {
                let code = |id: &u32| statics.insts()[*id as usize];
                let words: Vec<u32> = ids.iter().map(|id| code(id).word).collect();
                writer.define_block(code(&ids[0]).pc, &words)?
            }
        };
        line.id = Some(block);
        let executed = insts.iter().zip(ids).take_while(|(inst, id)| inst.id == **id).count();
        self.accesses.clear();
        for (inst, index) in insts[..executed].iter().zip(0u16..) {
            if inst.flags.has(InstFlags::HAS_ADDR) {
                self.accesses.push(Access { index, addr: inst.addr });
            }
        }
        writer.push_block(self.to, block, executed as u16, &self.accesses, None)?;
        Ok(executed as u32)
    }
}
