//! Groups of options that several commands share, and the parsers of their values.

use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs, ValueEnum};
pub(crate) use sim_core::config::units::instructions;
use sim_core::{CoreDescription, cores};
use sim_machine::{ConfigSource, Machine, Marker, Profile, Revision, Roi, RunOptions};
use sim_pmu::OtherCore;
use sim_pmu::counter::CounterCount;

/// Largest seed: a configuration file holds whole numbers of 63 bits.
const SEED_MAX: u64 = i64::MAX as u64;

/// The part of a trace that is counted, as numbers of instructions.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Part of the trace")]
pub(crate) struct PartArgs {
    /// Instructions of each thread that only warm the machine
    ///
    /// The suffixes k, M and G are powers of 1000.
    #[arg(long, value_name = "N", value_parser = instructions, default_value = "0")]
    #[arg(allow_negative_numbers = true)]
    pub(crate) warmup: u64,
    /// Instructions of each thread to count after the warm-up
    ///
    /// The suffixes k, M and G are powers of 1000.
    #[arg(long, value_name = "N", value_parser = instructions_from_one)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) limit: Option<u64>,
}

impl PartArgs {
    /// Returns the options of a run of this part.
    pub(crate) fn run_options(&self) -> RunOptions {
        RunOptions { warmup: self.warmup, limit: self.limit, roi: None }
    }

    /// Returns whether any of the options is given.
    pub(crate) fn is_given(&self) -> bool {
        self.warmup > 0 || self.limit.is_some()
    }
}

/// The part of a trace that is counted: numbers of instructions and a region between two markers.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Part of the trace")]
pub(crate) struct RegionArgs {
    #[command(flatten)]
    pub(crate) part: PartArgs,
    /// Count only between two markers
    ///
    /// Each marker is the number of a HINT instruction (40,41) or the name of a function.
    #[arg(long, value_name = "BEGIN,END")]
    pub(crate) roi: Option<String>,
}

impl RegionArgs {
    /// Returns the options of a run of this part.
    pub(crate) fn run_options(&self) -> anyhow::Result<RunOptions> {
        let roi = self.roi.as_deref().map(parse_roi).transpose()?;
        Ok(RunOptions { roi, ..self.part.run_options() })
    }
}

/// Returns the region of `40,41` (numbers of HINT instructions) or `begin,end` (names of
/// functions).
fn parse_roi(text: &str) -> anyhow::Result<Roi> {
    let Some((begin, end)) = text.split_once(',') else {
        anyhow::bail!("--roi {text}: give both markers, such as 40,41 or work_begin,work_end");
    };
    Ok(Roi { begin: parse_marker(begin, text)?, end: parse_marker(end, text)? })
}

fn parse_marker(marker: &str, text: &str) -> anyhow::Result<Marker> {
    let marker = marker.trim();
    match marker.parse::<u32>() {
        Ok(number @ 0..=127) => Ok(Marker::Hint(number)),
        Ok(number) => anyhow::bail!("--roi {text}: HINT #{number} does not exist; use 0 to 127"),
        Err(_) if marker.is_empty() => anyhow::bail!("--roi {text}: a marker is empty"),
        Err(_) => Ok(Marker::Symbol(marker.to_owned())),
    }
}

/// The counters of the machine.
#[derive(Clone, Copy, Debug, ClapArgs)]
#[command(next_help_heading = "Counters")]
pub(crate) struct CountersArgs {
    /// Event counters of the machine, from 2 to 31, besides the cycle counter
    ///
    /// Both cores have six. A virtual machine often has fewer, because its hypervisor keeps some.
    #[arg(long, value_name = "N", default_value_t, allow_negative_numbers = true)]
    #[arg(hide_short_help = true)]
    pub(crate) counters: CounterCount,
}

impl CountersArgs {
    /// Returns whether the machine has other counters than the core.
    pub(crate) fn is_given(self) -> bool {
        self.counters != CounterCount::default()
    }
}

