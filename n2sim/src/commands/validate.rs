//! `n2sim validate`: compares metric formulas with the ground-truth values of replayed traces.

mod a53;
mod mesh;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use indicatif::ProgressStyle;
use rayon::prelude::*;
use sim_core::config::Document;
use sim_lab::counterfactual::{Ideal, Slots, witness};
use sim_lab::evidence::examine_with_outcome;
use sim_machine::RunOptions;
use sim_metrics::formula::{Catalog, MetricFormula, Scale};
use sim_metrics::metric_file::MetricFile;
use sim_metrics::validator::{
    Evidence, MeshEvidence, MeshValidator, Reason, Tolerance, Validator, Verdict as Judgement,
    common_factor, tiling,
};
use sim_metrics::{Truth, a53_truth, builtin};
use sim_pmu::perf::{Group, PerfEvent, PerfSession, PerfSetup};
use sim_report::validate::{self, Judged, Judgment, RunInfo};

use crate::counting::ideal_run;
use crate::files::command_line;
use crate::files::metric_files;
use crate::files::open_trace;
use crate::files::output::Output;
use crate::host::{call, progress};
use crate::shared_args::{CoreName, CountersArgs, MachineArgs, RegionArgs, time_slice};
use crate::verdict::Verdict;
use sim_core::Shown;

/// Name of the formula of the command line.
const OWN: &str = "formula";

