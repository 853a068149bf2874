//! Source of a thread's instructions: a reader that decodes on demand, or one that reads ahead on a
//! host thread of its own.

use sim_core::TraceInst;
use sim_trace::{BlockVisitor, EventAt, ReadAhead, StreamReader, TraceError};

/// A reader of one stream.
pub(crate) enum Source {
    /// Decodes on demand and can skip instructions.
    Here(Box<StreamReader>),
    /// Reads ahead, from the first instruction to the last.
    Ahead(ReadAhead),
}

impl Source {
    /// Reads the next batch; see [`StreamReader::next_batch`].
    pub(crate) fn next_batch(&mut self, out: &mut Vec<TraceInst>) -> Result<bool, TraceError> {
        match self {
            Source::Here(reader) => reader.next_batch(out),
            Source::Ahead(reader) => reader.next_batch(out),
        }
    }

    /// Returns the side events of the batch; see [`StreamReader::events`].
    #[inline]
    pub(crate) fn events(&self) -> &[EventAt] {
        match self {
            Source::Here(reader) => reader.events(),
            Source::Ahead(reader) => reader.events(),
        }
    }

    /// Returns the further element addresses of the batch; see [`StreamReader::more`].
    #[inline]
    pub(crate) fn more(&self) -> &[u64] {
        match self {
            Source::Here(reader) => reader.more(),
            Source::Ahead(reader) => reader.more(),
        }
    }

    /// Returns the stream position of the batch; see [`StreamReader::batch_start`].
    pub(crate) fn batch_start(&self) -> u64 {
        match self {
            Source::Here(reader) => reader.batch_start(),
            Source::Ahead(reader) => reader.batch_start(),
        }
    }

    /// Returns the stream position after the batch; see [`StreamReader::position`].
    pub(crate) fn position(&self) -> u64 {
        match self {
            Source::Here(reader) => reader.position(),
            Source::Ahead(reader) => reader.position(),
        }
    }

    /// Passes blocks to a visitor up to `until`; see [`StreamReader::skim`].
    pub(crate) fn skim<V: BlockVisitor>(
        &mut self,
        until: u64,
        visitor: &mut V,
    ) -> Result<(), TraceError> {
        match self {
            Source::Here(reader) => reader.skim(until, visitor),
            Source::Ahead(_) => unreachable!("windows are read here"),
        }
    }
}
