//! Rows of the human-readable text of `perf stat` and `perf stat report`:
//! `[time] [owner [CPUs]] value [unit] event [# metric] [( +- variance )] [(percent)]`.

use super::error::{CountTableError, shown};
use super::row::{Row, Value, owner, spread};

/// Endings of lines that begin with a number and hold no count.
const TIMES: [&str; 5] = [
    "seconds time elapsed",
    "seconds user",
    "seconds sys",
    "(modeled)",
    // First line below the counts of n2sim's Cortex-A53.
    "instructions per cycle (at most 2)",
];

/// Returns whether the line heads the counts of another program or run.
pub(super) fn is_head(line: &str) -> bool {
    line.trim_start().starts_with("Performance counter stats for")
}

/// Position within the output of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// Whether the line is below the heading of a run and above its times.
    is_in_run: bool,
    /// Whether the line is below the times of a run, where other tables follow.
    is_after_run: bool,
    /// Function that the counts belong to.
    function: Option<String>,
}

impl Place {
    /// Reads one line. Returns `None` if it holds no count.
    pub(super) fn row(
        &mut self,
        line: &str,
        number: usize,
    ) -> Result<Option<Row>, CountTableError> {
        if is_function_table(line) {
            return Err(CountTableError::FunctionTable { line: number });
        }
        if is_head(line) {
            *self = Place { is_in_run: true, ..Place::default() };
            return Ok(None);
        }
        if is_time(line) {
            *self = Place { is_after_run: true, ..Place::default() };
            return Ok(None);
        }
        if self.is_after_run {
            return Ok(None);
        }
        if let Some(name) = title(line).filter(|_| self.is_in_run) {
            self.function = (!is_chapter(name)).then(|| name.to_owned());
            return Ok(None);
        }
        let row = row(line, number)?;
        Ok(row.map(|row| match &self.function {
            Some(name) => Row { owner: name.clone(), is_function: true, ..row },
            None => row,
        }))
    }
}

/// Returns the name in a heading of counts: ` name:`.
fn title(line: &str) -> Option<&str> {
    let name = line.strip_prefix(' ')?.strip_suffix(':')?;
    let is_one = !name.starts_with(' ') && !name.is_empty();
    is_one.then_some(name)
}

/// Returns whether the heading is a chapter of events.
fn is_chapter(title: &str) -> bool {
    title.contains("(PMU guide ")
}

/// Returns whether the line heads the human-readable table by function of `n2sim stat`.
fn is_function_table(line: &str) -> bool {
    line.trim_start().starts_with("Exact counts by function for")
}

/// Returns whether the line is a time after the counts of a run or of several.
fn is_time(line: &str) -> bool {
    let (line, _) = without_percents(line);
    TIMES.iter().any(|end| line.ends_with(end))
}

/// Reads one line. Returns `None` if it holds no count.
fn row(line: &str, number: usize) -> Result<Option<Row>, CountTableError> {
    let (line, Percents { share, spread }) = without_percents(line);
    // Only ASCII blanks separate columns: other blanks are thousands separators of some languages.
    let head = line.split('#').next().unwrap_or(line);
    let head = head.replace("<not counted>", "<not-counted>");
    let head = head.replace("<not supported>", "<not-supported>");
    let tokens: Vec<&str> = head.split_ascii_whitespace().collect();
    let Some((event, before)) = tokens.split_last() else {
        return Ok(None);
    };
    match value_in(before).filter(|_| is_event(event)) {
        Some((owners, value)) => {
            let owner = owner(owners);
            let event = (*event).to_owned();
            Ok(Some(Row { owner, is_function: false, event, value, share, spread }))
        }
        None if line.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '<') => {
            Err(CountTableError::Row { line: number, text: shown(line.trim()) })
        }
        None => Ok(None),
    }
}

/// Returns the value before an event, with or without a unit in between, and the fields before the
/// value.
fn value_in<'a, 'b>(before: &'a [&'b str]) -> Option<(&'a [&'b str], Value)> {
    let (last, owners) = before.split_last()?;
    if let Some(value) = number_of(last) {
        return Some((owners, value));
    }
    let is_unit = last.chars().all(|c| c.is_alphabetic());
    let (value, owners) = owners.split_last().filter(|_| is_unit)?;
    Some((owners, number_of(value)?))
}

/// Parses a value with the thousands separators of any language.
fn number_of(token: &str) -> Option<Value> {
    let token = token.replace("<not-", "<not ");
    let is_separator = |c: char| matches!(c, ',' | '.' | '\'' | '’' | '\u{a0}' | '\u{202f}');
    let groups: Vec<&str> = token.split(is_separator).collect();
    let is_grouped = groups.len() > 1
        && (1..=3).contains(&groups[0].len())
        && groups[1..].iter().all(|group| group.len() == 3)
        && groups.iter().all(|group| group.chars().all(|c| c.is_ascii_digit()));
    if is_grouped { Value::parse(&groups.concat()) } else { Value::parse(&token) }
}

fn is_event(token: &str) -> bool {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || "_-./:=,@".contains(c);
    token.starts_with(|c: char| c.is_ascii_alphabetic()) && token.chars().all(is_inside)
}

/// Numbers in the parentheses at the end of a line, as shares.
struct Percents {
    /// Share of the time for which the event was counted.
    share: f64,
    /// Spread of several runs.
    spread: Option<f64>,
}

/// Returns the line without the parentheses at its end, and their numbers.
fn without_percents(line: &str) -> (&str, Percents) {
    let mut line = line.trim_end();
    let mut percents = Percents { share: 1.0, spread: None };
    while let Some((rest, inside)) = line.strip_suffix(')').and_then(|line| line.rsplit_once('(')) {
        let Some(percent) = inside.trim().strip_suffix('%') else { break };
        match percent.strip_prefix("+-") {
            Some(of_runs) => percents.spread = of_runs.trim().parse().ok().and_then(spread),
            None => match percent.trim().parse::<f64>() {
                Ok(percent) => percents.share = percent / 100.0,
                Err(_) => break,
            },
        }
        line = rest.trim_end();
    }
    (line, percents)
}
