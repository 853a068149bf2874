//! `n2sim calibrate`: fits the assumed values of the configuration to the counts of a machine.

mod counted;
mod keys;
mod machine;
mod overlay;
mod report;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args as ClapArgs;
use indicatif::ProgressStyle;
use sim_calibrate::{
    Calibration, Journal, JournalError, Key, Progress, RunError, Runs, Settings, calibrate, digest,
};
use sim_core::Shown;
use sim_core::config::Document;
use sim_machine::MachineConfig;
use sim_metrics::identities::Assumptions;

use crate::files::output::{Output, is_written_in_place};
use crate::host::progress;
use crate::shared_args::MachineArgs;
use crate::verdict::Verdict;
use counted::{CountsFile, Source};
use machine::Machine;
use report::Report;

/// Suffix of the journal after the name of the configuration.
const JOURNAL_ENDING: &str = ".runs";

/// Fit assumed values of the configuration to counts of a machine
///
/// The values with a range in their source are fitted (`n2sim list config`). The report says for
/// each what the counts leave open, which values they do not distinguish, and which counts no value
/// explains. A third of the kernels is not fitted and measures the result.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples: n2sim calibrate result.json --profile silicon --machine cobalt-100 -o mine.toml\n          \
    n2sim calibrate result.json hash.n2t=hash.csv sort.n2t=sort.csv\n          \
    n2sim calibrate result.json --also memory.dram.access-cycles=200..400\n          \
    n2sim stat hash.n2t --config mine.toml\n\n\
    Interrupted, it goes on with the same command. docs/calibrate.md says more."
)]
pub(crate) struct CalibrateArgs {
    /// Counts: a result of the litmus program with kernels, or TRACE=COUNTS
    ///
    /// COUNTS is the output of `perf stat`, in any form, for the program of the trace.
    #[arg(required = true, value_name = "COUNTS")]
    counts: Vec<CountsFile>,
    /// Configuration to write: differences from neoverse-n2.toml
    #[arg(short, long, value_name = "FILE", default_value = "calibrated.toml")]
    output: PathBuf,
    /// Print the result as JSON
    #[arg(short, long)]
    json: bool,
    /// Fit only this key (repeat for more)
    #[arg(long, value_name = "KEY", help_heading = "Fit")]
    only: Vec<String>,
    /// Fit this key too, or within another range (repeat for more)
    #[arg(long, value_name = "KEY=A..B", help_heading = "Fit")]
    also: Vec<String>,
    /// Fit the kernels too that measure the result otherwise
    #[arg(long, help_heading = "Fit")]
    fit_all: bool,
    /// Percent by which counts may differ by chance, besides their spread
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    #[arg(help_heading = "Fit", allow_negative_numbers = true)]
    noise: f64,
    /// Runs of the model after which no new round of the search begins
    #[arg(long, value_name = "N", default_value = "3000", help_heading = "Fit")]
    runs: usize,
    /// Number of parallel runs [default: one for each CPU of the host]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Discard the runs of an interrupted search and start again
    #[arg(long)]
    restart: bool,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Reads the share of chance.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|percent| (0.1..=50.0).contains(percent));
    number.ok_or_else(|| "give a percentage from 0.1 to 50".to_owned())
}

/// Fits, writes the configuration and prints the report.
pub(crate) fn run(args: &CalibrateArgs) -> anyhow::Result<Verdict> {
    let path = &args.output;
    ensure!(
        !is_written_in_place(path),
        "cannot write {}: the runs are kept beside the configuration; give a file",
        path.shown()
    );
    let mut output = Output::create(Some(path))?;
    let overrides = args.machine.overrides();
    let document = args.machine.source(&overrides).document()?;
    let keys = keys::keys(&document, &args.only, &args.also)?;
    let revision = MachineConfig::from_document(&document)?.core.revision;
    let assumptions = Assumptions {
        has_stall_slot_erratum: Some(revision.has_stall_slot_erratum()),
        tolerance: args.noise / 100.0,
        ..Assumptions::default()
    };
    let read = |file| Source::read(file, &assumptions);
    let sources = args.counts.iter().map(read).collect::<anyhow::Result<Vec<_>>>()?;
    let machine = Machine::new(&document, &keys, &sources)?;
    let points = machine.points(&sources, args.noise / 100.0, args.fit_all)?;
    let mut runs = 0;
    let (found, journal) = search(args, &document, &keys, &machine, &points, &mut runs)?;
    let found = found.with_context(|| "the model has no machine with the values to start from")?;
    let report = Report::new(&sources, &keys, &points, &found, runs);
    output.write_all(overlay::text(&document, &report)?.as_bytes())?;
    output.finish()?;
    let mut out = Output::create(None)?;
    match args.json {
        true => writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?,
        false => out.write_all(report.text().as_bytes())?,
    }
    out.finish()?;
    remove(journal, path)?;
    Ok(if report.is_refuted() { Verdict::Refuted } else { Verdict::Good })
}