/// The events and metrics that a run counts.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "What to count")]
#[command(group = ArgGroup::new("counted").args(["event", "metric"]).multiple(true))]
pub(crate) struct EventArgs {
    /// Events to count with the counters of a core
    ///
    /// Each is a mnemonic or a perf name in any case, or rNN, with perf's modifiers; braces make
    /// groups: '{a,b}'. Without this option, the exact counts of the most important events are
    /// printed.
    #[arg(short, long, value_name = "EVENT,...")]
    pub(crate) event: Vec<String>,
    /// Metrics or metric groups to compute from exact counts
    ///
    /// `n2sim list metrics` lists them. With --mux-interval or --truth they are computed from the
    /// counters of a core.
    #[arg(short = 'M', long, value_name = "METRIC,...")]
    pub(crate) metric: Vec<String>,
    /// Metric files, or directories of them, with further metrics
    ///
    /// These metrics take precedence over those of n2sim (docs/metrics.md).
    #[arg(long, value_name = "FILE", requires = "metric", hide_short_help = true)]
    pub(crate) metrics: Vec<PathBuf>,
}

impl EventArgs {
    /// Returns whether no event and no metric is asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.event.is_empty() && self.metric.is_empty()
    }
}

/// The form and the place of printed counts.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Output")]
#[command(group = ArgGroup::new("for_programs").args(["json", "field_separator"]))]
pub(crate) struct FormatArgs {
    /// Print fields separated by SEP, as `perf stat -x`
    #[arg(short = 'x', long, value_name = "SEP", conflicts_with = "json")]
    #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) field_separator: Option<String>,
    /// Print one JSON object per event, as `perf stat -j`
    #[arg(short, long)]
    pub(crate) json: bool,
    /// Write to FILE instead of standard output
    ///
    /// FILE appears when the run has ended.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl FormatArgs {
    /// Returns whether programs read the output: it then holds all counts, and no other lines.
    pub(crate) fn is_for_programs(&self) -> bool {
        self.json || self.field_separator.is_some()
    }

    /// Returns the separator of -x, with `\t` as a tabulator.
    pub(crate) fn separator(&self) -> Option<String> {
        self.field_separator.as_ref().map(|separator| separator.replace("\\t", "\t"))
    }
}

/// The counts of a run: the events and metrics to count, and the form of the report.
#[derive(Clone, Debug, ClapArgs)]
#[command(group = ArgGroup::new("totals").args(["stalls", "prefetch"]).multiple(true))]
pub(crate) struct CountArgs {
    #[command(flatten)]
    pub(crate) events: EventArgs,
    /// Print the exact counts of all 147 events, zeros included
    ///
    /// The options -x and -j print all of them without it.
    #[arg(long, conflicts_with = "counted", help_heading = "What to count")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// Print column names (-x) or the origin of the counts (-j) first
    #[arg(long, requires = "for_programs", hide_short_help = true, help_heading = "Output")]
    pub(crate) header: bool,
    /// Write the counts to FILE too, as `perf stat record`
    ///
    /// `perf stat report -i FILE` reads them.
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = "Output")]
    pub(crate) perf_data: Option<PathBuf>,
    /// Print counts for each thread
    #[arg(long, help_heading = "Output")]
    pub(crate) per_thread: bool,
    /// Print the causes of lost rename slots
    #[arg(long, conflicts_with = "for_programs", help_heading = "Output")]
    pub(crate) stalls: bool,
    /// Print how many prefetched lines were useful, late or useless
    #[arg(long, conflicts_with = "field_separator", help_heading = "Output")]
    pub(crate) prefetch: bool,
    /// Print speed and memory of the simulation to stderr
    #[arg(short, long, hide_short_help = true, help_heading = "Output")]
    pub(crate) verbose: bool,
}

/// Reads a number of instructions that is at least 1.
pub(crate) fn instructions_from_one(text: &str) -> Result<u64, String> {
    match instructions(text)? {
        0 => Err(String::from("give at least one instruction to count")),
        number => Ok(number),
    }
}

