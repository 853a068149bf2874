//! `n2sim lint`: finds faults of metric files and formulas without a run.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde_json::json;
use sim_machine::Revision;
use sim_metrics::builtin;
use sim_metrics::formula::{Catalog, Finding, Kind, Linked, Machine, MetricFormula, Severity};
use sim_metrics::metric_file::{MetricFile, review};

use crate::counting::mesh_names;
use crate::files::metric_files;
use crate::host::call;
use crate::shared_args::{CoreName, CountersArgs, RevisionName};
use crate::verdict::Verdict;

/// Find faults of metric formulas without a run
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim lint my-metrics.toml --revision r0p3\n          \
    n2sim lint linux/tools/perf/pmu-events/arch/arm64/arm/neoverse-n2-v2\n          \
    n2sim lint neoverse-v2.json --core neoverse-v2\n          \
    n2sim lint --core cortex-a53 --formula 'LD_DEP_STALL / CPU_CYCLES' --claims share.idle.load_miss\n          \
    n2sim lint --formula '100 * OP_RETIRED / CPU_CYCLES' --unit 'percent of slots'\n          \
    n2sim lint --formula 'BR_MIS_PRED_RETIRED / INST_RETIRED' --claims branch.miss_ratio")]
pub(crate) struct LintArgs {
    /// Metric files, or directories of them
    ///
    /// The formats are JSON of Linux perf or of Arm's telemetry, presets of PAPI, groups of likwid,
    /// and TOML.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// A formula to check, beside or instead of files
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) formula: Vec<String>,
    /// Unit of the value of --formula
    #[arg(long, value_name = "UNIT", requires = "formula", default_value = "")]
    pub(crate) unit: String,
    /// The ground-truth value that --formula claims to be (see n2sim validate --list-truths)
    #[arg(long, value_name = "TRUTH", requires = "formula")]
    pub(crate) claims: Option<String>,
    /// Core that counts
    ///
    /// For a Neoverse V2, V1 or N1, events and slots per cycle are checked, not claims.
    #[arg(long, value_enum, value_name = "CORE", default_value_t)]
    pub(crate) core: CoreName,
    /// Revision of the core that counts
    ///
    /// The revisions r0p0 to r0p2 count one stalled slot too many per cycle.
    #[arg(long, value_enum)]
    pub(crate) revision: Option<RevisionName>,
    #[command(flatten)]
    pub(crate) counters: CountersArgs,
    /// Print errors and warnings, but no notes
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print one JSON object per finding
    #[arg(short, long)]
    pub(crate) json: bool,
}

/// Checks and prints. Returns `Refuted` if there is an error or a warning.
pub(crate) fn run(args: &LintArgs) -> anyhow::Result<Verdict> {
    let machine = machine(args)?;
    let file = gather(args)?;
    let mut catalog = built_in(args.core);
    catalog.extend(file.metrics.iter().cloned());
    let least = if args.quiet { Severity::Warning } else { Severity::Note };
    let counters = usize::from(args.counters.counters.get());
    let mut findings = review(&file, &catalog, machine.as_ref(), counters);
    if args.core == CoreName::default() {
        findings.extend(names_of_mesh(&file, &catalog));
    }
    findings.retain(|finding| finding.severity >= least);
    let mut out = io::BufWriter::new(call::stdout());
    for finding in &findings {
        if args.json {
            write_json(&mut out, finding)?;
        } else {
            write_text(&mut out, finding)?;
        }
    }
    if !args.json {
        write_summary(&mut out, &file, &findings)?;
    }
    out.flush()?;
    let is_wrong = findings.iter().any(|finding| finding.severity > Severity::Note);
    Ok(if is_wrong { Verdict::Refuted } else { Verdict::Good })
}