/// Removes the runs of a search, which has locked them until now.
fn remove(journal: Option<Journal>, output: &Path) -> anyhow::Result<()> {
    let Some(journal) = journal else { return Ok(()) };
    journal.remove().map_err(|error| match error {
        JournalError::Io(error) => {
            let file = journal_path(output);
            anyhow::Error::new(error).context(format!("cannot remove {}", file.shown()))
        }
        other => journal_error(&journal_path(output), other),
    })
}

/// Searches, with the runs of a search that was ended. Returns also their journal.
fn search(
    args: &CalibrateArgs,
    document: &Document,
    keys: &[Key],
    machine: &Machine<'_>,
    points: &sim_calibrate::Points,
    made: &mut usize,
) -> anyhow::Result<(Option<Calibration>, Option<Journal>)> {
    let path = journal_path(&args.output);
    let search = format!("{:016x}", digest(described(document, keys, points, machine)?.as_bytes()));
    let open = if args.restart { Journal::restart } else { Journal::open };
    let journal = open(&path, &search).map_err(|error| journal_error(&path, error))?;
    let bar = progress::bar(args.runs as u64);
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} runs, {elapsed}{msg}")?);
    let lines = std::cell::RefCell::new(progress::Lines::new(args.runs as u64, "runs"));
    let show = |progress: Progress| {
        bar.set_position(progress.runs as u64);
        lines.borrow_mut().reached(progress.runs as u64);
        if let Some(difference) = progress.difference {
            bar.set_message(format!(", counts differ by {difference:.1} standard deviations"));
        }
    };
    let jobs = args.jobs.map_or(0, usize::from);
    let mut runs = Runs::new(keys, machine, Some(journal), &show, jobs)?;
    let found = calibrate(&mut runs, keys, points, Settings { most_runs: args.runs });
    bar.finish_and_clear();
    *made = runs.made();
    let found = found.map_err(|error| match error {
        RunError::Model(error) => error,
        RunError::Journal(error) => journal_error(&path, error),
    })?;
    Ok((found, runs.into_journal()))
}

/// Returns everything that determines a prediction, but the positions of the keys.
fn described(
    document: &Document,
    keys: &[Key],
    points: &sim_calibrate::Points,
    machine: &Machine<'_>,
) -> anyhow::Result<String> {
    let mut text = format!("{}\n{}\n", env!("CARGO_PKG_VERSION"), document.canonical());
    for key in keys {
        text += &format!("{} {:?}\n", key.name, key.range);
    }
    for point in &points.all {
        text += &format!("{} {}\n", points.kernels[point.kernel], point.event);
    }
    Ok(text + &machine.hashes()?)
}

fn journal_path(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(JOURNAL_ENDING);
    PathBuf::from(name)
}

fn journal_error(path: &Path, error: JournalError) -> anyhow::Error {
    let path = path.shown();
    match error {
        JournalError::Io(error) => {
            anyhow::Error::new(error).context(format!("cannot keep runs in {path}"))
        }
        JournalError::NotAJournal => {
            anyhow::anyhow!(
                "{path}: this is not a file of kept runs; move it away, or give another -o"
            )
        }
        JournalError::InUse => anyhow::anyhow!(
            "{path} is in use: another search writes it; wait for its end, or give another -o"
        ),
        JournalError::OtherSearch => anyhow::anyhow!(
            "{path}: these are runs of another search (other counts, keys or machine); go on with its command, or \
             start again with --restart"
        ),
    }
}
