//! Differences between two runs as separated values: a line of names, then one line for each
//! number.

use std::io::{self, Write};

use super::{Change, Number, RunDiff};

/// Names of the fields.
const FIELDS: [&str; 11] = [
    "section",
    "id",
    "name",
    "unit",
    "from",
    "to",
    "change",
    "change_percent",
    "per_instruction_percent",
    "from_share_percent",
    "to_share_percent",
];

/// Writes the numbers that changed. A field with the separator, a quote or a line break is quoted.
///
/// # Errors
/// The output cannot be written.
pub fn write_csv(out: &mut impl Write, diff: &RunDiff, separator: &str) -> io::Result<()> {
    writeln!(out, "{}", FIELDS.join(separator))?;
    for section in &diff.sections {
        for change in &section.changes {
            let fields = fields(&section.id, change).map(|field| quoted(&field, separator));
            writeln!(out, "{}", fields.join(separator))?;
        }
    }
    Ok(())
}

fn fields(section: &str, change: &Change) -> [String; 11] {
    let exact = |number: Option<Number>| match number {
        Some(Number::Count(count)) => count.to_string(),
        Some(Number::Difference(difference)) => difference.to_string(),
        Some(Number::Value(value)) => value.to_string(),
        None => String::new(),
    };
    let percent = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.4}"));
    [
        section.to_owned(),
        change.id.clone(),
        change.name.trim_start_matches('\u{a0}').to_owned(),
        change.unit.clone(),
        exact(change.from),
        exact(change.to),
        exact(change.change),
        percent(change.percent),
        percent(change.rate_percent),
        percent(change.from_share),
        percent(change.to_share),
    ]
}

/// Quotes a field that a reader could take for more than one.
pub(crate) fn quoted(field: &str, separator: &str) -> String {
    let is_plain = !field.contains(separator) && !field.contains(['"', '\n', '\r']);
    if is_plain { field.to_owned() } else { format!("\"{}\"", field.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_contains_the_separator_is_quoted() {
        assert_eq!(quoted("L2, all", ","), "\"L2, all\"");
        assert_eq!(quoted("L2, all", ";"), "L2, all");
        assert_eq!(quoted("operator\"\" _s", ";"), "\"operator\"\"\"\" _s\"");
    }
}
