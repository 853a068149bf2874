//! Cycles that a run would save if one resource cost nothing, next to its share of the stall
//! ledger.

use std::io::{self, Write};

use serde_json::json;
use sim_lab::counterfactual::{Change, CoreIdeal, CoreLoss, Counterfactual, LEAST, Pair, Slots};

use crate::perf_stat::grouped;
use crate::run_diff::csv::quoted;

/// Width of the column of names.
const NAME_WIDTH: usize = 24;
/// Width of the column of cycles.
const CYCLES_WIDTH: usize = 18;
/// Width of a column of shares.
const SHARE_WIDTH: usize = 9;
/// Most changes named in a line of text.
const CHANGES_NAMED: usize = 3;

/// Writes a human-readable table.
///
/// # Errors
/// The output cannot be written.
pub fn write_text<I: CoreIdeal>(out: &mut impl Write, found: &Counterfactual<I>) -> io::Result<()> {
    let title = "If it cost nothing";
    writeln!(
        out,
        " {title:<NAME_WIDTH$} {:>CYCLES_WIDTH$} {:>SHARE_WIDTH$} {:>SHARE_WIDTH$}  why they differ",
        "cycles", "saved", "ledger"
    )?;
    row(out, "nothing (as modeled)", &found.base, found, None)?;
    for (ideal, slots) in &found.singles {
        let why = why(found, *ideal, slots).join("; ");
        row(out, ideal.label(), slots, found, Some((found.known_charge(*ideal), &why)))?;
    }
    row(out, "all of these", &found.all, found, None)?;
    write_pairs(out, found)?;
    writeln!(out)
}

fn row<I: CoreIdeal>(
    out: &mut impl Write,
    name: &str,
    slots: &Slots,
    found: &Counterfactual<I>,
    ledger: Option<(Option<f64>, &str)>,
) -> io::Result<()> {
    let (cycles, saved) = (grouped(slots.cycles), percent(found.saved(slots)));
    write!(out, " {name:<NAME_WIDTH$} {cycles:>CYCLES_WIDTH$} {saved:>SHARE_WIDTH$}")?;
    let text = ledger.map(|(charged, why)| {
        let charged = charged.map(percent).unwrap_or_default();
        format!(" {charged:>SHARE_WIDTH$}  {why}")
    });
    writeln!(out, "{}", text.unwrap_or_default().trim_end())
}

/// Writes the pairs that save more or less together than each alone.
fn write_pairs<I: CoreIdeal>(out: &mut impl Write, found: &Counterfactual<I>) -> io::Result<()> {
    let is_shown = |pair: &&Pair<I>| found.interaction(pair).abs() >= LEAST;
    let mut pairs: Vec<&Pair<I>> = found.pairs.iter().filter(is_shown).collect();
    if pairs.is_empty() {
        let runs = found.pairs.len();
        return match runs {
            0 => Ok(()),
            _ => writeln!(out, "\n No pair interacts by 1 % or more ({runs} pairs)"),
        };
    }
    let strength = |pair: &Pair<I>| found.interaction(pair).abs();
    pairs.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
    writeln!(out, "\n Pairs: cycles that both save beyond the sum of each alone")?;
    for pair in pairs {
        let [a, b] = pair.ideals.map(I::label);
        let (both, more) = (percent(found.saved(&pair.slots)), found.interaction(pair));
        let name = format!("{a} + {b}");
        let kind = if more > 0.0 { OVERLAP } else { SHARED };
        writeln!(out, " {name:<43} {both:>SHARE_WIDTH$} {:>SHARE_WIDTH$}  {kind}", signed(more))?;
    }
    Ok(())
}

/// Interaction of two costs that overlap: both must go before the time is saved.
const OVERLAP: &str = "overlap: each hides the other";
/// Interaction of two costs that share cycles: either saves the same time.
const SHARED: &str = "shared: either saves these cycles";

