//! What can be wrong with a scenario file, with its place and what would be right.

use super::place::Place;

/// A fault of a scenario file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{}:{}: {problem}", place.line, place.column)]
pub struct ScenarioError {
    /// The file as it was named to the parser.
    pub file: String,
    /// Where the fault is.
    pub place: Place,
    /// What it is.
    pub problem: Problem,
}

/// The kind of a fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Not TOML.
    #[error("not valid TOML: {0}")]
    Toml(String),
    /// A key that no case has.
    #[error(
        "unknown key '{0}'; a case has guide, claim, test, given, set, names, do, expect, others, path, silicon, source"
    )]
    UnknownKey(String),
    /// A key without which a case means nothing.
    #[error("the case has no '{0}'; add it to the case or to the head of the file")]
    MissingKey(&'static str),
    /// A value of another type.
    #[error("'{key}' must be {expected}")]
    WrongType {
        /// The key.
        key: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// Something else stands where a certain thing is needed.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What would be right.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A name for an address that is not declared.
    #[error("no address is named '{0}'; declare it: names = {{ {0} = 0x8000 }}")]
    UnknownName(String),
    /// A step that is no instruction of the language.
    #[error("unknown step '{name}'; {hint}")]
    UnknownStep {
        /// What stands there.
        name: String,
        /// What is known.
        hint: String,
    },
    /// No event of this name.
    #[error("{0}")]
    UnknownEvent(sim_core::pmu_event::EventNameError),
    /// A derived event in a sum of vectors.
    #[error("{event} is derived in a sum; add to {parts} instead, or state {event} after a ';'")]
    DerivedInSum {
        /// The event.
        event: &'static str,
        /// What it is derived from.
        parts: String,
    },
    /// Two parts of an expectation that cannot both hold.
    #[error("{event} cannot be both {first} and {second} ({because})")]
    Contradiction {
        /// The event.
        event: &'static str,
        /// One bound.
        first: String,
        /// The other bound.
        second: String,
        /// Where the second comes from.
        because: &'static str,
    },
    /// A number outside the legal range.
    #[error("{what} must be {range}, not {value}")]
    OutOfRange {
        /// Which number.
        what: &'static str,
        /// Legal range.
        range: &'static str,
        /// What stands there.
        value: u64,
    },
    /// An `else` that stands or holds what it cannot; why, and what would be right.
    #[error("{0}")]
    BadOtherPath(&'static str),
    /// A counter of the PMU that is given twice.
    #[error("counter {0} is given twice; it counts one event, so leave one of them out")]
    CounterTwice(u8),
    /// A way that the flow does not have.
    #[error("flow {flow} has no such way; its ways are {ways}")]
    BadPath {
        /// Section of the flow.
        flow: &'static str,
        /// Its ways by their steps.
        ways: String,
    },
}

/// A fault at a byte offset of the file, before lines are counted.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) offset: usize,
    pub(super) problem: Problem,
}

impl Fault {
    pub(super) fn new(offset: usize, problem: Problem) -> Fault {
        Fault { offset, problem }
    }
}

/// Places of the bytes of a text, quickly found if each is near the one that was asked for before.
#[derive(Debug)]
pub(super) struct Places<'a> {
    text: &'a str,
    offset: usize,
    place: Place,
}

impl<'a> Places<'a> {
    pub(super) fn new(text: &'a str) -> Places<'a> {
        Places { text, offset: 0, place: Place { line: 1, column: 1 } }
    }

    /// The place of the byte `offset`; the end of the text for an offset behind it.
    pub(super) fn of(&mut self, offset: usize) -> Place {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let Place { line, column } = self.place;
        self.place = if end >= self.offset {
            let passed = &self.text[self.offset..end];
            match passed.rsplit_once('\n') {
                None => Place { line, column: column + passed.chars().count() },
                Some((lines, last)) => {
                    let line = line + 1 + lines.matches('\n').count();
                    Place { line, column: 1 + last.chars().count() }
                }
            }
        } else {
            let passed = &self.text[end..self.offset];
            let lines = passed.matches('\n').count();
            let in_line = self.text[..end].chars().rev().take_while(|c| *c != '\n');
            match lines {
                0 => Place { line, column: column - passed.chars().count() },
                _ => Place { line: line - lines, column: 1 + in_line.count() },
            }
        };
        self.offset = end;
        self.place
    }
}

/// The place of the byte `offset` in `text`; the end of the text for an offset behind it.
pub(super) fn place_of(text: &str, offset: usize) -> Place {
    Places::new(text).of(offset)
}
