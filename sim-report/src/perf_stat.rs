//! A `stat` report in the three forms of Linux `perf stat`: text, CSV (`-x`) and JSON lines (`-j`).
//!
//! The order of fields is perf's, so that programs that read perf's output read this one. JSON
//! follows the present form of perf: metric values are strings, and are absent without a metric.

use std::io::{self, Write};

use serde_json::to_string as quoted;

use sim_machine::Mode;

use crate::stat::{Comment, Owner, Reading, Row, StatReport, Style};

/// Width of a count in text.
const VALUE_WIDTH: usize = 18;
/// Width of an event's name in text; a longer name widens the column.
const NAME_WIDTH: usize = 32;

/// Text that perf writes for an event that never had a counter.
const NOT_COUNTED: &str = "<not counted>";
/// Text that perf writes for an event that no counter supports.
const NOT_SUPPORTED: &str = "<not supported>";
/// Unit in which perf writes clock times.
const TIME_UNIT: &str = "msec";

/// Writes the human-readable form.
///
/// # Errors
/// The output cannot be written.
pub fn write_text(out: &mut impl Write, report: &StatReport) -> io::Result<()> {
    writeln!(out, "\n Performance counter stats for '{}':", report.target)?;
    write_sections(out, report)?;
    match report.elapsed_seconds {
        Some(seconds) => writeln!(out, "\n{seconds:>18.9} seconds time elapsed (modeled)\n"),
        None => writeln!(out, "\n{NOT_SUPPORTED:>18} seconds time elapsed\n"),
    }
}

/// Writes the counts of the human-readable form under their headings.
///
/// # Errors
/// The output cannot be written.
pub fn write_sections(out: &mut impl Write, report: &StatReport) -> io::Result<()> {
    let name_width = name_width(report);
    for section in &report.sections {
        writeln!(out)?;
        if let Some(title) = &section.title {
            writeln!(out, " {title}:\n")?;
        }
        for row in &section.rows {
            writeln!(out, "{}", text_row(row, name_width))?;
        }
    }
    Ok(())
}

/// Writes one line per count, with fields separated by `separator`.
///
/// # Errors
/// The output cannot be written.
pub fn write_csv(out: &mut impl Write, report: &StatReport, separator: &str) -> io::Result<()> {
    for row in report.rows() {
        writeln!(out, "{}", csv_fields(row, separator).join(separator))?;
    }
    Ok(())
}

/// Optional fields of the lines of a report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columns {
    /// End of the interval.
    pub time: bool,
    /// Thread.
    pub thread: bool,
    /// Function.
    pub function: bool,
    /// Error bound of an estimate from windows.
    pub variance: bool,
    /// Exact count and error.
    pub truth: bool,
}

