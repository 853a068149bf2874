//! Verification of a whole trace: reads every part and checks that it is intact and plausible.

use std::io::{Read, Seek};
use std::path::Path;

use sim_core::{InstFlags, RegisterAccess, TraceInst};
use sim_isa::{Exit, register_access};

use crate::error::TraceError;
use crate::event::{EventAt, StreamEvent};
use crate::file::TraceFile;
use crate::reader::{StreamReader, TicketReader};

/// Result of reading a whole trace.
#[derive(Debug, Default)]
pub struct Report {
    /// Number of chunks read, without INDEX and END.
    pub chunks: u32,
    /// Number of decoded instructions.
    pub instructions: u64,
    /// Number of decoded data addresses.
    pub accesses: u64,
    /// Number of decoded side events.
    pub events: u64,
    /// Number of instructions according to the chunk headers.
    pub promised: u64,
    /// Number of places at which the recorder reports absent instructions.
    pub gaps: u64,
    /// Number of absent instructions, as far as the recorder knows it.
    pub lost: u64,
    /// Number of events that report an unexplained change of control flow.
    pub redirects: u64,
    /// Number of instructions that cannot follow the previous one, without an event that explains
    /// it.
    pub unexplained: u64,
    /// Stream and position of the first unexplained instruction.
    pub first_unexplained: Option<(u32, u64)>,
    /// Number of register events that do not directly follow the access they describe.
    pub misplaced_registers: u64,
    /// Number of tickets, which give the order in which threads synchronized.
    pub tickets: u64,
    /// Number of tickets that are duplicates or out of order.
    pub misordered_tickets: u64,
    /// Stream and position of the first misordered ticket.
    pub first_misordered: Option<(u32, u64)>,
    /// True if the index was lost and rebuilt.
    pub index_rebuilt: bool,
    /// Damaged or contradictory chunks, in file order.
    pub faults: Vec<TraceError>,
}

impl Report {
    /// Returns true if all chunks are intact, all control flow is explained, and all registers and
    /// tickets are in order.
    pub fn is_good(&self) -> bool {
        self.faults.is_empty()
            && self.unexplained == 0
            && self.misplaced_registers == 0
            && self.misordered_tickets == 0
            && !self.index_rebuilt
    }
}

/// Opens and reads the whole trace at `path`.
///
/// # Errors
/// The trace cannot be opened. Damage of single chunks is in the report instead.
pub fn verify(path: &Path) -> Result<Report, TraceError> {
    verify_file(&TraceFile::open(path)?)
}

/// Reads the whole of an open trace.
///
/// # Errors
/// A system call fails. Damage of single chunks is in the report instead.
pub fn verify_file<R: Read + Seek>(file: &TraceFile<R>) -> Result<Report, TraceError> {
    let exits: Vec<Exit> =
        file.statics().insts().iter().map(|inst| Exit::of(inst.pc, inst.word)).collect();
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
            // Instructions before a damaged chunk do not constrain those after it.
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

/// Checks the tickets of all streams in order of their numbers. Each number must occur once.
fn check_tickets<R: Read + Seek>(
    file: &TraceFile<R>,
    report: &mut Report,
) -> Result<(), TraceError> {
    let next = |reader: &mut TicketReader<R>, faults: &mut Vec<TraceError>| {
        reader.next_ticket().unwrap_or_else(|fault| {
            // A damaged chunk may be known already.
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

/// Check of the control flow of one stream.
struct Flow<'a, R: Read + Seek> {
    file: &'a TraceFile<R>,
    exits: &'a [Exit],
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

    /// Returns the number of register events of a batch that do not directly follow an `MRS` or
    /// `MSR` of their register.
    fn misplaced_registers(&self, batch: &[TraceInst], events: &[EventAt]) -> u64 {
        let follows_access = |at: &EventAt, wanted: RegisterAccess| {
            let before = match (at.position as usize).checked_sub(1) {
                Some(i) => batch.get(i),
                None => self.last.as_ref(),
            };
            let word = before.map(|inst| self.file.statics().insts()[inst.id as usize].word);
            word.and_then(|word| register_access(word, wanted.value)) == Some(wanted)
        };
        let misplaced = events.iter().filter(|at| match at.event {
            StreamEvent::Register { encoding, value, is_write } => {
                !follows_access(at, RegisterAccess { encoding, value, is_write })
            }
            _ => false,
        });
        misplaced.count() as u64
    }

    fn follows(&self, inst: &TraceInst) -> bool {
        self.last.is_none_or(|last| {
            last.flags.has(InstFlags::DISCONTINUITY)
                || self.exits[last.id as usize]
                    .allows(self.file.statics().insts()[inst.id as usize].pc)
        })
    }
}
