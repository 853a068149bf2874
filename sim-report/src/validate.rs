//! How metrics did against the truth: for people, one row per metric over all runs or one per run; for
//! programs as CSV and JSON; for documents as Markdown.

use std::io::{self, Write};

use serde_json::json;
use sim_metrics::judge::{Finding, Reason, Standing, Verdict};
use sim_metrics::{Truth, TruthUnit};

use crate::perf_stat::grouped;

/// A metric with its verdicts, one for each run.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Name of the metric.
    pub metric: String,
    /// Why the formula cannot be read, if it cannot.
    pub unreadable: Option<String>,
    /// One verdict for each run, in the order of the runs.
    pub verdicts: Vec<Verdict>,
    /// What only all runs together show.
    pub common: Option<Reason>,
}

/// The reasons of one metric with the runs that they were found in, the most frequent first.
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
    /// The run in which it was farthest from the truth; by percentage points for shares.
    pub fn worst(&self) -> Option<&Verdict> {
        let distance = |verdict: &&Verdict| error_of(verdict).map_or(-1.0, f64::abs);
        self.verdicts.iter().max_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    /// How many runs it stood like this in.
    pub fn standing(&self, standing: Standing) -> usize {
        self.verdicts.iter().filter(|verdict| verdict.standing == standing).count()
    }

    /// True if it was off in a run, has no value or is made wrong.
    pub fn alarms(&self) -> bool {
        let is_made_wrong = self.unreadable.is_some() || self.common.is_some();
        is_made_wrong || self.verdicts.iter().any(Verdict::alarms)
    }
}

/// The error by which runs are compared: percentage points for shares, else percent of the truth.
pub fn error_of(verdict: &Verdict) -> Option<f64> {
    match verdict.truth?.unit() {
        TruthUnit::Share => verdict.difference().map(|difference| 100.0 * difference),
        _ => verdict.relative().map(|relative| 100.0 * relative),
    }
}

/// The error with its unit: `+3.20 pp` or `-12.0 %`.
pub fn error_text(verdict: &Verdict) -> String {
    let is_share = verdict.truth.is_some_and(|truth| truth.unit() == TruthUnit::Share);
    match error_of(verdict) {
        None => String::from("-"),
        Some(error) if is_share => format!("{:+.2} pp", rounded(error, 100.0)),
        Some(error) => format!("{:+.1} %", rounded(error, 10.0)),
    }
}

/// Rounded to a part of one, without the sign of a zero.
fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts + 0.0
}

/// A value in the unit of its truth.
pub fn value_text(truth: Option<Truth>, value: Option<f64>) -> String {
    let Some(value) = value else { return String::from("-") };
    match truth.map(Truth::unit) {
        Some(TruthUnit::Share) => format!("{:.2} %", rounded(100.0 * value, 100.0)),
        Some(
            TruthUnit::PerKiloInstruction
            | TruthUnit::PerCycle
            | TruthUnit::CyclesEach
            | TruthUnit::SlotsEach,
        )
        | None => format!("{:.3}", rounded(value, 1000.0)),
        Some(_) if (0.0..1e18).contains(&value) => grouped(value.round() as u64),
        Some(_) => format!("{value:.0}"),
    }
}

/// `speculation (+0.31 pp), unexplained`.
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

/// The name of a run without its folder.
pub(crate) fn run_name(trace: &str) -> &str {
    let (path, variant) = trace.split_once(' ').unwrap_or((trace, ""));
    let start = path.rfind('/').map_or(0, |at| at + 1);
    if variant.is_empty() { &path[start..] } else { &trace[start..] }
}

/// Width of the names of runs: as wide as the longest, within reason.
fn run_width(judged: &[Judged]) -> usize {
    let runs = judged.iter().flat_map(|one| &one.verdicts);
    let longest = runs.map(|verdict| run_name(&verdict.trace).chars().count()).max();
    longest.unwrap_or(0).clamp(12, 40)
}

/// Writes one row for each metric and run.
///
/// # Errors
/// The output cannot be written.
pub fn write_runs(out: &mut impl Write, judged: &[Judged]) -> io::Result<()> {
    let width = run_width(judged);
    writeln!(
        out,
        " {:<28} {:<width$} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  reasons",
        "metric", "run", "value", "truth", "error", "r0p2", "r0p3", "6 counters"
    )?;
    for one in judged {
        if let Some(why) = &one.unreadable {
            writeln!(out, " {:<28} cannot be read: {why}", shortened(&one.metric, 28))?;
        }
        for verdict in &one.verdicts {
            let text = |value| value_text(verdict.truth, value);
            let standing = match verdict.standing {
                Standing::Right | Standing::Off => String::new(),
                other => format!("{}  ", other.word()),
            };
            writeln!(
                out,
                " {:<28} {:<width$} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  {standing}{}",
                shortened(&one.metric, 28),
                shortened(run_name(&verdict.trace), width),
                text(verdict.value),
                text(verdict.real),
                error_text(verdict),
                text(verdict.on_erratum),
                text(verdict.on_sound),
                text(verdict.on_six),
                codes(verdict)
            )?;
        }
    }
    write_words(out, judged)
}

