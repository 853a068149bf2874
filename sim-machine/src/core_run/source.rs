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

/// A reader that keeps all batches since the last mark, until it is released.
pub(crate) struct Returning {
    reader: StreamReader,
    /// The present batch, those before it since the mark, and those to be passed on again.
    kept: VecDeque<Batch>,
    /// Number of kept batches up to the present one.
    passed: usize,
    /// Batches up to the marked one, 1, or 0 before the first; `None` without a mark.
    marked: Option<usize>,
}

impl Returning {
    /// Creates a source from a reader at its beginning.
    pub(crate) fn new(reader: StreamReader) -> Returning {
        Returning { reader, kept: VecDeque::new(), passed: 0, marked: None }
    }

    fn next_batch(&mut self, out: &mut Vec<TraceInst>) -> Result<bool, TraceError> {
        if self.marked.is_none() && self.passed == 1 {
            self.forget_first();
        }
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

    fn forget_first(&mut self) {
        self.kept.pop_front();
        self.passed -= 1;
    }

    fn current(&self) -> Option<&Batch> {
        self.passed.checked_sub(1).map(|last| &self.kept[last])
    }

    /// Returns the stream position before the first kept batch.
    fn beginning(&self) -> u64 {
        self.kept.front().map_or_else(|| self.reader.position(), |batch| batch.place.0)
    }

    /// Marks the place of the present batch.
    fn mark(&mut self) {
        self.release();
        self.marked = Some(self.passed);
    }

    fn return_to_mark(&mut self) {
        self.passed = self.marked.unwrap_or(self.passed);
    }

    /// Removes the mark, and what only a return to it needs.
    fn release(&mut self) {
        self.marked = None;
        while self.passed > 1 {
            self.forget_first();
        }
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
                None => reader.beginning(),
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
                None => reader.beginning(),
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
            reader.return_to_mark();
        }
    }

    /// Removes the mark.
    pub(crate) fn release(&mut self) {
        if let Source::Returning(reader) = self {
            reader.release();
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

#[cfg(test)]
mod tests {
    use super::*;
    use sim_trace::{Meta, TraceFile, TraceWriter};

    /// A reader of 40,000 branches.
    fn returning() -> Source {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("branches.n2t");
        let mut writer = TraceWriter::create(&path, Meta::default()).expect("a new file");
        let block = writer.define_block(0x1000, &[0x1400_0000]).expect("a block");
        for _ in 0..40_000 {
            writer.push_block(0, block, 1, &[], None).expect("it fits");
        }
        writer.finish().expect("a whole trace");
        let reader = TraceFile::open(&path).and_then(|file| file.reader(0));
        Source::Returning(Box::new(Returning::new(reader.expect("a good trace"))))
    }

    fn kept(source: &Source) -> usize {
        match source {
            Source::Returning(reader) => reader.kept.len(),
            _ => 0,
        }
    }

    #[test]
    fn a_return_leads_to_the_mark_even_before_the_first_batch() {
        let (mut source, mut out) = (returning(), Vec::new());
        source.mark();
        assert!(source.next_batch(&mut out).expect("it is read"));
        let first = source.position();
        assert!(source.next_batch(&mut out).expect("it is read"));
        source.return_to_mark();
        assert_eq!((source.batch_start(), source.position()), (0, 0));
        assert!(source.next_batch(&mut out).expect("it is read again"));
        assert_eq!((source.position(), out.len() as u64), (first, first));
        source.mark();
        assert!(source.next_batch(&mut out).expect("it is read again"));
        source.return_to_mark();
        assert_eq!((source.batch_start(), source.position()), (0, first));
    }

    #[test]
    fn without_a_mark_one_batch_is_kept() {
        let (mut source, mut out, mut all) = (returning(), Vec::new(), 0);
        source.mark();
        source.release();
        while source.next_batch(&mut out).expect("it is read") {
            assert_eq!(kept(&source), 1);
            assert_eq!(source.batch_start(), all);
            all += out.len() as u64;
        }
        assert_eq!(all, 40_000);
    }
}
