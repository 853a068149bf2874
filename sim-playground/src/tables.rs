//! Events and flows of the guide, for labels and charts.

use serde::Serialize;
use sim_core::flow::Flow;
use sim_core::{FlowEdge, PmuEvent};

use crate::assembly::{Example, examples};

/// The tables.
#[derive(Debug, Serialize)]
pub(crate) struct Tables {
    events: Vec<Event>,
    flows: Vec<FlowTable>,
    edges: Vec<Edge>,
    /// Programs for the assembly editor.
    programs: Vec<Example>,
}

#[derive(Debug, Serialize)]
struct Event {
    name: &'static str,
    code: u16,
    about: &'static str,
}

#[derive(Debug, Serialize)]
struct FlowTable {
    section: &'static str,
    title: &'static str,
    boxes: Vec<FlowBox>,
}

#[derive(Debug, Serialize)]
struct FlowBox {
    name: &'static str,
    step: u8,
    events: Vec<&'static str>,
}

/// An edge; its place in the list is its number in the log of a step.
#[derive(Debug, Serialize)]
struct Edge {
    /// Place of its flow in the list of flows.
    flow: usize,
    from: &'static str,
    to: &'static str,
    label: &'static str,
}

/// Returns all events, flows and edges.
pub(crate) fn tables() -> Tables {
    let event = |event: PmuEvent| Event {
        name: event.mnemonic(),
        code: event.code(),
        about: event.info().title,
    };
    let flow = |flow: Flow| {
        let info = flow.info();
        let of_box = |b: &sim_core::flow::FlowBox| FlowBox {
            name: b.name,
            step: b.step,
            events: b.events.iter().map(|event| event.mnemonic()).collect(),
        };
        FlowTable {
            section: info.section,
            title: info.title,
            boxes: info.boxes.iter().map(of_box).collect(),
        }
    };
    let edge = |edge: &FlowEdge| {
        let info = edge.info();
        Edge { flow: info.flow as usize, from: info.from, to: info.to, label: info.label }
    };
    Tables {
        events: PmuEvent::ALL.into_iter().map(event).collect(),
        flows: Flow::ALL.into_iter().map(flow).collect(),
        edges: FlowEdge::ALL.iter().map(edge).collect(),
        programs: examples(),
    }
}
