//! The options of `perf stat` that the stand-in understands, spelled as perf spells them.

use std::path::PathBuf;

use clap::Parser;

/// The events that `perf stat` counts by default.
pub(super) const DEFAULT_EVENTS: &str = "task-clock,context-switches,cpu-migrations,page-faults,\
    cycles,instructions,branches,branch-misses";

/// The command line after `perf stat`.
#[derive(Debug, Parser)]
#[command(name = "perf stat", disable_version_flag = true, max_term_width = 100)]
#[command(about = "Plays `perf stat` with the counts of a simulated run")]
pub(crate) struct PerfOptions {
    /// Events, or groups of events such as `{a,b}`
    #[arg(short, long, value_name = "EVENT,...")]
    pub(super) event: Vec<String>,
    /// Print fields separated by SEP
    #[arg(short = 'x', long, value_name = "SEP", conflicts_with = "json_output")]
    #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(super) field_separator: Option<String>,
    /// Print one JSON object per event
    #[arg(short = 'j', long, visible_alias = "json")]
    pub(super) json_output: bool,
    /// Write to FILE instead of standard error
    #[arg(short, long, value_name = "FILE", conflicts_with = "log_fd")]
    pub(super) output: Option<PathBuf>,
    /// Add to the output file
    #[arg(long, requires = "output")]
    pub(super) append: bool,
    /// Write to this file descriptor
    #[arg(long, value_name = "FD")]
    pub(super) log_fd: Option<u32>,
    /// Count on all CPUs; CPU n is where thread n of the trace runs
    #[arg(short, long)]
    pub(super) all_cpus: bool,
    /// Count on these CPUs
    #[arg(short = 'C', long, value_name = "CPU,...", value_parser = cpu_list)]
    pub(super) cpu: Option<CpuList>,
    /// Print counts of each CPU
    #[arg(short = 'A', long, conflicts_with_all = ["per_core", "per_thread"])]
    pub(super) no_aggr: bool,
    /// Print counts of each core
    #[arg(long, conflicts_with = "per_thread")]
    pub(super) per_core: bool,
    /// Print counts of each thread
    #[arg(long)]
    pub(super) per_thread: bool,
    /// Print counts every MS milliseconds of modeled time
    #[arg(short = 'I', long, value_name = "MS", allow_negative_numbers = true)]
    pub(super) interval_print: Option<f64>,
    /// Stop after this number of intervals
    #[arg(long, value_name = "N", requires = "interval_print")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) interval_count: Option<u64>,
    /// Count only the first MS milliseconds of modeled time
    #[arg(
        long,
        value_name = "MS",
        allow_negative_numbers = true,
        conflicts_with = "interval_print"
    )]
    pub(super) timeout: Option<f64>,
    /// Wait for MS milliseconds of modeled time before counting; -1: until --control enables it
    #[arg(short = 'D', long, value_name = "MS", allow_negative_numbers = true)]
    pub(super) delay: Option<i64>,
    /// Read commands from fd:CONTROL or fd:CONTROL,ACK; fifo: likewise, with paths
    #[arg(long, value_name = "fd:N,M")]
    pub(super) control: Option<String>,
    /// Print more details
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
    /// Threads of this process; the trace replaces it
    #[arg(short, long, value_name = "PID")]
    pub(super) pid: Option<String>,
    /// A thread; the trace replaces it
    #[arg(short, long, value_name = "TID")]
    pub(super) tid: Option<String>,
    /// Number of runs; one is enough, because every run of a trace gives the same counts
    #[arg(short, long, value_name = "N")]
    pub(super) repeat: Option<u32>,
    #[command(flatten)]
    pub(super) accepted: Accepted,
    /// The measured program with its arguments; it is not started, the trace replaces it
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(super) command: Vec<String>,
}

/// Options that do not change the counts of a trace.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Accepted, without effect")]
pub(super) struct Accepted {
    /// Numbers with separators
    #[arg(short = 'B', long)]
    big_num: bool,
    /// Numbers without separators
    #[arg(long)]
    no_big_num: bool,
    /// Scale counts
    #[arg(short = 'c', long)]
    scale: bool,
    /// Child tasks do not inherit counters
    #[arg(short = 'i', long)]
    no_inherit: bool,
    /// Call sync before the run
    #[arg(short = 'S', long)]
    sync: bool,
    /// No warnings
    #[arg(short, long)]
    quiet: bool,
    /// No summary after intervals
    #[arg(long)]
    no_csv_summary: bool,
    /// Do not merge PMUs of one kind
    #[arg(long)]
    no_merge: bool,
}

/// Numbers of CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CpuList(pub(super) Vec<usize>);

/// Maximum number of CPUs in a list.
const CPUS_MAX: usize = 4096;

/// Reads a list of CPUs such as `0,2-3`.
fn cpu_list(text: &str) -> Result<CpuList, String> {
    let wrong = || format!("give numbers of CPUs up to {}, such as 0,2-3", CPUS_MAX - 1);
    let mut cpus = Vec::new();
    for item in text.split(',') {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|n| *n < CPUS_MAX);
        let (Some(first), Some(last)) = (number(first), number(last)) else {
            return Err(wrong());
        };
        if first > last {
            return Err(wrong());
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(CpuList(cpus))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> PerfOptions {
        let words = ["perf stat"].into_iter().chain(line.split_whitespace());
        PerfOptions::try_parse_from(words).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    #[test]
    fn options_are_spelled_as_perf_spells_them() {
        let options = parse("-x, -o out -I100 -A -C 0,2-3 -e {r8,r11}:S -e r1b -- sleep -x 1");
        assert_eq!(options.field_separator.as_deref(), Some(","));
        assert_eq!(options.interval_print, Some(100.0));
        assert_eq!(options.cpu, Some(CpuList(vec![0, 2, 3])));
        assert_eq!(options.event, ["{r8,r11}:S", "r1b"]);
        assert_eq!(options.command, ["sleep", "-x", "1"], "the rest is the program's");
        let options = parse("-x ; --per-core -C 1 --delay -1 --control fd:3,6 -e r8");
        assert_eq!((options.delay, options.control.as_deref()), (Some(-1), Some("fd:3,6")));
        let options = parse("-e r8:u -C 0 -x \\t perf -v");
        assert_eq!(options.command, ["perf", "-v"], "-v belongs to the program");
        assert_eq!(options.verbose, 0);
    }

    #[test]
    fn lists_of_cpus_are_ranges_and_numbers() {
        assert_eq!(cpu_list("3,0-1,1"), Ok(CpuList(vec![0, 1, 3])));
        for wrong in ["", "a", "1-0", "-1", "0,,1", "99999999999", "0-4096"] {
            assert!(cpu_list(wrong).is_err(), "{wrong}");
        }
    }
}