/// Compare metric formulas with ground-truth values: error, reason, worst case
#[derive(Debug, Args)]
#[command(after_help = "Examples: n2sim validate traces/hash.n2t\n          \
    n2sim validate traces/*.n2t --metrics my-metrics.toml --limit 1M --tolerance 5\n          \
    n2sim validate traces/sort.n2t --formula 'L1D_CACHE_REFILL / L1D_CACHE' --claims l1d.miss_ratio\n          \
    n2sim validate --core cortex-a53 traces/hash.n2t -M Stalls\n          \
    n2sim validate traces/parallel/queue.n2t -M Mesh\n\n\
    Exit code 1 if a tolerance is stated and a metric misses it or is made wrong.")]
pub(crate) struct ValidateArgs {
    /// The traces to replay
    #[arg(required_unless_present = "list_truths", value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Metric files, or directories of them (default: the metrics of n2sim for cores)
    ///
    /// The formats are JSON of Linux perf or of Arm, presets of PAPI, groups of likwid, and TOML.
    #[arg(long, value_name = "FILE")]
    metrics: Vec<PathBuf>,
    /// Only these metrics or groups
    #[arg(short = 'M', value_name = "NAME,...", value_delimiter = ',')]
    only: Vec<String>,
    /// A formula to validate, in perf's syntax
    #[arg(long, value_name = "EXPRESSION", conflicts_with_all = ["metrics", "only"])]
    formula: Option<String>,
    /// The ground-truth value that the formula claims to be (see --list-truths)
    #[arg(long, value_name = "TRUTH", requires = "formula")]
    claims: Option<String>,
    /// Unit of the formula's value, as perf's ScaleUnit: 100percent, 1MPKI
    #[arg(long, value_name = "SCALE", requires = "formula")]
    scale: Option<String>,
    /// Print the ground-truth values that a metric can claim
    #[arg(long)]
    list_truths: bool,
    /// Percent by which a value may be off (default: 5)
    ///
    /// If the option is given, the exit code is 1 if a value is off by more.
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    tolerance: Option<f64>,
    /// Percentage points by which a share may be off (default: 0.5)
    ///
    /// If the option is given, the exit code is 1 if a share is off by more.
    #[arg(long, value_name = "POINTS", value_parser = percent, allow_negative_numbers = true)]
    points: Option<f64>,
    /// Source of ground-truth slots: the slot ledger, or cycles saved in counterfactual runs
    #[arg(long, value_enum, default_value_t, value_name = "SOURCE")]
    truth: Source,
    /// Revision to validate on (default: the file's, or the configuration's)
    #[arg(long, value_name = "REVISION", value_parser = patch)]
    revision: Option<u8>,
    /// Modeled time between two counter rotations
    ///
    /// The default of perf, 4ms, never ends in a short trace.
    #[arg(long, alias = "tick", value_name = "TIME", value_parser = time_slice, default_value = "50us")]
    mux_interval: u64,
    #[command(flatten)]
    counters: CountersArgs,
    /// Run with each of these values of a key in turn: KEY=A,B,C
    #[arg(long, value_name = "KEY=VALUES")]
    sweep: Option<String>,
    /// Print one row for each run instead of one for each metric
    #[arg(long)]
    runs: bool,
    /// Print fields separated by SEP, one line for each metric and run
    #[arg(short = 'x', long, value_name = "SEP", conflicts_with_all = ["json", "markdown"])]
    #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
    field_separator: Option<String>,
    /// Print one JSON object for each metric and run
    #[arg(short, long, conflicts_with = "markdown")]
    json: bool,
    /// Print a Markdown table
    #[arg(long)]
    markdown: bool,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the errors of all runs as a figure (SVG)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    region: RegionArgs,
    /// Core on which the traces run
    #[arg(long, value_enum, value_name = "CORE", default_value_t)]
    core: CoreName,
    /// Number of parallel runs (default: one for each CPU)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Source of the ground-truth values of slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Source {
    /// The ledger of lost slots
    #[default]
    Ledger,
    /// The slots saved by runs in which the thing costs nothing (docs/counterfactual.md)
    Counterfactual,
}

/// Reads a percentage that is at least 0.
fn percent(text: &str) -> Result<f64, String> {
    let digits = text.trim_end_matches('%').trim();
    match digits.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err(String::from("give a number of percent from 0 on, such as 5 or 0.5")),
    }
}

fn patch(text: &str) -> Result<u8, String> {
    match text {
        "r0p0" => Ok(0),
        "r0p1" => Ok(1),
        "r0p2" => Ok(2),
        "r0p3" => Ok(3),
        _ => Err(String::from("give r0p0, r0p1, r0p2 or r0p3")),
    }
}

/// Runs the traces, validates the metrics and prints.
pub(crate) fn run(args: &ValidateArgs) -> anyhow::Result<Verdict> {
    args.core.require_timing_model()?;
    if args.list_truths {
        refuse_beside_list(args)?;
        return list_truths(args.core).map(|()| Verdict::Good);
    }
    if args.core == CoreName::CortexA53 {
        return a53::run(args);
    }
    let file = read_metrics(args)?;
    let variants = variants(args)?;
    let mut out = Output::create(args.output.as_deref())?;
    let plot = args.plot.as_deref().map(|path| Output::create(Some(path))).transpose()?;
    let catalog: Catalog = file.metrics.iter().cloned().collect();
    let revision = args.revision.or(file.core.patch);
    let tolerance = Tolerance {
        relative: args.tolerance.unwrap_or(5.0) / 100.0,
        points: args.points.unwrap_or(0.5),
    };
    let judges = judges(args, &file.metrics, &catalog, tolerance)?;
    let runs = runs(args, revision, &variants, &judges)?;
    let counters = args.counters.counters;
    mesh::note_alone(&judges.of_mesh, &runs)?;
    let judgment = Judgment { counters, ..judge(&judges, runs) };
    write(&mut out, args, &judgment)?;
    note(&file, &judgment.metrics, tolerance)?;
    note_unclaimed(args, judges.are_unclaimed())?;
    end(args, out, plot, &judgment)
}

/// Validators of the requested metrics.
struct Judges<'a> {
    /// Validators over events of a core.
    of_cores: Vec<Validator<'a>>,
    /// Validators with counts of the mesh.
    of_mesh: Vec<MeshValidator<'a>>,
}

impl Judges<'_> {
    /// Returns whether no metric claims anything.
    fn are_unclaimed(&self) -> bool {
        self.of_cores.iter().all(|judge| judge.truth().is_none())
            && self.of_mesh.iter().all(|judge| judge.truth().is_none())
    }
}

/// Notes that a formula of the command line was compared with nothing.
fn note_unclaimed(args: &ValidateArgs, is_unclaimed: bool) -> io::Result<()> {
    if args.formula.is_some() && is_unclaimed {
        writeln!(
            call::stderr(),
            "n2sim: note: the formula claims nothing, so it is compared with nothing: give --claims TRUTH \
             (n2sim validate --list-truths{})",
            if args.core == CoreName::CortexA53 { " --core cortex-a53" } else { "" }
        )?;
    }
    Ok(())
}

/// Completes the files. Returns `Refuted` if a tolerance is stated and missed.
fn end(
    args: &ValidateArgs,
    out: Output,
    plot: Option<Output>,
    judgment: &Judgment,
) -> anyhow::Result<Verdict> {
    out.finish()?;
    if let Some(mut plot) = plot {
        plot.write_all(sim_report::error_figure::errors(&judgment.metrics).as_bytes())?;
        plot.finish()?;
    }
    let is_stated = args.tolerance.is_some() || args.points.is_some();
    // A metric without a verdict has not been shown to be within the tolerance.
    let is_open = |one: &Judged| one.missing().is_some() || one.is_doubtful();
    let is_missed = judgment.metrics.iter().any(|one| one.alarms() || is_open(one));
    Ok(if is_stated && is_missed { Verdict::Refuted } else { Verdict::Good })
}
/// Refuses what a list of ground-truth values has no use for.
fn refuse_beside_list(args: &ValidateArgs) -> anyhow::Result<()> {
    let given = [
        (!args.traces.is_empty(), "a trace"),
        (!args.metrics.is_empty(), "--metrics"),
        (!args.only.is_empty(), "-M"),
        (args.formula.is_some(), "--formula"),
        (args.tolerance.is_some() || args.points.is_some(), "--tolerance and --points"),
        (args.sweep.is_some(), "--sweep"),
        (args.json || args.markdown || args.field_separator.is_some(), "-j, -x and --markdown"),
        (args.output.is_some() || args.plot.is_some(), "-o and --plot"),
    ];
    match given.iter().find(|(is_given, _)| *is_given) {
        Some((_, what)) => anyhow::bail!(
            "--list-truths prints the ground-truth values of a core, without {what}: give only \
             --core beside it"
        ),
        None => Ok(()),
    }
}

fn list_truths(core: CoreName) -> anyhow::Result<()> {
    let mut out = call::stdout();
    let listed = |truths: &'static [Truth]| truths.iter().map(|own| (*own, own.definition()));
    let (of_n2, of_mesh) = (|| listed(Truth::ALL), || listed(Truth::OF_MESH));
    let truths: Vec<(Truth, &str)> = match core {
        CoreName::CortexA53 => a53_truth::all().collect(),
        _ => of_n2().chain(of_mesh()).collect(),
    };
    for (truth, meaning) in truths {
        writeln!(out, "{:<28} {:<22} {meaning}", truth.name(), truth.unit().to_string())?;
    }
    Ok(())
}

/// Returns the metrics of the files, those of n2sim, or the formula of the command line.
fn read_metrics(args: &ValidateArgs) -> anyhow::Result<MetricFile> {
    if let Some(text) = &args.formula {
        let mut metric = MetricFormula::new(OWN, text, "--formula");
        if let Err(error) = &metric.formula {
            anyhow::bail!("--formula: {error}");
        }
        metric.claims = args.claims.clone();
        if let Some(scale) = &args.scale {
            metric.scale = Scale::parse(scale).with_context(|| {
                format!("--scale {scale}: give a factor with a unit, such as 100percent or 1MPKI")
            })?;
        }
        return Ok(MetricFile { metrics: vec![metric], ..MetricFile::default() });
    }
    if args.metrics.is_empty() {
        let metrics = match args.core {
            CoreName::CortexA53 => builtin::a53_catalog().metrics().to_vec(),
            // Those of the mesh say little about most traces: -M asks for them.
            _ if args.only.is_empty() => builtin::catalog().metrics().to_vec(),
            _ => metric_files::built_in().metrics().to_vec(),
        };
        return Ok(MetricFile { metrics, ..MetricFile::default() });
    }
    let file = metric_files::read(&args.metrics)?;
    anyhow::ensure!(
        !file.metrics.is_empty(),
        "{}: no metric is defined there",
        list(&args.metrics)
    );
    Ok(file)
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.shown().to_string()).collect::<Vec<_>>().join(", ")
}

/// Returns the overrides of each run of a sweep, or one empty set without a sweep.
fn variants(args: &ValidateArgs) -> anyhow::Result<Vec<Option<String>>> {
    let Some(sweep) = &args.sweep else { return Ok(vec![None]) };
    let parts = sweep.split_once('=').filter(|(key, values)| !key.is_empty() && !values.is_empty());
    let Some((key, values)) = parts else {
        anyhow::bail!(
            "--sweep {sweep}: give a key and its values, such as core.revision=r0p2,r0p3"
        );
    };
    Ok(values.split(',').map(|value| Some(format!("{key}={}", value.trim()))).collect())
}

fn document(machine: &MachineArgs, more: &[String]) -> anyhow::Result<Document> {
    let overrides: Vec<String> =
        machine.overrides().into_iter().chain(more.iter().cloned()).collect();
    Ok(machine.source(&overrides).document()?)
}

/// Returns a validator for each requested metric.
fn judges<'a>(
    args: &ValidateArgs,
    metrics: &'a [MetricFormula],
    catalog: &'a Catalog,
    tolerance: Tolerance,
) -> anyhow::Result<Judges<'a>> {
    let mut judges = Judges { of_cores: Vec::new(), of_mesh: Vec::new() };
    for metric in wanted(args, metrics)? {
        let of_mesh = MeshValidator::new(metric, catalog, tolerance).map_err(anyhow::Error::msg)?;
        match of_mesh {
            Some(judge) => judges.of_mesh.push(judge),
            None => judges
                .of_cores
                .push(Validator::new(metric, catalog, tolerance).map_err(anyhow::Error::msg)?),
        }
    }
    Ok(judges)
}

/// Returns the metrics that -M names, or all.
fn wanted<'a>(
    args: &ValidateArgs,
    metrics: &'a [MetricFormula],
) -> anyhow::Result<Vec<&'a MetricFormula>> {
    let is_named = |metric: &MetricFormula, name: &String| {
        let names = std::iter::once(&metric.name).chain(&metric.groups);
        names.into_iter().any(|own| own.eq_ignore_ascii_case(name))
    };
    for name in &args.only {
        if !metrics.iter().any(|metric| is_named(metric, name)) {
            anyhow::bail!("-M {name}: there is no such metric or group (see n2sim list metrics)");
        }
    }
    let is_wanted = |metric: &&MetricFormula| {
        args.only.is_empty() || args.only.iter().any(|name| is_named(metric, name))
    };
    Ok(metrics.iter().filter(is_wanted).collect())
}

/// A run, with the values of all formulas from six counters that they share.
struct Run {
    evidence: Evidence,
    info: RunInfo,
    on_six: Vec<Option<f64>>,
    /// Evidence for metrics of the mesh, if there are any.
    mesh: Option<MeshEvidence>,
}

/// Replays every trace with every variant, several at the same time.
fn runs(
    args: &ValidateArgs,
    revision: Option<u8>,
    variants: &[Option<String>],
    judges: &Judges<'_>,
) -> anyhow::Result<Vec<Run>> {
    let options = args.region.run_options()?;
    let bar = progress::bar((args.traces.len() * variants.len()) as u64);
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos} of {len} runs  {elapsed}")?);
    let jobs = args.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.context("cannot start the threads of --jobs")?;
    let of_traces =
        args.traces.iter().flat_map(|trace| variants.iter().map(move |variant| (trace, variant)));
    let points: Vec<(&PathBuf, &Option<String>)> = of_traces.collect();
    let present = call::present();
    let run = |(trace, variant): &(&PathBuf, &Option<String>)| {
        let revision = revision.map(|patch| format!("core.revision=r0p{patch}"));
        let more: Vec<String> = revision.into_iter().chain((*variant).clone()).collect();
        let document = document(&args.machine, &more)?;
        let name = match variant {
            Some(variant) => format!("{} {variant}", trace.shown()),
            None => trace.shown().to_string(),
        };
        let run = present.during(|| run_one(args, trace, &options, &document, name, judges));
        bar.inc(1);
        run
    };
    // All runs end first, so that of several errors the first in order is reported.
    let runs: Vec<anyhow::Result<Run>> = pool.install(|| points.par_iter().map(run).collect());
    bar.finish_and_clear();
    runs.into_iter().collect()
}

fn run_one(
    args: &ValidateArgs,
    trace: &Path,
    options: &RunOptions,
    document: &Document,
    name: String,
    judges: &Judges<'_>,
) -> anyhow::Result<Run> {
    let session = open_trace::on(trace, document)?;
    let session = if judges.of_mesh.is_empty() { session } else { session.with_mesh() };
    let config = session.config().clone();
    let header = session.header();
    let info = RunInfo {
        name: name.clone(),
        trace_hash: header.trace_hash,
        config: header.config.clone(),
        config_hash: header.config_hash,
    };
    let patch = config.core.revision.patch();
    let of_cores = &judges.of_cores;
    let asked: Vec<Group> = of_cores.iter().map(|judge| group_of(judge, patch)).collect();
    let cycles = u128::from(args.mux_interval) * u128::from(config.core.clock_hz) / 1_000_000_000;
    let cycles = u64::try_from(cycles).unwrap_or(u64::MAX);
    let mut counters = PerfSession::new(PerfSetup::new(&asked, args.counters.counters), cycles);
    let (evidence, outcome) = examine_with_outcome(&session, options, &mut |_| {}, &mut counters)?;
    let mut evidence = Evidence { trace: name, ..evidence };
    if args.truth == Source::Counterfactual {
        let run = |ideals: &[Ideal]| -> anyhow::Result<Slots> {
            Ok(Slots::of(&ideal_run::run(trace, document, options, ideals)?))
        };
        witness(&mut evidence.truths, run)?;
    }
    let readings = counters.readings();
    let mut estimates = readings.iter().map(|reading| reading.scaled().map(|count| count as f64));
    let on_six = of_cores.iter().zip(&asked).map(|(judge, group)| {
        let counts: Vec<Option<f64>> = estimates.by_ref().take(group.events.len()).collect();
        value_of(judge, group, &counts, &evidence, patch)
    });
    let on_six = on_six.collect();
    let has_mesh = !judges.of_mesh.is_empty();
    let mesh = has_mesh.then(|| mesh::evidence(&judges.of_mesh, &evidence, &outcome, &config));
    Ok(Run { evidence, info, on_six, mesh })
}

/// Returns the events of a metric as perf opens them: together if they fit, otherwise each on its
/// own.
fn group_of(judge: &Validator<'_>, patch: u8) -> Group {
    let machine = sim_metrics::formula::Machine::neoverse_n2(patch, 1);
    let mut events: Vec<PerfEvent> = Vec::new();
    for name in judge.formula().map(|formula| formula.needed(&machine)).unwrap_or_default() {
        let event = name.event().map(PerfEvent::new);
        events.extend(event.filter(|event| !events.contains(event)));
    }
    Group { events, weak: true, ..Group::default() }
}

/// Returns the value of a formula for its readings, or `None` if one of them was never on a
/// counter.
fn value_of(
    judge: &Validator<'_>,
    group: &Group,
    counts: &[Option<f64>],
    run: &Evidence,
    patch: u8,
) -> Option<f64> {
    let formula = judge.formula().ok()?;
    let place = |event| group.events.iter().position(|own| own.event == event);
    let table = |event| place(event).and_then(|at| counts[at]).unwrap_or(f64::NAN);
    Some(run.evaluate(formula, patch, table).value).filter(|value| value.is_finite())
}

fn judge(judges: &Judges<'_>, runs: Vec<Run>) -> Judgment {
    let one = |(number, judge): (usize, &Validator<'_>)| {
        let verdict = |run: &Run| judge.verdict(&run.evidence, run.on_six[number]);
        let mut verdicts: Vec<Judgement> = runs.iter().map(verdict).collect();
        let several: Vec<&Judgement> = verdicts.iter().collect();
        let common = (several.len() > 1).then(|| common_factor(&several)).flatten();
        if common.is_some() {
            verdicts.iter_mut().for_each(Judgement::explained);
        }
        judged(judge.metric(), judge.formula().err(), verdicts, common)
    };
    let of_cores = judges.of_cores.iter().enumerate().map(one);
    let metrics = of_cores.chain(mesh::judge(&judges.of_mesh, &runs)).collect();
    let runs = runs.into_iter().map(|run| run.info).collect();
    judgment(metrics, runs)
}

/// Returns a metric with its verdicts.
fn judged(
    metric: &MetricFormula,
    unreadable: Option<&str>,
    verdicts: Vec<Judgement>,
    common: Option<Reason>,
) -> Judged {
    let formula = metric.formula.as_ref();
    Judged {
        metric: metric.name.clone(),
        formula: formula.map_or_else(|_| String::new(), |formula| formula.text().to_owned()),
        scale: metric.scale.text(),
        source: metric.source.clone(),
        unreadable: unreadable.map(str::to_owned),
        common,
        verdicts,
    }
}

fn judgment(metrics: Vec<Judged>, runs: Vec<RunInfo>) -> Judgment {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let command = command(command_line::words());
    Judgment { metrics, runs, command, version, ..Judgment::default() }
}

/// Returns the command line, quoted for a shell.
fn command(words: impl Iterator<Item = String>) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:+".contains(c);
    let quoted = words.skip(1).map(|word| match word.chars().all(is_plain) && !word.is_empty() {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    });
    std::iter::once(String::from("n2sim")).chain(quoted).collect::<Vec<_>>().join(" ")
}

fn write(out: &mut Output, args: &ValidateArgs, judged: &Judgment) -> io::Result<()> {
    let is_one_run = judged.metrics.iter().all(|one| one.verdicts.len() <= 1);
    match &args.field_separator {
        _ if args.json => validate::write_json(out, judged),
        _ if args.markdown => validate::write_markdown(out, judged),
        Some(separator) => validate::write_csv(out, judged, &separator.replace("\\t", "\t")),
        None if args.runs || is_one_run => validate::write_runs(out, judged),
        None => validate::write_summary(out, judged),
    }
}

/// Writes the faults that concern no single metric: unreadable parts of the files, and parts that
/// do not add up to a whole.
fn note(file: &MetricFile, judged: &[Judged], tolerance: Tolerance) -> io::Result<()> {
    let mut stderr = call::stderr();
    for fault in &file.faults {
        writeln!(stderr, "n2sim: {fault}")?;
    }
    let runs = judged.first().map_or(0, |one| one.verdicts.len());
    for run in 0..runs {
        let verdicts: Vec<&Judgement> = judged.iter().map(|one| &one.verdicts[run]).collect();
        if let Some(reason) = tiling(&verdicts, tolerance) {
            writeln!(stderr, "n2sim: {}: top-down level 1: {reason}", verdicts[0].trace)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_can_be_pasted_into_a_shell() {
        let words = ["n2sim", "validate", "a.n2t", "--formula", "2 * CPU_CYCLES", "it's"];
        assert_eq!(
            command(words.map(str::to_owned).into_iter()),
            "n2sim validate a.n2t --formula '2 * CPU_CYCLES' 'it'\\''s'"
        );
    }
}
