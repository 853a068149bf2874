//! Errors of a run.

use sim_cache::BadMapping;
use sim_trace::{StatesError, TraceError};

/// A run that cannot start or continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// The trace is missing, of another format or damaged.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The host has no threads left.
    #[error("the host cannot start threads to run cores at the same time: {0}")]
    HostThreads(String),
    /// The trace has no instructions.
    #[error(
        "{trace}: the trace has no instructions; record one with: n2sim capture -o {trace} -- PROGRAM"
    )]
    Empty {
        /// The trace as named on the command line.
        trace: String,
    },
    /// The trace's page map and the configuration have pages of different sizes.
    #[error(
        "{trace}: the page map of the trace has a granule of {map} bytes, memory.pages.page-bytes is {configured}; run it with --set memory.pages.page-bytes={map}"
    )]
    Granule {
        /// The trace as named on the command line.
        trace: String,
        /// Granule of the trace's page map.
        map: u64,
        /// Granule of the configuration.
        configured: u64,
    },
    /// An entry of the trace's page map does not fit the machine's tables.
    #[error("{trace}: page map: {source}")]
    Mapping {
        /// The trace as named on the command line.
        trace: String,
        /// Reason for the mismatch.
        source: BadMapping,
    },
    /// The trace contains a static instruction twice.
    #[error(
        "{trace}: the block dictionary contains static instruction {id} twice; record the trace again"
    )]
    DoubledInstruction {
        /// The trace as named on the command line.
        trace: String,
        /// Number of the static instruction.
        id: u32,
    },
    /// The trace has no symbol with the name of a region's marker.
    #[error(
        "{trace}: no function named '{name}' among the {known} symbols of the trace; a marker can also be a HINT number, such as --roi 40,41"
    )]
    UnknownSymbol {
        /// The trace as named on the command line.
        trace: String,
        /// The requested name.
        name: String,
        /// Number of symbols of the trace.
        known: usize,
    },
    /// The region of interest never began.
    #[error(
        "{trace}: the region of interest never began: {begin} was not reached in {instructions} instructions"
    )]
    RegionNotReached {
        /// The trace as named on the command line.
        trace: String,
        /// Marker at which the region begins.
        begin: String,
        /// Number of instructions that ran.
        instructions: u64,
    },
    /// The run was stopped before anything was counted.
    #[error("{trace}: stopped after {instructions} instructions, before anything was counted")]
    Stopped {
        /// The trace as named on the command line.
        trace: String,
        /// Number of instructions that ran.
        instructions: u64,
    },
    /// The warm-up is as long as the trace.
    #[error(
        "{trace}: --warmup {warmup} leaves nothing to count: the longest thread has {instructions} instructions"
    )]
    WarmupTooLong {
        /// The trace as named on the command line.
        trace: String,
        /// Instructions of warm-up.
        warmup: u64,
        /// Instructions of the longest thread.
        instructions: u64,
    },
    /// The trace has instructions of several threads, and windows need a single one.
    #[error(
        "{trace}: {threads} threads have instructions; the windows of a file and chunks need a trace with one thread; n2sim estimate {trace} takes all threads"
    )]
    Threads {
        /// The trace as named on the command line.
        trace: String,
        /// Number of threads with instructions.
        threads: usize,
    },
    /// The file of warm states is unusable.
    #[error(transparent)]
    States(#[from] StatesError),
}

impl MachineError {
    /// Returns true if the run exceeded its memory budget.
    pub fn is_over_budget(&self) -> bool {
        matches!(self, MachineError::Trace(TraceError::Memory { .. }))
    }
}
