//! What can be wrong with a run: the trace, or what was asked of it.

use sim_cache::BadMapping;
use sim_trace::{StatesError, TraceError};

/// A run that cannot start or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// The trace is absent, foreign or damaged.
    #[error(transparent)]
    Trace(#[from] TraceError),
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
        /// Why it does not fit.
        source: BadMapping,
    },
    /// The trace's own tables contradict each other.
    #[error(
        "{trace}: static instruction {id} stands twice in the block dictionary; record the trace again"
    )]
    DoubledInstruction {
        /// The trace as named on the command line.
        trace: String,
        /// Number of the static instruction.
        id: u32,
    },
    /// A region's symbol is not in the trace.
    #[error(
        "{trace}: no function named '{name}' among the {known} symbols of the trace; a marker can also be a HINT number, such as --roi 40,41"
    )]
    UnknownSymbol {
        /// The trace as named on the command line.
        trace: String,
        /// The name that was asked for.
        name: String,
        /// Number of symbols that the trace has.
        known: usize,
    },
    /// The region of interest never began.
    #[error(
        "{trace}: the region of interest never began: {begin} was not met in {instructions} instructions"
    )]
    RegionNotMet {
        /// The trace as named on the command line.
        trace: String,
        /// How the region begins.
        begin: String,
        /// Instructions that ran.
        instructions: u64,
    },
    /// The run was stopped from outside before anything was counted.
    #[error("{trace}: stopped after {instructions} instructions, before anything was counted")]
    Stopped {
        /// The trace as named on the command line.
        trace: String,
        /// Instructions that ran.
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
    /// Several threads ran, where only one can be taken apart.
    #[error(
        "{trace}: {threads} threads have instructions; windows and chunks are of traces with one thread, because nothing tells where the others stand"
    )]
    Threads {
        /// The trace as named on the command line.
        trace: String,
        /// How many threads have instructions.
        threads: usize,
    },
    /// The file of states cannot be used.
    #[error(transparent)]
    States(#[from] StatesError),
}

impl MachineError {
    /// Returns true if the run asked for more memory than its account had left.
    pub fn is_over_budget(&self) -> bool {
        matches!(self, MachineError::Trace(TraceError::Memory { .. }))
    }
}
