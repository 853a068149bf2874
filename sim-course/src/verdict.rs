//! A typed answer compared with the true one.

use serde::Serialize;
use sim_core::DataSource;

use crate::question::{Answer, Question, Tolerance};
use crate::solve::Truth;
use crate::text::shown;

/// All sources of data, each with more words that name it.
const SOURCES: [(DataSource, &[&str]); 8] = [
    (DataSource::StoreQueue, &["store queue", "store"]),
    (DataSource::L1, &["l1d", "l1 cache", "level 1"]),
    (DataSource::L2, &["l2 cache", "level 2"]),
    (DataSource::Slc, &["slc", "llc", "system cache", "last level cache"]),
    (DataSource::Peer, &["peer", "other core"]),
    (DataSource::Remote, &["remote", "other chip"]),
    (DataSource::Dram, &["memory", "ram", "main memory", "local memory"]),
    (DataSource::Device, &["non-cacheable"]),
];

/// Result of a typed answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Verdict {
    /// Right.
    Right,
    /// A number that differs by more than the tolerance.
    Off {
        /// Typed minus true number.
        by: f64,
        /// The same in percent of the true number; absent if that is 0.
        percent: Option<f64>,
    },
    /// Another text or source than the true one.
    Wrong {
        /// The text or source that was meant.
        typed: String,
    },
    /// Not an answer of the kind that the question asks for.
    Unreadable {
        /// One sentence: what is wrong, and what would be right.
        problem: String,
    },
    /// Nothing was typed.
    Empty,
}

impl Verdict {
    /// Returns whether the answer is right.
    pub fn is_right(&self) -> bool {
        *self == Verdict::Right
    }

    /// Returns the verdict in a few words.
    pub fn message(&self) -> String {
        match self {
            Verdict::Right => String::from("right"),
            Verdict::Off { by, percent } => {
                let side = if *by > 0.0 { "too high" } else { "too low" };
                let by = shown(by.abs());
                match percent {
                    Some(percent) => format!("{by} {side} ({} %)", shown(percent.abs())),
                    None => format!("{by} {side}"),
                }
            }
            Verdict::Wrong { typed } => format!("not '{typed}'"),
            Verdict::Unreadable { problem } => problem.clone(),
            Verdict::Empty => String::from("no answer"),
        }
    }
}

impl Question {
    /// Compares a typed answer with the true one.
    pub fn check(&self, typed: &str, truth: &Truth) -> Verdict {
        let typed = typed.trim();
        if typed.is_empty() {
            return Verdict::Empty;
        }
        match (truth, &self.answer) {
            (Truth::Number { value }, _) => match number(typed, &self.unit) {
                Ok(number) => self.compare(number, *value),
                Err(problem) => Verdict::Unreadable { problem },
            },
            (Truth::Source { name }, _) => match source(typed) {
                Some(own) if own == *name => Verdict::Right,
                Some(own) => Verdict::Wrong { typed: own.to_owned() },
                None => Verdict::Unreadable {
                    problem: format!(
                        "'{typed}' is not a source of data; write one of {}",
                        source_names()
                    ),
                },
            },
            (Truth::Choice { index, .. }, Answer::Choice { options, .. }) => {
                match chosen(typed, options) {
                    Some(own) if own == *index => Verdict::Right,
                    Some(own) => Verdict::Wrong { typed: options[own].clone() },
                    None => Verdict::Unreadable {
                        problem: format!(
                            "'{typed}' is not one of the choices; write a number from 1 to {}",
                            options.len()
                        ),
                    },
                }
            }
            (Truth::Choice { .. }, _) => {
                Verdict::Unreadable { problem: String::from("the question has no choices") }
            }
        }
    }

    fn compare(&self, typed: f64, value: f64) -> Verdict {
        let room = match self.within {
            Tolerance::Absolute(room) => room,
            Tolerance::Percent(percent) => value.abs() * percent / 100.0,
        };
        let by = typed - value;
        // The last shown digit is enough: students copy what they read.
        let rounds = shown(typed) == shown(value) && value.fract() != 0.0;
        if by.abs() <= room * (1.0 + 1e-9) || rounds {
            return Verdict::Right;
        }
        let percent = (value != 0.0).then(|| 100.0 * by / value.abs());
        Verdict::Off { by, percent }
    }
}

/// Reads a number as people type it: `1,234`, `1_234`, `12 %`, `12 cycles`.
fn number(typed: &str, unit: &str) -> Result<f64, String> {
    let bare = typed.strip_suffix('%').unwrap_or(typed).trim();
    let unit = if unit.is_empty() { "events" } else { unit };
    let bare = bare.strip_suffix(unit).unwrap_or(bare).trim();
    let problem = || format!("'{typed}' is not a number; write digits, such as 12 or 0.5");
    let is_digit = |letter: char| letter.is_ascii_digit() || "+-.,_ eE".contains(letter);
    if !bare.chars().all(is_digit) {
        return Err(problem());
    }
    let mut groups = bare.split('.').next().unwrap_or_default().split(',').skip(1);
    if groups.any(|group| group.len() != 3) {
        return Err(format!(
            "'{typed}': the comma parts groups of three digits; write a point: 0.5"
        ));
    }
    let plain: String = bare.chars().filter(|letter| !",_ ".contains(*letter)).collect();
    plain.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(problem)
}

fn source(typed: &str) -> Option<&'static str> {
    let typed = typed.to_lowercase();
    let typed = typed.strip_prefix("the ").unwrap_or(&typed);
    let names = |label: &str, more: &[&str]| label.to_lowercase() == typed || more.contains(&typed);
    SOURCES.iter().find(|(own, more)| names(own.label(), more)).map(|(own, _)| own.label())
}

/// Returns the names of all sources.
pub fn source_names() -> String {
    let names: Vec<&str> = SOURCES.iter().map(|(source, _)| source.label()).collect();
    names.join(", ")
}

/// Returns the index of the choice that a number, a letter or the text itself names.
fn chosen(typed: &str, options: &[String]) -> Option<usize> {
    let same = |option: &String| option.to_lowercase() == typed.to_lowercase();
    if let Some(index) = options.iter().position(same) {
        return Some(index);
    }
    let number = match typed.trim_end_matches(['.', ')']) {
        letter if letter.len() == 1 && letter.as_bytes()[0].is_ascii_alphabetic() => {
            usize::from(letter.as_bytes()[0].to_ascii_lowercase() - b'a') + 1
        }
        number => number.parse().ok()?,
    };
    number.checked_sub(1).filter(|index| *index < options.len())
}
