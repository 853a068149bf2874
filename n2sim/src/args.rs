//! The command line: what may be typed, and nothing of what is done with it.

mod trace;

use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs, Parser, Subcommand, ValueEnum};
use sim_core::PmuEvent;
use sim_machine::{ConfigSource, Machine, Profile, Revision};
use sim_pmu::OtherCore;

use crate::capture::CaptureArgs;
use crate::diff::DiffArgs;
use crate::doctor::DoctorArgs;
use crate::explain::ExplainArgs;
use crate::flow::FlowArgs;
use crate::ladder::LadderArgs;
use crate::lint::LintArgs;
use crate::mode::ModeArgs;
use crate::perf_stat::PerfStatArgs;
use crate::pipeline::PipelineArgs;
use crate::record::RecordArgs;
use crate::report::ReportArgs;
use crate::spe::SpeArgs;
use crate::sweep::SweepArgs;
use crate::validate::ValidateArgs;

pub(crate) use trace::{LoadedProgram, TraceArgs, TraceWhat};

/// Largest seed: a configuration file holds whole numbers of 63 bits.
const SEED_MAX: u64 = i64::MAX as u64;

/// Replays recorded AArch64 programs on a model of the Arm Neoverse N2 and counts its PMU events.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Memory that code, readers and cores of a trace may take (k, M and G are powers of 1000) [default: three
    /// quarters of what is available]
    #[arg(long, global = true, value_name = "SIZE", value_parser = crate::memory::size)]
    #[arg(allow_negative_numbers = true, help_heading = "Memory of the host")]
    pub(crate) max_memory: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Replay a trace and write the event bus that another core would export
    Bus(BusArgs),
    Capture(CaptureArgs),
    /// Run scenario files and compare their counts; or check count tables of any machine
    Check(CheckArgs),
    Diff(DiffArgs),
    Doctor(DoctorArgs),
    Explain(ExplainArgs),
    Flow(FlowArgs),
    Ladder(LadderArgs),
    Lint(LintArgs),
    /// List events, metrics or the configuration
    List(ListArgs),
    PerfStat(PerfStatArgs),
    Pipeline(PipelineArgs),
    Spe(SpeArgs),
    Record(RecordArgs),
    Report(ReportArgs),
    /// Replay a trace and print its counts as `perf stat` would
    Stat(StatArgs),
    Sweep(SweepArgs),
    /// Look into a trace file
    Trace(TraceArgs),
    Validate(ValidateArgs),
}

#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("counted").args(["event", "metric"]).multiple(true))]
#[command(group = ArgGroup::new("for_programs").args(["json", "field_separator"]))]
#[command(after_help = "Examples: n2sim stat traces/hash.n2t\n          \
    n2sim stat traces/hash.n2t -e cycles,instructions,l1d_cache_refill --stalls\n          \
    n2sim stat traces/hash.n2t -e '{r08,r1b}:S,r03,r04,r05,r14,r21,r22,r24' --tick 20us --truth")]
