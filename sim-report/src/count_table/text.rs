//! Rows of the text that `perf stat` and `perf stat report` print for people:
//! `[time] [whose [CPUs]] value [unit] event [# metric] [( +- variance )] [(percent)]`.

use super::{CountTableError, Row, Value};

/// Ends of lines that begin with a number and hold no count.
const TIMES: [&str; 4] = ["seconds time elapsed", "seconds user", "seconds sys", "(modeled)"];

/// True at the head of the counts of another program or run.
pub(super) fn is_head(line: &str) -> bool {
    line.trim_start().starts_with("Performance counter stats for")
}

/// One line; `None` if it holds no count.
pub(super) fn row(line: &str, number: usize) -> Result<Option<Row>, CountTableError> {
    let (line, share) = without_percent(line);
    // Only ASCII blanks separate: others are thousands separators of some languages.
    let head = line.split('#').next().unwrap_or(line);
    let head = head.replace("<not counted>", "<not-counted>");
    let head = head.replace("<not supported>", "<not-supported>");
    let tokens: Vec<&str> = head.split_ascii_whitespace().collect();
    if TIMES.iter().any(|end| line.trim_end().ends_with(end)) {
        return Ok(None);
    }
    let Some((event, before)) = tokens.split_last() else {
        return Ok(None);
    };
    match value_in(before).filter(|_| is_event(event)) {
        Some((owners, value)) => {
            let whose = super::owner(owners);
            Ok(Some(Row { whose, event: (*event).to_owned(), value, share }))
        }
        None if line.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '<') => {
            Err(CountTableError::Row { line: number, text: line.trim().to_owned() })
        }
        None => Ok(None),
    }
}

/// The value before an event, with a unit between them or without, and what stands before it.
fn value_in<'a, 'b>(before: &'a [&'b str]) -> Option<(&'a [&'b str], Value)> {
    let (last, owners) = before.split_last()?;
    if let Some(value) = number_of(last) {
        return Some((owners, value));
    }
    let is_unit = last.chars().all(|c| c.is_alphabetic());
    let (value, owners) = owners.split_last().filter(|_| is_unit)?;
    Some((owners, number_of(value)?))
}

/// A value, with the thousands separators of any language.
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

/// The line without what stands in parentheses at its end, and the share of time in it.
fn without_percent(line: &str) -> (&str, f64) {
    let (mut line, mut share) = (line.trim_end(), 1.0);
    while let Some((rest, inside)) = line.strip_suffix(')').and_then(|line| line.rsplit_once('(')) {
        let inside = inside.trim();
        let is_variance = inside.starts_with("+-");
        let Some(percent) = inside.strip_suffix('%') else { break };
        match percent.trim().parse::<f64>() {
            Ok(percent) => share = percent / 100.0,
            Err(_) if is_variance => {}
            Err(_) => break,
        }
        line = rest.trim_end();
    }
    (line, share)
}
