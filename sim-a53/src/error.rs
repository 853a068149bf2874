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
}
