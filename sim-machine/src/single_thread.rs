//! Finds the thread of a single-threaded trace, for chunks and its windows.

use crate::error::MachineError;
use sim_core::Shown;
use sim_trace::{StreamInfo, TraceFile};

/// Returns the only thread with instructions. Chunks need a single thread, because no trace records
/// where the other threads are when one of them reaches a chunk.
///
/// # Errors
/// If no thread of the trace has instructions, or several do.
pub fn only_thread(trace: &TraceFile) -> Result<&StreamInfo, MachineError> {
    let mut threads = trace.streams().iter().filter(|stream| stream.instructions > 0);
    let name = || trace.path().shown().to_string();
    let thread = threads.next().ok_or_else(|| MachineError::Empty { trace: name() })?;
    match threads.count() {
        0 => Ok(thread),
        others => Err(MachineError::Threads { trace: name(), threads: others + 1 }),
    }
}
