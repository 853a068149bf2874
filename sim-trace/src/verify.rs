//! Reads a whole trace and says whether every part of it is intact and plausible.

use std::io::{Read, Seek};
use std::path::Path;

use sim_core::{InstFlags, RegisterAccess, TraceInst};

use crate::error::TraceError;
use crate::event::StreamEvent;
use crate::file::TraceFile;
use crate::flow::Exits;
use crate::reader::{EventAt, StreamReader, TicketReader};

/// What a complete reading found.
#[derive(Debug, Default)]
pub struct Report {
    /// Chunks read, INDEX and END not counted.
    pub chunks: u32,
    /// Instructions decoded.
    pub instructions: u64,
    /// Data addresses decoded.
    pub accesses: u64,
    /// Side events decoded.
    pub events: u64,
    /// Instructions that the chunk headers promise.
    pub promised: u64,
    /// Places where the recorder says that instructions are absent.
    pub gaps: u64,
    /// How many are absent there, where it knew.
    pub lost: u64,
    /// Events that say only "control went elsewhere".
    pub redirects: u64,
    /// Instructions that cannot follow the one before, and no event says why.
    pub unexplained: u64,
    /// Stream and position of the first of those.
    pub first_unexplained: Option<(u32, u64)>,
    /// Register events that do not stand behind the access that they tell of.
    pub misplaced_registers: u64,
    /// Tickets: the order in which threads synchronized.
    pub tickets: u64,
    /// Tickets whose number does not rise, or is there twice.
    pub misordered_tickets: u64,
    /// Stream and position of the first of those.
    pub first_misordered: Option<(u32, u64)>,
    /// The index was lost and rebuilt.
    pub index_rebuilt: bool,
    /// Damaged or contradictory chunks, in file order.
    pub faults: Vec<TraceError>,
}

impl Report {
    /// True if all chunks are intact and all control flow is explained.
    pub fn is_good(&self) -> bool {
        self.faults.is_empty()
            && self.unexplained == 0
            && self.misplaced_registers == 0
            && self.misordered_tickets == 0
            && !self.index_rebuilt
    }
}

/// Opens and reads all of the trace at `path`.
///
/// # Errors
/// If the trace cannot even be opened; damage in single chunks is in the report instead.
pub fn verify(path: &Path) -> Result<Report, TraceError> {
    verify_file(&TraceFile::open(path)?)
}

/// Reads all of an open trace.
///
/// # Errors
/// If the system refuses; damage in single chunks is in the report instead.
pub fn verify_file<R: Read + Seek>(file: &TraceFile<R>) -> Result<Report, TraceError> {
    let exits: Vec<Exits> =
        file.statics().insts().iter().map(|inst| Exits::of(inst.pc, inst.word)).collect();
    let mut report = Report {
        index_rebuilt: file.index_rebuilt(),
        promised: file.instructions(),
        ..Report::default()
    };
    file.check_other_chunks(&mut report.faults)?;
    for info in file.streams() {
        let mut reader = file.reader(info.stream)?.skipping_damage();
        let mut flow = Flow { file, exits: &exits, stream: info.stream, last: None };
        while let Err(fault) = flow.follow_until_damage(&mut reader, &mut report) {
            // What precedes a damaged chunk says nothing on what follows it.
            flow.last = None;
            report.faults.push(fault);
        }
    }
    if file.has_tickets() {
        check_tickets(file, &mut report)?;
    }
    report.faults.sort_by_key(TraceError::chunk);
    report.chunks = file.chunks().len() as u32;
    Ok(report)
}

/// Takes the tickets of all streams in the order of their numbers, each of which must be there once.
fn check_tickets<R: Read + Seek>(
    file: &TraceFile<R>,
    report: &mut Report,
) -> Result<(), TraceError> {
    let next = |reader: &mut TicketReader<R>, faults: &mut Vec<TraceError>| {
        reader.next_ticket().unwrap_or_else(|fault| {
            // A damaged chunk was found before.
            if faults.iter().all(|known| known.chunk() != fault.chunk()) {
                faults.push(fault);
            }
            None
        })
    };
    let mut heads = Vec::new();
    for info in file.streams() {
        let mut reader = file.tickets(info.stream)?;
        let head = next(&mut reader, &mut report.faults);
        heads.push((head, info.stream, reader));
    }
    let mut last = None;
    while let Some((head, stream, reader)) = heads
        .iter_mut()
        .filter(|(head, ..)| head.is_some())
        .min_by_key(|(head, ..)| head.map(|t| t.order))
    {
        let Some(ticket) = std::mem::replace(head, next(reader, &mut report.faults)) else { break };
        report.tickets += 1;
        if last.is_some_and(|last| ticket.order <= last) {
            report.misordered_tickets += 1;
            report.first_misordered.get_or_insert((*stream, ticket.position));
        }
        last = Some(ticket.order);
    }
    Ok(())
}

/// Follows control through one stream.
struct Flow<'a, R: Read + Seek> {
    file: &'a TraceFile<R>,
    exits: &'a [Exits],
    stream: u32,
    last: Option<TraceInst>,
}

impl<R: Read + Seek> Flow<'_, R> {
    /// Follows the stream up to its end or the next damaged chunk.
    fn follow_until_damage(
        &mut self,
        reader: &mut StreamReader<R>,
        report: &mut Report,
    ) -> Result<(), TraceError> {
        let mut batch = Vec::new();
        while reader.next_batch(&mut batch)? {
            report.misplaced_registers += self.misplaced_registers(&batch, reader.events());
            for (inst, position) in batch.iter().zip(reader.batch_start()..) {
                if !self.follows(inst) {
                    report.unexplained += 1;
                    report.first_unexplained.get_or_insert((self.stream, position));
                }
                self.last = Some(*inst);
            }
            let accesses = batch.iter().filter(|inst| inst.flags.has(InstFlags::HAS_ADDR));
            report.accesses += accesses.count() as u64;
            report.instructions += batch.len() as u64;
            report.events += reader.events().len() as u64;
            for at in reader.events() {
                match at.event {
                    StreamEvent::Redirect => report.redirects += 1,
                    StreamEvent::Gap { instructions } => {
                        report.gaps += 1;
                        report.lost = report.lost.saturating_add(instructions.unwrap_or(0));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Register events of a batch that do not stand behind an `MRS` or `MSR` of their register.
    fn misplaced_registers(&self, batch: &[TraceInst], events: &[EventAt]) -> u64 {
        let stands_behind = |at: &EventAt, wanted: RegisterAccess| {
            let before = match (at.position as usize).checked_sub(1) {
                Some(i) => batch.get(i),
                None => self.last.as_ref(),
            };
            let word = before.map(|inst| self.file.statics().insts()[inst.id as usize].word);
            word.and_then(|word| RegisterAccess::of_word(word, wanted.value)) == Some(wanted)
        };
        let misplaced = events.iter().filter(|at| match at.event {
            StreamEvent::Register { encoding, value, is_write } => {
                !stands_behind(at, RegisterAccess { encoding, value, is_write })
            }
            _ => false,
        });
        misplaced.count() as u64
    }

    fn follows(&self, inst: &TraceInst) -> bool {
        self.last.is_none_or(|last| {
            last.flags.has(InstFlags::DISCONTINUITY)
                || self.exits[last.id as usize]
                    .allow(self.file.statics().insts()[inst.id as usize].pc)
        })
    }
}
