//! The `path` of a case: the paths of its accesses through the flows 5.1 to 5.8 of the guide.
//!
//! `"5.1: 1,2,3 | 1,2; 5.4: 2 x 1"` lists for each flow the paths of accesses by the numbers of the
//! guide's event lists. [`sim_core::flow`] defines the boxes of each flow. A box without a number
//! is named in parentheses if two paths differ only in it: `5.5: 1,(write to the L2)`. The model
//! must report exactly the edges of these paths, and the events of their steps must count at least
//! once.

use sim_core::PmuEvent;
use sim_core::flow::{Flow, FlowGraph, Path, Stop};

use super::cursor::Cursor;
use super::error::{Fault, Problem};

/// Accesses that take one path through a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// Flow of guide chapter 5.
    pub flow: Flow,
    /// Boxes and edges.
    pub path: Path,
    /// Number of accesses on this path.
    pub times: u64,
}

/// Reads a whole `path` text.
pub(super) fn parse_paths(cursor: &mut Cursor) -> Result<Vec<Way>, Fault> {
    let mut ways: Vec<Way> = Vec::new();
    loop {
        let offset = cursor.offset();
        let found = parse_flow(cursor)?;
        if ways.iter().any(|known| known.flow == found[0].flow) {
            let expected = "each flow once; join its ways with '|'".to_owned();
            let found = format!("flow {} again", found[0].flow.info().section);
            return Err(Fault::new(offset, Problem::Expected { expected, found }));
        }
        ways.extend(found);
        if cursor.is_done() {
            return Ok(ways);
        }
        if !cursor.take(";") {
            return Err(cursor.expected("';' before the next flow, or '|' before its next way"));
        }
    }
}

/// Returns the events of the visited boxes.
pub(super) fn events_of(ways: &[Way]) -> Vec<PmuEvent> {
    let mut events = Vec::new();
    for way in ways {
        let graph = FlowGraph::new(way.flow);
        events.extend(way.path.boxes(&graph).flat_map(|part| part.events));
    }
    events
}

/// Reads one flow with one or more paths.
fn parse_flow(cursor: &mut Cursor) -> Result<Vec<Way>, Fault> {
    let mut ahead = cursor.clone();
    let Some(flow) = ahead.word().and_then(Flow::of_section) else {
        return Err(cursor.expected("a flow from 5.1 to 5.8, as in \"5.1: 1,2\""));
    };
    *cursor = ahead;
    if !cursor.take(":") {
        return Err(cursor.expected("':' after the flow"));
    }
    let graph = FlowGraph::new(flow);
    let mut ways = vec![parse_way(cursor, &graph)?];
    while cursor.take("|") {
        ways.push(parse_way(cursor, &graph)?);
    }
    Ok(ways)
}

fn parse_way(cursor: &mut Cursor, graph: &FlowGraph) -> Result<Way, Fault> {
    let offset = cursor.offset();
    let mut ahead = cursor.clone();
    let times = match ahead.number()? {
        Some(times) if ahead.take_word("x") => {
            *cursor = ahead;
            times
        }
        _ => 1,
    };
    let mut stops = vec![parse_stop(cursor)?];
    while cursor.take(",") {
        stops.push(parse_stop(cursor)?);
    }
    let path = graph.path(&stops).ok_or_else(|| Fault::new(offset, bad_path(graph)))?;
    Ok(Way { flow: graph.flow(), path, times })
}

fn parse_stop(cursor: &mut Cursor) -> Result<Stop, Fault> {
    if cursor.take("(") {
        let Some(name) = cursor.until(")") else {
            return Err(cursor.expected("the name of a box and ')'"));
        };
        return Ok(Stop::Named(name.to_owned()));
    }
    let offset = cursor.offset();
    let value = cursor.need_number("the number of a step")?;
    let step = u8::try_from(value).ok().filter(|step| *step > 0);
    let range = "the number of a box of the flow";
    let problem = Problem::OutOfRange { what: "a step", range, value };
    step.map(Stop::Step).ok_or(Fault::new(offset, problem))
}

/// Returns the fault that lists all paths of the flow.
fn bad_path(graph: &FlowGraph) -> Problem {
    let mut ways: Vec<String> = Vec::new();
    for path in graph.paths() {
        let stop = |part: &sim_core::flow::FlowBox| match part.step {
            0 => None,
            step => Some(step.to_string()),
        };
        let way = path.boxes(graph).filter_map(stop).collect::<Vec<String>>().join(",");
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    let flow = graph.flow().info().section;
    Problem::BadPath { flow, ways: ways.join(" | ") }
}
