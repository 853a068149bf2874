//! A typed answer compared with the true one.

use serde::Serialize;

use crate::question::{Answer, Question, Tolerance, is_percent};
use crate::solve::Truth;
use crate::source;
use crate::text::{self, shown};

/// Signs that part groups of three digits: comma, underscore, apostrophes, and spaces of several
/// widths.
const GROUPS: [char; 8] = [',', '_', '\'', '\u{2019}', ' ', '\u{a0}', '\u{2009}', '\u{202f}'];

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
            (Truth::Source { name }, _) => match source::named(typed) {
                Some(own) if own == *name => Verdict::Right,
                Some(own) => Verdict::Wrong { typed: own.to_owned() },
                None => Verdict::Unreadable {
                    problem: format!(
                        "'{typed}' is not a source of data; write one of {}",
                        source::list()
                    ),
                },
            },
            (Truth::Choice { index, .. }, Answer::Choice { options, .. }) => {
                match chosen(typed, options) {
                    Some(own) if own == *index => Verdict::Right,
                    Some(own) => Verdict::Wrong { typed: text::plain(&options[own]) },
                    None => Verdict::Unreadable {
                        problem: format!(
                            "'{typed}' is not one of the choices; write its text, or a number from 1 to {}",
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

/// Reads a number as people type it: `1,234`, `1 234`, `1/8`, `12.5 %`, `12 cycles`. A percent sign
/// means hundredths, unless the answer is in percent itself.
fn number(typed: &str, unit: &str) -> Result<f64, String> {
    let word = if unit.is_empty() { "events" } else { unit };
    let bare = typed.strip_suffix(word).unwrap_or(typed).trim();
    let (bare, is_percent) = match bare.strip_suffix('%').or(bare.strip_suffix("percent")) {
        Some(bare) => (bare.trim(), !is_percent(unit)),
        None => (bare, false),
    };
    let value = match bare.split_once('/') {
        Some((over, under)) => plain(over, typed)? / plain(under, typed)?,
        None => plain(bare, typed)?,
    };
    let value = if is_percent { value / 100.0 } else { value };
    if value.is_finite() { Ok(value) } else { Err(no_number(typed)) }
}

/// Reads a number without unit; `typed` is the whole answer, for the message.
fn plain(bare: &str, typed: &str) -> Result<f64, String> {
    let bare = bare.trim().replace('\u{2212}', "-");
    let is_part = |letter: char| {
        letter.is_ascii_digit() || "+-.eE".contains(letter) || GROUPS.contains(&letter)
    };
    if !bare.chars().all(is_part) {
        return Err(no_number(typed));
    }
    let (whole, fraction) = bare.split_once('.').unwrap_or((&bare, ""));
    let mut groups = whole.trim_start_matches(['+', '-']).split(GROUPS);
    let first = groups.next().unwrap_or_default();
    let mut rest = groups.peekable();
    let is_grouped = rest.peek().is_some();
    let is_first = (1..=3).contains(&first.len()) && !first.starts_with('0');
    if (is_grouped && !is_first) || rest.any(|group| group.len() != 3) || fraction.contains(GROUPS)
    {
        return Err(format!(
            "'{typed}': a comma or a space parts groups of three digits (1,234); write a decimal point: 0.5"
        ));
    }
    let digits: String = bare.chars().filter(|letter| !GROUPS.contains(letter)).collect();
    digits.parse().map_err(|_| no_number(typed))
}

fn no_number(typed: &str) -> String {
    format!("'{typed}' is not a number; write digits, such as 12 or 0.5, or a fraction: 1/8")
}

/// Returns the index of the choice that a number, a letter or the text itself names.
fn chosen(typed: &str, options: &[String]) -> Option<usize> {
    let bare = |text: &str| text::plain(text).to_lowercase();
    let same = |option: &String| bare(option) == bare(typed);
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