/// Returns the reasons why an ideal does not save the ledger's share: causes that gained or lost
/// slots.
fn why<I: CoreIdeal>(found: &Counterfactual<I>, ideal: I, slots: &Slots) -> Vec<String> {
    let agrees = |charged: f64| (found.saved(slots) - charged).abs() < LEAST;
    if found.known_charge(ideal).is_some_and(agrees) && !ideal.is_symptom() {
        return Vec::new();
    }
    let changes = found.changes(ideal, slots);
    let named = changes.iter().take(CHANGES_NAMED).map(|change| {
        let (share, label) = (percent(change.share.abs()), change.loss.label());
        match change {
            _ if is_left(ideal, change) => format!("{share} stay: {label}"),
            Change { share: ..0.0, .. } => format!("{share} less: {label}"),
            _ => format!("{share} more: {label}"),
        }
    });
    named.collect()
}

fn is_left<I: CoreIdeal>(ideal: I, change: &Change<I::Loss>) -> bool {
    ideal.removes().contains(&change.loss)
}

/// Writes one JSON object for each run.
///
/// # Errors
/// The output cannot be written.
pub fn write_json<I: CoreIdeal>(out: &mut impl Write, found: &Counterfactual<I>) -> io::Result<()> {
    for line in lines(found) {
        let changes: Vec<_> = line
            .changes
            .iter()
            .map(|change| json!({"loss": change.loss.label(), "percent": change.share * 100.0}))
            .collect();
        let object = json!({
            "ideal": line.name,
            "cycles": line.slots.cycles,
            "saved-cycles": found.base.cycles as i64 - line.slots.cycles as i64,
            "saved-percent": found.saved(line.slots) * 100.0,
            "ledger-percent": line.charged.map(|share| share * 100.0),
            "interaction-percent": line.interaction.map(|share| share * 100.0),
            "changes": changes,
        });
        writeln!(out, "{object}")?;
    }
    Ok(())
}

/// Writes a line of fields for each run: ideal, cycles, cycles saved, percent saved, percent of the
/// ledger, percent of interaction, reasons. A field that contains the separator is quoted.
///
/// # Errors
/// The output cannot be written.
pub fn write_csv<I: CoreIdeal>(
    out: &mut impl Write,
    found: &Counterfactual<I>,
    separator: &str,
) -> io::Result<()> {
    for line in lines(found) {
        let number = |share: Option<f64>| {
            share.map_or_else(String::new, |share| format!("{:.2}", share * 100.0))
        };
        let fields = [
            line.name,
            line.slots.cycles.to_string(),
            (found.base.cycles as i64 - line.slots.cycles as i64).to_string(),
            number(Some(found.saved(line.slots))),
            number(line.charged),
            number(line.interaction),
            line.why.join(" / "),
        ];
        let fields = fields.map(|field| quoted(&field, separator));
        writeln!(out, "{}", fields.join(separator))?;
    }
    Ok(())
}

/// Fields of one run in machine-readable output.
struct Line<'a, I: CoreIdeal> {
    name: String,
    slots: &'a Slots,
    charged: Option<f64>,
    interaction: Option<f64>,
    changes: Vec<Change<I::Loss>>,
    why: Vec<String>,
}

fn lines<I: CoreIdeal>(found: &Counterfactual<I>) -> Vec<Line<'_, I>> {
    let plain = |name: &str, slots| Line {
        name: name.to_owned(),
        slots,
        charged: None,
        interaction: None,
        changes: Vec::new(),
        why: Vec::new(),
    };
    let mut lines = vec![plain("none", &found.base)];
    for (ideal, slots) in &found.singles {
        lines.push(Line {
            charged: found.known_charge(*ideal),
            changes: found.changes(*ideal, slots),
            why: why(found, *ideal, slots),
            ..plain(ideal.name(), slots)
        });
    }
    for pair in &found.pairs {
        let [a, b] = pair.ideals.map(I::name);
        let interaction = Some(found.interaction(pair));
        lines.push(Line { interaction, ..plain(&format!("{a}+{b}"), &pair.slots) });
    }
    lines.push(plain("all", &found.all));
    lines
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

fn signed(share: f64) -> String {
    format!("{:+.2}%", share * 100.0)
}
