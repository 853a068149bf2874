//! Reader of one stream of a trace. Decodes batches of [`TraceInst`], chunk by chunk, into reused
//! buffers.

pub(crate) mod decoder;
mod event_cursor;
mod tickets;

use std::io::{Read, Seek};
use std::sync::Arc;

use sim_core::{Reserved, TraceInst};

use crate::error::TraceError;
use crate::event::StreamEvent;
use crate::file::Shared;
use crate::limits::stream_columns;
use crate::load::check_columns;
use crate::source::At;
use decoder::{Decoder, MoreAddrs, STREAM_COLUMNS};
use sim_files::File;

pub use decoder::BlockVisitor;
pub use tickets::{Call, OrderNote, Ticket, TicketReader};

/// A side event and its position in the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventAt {
    /// Number of instructions of the batch before the event, which precedes `batch[position]`.
    pub position: u32,
    /// The side event.
    pub event: StreamEvent,
}

/// Reader of one stream, or of some chunks of it. Readers of the same file are independent of each
/// other and may run on several threads.
pub struct StreamReader<R: Read + Seek = File> {
    shared: Arc<Shared<R>>,
    /// Numbers of the chunks to read, in order.
    chunks: Vec<u32>,
    /// Number of chunks begun.
    begun: usize,
    decoder: Decoder,
    payload: Vec<u8>,
    events: Vec<EventAt>,
    more: MoreAddrs,
    batch_start: u64,
    /// True to continue with the next chunk after a damaged one.
    skips_damage: bool,
    /// Memory reserved for the decoder.
    _reserved: Reserved,
}

impl<R: Read + Seek> StreamReader<R> {
    pub(crate) fn new(
        shared: Arc<Shared<R>>,
        chunks: Vec<u32>,
    ) -> Result<StreamReader<R>, TraceError> {
        let needed = Decoder::memory(&shared.statics);
        let reserved = shared
            .budget
            .reserve(needed, "the readers of the threads that run")
            .map_err(|problem| TraceError::memory(shared.source.path(), problem))?;
        let decoder = Decoder::new(&shared.statics)
            .map_err(TraceError::io(shared.source.path(), "starting zstd"))?;
        Ok(StreamReader {
            shared,
            chunks,
            begun: 0,
            decoder,
            payload: Vec::new(),
            events: Vec::new(),
            more: MoreAddrs::default(),
            batch_start: 0,
            skips_damage: false,
            _reserved: reserved,
        })
    }

    /// Returns this reader, changed to continue with the next chunk after an error.
    pub(crate) fn skipping_damage(self) -> StreamReader<R> {
        StreamReader { skips_damage: true, ..self }
    }

    /// Replaces the content of `out` with the next instructions: whole blocks of one chunk, at most
    /// 16384 instructions. Returns false at the end.
    ///
    /// A batch is empty if a stream has events but no instructions. Allocates nothing once the
    /// buffers have grown.
    ///
    /// # Errors
    /// The chunk is damaged or contradicts itself. Instructions before this chunk are valid. After
    /// an error the reader is at its end.
    pub fn next_batch(&mut self, out: &mut Vec<TraceInst>) -> Result<bool, TraceError> {
        out.clear();
        self.events.clear();
        self.more.clear();
        let result = self.try_next_batch(out);
        if result.is_err() {
            out.clear();
            self.events.clear();
            self.more.clear();
            self.decoder.close();
            if !self.skips_damage {
                self.begun = self.chunks.len();
            }
        }
        result
    }

    fn try_next_batch(&mut self, out: &mut Vec<TraceInst>) -> Result<bool, TraceError> {
        if !self.decoder.is_open() {
            let Some(&k) = self.chunks.get(self.begun) else {
                return Ok(false);
            };
            self.begun += 1;
            self.begin_chunk(k)?;
        }
        self.batch_start = self.decoder.position();
        let decoded = self.decoder.batch(out, &mut self.more, &mut self.events);
        decoded.at(|| self.place(self.chunks[self.begun - 1]))?;
        Ok(true)
    }

    /// Advances to the first block end at or after instruction `until`, or to the end of the
    /// stream. Passes the executed blocks to `visitor`. [`StreamReader::position`] then returns the
    /// new position. After a skim without [`BlockVisitor::ACCESSES`] the reader can only skim.
    ///
    /// # Errors
    /// The same as for [`StreamReader::next_batch`].
    pub fn skim<V: BlockVisitor>(&mut self, until: u64, visitor: &mut V) -> Result<(), TraceError> {
        self.events.clear();
        self.more.clear();
        let result = self.try_skim(until, visitor);
        if result.is_err() {
            self.decoder.close();
            self.begun = self.chunks.len();
        }
        result
    }

    fn try_skim<V: BlockVisitor>(&mut self, until: u64, visitor: &mut V) -> Result<(), TraceError> {
        loop {
            if self.decoder.is_open() {
                self.decoder.skim(until, visitor).at(|| self.place(self.chunks[self.begun - 1]))?;
            }
            if self.decoder.is_open() || self.position() >= until {
                return Ok(());
            }
            let Some(&k) = self.chunks.get(self.begun) else { return Ok(()) };
            self.begun += 1;
            self.begin_chunk(k)?;
        }
    }

    /// Returns the position in the stream of the next instruction to read.
    pub fn position(&self) -> u64 {
        self.decoder.position()
    }

    /// Returns the side events of the last batch, in order.
    pub fn events(&self) -> &[EventAt] {
        &self.events
    }

    /// Returns the second and further addresses of instructions of the last batch, in instruction
    /// order. [`InstFlags::further`](sim_core::InstFlags::further) gives their number for each
    /// instruction.
    pub fn more(&self) -> &[u64] {
        &self.more.addrs
    }

    /// Returns the position in the stream of the first instruction of the last batch.
    pub fn batch_start(&self) -> u64 {
        self.batch_start
    }

    fn place(&self, k: u32) -> crate::error::Place {
        self.shared.chunks.place(self.shared.source.path(), k as usize)
    }

    fn begin_chunk(&mut self, k: u32) -> Result<(), TraceError> {
        let shared = self.shared.clone();
        let place = || shared.chunks.place(shared.source.path(), k as usize);
        let entry = &shared.chunks.entries[k as usize];
        check_columns::<STREAM_COLUMNS>(&entry.header).at(place)?;
        let limits = stream_columns(&entry.header).at(place)?;
        let payload = shared.source.chunk(entry, place, &mut self.payload)?;
        self.decoder.open(&entry.header, payload, limits).at(place)
    }
}
