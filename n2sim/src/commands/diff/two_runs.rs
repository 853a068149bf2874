//! `n2sim diff` of two runs: reports from files, or of traces that are replayed now.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use sim_files::File;
use sim_report::RunReport;
use sim_report::run_diff::{self, NamedRun, RunDiff, forms};
use sim_report::run_report::{FORMAT, Observed};

use super::{DiffArgs, document};
use crate::files::output::Output;
use crate::files::{open_trace, symbols};
use crate::host::progress;
use crate::verdict::Verdict;
use sim_core::Shown;

/// Returns whether a file is a report of `n2sim report --json`: no trace begins with a brace.
pub(crate) fn is_report(path: &Path) -> bool {
    let mut start = [0; 64];
    let read = File::open(path).and_then(|mut file| file.read(&mut start)).unwrap_or(0);
    start[..read].trim_ascii_start().starts_with(b"{")
}

/// Compares two runs, and prints.
pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<Verdict> {
    check(args)?;
    let (first, second) = match &args.traces[..] {
        [one] => (one, one),
        [first, second] => (first, second),
        more => anyhow::bail!(
            "{} files were given: two runs are compared, so give two reports, two traces, or one trace",
            more.len()
        ),
    };
    // One trace is compared under two configurations, two traces under the same.
    let from = args.from.as_deref().unwrap_or("guide");
    let default = if args.traces.len() == 1 { "silicon" } else { from };
    let to = args.to.as_deref().unwrap_or(default);
    let file =
        |path: &Option<PathBuf>| path.as_deref().map(|path| Output::create(Some(path))).transpose();
    let mut out = Output::create(args.output.as_deref())?;
    let (junit, sarif) = (file(&args.junit)?, file(&args.sarif)?);
    let (a, b) = (report(args, first, from)?, report(args, second, to)?);
    if a.core_name() != b.core_name() {
        anyhow::bail!(
            "the reports are of a {} and of a {}: compare one trace on two cores with --core A,B",
            a.core_name(),
            b.core_name()
        );
    }
    let name = |path: &Path, config: &str| match is_report(path) {
        true => path.shown().to_string(),
        false => format!("{} ({config})", path.shown()),
    };
    let names = (name(first, from), name(second, to));
    let from = NamedRun { name: &names.0, report: &a };
    let to = NamedRun { name: &names.1, report: &b };
    let mut diff = RunDiff::new(from, to, args.min_change);
    let limits = args.fail_on.iter().map(|limit| limit.check(&a, &b));
    diff.limits = limits.collect::<Result<_, _>>().map_err(|error| anyhow!("--fail-on {error}"))?;
    write(args, &mut out, &diff)?;
    let mut written = vec![out];
    if let Some(mut file) = junit {
        file.write_all(forms::junit(&diff.limits).as_bytes())?;
        written.push(file);
    }
    if let Some(mut file) = sarif {
        let version = env!("CARGO_PKG_VERSION");
        serde_json::to_writer_pretty(&mut file, &forms::sarif(&diff.limits, version))?;
        writeln!(file)?;
        written.push(file);
    }
    Output::finish_all(written)?;
    Ok(if diff.limits.iter().all(|limit| limit.holds) { Verdict::Good } else { Verdict::Refuted })
}

/// Writes the comparison in the requested form.
fn write(args: &DiffArgs, out: &mut Output, diff: &RunDiff) -> anyhow::Result<()> {
    if args.json {
        serde_json::to_writer_pretty(&mut *out, diff)?;
        writeln!(out)?;
    } else if args.html {
        out.write_all(run_diff::html(diff).as_bytes())?;
    } else if let Some(separator) = &args.field_separator {
        run_diff::write_csv(out, diff, &separator.replace("\\t", "\t"))?;
    } else if args.markdown {
        forms::write_summary(out, diff, &diff.limits)?;
    } else {
        run_diff::write_text(out, diff)?;
        if !diff.limits.is_empty() {
            forms::write_limits(out, &diff.limits)?;
        }
    }
    Ok(())
}

/// Refuses options that do not apply to two runs.
fn check(args: &DiffArgs) -> anyhow::Result<()> {
    let reports = args.traces.iter().filter(|path| is_report(path)).count();
    let is_configured = args.from.is_some() || args.to.is_some() || !args.set.is_empty();
    let is_cut = args.part.is_given();
    if reports == args.traces.len() && (is_configured || is_cut) {
        anyhow::bail!(
            "reports are of runs that are over: --from, --to, --set, --warmup and --limit are for traces"
        );
    }
    if reports == 1 && args.traces.len() == 1 {
        anyhow::bail!("{}: give a second report to compare it with", args.traces[0].shown());
    }
    Ok(())
}

/// Returns the report of a file or of a replayed trace.
fn report(args: &DiffArgs, path: &Path, config: &str) -> anyhow::Result<RunReport> {
    let place = path.shown();
    if is_report(path) {
        let text = sim_files::text(path).with_context(|| format!("cannot read {place}"))?;
        let mut report: RunReport = serde_json::from_str(&text)
            .with_context(|| format!("{place}: no report of `n2sim report --json`"))?;
        report.upgrade();
        if report.format != FORMAT {
            anyhow::bail!("{place}: its form is '{}', this n2sim reads {FORMAT}", report.format);
        }
        return Ok(report);
    }
    let session = open_trace::on(path, &document(config, &args.set)?)?;
    let symbols = symbols::load(session.trace(), &[])?;
    let options = args.part.run_options();
    let (observed, _) = progress::with_progress(&session, &options, |progress| {
        // Readings of six counters are not compared.
        Ok(Observed::run(&session, &options, None, progress)?)
    })?;
    Ok(RunReport::new(&observed, &symbols))
}