/// Writes one row for each metric: how it did over all runs, and its worst case.
///
/// # Errors
/// The output cannot be written.
pub fn write_summary(out: &mut impl Write, judged: &[Judged]) -> io::Result<()> {
    let width = run_width(judged);
    writeln!(
        out,
        " {:<28} {:<26} {:>5} {:>4} {:>11} {:>10} {:>10}  {:<width$} reasons (runs)",
        "metric", "claims", "right", "off", "worst error", "value", "truth", "in"
    )?;
    for one in judged {
        if let Some(why) = &one.unreadable {
            writeln!(out, " {:<28} cannot be read: {why}", shortened(&one.metric, 28))?;
            continue;
        }
        let Some(worst) = one.worst() else { continue };
        let reasons: Vec<String> = reasons(one)
            .iter()
            .map(|(reason, runs)| format!("{} ({runs})", reason.code()))
            .collect();
        let text = |value| value_text(worst.truth, value);
        writeln!(
            out,
            " {:<28} {:<26} {:>5} {:>4} {:>11} {:>10} {:>10}  {:<width$} {}",
            shortened(&one.metric, 28),
            worst.truth.map_or("nothing known", Truth::name),
            one.standing(Standing::Right),
            one.standing(Standing::Off) + one.standing(Standing::NoValue),
            error_text(worst),
            text(worst.value),
            text(worst.real),
            shortened(run_name(&worst.trace), width),
            reasons.join(", ")
        )?;
    }
    write_words(out, judged)
}

/// What the codes of the table mean, each once.
fn write_words(out: &mut impl Write, judged: &[Judged]) -> io::Result<()> {
    let mut told: Vec<&str> = Vec::new();
    for one in judged {
        for (reason, _) in reasons(one) {
            if !told.contains(&reason.code()) {
                if told.is_empty() {
                    writeln!(out, "\n Reasons, with the first metric that has each:")?;
                }
                told.push(reason.code());
                writeln!(out, "  {:<20} {}: {reason}", reason.code(), one.metric)?;
            }
        }
    }
    Ok(())
}

/// Writes one line for each metric and run, the names of the columns first.
///
/// # Errors
/// The output cannot be written.
pub fn write_csv(out: &mut impl Write, judged: &[Judged], separator: &str) -> io::Result<()> {
    let columns = [
        "metric",
        "run",
        "standing",
        "claims",
        "unit",
        "value",
        "truth",
        "difference",
        "on_r0p2",
        "on_r0p3",
        "on_six_counters",
        "reasons",
    ];
    writeln!(out, "{}", columns.join(separator))?;
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for one in judged {
        for verdict in &one.verdicts {
            let reasons: Vec<&str> =
                verdict.findings.iter().map(|finding| finding.reason.code()).collect();
            let fields = [
                one.metric.clone(),
                verdict.trace.clone(),
                verdict.standing.word().to_owned(),
                verdict.truth.map_or_else(String::new, |truth| truth.name().to_owned()),
                verdict.truth.map_or_else(String::new, |truth| truth.unit().to_string()),
                number(verdict.value),
                number(verdict.real),
                number(verdict.difference()),
                number(verdict.on_erratum),
                number(verdict.on_sound),
                number(verdict.on_six),
                reasons.join(" "),
            ];
            writeln!(out, "{}", fields.map(|field| quoted(&field, separator)).join(separator))?;
        }
    }
    Ok(())
}

