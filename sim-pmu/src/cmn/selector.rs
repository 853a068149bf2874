//! Strings that select an event of the mesh, as `perf stat -e` takes them from the driver `arm_cmn`
//! of Linux: by name, or by the fields of the driver. Names of Arm's telemetry are taken as well.

use std::fmt;
use std::str::FromStr;

use sim_core::chi::Channel;

use super::config::{Config, ConfigField, WORDS, field_with_name};
use super::error::{Problem, SelectorError};
use super::events::{Event, event_of, event_with_arm_name, event_with_linux_name};
use super::flit::Group;
use super::kind::NodeKind;
use super::rule::Direction;
use super::watchpoints::{Devices, Watchpoint, watchpoint_with_name};

/// Number of the type of watchpoints.
pub const WATCHPOINT_TYPE: u16 = 0x7770;
/// Numbers of the events of watchpoints: up and down.
const UP: u64 = 0;
const DOWN: u64 = 2;
/// Fields that a watchpoint of Linux needs.
const NEEDED: [(&str, &str); 5] = [
    ("wp_dev_sel", "it is the number of the port, 0 to 7"),
    ("wp_chn_sel", "0 is REQ, 1 RSP, 2 SNP, 3 DAT"),
    ("wp_grp", "0 is the primary group of fields, 1 the secondary one"),
    ("wp_val", "it is the value to match; 0 with wp_mask=0xffffffffffffffff matches all"),
    ("wp_mask", "its bits 1 are ignored; 0xffffffffffffffff matches all flits"),
];

/// Event or watchpoint of a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// An event of a kind of nodes.
    Event {
        /// Event.
        event: &'static Event,
        /// Selection by the event's filter.
        occupid: u8,
    },
    /// A watchpoint of crosspoints.
    Watchpoint(Watchpoint),
}

/// A selected event of a mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// Text as it was written.
    pub text: String,
    /// Number of the mesh, from the name of the PMU: `arm_cmn_0`.
    pub mesh: u32,
    /// Name to print in place of the text, from `name=`.
    pub label: Option<String>,
    /// Event or watchpoint.
    pub target: Target,
    /// The only node to count, from `bynodeid=1,nodeid=`. None counts all nodes of the kind.
    pub node: Option<u16>,
}

impl fmt::Display for Selector {
    /// Writes the name of the event: its label, else the text as it was written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label.as_deref().unwrap_or(&self.text))
    }
}

impl FromStr for Selector {
    type Err = SelectorError;

    /// Parses `arm_cmn_0/hnf_cache_miss/`, `arm_cmn_0/type=5,eventid=0x1/`, a watchpoint, or a name
    /// of Arm's telemetry such as `PMU_HNF_CACHE_MISS`.
    fn from_str(text: &str) -> Result<Selector, SelectorError> {
        parse(text).map_err(|problem| SelectorError { selector: text.to_owned(), problem })
    }
}

impl Selector {
    /// Returns whether a text names this PMU, or is a name of Arm's telemetry, so that it is worth
    /// parsing.
    pub fn is_meant_by(text: &str) -> bool {
        let is_arm_name =
            event_with_arm_name(text).is_some() || watchpoint_with_name(text).is_some();
        text.starts_with("arm_cmn") || is_arm_name
    }
}

fn parse(text: &str) -> Result<Selector, Problem> {
    let (mesh, terms) = match text.split_once('/') {
        None => (0, text),
        Some((pmu, rest)) => {
            let mesh = mesh_number(pmu).ok_or(Problem::OtherPmu)?;
            let (terms, after) = rest.split_once('/').ok_or(Problem::OtherPmu)?;
            if !after.is_empty() {
                return Err(Problem::Modifier(after.to_owned()));
            }
            (mesh, terms)
        }
    };
    let terms = Terms::read(terms)?;
    let target = terms.target()?;
    let node = terms.node()?;
    Ok(Selector { text: text.to_owned(), mesh, label: terms.label, target, node })
}

