//! Differences between two runs, for terminals.

use std::io::{self, Write};

use super::{Change, Number, RunDiff, SectionDiff};
use crate::perf_stat::grouped;

/// Width of a name.
const NAME: usize = 30;
/// Width of a number.
const NUMBER: usize = 14;
/// Width of a change per instruction, or of shares: `100.0->100.0`.
const LAST: usize = 13;

/// Writes the comparison.
///
/// # Errors
/// The output cannot be written.
pub fn write_text(out: &mut impl Write, diff: &RunDiff) -> io::Result<()> {
    writeln!(out)?;
    for (word, side) in [("from", &diff.from), ("to", &diff.to)] {
        let (cycles, instructions) = (grouped(side.cycles), grouped(side.instructions));
        writeln!(out, " {word:<5} {}: {cycles} cycles, {instructions} instructions", side.name)?;
        if !side.doubts.is_empty() {
            writeln!(out, "       # gaps of the recording: {}", side.doubts.join(", "))?;
        }
    }
    writeln!(out)?;
    folded(&diff.verdict).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    if !diff.settings.is_empty() {
        writeln!(out, "\n Settings that differ")?;
    }
    for setting in &diff.settings {
        writeln!(out, "   {}: {} -> {}", setting.name, setting.from, setting.to)?;
    }
    for section in diff.sections.iter().filter(|section| !section.changes.is_empty()) {
        write_section(out, section)?;
    }
    let unchanged: u64 = diff.sections.iter().map(|section| section.unchanged).sum();
    let small: u64 = diff.sections.iter().map(|section| section.small).sum();
    write!(out, "\n {} numbers changed", grouped(diff.changed() as u64))?;
    if small > 0 {
        write!(out, ", {} changed by less than the minimum", grouped(small))?;
    }
    writeln!(out, ", {} are equal.\n", grouped(unchanged))
}

fn write_section(out: &mut impl Write, section: &SectionDiff) -> io::Result<()> {
    let has_rates = section.changes.iter().any(|change| change.rate_percent.is_some());
    let last = match (has_shares(section), has_rates) {
        (true, _) => "% of slots",
        (false, true) => "per inst.",
        (false, false) => "",
    };
    let unit = common_unit(section);
    let title = match unit {
        Some(unit) => format!("{} ({unit})", section.title),
        None => section.title.clone(),
    };
    let (title, own_line) = fitted(&title);
    let head = format!(
        " {title:<NAME$}{:>NUMBER$}{:>NUMBER$}{:>NUMBER$} {:>9}{last:>LAST$}",
        "from", "to", "change", ""
    );
    writeln!(out, "\n{own_line}{}", head.trim_end())?;
    for change in &section.changes {
        writeln!(out, "{}", row(change, unit.is_some()).trim_end())?;
    }
    Ok(())
}

/// Returns whether the numbers are parts of all slots.
pub(super) fn has_shares(section: &SectionDiff) -> bool {
    section.changes.iter().any(|change| change.from_share.is_some() || change.to_share.is_some())
}

/// Returns the unit of all numbers of a section, if they have the same and the title does not name
/// it.
fn common_unit(section: &SectionDiff) -> Option<&str> {
    let (first, others) = section.changes.split_first()?;
    let is_same = others.iter().all(|change| change.unit == first.unit);
    let is_in_title = section.title.to_lowercase().contains(&first.unit.to_lowercase());
    (is_same && !others.is_empty() && !is_in_title).then_some(first.unit.as_str())
}

fn row(change: &Change, is_unit_in_heading: bool) -> String {
    let number = |number| number_with(number, &change.unit, printed);
    let percent = |percent: Option<f64>| percent.map_or_else(String::new, |p| format!("{p:+.1}%"));
    let (from, to) = (number(change.from), number(change.to));
    let by = change.change.map_or_else(String::new, |by| changed_by(by, &change.unit));
    let part = percent(change.percent);
    let last = match (change.from_share, change.to_share) {
        (None, None) => percent(change.rate_percent),
        (from, to) => format!("{:.1}->{:.1}", from.unwrap_or(0.0), to.unwrap_or(0.0)),
    };
    let name = if is_unit_in_heading { change.name.clone() } else { named(change) };
    let name = name.replace('\u{a0}', " ").replace(char::is_control, "?");
    let (name, own_line) = fitted(&name);
    let doubt =
        change.doubt.as_ref().map(|lack| format!(" # doubtful: {lack}")).unwrap_or_default();
    format!(
        "{own_line} {name:<NAME$}{from:>NUMBER$}{to:>NUMBER$}{by:>NUMBER$} {part:>9}{last:>LAST$}{doubt}"
    )
}

