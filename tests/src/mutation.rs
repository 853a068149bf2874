//! Machines with one fault: a place that raises an event is silent, or raises it twice.
//!
//! A sink learns from [`Location::caller`] which place raises an event. A machine with a fault at
//! that place is the same machine with a sink that drops or doubles the event.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;

use sim_core::{EventSink, FlowEdge, Notice, PmuEvent, StallCause};
use sim_scenario::{Recorded, Tally};

/// A place in the sources that raises an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// Source file as the compiler names it.
    pub file: &'static str,
    /// Line.
    pub line: u32,
    /// Event that is raised there; one place may raise several.
    pub event: PmuEvent,
}

impl Site {
    fn here(caller: &'static Location<'static>, event: PmuEvent) -> Site {
        Site { file: caller.file(), line: caller.line(), event }
    }
}

/// A recording sink that also collects the places that raise events.
#[derive(Clone, Debug, Default)]
pub struct Learner {
    recorded: Recorded,
    /// Every place that raised an event.
    pub sites: BTreeSet<Site>,
    /// Every cause for which a slot stayed empty.
    pub lost: BTreeSet<StallCause>,
}

impl EventSink for Learner {
    const OBSERVES_OPS: bool = true;

    #[track_caller]
    fn count(&mut self, event: PmuEvent, n: u64) {
        if n > 0 {
            self.sites.insert(Site::here(Location::caller(), event));
        }
        self.recorded.count(event, n);
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::At(cycle) => {
                self.recorded.notify(Notice::At(cycle));
            }
            Notice::Edge(edge) => {
                self.recorded.notify(Notice::Edge(edge));
            }
            Notice::SoftwareIncrement(counters) => {
                self.recorded.notify(Notice::SoftwareIncrement(counters));
            }
            Notice::Operation(operation) => {
                self.profile(|spe, sink| spe.operation(operation, sink));
            }
            Notice::Lost(lost) => {
                self.lost.insert(lost.cause);
            }
            _ => {}
        }
    }
}

impl Tally for Learner {
    fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    fn recorded_mut(&mut self) -> &mut Recorded {
        &mut self.recorded
    }
}

/// The fault of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The place is silent.
    Silent(Site),
    /// The place raises its event twice.
    Double(Site),
    /// The edge of a flow is never reported.
    LostEdge(FlowEdge),
    /// The edge of a flow is reported twice.
    DoubleEdge(FlowEdge),
}

/// A sink that observes a machine as if it had one fault.
#[derive(Clone, Debug)]
pub struct Faulty {
    recorded: Recorded,
    fault: Fault,
}

impl Faulty {
    /// Returns a sink for a machine with this fault.
    pub fn new(fault: Fault) -> Faulty {
        Faulty { recorded: Recorded::default(), fault }
    }
}

impl EventSink for Faulty {
    const OBSERVES_OPS: bool = true;

    #[track_caller]
    fn count(&mut self, event: PmuEvent, n: u64) {
        let caller = Location::caller();
        let is_here = |site: Site| site.event == event && site == Site::here(caller, event);
        let n = match self.fault {
            Fault::Silent(site) if is_here(site) => 0,
            Fault::Double(site) if is_here(site) => 2 * n,
            _ => n,
        };
        self.recorded.count(event, n);
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::At(cycle) => {
                self.recorded.notify(Notice::At(cycle));
            }
            Notice::Edge(edge) => {
                match self.fault {
                    Fault::LostEdge(lost) if lost == edge => return,
                    Fault::DoubleEdge(doubled) if doubled == edge => {
                        self.recorded.notify(Notice::Edge(edge))
                    }
                    _ => {}
                }
                self.recorded.notify(Notice::Edge(edge));
            }
            Notice::SoftwareIncrement(counters) => {
                self.recorded.notify(Notice::SoftwareIncrement(counters));
            }
            Notice::Operation(operation) => {
                self.profile(|spe, sink| spe.operation(operation, sink));
            }
            _ => {}
        }
    }
}

impl Tally for Faulty {
    fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    fn recorded_mut(&mut self) -> &mut Recorded {
        &mut self.recorded
    }
}

/// For each place, the cases that reach it, by their index.
pub type Reached = BTreeMap<Site, Vec<usize>>;

/// A line of the sources that raises events.
#[derive(Clone, Debug)]
pub struct RaisingLine {
    /// Source file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Its text.
    pub code: String,
    /// The events that its statement names; empty if it takes them from a variable or a table.
    pub named: Vec<PmuEvent>,
}

/// Returns the lines of the sources that raise events, by their text: calls of `raise` and `count`
/// on a sink, and of helpers that raise on behalf of their callers. Leaves out test modules and the
/// bodies of such helpers.
pub fn raising_lines(sources: &[(String, String)]) -> Vec<RaisingLine> {
    let helpers: BTreeSet<String> =
        sources.iter().flat_map(|(_, text)| speaking_for_callers(text)).collect();
    let mut found = Vec::new();
    for (file, text) in sources {
        let mut skip_until: Option<String> = None;
        let mut tracked = false;
        for (i, line) in text.lines().enumerate() {
            let code = line.trim_start();
            if code.starts_with("#[cfg(test)]") {
                break;
            }
            if let Some(end) = &skip_until {
                if line.starts_with(end.as_str()) && code == "}" {
                    skip_until = None;
                }
                continue;
            }
            tracked |= code.starts_with("#[track_caller]");
            if tracked && is_function_head(code) {
                let indent = &line[..line.len() - code.len()];
                // A signature of several lines still ends with a brace under its first letter.
                skip_until = Some(format!("{indent}}}"));
                tracked = false;
                continue;
            }
            if !code.starts_with("//") && raises(code, &helpers) {
                let (line, code) = (i as u32 + 1, code.to_owned());
                let named = events_named(text.lines().skip(i));
                found.push(RaisingLine { file: file.clone(), line, code, named });
            }
        }
    }
    found
}

/// Returns the events named from the first of these lines to the end of its statement.
fn events_named<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<PmuEvent> {
    let mut named = Vec::new();
    let mut depth = 0_i32;
    for line in lines {
        let code = line.split("//").next().unwrap_or_default();
        for piece in code.split("PmuEvent::").skip(1) {
            let end = piece.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let name = &piece[..end.unwrap_or(piece.len())];
            named.extend(PmuEvent::ALL.into_iter().find(|event| event.mnemonic() == name));
        }
        let count = |sign: char| code.matches(sign).count() as i32;
        depth += count('(') + count('{') - count(')') - count('}');
        if depth <= 0 {
            break;
        }
    }
    named
}

fn raises(code: &str, helpers: &BTreeSet<String>) -> bool {
    let direct = ["sink.raise(", "sink.count("].iter().any(|call| code.contains(call));
    direct
        || helpers.iter().any(|name| {
            code.contains(&format!(".{name}(")) || code.contains(&format!(".{name}::<"))
        })
}

fn is_function_head(code: &str) -> bool {
    ["fn ", "pub fn ", "pub(crate) fn ", "pub(super) fn "].iter().any(|head| code.starts_with(head))
}

/// Returns the names of the functions of a source that raise on behalf of their callers.
fn speaking_for_callers(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let mut names = Vec::new();
    for (i, _) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("#[track_caller]")) {
        let head = lines[i + 1..].iter().find(|line| is_function_head(line));
        let name = head.and_then(|head| head.split("fn ").nth(1)?.split(['<', '(']).next());
        names.extend(name.map(str::to_owned));
    }
    names
}
