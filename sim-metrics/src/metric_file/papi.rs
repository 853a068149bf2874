//! Reader for presets of PAPI: lines `PRESET,NAME,HOW,EVENT,...`, each group after `CPU,PMU` lines
//! that name its cores.
//!
//! The sum, difference, postfix or infix of a preset becomes a formula in perf's syntax.

use super::contents::{MetricFile, NamedText};
use crate::formula::{MetricFormula, Scale};

/// Name of the core's PMU in PAPI's event library.
const OWN_PMU: &str = "arm_n2";
/// Words before a description of the preset.
const TEXTS: [&str; 3] = ["LDESC", "SDESC", "NOTE"];
/// Name of perf's time of the window.
const TIME: &str = "duration_time";
/// Largest number of operands on the stack of a postfix formula.
const STACK_MAX: usize = 64;

/// Reads the presets for this core. Presets before any `CPU` line are for every core.
pub(super) fn read(file: &NamedText<'_>) -> MetricFile {
    let mut found = MetricFile::default();
    let mut cores: Vec<String> = Vec::new();
    let mut other_cores = 0;
    let mut is_heading = false;
    for (number, line) in file.text.lines().enumerate() {
        let place = format!("{}:{}", file.name, number + 1);
        let fields = fields(line);
        let Some(kind) = fields.first().filter(|field| !field.starts_with('#')) else {
            continue;
        };
        match kind.as_str() {
            "CPU" => {
                if !is_heading {
                    cores.clear();
                }
                cores.extend(fields.get(1).cloned());
            }
            "PRESET" | "EVENT" => {
                if !cores.is_empty() && !cores.iter().any(|core| core == OWN_PMU) {
                    other_cores += 1;
                } else {
                    match preset(&fields, &place) {
                        Ok(metric) => found.metrics.push(metric),
                        Err(message) => found.faults.push(format!("{place}: {message}")),
                    }
                }
            }
            other => found
                .faults
                .push(format!("{place}: '{other}' where CPU, PRESET or EVENT is expected")),
        }
        is_heading = kind == "CPU";
    }
    if found.metrics.is_empty() && other_cores > 0 {
        found.faults.push(format!(
            "{}: all {other_cores} presets are for other cores; those of this core follow CPU,{OWN_PMU}",
            file.name
        ));
    }
    found
}

/// Returns the fields of a line. Commas in quotes do not separate fields.
fn fields(line: &str) -> Vec<String> {
    let line = line.trim();
    if line.is_empty() {
        return Vec::new();
    }
    let mut fields = vec![String::new()];
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, ',') => fields.push(String::new()),
            (_, c) => fields.last_mut().expect("starts with one field").push(c),
        }
    }
    fields.iter().map(|field| field.trim().to_owned()).collect()
}

fn preset(fields: &[String], place: &str) -> Result<MetricFormula, String> {
    let [_, name, how, rest @ ..] = fields else {
        return Err(String::from("expected PRESET,NAME,HOW,EVENT"));
    };
    let is_text = |field: &String| TEXTS.contains(&field.to_ascii_uppercase().as_str());
    let end = rest.iter().position(is_text).unwrap_or(rest.len());
    let (operands, texts) = rest.split_at(end);
    let operands: Vec<&str> =
        operands.iter().map(String::as_str).filter(|field| !field.is_empty()).collect();
    let text = formula(how, &operands)?;
    Ok(MetricFormula {
        description: texts.get(1).cloned().unwrap_or_default(),
        scale: Scale::default(),
        ..MetricFormula::new(name, &text, place)
    })
}

/// Returns the formula of a preset in perf's syntax.
fn formula(how: &str, operands: &[&str]) -> Result<String, String> {
    let events = |list: &[&str]| list.iter().map(|event| event_name(event)).collect::<Vec<_>>();
    let joined = |list: &[&str], operator: &str| match list {
        [] => Err(format!("{how} without an event")),
        list => Ok(events(list).join(operator)),
    };
    match how.to_ascii_uppercase().as_str() {
        "NOT_DERIVED" | "" => match operands {
            [event] => Ok(event_name(event)),
            other => Err(format!("NOT_DERIVED with {} events; it takes one", other.len())),
        },
        "DERIVED_ADD" => joined(operands, " + "),
        "DERIVED_SUB" => joined(operands, " - "),
        "DERIVED_CMPD" => joined(operands, " + "),
        "DERIVED_PS" => match operands {
            // The first event is the clock, whose time perf provides.
            [_, event] => Ok(format!("{} / {TIME}", event_name(event))),
            other => Err(format!("DERIVED_PS with {} events; it takes two", other.len())),
        },
        "DERIVED_ADD_PS" => match operands {
            [_, events @ ..] => Ok(format!("({}) / {TIME}", joined(events, " + ")?)),
            [] => Err(String::from("DERIVED_ADD_PS without an event")),
        },
        "DERIVED_POSTFIX" | "DERIVED_INFIX" => {
            let [text, list @ ..] = operands else {
                return Err(format!("{how} without a formula"));
            };
            let events = events(list);
            if how.eq_ignore_ascii_case("DERIVED_INFIX") {
                infix(text, &events)
            } else {
                postfix(text, &events)
            }
        }
        other => Err(format!(
            "'{other}' does not derive a preset; known are NOT_DERIVED, DERIVED_ADD, _SUB, _CMPD, \
             _PS, _ADD_PS, _POSTFIX and _INFIX"
        )),
    }
}

