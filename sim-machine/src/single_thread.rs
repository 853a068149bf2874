//! The thread of a trace whose windows run one by one.

use crate::error::MachineError;
use sim_core::Shown;
use sim_trace::{StreamInfo, TraceFile};

/// Returns the thread of a trace in which a single thread has instructions. No trace records where the other threads
/// are when one of them reaches a window.
///
/// # Errors
/// If no thread of the trace has instructions, or more than one.
pub fn only_thread(trace: &TraceFile) -> Result<&StreamInfo, MachineError> {
    let mut threads = trace.streams().iter().filter(|stream| stream.instructions > 0);
    let name = || trace.path().shown().to_string();
    let thread = threads.next().ok_or_else(|| MachineError::Empty { trace: name() })?;
    match threads.count() {
        0 => Ok(thread),
        others => Err(MachineError::Threads { trace: name(), threads: others + 1 }),
    }
}