pub(crate) struct StatArgs {
    /// The trace to replay
    pub(crate) trace: PathBuf,
    /// Events to count with the counters of a core, in groups `{a,b}` if you like: mnemonics or perf names
    /// in any case, or rNN, with perf's modifiers (default: exact counts of the events that matter most)
    #[arg(short, long, value_name = "EVENT,...")]
    pub(crate) event: Vec<String>,
    /// Print the exact counts of all 147 events, zeros too; -x and -j do so without it
    #[arg(long, conflicts_with = "counted")]
    pub(crate) all: bool,
    /// Metrics or groups of metrics to compute from exact counts (see `n2sim list metrics`); with --tick or
    /// --truth from the six counters of a core
    #[arg(short = 'M', long, value_name = "METRIC,...")]
    #[arg(conflicts_with_all = ["interval_print", "per_function"])]
    pub(crate) metric: Vec<String>,
    /// Metric files or folders with such, in front of the metrics of n2sim (docs/metrics.md)
    #[arg(long, value_name = "FILE", requires = "metric")]
    pub(crate) metrics: Vec<PathBuf>,
    /// With -e or -M: count with the six counters of a core, and print the exact count and the error of each
    #[arg(long, requires = "counted", help_heading = "Counters")]
    pub(crate) truth: bool,
    /// Multiplex the six counters of a core with this modeled time between rotations (s, ms, us, ns; default
    /// 4ms); with -M: do so in place of exact counts
    #[arg(long, value_name = "TIME", value_parser = tick)]
    #[arg(requires = "counted", allow_negative_numbers = true, help_heading = "Counters")]
    pub(crate) tick: Option<u64>,
    /// With -e: give each event a counter for the whole run, as -M does
    #[arg(long, requires = "counted", help_heading = "Counters")]
    pub(crate) no_multiplex: bool,
    /// With -e or -M: print the fewest runs without multiplexing, and the error of one run with it
    #[arg(long, requires = "counted", help_heading = "Counters")]
    #[arg(conflicts_with_all = ["truth", "no_multiplex", "json", "field_separator", "per_thread"])]
    #[arg(conflicts_with = "perf_data")]
    #[arg(conflicts_with_all = ["stalls", "prefetch"])]
    pub(crate) plan: bool,
    /// Print fields separated by SEP, in the order of `perf stat -x`
    #[arg(short = 'x', long, value_name = "SEP", conflicts_with = "json")]
    #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) field_separator: Option<String>,
    /// Print one JSON object per event, as `perf stat -j` does
    #[arg(short, long)]
    pub(crate) json: bool,
    /// With -x: print a line of column names first; with -j: print an object first that says what produced the
    /// counts
    #[arg(long, requires = "for_programs")]
    pub(crate) header: bool,
    /// Write to FILE instead of standard output, when everything is done
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the counts to FILE too, as `perf stat record` does, for `perf stat report -i FILE`
    #[arg(long, value_name = "FILE")]
    pub(crate) perf_data: Option<PathBuf>,
    /// Print counts for each thread
    #[arg(long)]
    pub(crate) per_thread: bool,
    /// Print counts every MS milliseconds of modeled time, fractions allowed
    #[arg(short = 'I', long, value_name = "MS", allow_negative_numbers = true)]
    #[arg(conflicts_with_all = ["truth", "plan", "stalls", "prefetch"])]
    pub(crate) interval_print: Option<f64>,
    /// Print exact counts for each function of the program
    #[arg(long)]
    #[arg(conflicts_with_all = ["truth", "no_multiplex", "plan", "per_thread", "interval_print"])]
    #[arg(conflicts_with_all = ["stalls", "prefetch", "perf_data"])]
    pub(crate) per_function: bool,
    /// With --per-function: the program that was recorded, for functions that the trace does not name
    #[arg(long, value_name = "FILE", requires = "per_function")]
    pub(crate) elf: Option<PathBuf>,
    /// Print where the rename slots went, cause by cause
    #[arg(long, conflicts_with_all = ["json", "field_separator"])]
    pub(crate) stalls: bool,
    /// Replay with one thing ideal at a time and print the cycles saved beside the share of lost slots
    #[arg(long, conflicts_with_all = ["event", "metric", "stalls", "prefetch", "per_thread"])]
    #[arg(conflicts_with_all = ["interval_print", "per_function", "perf_data", "regions", "jobs"])]
    #[arg(conflicts_with_all = ["all", "header", "verbose"])]
    pub(crate) counterfactual: bool,
    /// Print what the traced program's own accesses to the PMU do on the modeled one
    #[arg(long, conflicts_with_all = ["event", "json", "field_separator", "stalls", "prefetch"])]
    #[arg(conflicts_with_all = ["per_thread", "interval_print", "per_function", "perf_data", "metric"])]
    #[arg(conflicts_with = "counterfactual")]
    pub(crate) program_pmu: bool,
    /// Print what became of prefetched lines: useful, late, useless
    #[arg(long, conflicts_with = "field_separator")]
    pub(crate) prefetch: bool,
    /// Print speed and memory of the simulation to stderr
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Instructions of each thread that only warm the machine (k, M and G are powers of 1000)
    #[arg(long, value_name = "N", value_parser = instructions, default_value = "0")]
    #[arg(allow_negative_numbers = true, help_heading = "Part of the trace")]
    pub(crate) warmup: u64,
    /// Instructions of each thread to count, after the warm-up
    #[arg(long, value_name = "N", value_parser = instructions_from_one)]
    #[arg(allow_negative_numbers = true, help_heading = "Part of the trace")]
    pub(crate) limit: Option<u64>,
    /// Count only between two markers: numbers of HINT instructions (40,41) or names of functions
    #[arg(long, value_name = "BEGIN,END", help_heading = "Part of the trace")]
    pub(crate) roi: Option<String>,
    /// Run only the windows of FILE, from `n2sim trace regions`, and scale their counts up to the trace
    #[arg(long, value_name = "FILE", help_heading = "Part of the trace")]
    #[arg(conflicts_with_all = ["roi", "limit", "warmup", "jobs", "truth", "plan", "interval_print"])]
    #[arg(conflicts_with_all = ["per_function", "program_pmu"])]
    pub(crate) regions: Option<PathBuf>,
    /// Cut the trace into N chunks and run them at the same time, each behind a warm-up (docs/regions.md)
    #[arg(long, value_name = "N", help_heading = "Part of the trace")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=256))]
    #[arg(conflicts_with_all = ["roi", "limit", "warmup", "truth", "plan", "interval_print"])]
    #[arg(conflicts_with_all = ["per_function", "program_pmu"])]
    pub(crate) jobs: Option<u32>,
    #[command(flatten)]
    pub(crate) mode: ModeArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// perf's time between two rotations of the counters, in nanoseconds.
const TICK_NS: u64 = 4_000_000;

impl StatArgs {
    /// Modeled time between two rotations of the counters, in nanoseconds.
    pub(crate) fn tick_ns(&self) -> u64 {
        self.tick.unwrap_or(TICK_NS)
    }

