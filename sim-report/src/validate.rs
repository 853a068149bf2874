//! Results of checking metrics against ground-truth values: text with one row per metric over all
//! runs or one per run, CSV and JSON for programs, and Markdown for bug reports.

mod markdown;
mod numbers;
mod rows;

use std::io::{self, Write};

use sim_metrics::validator::{Finding, Reason, ValidationStatus, Verdict};
use sim_metrics::{Truth, TruthUnit};
use sim_pmu::counter::CounterCount;

use crate::perf_stat::grouped;
pub use markdown::write_markdown;
pub use numbers::{error_of, error_text, value_text};
use numbers::{in_unit, more_columns, multiplexing_error, rounded};
pub use rows::{write_csv, write_json};

/// Verdicts on metrics, with the data that a repetition needs.
#[derive(Clone, Debug, Default)]
pub struct Judgment {
    /// Metrics, in the order of their file.
    pub metrics: Vec<Judged>,
    /// Runs, in the order of the verdicts of each metric.
    pub runs: Vec<RunInfo>,
    /// Command line.
    pub command: String,
    /// Version of n2sim.
    pub version: String,
    /// Event counters that all formulas share in the runs.
    pub counters: CounterCount,
    /// The runs are those of a Cortex-A53, whose formulas have one revision, and whose counts are
    /// exact.
    pub is_of_a53: bool,
}

/// Run that produced verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunInfo {
    /// Name of the run in the verdicts.
    pub name: String,
    /// Hash of the trace's content.
    pub trace_hash: u64,
    /// Name of the configuration, with its changes.
    pub config: String,
    /// Hash of the merged configuration.
    pub config_hash: u64,
}

/// Metric with its verdicts, one for each run.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// Name of the metric.
    pub metric: String,
    /// Formula as written.
    pub formula: String,
    /// Factor and unit; empty without them.
    pub scale: String,
    /// File that contains the metric.
    pub source: String,
    /// Fault of a formula that cannot be read.
    pub unreadable: Option<String>,
    /// Verdicts, in the order of the runs.
    pub verdicts: Vec<Verdict>,
    /// Reason that only all runs together show.
    pub common: Option<Reason>,
}

/// Returns the reasons of one metric with the number of runs that have each, the most frequent
/// first.
fn reasons(judged: &Judged) -> Vec<(&Reason, usize)> {
    let mut reasons: Vec<(&Reason, usize)> = Vec::new();
    for finding in judged.verdicts.iter().flat_map(|verdict| &verdict.findings) {
        match reasons.iter_mut().find(|(own, _)| own.code() == finding.reason.code()) {
            Some((_, runs)) => *runs += 1,
            None => reasons.push((&finding.reason, 1)),
        }
    }
    reasons.extend(judged.common.iter().map(|reason| (reason, judged.verdicts.len())));
    reasons.sort_by_key(|(_, runs)| std::cmp::Reverse(*runs));
    reasons
}

impl Judged {
    /// Returns the run with the largest error, which for shares is in percentage points.
    pub fn worst(&self) -> Option<&Verdict> {
        let distance = |verdict: &&Verdict| error_of(verdict).map_or(-1.0, f64::abs);
        self.verdicts.iter().max_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    /// Returns the number of runs with this status.
    pub fn runs_with(&self, status: ValidationStatus) -> usize {
        self.verdicts.iter().filter(|verdict| verdict.status == status).count()
    }

    /// Returns the data missing for a verdict, if any.
    pub fn missing(&self) -> Option<&str> {
        self.verdicts.iter().find_map(|verdict| verdict.missing.as_deref())
    }

    /// Returns the reason why a verdict is doubtful, if one is, with the number of such runs.
    fn doubt(&self) -> Option<(&'static str, usize)> {
        let runs = self.verdicts.iter().filter(|verdict| verdict.doubt.is_some()).count();
        self.verdicts.iter().find_map(|verdict| verdict.doubt).map(|why| (why, runs))
    }

    /// Returns whether a verdict is doubtful because data is missing from its trace.
    pub fn is_doubtful(&self) -> bool {
        self.doubt().is_some()
    }

    /// Returns a corrected formula, with the words before and after it. A correction that is
    /// farther from the true value in some runs is called nearer, not right.
    fn corrected(&self) -> Option<(String, &str, String)> {
        let is_faulty = |verdict: &&Verdict| verdict.findings.iter().any(|f| f.reason.is_fault());
        let has_any = |verdict: &&Verdict| verdict.corrected.is_some();
        let text = self.verdicts.iter().find_map(|verdict| verdict.corrected.as_deref())?;
        let (offered, faulty) = (
            self.verdicts.iter().filter(has_any).count(),
            self.verdicts.iter().filter(is_faulty).count(),
        );
        let before = match offered < faulty {
            true => format!("nearer in {offered} of {faulty} runs"),
            false => String::from("right is"),
        };
        let worst = self.worst().filter(|worst| worst.corrected_value.is_some());
        let after = worst.map_or_else(String::new, |worst| {
            let value = value_text(worst.truth, worst.corrected_value);
            format!(" ({value} in {})", run_name(&worst.trace))
        });
        Some((before, text, after))
    }

    /// Returns the largest error that multiplexing on six counters adds.
    fn worst_multiplexing(&self) -> Option<f64> {
        let errors = self.verdicts.iter().filter_map(multiplexing_error);
        errors.max_by(|a, b| a.abs().total_cmp(&b.abs()))
    }

    /// Returns whether the metric was off in a run, has no value, or has a faulty formula.
    pub fn alarms(&self) -> bool {
        let is_faulty = self.unreadable.is_some() || self.common.is_some();
        is_faulty || self.verdicts.iter().any(Verdict::alarms)
    }
}

/// Returns the codes of the reasons: `speculation (+0.31 pp), unexplained`.
fn codes(verdict: &Verdict) -> String {
    let is_share = verdict.truth.is_some_and(|truth| truth.unit() == TruthUnit::Share);
    let text = |finding: &Finding| match finding.shift {
        Some(shift) if is_share => {
            format!("{} ({:+.2} pp)", finding.reason.code(), rounded(-100.0 * shift, 100.0))
        }
        _ => finding.reason.code().to_owned(),
    };
    verdict.findings.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(2)).collect();
    format!("{kept}..")
}

