//! The table of events of the mesh: Arm's telemetry of CMN-700 and the names of Linux, and the rule
//! by which the model counts each.
//!
//! `events.tsv` has a row for each event but those of crosspoints, which a rule makes.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::crosspoint;
use super::kind::NodeKind;
use super::rule::Rule;

/// Table of events, columns divided by tabs.
const TABLE: &str = include_str!("events.tsv");

/// Filter of an event: the field `occupid` selects what it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// Kind of the operation, at the DVM node.
    Dvm,
    /// Kind of the request, at a home node.
    Occupancy,
    /// Kind of the request, at an HN-S.
    OccupancyOfBoth,
    /// Class of quality of service.
    Class,
    /// Kind of the request and group of memory.
    Throttle,
    /// Lines of this chip or of the other one.
    Home,
    /// Receiver of the request.
    Destination,
}

impl Filter {
    /// Returns the selections: the end of Linux' name, and the value of `occupid`.
    pub fn selections(self) -> impl Iterator<Item = (&'static str, u8)> {
        let names: &[&str] = match self {
            Filter::Dvm => &["all", "dvmop", "dvmsync"],
            Filter::Occupancy => &["all", "read", "write", "atomic", "stash"],
            Filter::OccupancyOfBoth => {
                &["all", "read", "write", "atomic", "stash", "rxsnp", "lbt", "hbt"]
            }
            Filter::Class => &["class0", "class1", "class2", "class3"],
            Filter::Throttle => &[
                "all",
                "group0_read",
                "group0_write",
                "group1_read",
                "group1_write",
                "read",
                "write",
            ],
            Filter::Home => &["all", "hbt", "lbt"],
            Filter::Destination => &["all", "sn", "home"],
        };
        names.iter().copied().zip(0..)
    }

    fn parse(text: &str) -> Option<Filter> {
        Some(match text {
            "dvm" => Filter::Dvm,
            "occupancy" => Filter::Occupancy,
            "occupancy-hbt" => Filter::OccupancyOfBoth,
            "class" => Filter::Class,
            "throttle" => Filter::Throttle,
            "hbt" => Filter::Home,
            "destination" => Filter::Destination,
            _ => return None,
        })
    }
}

/// An event of the mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Kind of the nodes that count it.
    pub node: NodeKind,
    /// Number, unique within the kind.
    pub code: u16,
    /// Name in Arm's telemetry. None for events that only Linux names.
    pub arm: Option<String>,
    /// Names in Linux, the current one first, without the end that selects by the filter.
    pub linux: Vec<String>,
    /// Filter, if the event has one.
    pub filter: Option<Filter>,
    /// Rule by which the model counts it.
    pub rule: Rule,
    /// Meaning, one sentence.
    pub text: Cow<'static, str>,
}

impl Event {
    /// Returns the names in Linux, each with its value of `occupid`.
    pub fn linux_names(&self) -> Vec<(String, u8)> {
        let with_ends = |name: &String| match self.filter {
            None => vec![(name.clone(), 0)],
            Some(filter) => {
                filter.selections().map(|(end, value)| (format!("{name}_{end}"), value)).collect()
            }
        };
        self.linux.iter().flat_map(with_ends).collect()
    }

    /// Returns the name for messages: Linux', else Arm's.
    pub fn name(&self) -> &str {
        let arm = self.arm.as_deref();
        self.linux.first().map(String::as_str).or(arm).unwrap_or(self.node.name())
    }
}

/// Returns every event: the cycle counter, then the events of nodes, then those of crosspoints.
pub fn events() -> &'static [Event] {
    static EVENTS: LazyLock<Vec<Event>> = LazyLock::new(|| {
        let cycles = Event {
            node: NodeKind::Dtc,
            code: 0,
            arm: Some("SYS_CMN_CYCLES".to_owned()),
            linux: vec!["dtc_cycles".to_owned()],
            filter: None,
            rule: Rule::Cycles,
            text: "Cycles of the mesh's clock.".into(),
        };
        let rows = TABLE.lines().skip(1).map(|line| row(line).unwrap_or_else(|| wrong(line)));
        std::iter::once(cycles).chain(rows).chain(crosspoint::events()).collect()
    });
    &EVENTS
}

/// A wrong row is an error of this crate, which a test of the table finds.
fn wrong(line: &str) -> Event {
    unreachable!("row of the table of events: {line}")
}

fn row(line: &'static str) -> Option<Event> {
    let mut columns = line.split('\t');
    let mut column = || columns.next();
    let node = NodeKind::with_name(column()?)?;
    let code = u16::from_str_radix(column()?.strip_prefix("0x")?, 16).ok()?;
    let present = |text: &'static str| (text != "-").then_some(text);
    let arm = present(column()?).map(|name| format!("{}{name}", node.arm_prefix()));
    let names = present(column()?).into_iter().flat_map(|names| names.split('|'));
    let linux = names.map(|name| format!("{}{name}", node.linux_prefix())).collect();
    let filter = match present(column()?) {
        None => None,
        Some(name) => Some(Filter::parse(name)?),
    };
    let rule = Rule::parse(column()?, code)?;
    Some(Event { node, code, arm, linux, filter, rule, text: column()?.into() })
}

