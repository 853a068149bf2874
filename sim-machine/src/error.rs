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
    /// The trace has instructions of several threads, and a part of a run needs a single one.
    #[error(
        "{trace}: {threads} threads have instructions; chunks and the windows of a sweep need a trace with one thread: run the whole trace"
    )]
    Threads {
        /// The trace as named on the command line.
        trace: String,
        /// Number of threads with instructions.
        threads: usize,
    },
    /// The trace records several processors of a system, and windows need threads.
    #[error(
        "{trace}: a recording of a system with {processors} processors; windows need a trace of one processor or of the threads of a program: run the whole trace with n2sim stat --cpus N"
    )]
    SystemWindows {
        /// The trace as named on the command line.
        trace: String,
        /// Number of processors with instructions.
        processors: usize,
    },
    /// Threads share cores, and windows need a core for each.
    #[error(
        "{trace}: threads.cores={cores} makes threads share cores; windows of several threads need a core for each: give 0, or run the whole trace with n2sim stat"
    )]
    SharedWindows {
        /// The trace as named on the command line.
        trace: String,
        /// Value of `threads.cores`.
        cores: usize,
    },
    /// Threads synchronize too often in a window.
    #[error(
        "{trace}: threads synchronize too often for windows of {length} instructions with their warm-up; find windows with a shorter --interval (n2sim trace regions)"
    )]
    WindowTickets {
        /// The trace as named on the command line.
        trace: String,
        /// Instructions of a window and its warm-up.
        length: u64,
    },
    /// The threads have fewer instructions than a window needs before it.
    #[error(
        "{trace}: damaged: the threads have {found} instructions, and a window begins after {needed}; n2sim trace verify names the place"
    )]
    ShortThreads {
        /// The trace as named on the command line.
        trace: String,
        /// Instructions of all threads.
        found: u64,
        /// Instructions before the window.
        needed: u64,
    },
    /// The windows have instructions of other threads than the trace.
    #[error(
        "{trace}: threads compete for lines so much that windows cannot represent it: {percent} % of the instructions in the windows are of other threads than in the trace; run the whole trace with n2sim stat --cpus N"
    )]
    ThreadMix {
        /// The trace as named on the command line.
        trace: String,
        /// Share of the instructions in percent.
        percent: u64,
    },
    /// There are too few windows of several threads.
    #[error(
        "{trace}: {windows} windows of several threads; {least} at least show how far they differ: find windows with a shorter --interval or more --windows (n2sim trace regions), or run the whole trace with n2sim stat --cpus N"
    )]
    FewWindows {
        /// The trace as named on the command line.
        trace: String,
        /// Number of windows.
        windows: usize,
        /// Fewest windows that are used.
        least: usize,
    },
    /// The file of windows does not have the counts that several threads need.
    #[error(
        "{trace}: the file of windows does not have the known counts of a trace of several threads, without which no error of an estimate is known; run n2sim trace regions again"
    )]
    UnknownWindows {
        /// The trace as named on the command line.
        trace: String,
    },
    /// A state of all cores is too large for a file of states.
    #[error(
        "{trace}: a state of {threads} cores has {words} words, more than the {most} of a file of states; give --no-states"
    )]
    LargeState {
        /// The trace as named on the command line.
        trace: String,
        /// Number of cores.
        threads: usize,
        /// Words of a state.
        words: u64,
        /// Largest number of words.
        most: u64,
    },
    /// The windows have other instructions than the trace.
    #[error(
        "{trace}: threads spin or wait so much that windows cannot represent it: the windows have {percent} % more or fewer branches than the same threads have in the trace; run the whole trace with n2sim stat --cpus N"
    )]
    ThreadCode {
        /// The trace as named on the command line.
        trace: String,
        /// Difference in percent.
        percent: u64,
    },
    /// Threads wait for each other on their cores too much for windows.
    #[error(
        "{trace}: threads wait for each other so much that windows cannot represent it: {percent} % of the cycles in the windows are such waits; run the whole trace with n2sim stat --cpus N"
    )]
    ThreadWaits {
        /// The trace as named on the command line.
        trace: String,
        /// Share of the cycles in percent.
        percent: u64,
    },
    /// The trace records the processors of a system, and the configuration makes threads share
    /// cores.
    #[error(
        "{trace}: a whole system was recorded, with {processors} processors; threads.cores={cores} would make processors share cores; give 0"
    )]
    SharedProcessors {
        /// The trace as named on the command line.
        trace: String,
        /// Number of processors with instructions.
        processors: usize,
        /// Value of `threads.cores`.
        cores: usize,
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