/// Writes the names of the columns of `-x`: the keys of `-j`.
///
/// # Errors
/// The output cannot be written.
pub fn write_csv_head(out: &mut impl Write, separator: &str, columns: Columns) -> io::Result<()> {
    let Columns { time, thread, function, variance, truth } = columns;
    let names = [
        (time, "interval"),
        (thread, "thread"),
        (function, "function"),
        (true, "counter-value"),
        (true, "unit"),
        (true, "event"),
        (variance, "variance"),
        (true, "event-runtime"),
        (true, "pcnt-running"),
        (true, "metric-value"),
        (true, "metric-unit"),
        (truth, "truth"),
        (truth, "error-percent"),
    ];
    let names = names.into_iter().filter_map(|(is_there, name)| is_there.then_some(name));
    writeln!(out, "{}", names.collect::<Vec<_>>().join(separator))
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

/// Writes the human-readable form of a report by intervals, with column headings before the first
/// interval.
///
/// # Errors
/// The output cannot be written.
pub fn write_text_interval(
    out: &mut impl Write,
    report: &StatReport,
    is_first: bool,
) -> io::Result<()> {
    if is_first {
        let columns = match report.rows().next().and_then(|row| row.owner.as_ref()) {
            Some(Owner::Core(_)) => "core            cpus             counts unit events",
            Some(Owner::Cpu(_)) => "CPU                    counts unit events",
            Some(Owner::Thread(_)) => "            comm-pid                  counts unit events",
            Some(Owner::Function(_)) | None => "            counts unit events",
        };
        writeln!(out, "#           time {columns}")?;
    }
    let name_width = name_width(report);
    report.rows().try_for_each(|row| writeln!(out, "{}", text_row(row, name_width)))
}

/// Returns the width of the column of names.
fn name_width(report: &StatReport) -> usize {
    let longest = report.rows().map(|row| row.name.len()).max().unwrap_or_default();
    longest.max(NAME_WIDTH)
}

/// Returns the error of an estimate; `None` for a count that is not estimated.
fn known(row: &Row) -> Option<f64> {
    row.variance.filter(|percent| percent.is_finite())
}

fn text_row(row: &Row, name_width: usize) -> String {
    let (value, unit) = match row.reading {
        Reading::Count(count) => (grouped(count), ""),
        Reading::Time(ns) => (format!("{:.2}", ns as f64 / 1e6), TIME_UNIT),
        Reading::NotCounted => (String::from(NOT_COUNTED), ""),
        Reading::NotSupported => (String::from(NOT_SUPPORTED), ""),
    };
    let truth = row.truth.map(|truth| text_truth(truth, row)).unwrap_or_default();
    let mut comment = row.comment.map(text_comment).unwrap_or_default();
    if let Some(doubt) = row.doubt {
        comment.push_str(&format!(" # doubtful: {doubt}"));
    }
    let start = text_start(row);
    let line =
        format!("{start}{value:>VALUE_WIDTH$} {unit:4} {:<name_width$}{truth}{comment}", row.name);
    // As in perf, the share of time is shown only for an event that was not counted all the time.
    let is_multiplexed = row.running_ns != row.enabled_ns;
    let percent =
        if is_multiplexed { format!("  ({:.2}%)", row.percent_running()) } else { String::new() };
    let variance = known(row).map(|percent| format!("  ( +-{percent:6.2}% )")).unwrap_or_default();
    format!("{}{variance}{percent}", line.trim_end())
}

/// Returns time and owner before a count.
fn text_start(row: &Row) -> String {
    let time = row.time_ns.map(|ns| format!("{:>16} ", seconds(ns))).unwrap_or_default();
    match &row.owner {
        Some(Owner::Thread(thread)) => format!("{time}{:>16}-{:<8}", thread.comm, thread.stream),
        Some(Owner::Cpu(cpu)) => format!("{time}CPU{cpu:<7} "),
        Some(Owner::Core(core)) => format!("{time}{:<15} {:>4} ", core_id(*core), 1),
        Some(Owner::Function(_)) | None => time,
    }
}

/// Returns the exact count of an estimate, and the error of the estimate.
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

/// Formats a number with commas between groups of three digits.
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

/// Returns the fields of a CSV line: `[time,] [owner, [CPUs,]] value, unit, event, [variance,]
/// run_ns, percent, metric value, metric unit [, truth, error]`.
fn csv_fields(row: &Row, separator: &str) -> Vec<String> {
    let mut fields: Vec<String> = row.time_ns.map(seconds).into_iter().collect();
    match &row.owner {
        Some(Owner::Core(core)) => fields.extend([core_id(*core), String::from("1")]),
        Some(Owner::Cpu(cpu)) => fields.push(format!("CPU{cpu}")),
        Some(owner) => fields.push(quoted_field(&owner_name(owner), separator)),
        None => {}
    }
    let (value, unit) = match row.reading {
        Reading::Count(count) => (count.to_string(), ""),
        Reading::Time(ns) => (format!("{:.2}", ns as f64 / 1e6), TIME_UNIT),
        Reading::NotCounted => (String::from(NOT_COUNTED), ""),
        Reading::NotSupported => (String::from(NOT_SUPPORTED), ""),
    };
    fields.extend([value, unit.to_owned(), row.name.clone()]);
    let variance = known(row).map(|percent| format!("{percent:.2}%")).unwrap_or_default();
    fields.extend(row.variance.map(|_| variance));
    fields.extend([row.running_ns.to_string(), whole_percent(row)]);
    let [value, label] = match row.comment {
        Some(Comment { value, style: Style::Frequency, label }) => {
            [format!("{value:.3}"), label.to_owned()]
        }
        Some(Comment { value, label, .. }) => [format!("{value:.2}"), label.to_owned()],
        None => [String::new(), String::new()],
    };
    fields.extend([value, doubted(label, row)]);
    if let Some(truth) = row.truth {
        let error = row.percent_error().map(|error| format!("{error:.4}"));
        fields.extend([truth.to_string(), error.unwrap_or_default()]);
    }
    fields
}

/// Returns the field of the metric's unit, which every count has. It also marks a doubtful count.
fn doubted(label: String, row: &Row) -> String {
    match row.doubt {
        None => label,
        Some(doubt) if label.is_empty() => format!("doubtful: {doubt}"),
        Some(doubt) => format!("{label} (doubtful: {doubt})"),
    }
}

/// Returns the percentage of time as perf writes it for programs: an integer followed by two zeros.
fn whole_percent(row: &Row) -> String {
    format!("{}.00", row.percent_running().floor())
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
    let (value, unit) = match row.reading {
        Reading::Count(count) => (format!("{count}.000000"), ""),
        Reading::Time(ns) => (format!("{:.6}", ns as f64 / 1e6), TIME_UNIT),
        Reading::NotCounted => (String::from(NOT_COUNTED), ""),
        Reading::NotSupported => (String::from(NOT_SUPPORTED), ""),
    };
    fields.push(format!("\"counter-value\" : {}", quoted(&value)?));
    fields.push(format!("\"unit\" : \"{unit}\""));
    fields.push(format!("\"event\" : {}", quoted(&row.name)?));
    fields.extend(known(row).map(|percent| format!("\"variance\" : {percent:.2}")));
    fields.push(format!("\"event-runtime\" : {}", row.running_ns));
    fields.push(format!("\"pcnt-running\" : {}", whole_percent(row)));
    if let Some(comment) = row.comment {
        fields.push(format!("\"metric-value\" : \"{:.6}\"", comment.value));
        fields.push(format!("\"metric-unit\" : {}", quoted(comment.label)?));
    }
    if let Some(doubt) = row.doubt {
        fields.push(format!("\"doubt\" : {}", quoted(doubt)?));
    }
    if row.mode != Mode::Full {
        fields.push(format!("\"mode\" : \"{}\"", row.mode.name()));
    }
    if let Some(truth) = row.truth {
        fields.push(format!("\"truth\" : {truth}"));
        let error = row.percent_error().map(|error| format!("\"error-percent\" : {error:.4}"));
        fields.extend(error);
    }
    Ok(format!("{{{}}}", fields.join(", ")))
}

/// Quotes a field, such as the name of a function, if it contains the separator.
pub(crate) fn quoted_field(field: &str, separator: &str) -> String {
    if field.contains(separator) || field.contains('"') {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}

/// Returns the owner in one word: `comm-tid`, a number, `S0-D0-C1`, a function.
fn owner_name(owner: &Owner) -> String {
    match owner {
        Owner::Thread(thread) => format!("{}-{}", thread.comm, thread.stream),
        Owner::Cpu(cpu) => cpu.to_string(),
        Owner::Core(core) => core_id(*core),
        Owner::Function(name) => name.clone(),
    }
}

/// Returns the name of a core in perf: one socket, one die.
fn core_id(core: usize) -> String {
    format!("S0-D0-C{core}")
}

/// Formats a time in seconds with nine decimals.
fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

#[cfg(test)]
mod tests;
