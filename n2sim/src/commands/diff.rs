//! `n2sim diff`: replays traces under two configurations and prints which key changed which event.

mod two_cores;
mod two_runs;

use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ProgressStyle;
use sim_core::config::Document;
use sim_lab::diff::Comparison;
use sim_machine::{ConfigSource, Profile};
use sim_report::diff::{self, Names};
use sim_report::run_diff::Limit;

use crate::files::output::Output;
use crate::host::progress;
use crate::shared_args::{CoreName, PartArgs};
use crate::verdict::Verdict;
use sim_core::Shown;

/// Compare two configurations, two cores, two traces or two reports
///
/// On traces, it prints every event that differs between two configurations, and the keys that
/// cause it. For two runs, it compares everything in their reports.
#[derive(Debug, Args)]
#[command(
    after_help = "Each differing key is tried alone on top of the first configuration; the keys \
    that move an event are\nits causes. What no key moves alone is explained by leaving keys out of the \
    second configuration.\n\n\
    Examples: n2sim diff traces/hash.n2t\n          \
    n2sim diff traces/hash.n2t --from guide --to my-machine.toml --limit 1M\n          \
    n2sim diff traces/*.n2t --limit 1M --markdown -o profile-diff.md\n          \
    n2sim diff before.json after.json --html -o diff.html\n          \
    n2sim diff --runs traces/hash.n2t traces/btree.n2t --min-change 5\n          \
    n2sim diff base.json new.json --fail-on 'cycles>+2%' --fail-on 'l1d_cache_refill>+5%' --markdown\n          \
    n2sim diff --core cortex-a53,neoverse-n2 traces/hash.n2t"
)]
pub(crate) struct DiffArgs {
    /// The traces to replay; or two reports
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// The first configuration: guide, silicon or a file (default: guide)
    #[arg(long, value_name = "CONFIG")]
    pub(crate) from: Option<String>,
    /// The second configuration: guide, silicon or a file (default: silicon; for two traces the
    /// first)
    #[arg(long, value_name = "CONFIG")]
    pub(crate) to: Option<String>,
    /// Compare one trace on two cores
    ///
    /// Prints cycles, a stack of cycles per instruction, and the events that both cores have. Each
    /// core has its default configuration.
    #[arg(long, value_enum, value_name = "CORE,CORE", value_delimiter = ',')]
    pub(super) core: Vec<CoreName>,
    /// Compare all that a report shows of two runs
    ///
    /// The runs are of two traces, or of one under two configurations. Two reports of `n2sim report
    /// --json` are always compared so.
    #[arg(long, help_heading = "Two runs")]
    pub(crate) runs: bool,
    /// Print the comparison of two runs as a page
    #[arg(long, conflicts_with_all = ["json", "markdown", "field_separator"], help_heading = "Two runs")]
    pub(crate) html: bool,
    /// Omit changes below PERCENT
    #[arg(long, alias = "least", value_name = "PERCENT", value_parser = percent, default_value = "0")]
    #[arg(allow_negative_numbers = true, help_heading = "Two runs")]
    pub(crate) min_change: f64,
    /// Exit with status 1 if a number changes too much: 'l1d_cache_refill>+5%' (repeat for more)
    ///
    /// NAME>+N% and NAME<-N% limit the change in percent, NAME>+N the change, NAME>N and NAME<N the
    /// number of the second run. NAME is an event, a metric, cycles, instructions, ipc or seconds.
    /// Broken limits name the functions and lines that changed.
    #[arg(long, value_name = "LIMIT", help_heading = "Two runs")]
    pub(crate) fail_on: Vec<Limit>,
    /// Write the results of --fail-on to FILE as JUnit XML
    #[arg(long, value_name = "FILE", requires = "fail_on", help_heading = "Two runs")]
    pub(crate) junit: Option<PathBuf>,
    /// Write broken limits of --fail-on to FILE as SARIF
    #[arg(long, value_name = "FILE", requires = "fail_on", help_heading = "Two runs")]
    pub(crate) sarif: Option<PathBuf>,
    /// Change one value of both configurations (repeat for more)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print fields separated by SEP
    ///
    /// The fields are trace, event, from, to, change in percent, keys, how found. For two runs, a
    /// line with their names comes first, then one for each number.
    #[arg(short = 'x', long, value_name = "SEP", conflicts_with_all = ["json", "markdown"])]
    #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) field_separator: Option<String>,
    /// Print one JSON object per trace
    #[arg(short, long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print one table over all traces, in Markdown; of two runs, a summary
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) part: PartArgs,
}

/// Compares and prints.
pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<Verdict> {
    if !args.core.is_empty() {
        return two_cores::run(args);
    }
    let is_limited = !args.fail_on.is_empty();
    if args.runs
        || args.html
        || is_limited
        || args.traces.iter().any(|path| two_runs::is_report(path))
    {
        return two_runs::run(args);
    }
    if args.min_change > 0.0 {
        anyhow::bail!("--min-change is for the comparison of two runs: add --runs");
    }
    let name_of =
        |name: &Option<String>, default: &str| name.as_deref().unwrap_or(default).to_owned();
    let (first, second) = (name_of(&args.from, "guide"), name_of(&args.to, "silicon"));
    let (from, to) = (document(&first, &args.set)?, document(&second, &args.set)?);
    let comparison = Comparison::new(&from, &to)?;
    if comparison.causes().is_empty() {
        anyhow::bail!(
            "{first} and {second} give every key the same value: there is nothing to compare"
        );
    }
    let options = args.part.run_options();
    let mut out = Output::create(args.output.as_deref())?;
    let bar = progress::bar((args.traces.len() * comparison.runs()) as u64);
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos} of {len} runs at most  {elapsed}")?);
    let mut diffs = Vec::new();
    for trace in &args.traces {
        let diff = comparison.run(trace, &options, &mut || bar.inc(1))?;
        let names =
            Names { trace: trace.shown().to_string(), from: first.clone(), to: second.clone() };
        diffs.push((names, diff));
    }
    bar.finish_and_clear();
    if args.markdown {
        diff::write_markdown(&mut out, &diffs)?;
    }
    for (names, diff) in diffs.iter().filter(|_| !args.markdown) {
        match &args.field_separator {
            _ if args.json => diff::write_json(&mut out, names, diff)?,
            Some(separator) => {
                diff::write_csv(&mut out, names, diff, &separator.replace("\\t", "\t"))?;
            }
            None => diff::write_text(&mut out, names, diff)?,
        }
    }
    out.finish()?;
    Ok(Verdict::Good)
}

/// Reads a change of a count in percent.
fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse() {
        Ok(percent) if (0.0..=1e9).contains(&percent) => Ok(percent),
        _ => Err(String::from("give a number of percent, such as 5")),
    }
}

/// Returns the configuration of a profile's name or of a file.
pub(crate) fn document(name: &str, overrides: &[String]) -> anyhow::Result<Document> {
    let source = match name {
        "guide" => ConfigSource { profile: Profile::Guide, overrides, ..ConfigSource::default() },
        "silicon" => {
            ConfigSource { profile: Profile::Silicon, overrides, ..ConfigSource::default() }
        }
        file => ConfigSource { file: Some(Path::new(file)), overrides, ..ConfigSource::default() },
    };
    Ok(source.document()?)
}