/// Shortest time slice in nanoseconds: a few hundred cycles.
const SLICE_MIN_NS: f64 = 100.0;
/// Longest time slice in nanoseconds: eleven days.
const SLICE_MAX_NS: f64 = 1e15;

/// Reads a time and returns it in nanoseconds. The number may have a fraction; the default unit is
/// ms.
pub(crate) fn time_slice(text: &str) -> Result<u64, String> {
    let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    let unit = units.iter().find_map(|(unit, ns)| Some((text.strip_suffix(unit)?, *ns)));
    let (number, scale) = unit.unwrap_or((text, 1e6));
    let ns = number.trim().parse::<f64>().map(|number| number * scale);
    match ns {
        Ok(ns) if (SLICE_MIN_NS..=SLICE_MAX_NS).contains(&ns) => Ok(ns.round() as u64),
        Ok(_) => Err(String::from("give a time from 100ns to 1000000s")),
        Err(_) => Err(String::from("give a time such as 4ms, 250us or 1.5ms")),
    }
}

/// The simulated machine.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Machine")]
pub(crate) struct MachineArgs {
    /// Reference where Arm's PMU guide and measured silicon disagree
    #[arg(long, value_enum, default_value_t = ProfileName::Guide, conflicts_with = "config")]
    pub(crate) profile: ProfileName,
    /// Machine around the core: cobalt-100, yitian-710 or generic
    ///
    /// The machine sets clock, revision, mesh, system level cache and memory; generic keeps the
    /// values of the profile.
    #[arg(long, value_name = "NAME", value_parser = Machine::from_name, default_value = "generic")]
    pub(crate) machine: Machine,
    /// Configuration file
    ///
    /// Either a complete one, or differences with `base = "neoverse-n2.toml"`.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Change one value of the configuration (repeat for more)
    ///
    /// `n2sim list config` lists the keys. K, M and G are powers of 1024 for keys in bytes or
    /// entries (size-bytes=128K is 131072), and of 1000 for others (clock-hz=3G).
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Seed of random choices
    ///
    /// Short for `--set run.seed=N`.
    #[arg(long, value_name = "N", allow_negative_numbers = true, hide_short_help = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(0..=SEED_MAX))]
    pub(crate) seed: Option<u64>,
    /// Order in which threads synchronize [default: causal]
    ///
    /// Short for `--set threads.order=ORDER`.
    #[arg(long, value_enum, hide_short_help = true)]
    pub(crate) order: Option<Order>,
}

/// The order in which threads synchronize.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// Keep the recorded order of every synchronizing instruction, time slices included
    Recorded,
    /// Keep only happens-before: of release and acquire, and of thread creation, wake and exit
    Causal,
    /// Let no thread wait for another
    Free,
}

/// The reference of the default configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// Arm's PMU guide, to the letter
    Guide,
    /// Published counts and measurements of silicon
    Silicon,
}

impl MachineArgs {
    /// Returns the overrides. The seed and the order of threads come last.
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

    /// Returns whether another profile or machine than the default is chosen.
    pub(crate) fn is_chosen(&self) -> bool {
        self.profile != ProfileName::Guide || self.machine != Machine::Generic
    }

    /// Returns the source of the configuration.
    pub(crate) fn source<'a>(&'a self, overrides: &'a [String]) -> ConfigSource<'a> {
        let profile = match self.profile {
            ProfileName::Guide => Profile::Guide,
            ProfileName::Silicon => Profile::Silicon,
        };
        let file = self.config.as_deref();
        ConfigSource { profile, machine: self.machine, file, overrides }
    }
}

/// A core, as the command line names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CoreName {
    /// Out of order, with CMN mesh
    #[default]
    NeoverseN2,
    /// In order, in a cluster of up to four
    CortexA53,
    /// Its events and slots only
    NeoverseN1,
    /// Its events and slots only
    NeoverseV1,
    /// Its events and slots only
    NeoverseV2,
    /// A part of its list of events only
    CortexA32,
}

