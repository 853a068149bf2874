//! Messages about wrong selectors of events of the mesh.

use sim_core::spelling::similar;
use thiserror::Error;

use super::config::{FIELDS, WORDS};
use super::events::{Event, events};
use super::kind::NodeKind;
use super::watchpoints::watchpoints;

/// A selector that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("event \"{selector}\": {problem}")]
pub struct SelectorError {
    /// Selector as it was written.
    pub selector: String,
    /// Reason.
    pub problem: Problem,
}

/// Reason for which a selector is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// It is not of this PMU.
    #[error("not an event of the mesh; write arm_cmn_0/EVENT/, such as arm_cmn_0/hnf_cache_miss/")]
    OtherPmu,
    /// Text follows the last slash.
    #[error("\"{0}\" after the last slash; events of the mesh have no modifiers, leave it out")]
    Modifier(String),
    /// No event and no field has this name.
    #[error("no event or field \"{name}\"{hint}")]
    UnknownName {
        /// Name.
        name: String,
        /// Names that resemble it, or where names are listed.
        hint: String,
    },
    /// The value is not a number.
    #[error("{field}={value} is not a number; write decimal digits or 0x and hexadecimal ones")]
    NotANumber {
        /// Field.
        field: String,
        /// Value.
        value: String,
    },
    /// The value does not fit into the field.
    #[error("{field}={value} is too large; the largest value is {largest:#x}")]
    TooLarge {
        /// Field.
        field: String,
        /// Value.
        value: String,
        /// Largest value.
        largest: u64,
    },
    /// The value has no meaning.
    #[error("{field}={value:#x} is not possible; {right}")]
    Value {
        /// Field.
        field: &'static str,
        /// Value.
        value: u64,
        /// Possible values.
        right: &'static str,
    },
    /// A field is given twice, or by the event's name as well.
    #[error("{0} is given twice; give it once")]
    Twice(String),
    /// A field of watchpoints at another event.
    #[error("{0} is a field of watchpoint_up and watchpoint_down; leave it out")]
    OnlyForWatchpoints(String),
    /// A field is missing.
    #[error("{field} is missing; {right}")]
    Missing {
        /// Field.
        field: &'static str,
        /// Possible values.
        right: &'static str,
    },
    /// No kind of node has this number.
    #[error("no node has type={0:#x}; HN-F is 0x5, crosspoints are 0x6, the cycle counter is 0x3")]
    UnknownType(u64),
    /// The kind of node has no event with this number.
    #[error("{} (type={type_:#x}) has no event {code:#x}; {}", kind.name(), codes(*kind))]
    UnknownCode {
        /// Kind of node.
        kind: NodeKind,
        /// Number of the type.
        type_: u16,
        /// Number of the event.
        code: u16,
    },
}

impl Problem {
    /// Returns the problem of a name that is unknown, with names that resemble it.
    pub(super) fn unknown_name(name: &str) -> Problem {
        let linux: Vec<String> =
            events().iter().flat_map(Event::linux_names).map(|(n, _)| n).collect();
        let arm = events().iter().filter_map(|event| event.arm.as_deref());
        let named = watchpoints().iter().map(|own| own.name.as_str());
        let fields = FIELDS.iter().map(|field| field.name).chain(WORDS);
        let others = ["watchpoint_up", "watchpoint_down", "name"].into_iter();
        let known =
            fields.chain(others).chain(linux.iter().map(String::as_str)).chain(arm).chain(named);
        let hint = match similar(name, known) {
            Some(own) => format!("; did you mean \"{own}\"?"),
            None => "; names begin with the node: hnf_, dn_, mxp_, rnid_, hni_, ccra_".to_owned(),
        };
        Problem::UnknownName { name: name.to_owned(), hint }
    }
}

/// The range of the numbers of a kind's events, for a message.
fn codes(kind: NodeKind) -> String {
    let all = events().iter().filter(|event| event.node == kind).map(|event| event.code);
    match (all.clone().min(), all.max()) {
        (Some(first), Some(last)) => format!("its events are {first:#x} to {last:#x}"),
        _ => "it has none".to_owned(),
    }
}