/// Returns the machine that counts; `None` for a Neoverse N2 of an unknown revision.
fn machine(args: &LintArgs) -> anyhow::Result<Option<Machine>> {
    let name = args.core.name();
    if args.core == CoreName::CortexA53 {
        anyhow::ensure!(
            args.revision.is_none(),
            "--revision works with --core neoverse-n2 only, not with {name}"
        );
        return Ok(Some(Machine::cortex_a53(1)));
    }
    let Some(core) = args.core.related() else {
        anyhow::bail!(
            "--core {name}: n2sim checks formulas for {}",
            CoreName::names(|core| core.related().is_some() || core == CoreName::CortexA53)
        );
    };
    if core.is_n2() {
        let patch = args.revision.map(|revision| Revision::from(revision).patch());
        return Ok(patch.map(|patch| Machine::neoverse_n2(patch, 1)));
    }
    if args.revision.is_some() || args.claims.is_some() {
        anyhow::bail!("--revision and --claims work with --core neoverse-n2 only, not with {name}");
    }
    if args.files.is_empty() && args.formula.is_empty() {
        anyhow::bail!(
            "--core {name}: the built-in metrics are those of the Neoverse N2; give files or --formula"
        );
    }
    Ok(Some(Machine::of_core(core)))
}

/// Returns the names of the mesh that its PMU does not have.
fn names_of_mesh(file: &MetricFile, catalog: &Catalog) -> Vec<Finding> {
    let wrong = |metric: &MetricFormula| {
        let formula = metric.formula.as_ref().ok()?;
        let linked = Linked::named(&metric.name, formula, catalog).ok()?;
        let message = mesh_names::wrong(linked.events().iter())?;
        Some(Finding {
            metric: metric.name.clone(),
            source: metric.source.clone(),
            severity: Severity::Error,
            kind: Kind::UnknownEvent,
            message,
        })
    };
    file.metrics.iter().filter_map(wrong).collect()
}

/// Returns the metrics of n2sim for a core.
fn built_in(core: CoreName) -> Catalog {
    match core {
        CoreName::CortexA53 => builtin::a53_catalog(),
        _ => metric_files::built_in(),
    }
}

/// Returns all metrics to check, as one file.
fn gather(args: &LintArgs) -> anyhow::Result<MetricFile> {
    let mut file = match (args.files.is_empty(), args.formula.is_empty()) {
        (true, true) => {
            MetricFile { metrics: built_in(args.core).metrics().to_vec(), ..MetricFile::default() }
        }
        (true, false) => MetricFile::default(),
        (false, _) => metric_files::read(&args.files)?,
    };
    for (number, text) in args.formula.iter().enumerate() {
        let name = match args.formula.len() {
            1 => String::from("formula"),
            _ => format!("formula {}", number + 1),
        };
        let mut metric = MetricFormula::new(&name, text, "--formula");
        metric.scale.unit.clone_from(&args.unit);
        metric.claims.clone_from(&args.claims);
        file.metrics.push(metric);
    }
    Ok(file)
}

fn write_text(out: &mut impl Write, finding: &Finding) -> io::Result<()> {
    let Finding { metric, source, severity, kind, message } = finding;
    let place = match (source.as_str(), metric.as_str()) {
        ("", "") => String::new(),
        (source, "") => format!("{source}: "),
        (source, metric) => format!("{source}: {metric}: "),
    };
    writeln!(out, "{place}{severity} [{}]: {message}", kind.name())
}

fn write_json(out: &mut impl Write, finding: &Finding) -> io::Result<()> {
    let object = json!({
        "metric": finding.metric,
        "source": finding.source,
        "severity": finding.severity.to_string(),
        "kind": finding.kind.name(),
        "message": finding.message,
    });
    writeln!(out, "{object}")
}

fn write_summary(out: &mut impl Write, file: &MetricFile, findings: &[Finding]) -> io::Result<()> {
    let of = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    writeln!(
        out,
        "{} metrics, {} events: {} errors, {} warnings, {} notes",
        file.metrics.len(),
        file.events.len(),
        of(Severity::Error),
        of(Severity::Warning),
        of(Severity::Note)
    )
}
