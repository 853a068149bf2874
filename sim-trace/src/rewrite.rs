//! Writing of a part of a trace, or of several traces, as a new trace. Instructions are copied one
//! by one, with code image, page map and side events.

use std::collections::HashSet;
use std::io::{Read, Seek};
use std::ops::Range;
use std::path::Path;

use sim_core::{InstFlags, TraceInst};

use crate::block::{Access, BlockId};
use crate::error::TraceError;
use crate::event::{EventAt, StreamEvent};
use crate::file::TraceFile;
use crate::meta::{Meta, Symbol};
use crate::writer::{Summary, TraceWriter, WriterOptions};

/// Selection of the part of a trace that [`slice()`] keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Numbers of the kept streams; empty for all.
    pub streams: Vec<u32>,
    /// Positions of the kept instructions in each stream.
    pub range: Range<u64>,
    /// True to drop the order in which the threads synchronized. No thread then waits for another
    /// thread in a replay.
    pub without_order: bool,
}

/// Way to combine traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// Each trace is a part of the same run: a stream continues the stream of the same number.
    Parts,
    /// Each trace has its own threads, which get new numbers.
    Threads,
}

/// Gap of a trace whose tickets were dropped.
const NO_ORDER: &str = "the order in which the threads synchronized was not kept";

/// Writes a part of `file` to `destination`.
///
/// # Errors
/// The part is empty, a stream is absent or damaged, or a system call fails. `destination` does not
/// change then.
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
    meta.gaps.push(format!("each thread has only {part} of trace {:016x}", file.hash()));
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

/// Returns true if all tickets of each file are above those of the previous files, as in parts of
/// one recording.
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

/// Writes several traces as one to `destination`. The traces must come from the same machine. The
/// result takes its META from the first.
///
/// # Errors
/// The traces do not fit together, a stream is damaged, or a system call fails. `destination` does
/// not change then.
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
        // Tickets of different recordings are not comparable.
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

/// Returns the META of a merged trace: that of the first trace, with the gaps, symbols
/// and mapped files of all.
fn merged_meta<R: Read + Seek>(first: &TraceFile<R>, files: &[TraceFile<R>]) -> Meta {
    let mut meta = first.meta().clone();
    for file in files {
        let other = file.meta();
        for gap in other.gaps.iter().filter(|gap| !first.meta().gaps.contains(gap)) {
            meta.gaps.push(gap.clone());
        }
        meta.lacks.extend(&other.lacks);
        for mapped in &other.files {
            if !meta.files.contains(mapped) {
                meta.files.push(mapped.clone());
            }
        }
        // A trace of another program adds its own.
        let known: HashSet<Symbol> = meta.symbols.iter().cloned().collect();
        let new = other.symbols.iter().filter(|symbol| !known.contains(symbol));
        meta.symbols.extend(new.cloned());
    }
    meta.lacks.sort_unstable();
    meta.lacks.dedup();
    meta.symbols.sort_by_key(|symbol| symbol.addr);
    let hashes: Vec<String> = files.iter().map(|file| format!("{:016x}", file.hash())).collect();
    meta.notes.insert("merged-from".to_owned(), hashes.join(", "));
    meta
}

/// Refuses a trace that another machine must have recorded.
fn check_fits<R: Read + Seek>(first: &TraceFile<R>, file: &TraceFile<R>) -> Result<(), TraceError> {
    let refuse = |what| Err(TraceError::Misfit { path: file.path().to_path_buf(), what });
    if file.meta().machine != first.meta().machine {
        return refuse("it was recorded on another machine (`n2sim trace info`: machine)");
    }
    match (first.page_map(), file.page_map()) {
        (Some(one), Some(other)) if one != other => refuse("its page map differs"),
        (None, Some(_)) => refuse("it has a page map and the first has none"),
        _ => Ok(()),
    }
}

/// Returns the distance, in instructions, from an event back to the instruction it belongs to.
fn reach(event: &StreamEvent) -> u64 {
    match event {
        StreamEvent::StoreExclusive { back, .. } | StreamEvent::Elements { back, .. } => {
            u64::from(*back).max(1)
        }
        StreamEvent::Ticket { back, .. } => u64::from(*back),
        _ => 1,
    }
}

/// Returns the event moved to `last` if it lies after `last` and belongs to an instruction before
/// it.
fn moved_to(last: u32, at: EventAt) -> EventAt {
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

/// The trace that is being written.
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

    /// Adds code pages and page map of `file`. Threads of one trace share an address space.
    fn code<R: Read + Seek>(&mut self, file: &TraceFile<R>, join: Join) -> Result<(), TraceError> {
        if let Some(map) = file.page_map().filter(|_| !self.has_map) {
            self.writer.page_map(map)?;
            self.has_map = true;
        }
        for (va, bytes) in file.image().pages() {
            let other = self.writer.page_at(va).filter(|page| *page != bytes);
            if join == Join::Threads && other.is_some() {
                let what = "it has the code of another program at the same addresses; threads of \
                            one trace share their memory";
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
        // Start one instruction earlier: a ticket of the first may end the previous chunk.
        let mut reader = file.reader_at(from, range.start.saturating_sub(1))?;
        let mut batch = Vec::new();
        while reader.next_batch(&mut batch)? {
            let start = reader.batch_start();
            if start > range.end {
                break;
            }
            let first = range.start.saturating_sub(start).min(batch.len() as u64) as u32;
            let last = range.end.saturating_sub(start).min(batch.len() as u64) as u32;
            // Drop events of instructions before the first.
            let is_inside = |at: &EventAt| {
                let kept_before = (start + u64::from(at.position)).checked_sub(range.start);
                let has_its_own = kept_before.is_some_and(|kept| kept >= reach(&at.event));
                let is_kept = match at.event {
                    // A ticket may precede its instruction, which must not follow the last one.
                    StreamEvent::Ticket { back, .. } => {
                        let is_after = start + u64::from(at.position) >= range.end;
                        self.keeps_tickets && !(is_after && back == 0)
                    }
                    _ => true,
                };
                (has_its_own || range.start == 0) && at.position <= last && is_kept
            };
            let events = reader.events().iter().map(|at| moved_to(last, *at));
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

/// Straight-line code from a static instruction to the end of a block.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// Block of the old trace with the longest straight line from the instruction.
    block: u32,
    /// Index of the instruction in that block.
    index: u16,
    /// Number of instructions from it to the end of the block.
    len: u16,
    /// Block of the new trace, once it is defined.
    id: Option<BlockId>,
}

/// Copier of one stream.
struct Copier<'a, R: Read + Seek> {
    file: &'a TraceFile<R>,
    /// Straight lines, by static instruction.
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

    /// Copies the straight line at the start of `insts`. Returns its number of instructions.
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
