//! Failures of a run.

use sim_trace::TraceError;

/// Most cores of a cluster.
pub const MAX_CORES: usize = 4;

/// Failure of a run.
#[derive(Debug, thiserror::Error)]
pub enum A53Error {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The trace has more threads than a cluster has cores.
    #[error(
        "{trace}: {threads} threads, and a Cortex-A53 cluster has at most {MAX_CORES} cores: \
         record fewer threads, or cut them out with 'n2sim trace slice'"
    )]
    TooManyThreads {
        /// Name of the trace.
        trace: String,
        /// Threads of the trace.
        threads: usize,
    },
    /// The trace has a static instruction twice.
    #[error(
        "{trace}: the block dictionary contains static instruction {id} twice; record the trace \
         again"
    )]
    DoubledInstruction {
        /// Name of the trace.
        trace: String,
        /// Number of the static instruction.
        id: u32,
    },
    /// The trace has no instructions.
    #[error("{trace}: the trace has no instructions")]
    Empty {
        /// Name of the trace.
        trace: String,
    },
    /// No thread has reached the region that is to be counted.
    #[error(
        "{trace}: the region of interest never began: its first marker was not reached in \
         {instructions} instructions"
    )]
    RegionNotReached {
        /// Name of the trace.
        trace: String,
        /// Instructions that ran.
        instructions: u64,
    },
    /// The warm-up is as long as the trace.
    #[error(
        "{trace}: --warmup {warmup} leaves nothing to count: the longest thread has \
         {instructions} instructions"
    )]
    WarmupTooLong {
        /// Name of the trace.
        trace: String,
        /// Instructions of warm-up.
        warmup: u64,
        /// Instructions of the longest thread.
        instructions: u64,
    },
}
