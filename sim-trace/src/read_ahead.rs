//! Read-ahead of a stream on a separate thread: it unpacks, checks and decodes a few batches while
//! the previous batch is simulated.
//!
//! Batches, their order and errors are the same as from the reader itself. Buffers are recycled.
//! Dropping the reader early ends the thread at its next batch.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use sim_core::TraceInst;

use crate::error::TraceError;
use crate::event::EventAt;
use crate::reader::StreamReader;

/// Largest number of ready batches, in addition to the one in use and the one being filled.
const READY: usize = 4;

/// A batch of instructions with all results of the reader.
#[derive(Debug, Default)]
struct Batch {
    insts: Vec<TraceInst>,
    events: Vec<EventAt>,
    more: Vec<u64>,
    /// Position of the first instruction in the stream.
    start: u64,
    /// Position after the last instruction in the stream.
    end: u64,
}

/// Reader of a stream that decodes ahead on a separate thread.
#[derive(Debug)]
pub struct ReadAhead {
    /// Ready batches; `None` during drop.
    batches: Option<Receiver<Result<Batch, TraceError>>>,
    used: SyncSender<Batch>,
    current: Batch,
    thread: Option<JoinHandle<()>>,
}

impl ReadAhead {
    /// Starts reading ahead from the current position of `reader`.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn new(mut reader: StreamReader) -> std::io::Result<ReadAhead> {
        let (ready, batches) = sync_channel(READY);
        let (used, recycled) = sync_channel::<Batch>(READY + 2);
        let read = move || {
            loop {
                let mut batch = recycled.try_recv().unwrap_or_default();
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
                if ready.send(read).is_err() || is_last {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("n2sim-decode".to_owned()).spawn(read)?;
        let (current, thread) = (Batch::default(), Some(thread));
        Ok(ReadAhead { batches: Some(batches), used, current, thread })
    }

    /// Replaces the content of `out` with the next batch, like [`StreamReader::next_batch`].
    ///
    /// # Errors
    /// The same as for [`StreamReader::next_batch`], after the same instructions.
    pub fn next_batch(&mut self, out: &mut Vec<TraceInst>) -> Result<bool, TraceError> {
        // Return the used batch to the thread, so that its memory is reused.
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

    /// Waits for the end of the thread, which has no more batches. Propagates a panic of the
    /// thread, because the stream did not end there.
    fn join(&mut self) {
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
    }

    /// Returns the side events of the last batch, in order.
    pub fn events(&self) -> &[EventAt] {
        &self.current.events
    }

    /// Returns the second and further addresses of instructions, like [`StreamReader::more`].
    pub fn more(&self) -> &[u64] {
        &self.current.more
    }

    /// Returns the position in the stream of the first instruction of the last batch.
    pub fn batch_start(&self) -> u64 {
        self.current.start
    }

    /// Returns the position in the stream of the next instruction to read.
    pub fn position(&self) -> u64 {
        self.current.end
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        // Without a receiver the thread ends at its next batch.
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