/// A field in quotes where it contains what ends a field.
fn quoted(field: &str, separator: &str) -> String {
    if field.contains(separator) || field.contains(['"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// Writes one JSON object for each metric and run, each in a line.
///
/// # Errors
/// The output cannot be written.
pub fn write_json(out: &mut impl Write, judged: &[Judged]) -> io::Result<()> {
    for one in judged {
        if let Some(why) = &one.unreadable {
            writeln!(out, "{}", json!({"metric": one.metric, "unreadable": why}))?;
        }
        for verdict in &one.verdicts {
            let reasons = verdict.findings.iter().map(|finding| {
                let (code, words) = (finding.reason.code(), finding.reason.to_string());
                json!({"reason": code, "words": words, "shift": finding.shift})
            });
            let object = json!({
                "metric": one.metric,
                "run": verdict.trace,
                "standing": verdict.standing.word(),
                "claims": verdict.truth.map(Truth::name),
                "unit": verdict.truth.map(|truth| truth.unit().to_string()),
                "value": verdict.value,
                "truth": verdict.real,
                "difference": verdict.difference(),
                "on_r0p2": verdict.on_erratum,
                "on_r0p3": verdict.on_sound,
                "on_six_counters": verdict.on_six,
                "reasons": reasons.collect::<Vec<_>>(),
                "alarm": verdict.alarms(),
            });
            writeln!(out, "{object}")?;
        }
    }
    Ok(())
}

/// Writes the summary as a Markdown table.
///
/// # Errors
/// The output cannot be written.
pub fn write_markdown(out: &mut impl Write, judged: &[Judged]) -> io::Result<()> {
    writeln!(
        out,
        "| metric | claims | right | off | worst error | value | truth | in | reasons |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |"
    )?;
    for one in judged {
        if let Some(why) = &one.unreadable {
            writeln!(out, "| `{}` | | | | | | | | cannot be read: {why} |", one.metric)?;
            continue;
        }
        let Some(worst) = one.worst() else { continue };
        let reasons: Vec<String> = reasons(one)
            .iter()
            .map(|(reason, runs)| format!("{} ({runs})", reason.code()))
            .collect();
        let text = |value| value_text(worst.truth, value);
        writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {} | {} | {} | {} |",
            one.metric,
            worst.truth.map_or_else(String::new, |truth| format!("`{}`", truth.name())),
            one.standing(Standing::Right),
            one.standing(Standing::Off) + one.standing(Standing::NoValue),
            error_text(worst),
            text(worst.value),
            text(worst.real),
            run_name(&worst.trace),
            reasons.join(", ")
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(trace: &str, value: f64, standing: Standing) -> Verdict {
        Verdict {
            trace: trace.to_owned(),
            standing,
            truth: Some(Truth::L1dMissRatio),
            real: Some(0.10),
            value: Some(value),
            on_erratum: Some(value),
            on_sound: Some(value),
            on_six: None,
            findings: vec![Finding { reason: Reason::InFlight, shift: Some(0.1 - value) }],
            rest: None,
        }
    }

    fn judged() -> Vec<Judged> {
        let verdicts = vec![
            verdict("traces/a.n2t", 0.09, Standing::Off),
            verdict("traces/b.n2t run.seed=2", 0.04, Standing::Off),
            verdict("traces/c,d.n2t", 0.10, Standing::Right),
        ];
        vec![Judged { metric: "l1d".to_owned(), unreadable: None, verdicts, common: None }]
    }

    fn written(write: impl Fn(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).expect("memory can be written");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn the_worst_case_is_named_with_its_error() {
        let text = written(|out| write_summary(out, &judged()));
        let row = text.lines().nth(1).expect("a row");
        for part in
            ["l1d.miss_ratio", "-6.00 pp", "4.00 %", "10.00 %", "b.n2t run.seed=2", "in-flight (3)"]
        {
            assert!(row.contains(part), "{part} in {row}");
        }
        assert!(text.contains("waits for a line"), "the words of the code");
        let text = written(|out| write_markdown(out, &judged()));
        assert!(text.contains("| `l1d` | `l1d.miss_ratio` | 1 | 2 | -6.00 pp |"), "{text}");
    }

    #[test]
    fn programs_read_every_run() {
        let text = written(|out| write_csv(out, &judged(), ","));
        assert_eq!(text.lines().count(), 4);
        assert!(text.lines().nth(3).expect("the third run").contains("\"traces/c,d.n2t\""));
        let text = written(|out| write_json(out, &judged()));
        let first: serde_json::Value =
            serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
        assert_eq!(first["reasons"][0]["reason"], "in-flight");
        assert_eq!(
            (first["claims"].as_str(), first["alarm"].as_bool()),
            (Some("l1d.miss_ratio"), Some(true))
        );
        let text = written(|out| write_runs(out, &judged()));
        assert!(text.contains("in-flight (-1.00 pp)"), "{text}");
    }

    #[test]
    fn values_are_in_the_unit_of_the_truth() {
        assert_eq!(value_text(Some(Truth::Ipc), Some(1.5)), "1.500");
        assert_eq!(value_text(Some(Truth::BytesRead), Some(1234567.0)), "1,234,567");
        assert_eq!(value_text(Some(Truth::BytesRead), Some(-3.0)), "-3");
        assert_eq!(value_text(None, None), "-");
    }
}
