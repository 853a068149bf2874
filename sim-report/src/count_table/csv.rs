//! Rows of `perf stat -x SEP`: `[time,] [owner, [CPUs,]] value, unit, event, [variance%,] run_ns,
//! percent, metric, unit`.

use super::error::{CountTableError, shown};
use super::row::{Row, Value, is_function, owner, spread};

/// Common separators, most likely first.
const SEPARATORS: [char; 7] = [',', ';', '\t', '|', '^', ':', ' '];
/// Fewest empty fields of a row that holds only another metric.
const METRIC_EMPTY_FIELDS: usize = 4;

/// Returns the separator, if the text consists of CSV rows.
pub(super) fn separator(text: &str) -> Option<char> {
    let lines = || text.lines().filter(|line| !line.trim_start().starts_with('#'));
    SEPARATORS.into_iter().find(|separator| lines().any(|line| entry(line, *separator).is_some()))
}

/// Reads one line. Returns `None` if it holds no count.
pub(super) fn row(
    line: &str,
    number: usize,
    separator: char,
) -> Result<Option<Row>, CountTableError> {
    let trimmed = line.trim();
    if trimmed.is_empty()
        || trimmed.starts_with('#')
        || is_metric(line, separator)
        || is_head(trimmed, separator)
    {
        return Ok(None);
    }
    let damaged = || CountTableError::Row { line: number, text: shown(trimmed) };
    let entry = entry(line, separator).ok_or_else(damaged)?;
    let value = Value::parse(&entry.value)
        .ok_or_else(|| CountTableError::Value { line: number, value: shown(&entry.value) })?;
    let share = entry.percent / 100.0;
    let owners: Vec<&str> = entry.owner.iter().map(String::as_str).collect();
    let owner = owner(&owners);
    let is_function = is_function(&owner);
    let Entry { event, spread, .. } = entry;
    Ok(Some(Row { owner, is_function, event, value, share, spread }))
}

/// Returns whether the line holds the column names.
fn is_head(line: &str, separator: char) -> bool {
    line.split(separator).any(|field| field.trim() == "counter-value")
}

/// Returns the fields of a line. A field that contains the separator is quoted.
fn fields(line: &str, separator: char) -> Vec<String> {
    let (mut fields, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if is_quoted || field.trim().is_empty() => is_quoted = !is_quoted,
            c if c == separator && !is_quoted => {
                fields.push(std::mem::take(&mut field).trim().to_owned());
            }
            c => field.push(c),
        }
    }
    fields.push(field.trim().to_owned());
    fields
}

/// Parsed fields of a row.
struct Entry {
    owner: Vec<String>,
    value: String,
    event: String,
    percent: f64,
    spread: Option<f64>,
}

/// Parses the fields of a row. The event is found by its name: the value is two fields before it,
/// the times follow it.
fn entry(line: &str, separator: char) -> Option<Entry> {
    let fields = fields(line, separator);
    let at = (2..fields.len()).find(|&at| {
        let has_name = fields[at].starts_with(|c: char| c.is_ascii_alphabetic());
        let has_unit = !fields[at - 1].starts_with(|c: char| c.is_ascii_digit());
        has_name && has_unit && Value::parse(&fields[at - 2]).is_some()
    })?;
    // An event with terms (`pmu/event=0x11,long=1/`) may contain the separator itself.
    let mut end = at;
    while fields[at..=end].iter().map(|field| field.matches('/').count()).sum::<usize>() == 1 {
        end += 1;
        if end == fields.len() {
            return None;
        }
    }
    let mut times = fields[end + 1..].iter().peekable();
    let variance = times.next_if(|field| field.ends_with('%'));
    let variance = variance.and_then(|field| field.trim_end_matches('%').parse().ok());
    times.next()?.parse::<u64>().ok()?;
    let percent = times.next()?.parse().ok()?;
    Some(Entry {
        owner: fields[..at - 2].to_vec(),
        value: fields[at - 2].clone(),
        event: fields[at..=end].join(&separator.to_string()),
        percent,
        spread: variance.and_then(spread),
    })
}

/// Returns whether the row holds another metric of the event above it: all fields before the metric
/// are empty.
fn is_metric(line: &str, separator: char) -> bool {
    let fields: Vec<&str> = line.split(separator).map(str::trim).collect();
    let is_empty = |field: &&&str| field.is_empty();
    let (Some([_, unit]), true) = (fields.last_chunk::<2>(), fields.len() > METRIC_EMPTY_FIELDS)
    else {
        return false;
    };
    fields.iter().filter(is_empty).count() >= METRIC_EMPTY_FIELDS && !unit.starts_with('<')
}