impl CoreName {
    /// Returns the name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            CoreName::NeoverseN2 => "neoverse-n2",
            CoreName::CortexA53 => "cortex-a53",
            CoreName::NeoverseN1 => "neoverse-n1",
            CoreName::NeoverseV1 => "neoverse-v1",
            CoreName::NeoverseV2 => "neoverse-v2",
            CoreName::CortexA32 => "cortex-a32",
        }
    }

    /// Returns the core with this name.
    pub(crate) fn from_name(name: &str) -> Option<CoreName> {
        CoreName::value_variants().iter().copied().find(|core| core.name() == name)
    }

    /// Returns the description of the core.
    pub(crate) fn description(self) -> Option<&'static CoreDescription> {
        cores::by_name(self.name())
    }

    /// Returns whether n2sim can run a trace on the core.
    pub(crate) fn has_timing_model(self) -> bool {
        self.description().is_some_and(|core| core.pipeline.is_some())
    }

    /// Returns whether n2sim knows rules between the counts of the core.
    pub(crate) fn has_count_rules(self) -> bool {
        self != CoreName::CortexA32
    }

    /// Returns the names of the cores that have a property, for a sentence.
    pub(crate) fn names(has: fn(CoreName) -> bool) -> String {
        let cores = CoreName::value_variants().iter().copied().filter(|core| has(*core));
        cores.map(CoreName::name).collect::<Vec<_>>().join(", ")
    }

    /// Returns an error if n2sim cannot run a trace on the core.
    pub(crate) fn require_timing_model(self) -> anyhow::Result<()> {
        if self.has_timing_model() {
            return Ok(());
        }
        anyhow::bail!(
            "--core {}: n2sim has no timing model of this core yet, only its events; cores with a model: {}",
            self.name(),
            CoreName::names(CoreName::has_timing_model)
        )
    }

    /// Returns the table of the core's events, if it is not that of the Neoverse N2 or a part of
    /// it.
    pub(crate) fn other(self) -> Option<OtherCore> {
        OtherCore::from_name(self.name())
    }

    /// Returns the core as one that has events of the Neoverse N2.
    pub(crate) fn related(self) -> Option<&'static CoreDescription> {
        self.description().filter(|core| core.is_related())
    }
}

/// A revision of the core, as the command line names it.
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
    use clap::Parser;

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
    fn a_time_slice_has_a_unit_and_bounds() {
        let cases = [("4ms", 4_000_000), ("4", 4_000_000), ("0.25ms", 250_000), ("100ns", 100)];
        for (text, ns) in cases {
            assert_eq!(time_slice(text), Ok(ns), "{text}");
        }
        assert_eq!(time_slice("2s"), Ok(2_000_000_000));
        for wrong in ["0", "-1ms", "99ns", "nan", "inf", "1e300s", "", "ms", "4m"] {
            assert!(time_slice(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_seed_comes_after_the_overrides() {
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            machine: MachineArgs,
        }
        let line = ["n2sim", "--seed", "3", "--set", "run.seed=2"];
        let overrides = Line::parse_from(line).machine.overrides();
        assert_eq!(overrides, ["run.seed=2", "run.seed=3"]);
    }

    #[test]
    fn markers_are_numbers_or_names() {
        let roi = parse_roi("40, 41").expect("two hints");
        assert_eq!(roi, Roi { begin: Marker::Hint(40), end: Marker::Hint(41) });
        let roi = parse_roi("begin,end").expect("two names");
        assert_eq!(roi.end, Marker::Symbol("end".to_owned()));
        for (text, remedy) in
            [("40", "give both markers"), ("40,200", "use 0 to 127"), ("40,", "a marker is empty")]
        {
            let message = parse_roi(text).expect_err("not a region").to_string();
            assert!(message.contains(remedy), "{message}");
        }
    }
}
