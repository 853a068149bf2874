//! What changed between two runs, for terminals.

use std::io::{self, Write};

use super::{Change, Number, RunDiff, SectionDiff};
use crate::perf_stat::grouped;

/// Columns of names and of numbers.
const NAME: usize = 30;
const NUMBER: usize = 14;

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
            writeln!(out, "       # lacks {}", side.doubts.join(", "))?;
        }
    }
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
        write!(out, ", {} changed by less than was asked for", grouped(small))?;
    }
    writeln!(out, ", {} are the same.\n", grouped(unchanged))
}

fn write_section(out: &mut impl Write, section: &SectionDiff) -> io::Result<()> {
    let has_rates = section.changes.iter().any(|change| change.rate_percent.is_some());
    let rate = if has_rates { "per inst." } else { "" };
    let title = cut(&section.title);
    let head = format!(
        " {title:<NAME$}{:>NUMBER$}{:>NUMBER$}{:>NUMBER$} {:>9}{rate:>10}",
        "from", "to", "change", ""
    );
    writeln!(out, "\n{}", head.trim_end())?;
    for change in &section.changes {
        writeln!(out, "{}", row(change).trim_end())?;
    }
    Ok(())
}

fn row(change: &Change) -> String {
    let number = |number: Option<Number>| number.map_or_else(|| String::from("-"), printed);
    let percent = |percent: Option<f64>| percent.map_or_else(String::new, |p| format!("{p:+.1}%"));
    let (from, to) = (number(change.from), number(change.to));
    let by = change.change.map_or_else(String::new, signed);
    let (part, rate) = (percent(change.percent), percent(change.rate_percent));
    let name = named(change).replace('\u{a0}', " ").replace(char::is_control, "?");
    let name = cut(&name);
    let doubt =
        change.doubt.as_ref().map(|lack| format!(" # doubtful: {lack}")).unwrap_or_default();
    format!(" {name:<NAME$}{from:>NUMBER$}{to:>NUMBER$}{by:>NUMBER$} {part:>9}{rate:>10}{doubt}")
}

/// The name, with the unit where the section does not tell it.
pub(super) fn named(change: &Change) -> String {
    match change.unit.as_str() {
        "percent" => format!("{}, %", change.name),
        "per 1000 instructions" => format!("{}, MPKI", change.name),
        _ => change.name.clone(),
    }
}

fn cut(name: &str) -> String {
    if name.chars().count() < NAME {
        return name.to_owned();
    }
    name.chars().take(NAME - 3).chain("..".chars()).collect()
}

/// A number with as many digits as say something.
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
        Number::Value(value) if value.abs() >= 1000.0 => format!("{value:.1}"),
        Number::Value(value) => format!("{value:.3}"),
    }
}

/// The same with its sign.
pub(super) fn signed(number: Number) -> String {
    let sign = if number.as_f64() > 0.0 { "+" } else { "" };
    format!("{sign}{}", printed(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_sign_and_no_empty_digits() {
        assert_eq!(signed(Number::Difference(-1_234)), "-1,234");
        assert_eq!(signed(Number::Difference(i64::MIN)), "-9,223,372,036,854,775,808");
        assert_eq!(signed(Number::Difference(5)), "+5");
        assert_eq!(signed(Number::Value(0.5)), "+0.500");
        assert_eq!(printed(Number::Value(0.000_012)), "1.200e-5");
    }
}
