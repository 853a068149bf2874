//! The command line: what may be typed, and nothing of what is done with it.

use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs, Parser, Subcommand, ValueEnum};
use sim_core::PmuEvent;
use sim_machine::{ConfigSource, Profile, Revision};
use sim_pmu::OtherCore;
use sim_report::export::Target;
use sim_trace::foreign::Format;

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
use crate::regions::RegionsArgs;
use crate::report::ReportArgs;
use crate::spe::SpeArgs;
use crate::sweep::SweepArgs;
use crate::trace_parts::{MergeArgs, SliceArgs};
use crate::validate::ValidateArgs;

/// Largest seed: a configuration file holds whole numbers of 63 bits.
const SEED_MAX: u64 = i64::MAX as u64;

/// Replays recorded AArch64 programs on a model of the Arm Neoverse N2 and counts its PMU events.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
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
#[command(after_help = "Examples: n2sim stat traces/hash.n2t\n          \
    n2sim stat traces/hash.n2t -e cycles,instructions,l1d_cache_refill --stalls\n          \
    n2sim stat traces/hash.n2t -e '{r08,r1b}:S,r03,r04,r05,r14,r21,r22,r24' --tick 20us --truth")]
pub(crate) struct StatArgs {
    /// The trace to replay
    pub(crate) trace: PathBuf,
    /// Events to count with the counters of a core, in groups `{a,b}` if you like: mnemonics or perf names
    /// in any case, or rNN, with perf's modifiers (default: the exact counts of all events)
    #[arg(short, long, value_name = "EVENT,...")]
    pub(crate) event: Vec<String>,
    /// Metrics or groups of metrics to compute from their events (see `n2sim list metrics`)
    #[arg(short = 'M', long, value_name = "METRIC,...")]
    #[arg(conflicts_with_all = ["interval_print", "per_function"])]
    pub(crate) metric: Vec<String>,
    /// Metric files or folders with such, in front of the metrics of n2sim (docs/metrics.md)
    #[arg(long, value_name = "FILE", requires = "metric")]
    pub(crate) metrics: Vec<PathBuf>,
    /// With -e or -M: what each count really is, and how far the reading is from it
    #[arg(long, requires = "counted", help_heading = "Counters")]
    pub(crate) truth: bool,
    /// Modeled time of a turn, when more groups are asked for than fit on the counters (s, ms, us, ns)
    #[arg(long, value_name = "TIME", value_parser = tick, default_value = "4ms")]
    #[arg(requires = "counted", allow_negative_numbers = true, help_heading = "Counters")]
    pub(crate) tick: u64,
    /// With -e or -M: repeat the run until each event had a counter all the time
    #[arg(long, requires = "counted", help_heading = "Counters")]
    pub(crate) no_multiplex: bool,
    /// With -e or -M: print the fewest runs that need no turns, and how wrong one run with turns is
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
    /// Print what the traced program's own accesses to the PMU do on the modeled one
    #[arg(long, conflicts_with_all = ["event", "json", "field_separator", "stalls", "prefetch"])]
    #[arg(conflicts_with_all = ["per_thread", "interval_print", "per_function", "perf_data", "metric"])]
    pub(crate) program_pmu: bool,
    /// Print what became of prefetched lines: useful, late, useless
    #[arg(long, conflicts_with = "field_separator")]
    pub(crate) prefetch: bool,
    /// Print speed and memory of the simulation to stderr
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Instructions of each thread that only warm the machine (k, M and G are understood)
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
    /// Instructions of each thread that only warm the machine (k, M and G are understood)
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

#[derive(Debug, ClapArgs)]
pub(crate) struct TraceArgs {
    #[command(subcommand)]
    pub(crate) what: TraceWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceWhat {
    /// Where a trace comes from, its size, and what it does not contain
    Info {
        /// The trace
        file: PathBuf,
    },
    /// Read everything, and say what is damaged or cannot be
    Verify {
        /// The trace
        file: PathBuf,
    },
    /// Keep what is good of a damaged trace
    Recover {
        /// The damaged trace; it is not changed
        file: PathBuf,
        /// The trace to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Write a trace again with another compression
    Repack {
        /// The trace; it is not changed
        file: PathBuf,
        /// The trace to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Level of zstd: 3 to keep, 19 to archive
        #[arg(long, value_name = "N", default_value_t = 19)]
        #[arg(value_parser = clap::value_parser!(i32).range(1..=22))]
        level: i32,
    },
    Slice(SliceArgs),
    Merge(MergeArgs),
    /// Write a trace again with the page map of a text file in place of its own
    Map {
        /// The trace; it is not changed
        file: PathBuf,
        /// Lines `granule,BYTES` and `VIRTUAL,BYTES,PHYSICAL,ATTRIBUTES` (docs/trace-format.md)
        map: PathBuf,
        /// The trace to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Read a trace of another tool (docs/foreign-traces.md)
    #[command(after_help = "Examples: n2sim trace import run.execlog.gz -o run.n2t\n          \
        n2sim trace import --elf a.out lackey.txt -o run.n2t")]
    Import {
        /// The trace, packed or not; or a folder with one file for each thread
        file: PathBuf,
        /// The trace to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Its format, if it is not recognized: drmemtrace, tarmac, execlog, gem5-inst, gem5-exec,
        /// cvp1, champsim, cloudsuite or lackey
        #[arg(long, value_name = "FORMAT", value_parser = format)]
        from: Option<Format>,
        /// The AArch64 program that ran: for words and names, and for the wrong path; where it was
        /// loaded, if it can be loaded anywhere
        #[arg(long, value_name = "FILE[@ADDRESS]", value_parser = loaded_program)]
        elf: Option<LoadedProgram>,
        /// Instructions to read at most (k, M and G are understood)
        #[arg(long, value_name = "N", value_parser = instructions_from_one)]
        limit: Option<u64>,
    },
    /// Write a trace for other simulators
    #[command(
        after_help = "Example: n2sim trace export --to champsim traces/sort.n2t | xz > sort.champsimtrace.xz"
    )]
    Export {
        /// The trace
        file: PathBuf,
        /// champsim (records of 64 bytes) or text (one line per instruction, as QEMU's execlog has it)
        #[arg(long, value_name = "FORMAT", value_parser = target)]
        to: Target,
        /// Number of the thread's stream (default: all; ChampSim has one)
        #[arg(long, value_name = "N")]
        stream: Option<u32>,
        /// Write to FILE instead of standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    Regions(RegionsArgs),
    /// Print instructions, one per line
    Dump {
        /// The trace
        file: PathBuf,
        /// Number of the thread's stream (default: the first)
        #[arg(long, value_name = "N")]
        stream: Option<u32>,
        /// Position of the first instruction in the stream
        #[arg(long, value_name = "N", value_parser = instructions, default_value = "0")]
        start: u64,
        /// Instructions to print
        #[arg(long, value_name = "N", value_parser = instructions, default_value = "1000")]
        count: u64,
    },
}

/// What a trace is written as, by its name.
fn target(name: &str) -> Result<Target, String> {
    match name {
        "champsim" => Ok(Target::Champsim),
        "text" => Ok(Target::Text),
        _ => Err("known are champsim, text".into()),
    }
}

/// A program's file, and where it was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadedProgram(pub(crate) PathBuf, pub(crate) u64);

/// A format by its name.
fn format(name: &str) -> Result<Format, String> {
    Format::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        format!("known are {}", known.join(", "))
    })
}

/// `FILE`, or `FILE@0xADDRESS`.
fn loaded_program(text: &str) -> Result<LoadedProgram, String> {
    let Some((file, address)) = text.rsplit_once("@0x") else {
        return Ok(LoadedProgram(text.into(), 0));
    };
    let address = u64::from_str_radix(address, 16).map_err(|_| "give FILE@0xADDRESS")?;
    Ok(LoadedProgram(file.into(), address))
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
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(0..=SEED_MAX))]
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
