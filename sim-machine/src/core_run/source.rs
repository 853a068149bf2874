//! Source of a thread's instructions: a reader that decodes on demand, one that reads ahead on a
//! host thread of its own, or one that can return to an earlier place.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

use sim_core::TraceInst;
use sim_trace::{BlockVisitor, EventAt, ReadAhead, StreamReader, TraceError};

/// A reader of one stream.
pub(crate) enum Source {
    /// Decodes on demand and can skip instructions.
    Here(Box<StreamReader>),
    /// Reads ahead, from the first instruction to the last.
    Ahead(ReadAhead),
    /// Decodes on demand and can return to the last mark.
    Returning(Box<Returning>),
}

/// A batch with all that the reader knows of it.
#[derive(Clone, Default)]
struct Batch {
    insts: Vec<TraceInst>,
    events: Vec<EventAt>,
    more: Vec<u64>,
    /// Stream positions of its first instruction and after its last.
    place: (u64, u64),
}

/// A reader that keeps all batches since the last mark.
pub(crate) struct Returning {
    reader: StreamReader,
    kept: VecDeque<Batch>,
    /// Number of kept batches that were passed on since the mark, or since the last return to it.
    passed: usize,
    /// Batches passed on at the mark: 1, or 0 before the first.
    marked: usize,
}

impl Returning {
    /// Creates a source from a reader at its beginning.
    pub(crate) fn new(reader: StreamReader) -> Returning {
        Returning { reader, kept: VecDeque::new(), passed: 0, marked: 0 }
    }

    fn next_batch(&mut self, out: &mut Vec<TraceInst>) -> Result<bool, TraceError> {
        if self.passed == self.kept.len() {
            let mut batch = Batch::default();
            if !self.reader.next_batch(&mut batch.insts)? {
                out.clear();
                return Ok(false);
            }
            batch.events.extend_from_slice(self.reader.events());
            batch.more.extend_from_slice(self.reader.more());
            batch.place = (self.reader.batch_start(), self.reader.position());
            self.kept.push_back(batch);
        }
        out.clone_from(&self.kept[self.passed].insts);
        self.passed += 1;
        Ok(true)
    }

    fn current(&self) -> Option<&Batch> {
        self.passed.checked_sub(1).map(|last| &self.kept[last])
    }

    /// Marks the place of the present batch.
    fn mark(&mut self) {
        while self.passed > 1 {
            self.kept.pop_front();
            self.passed -= 1;
        }
        self.marked = self.passed;
    }
}

impl Source {
    /// Reads the next batch; see [`StreamReader::next_batch`].
    pub(crate) fn next_batch(&mut self, out: &mut Vec<TraceInst>) -> Result<bool, TraceError> {
        match self {
            Source::Here(reader) => reader.next_batch(out),
            Source::Ahead(reader) => reader.next_batch(out),
            Source::Returning(reader) => reader.next_batch(out),
        }
    }

    /// Returns the side events of the batch; see [`StreamReader::events`].
    #[inline]
    pub(crate) fn events(&self) -> &[EventAt] {
        match self {
            Source::Here(reader) => reader.events(),
            Source::Ahead(reader) => reader.events(),
            Source::Returning(reader) => reader.current().map_or(&[], |batch| &batch.events),
        }
    }

    /// Returns the further element addresses of the batch; see [`StreamReader::more`].
    #[inline]
    pub(crate) fn more(&self) -> &[u64] {
        match self {
            Source::Here(reader) => reader.more(),
            Source::Ahead(reader) => reader.more(),
            Source::Returning(reader) => reader.current().map_or(&[], |batch| &batch.more),
        }
    }

    /// Returns the stream position of the batch; see [`StreamReader::batch_start`].
    pub(crate) fn batch_start(&self) -> u64 {
        match self {
            Source::Here(reader) => reader.batch_start(),
            Source::Ahead(reader) => reader.batch_start(),
            Source::Returning(reader) => match reader.current() {
                Some(batch) => batch.place.0,
                None => reader.reader.batch_start(),
            },
        }
    }

    /// Returns the stream position after the batch; see [`StreamReader::position`].
    pub(crate) fn position(&self) -> u64 {
        match self {
            Source::Here(reader) => reader.position(),
            Source::Ahead(reader) => reader.position(),
            Source::Returning(reader) => match reader.current() {
                Some(batch) => batch.place.1,
                None => reader.reader.position(),
            },
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
            Source::Ahead(_) | Source::Returning(_) => unreachable!("windows are read here"),
        }
    }

    /// Marks the present batch as the one to return to.
    pub(crate) fn mark(&mut self) {
        if let Source::Returning(reader) = self {
            reader.mark();
        }
    }

    /// Returns to the mark.
    pub(crate) fn return_to_mark(&mut self) {
        if let Source::Returning(reader) = self {
            reader.passed = reader.marked;
        }
    }
}

/// A value that copies of its owner lack.
pub(super) struct Unshared<T>(Option<T>);

impl<T> Unshared<T> {
    pub(super) fn new(value: T) -> Unshared<T> {
        Unshared(Some(value))
    }
}

impl<T> Clone for Unshared<T> {
    fn clone(&self) -> Unshared<T> {
        Unshared(None)
    }
}

impl<T> Deref for Unshared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("a copy does not run")
    }
}

impl<T> DerefMut for Unshared<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("a copy does not run")
    }
}
