//! The threads of a trace, as the configuration describes them: their order and their cores.

use serde::Deserialize;
use sim_core::config::Problem;

/// Order in which threads synchronize in a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadOrder {
    /// The total order of synchronizing instructions on the recording machine.
    Recorded,
    /// Happens-before alone: an acquire after the releases that it may have read, a thread after
    /// its creation, a wait after the wake.
    #[default]
    Causal,
    /// The modeled time alone.
    Free,
}

impl ThreadOrder {
    /// Returns the name on the command line and in outputs.
    pub fn name(self) -> &'static str {
        match self {
            ThreadOrder::Recorded => "recorded",
            ThreadOrder::Causal => "causal",
            ThreadOrder::Free => "free",
        }
    }
}

/// Settings for the threads of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ThreadsConfig {
    /// Order in which threads synchronize.
    pub order: ThreadOrder,
    /// Number of cores that the threads share; 0 for one core each.
    pub cores: usize,
    /// Cycles that a thread may keep its core while another one is ready.
    pub slice_cycles: u64,
    /// Cycles from the last instruction of a thread to the first of the next one on its core.
    pub switch_cycles: u64,
    /// A thread that finds its core taken moves to a free one.
    pub migrate: bool,
}

impl ThreadsConfig {
    /// Returns true if this many threads do not have a core each.
    pub fn shares_cores(&self, threads: usize) -> bool {
        (1..threads).contains(&self.cores)
    }

    pub(crate) fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.slice_cycles == 0 {
            let message = "a time slice of 0 cycles: no thread would run; give at least 1";
            problems.push(Problem::new("threads.slice-cycles", message));
        }
        let most = u64::from(u32::MAX);
        for (key, cycles) in [
            ("threads.slice-cycles", self.slice_cycles),
            ("threads.switch-cycles", self.switch_cycles),
        ] {
            if cycles > most {
                problems.push(Problem::new(key, format!("{cycles} cycles: give at most {most}")));
            }
        }
        problems
    }
}
