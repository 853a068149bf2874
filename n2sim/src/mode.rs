//! `n2sim stat --mode`: a part of the machine alone, and what cannot be asked of it.

use clap::{Args as ClapArgs, ValueEnum};
use sim_machine::Mode;

use crate::args::StatArgs;

/// A part of the machine as the command line names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// The whole machine
    #[default]
    Full,
    /// TLBs, caches and memory in program order, without the pipeline
    Memory,
    /// Branch prediction and instruction fetch in program order, without the pipeline and without data
    Frontend,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ModeArgs {
    /// How much of the machine is simulated: less is faster and gives fewer events (docs/modes.md)
    #[arg(long, value_enum, default_value_t)]
    mode: Choice,
}

impl ModeArgs {
    /// The part.
    pub(crate) fn mode(&self) -> Mode {
        match self.mode {
            Choice::Full => Mode::Full,
            Choice::Memory => Mode::Memory,
            Choice::Frontend => Mode::Frontend,
        }
    }
}

/// Refuses what needs the pipeline, or a time that a part of the machine does not have.
pub(crate) fn check(args: &StatArgs) -> anyhow::Result<()> {
    let mode = args.mode.mode();
    if mode == Mode::Full {
        return Ok(());
    }
    let refused = [
        (args.truth, "--truth", "every event has a counter of its own"),
        (args.plan, "--plan", "every event has a counter of its own"),
        (args.perf_data.is_some(), "--perf-data", "the file cannot say which counts there are"),
        (args.interval_print.is_some(), "-I", "no cycles are counted"),
        (args.per_function, "--per-function", "no instruction is followed"),
        (args.stalls, "--stalls", "there are no rename slots"),
        (args.counterfactual, "--counterfactual", "no cycles are counted"),
        (args.program_pmu, "--program-pmu", "no cycles are counted"),
        (args.prefetch, "--prefetch", "prefetches are judged by the time of their use"),
        (args.regions.is_some(), "--regions", "windows are run in full detail"),
        (args.jobs.is_some(), "--jobs", "chunks are run in full detail"),
    ];
    match refused.iter().find(|(is_asked, ..)| *is_asked) {
        Some((_, option, why)) => {
            anyhow::bail!("{option} needs --mode full: in --mode {} {why}", mode.name())
        }
        None => Ok(()),
    }
}
