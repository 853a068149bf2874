//! Values of metrics, as `perf stat -M` prints them: text, CSV and JSON lines.

use std::io::{self, Write};

use serde_json::to_string as quoted;

use crate::perf_stat::quoted_field;

/// Width of a value in text.
const VALUE_WIDTH: usize = 18;
/// Width of a unit in text.
const UNIT_WIDTH: usize = 24;
/// Width of a name in text.
const NAME_WIDTH: usize = 28;
/// Empty fields of a CSV line before a metric without an event: value, unit, event, time, percent.
const EMPTY_FIELDS: usize = 5;
/// Fewest significant digits of a value in text.
const DIGITS: i32 = 4;
/// Most decimals of a value in text.
const DECIMALS_MAX: i32 = 9;

/// Value of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricRow {
    /// Thread, in a report by thread.
    pub thread: Option<String>,
    /// Name of the metric.
    pub name: String,
    /// Value from the counters, scaled; NaN if there is none.
    pub value: f64,
    /// Value from exact counts, if requested.
    pub exact: Option<f64>,
    /// Unit; may be empty.
    pub unit: String,
    /// Decimals that perf prints; text has more if these show less than four digits.
    pub decimals: usize,
    /// Whether the value exceeds the threshold of the metric.
    pub is_bad: bool,
    /// Data missing from the trace that makes the value doubtful.
    pub doubt: Option<&'static str>,
}

impl MetricRow {
    /// Returns the unit and the name, joined as in perf.
    fn label(&self) -> String {
        match self.unit.as_str() {
            "" => self.name.clone(),
            unit => format!("{unit}  {}", self.name),
        }
    }

    /// Formats a value for text: with perf's decimals, and at least four significant digits.
    fn rounded(&self, value: f64) -> String {
        if !value.is_finite() {
            return exactly(value);
        }
        format!("{value:.*}", self.decimals_of(value))
    }

    fn decimals_of(&self, value: f64) -> usize {
        if value == 0.0 {
            return self.decimals;
        }
        let magnitude = value.abs().log10().floor() as i32;
        let decimals = (DIGITS - 1 - magnitude).clamp(0, DECIMALS_MAX);
        usize::try_from(decimals).unwrap_or_default().max(self.decimals)
    }

    /// Formats the exact value and the error of the estimate, with the same decimals.
    fn difference(&self, exact: f64) -> String {
        let decimals = self.decimals_of(exact);
        format!("exact {}, {:+.decimals$}", self.rounded(exact), self.value - exact)
    }
}

/// Formats a value for programs: the shortest text that reads back as the same number.
fn exactly(value: f64) -> String {
    if value.is_nan() { String::from("nan") } else { format!("{value}") }
}