/// Returns the name of a native event without its PMU, and with attributes as perf's modifiers.
fn event_name(event: &str) -> String {
    let name = event.rsplit_once("::").map_or(event, |(_, name)| name);
    let mut parts = name.split(':');
    let plain = parts.next().unwrap_or_default().replace('-', r"\-");
    let levels: String = parts.filter(|part| ["u", "k", "h"].contains(part)).collect();
    if levels.is_empty() { plain } else { format!("{plain}:{levels}") }
}

/// Converts a postfix formula such as `N0|N1|+|` to infix notation.
fn postfix(text: &str, events: &[String]) -> Result<String, String> {
    let mut stack: Vec<String> = Vec::new();
    for word in text.split('|').map(str::trim).filter(|word| !word.is_empty()) {
        match word {
            "+" | "-" | "*" | "/" | "%" => {
                let (Some(right), Some(left)) = (stack.pop(), stack.pop()) else {
                    return Err(format!("'{text}': {word} lacks an operand"));
                };
                stack.push(format!("({left} {word} {right})"));
            }
            "#" => return Err(String::from("'#', the clock of PAPI's machine, has no value here")),
            word => stack.push(operand(word, events)?),
        }
        if stack.len() > STACK_MAX {
            return Err(format!("the formula stacks more than {STACK_MAX} operands"));
        }
    }
    match (stack.pop(), stack.pop()) {
        (Some(whole), None) => Ok(whole),
        _ => Err(format!("'{text}' does not reduce to one value")),
    }
}

/// Returns a formula such as `(N0+N1)/N2` with the events instead of their numbers.
fn infix(text: &str, events: &[String]) -> Result<String, String> {
    let mut formula = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '.';
        let length = match is_word(c) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => c.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        let is_operand = is_word(c);
        formula.push_str(&if is_operand { operand(word, events)? } else { word.to_owned() });
        rest = after;
    }
    Ok(formula)
}

fn operand(word: &str, events: &[String]) -> Result<String, String> {
    let number = word.strip_prefix('N').and_then(|digits| digits.parse::<usize>().ok());
    match number {
        Some(number) => events
            .get(number)
            .cloned()
            .ok_or_else(|| format!("{word} of {} events (they count from N0)", events.len())),
        None if word.parse::<f64>().is_ok_and(f64::is_finite) => Ok(word.to_owned()),
        None => Err(format!("'{word}' is neither an event such as N0 nor a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn presets(text: &str) -> (Vec<(String, String)>, Vec<String>) {
        let file = read(&NamedText { name: "p.csv", text });
        let metric = |metric: MetricFormula| {
            let text =
                metric.formula.map_or_else(|error| error.to_string(), |f| f.text().to_owned());
            (metric.name, text)
        };
        (file.metrics.into_iter().map(metric).collect(), file.faults)
    }

    #[test]
    fn presets_become_formulas() {
        let (metrics, faults) = presets(
            "# own\nCPU,arm_n1\nCPU,arm_n2\nPRESET,PAPI_TOT_CYC,NOT_DERIVED,CPU_CYCLES,NOTE,'all, of them'\n\
             PRESET,SUM,DERIVED_ADD,arm_n2::LD_SPEC,ST_SPEC:u\nPRESET,LESS,DERIVED_SUB,A,B,C\n\
             PRESET,POST,DERIVED_POSTFIX,N0|N1|-|100|*|N2|/|,A,B,C\n\
             EVENT,IN,DERIVED_INFIX,(N0+N1)/N0,A,B\nPRESET,RATE,DERIVED_PS,CPU_CYCLES,A\n\
             CPU,other\nPRESET,X,NOT_DERIVED,Y\n",
        );
        let formulas: Vec<&str> = metrics.iter().map(|(_, formula)| formula.as_str()).collect();
        let expected = [
            "CPU_CYCLES",
            "LD_SPEC + ST_SPEC:u",
            "A - B - C",
            "(((A - B) * 100) / C)",
            "(A+B)/A",
            "A / duration_time",
        ];
        assert_eq!((formulas, faults), (expected.to_vec(), Vec::new()));
    }

    #[test]
    fn errors_are_reported_with_their_line() {
        let (metrics, faults) = presets(
            "PRESET,A\nPRESET,B,DERIVED_POSTFIX,N0|+|,X\nPRESET,C,DERIVED_POSTFIX,N3|,X\nHELLO\n\
             PRESET,D,DERIVED_MAGIC,X\nPRESET,E,NOT_DERIVED,X,Y\nPRESET,F,DERIVED_POSTFIX,N0|N0|,X\n",
        );
        assert_eq!(metrics, Vec::new());
        let lines: Vec<&str> = faults.iter().filter_map(|fault| fault.get(..7)).collect();
        assert_eq!(
            lines,
            ["p.csv:1", "p.csv:2", "p.csv:3", "p.csv:4", "p.csv:5", "p.csv:6", "p.csv:7"]
        );
        let (_, faults) = presets("CPU,other\nPRESET,X,NOT_DERIVED,Y\n");
        assert!(faults[0].contains("CPU,arm_n2"), "{faults:?}");
    }
}
