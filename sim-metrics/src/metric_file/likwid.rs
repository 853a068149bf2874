//! Reader for a performance group of likwid: the events of its counters, and formulas over the
//! counters.
//!
//! ```text
//! EVENTSET
//! PMC0  INST_RETIRED
//! METRICS
//! IPC [per cycle] PMC0/PMC1
//! ```

use std::collections::BTreeMap;

use super::contents::{MetricFile, NamedText};
use crate::formula::{MetricFormula, Scale};

/// Reads one group.
pub(super) fn read(file: &NamedText<'_>) -> MetricFile {
    let mut found = MetricFile::default();
    let mut counters: BTreeMap<&str, &str> = BTreeMap::new();
    let mut group = String::new();
    let mut section = "";
    for (number, line) in file.text.lines().enumerate() {
        let place = format!("{}:{}", file.name, number + 1);
        let line = line.trim();
        let first = line.split_whitespace().next().unwrap_or_default();
        if ["SHORT", "EVENTSET", "METRICS", "LONG"].contains(&first) && section != "LONG" {
            section = first;
            group = if first == "SHORT" { line[5..].trim().to_owned() } else { group };
            continue;
        }
        match section {
            _ if line.is_empty() || line.starts_with('#') => {}
            "EVENTSET" => {
                let mut words = line.split_whitespace();
                match (words.next(), words.next()) {
                    (Some(counter), Some(event)) => {
                        counters.insert(counter, event);
                    }
                    _ => found.faults.push(format!("{place}: expected COUNTER EVENT")),
                }
            }
            "METRICS" => match metric(line, &counters, &place) {
                Ok(metric) => found.metrics.push(MetricFormula {
                    groups: Some(group.clone())
                        .filter(|group| !group.is_empty())
                        .into_iter()
                        .collect(),
                    ..metric
                }),
                Err(message) => found.faults.push(format!("{place}: {message}")),
            },
            _ => {}
        }
    }
    found
}

/// Parses `Name of it [unit] FORMULA`; the formula is the last word.
fn metric(
    line: &str,
    counters: &BTreeMap<&str, &str>,
    place: &str,
) -> Result<MetricFormula, String> {
    let Some((name, text)) = line.rsplit_once(char::is_whitespace) else {
        return Err(String::from("expected NAME FORMULA"));
    };
    let formula = in_perf_syntax(text, counters)?;
    let (name, unit) = match name.trim().strip_suffix(']').and_then(|head| head.rsplit_once('[')) {
        Some((name, unit)) => (name.trim(), unit.trim()),
        None => (name.trim(), ""),
    };
    let scale = Scale { factor: 1.0, unit: unit.to_owned() };
    Ok(MetricFormula { scale, ..MetricFormula::new(name, &formula, place) })
}

/// Returns the formula in perf's syntax, with events instead of counters.
fn in_perf_syntax(text: &str, counters: &BTreeMap<&str, &str>) -> Result<String, String> {
    let mut formula = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '0'..='9' | '.' => number_length(rest),
            c if c.is_ascii_alphabetic() => {
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            c => c.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        formula.push_str(&match c {
            '0'..='9' | '.' => number(word)?,
            c if c.is_ascii_alphabetic() => name(word, counters)?,
            '^' => return Err(String::from("'^' is a power in likwid; write the product")),
            _ => word.to_owned(),
        });
        rest = after;
    }
    Ok(formula)
}

/// Returns the length of a number: digits, a point, and an exponent with its sign.
fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let is_sign = b"+-".contains(byte) && at > 0 && b"eE".contains(&bytes[at - 1]);
        if !(byte.is_ascii_digit() || b".eE".contains(byte) || is_sign) {
            break;
        }
        at += 1;
    }
    at
}

fn number(word: &str) -> Result<String, String> {
    match word.parse::<f64>() {
        // Rust prints a double without an exponent, and so that parsing restores the value.
        Ok(value) if value.is_finite() => Ok(value.to_string()),
        _ => Err(format!("'{word}' is not a number")),
    }
}

fn name(word: &str, counters: &BTreeMap<&str, &str>) -> Result<String, String> {
    match word {
        "time" => Ok(String::from("duration_time")),
        "inverseClock" => Ok(String::from("(1 / #system_tsc_freq)")),
        counter => match counters.get(counter) {
            // Options after the event, such as a threshold, change how it is counted and not what.
            Some(event) => Ok(event.split(':').next().unwrap_or_default().to_owned()),
            None => Err(format!("'{counter}' counts nothing: no line of EVENTSET names it")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(metrics: &str) -> MetricFile {
        let text = format!(
            "SHORT  Branches\n\nEVENTSET\nPMC0  INST_RETIRED\nPMC1 CPU_CYCLES:X=1\n\nMETRICS\n{metrics}\n\
             LONG\nMETRICS in words\n"
        );
        read(&NamedText { name: "g.txt", text: &text })
    }

    #[test]
    fn counters_become_events() {
        let file = group("Runtime [s] time\nCPI  PMC1/PMC0\nClock [MHz]  1.0E-06*PMC1/time");
        assert_eq!(file.faults, Vec::<String>::new());
        let formulas: Vec<String> = file
            .metrics
            .iter()
            .map(|metric| metric.formula.as_ref().expect("good").text().to_owned())
            .collect();
        assert_eq!(
            formulas,
            ["duration_time", "CPU_CYCLES/INST_RETIRED", "0.000001*CPU_CYCLES/duration_time"]
        );
        assert_eq!(
            (file.metrics[2].name.as_str(), file.metrics[2].scale.unit.as_str()),
            ("Clock", "MHz")
        );
        assert_eq!(file.metrics[0].groups, ["Branches"]);
    }

    #[test]
    fn errors_are_reported_with_their_line() {
        let file = group("A PMC7\nB PMC0^2\nC 1e999\nalone\nD 1..2");
        assert_eq!(file.metrics, Vec::new());
        assert_eq!(file.faults.len(), 5, "{:?}", file.faults);
        assert!(file.faults[0].starts_with("g.txt:8: 'PMC7'"), "{:?}", file.faults);
    }
}