    /// True if events share the six counters of a core: always with -e alone, with -M where its options ask for
    /// that.
    pub(crate) fn multiplexes(&self) -> bool {
        let is_asked = self.tick.is_some() || self.truth || self.plan;
        !self.no_multiplex && (is_asked || self.metric.is_empty())
    }

    /// True if the output is for programs: all counts, and no line of another kind.
    pub(crate) fn is_for_programs(&self) -> bool {
        self.json || self.field_separator.is_some()
    }

    /// The separator of -x, with its tabulator written out.
    pub(crate) fn separator(&self) -> Option<String> {
        self.field_separator.as_ref().map(|separator| separator.replace("\\t", "\t"))
    }
}

/// A number of instructions: digits, `_` between them, and k, M or G behind.
pub(crate) fn instructions(text: &str) -> Result<u64, String> {
    let (digits, scale) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        Some((at, 'g' | 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    let number: Option<u64> = digits.replace('_', "").parse().ok();
    number
        .and_then(|number| number.checked_mul(scale))
        .ok_or_else(|| String::from("give a number of instructions, such as 2000000 or 2M"))
}

/// The same where none at all makes no sense.
pub(crate) fn instructions_from_one(text: &str) -> Result<u64, String> {
    match instructions(text)? {
        0 => Err(String::from("give at least one instruction to count")),
        number => Ok(number),
    }
}

/// Shortest turn, in nanoseconds: a few hundred cycles.
const TICK_MIN_NS: f64 = 100.0;
/// Longest turn, in nanoseconds: eleven days.
const TICK_MAX_NS: f64 = 1e15;

/// A time in nanoseconds: a number, fractions allowed, and a unit; milliseconds without one.
pub(crate) fn tick(text: &str) -> Result<u64, String> {
    let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    let unit = units.iter().find_map(|(unit, ns)| Some((text.strip_suffix(unit)?, *ns)));
    let (number, scale) = unit.unwrap_or((text, 1e6));
    let ns = number.trim().parse::<f64>().map(|number| number * scale);
    match ns {
        Ok(ns) if (TICK_MIN_NS..=TICK_MAX_NS).contains(&ns) => Ok(ns.round() as u64),
        Ok(_) => Err(String::from("give a time from 100ns to 1000000s")),
        Err(_) => Err(String::from("give a time such as 4ms, 250us or 1.5ms")),
    }
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim bus traces/hash.n2t --limit 10k\n          \
    n2sim bus traces/hash.n2t --limit 1M -o hash.vcd")]
pub(crate) struct BusArgs {
    /// The trace to replay
    pub(crate) trace: PathBuf,
    /// Whose bus it is; it carries the events that this core and the Neoverse N2 both have
    #[arg(long, value_name = "CORE", value_parser = other_core, default_value = "cortex-a53")]
    pub(crate) core: OtherCore,
    /// Write to FILE instead of standard output: a value change dump if it ends in .vcd, else text
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Instructions of each thread that only warm the machine (k, M and G are powers of 1000)
    #[arg(long, value_name = "N", value_parser = instructions, default_value = "0")]
    #[arg(allow_negative_numbers = true, help_heading = "Part of the trace")]
    pub(crate) warmup: u64,
    /// Instructions of each thread to write, after the warm-up
    #[arg(long, value_name = "N", value_parser = instructions_from_one)]
    #[arg(allow_negative_numbers = true, help_heading = "Part of the trace")]
    pub(crate) limit: Option<u64>,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// Which machine is simulated.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Machine")]
pub(crate) struct MachineArgs {
    /// Whose word holds where the guide and silicon disagree
    #[arg(long, value_enum, default_value_t = ProfileName::Guide, conflicts_with = "config")]
    pub(crate) profile: ProfileName,
    /// Machine around the core: cobalt-100, yitian-710, or generic, the values of the profile (clock, revision,
    /// mesh, system level cache, memory)
    #[arg(long, value_name = "NAME", value_parser = Machine::from_name, default_value = "generic")]
    pub(crate) machine: Machine,
    /// Configuration file: a full one, or differences with `base = "neoverse-n2.toml"`
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Change one value of the configuration (repeat for more; see `n2sim list config`). K, M and G are powers
    /// of 1024 for keys in bytes or entries (size-bytes=128K is 131072) and of 1000 for others (clock-hz=3G)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Seed of random choices; the same as `--set run.seed=N`
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(0..=SEED_MAX))]
    pub(crate) seed: Option<u64>,
    /// What threads wait for in a replay; the same as `--set threads.order=ORDER` [default: causal]
    #[arg(long, value_enum)]
    pub(crate) order: Option<Order>,
}

/// In which order threads synchronize.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// Keep the order of the recording machine for every synchronizing instruction, time slices included
    Recorded,
    /// Keep only happens-before: a release before the acquire that reads it, and thread creation, wake and exit before what they enable
    Causal,
    /// Let no thread wait for another
    Free,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// Arm's PMU guide, to the letter
    Guide,
    /// Published counts and measurements of silicon
    Silicon,
}

impl MachineArgs {
    /// The overrides, the seed and the order of threads last.
    pub(crate) fn overrides(&self) -> Vec<String> {
        let seed = self.seed.map(|seed| format!("run.seed={seed}"));
        let order = self.order.map(|order| match order {
            Order::Recorded => "threads.order=recorded",
            Order::Causal => "threads.order=causal",
            Order::Free => "threads.order=free",
        });
        let order = order.map(str::to_owned);
        self.set.iter().cloned().chain(seed).chain(order).collect()
    }

    /// Where the configuration comes from.
    pub(crate) fn source<'a>(&'a self, overrides: &'a [String]) -> ConfigSource<'a> {
        let profile = match self.profile {
            ProfileName::Guide => Profile::Guide,
            ProfileName::Silicon => Profile::Silicon,
        };
        let file = self.config.as_deref();
        ConfigSource { profile, machine: self.machine, file, overrides }
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
        /// The events of another core, with their bits on its event bus
        #[arg(long, value_name = "CORE", conflicts_with = "long", value_parser = other_core)]
        core: Option<OtherCore>,
    },
    /// The metrics that can be computed, with their formulas
    Metrics {
        /// Metric files or folders with such, in front of the metrics of n2sim
        #[arg(long, value_name = "FILE")]
        metrics: Vec<PathBuf>,
    },
    /// The merged configuration, with the source of every value
    Config {
        #[command(flatten)]
        machine: MachineArgs,
    },
}

/// Another core whose events are known.
pub(crate) fn other_core(name: &str) -> Result<OtherCore, String> {
    OtherCore::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = sim_pmu::other_core::ALL.iter().map(|core| core.name).collect();
        format!("known are {}", known.join(", "))
    })
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim check tests/scenarios\n          \
    n2sim check my-cases.toml --show\n          \
    n2sim check tests/scenarios/410-l1d-refill.toml --case T.L1D_CACHE_REFILL.2\n          \
    perf stat -x, -o perf.csv -e ... ./program; n2sim check perf.csv --revision r0p3")]
pub(crate) struct CheckArgs {
    /// Take every file for a count table, whatever its name
    #[arg(long)]
    pub(crate) counts: bool,
    /// Scenario files (*.toml), or folders with such; or count tables as `perf stat`, `perf stat
    /// -x`, `-j`, `-I` and `perf stat report` print them, of any machine
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Run this case alone, and print what it counts, step by step (repeat for more)
    #[arg(long, value_name = "NAME", help_heading = "Scenarios", conflicts_with = "counts")]
    pub(crate) case: Vec<String>,
    /// Print what each step of every case counts: all events that are not 0, but for clocks and stalls
    #[arg(long, help_heading = "Scenarios", conflicts_with_all = ["counts", "case"])]
    pub(crate) show: bool,
    /// Print the counts of these events, of every case or with --case of that one
    #[arg(short, long, value_name = "EVENT,...", help_heading = "Scenarios")]
    #[arg(conflicts_with = "counts", value_delimiter = ',', value_parser = PmuEvent::from_name)]
    pub(crate) event: Vec<PmuEvent>,
    /// With --case: metrics to work out from the counts (default: none)
    #[arg(short = 'M', long, value_name = "METRIC,...", help_heading = "Scenarios")]
    #[arg(value_delimiter = ',', requires = "case")]
    pub(crate) metric: Vec<String>,
    /// Revision of the core that counted; r0p0 to r0p2 count one stalled slot too many per cycle
    #[arg(long, value_enum, help_heading = "Count tables")]
    pub(crate) revision: Option<RevisionName>,
    /// Whether CPUECTLR.EXTLLC was set; without it the last-level events stay 0
    #[arg(long, value_name = "true|false", help_heading = "Count tables")]
    pub(crate) extllc: Option<bool>,
    /// Percent by which two sides may differ (default: 0; 1 for intervals and CPUs; 10 for counts
    /// that were scaled from a part of the time)
    #[arg(long, value_name = "PERCENT", help_heading = "Count tables")]
    #[arg(allow_negative_numbers = true)]
    pub(crate) tolerance: Option<f64>,
    /// On which machine scenarios run
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

impl CheckArgs {
    /// True if the files are count tables: not scenarios by their names, nor folders of such.
    pub(crate) fn has_counts(&self) -> bool {
        let is_scenario = |path: &PathBuf| {
            path.is_dir() || path.extension().is_some_and(|extension| extension == "toml")
        };
        self.counts || self.case.is_empty() && !self.files.iter().any(is_scenario)
    }
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
    fn numbers_of_instructions_may_have_a_scale() {
        assert_eq!(instructions("2_000"), Ok(2000));
        assert_eq!(instructions("3k"), Ok(3000));
        assert_eq!(instructions("4M"), Ok(4_000_000));
        assert_eq!(instructions("5G"), Ok(5_000_000_000));
        for wrong in ["", "M", "1.5M", "-1", "99999999999G"] {
            assert!(instructions(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_tick_is_a_time_that_makes_sense() {
        let cases = [("4ms", 4_000_000), ("4", 4_000_000), ("0.25ms", 250_000), ("100ns", 100)];
        for (text, ns) in cases {
            assert_eq!(tick(text), Ok(ns), "{text}");
        }
        assert_eq!(tick("2s"), Ok(2_000_000_000));
        for wrong in ["0", "-1ms", "99ns", "nan", "inf", "1e300s", "", "ms", "4m"] {
            assert!(tick(wrong).is_err(), "{wrong}");
        }
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
