//! `n2sim diff`: replays traces under two configurations and says which key moved which event.

use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use sim_core::config::Document;
use sim_machine::diff::Comparison;
use sim_machine::{ConfigSource, Profile, RunOptions};
use sim_report::diff::{self, Names};

use crate::Verdict;
use crate::args::{instructions, instructions_from_one};
use crate::output::Output;

/// Compare two configurations on traces: every event that differs, and because of which key
#[derive(Debug, Args)]
#[command(
    after_help = "Each differing key is tried alone on top of the first configuration; the keys \
    that move an event are\nits causes. What no key moves alone is explained by leaving keys out of the \
    second configuration.\n\n\
    Examples: n2sim diff traces/hash.n2t\n          \
    n2sim diff traces/hash.n2t --from guide --to my-machine.toml --limit 1M\n          \
    n2sim diff traces/*.n2t --limit 1M --markdown -o profile-diff.md"
)]
pub(crate) struct DiffArgs {
    /// The traces to replay
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// The first configuration: guide, silicon or a file
    #[arg(long, value_name = "CONFIG", default_value = "guide")]
    from: String,
    /// The second configuration: guide, silicon or a file
    #[arg(long, value_name = "CONFIG", default_value = "silicon")]
    to: String,
    /// Change one value of both configurations (repeat for more)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print fields separated by SEP: trace, event, from, to, change in percent, keys, how found
    #[arg(short = 'x', long, value_name = "SEP", conflicts_with_all = ["json", "markdown"])]
    #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
    field_separator: Option<String>,
    /// Print one JSON object per trace
    #[arg(short, long, conflicts_with = "markdown")]
    json: bool,
    /// Print one table over all traces, in Markdown
    #[arg(long)]
    markdown: bool,
    /// Write to FILE instead of standard output, when everything is done
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Instructions of each thread that only warm the machine (k, M and G are understood)
    #[arg(long, value_name = "N", value_parser = instructions, default_value = "0")]
    warmup: u64,
    /// Instructions of each thread to count, after the warm-up
    #[arg(long, value_name = "N", value_parser = instructions_from_one)]
    limit: Option<u64>,
}

/// Compares and prints.
pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<Verdict> {
    let (from, to) = (document(&args.from, &args.set)?, document(&args.to, &args.set)?);
    let comparison = Comparison::new(&from, &to)?;
    if comparison.causes().is_empty() {
        let (from, to) = (&args.from, &args.to);
        anyhow::bail!("{from} and {to} give every key the same value: there is nothing to compare");
    }
    let options = RunOptions { warmup: args.warmup, limit: args.limit, roi: None };
    let mut out = Output::create(args.output.as_deref())?;
    let bar = ProgressBar::new((args.traces.len() * comparison.runs()) as u64);
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos} of {len} runs at most  {elapsed}")?);
    let mut diffs = Vec::new();
    for trace in &args.traces {
        let diff = comparison.run(trace, &options, &mut || bar.inc(1))?;
        let names = Names {
            trace: trace.display().to_string(),
            from: args.from.clone(),
            to: args.to.clone(),
        };
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

/// A profile by its name, or a file.
fn document(name: &str, overrides: &[String]) -> anyhow::Result<Document> {
    let source = match name {
        "guide" => ConfigSource { profile: Profile::Guide, file: None, overrides },
        "silicon" => ConfigSource { profile: Profile::Silicon, file: None, overrides },
        file => ConfigSource { file: Some(Path::new(file)), overrides, ..ConfigSource::default() },
    };
    Ok(source.document()?)
}
