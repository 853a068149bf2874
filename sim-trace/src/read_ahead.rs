//! Reads a stream on a thread of its own, a few batches ahead of who uses them: unpacking, checksum and decoding
//! go on while the batch before is simulated.
//!
//! Batches, their order and errors are those of the reader itself. Buffers go around in a circle; who stops early
//! drops the reader, and the thread ends with its next batch.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use sim_core::TraceInst;

use crate::error::TraceError;
use crate::reader::{EventAt, StreamReader};

/// Batches that are ready at most, while one is used and one is filled.
const READY: usize = 4;

/// Instructions with everything that the reader says of them.
#[derive(Debug, Default)]
struct Batch {
    insts: Vec<TraceInst>,
    events: Vec<EventAt>,
    more: Vec<u64>,
    /// Number of the first instruction in the stream, and of the one behind the last.
    start: u64,
    end: u64,
}

/// A reader that is ahead.
#[derive(Debug)]
pub struct ReadAhead {
    /// `None` once it is dropped.
    batches: Option<Receiver<Result<Batch, TraceError>>>,
    used: SyncSender<Batch>,
    current: Batch,
    thread: Option<JoinHandle<()>>,
}

impl ReadAhead {
    /// Lets the reader go ahead from where it stands.
    ///
    /// # Errors
    /// If the system has no thread to give.
    pub fn new(mut reader: StreamReader) -> std::io::Result<ReadAhead> {
        let (give, batches) = sync_channel(READY);
        let (used, take) = sync_channel::<Batch>(READY + 2);
        let read = move || {
            loop {
                let mut batch = take.try_recv().unwrap_or_default();
                let read = match reader.next_batch(&mut batch.insts) {
                    Ok(true) => {
                        batch.events.clear();
                        batch.events.extend_from_slice(reader.events());
                        batch.more.clear();
                        batch.more.extend_from_slice(reader.more());
                        (batch.start, batch.end) = (reader.batch_start(), reader.position());
                        Ok(batch)
                    }
                    Ok(false) => return,
                    Err(error) => Err(error),
                };
                let is_last = read.is_err();
                if give.send(read).is_err() || is_last {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("n2sim-decode".to_owned()).spawn(read)?;
        let (current, thread) = (Batch::default(), Some(thread));
        Ok(ReadAhead { batches: Some(batches), used, current, thread })
    }

    /// As [`StreamReader::next_batch`].
    ///
    /// # Errors
    /// As there, behind the same instructions.
    pub fn next_batch(&mut self, out: &mut Vec<TraceInst>) -> Result<bool, TraceError> {
        // What was used goes back, its memory in it.
        let end = self.current.end;
        let mut done = std::mem::take(&mut self.current);
        (self.current.start, self.current.end) = (end, end);
        std::mem::swap(&mut done.insts, out);
        let _ = self.used.try_send(done);
        out.clear();
        let Some(Ok(next)) = self.batches.as_ref().map(Receiver::recv) else {
            self.join();
            return Ok(false);
        };
        self.current = next?;
        std::mem::swap(&mut self.current.insts, out);
        Ok(true)
    }

    /// Waits for the end of the thread, which has nothing more to give. If it panicked, so does its user: the
    /// stream did not end there.
    fn join(&mut self) {
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
    }

    /// As [`StreamReader::events`].
    pub fn events(&self) -> &[EventAt] {
        &self.current.events
    }

    /// As [`StreamReader::more`].
    pub fn more(&self) -> &[u64] {
        &self.current.more
    }

    /// As [`StreamReader::batch_start`].
    pub fn batch_start(&self) -> u64 {
        self.current.start
    }

    /// As [`StreamReader::position`].
    pub fn position(&self) -> u64 {
        self.current.end
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        // The thread finds nobody who takes its next batch.
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
