//! A `stat` report in the three forms of Linux `perf stat`: text, CSV (`-x`) and JSON lines (`-j`).
//!
//! The order of fields is perf's own, so that what reads perf's output reads ours. JSON follows
//! the present form of perf: metric values are strings, and left out where there is no metric.

use std::io::{self, Write};

use serde_json::to_string as quoted;

use crate::stat::{Comment, Reading, Row, StatReport, Style, Thread};

/// Columns of a count in text.
const VALUE_WIDTH: usize = 18;
/// Columns of an event's name in text; a longer name widens the column.
const NAME_WIDTH: usize = 32;

/// What perf writes in the place of a count that there is not.
const NOT_COUNTED: &str = "<not counted>";
const NOT_SUPPORTED: &str = "<not supported>";

/// Writes the form for people.
///
/// # Errors
/// The output cannot be written.
pub fn write_text(out: &mut impl Write, report: &StatReport) -> io::Result<()> {
    writeln!(out, "\n Performance counter stats for '{}':", report.target)?;
    let longest = report.rows().map(|row| row.name.len()).max().unwrap_or_default();
    let name_width = longest.max(NAME_WIDTH);
    for section in &report.sections {
        writeln!(out)?;
        if let Some(title) = &section.title {
            writeln!(out, " {title}:\n")?;
        }
        for row in &section.rows {
            writeln!(out, "{}", text_row(row, name_width))?;
        }
    }
    writeln!(out, "\n{:>18.9} seconds time elapsed (modeled)\n", report.elapsed_seconds)
}

/// Writes one line per count, fields separated by `separator`.
///
/// # Errors
/// The output cannot be written.
pub fn write_csv(out: &mut impl Write, report: &StatReport, separator: &str) -> io::Result<()> {
    for row in report.rows() {
        writeln!(out, "{}", csv_fields(row).join(separator))?;
    }
    Ok(())
}

/// Writes one JSON object per line.
///
/// # Errors
/// The output cannot be written.
pub fn write_json(out: &mut impl Write, report: &StatReport) -> io::Result<()> {
    for row in report.rows() {
        writeln!(out, "{}", json_object(row)?)?;
    }
    Ok(())
}

fn text_row(row: &Row, name_width: usize) -> String {
    let thread = match &row.thread {
        Some(thread) => format!("{:>16}-{:<8}", thread.comm, thread.stream),
        None => String::new(),
    };
    let value = match row.reading {
        Reading::Count(count) => grouped(count),
        Reading::NotCounted => String::from(NOT_COUNTED),
        Reading::NotSupported => String::from(NOT_SUPPORTED),
    };
    let truth = row.truth.map(|truth| text_truth(truth, row)).unwrap_or_default();
    let comment = row.comment.map(text_comment).unwrap_or_default();
    let line =
        format!("{thread}{value:>VALUE_WIDTH$}      {:<name_width$}{truth}{comment}", row.name);
    // As perf does: only an event that was not counted all the time says for how much of it it was.
    let took_turns = row.running_ns != row.enabled_ns;
    let percent =
        if took_turns { format!("  ({:.2}%)", row.percent_running()) } else { String::new() };
    format!("{}{percent}", line.trim_end())
}

/// The truth beside an estimate, and how far the estimate is from it.
fn text_truth(truth: u64, row: &Row) -> String {
    let error =
        row.percent_error().map_or_else(|| String::from("-"), |error| format!("{error:+.2}%"));
    format!(" truth {:>VALUE_WIDTH$}  error {error:>9}", grouped(truth))
}

fn text_comment(comment: Comment) -> String {
    let Comment { value, style, label } = comment;
    match style {
        Style::Ratio => format!(" # {value:>7.2}  {label}"),
        Style::Percent => format!(" # {value:>7.2}% {label}"),
        Style::Frequency => format!(" # {value:>8.3} {label}"),
    }
}

/// A number with commas between groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `[thread,] value, unit, event, run_ns, percent, metric value, metric unit [, truth, error]`.
fn csv_fields(row: &Row) -> Vec<String> {
    let mut fields: Vec<String> = row.thread.iter().map(comm_tid).collect();
    let value = match row.reading {
        Reading::Count(count) => count.to_string(),
        Reading::NotCounted => String::from(NOT_COUNTED),
        Reading::NotSupported => String::from(NOT_SUPPORTED),
    };
    fields.extend([value, String::new(), row.name.clone()]);
    fields.extend([row.running_ns.to_string(), whole_percent(row)]);
    fields.extend(match row.comment {
        Some(Comment { value, style: Style::Frequency, label }) => {
            [format!("{value:.3}"), label.to_owned()]
        }
        Some(Comment { value, label, .. }) => [format!("{value:.2}"), label.to_owned()],
        None => [String::new(), String::new()],
    });
    if let Some(truth) = row.truth {
        let error = row.percent_error().map(|error| format!("{error:.4}"));
        fields.extend([truth.to_string(), error.unwrap_or_default()]);
    }
    fields
}

/// The percentage of time as perf writes it for programs: whole, with two zeros behind it.
fn whole_percent(row: &Row) -> String {
    format!("{}.00", row.percent_running().floor())
}

fn json_object(row: &Row) -> io::Result<String> {
    let mut fields = Vec::new();
    if let Some(thread) = &row.thread {
        fields.push(format!("\"thread\" : {}", quoted(&comm_tid(thread))?));
    }
    let value = match row.reading {
        Reading::Count(count) => format!("{count}.000000"),
        Reading::NotCounted => String::from(NOT_COUNTED),
        Reading::NotSupported => String::from(NOT_SUPPORTED),
    };
    fields.push(format!("\"counter-value\" : {}", quoted(&value)?));
    fields.push(String::from("\"unit\" : \"\""));
    fields.push(format!("\"event\" : {}", quoted(&row.name)?));
    fields.push(format!("\"event-runtime\" : {}", row.running_ns));
    fields.push(format!("\"pcnt-running\" : {}", whole_percent(row)));
    if let Some(comment) = row.comment {
        fields.push(format!("\"metric-value\" : \"{:.6}\"", comment.value));
        fields.push(format!("\"metric-unit\" : {}", quoted(comment.label)?));
    }
    if let Some(truth) = row.truth {
        fields.push(format!("\"truth\" : {truth}"));
        let error = row.percent_error().map(|error| format!("\"error-percent\" : {error:.4}"));
        fields.extend(error);
    }
    Ok(format!("{{{}}}", fields.join(", ")))
}

fn comm_tid(thread: &Thread) -> String {
    format!("{}-{}", thread.comm, thread.stream)
}

#[cfg(test)]
mod tests;
