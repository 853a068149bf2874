//! Values of metrics, as `perf stat -M` prints them: text, CSV and JSON lines.

use std::io::{self, Write};

use serde_json::to_string as quoted;

/// Columns of a value in text.
const VALUE_WIDTH: usize = 18;
/// Columns of a unit in text.
const UNIT_WIDTH: usize = 24;
/// Columns of a name in text.
const NAME_WIDTH: usize = 28;
/// Fields of a CSV line in front of a metric that stands alone: value, unit, event, time, percent.
const EMPTY_FIELDS: usize = 5;

/// The value of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricRow {
    /// The thread, in a report by thread.
    pub thread: Option<String>,
    /// Name of the metric.
    pub name: String,
    /// The value from the counters, scaled; NaN where there is none.
    pub value: f64,
    /// The value from exact counts, if it was asked for.
    pub exact: Option<f64>,
    /// The unit; may be empty.
    pub unit: String,
    /// Decimals, as perf has them.
    pub decimals: usize,
    /// True where the metric's own threshold calls the value bad.
    pub is_bad: bool,
    /// What the trace lacks so that the value is doubtful.
    pub doubt: Option<&'static str>,
}

impl MetricRow {
    /// The unit and the name, as perf joins them.
    fn label(&self) -> String {
        match self.unit.as_str() {
            "" => self.name.clone(),
            unit => format!("{unit}  {}", self.name),
        }
    }

    fn number(&self, value: f64) -> String {
        if value.is_nan() { String::from("nan") } else { format!("{value:.*}", self.decimals) }
    }
}

/// Writes the form for people.
///
/// # Errors
/// The output cannot be written.
pub fn write_text(out: &mut impl Write, rows: &[MetricRow]) -> io::Result<()> {
    writeln!(out, " Metrics:\n")?;
    for row in rows {
        let thread = row.thread.as_ref().map_or(String::new(), |thread| format!("{thread:>18} "));
        let value = row.number(row.value);
        let exact = row.exact.map_or(String::new(), |exact| {
            format!("  exact {}, {:+.*}", row.number(exact), row.decimals, row.value - exact)
        });
        let bad = if row.is_bad { "  bad, says its threshold" } else { "" };
        let doubt = row.doubt.map(|lack| format!("  # doubtful: {lack}")).unwrap_or_default();
        let line = format!(
            "{thread}{value:>VALUE_WIDTH$}  {:<UNIT_WIDTH$} {:<NAME_WIDTH$}{exact}{bad}{doubt}",
            row.unit, row.name
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out)
}

/// Writes one line per metric, the fields of events empty.
///
/// # Errors
/// The output cannot be written.
pub fn write_csv(out: &mut impl Write, rows: &[MetricRow], separator: &str) -> io::Result<()> {
    for row in rows {
        let mut fields: Vec<String> = row.thread.iter().cloned().collect();
        fields.extend(std::iter::repeat_n(String::new(), EMPTY_FIELDS));
        let doubt = row.doubt.map(|lack| format!(" (doubtful: {lack})")).unwrap_or_default();
        fields.extend([row.number(row.value), row.label() + &doubt]);
        writeln!(out, "{}", fields.join(separator))?;
    }
    Ok(())
}

/// Writes one JSON object per line; the value is a string, as in perf.
///
/// # Errors
/// The output cannot be written.
pub fn write_json(out: &mut impl Write, rows: &[MetricRow]) -> io::Result<()> {
    for row in rows {
        let value = |value: f64| {
            if value.is_nan() { String::from("nan") } else { format!("{value:.6}") }
        };
        write!(out, "{{")?;
        if let Some(thread) = &row.thread {
            write!(out, "\"thread\" : {}, ", quoted(thread)?)?;
        }
        write!(
            out,
            "\"metric-value\" : \"{}\", \"metric-unit\" : {}",
            value(row.value),
            quoted(&row.label())?
        )?;
        if row.is_bad {
            write!(out, ", \"metric-threshold\" : \"bad\"")?;
        }
        if let Some(lack) = row.doubt {
            write!(out, ", \"doubt\" : {}", quoted(lack)?)?;
        }
        if let Some(exact) = row.exact {
            write!(out, ", \"metric-exact\" : \"{}\"", value(exact))?;
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
        let text = written(|out| write_csv(out, &rows, ","));
        assert_eq!(text, ",,,,,0.51,per cycle  ipc\n,,,,,nan,ipc\n");
    }

    #[test]
    fn json_is_json() {
        let rows = [MetricRow { exact: Some(0.5), is_bad: true, ..row(0.513, "a \"unit\"") }];
        let text = written(|out| write_json(out, &rows));
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["metric-value"], "0.513000");
        assert_eq!(value["metric-unit"], "a \"unit\"  ipc");
        assert_eq!(
            (&value["metric-threshold"], &value["metric-exact"]),
            (&"bad".into(), &"0.500000".into())
        );
    }

    #[test]
    fn every_form_says_that_a_value_is_doubtful() {
        let rows = [MetricRow { doubt: Some("no sizes"), ..row(0.513, "per cycle") }];
        let text = written(|out| write_text(out, &rows));
        assert!(text.contains("ipc                           # doubtful: no sizes\n"), "{text}");
        let csv = written(|out| write_csv(out, &rows, ","));
        assert_eq!(csv, ",,,,,0.51,per cycle  ipc (doubtful: no sizes)\n");
        let json = written(|out| write_json(out, &rows));
        let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(value["doubt"], "no sizes");
    }

    #[test]
    fn text_shows_the_exact_value_beside() {
        let rows = [MetricRow { exact: Some(0.5), ..row(0.513, "per cycle") }];
        let text = written(|out| write_text(out, &rows));
        assert!(text.contains("0.51  per cycle"), "{text}");
        assert!(text.contains("ipc                           exact 0.50, +0.01"), "{text}");
    }
}