/// Returns the number of the mesh from the name of its PMU. perf takes `arm_cmn` for `arm_cmn_0`.
fn mesh_number(pmu: &str) -> Option<u32> {
    match pmu.strip_prefix("arm_cmn")? {
        "" => Some(0),
        number => number.strip_prefix('_')?.parse().ok(),
    }
}

/// Terms between the slashes.
#[derive(Default)]
struct Terms<'a> {
    config: Config,
    /// Fields and words that are given.
    given: Vec<&'a str>,
    /// Name of an event.
    event: Option<&'a str>,
    label: Option<String>,
}

impl<'a> Terms<'a> {
    fn read(text: &'a str) -> Result<Terms<'a>, Problem> {
        let mut terms = Terms::default();
        let mut fields: Vec<(ConfigField, u64)> = Vec::new();
        for term in text.split(',').filter(|term| !term.is_empty()) {
            let (key, value) = term.split_once('=').unwrap_or((term, "1"));
            if key == "name" {
                terms.label = Some(value.trim_matches(['\'', '"']).to_owned());
            } else if let Some(field) = field_with_name(key) {
                terms.give(key)?;
                fields.push((field, number(key, value, field.largest())?));
            } else if let Some(word) = WORDS.iter().position(|word| *word == key) {
                terms.give(key)?;
                terms.config.0[word] = number(key, value, u64::MAX)?;
            } else if !term.contains('=') && terms.event.is_none() {
                terms.event = Some(key);
            } else if !term.contains('=') {
                return Err(Problem::Twice("the name of the event".to_owned()));
            } else {
                return Err(Problem::unknown_name(key));
            }
        }
        fields.iter().for_each(|(field, value)| terms.config.set(*field, *value));
        Ok(terms)
    }

    fn give(&mut self, key: &'a str) -> Result<(), Problem> {
        match self.given.contains(&key) {
            true => Err(Problem::Twice(key.to_owned())),
            false => {
                self.given.push(key);
                Ok(())
            }
        }
    }

    fn target(&self) -> Result<Target, Problem> {
        let Some(name) = self.event else { return self.numbered() };
        let direction = match name {
            "watchpoint_up" => Some(Direction::Up),
            "watchpoint_down" => Some(Direction::Down),
            _ => None,
        };
        if let Some(direction) = direction {
            self.refuse(&["type", "eventid"])?;
            let is_missing = |(field, _): &&(&str, &str)| !self.given.contains(field);
            return match NEEDED.iter().find(is_missing) {
                Some((field, right)) => Err(Problem::Missing { field, right }),
                None => self.watchpoint(direction),
            };
        }
        if let Some(own) = watchpoint_with_name(name) {
            let all =
                ["wp_dev_sel", "wp_chn_sel", "wp_grp", "wp_val", "wp_mask", "type", "eventid"];
            self.refuse(&all)?;
            let exclusive = self.config.get("wp_exclusive") == 1;
            return Ok(Target::Watchpoint(Watchpoint { exclusive, ..own.watchpoint }));
        }
        self.refuse(&["type", "eventid"])?;
        let target = match event_with_linux_name(name) {
            Some((event, occupid)) if event.filter.is_some() => {
                self.refuse(&["occupid"])?;
                Target::Event { event, occupid }
            }
            Some((event, _)) => self.event(event),
            None => {
                let unknown = || Problem::unknown_name(name);
                self.event(event_with_arm_name(name).ok_or_else(unknown)?)
            }
        };
        self.only_of_events()?;
        Ok(target)
    }

    /// The event by its numbers.
    fn numbered(&self) -> Result<Target, Problem> {
        let (type_, code) = (self.config.get("type") as u16, self.config.get("eventid"));
        if type_ == WATCHPOINT_TYPE {
            return match code {
                UP => self.watchpoint(Direction::Up),
                DOWN => self.watchpoint(Direction::Down),
                value => {
                    let right = "0 is watchpoint_up, 2 is watchpoint_down";
                    Err(Problem::Value { field: "eventid", value, right })
                }
            };
        }
        if type_ == 0 {
            let right = "give the name of an event, or the type of the node: HN-F is 0x5";
            return Err(Problem::Missing { field: "type", right });
        }
        let kind = NodeKind::with_number(type_).ok_or(Problem::UnknownType(type_.into()))?;
        // The driver does not look at the number of the cycle counter.
        let code = if kind == NodeKind::Dtc { 0 } else { code as u16 };
        let unknown = || Problem::UnknownCode { kind, type_, code };
        let target = self.event(event_of(kind, code).ok_or_else(unknown)?);
        self.only_of_events()?;
        Ok(target)
    }

    fn event(&self, event: &'static Event) -> Target {
        Target::Event { event, occupid: self.config.get("occupid") as u8 }
    }

    fn watchpoint(&self, direction: Direction) -> Result<Target, Problem> {
        let value = |field| self.config.get(field);
        let wrong = |field, right| Err(Problem::Value { field, value: value(field), right });
        let channel = value("wp_chn_sel") as usize;
        let Some(channel) = Channel::ALL.get(channel) else {
            return wrong("wp_chn_sel", "0 is REQ, 1 RSP, 2 SNP, 3 DAT; the mesh has no others");
        };
        let group = match value("wp_grp") {
            0 => Group::Primary,
            1 => Group::Secondary,
            _ => return wrong("wp_grp", "0 is the primary group of fields, 1 the secondary one"),
        };
        if value("wp_combine") != 0 {
            return wrong("wp_combine", "two watchpoints cannot be combined here; leave it out");
        }
        Ok(Target::Watchpoint(Watchpoint {
            direction,
            devices: Devices::Port(value("wp_dev_sel") as u8),
            channel: *channel,
            group,
            exclusive: value("wp_exclusive") == 1,
            value: value("wp_val"),
            mask: value("wp_mask"),
        }))
    }

    /// Refuses fields that the name of the event gives.
    fn refuse(&self, fields: &[&str]) -> Result<(), Problem> {
        match self.given.iter().find(|given| fields.contains(given)) {
            Some(field) => Err(Problem::Twice((*field).to_owned())),
            None => Ok(()),
        }
    }

    fn only_of_events(&self) -> Result<(), Problem> {
        match self.given.iter().find(|given| given.starts_with("wp_")) {
            Some(field) => Err(Problem::OnlyForWatchpoints((*field).to_owned())),
            None => Ok(()),
        }
    }

    fn node(&self) -> Result<Option<u16>, Problem> {
        let (by_node, node) = (self.config.get("bynodeid") == 1, self.config.get("nodeid") as u16);
        let has_words = self.given.contains(&"config");
        match (by_node, self.given.contains(&"nodeid") || has_words) {
            (true, true) => Ok(Some(node)),
            (true, false) => {
                let right = "it is the identifier of the node to count";
                Err(Problem::Missing { field: "nodeid", right })
            }
            (false, _) if node != 0 => {
                let right = "without bynodeid=1, nodeid has no effect, and all nodes are counted";
                Err(Problem::Missing { field: "bynodeid", right })
            }
            (false, _) => Ok(None),
        }
    }
}

/// Reads a number that is at most `largest`.
fn number(field: &str, value: &str, largest: u64) -> Result<u64, Problem> {
    let digits = value.strip_prefix("0x").or(value.strip_prefix("0X"));
    let parsed = match digits {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => value.parse(),
    };
    let (field, text) = (field.to_owned(), value.to_owned());
    match parsed {
        Ok(number) if number <= largest => Ok(number),
        Ok(_) => Err(Problem::TooLarge { field, value: text, largest }),
        Err(error) => match error.kind() {
            std::num::IntErrorKind::PosOverflow => {
                Err(Problem::TooLarge { field, value: text, largest })
            }
            _ => Err(Problem::NotANumber { field, value: text }),
        },
    }
}

#[cfg(test)]
mod tests;