/// Writes the human-readable form.
///
/// # Errors
/// The output cannot be written.
pub fn write_text(out: &mut impl Write, rows: &[MetricRow]) -> io::Result<()> {
    writeln!(out, " Metrics:\n")?;
    for row in rows {
        let thread = row.thread.as_ref().map_or(String::new(), |thread| format!("{thread:>18} "));
        let value = row.rounded(row.value);
        let exact = row.exact.map_or(String::new(), |exact| format!("  {}", row.difference(exact)));
        let bad = if row.is_bad { "  exceeds its threshold" } else { "" };
        let doubt = row.doubt.map(|lack| format!("  # doubtful: {lack}")).unwrap_or_default();
        let line = format!(
            "{thread}{value:>VALUE_WIDTH$}  {:<UNIT_WIDTH$} {:<NAME_WIDTH$}{exact}{bad}{doubt}",
            row.unit, row.name
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out)
}

/// Writes one line per metric, with the fields of events empty. The exact value, if requested,
/// comes last. `has_variance` adds the field that events with a variance have.
///
/// # Errors
/// The output cannot be written.
pub fn write_csv(
    out: &mut impl Write,
    rows: &[MetricRow],
    separator: &str,
    has_variance: bool,
) -> io::Result<()> {
    for row in rows {
        let thread = row.thread.iter().map(|thread| quoted_field(thread, separator));
        let mut fields: Vec<String> = thread.collect();
        fields.extend(std::iter::repeat_n(String::new(), EMPTY_FIELDS + usize::from(has_variance)));
        let doubt = row.doubt.map(|lack| format!(" (doubtful: {lack})")).unwrap_or_default();
        fields.extend([exactly(row.value), row.label() + &doubt]);
        fields.extend(row.exact.map(exactly));
        writeln!(out, "{}", fields.join(separator))?;
    }
    Ok(())
}

/// Writes one JSON object per line. The value is a string, as in perf.
///
/// # Errors
/// The output cannot be written.
pub fn write_json(out: &mut impl Write, rows: &[MetricRow]) -> io::Result<()> {
    for row in rows {
        write!(out, "{{")?;
        if let Some(thread) = &row.thread {
            write!(out, "\"thread\" : {}, ", quoted(thread)?)?;
        }
        write!(
            out,
            "\"metric-value\" : \"{}\", \"metric-unit\" : {}",
            exactly(row.value),
            quoted(&row.label())?
        )?;
        if row.is_bad {
            write!(out, ", \"metric-threshold\" : \"bad\"")?;
        }
        if let Some(lack) = row.doubt {
            write!(out, ", \"doubt\" : {}", quoted(lack)?)?;
        }
        if let Some(exact) = row.exact {
            write!(out, ", \"metric-exact\" : \"{}\"", exactly(exact))?;
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: f64, unit: &str) -> MetricRow {
        MetricRow {
            thread: None,
            name: "ipc".to_owned(),
            value,
            exact: None,
            unit: unit.to_owned(),
            decimals: 2,
            is_bad: false,
            doubt: None,
        }
    }

    fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).expect("memory takes everything");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn csv_leaves_the_fields_of_events_empty() {
        let rows = [row(0.513, "per cycle"), row(f64::NAN, "")];
        let text = written(|out| write_csv(out, &rows, ",", false));
        assert_eq!(text, ",,,,,0.513,per cycle  ipc\n,,,,,nan,ipc\n");
        let estimated = written(|out| write_csv(out, &rows[..1], ",", true));
        assert_eq!(estimated, ",,,,,,0.513,per cycle  ipc\n", "a field for the variance");
    }

    #[test]
    fn json_is_json() {
        let rows = [MetricRow { exact: Some(0.5), is_bad: true, ..row(0.513, "a \"unit\"") }];
        let text = written(|out| write_json(out, &rows));
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["metric-value"], "0.513");
        assert_eq!(value["metric-unit"], "a \"unit\"  ipc");
        assert_eq!(
            (&value["metric-threshold"], &value["metric-exact"]),
            (&"bad".into(), &"0.5".into())
        );
    }

    #[test]
    fn every_form_marks_a_doubtful_value() {
        let rows = [MetricRow { doubt: Some("no sizes"), ..row(0.513, "per cycle") }];
        let text = written(|out| write_text(out, &rows));
        assert!(text.contains("ipc                           # doubtful: no sizes\n"), "{text}");
        let csv = written(|out| write_csv(out, &rows, ",", false));
        assert_eq!(csv, ",,,,,0.513,per cycle  ipc (doubtful: no sizes)\n");
        let json = written(|out| write_json(out, &rows));
        let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(value["doubt"], "no sizes");
    }

    #[test]
    fn text_shows_the_exact_value_next_to_the_estimate() {
        let rows = [MetricRow { exact: Some(0.5), ..row(0.513, "per cycle") }];
        let text = written(|out| write_text(out, &rows));
        assert!(text.contains("0.5130  per cycle"), "{text}");
        assert!(text.contains("ipc                           exact 0.5000, +0.0130"), "{text}");
    }

    /// Includes two thirds of a millionth and 123.456 thousand, with one decimal in perf.
    #[test]
    fn text_has_four_digits_and_machine_readable_forms_have_all() {
        for (value, text, exact) in [
            (0.414_779_123, "0.4148", "0.414779123"),
            (7.12, "7.120", "7.12"),
            (91.956, "91.96", "91.956"),
            (123_456.789, "123456.8", "123456.789"),
            (2.0 / 3.0 * 1e-6, "0.000000667", "0.0000006666666666666666"),
            (-0.05, "-0.05000", "-0.05"),
            (0.0, "0.0", "0"),
            (f64::INFINITY, "inf", "inf"),
        ] {
            let row = MetricRow { decimals: 1, ..row(value, "") };
            assert_eq!((row.rounded(value).as_str(), exactly(value).as_str()), (text, exact));
        }
    }
}
