//! What a finished run gives to its readers: counts, stall ledger, provenance.

use crate::levels::{Level, LevelCounts, add_at};
use crate::mode::Mode;
use sim_cache::{MemoryTally, PrefetchStats};
use sim_core::{Counts, StallCause};
use sim_trace::Lack;

/// A word that the decoder does not know, with what the run saw of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// Address of its first location.
    pub pc: u64,
    /// The word.
    pub word: u32,
    /// How often it was executed.
    pub executions: u64,
}

/// The result of one core, which ran one thread of the trace.
#[derive(Clone, Debug)]
pub struct CoreOutcome {
    /// Stream number of the thread in the trace.
    pub stream: u32,
    /// The part of the run that is counted began on it.
    pub is_counted: bool,
    /// Counts of the measured window.
    pub counts: Counts,
    /// The same, taken apart by exception level and security state, lowest level first.
    pub levels: Vec<LevelCounts>,
    /// Empty rename slots of the measured window, by cause (index: `StallCause as usize`).
    pub stalls: [u64; StallCause::COUNT],
    /// What became of prefetched lines in the measured window. A line that was prefetched before it may
    /// be used or lost inside it.
    pub prefetches: PrefetchStats,
    /// What the core's private memory did in the measured window.
    pub memory: MemoryTally,
    /// Words that the decoder does not know, most executed first.
    pub unknown_words: Vec<UnknownWord>,
}

/// What produced a result: enough to repeat it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunHeader {
    /// Version of n2sim.
    pub version: String,
    /// Name of the configuration (file or profile), with the overrides in order.
    pub config: String,
    /// Hash of the merged configuration.
    pub config_hash: u64,
    /// The trace as named on the command line.
    pub trace: String,
    /// Hash of the trace's content.
    pub trace_hash: u64,
    /// Seed of random choices.
    pub seed: u64,
    /// How much of the machine was simulated.
    pub mode: Mode,
    /// What the trace lacks that makes counts doubtful ([`crate::trust`]).
    pub lacks: Vec<Lack>,
}

/// The result of one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What produced it.
    pub header: RunHeader,
    /// One entry per core that ran.
    pub cores: Vec<CoreOutcome>,
    /// Clock of the modeled core in Hz, for times in reports.
    pub clock_hz: u64,
    /// What a reader of the counts should know, one sentence each.
    pub notes: Vec<String>,
}

impl Outcome {
    /// The counts of all cores together.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        for core in &self.cores {
            total.add(&core.counts);
        }
        total
    }

    /// What the private memories of all cores did together.
    pub fn memory(&self) -> MemoryTally {
        self.cores.iter().fold(MemoryTally::default(), |total, core| total.plus(&core.memory))
    }

    /// Empty rename slots of all cores together, by cause.
    pub fn stalls(&self) -> [u64; StallCause::COUNT] {
        let of = |cause: usize| self.cores.iter().map(|core| core.stalls[cause]).sum();
        std::array::from_fn(of)
    }

    /// The counts of all cores together, by exception level and security state, lowest level first.
    pub fn levels(&self) -> Vec<LevelCounts> {
        let mut total = Vec::new();
        for LevelCounts { level, counts } in self.cores.iter().flat_map(|core| &core.levels) {
            add_at(&mut total, *level, counts);
        }
        total
    }

    /// The counts of all cores at the levels that `is_counted` names: what a filter lets through.
    pub fn total_at(&self, is_counted: impl Fn(Level) -> bool) -> Counts {
        let mut total = Counts::default();
        for part in self.levels().iter().filter(|part| is_counted(part.level)) {
            total.add(&part.counts);
        }
        total
    }

    /// The prefetch statistics of all cores together.
    pub fn prefetches(&self) -> PrefetchStats {
        let cores = self.cores.iter();
        cores.fold(PrefetchStats::default(), |total, core| total.plus(&core.prefetches))
    }
}