/// Returns the name of a run without its directory.
pub(crate) fn run_name(trace: &str) -> &str {
    let (path, variant) = trace.split_once(' ').unwrap_or((trace, ""));
    let start = path.rfind('/').map_or(0, |at| at + 1);
    if variant.is_empty() { &path[start..] } else { &trace[start..] }
}

/// Returns the width of the names of runs: the longest, within limits.
fn run_width(judged: &[Judged]) -> usize {
    let runs = judged.iter().flat_map(|one| &one.verdicts);
    let longest = runs.map(|verdict| run_name(&verdict.trace).chars().count()).max();
    longest.unwrap_or(0).clamp(12, 40)
}

/// Writes one row for each metric and run.
///
/// # Errors
/// The output cannot be written.
pub fn write_runs(out: &mut impl Write, judgment: &Judgment) -> io::Result<()> {
    let judged = &judgment.metrics;
    let width = run_width(judged);
    let more = match judgment.is_of_a53 {
        true => String::new(),
        false => {
            let shared = format!("{} counters", judgment.counters);
            more_columns(["r0p2".to_owned(), "r0p3".to_owned(), shared, "mux error".to_owned()])
        }
    };
    writeln!(
        out,
        " {:<28} {:<width$} {:>10} {:>10} {:>10}{more}  reasons",
        "metric", "run", "value", "truth", "error"
    )?;
    for one in judged {
        if let Some(why) = &one.unreadable {
            writeln!(out, " {:<28} cannot be read: {why}", shortened(&one.metric, 28))?;
            continue;
        }
        for verdict in &one.verdicts {
            if let Some(missing) = &verdict.missing {
                writeln!(out, " {:<28} no verdict: {missing}", shortened(&one.metric, 28))?;
                continue;
            }
            let text = |value| value_text(verdict.truth, value);
            let status = match verdict.status {
                ValidationStatus::Right | ValidationStatus::Off => String::new(),
                other => format!("{}  ", other.word()),
            };
            let doubt = verdict.doubt.map(|why| format!("doubtful: {why}  "));
            let status = doubt.unwrap_or(status);
            let more = match judgment.is_of_a53 {
                true => String::new(),
                false => more_columns([
                    text(verdict.on_erratum),
                    text(verdict.on_sound),
                    text(verdict.on_six),
                    in_unit(verdict.truth, multiplexing_error(verdict)),
                ]),
            };
            writeln!(
                out,
                " {:<28} {:<width$} {:>10} {:>10} {:>10}{more}  {status}{}",
                shortened(&one.metric, 28),
                shortened(run_name(&verdict.trace), width),
                text(verdict.value),
                text(verdict.real),
                error_text(verdict),
                codes(verdict)
            )?;
        }
    }
    write_words(out, judged)?;
    write_evidence(out, judgment)
}

