//! Sessions of traces by their paths.

use std::path::Path;

use sim_core::MemoryBudget;
use sim_trace::TraceFile;

use super::Session;
use crate::config::MachineConfig;
use crate::error::MachineError;
use crate::outcome::RunHeader;

impl Session {
    /// Opens the trace. `header` is complete but for the trace's hash and the seed.
    ///
    /// # Errors
    /// If the trace cannot be read or has no instructions, if its page map has another granule than
    /// the configuration, or if its code needs more memory than [`MemoryBudget::DEFAULT`].
    pub fn open(
        trace: &Path,
        config: MachineConfig,
        header: RunHeader,
    ) -> Result<Session, MachineError> {
        Session::open_within(trace, config, header, &MemoryBudget::default())
    }

    /// Opens the trace with a memory budget for its code, the readers of threads, the cores, and
    /// the results of ended threads. Several sessions can share one budget.
    ///
    /// # Errors
    /// As [`Session::open`], or if the code exceeds the budget.
    pub fn open_within(
        trace: &Path,
        config: MachineConfig,
        header: RunHeader,
        budget: &MemoryBudget,
    ) -> Result<Session, MachineError> {
        Session::of(TraceFile::open_within(trace, budget)?, config, header)
    }
}
