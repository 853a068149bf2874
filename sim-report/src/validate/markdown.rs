//! Verdicts as Markdown for bug reports.

use std::io::{self, Write};

use sim_metrics::a53_truth;
use sim_metrics::validator::{ValidationStatus, Verdict};

use super::{
    Judged, Judgment, codes, counted_codes, counts_text, error_text, formula_text, legend,
    run_name, value_text,
};

/// Writes everything as Markdown: the table, the meaning of its codes, and text, counts and
/// correction of every formula that is off.
///
/// # Errors
/// The output cannot be written.
pub fn write_markdown(out: &mut impl Write, judgment: &Judgment) -> io::Result<()> {
    write_table(out, &judgment.metrics)?;
    let legend = legend(&judgment.metrics);
    if !legend.is_empty() {
        writeln!(out, "\nReasons, with the first metric that has each:\n")?;
    }
    for (one, reason) in legend {
        writeln!(out, "* **{}** (`{}`): {reason}", reason.code(), one.metric)?;
    }
    for one in judgment.metrics.iter().filter(|one| one.alarms() && one.unreadable.is_none()) {
        write_section(out, one, judgment.is_of_a53)?;
    }
    writeln!(out, "\n### How to repeat it\n\n    {}\n", judgment.command)?;
    writeln!(out, "n2sim {}.\n", judgment.version)?;
    writeln!(out, "| run | trace hash | configuration | its hash |\n| --- | --- | --- | --- |")?;
    for run in &judgment.runs {
        writeln!(
            out,
            "| {} | {:016x} | {} | {:016x} |",
            run_name(&run.name),
            run.trace_hash,
            cell(&run.config),
            run.config_hash
        )?;
    }
    Ok(())
}

/// One row for each metric.
fn write_table(out: &mut impl Write, judged: &[Judged]) -> io::Result<()> {
    writeln!(
        out,
        "| metric | claims | right | off | worst error | value | truth | in | reasons |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |"
    )?;
    for one in judged {
        if let Some(why) = &one.unreadable {
            writeln!(out, "| `{}` | | | | | | | | cannot be read: {} |", one.metric, cell(why))?;
            continue;
        }
        if let Some(missing) = one.missing() {
            writeln!(out, "| `{}` | | | | | | | | no verdict: {} |", one.metric, cell(missing))?;
            continue;
        }
        let Some(worst) = one.worst() else { continue };
        let text = |value| value_text(worst.truth, value);
        writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {} | {} | {} | {} |",
            one.metric,
            worst.truth.map_or_else(String::new, |truth| format!("`{}`", truth.name())),
            one.runs_with(ValidationStatus::Right),
            one.runs_with(ValidationStatus::Off) + one.runs_with(ValidationStatus::NoValue),
            error_text(worst),
            text(worst.value),
            text(worst.real),
            run_name(&worst.trace),
            counted_codes(one)
        )?;
    }
    Ok(())
}

/// Writes the section of one metric that is off.
fn write_section(out: &mut impl Write, one: &Judged, is_of_a53: bool) -> io::Result<()> {
    writeln!(out, "\n### `{}`\n\n    {}\n", one.metric, formula_text(one))?;
    if !one.source.is_empty() {
        writeln!(out, "* **From** {}", one.source)?;
    }
    if let Some(truth) = one.verdicts.iter().find_map(|verdict| verdict.truth) {
        let on_a53 = a53_truth::meaning(truth).filter(|_| is_of_a53);
        let meaning = on_a53.unwrap_or(truth.definition());
        writeln!(out, "* **Claims** `{}`: {meaning}", truth.name())?;
    }
    if let Some((before, corrected, after)) = one.corrected() {
        let before = before.replacen('r', "R", usize::from(before.starts_with('r')));
        let before = before.replacen('n', "N", usize::from(before.starts_with('n')));
        writeln!(out, "* **{before}** `{corrected}`{after}")?;
    }
    writeln!(
        out,
        "\n| run | value | truth | error | reasons | counts |\n\
         | --- | ---: | ---: | ---: | --- | --- |"
    )?;
    for verdict in &one.verdicts {
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            run_name(&verdict.trace),
            value_text(verdict.truth, verdict.value),
            value_text(verdict.truth, verdict.real),
            error_text(verdict),
            reasons_text(verdict),
            counts_text(verdict)
        )?;
    }
    Ok(())
}

/// Returns the reasons, preceded by the reason for doubtful counts.
fn reasons_text(verdict: &Verdict) -> String {
    let doubt = verdict.doubt.map(|why| format!("doubtful: {why}"));
    let codes = Some(codes(verdict)).filter(|codes| !codes.is_empty());
    doubt.into_iter().chain(codes).collect::<Vec<_>>().join(", ")
}

/// Escapes a text for the cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
