//! Tables of the page: a summary by class, and every row.

use std::fmt::Write as _;

use super::replay::Compared;
use super::rows::{Class, MACHINES, Row, Unit};

/// Largest error of a near row, as a part of silicon's time.
const NEAR: f64 = 0.15;

/// Name of a group of rows, and its members.
type Group = (&'static str, fn(&Row) -> bool);

const GROUPS: [Group; 9] = [
    ("core", |row| row.class == Class::Core),
    ("L1", |row| row.class == Class::L1),
    ("L2", |row| row.class == Class::L2),
    ("system level cache", |row| row.class == Class::Slc),
    ("memory", |row| row.class == Class::Dram),
    ("two cores at once, of those above", |row| row.threads == 2),
    ("**all**", |_| true),
    ("all, the third with a °", Row::is_held_out),
    ("all, the rest", |row| !row.is_held_out()),
];

/// Writes rows, median error and share of near ones, by class and by whether a value could be
/// fitted to them.
pub(super) fn summary(compared: &[&Compared<'_>]) -> String {
    let mut text = String::from(
        "| rows | number | median error | within 15 % |\n| --- | ---: | ---: | ---: |\n",
    );
    for (name, is_in) in GROUPS {
        let mut errors: Vec<f64> = compared
            .iter()
            .filter(|compared| is_in(compared.row))
            .map(|compared| compared.error().abs())
            .collect();
        errors.sort_by(f64::total_cmp);
        let Some(median) = median(&errors) else { continue };
        let near = errors.iter().filter(|error| **error <= NEAR).count();
        let share = 100.0 * near as f64 / errors.len() as f64;
        let _ = writeln!(
            text,
            "| {name} | {} | {:.1} % | {share:.0} % |",
            errors.len(),
            100.0 * median
        );
    }
    text
}

/// Returns the median of sorted numbers.
fn median(sorted: &[f64]) -> Option<f64> {
    let (low, high) = (sorted.len().checked_sub(1)? / 2, sorted.len() / 2);
    Some((sorted[low] + sorted[high]) / 2.0)
}

/// Writes every row of a file: silicon, model and error on each machine.
pub(super) fn rows(file: &str, rows: &[Row], compared: &[Compared<'_>]) -> String {
    let mut text = String::from(
        "| row | unit | cobalt-100: silicon | model | error | yitian-710: silicon | model | error |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut seen: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.name.starts_with(file)) {
        if seen.contains(&row.name.as_str()) {
            continue;
        }
        seen.push(&row.name);
        let name = row.name.strip_prefix(file).unwrap_or(&row.name).trim_start_matches('/');
        let mark = if row.is_held_out() { " °" } else { "" };
        let _ = write!(text, "| {name}{mark} | {} |", unit(row.unit));
        for machine in MACHINES {
            let of_machine = |other: &&Row| other.machine == machine && other.name == row.name;
            let Some(own) = rows.iter().find(of_machine) else {
                text += " | | |";
                continue;
            };
            let found = compared.iter().find(|compared| std::ptr::eq(compared.row, own));
            let _ = match found {
                Some(found) => write!(
                    text,
                    " {} | {} | {:+.1} % |",
                    shown(own.unit, own.silicon),
                    shown(own.unit, found.model),
                    100.0 * found.error()
                ),
                None => write!(text, " {} | – | – |", shown(own.unit, own.silicon)),
            };
        }
        text += "\n";
    }
    text
}

/// Returns the unit of a row in tables.
fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::BytesPerSecond => "GB/s",
        Unit::NanosecondsPerNode => "ns",
        Unit::CyclesPerRound => "cycles",
    }
}

/// Returns a value with at least three digits.
fn shown(unit: Unit, value: f64) -> String {
    let value = if unit == Unit::BytesPerSecond { value / 1e9 } else { value };
    match value {
        ..1.0 => format!("{value:.4}"),
        ..10.0 => format!("{value:.3}"),
        ..100.0 => format!("{value:.2}"),
        _ => format!("{value:.1}"),
    }
}

/// Writes the rows that are not near, the farthest first.
pub(super) fn far(compared: &[Compared<'_>]) -> String {
    let mut far: Vec<&Compared<'_>> =
        compared.iter().filter(|compared| compared.error().abs() > NEAR).collect();
    far.sort_by(|a, b| b.error().abs().total_cmp(&a.error().abs()));
    let mut text = String::from("| row | machine | error |\n| --- | --- | ---: |\n");
    for compared in far {
        let (name, machine) = (&compared.row.name, compared.row.machine.name());
        let _ = writeln!(text, "| {name} | {machine} | {:+.1} % |", 100.0 * compared.error());
    }
    text
}

/// Writes the rows that no replay repeats, with the reason.
pub(super) fn out_of_reach(rows: &[Row]) -> String {
    let mut text = String::from("| row | machine | why |\n| --- | --- | --- |\n");
    for row in rows {
        if let Some(why) = row.out_of_reach {
            let _ = writeln!(text, "| {} | {} | {why} |", row.name, row.machine.name());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_two_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, 2.0, 9.0]), Some(2.0));
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), Some(3.0));
    }

    #[test]
    fn small_values_keep_their_digits() {
        assert_eq!(shown(Unit::BytesPerSecond, 41_817_635.0), "0.0418");
        assert_eq!(shown(Unit::NanosecondsPerNode, 126.23), "126.2");
    }
}
