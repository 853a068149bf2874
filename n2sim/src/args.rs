//! The command line: what may be typed, and nothing of what is done with it.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use sim_machine::{ConfigSource, Profile, Revision};

use crate::capture::CaptureArgs;

/// Replays recorded AArch64 programs on a model of the Arm Neoverse N2 and counts its PMU events.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Capture(CaptureArgs),
    /// Check counts: the identities that the events of one window must keep
    Check(CheckArgs),
    /// List events, metrics or the configuration
    List(ListArgs),
}

/// Which machine is simulated.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Machine")]
pub(crate) struct MachineArgs {
    /// Whose word holds where the guide and silicon disagree
    #[arg(long, value_enum, default_value_t = ProfileName::Guide, conflicts_with = "config")]
    pub(crate) profile: ProfileName,
    /// Configuration file: a full one, or differences with `base = "neoverse-n2.toml"`
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Change one value of the configuration (repeat for more; see `n2sim list config`)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Seed of random choices; the same as `--set run.seed=N`
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// Arm's PMU guide, to the letter
    Guide,
    /// Published counts and measurements of silicon
    Silicon,
}

impl MachineArgs {
    /// The overrides, the seed last.
    pub(crate) fn overrides(&self) -> Vec<String> {
        let seed = self.seed.map(|seed| format!("run.seed={seed}"));
        self.set.iter().cloned().chain(seed).collect()
    }

    /// Where the configuration comes from.
    pub(crate) fn source<'a>(&'a self, overrides: &'a [String]) -> ConfigSource<'a> {
        let profile = match self.profile {
            ProfileName::Guide => Profile::Guide,
            ProfileName::Silicon => Profile::Silicon,
        };
        ConfigSource { profile, file: self.config.as_deref(), overrides }
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ListArgs {
    #[command(subcommand)]
    pub(crate) what: ListWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ListWhat {
    /// The PMU events, by chapters of the guide
    Events {
        /// Say what counts, what does not, and how events are tied to others
        #[arg(long)]
        long: bool,
    },
    /// The ratios that are printed beside counts, with their formulas
    Metrics,
    /// The merged configuration, with the source of every value
    Config {
        #[command(flatten)]
        machine: MachineArgs,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CheckArgs {
    /// The files are counts as `perf stat -x,` or `perf stat -j` prints them, of any machine
    #[arg(long, required = true)]
    pub(crate) counts: bool,
    /// The files to check
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Revision of the core that counted; r0p0 to r0p2 count one stalled slot too many per cycle
    #[arg(long, value_enum)]
    pub(crate) revision: Option<RevisionName>,
    /// Whether CPUECTLR.EXTLLC was set; without it the last-level events stay 0
    #[arg(long, value_name = "true|false")]
    pub(crate) extllc: Option<bool>,
    /// Percent by which two sides may differ, for counts scaled from a part of the time
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    pub(crate) tolerance: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RevisionName {
    R0p0,
    R0p1,
    R0p2,
    R0p3,
}

impl From<RevisionName> for Revision {
    fn from(name: RevisionName) -> Revision {
        match name {
            RevisionName::R0p0 => Revision::R0p0,
            RevisionName::R0p1 => Revision::R0p1,
            RevisionName::R0p2 => Revision::R0p2,
            RevisionName::R0p3 => Revision::R0p3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn the_seed_comes_after_the_overrides() {
        let line = ["n2sim", "list", "config", "--seed", "3", "--set", "run.seed=2"];
        let args = Args::parse_from(line);
        let Command::List(ListArgs { what: ListWhat::Config { machine } }) = args.command else {
            panic!("a list command");
        };
        assert_eq!(machine.overrides(), ["run.seed=2", "run.seed=3"]);
    }
}