/// Returns the event of a kind of node with this number.
pub fn event_of(node: NodeKind, code: u16) -> Option<&'static Event> {
    events().iter().find(|event| event.node == node && event.code == code)
}

/// Returns the event with this name in Linux, and its value of `occupid`.
pub fn event_with_linux_name(name: &str) -> Option<(&'static Event, u8)> {
    events().iter().find_map(|event| {
        let begins = event.linux.iter().any(|own| name.starts_with(own.as_str()));
        let names = if begins { event.linux_names() } else { Vec::new() };
        names.iter().find(|(own, _)| own == name).map(|(_, occupid)| (event, *occupid))
    })
}

/// Returns the event with this name in Arm's telemetry. Upper and lower case are the same.
pub fn event_with_arm_name(name: &str) -> Option<&'static Event> {
    let is_named = |own: &String| own.eq_ignore_ascii_case(name);
    events().iter().find(|event| event.arm.as_ref().is_some_and(is_named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmn::reason::Reason;
    use sim_core::mesh_counts::{DvmEvent, HomeEvent};
    use std::collections::HashSet;

    #[test]
    fn every_row_of_the_table_is_read() {
        let wrong: Vec<&str> = TABLE.lines().skip(1).filter(|line| row(line).is_none()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        for line in TABLE.lines() {
            assert_eq!(line.split('\t').count(), 7, "{line}");
        }
    }

    #[test]
    fn numbers_and_names_are_unique() {
        let mut numbers = HashSet::new();
        let mut names = HashSet::new();
        for event in events() {
            assert!(numbers.insert((event.node, event.code)), "{event:?}");
            let linux = event.linux_names().into_iter().map(|(name, _)| name);
            for name in linux.chain(event.arm.clone()) {
                assert!(names.insert(name.clone()), "{name} twice");
            }
        }
    }

    /// Arm's telemetry has 514 events: the cycle counter at each of its 15 parts, and 499 others.
    #[test]
    fn the_table_has_every_event_of_the_telemetry() {
        let named = events().iter().filter(|event| event.arm.is_some()).count();
        assert_eq!(named, 1 + 499);
        let of = |node| events().iter().filter(|e| e.node == node && e.arm.is_some()).count();
        let kinds = [NodeKind::Dn, NodeKind::HnF, NodeKind::HnS, NodeKind::HnI, NodeKind::HnP];
        assert_eq!(kinds.map(of), [20, 47, 57, 19, 34]);
        let kinds = [NodeKind::RnI, NodeKind::RnD, NodeKind::Sbsx, NodeKind::CcgRa];
        assert_eq!(kinds.map(of), [35, 35, 18, 23]);
        assert_eq!([NodeKind::CcgHa, NodeKind::Ccla, NodeKind::Xp].map(of), [36, 7, 168]);
    }

    #[test]
    fn every_event_that_the_model_raises_is_in_the_table() {
        for home in HomeEvent::ALL {
            let event = event_of(NodeKind::HnF, *home as u16);
            assert_eq!(event.map(|event| event.rule), Some(Rule::Home(*home)));
        }
        for dvm in DvmEvent::ALL {
            let event = event_of(NodeKind::Dn, *dvm as u16);
            assert_eq!(event.map(|event| event.rule), Some(Rule::Dvm(*dvm)));
        }
    }

    #[test]
    fn every_reason_is_used_and_every_text_is_a_sentence() {
        let of_others = [
            Reason::NoPort,
            Reason::NoSuchMessage,
            Reason::AnyAtomic,
            Reason::NoContention,
            Reason::UnlimitedQueue,
            Reason::NoLineHazards,
            Reason::NoDvmSync,
            Reason::MemoryAcceptsAll,
        ];
        for reason in Reason::ALL.iter().filter(|reason| !of_others.contains(reason)) {
            let is_used = events().iter().any(|event| event.rule == Rule::Zero(*reason));
            assert!(is_used, "{reason:?}");
        }
        for event in events() {
            let text = event.text.as_ref();
            assert!(text.ends_with('.') && text.len() <= 120, "{text}");
            assert!(text.starts_with(|first: char| first.is_ascii_uppercase()), "{text}");
        }
    }

    #[test]
    fn names_find_events() {
        let (event, occupid) = event_with_linux_name("hnf_cache_miss").expect("hnf_cache_miss");
        assert_eq!((event.node, event.code, occupid), (NodeKind::HnF, 1, 0));
        let (event, occupid) =
            event_with_linux_name("hnf_qos_pocq_occupancy_atomic").expect("occupancy");
        assert_eq!((event.code, occupid), (0x0F, 3));
        let (event, occupid) = event_with_linux_name("dn_trk_occupancy_dvmsync").expect("dn");
        assert_eq!((event.node, event.code, occupid), (NodeKind::Dn, 0x0C, 2));
        assert!(event_with_linux_name("hnf_qos_pocq_occupancy").is_none());
        assert_eq!(event_with_arm_name("pmu_hnf_cache_miss").map(|event| event.code), Some(1));
    }
}
