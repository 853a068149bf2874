//! Reader of the tickets and system calls of one stream, ahead of its instructions. It unpacks only
//! the event column of a chunk, so reading far ahead is fast and takes memory for one chunk.

use std::io::{Read, Seek};
use std::sync::Arc;

use super::decoder::{EVENTS, STREAM_COLUMNS};
use super::event_cursor::EventCursor;
use crate::column::Columns;
use crate::error::TraceError;
use crate::event::StreamEvent;
use crate::file::Shared;
use crate::limits::stream_columns;
use crate::load::check_columns;
use crate::source::At;
use sim_files::File;

/// Position of a synchronizing instruction in the order of all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Position of the instruction in its stream.
    pub position: u64,
    /// Number among the tickets of all streams.
    pub order: u64,
}

/// Record of a stream that concerns the order of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderNote {
    /// A ticket.
    Ticket(Ticket),
    /// A system call. Tickets order its start and its return.
    Call(Call),
}

/// A system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Position in the stream of the instruction after the call.
    pub after: u64,
    /// Number of the system call.
    pub number: u64,
    /// Arguments of the system call.
    pub args: [u64; 6],
}

/// Reader of the tickets of one stream, in order.
pub struct TicketReader<R: Read + Seek = File> {
    shared: Arc<Shared<R>>,
    /// Numbers of the chunks to read, in order.
    chunks: Vec<u32>,
    /// Number of chunks begun.
    begun: usize,
    columns: Columns<STREAM_COLUMNS>,
    payload: Vec<u8>,
    cursor: EventCursor,
}

impl<R: Read + Seek> TicketReader<R> {
    pub(crate) fn new(shared: Arc<Shared<R>>, chunks: Vec<u32>) -> TicketReader<R> {
        let (columns, payload) = (Columns::paused(), Vec::new());
        let cursor = EventCursor::default();
        TicketReader { shared, chunks, begun: 0, columns, payload, cursor }
    }

    /// Returns the next ticket, or `None` after the last.
    ///
    /// # Errors
    /// A chunk is damaged, or a ticket belongs to no instruction of its chunk. After an error the
    /// reader is at its end.
    pub fn next_ticket(&mut self) -> Result<Option<Ticket>, TraceError> {
        loop {
            match self.next_note()? {
                Some(OrderNote::Ticket(ticket)) => return Ok(Some(ticket)),
                Some(OrderNote::Call(_)) => {}
                None => return Ok(None),
            }
        }
    }

    /// Returns the next ticket or system call, or `None` after the last.
    ///
    /// # Errors
    /// The same as for [`TicketReader::next_ticket`].
    pub fn next_note(&mut self) -> Result<Option<OrderNote>, TraceError> {
        let found = self.try_next();
        if found.is_err() {
            self.begun = self.chunks.len();
            self.columns.clear();
            self.cursor = EventCursor::default();
        }
        found
    }

    fn try_next(&mut self) -> Result<Option<OrderNote>, TraceError> {
        loop {
            if let Some(&k) = self.begun.checked_sub(1).and_then(|last| self.chunks.get(last)) {
                let shared = &self.shared;
                let place = || shared.chunks.place(shared.source.path(), k as usize);
                let header = &shared.chunks.entries[k as usize].header;
                let column = self.columns.column(EVENTS);
                while let Some(event) = self.cursor.next(column, header.instructions).at(place)? {
                    let after = header.first + u64::from(self.cursor.place);
                    match event {
                        StreamEvent::Ticket { order, back } => {
                            let at = self.cursor.place.checked_sub(back.into());
                            let at = at.ok_or("a ticket of no instruction").at(place)?;
                            let position = header.first + u64::from(at);
                            return Ok(Some(OrderNote::Ticket(Ticket { position, order })));
                        }
                        StreamEvent::Syscall { number, args, .. } => {
                            return Ok(Some(OrderNote::Call(Call { after, number, args })));
                        }
                        _ => {}
                    }
                }
            }
            let Some(&k) = self.chunks.get(self.begun) else { return Ok(None) };
            self.begun += 1;
            self.begin_chunk(k)?;
        }
    }

    fn begin_chunk(&mut self, k: u32) -> Result<(), TraceError> {
        let shared = &self.shared;
        let place = || shared.chunks.place(shared.source.path(), k as usize);
        let entry = &shared.chunks.entries[k as usize];
        self.cursor = EventCursor::default();
        self.columns.clear();
        if entry.header.events == 0 {
            return Ok(());
        }
        check_columns::<STREAM_COLUMNS>(&entry.header).at(place)?;
        let limits = stream_columns(&entry.header).at(place)?;
        let payload = shared.source.chunk(entry, place, &mut self.payload)?;
        self.columns.unpack_some(payload, entry.header.codec, limits, |i| i == EVENTS).at(place)?;
        // There is a reader for each thread, and the next chunk may be far away: release memory.
        self.columns.pause();
        self.payload = Vec::new();
        Ok(())
    }
}
