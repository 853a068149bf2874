//! A `stat` report in the three forms of Linux `perf stat`: text, CSV (`-x`) and JSON lines (`-j`).
//!
//! The order of fields is perf's own, so that what reads perf's output reads ours. JSON follows
//! the present form of perf: metric values are strings, and left out where there is no metric.

use std::io::{self, Write};

use serde_json::to_string as quoted;

use crate::stat::{Comment, Owner, Reading, Row, StatReport, Style, Value};

/// Columns of a count in text.
const VALUE_WIDTH: usize = 18;
/// Columns of an event's name in text; a longer name widens the column.
const NAME_WIDTH: usize = 32;

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
    let value = match row.reading.value {
        Value::Count(count) => grouped(count),
        Value::NotCounted => String::from("<not counted>"),
        Value::NotSupported => String::from("<not supported>"),
    };
    let comment = row.comment.map(text_comment).unwrap_or_default();
    let running = text_running(row.reading);
    let start = text_start(row);
    let line =
        format!("{start}{value:>VALUE_WIDTH$}      {:<name_width$}{comment}{running}", row.name);
    line.trim_end().to_owned()
}

/// Time and owner before a count.
fn text_start(row: &Row) -> String {
    let time = row.time_ns.map(|ns| format!("{:>16} ", seconds(ns))).unwrap_or_default();
    match &row.owner {
        Some(Owner::Thread(thread)) => {
            format!("{time}{:>16}-{:<8}", thread.comm, thread.stream)
        }
        Some(Owner::Cpu(cpu)) => format!("{time}CPU{cpu:<7} "),
        Some(Owner::Core(core)) => format!("{time}{:<15} {:>4} ", core_id(*core), 1),
        Some(Owner::Function(_)) | None => time,
    }
}

/// The share of time with a counter, where that is not all of it.
fn text_running(reading: Reading) -> String {
    let Reading { enabled_ns, running_ns, .. } = reading;
    if running_ns == enabled_ns {
        return String::new();
    }
    format!("  ({:.2}%)", running_ns as f64 * 100.0 / enabled_ns as f64)
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

/// `[time,] [owner, [CPUs,]] value, unit, event, run_ns, percent, metric value, metric unit`.
fn csv_fields(row: &Row) -> Vec<String> {
    let mut fields: Vec<String> = row.time_ns.map(seconds).into_iter().collect();
    match &row.owner {
        Some(Owner::Core(core)) => fields.extend([core_id(*core), String::from("1")]),
        Some(Owner::Cpu(cpu)) => fields.push(format!("CPU{cpu}")),
        Some(owner) => fields.push(owner_name(owner)),
        None => {}
    }
    let value = match row.reading.value {
        Value::Count(count) => count.to_string(),
        Value::NotCounted => String::from("<not counted>"),
        Value::NotSupported => String::from("<not supported>"),
    };
    fields.extend([value, String::new(), row.name.clone()]);
    let percent = format!("{}.00", whole_percent(row.reading));
    fields.extend([row.reading.running_ns.to_string(), percent]);
    fields.extend(match row.comment {
        Some(Comment { value, style: Style::Frequency, label }) => {
            [format!("{value:.3}"), label.to_owned()]
        }
        Some(Comment { value, label, .. }) => [format!("{value:.2}"), label.to_owned()],
        None => [String::new(), String::new()],
    });
    fields
}

/// The share of time with a counter as perf computes it for other programs: in whole numbers.
fn whole_percent(reading: Reading) -> u64 {
    let Reading { enabled_ns, running_ns, .. } = reading;
    if running_ns == enabled_ns || enabled_ns == 0 {
        return 100;
    }
    let percent = u128::from(running_ns) * 100 / u128::from(enabled_ns);
    u64::try_from(percent).unwrap_or(u64::MAX)
}

fn json_object(row: &Row) -> io::Result<String> {
    let mut fields = Vec::new();
    if let Some(ns) = row.time_ns {
        fields.push(format!("\"interval\" : {}", seconds(ns)));
    }
    if let Some(owner) = &row.owner {
        let key = match owner {
            Owner::Thread(_) => "thread",
            Owner::Cpu(_) => "cpu",
            Owner::Core(_) => "core",
            Owner::Function(_) => "function",
        };
        fields.push(format!("\"{key}\" : {}", quoted(&owner_name(owner))?));
        if matches!(owner, Owner::Core(_)) {
            fields.push(String::from("\"counters\" : 1"));
        }
    }
    let value = match row.reading.value {
        Value::Count(count) => format!("{count}.000000"),
        Value::NotCounted => String::from("<not counted>"),
        Value::NotSupported => String::from("<not supported>"),
    };
    fields.push(format!("\"counter-value\" : {}", quoted(&value)?));
    fields.push(String::from("\"unit\" : \"\""));
    fields.push(format!("\"event\" : {}", quoted(&row.name)?));
    fields.push(format!("\"event-runtime\" : {}", row.reading.running_ns));
    fields.push(format!("\"pcnt-running\" : {}.00", whole_percent(row.reading)));
    if let Some(comment) = row.comment {
        fields.push(format!("\"metric-value\" : \"{:.6}\"", comment.value));
        fields.push(format!("\"metric-unit\" : {}", quoted(comment.label)?));
    }
    Ok(format!("{{{}}}", fields.join(", ")))
}

/// The owner in one word: `comm-tid`, a number, `S0-D0-C1`, a function.
fn owner_name(owner: &Owner) -> String {
    match owner {
        Owner::Thread(thread) => format!("{}-{}", thread.comm, thread.stream),
        Owner::Cpu(cpu) => cpu.to_string(),
        Owner::Core(core) => core_id(*core),
        Owner::Function(name) => name.clone(),
    }
}

/// A core as perf names it: one socket, one die.
fn core_id(core: usize) -> String {
    format!("S0-D0-C{core}")
}

/// A time in seconds with nine decimals.
fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

#[cfg(test)]
mod tests;
