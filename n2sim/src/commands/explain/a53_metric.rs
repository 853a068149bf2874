//! `n2sim explain METRIC --core cortex-a53`: formula, events and claim of a metric of that core.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use sim_metrics::a53_truth;
use sim_metrics::formula::a53_lint::lint_a53;
use sim_metrics::formula::{Machine, lint};
use sim_pmu::other_core::CORTEX_A53;

use crate::commands::list;
use crate::counting::a53_metrics::A53Metric;
use crate::files::metric_files;

/// Returns whether the name is that of a metric of the core or of the files.
pub(super) fn is_metric(files: &[PathBuf], name: &str) -> anyhow::Result<bool> {
    Ok(metric_files::a53_catalog(files)?.get(name).is_some())
}

/// Writes the metric.
pub(super) fn write(out: &mut impl Write, files: &[PathBuf], name: &str) -> anyhow::Result<()> {
    let catalog = metric_files::a53_catalog(files)?;
    let metric = catalog.get(name).context("the metric was found before")?;
    let linked = A53Metric::new(metric, &catalog)?.linked;
    writeln!(out, "{} (metric of the Cortex-A53: {})", metric.name, metric.groups.join(", "))?;
    if !metric.description.is_empty() {
        writeln!(out, "  {}", metric.description)?;
    }
    let text = metric.formula.as_ref().map_or("", |formula| formula.text());
    writeln!(out, "\nformula: {text}")?;
    if !metric.scale.unit.is_empty() {
        writeln!(out, "unit: {}", metric.scale.text())?;
    }
    let claim = metric.claims.as_deref().and_then(a53_truth::from_name);
    if let Some((truth, meaning)) = claim.and_then(|own| Some((own, a53_truth::meaning(own)?))) {
        writeln!(out, "claims to be {}: {meaning}", truth.name())?;
    }
    writeln!(out, "\nevents:")?;
    for event in linked.a53_events() {
        let row = CORTEX_A53.events.iter().find(|row| row.code == Some(event.code()));
        let (name, title) = match row {
            Some(row) => (list::other_name(&CORTEX_A53, row), row.title),
            None => (event.mnemonic(), ""),
        };
        writeln!(out, "  0x{:02X}  {name}: {title}", event.code())?;
        if let Some(reason) = sim_a53::event::never_raised(event) {
            writeln!(out, "        0 in every run of n2sim: {reason}")?;
        }
    }
    let mut findings = lint(metric, &catalog, Some(&Machine::cortex_a53(1)));
    findings.extend(lint_a53(metric, &catalog));
    for finding in findings {
        writeln!(out, "{} [{}]: {}", finding.severity, finding.kind.name(), finding.message)?;
    }
    Ok(())
}