/// Writes one row for each metric: its results over all runs, and its worst case.
///
/// # Errors
/// The output cannot be written.
pub fn write_summary(out: &mut impl Write, judgment: &Judgment) -> io::Result<()> {
    let judged = &judgment.metrics;
    let width = run_width(judged);
    let shared = format!("{} counters", judgment.counters);
    writeln!(
        out,
        " {:<28} {:<26} {:>5} {:>4} {:>11} {:>10} {:>10} {:>10}  {:<width$} reasons (runs)",
        "metric", "claims", "right", "off", "worst error", "value", "truth", shared, "in"
    )?;
    for one in judged {
        if let Some(why) = &one.unreadable {
            writeln!(out, " {:<28} cannot be read: {why}", shortened(&one.metric, 28))?;
            continue;
        }
        if let Some(missing) = one.missing() {
            writeln!(out, " {:<28} no verdict: {missing}", shortened(&one.metric, 28))?;
            continue;
        }
        let Some(worst) = one.worst() else { continue };
        let text = |value| value_text(worst.truth, value);
        writeln!(
            out,
            " {:<28} {:<26} {:>5} {:>4} {:>11} {:>10} {:>10} {:>10}  {:<width$} {}",
            shortened(&one.metric, 28),
            worst.truth.map_or("nothing known", Truth::name),
            one.runs_with(ValidationStatus::Right),
            one.runs_with(ValidationStatus::Off) + one.runs_with(ValidationStatus::NoValue),
            error_text(worst),
            text(worst.value),
            text(worst.real),
            in_unit(worst.truth, one.worst_multiplexing()),
            shortened(run_name(&worst.trace), width),
            counted_codes(one)
        )?;
    }
    write_words(out, judged)?;
    write_evidence(out, judgment)
}

/// Returns the reasons with the number of runs that have each: `speculation (3), in-flight (1)`.
fn counted_codes(one: &Judged) -> String {
    let reasons = reasons(one);
    let text = |(reason, runs): &(&Reason, usize)| format!("{} ({runs})", reason.code());
    let doubt = one.doubt().map(|(why, runs)| format!("doubtful: {why} ({runs})"));
    doubt.into_iter().chain(reasons.iter().map(text)).collect::<Vec<_>>().join(", ")
}

/// Returns the codes of a table, each once, with the first metric that has it.
fn legend(judged: &[Judged]) -> Vec<(&Judged, &Reason)> {
    let mut listed: Vec<(&Judged, &Reason)> = Vec::new();
    for one in judged {
        for (reason, _) in reasons(one) {
            if !listed.iter().any(|(_, own)| own.code() == reason.code()) {
                listed.push((one, reason));
            }
        }
    }
    listed
}

/// Writes the meaning of the codes of the table, each once.
fn write_words(out: &mut impl Write, judged: &[Judged]) -> io::Result<()> {
    let legend = legend(judged);
    if !legend.is_empty() {
        writeln!(out, "\n Reasons, with the first metric that has each:")?;
    }
    for (one, reason) in legend {
        writeln!(out, "  {:<20} {}: {reason}", reason.code(), one.metric)?;
    }
    Ok(())
}

/// Writes the formulas that are off, with their counts, and the runs.
fn write_evidence(out: &mut impl Write, judgment: &Judgment) -> io::Result<()> {
    write_unreadable(out, &judgment.metrics)?;
    let is_off = |one: &&Judged| one.alarms() && one.unreadable.is_none();
    let mut alarming = judgment.metrics.iter().filter(is_off).peekable();
    if alarming.peek().is_some() {
        writeln!(out, "\n Formulas that are off, with the counts of their worst run:")?;
    }
    for one in alarming {
        writeln!(out, "  {}: {}", one.metric, formula_text(one))?;
        if let Some(worst) = one.worst().filter(|worst| !worst.counts.is_empty()) {
            writeln!(out, "    {}: {}", run_name(&worst.trace), counts_text(worst))?;
        }
        if let Some((before, corrected, after)) = one.corrected() {
            writeln!(out, "    {before}: {corrected}{after}")?;
        }
    }
    if !judgment.runs.is_empty() {
        writeln!(out, "\n Runs:")?;
    }
    for run in &judgment.runs {
        writeln!(
            out,
            "  {}: trace {:016x}, configuration {} {:016x}",
            run_name(&run.name),
            run.trace_hash,
            run.config,
            run.config_hash
        )?;
    }
    Ok(())
}

/// Writes the formulas without any value, with their faults.
fn write_unreadable(out: &mut impl Write, judged: &[Judged]) -> io::Result<()> {
    let faults = judged.iter().filter_map(|one| Some((one, one.unreadable.as_ref()?)));
    let mut faults = faults.peekable();
    if faults.peek().is_some() {
        writeln!(out, "\n Formulas that cannot be read:")?;
    }
    for (one, why) in faults {
        match one.formula.is_empty() {
            true => writeln!(out, "  {}: {why}", one.metric)?,
            false => writeln!(out, "  {}: {}: {why}", one.metric, one.formula)?,
        }
    }
    Ok(())
}

/// Returns the formula with its unit.
fn formula_text(one: &Judged) -> String {
    match one.scale.as_str() {
        "" => one.formula.clone(),
        scale => format!("{} [{scale}]", one.formula),
    }
}

/// Returns the counts of a verdict: `INST_RETIRED 2,000, CPU_CYCLES 1,000`.
fn counts_text(verdict: &Verdict) -> String {
    let counts = verdict.counts.iter().map(|(name, count)| match *count {
        count if count.fract() == 0.0 && (0.0..1e18).contains(&count) => {
            format!("{name} {}", grouped(count as u64))
        }
        count => format!("{name} {count}"),
    });
    counts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
