//! Where a thread's instructions come from: a reader that decodes when it is asked, or one that is ahead on a
//! thread of its own.

use sim_core::TraceInst;
use sim_trace::{BlockVisitor, EventAt, ReadAhead, StreamReader, TraceError};

/// A reader of one stream.
pub(crate) enum Source {
    /// It decodes when it is asked, and may pass stretches.
    Here(Box<StreamReader>),
    /// It is ahead, and is read from the first instruction to the last.
    Ahead(ReadAhead),
}

impl Source {
    /// As [`StreamReader::next_batch`].
    pub(crate) fn next_batch(&mut self, out: &mut Vec<TraceInst>) -> Result<bool, TraceError> {
        match self {
            Source::Here(reader) => reader.next_batch(out),
            Source::Ahead(reader) => reader.next_batch(out),
        }
    }

    /// As [`StreamReader::events`].
    #[inline]
    pub(crate) fn events(&self) -> &[EventAt] {
        match self {
            Source::Here(reader) => reader.events(),
            Source::Ahead(reader) => reader.events(),
        }
    }

    /// As [`StreamReader::more`].
    #[inline]
    pub(crate) fn more(&self) -> &[u64] {
        match self {
            Source::Here(reader) => reader.more(),
            Source::Ahead(reader) => reader.more(),
        }
    }

    /// As [`StreamReader::batch_start`].
    pub(crate) fn batch_start(&self) -> u64 {
        match self {
            Source::Here(reader) => reader.batch_start(),
            Source::Ahead(reader) => reader.batch_start(),
        }
    }

    /// As [`StreamReader::position`].
    pub(crate) fn position(&self) -> u64 {
        match self {
            Source::Here(reader) => reader.position(),
            Source::Ahead(reader) => reader.position(),
        }
    }

    /// As [`StreamReader::skim`].
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
