//! Faults of a scenario file, each with its place and a remedy.

use sim_core::pmu_event::EventNameError;

use super::place::Place;

/// A fault of a scenario file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{}:{}: {problem}", place.line, place.column)]
pub struct ScenarioError {
    /// The file as it was named to the parser.
    pub file: String,
    /// Place of the fault.
    pub place: Place,
    /// Kind of the fault.
    pub problem: Problem,
}

/// Kind of a fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file is not TOML.
    #[error("not valid TOML: {0}")]
    Toml(String),
    /// The key is unknown.
    #[error(
        "unknown key '{name}'{near}; a case has guide, claim, test, given, set, names, do, expect, others, path, mesh, silicon, source, on, tolerance, except"
    )]
    UnknownKey {
        /// Key as written.
        name: String,
        /// Question for the key that was meant, empty if none resembles it.
        near: String,
    },
    /// The key is unknown in a file for the Cortex-A53.
    #[error(
        "unknown key '{0}'; a file with core = \"cortex-a53\" has core, guide, claim, test, given, set, do, expect, others"
    )]
    UnknownA53Key(String),
    /// The file is for a core that this command does not know.
    #[error("the scenarios of this file are for the {core}; {remedy}")]
    OtherCore {
        /// Core that the file names.
        core: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// A required key is missing.
    #[error("the case has no '{0}'; add it to the case or to the head of the file")]
    MissingKey(&'static str),
    /// The value has another type.
    #[error("'{key}' must be {expected}")]
    WrongType {
        /// Name of the key.
        key: String,
        /// Allowed values.
        expected: &'static str,
    },
    /// Another item was expected here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// Expected item.
        expected: String,
        /// Found item.
        found: String,
    },
    /// The address name is not declared.
    #[error("no address is named '{0}'; declare it: names = {{ {0} = 0x8000 }}")]
    UnknownName(String),
    /// A clause with a word for all addresses that is not the word of the language.
    #[error(
        "no address is named '{name}'; for all that the steps use write '{subject}', as in given = \"K1, {subject} {state}\""
    )]
    UnknownSubject {
        /// Word as written.
        name: String,
        /// Word of the language.
        subject: &'static str,
        /// State of the example.
        state: String,
    },
    /// The step is unknown.
    #[error("unknown step '{name}'; {hint}")]
    UnknownStep {
        /// Text of the step.
        name: String,
        /// Known names.
        hint: String,
    },
    /// The event name is unknown.
    #[error("{0}{example}", example = example(.0))]
    UnknownEvent(EventNameError),
    /// The Cortex-A53 has no such event, and its pipeline no such cause of a lost slot.
    #[error("unknown event '{0}' of the Cortex-A53; {1}")]
    UnknownA53Event(String, String),
    /// The assembly text is not in the list.
    #[error("unknown instruction '{0}'; {1}")]
    UnknownInstruction(String, String),
    /// The operand of an instruction is missing, or superfluous.
    #[error("'{inst}' {problem}")]
    Operand {
        /// Text of the instruction.
        inst: String,
        /// The fault, and the remedy.
        problem: &'static str,
    },
    /// A sum of vectors contains a derived event.
    #[error("{event} is derived in a sum; add to {parts} instead, or state {event} after a ';'")]
    DerivedInSum {
        /// Derived event.
        event: &'static str,
        /// Events that it is derived from.
        parts: String,
    },
    /// Two parts of an expectation contradict each other.
    #[error("{event} cannot be both {first} and {second} ({because})")]
    Contradiction {
        /// Event with two expectations.
        event: &'static str,
        /// First bound.
        first: String,
        /// Second bound.
        second: String,
        /// Origin of the second bound.
        because: &'static str,
    },
    /// The number is outside its range.
    #[error("{what} must be {range}, not {value}")]
    OutOfRange {
        /// Name of the number.
        what: &'static str,
        /// Allowed range.
        range: &'static str,
        /// Found value.
        value: u64,
    },
    /// The `else` is misplaced or has a wrong content; the text says why and gives the remedy.
    #[error("{0}")]
    BadOtherPath(&'static str),
    /// The core or revision of an exception is unknown.
    #[error(
        "unknown machine '{0}'; write revisions of the Neoverse N2 as r0p0 or r0p0..r0p2, another core as neoverse-v1, or as neoverse-v1 r1p0"
    )]
    UnknownMachine(String),
    /// An exception states an event that the expectation does not compare, or states it twice.
    #[error(
        "'except' states {0}, which 'expect' does not compare, or which is stated already; an exception changes the count of a compared event once"
    )]
    WrongException(&'static str),
    /// Two exceptions state an event for one machine.
    #[error("'{first}' and '{second}' are both about one machine and {event}; leave one out")]
    OverlappingMachines {
        /// The event.
        event: &'static str,
        /// Machines of the first exception.
        first: String,
        /// Machines of the second one.
        second: String,
    },
    /// The mesh has no such event or message.
    #[error("no event or message of the mesh is named '{name}'; {hint}")]
    UnknownMeshName {
        /// Name as written.
        name: String,
        /// The remedy.
        hint: String,
    },
    /// An event or message of the mesh is stated twice.
    #[error("'{0}' is stated twice; leave one of them out")]
    MeshTwice(String),
    /// The step is of a core that the machine does not have.
    #[error("the machine has no core {core}; write given = \"K1, {} cores\"", core + 1)]
    NoSuchCore {
        /// Number of the core.
        core: u32,
    },
    /// A PMU counter is given twice.
    #[error("counter {0} is given twice; it counts one event, so leave one of them out")]
    CounterTwice(u8),
    /// The flow has no such path.
    #[error("flow {flow} has no such way; its ways are {ways}")]
    BadPath {
        /// Section of the flow.
        flow: &'static str,
        /// Paths of the flow by their steps.
        ways: String,
    },
}

/// Returns an example with the event that was most likely meant.
fn example(error: &EventNameError) -> String {
    let first = match error {
        EventNameError::Unknown(_, nearest) => nearest.first(),
        _ => None,
    };
    first.map_or_else(String::new, |name| format!("; write expect = \"{name} 1\""))
}

/// A fault at a byte offset of the file, before lines are counted.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) offset: usize,
    pub(crate) problem: Problem,
}

impl Fault {
    pub(crate) fn new(offset: usize, problem: Problem) -> Fault {
        Fault { offset, problem }
    }
}

/// Places of the bytes of a text. A lookup is fast if it is near the previous one.
#[derive(Debug)]
pub(crate) struct Places<'a> {
    text: &'a str,
    offset: usize,
    place: Place,
}

impl<'a> Places<'a> {
    pub(crate) fn new(text: &'a str) -> Places<'a> {
        Places { text, offset: 0, place: Place { line: 1, column: 1 } }
    }

    /// Returns the place of byte `offset`; the end of the text for a larger offset.
    pub(crate) fn of(&mut self, offset: usize) -> Place {
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

/// Returns the place of byte `offset` in `text`; the end of the text for a larger offset.
pub(crate) fn place_of(text: &str, offset: usize) -> Place {
    Places::new(text).of(offset)
}