/// Formats a number; seconds get the unit that makes them short.
fn number_with(number: Option<Number>, unit: &str, print: fn(Number) -> String) -> String {
    match number {
        None => String::from("-"),
        Some(number) if unit == "seconds" => time(number),
        Some(number) => print(number),
    }
}

/// Formats a difference with its sign.
pub(super) fn changed_by(number: Number, unit: &str) -> String {
    let plus = if number.as_f64() > 0.0 { "+" } else { "" };
    if unit == "seconds" { format!("{plus}{}", time(number)) } else { signed(number) }
}

/// Formats a time or a difference of times.
pub(super) fn time(number: Number) -> String {
    let seconds = number.as_f64();
    let sign = if seconds < 0.0 { "-" } else { "" };
    let (scale, unit) = match seconds.abs() {
        s if s >= 1.0 => (1.0, "s"),
        s if s >= 1e-3 => (1e3, "ms"),
        s if s >= 1e-6 => (1e6, "us"),
        _ => (1e9, "ns"),
    };
    format!("{sign}{:.3} {unit}", seconds.abs() * scale)
}

/// Returns the name, followed by its unit if neither section nor name contains it.
pub(super) fn named(change: &Change) -> String {
    let words = change.name.replace('_', " ").to_lowercase();
    match change.unit.as_str() {
        "per 1000 instructions" => format!("{}, MPKI", change.name),
        // Times have their unit after each number.
        "" | "seconds" => change.name.clone(),
        unit if words.contains(&unit.to_lowercase()) => change.name.clone(),
        unit => format!("{}, {}", change.name, unit.replace("percent", "%")),
    }
}

/// Folds a text into lines as wide as the tables, each indented by a blank.
fn folded(text: &str) -> Vec<String> {
    let width = 1 + NAME + 3 * NUMBER + LAST;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                *line += " ";
                *line += word;
            }
            _ => lines.push(format!(" {word}")),
        }
    }
    lines
}

/// Returns a name that fits its column, or an empty name and a separate line for a longer one.
fn fitted(name: &str) -> (&str, String) {
    match name.chars().count() {
        0..NAME => (name, String::new()),
        _ => ("", format!(" {name}\n")),
    }
}

/// Formats a number with its significant digits.
pub(super) fn printed(number: Number) -> String {
    match number {
        Number::Count(count) => grouped(count),
        Number::Difference(difference) => {
            let sign = if difference < 0 { "-" } else { "" };
            format!("{sign}{}", grouped(difference.unsigned_abs()))
        }
        Number::Value(value) if value != 0.0 && (value.abs() < 0.001 || value.abs() >= 1e9) => {
            format!("{value:.3e}")
        }
        Number::Value(value) if value.abs() >= 1000.0 && value.fract() == 0.0 => {
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}{}", grouped(value.abs() as u64))
        }
        Number::Value(value) if value.abs() >= 1000.0 => format!("{value:.1}"),
        Number::Value(value) => format!("{value:.3}"),
    }
}

/// Formats a number with its sign and significant digits.
pub(super) fn signed(number: Number) -> String {
    let sign = if number.as_f64() > 0.0 { "+" } else { "" };
    format!("{sign}{}", printed(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_its_sign_and_only_significant_digits() {
        assert_eq!(signed(Number::Difference(-1_234)), "-1,234");
        assert_eq!(signed(Number::Difference(i64::MIN)), "-9,223,372,036,854,775,808");
        assert_eq!(signed(Number::Difference(5)), "+5");
        assert_eq!(signed(Number::Value(0.5)), "+0.500");
        assert_eq!(printed(Number::Value(0.000_012)), "1.200e-5");
        assert_eq!(printed(Number::Value(1_598_356.0)), "1,598,356");
        assert_eq!(signed(Number::Value(-13_411.0)), "-13,411");
        assert_eq!(time(Number::Value(1.77e-4)), "177.000 us");
        assert_eq!(changed_by(Number::Value(-2.5e-3), "seconds"), "-2.500 ms");
        assert_eq!(changed_by(Number::Value(2.5e-3), "seconds"), "+2.500 ms");
    }
}
