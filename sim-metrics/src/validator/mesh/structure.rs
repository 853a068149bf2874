//! Weights of the events in a formula over counts of the mesh, found without a run: the formula is
//! evaluated with one event at a time. A unit that is off, and parts that do not make up their
//! divisor, show in these numbers.

use std::collections::BTreeMap;

use super::reason::MeshReason;
use crate::formula::event_use::{MESH_CYCLES, MESH_FREQUENCY};
use crate::formula::{BinaryOp, EventUse, Linked, Machine, MetricFormula, NodeId, Op, Quantity};

/// Bytes that a request, look-up or snoop moves at most, and those of a data flit.
const BYTES: [f64; 2] = [64.0, 32.0];
/// Largest relative error of a number that was computed.
const NEAR: f64 = 1e-9;

/// Returns whether a name is a clock and not an event.
fn is_clock(event: &EventUse) -> bool {
    let is_cycles = event.name.ends_with("/dtc_cycles/");
    let is_clock = [MESH_CYCLES, MESH_FREQUENCY].contains(&event.name.as_str()) || is_cycles;
    is_clock || matches!(event.quantity, Quantity::Time(_))
}

/// Evaluates every node with given values of clocks and events.
fn values(linked: &Linked, clock: f64, event: impl Fn(usize) -> f64) -> Vec<f64> {
    let place = |own: &EventUse| linked.events().iter().position(|other| other == own);
    let count = |own: &EventUse| match is_clock(own) {
        true => Some(clock),
        false => place(own).map(&event),
    };
    linked.evaluate(&Machine::neoverse_n2(3, 1), count).values
}

/// Returns what each event adds to a node while every clock is 1, by the name of the event. None if
/// the node is not a weighted sum of events.
fn weights(linked: &Linked, node: NodeId) -> Option<BTreeMap<String, f64>> {
    let at = |event: &dyn Fn(usize) -> f64| values(linked, 1.0, event)[node.index()];
    let nothing = at(&|_| 0.0);
    if nothing != 0.0 {
        return None;
    }
    let mut weights = BTreeMap::new();
    for (number, event) in linked.events().iter().enumerate().filter(|(_, own)| !is_clock(own)) {
        let one = at(&|other| f64::from(u8::from(other == number)));
        let three = at(&|other| if other == number { 3.0 } else { 0.0 });
        if !one.is_finite() || (three - 3.0 * one).abs() > NEAR * one.abs() {
            return None;
        }
        if one != 0.0 {
            weights.insert(event.name.clone(), one);
        }
    }
    let all = at(&|_| 1.0);
    let sum: f64 = weights.values().sum();
    ((all - sum).abs() <= NEAR * sum.abs().max(1.0)).then_some(weights)
}

/// Returns the dividend and the divisor of a formula whose divisor depends on events.
fn quotient(linked: &Linked) -> Option<(NodeId, NodeId)> {
    let mut at = linked.root();
    loop {
        let is_number = |id: NodeId| matches!(linked.node(id).op, Op::Number(_));
        match linked.node(at).op {
            Op::Binary(BinaryOp::Multiply, a, b) if is_number(b) => at = a,
            Op::Binary(BinaryOp::Multiply, a, b) if is_number(a) => at = b,
            Op::Binary(BinaryOp::Divide, a, b) => return Some((a, b)),
            _ => return None,
        }
    }
}

/// Returns the events that a value is made of, without its divisors.
pub(super) fn counted<'a>(linked: &'a Linked) -> Vec<&'a EventUse> {
    let (mut found, mut left): (Vec<&'a EventUse>, Vec<NodeId>) = (Vec::new(), vec![linked.root()]);
    while let Some(id) = left.pop() {
        match linked.node(id).op {
            Op::Name(name) => {
                let event = linked.event(name);
                if !is_clock(event) && !found.contains(&event) {
                    found.push(event);
                }
            }
            Op::Binary(BinaryOp::Divide | BinaryOp::Ratio, dividend, _) => left.push(dividend),
            ref other => left.extend(other.operands()),
        }
    }
    found
}

/// Returns the bytes per second in one unit of a bandwidth.
fn bytes_per_second(unit: &str) -> Option<f64> {
    let unit = unit.to_ascii_lowercase();
    [("gb/s", 1e9), ("mb/s", 1e6), ("kb/s", 1e3), ("bytes per second", 1.0), ("b/s", 1.0)]
        .into_iter()
        .find(|(name, _)| unit.contains(name))
        .map(|(_, bytes)| bytes)
}

/// Returns the faults of a formula's unit.
pub(super) fn unit_faults(metric: &MetricFormula, linked: &Linked) -> Vec<MeshReason> {
    unit_factor(metric, linked).into_iter().chain(label(metric, linked)).collect()
}

/// Finds a bandwidth that is a power of ten too large or too small.
fn unit_factor(metric: &MetricFormula, linked: &Linked) -> Option<MeshReason> {
    let unit = bytes_per_second(&metric.scale.unit)? * metric.scale.factor;
    let factor = |(event, weight): (String, f64)| {
        // What is subtracted is a correction of an event that is added.
        let given = weight * unit;
        if given <= 0.0 {
            return None;
        }
        let times = BYTES.map(|right| (given / right, right));
        let is_power = |times: f64| (times.log10() - times.log10().round()).abs() < NEAR;
        if times.iter().any(|(times, _)| (times - 1.0).abs() < NEAR) {
            return None;
        }
        let (times, right) = times.into_iter().find(|(times, _)| is_power(*times))?;
        let rounded = |value: f64| if value > 1.0 { value.round() } else { value };
        let (times, given) = (rounded(times), rounded(given));
        Some(MeshReason::UnitFactor { times, event, given, right })
    };
    weights(linked, linked.root())?.into_iter().find_map(factor)
}

/// Finds a unit that says a rate where the value does not depend on cycles, or the reverse.
fn label(metric: &MetricFormula, linked: &Linked) -> Option<MeshReason> {
    let unit = metric.scale.unit.to_ascii_lowercase();
    // Different values, so that no difference of events is 0.
    let event = |number: usize| 100.0 + 3.0 * number as f64;
    let at = |clock| values(linked, clock, event)[linked.root().index()];
    let (fast, slow) = (at(1000.0), at(2000.0));
    if !fast.is_finite() || fast == 0.0 {
        return None;
    }
    let is_rate = (fast - 2.0 * slow).abs() <= NEAR * fast.abs();
    let is_ratio = (fast - slow).abs() <= NEAR * fast.abs();
    let gives = match unit.as_str() {
        text if text.ends_with("per 1k clks") && is_ratio => "a quotient of two counts",
        "requests" if is_rate => "requests for each 1000 cycles",
        _ => return None,
    };
    Some(MeshReason::Label { unit: metric.scale.unit.clone(), gives })
}

/// Metric of a group of parts, with its linked formula.
pub(super) type Part<'a> = (&'a MetricFormula, &'a Linked);

/// Compares the parts of each group with the divisor that they share. Returns the groups that are
/// no whole, with the positions of their members.
pub(super) fn broken_groups(parts: &[Part<'_>]) -> Vec<(Vec<usize>, MeshReason)> {
    let mut names: Vec<&String> = parts.iter().flat_map(|(metric, _)| &metric.groups).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter_map(|group| broken(group, parts)).collect()
}

fn broken(group: &String, parts: &[Part<'_>]) -> Option<(Vec<usize>, MeshReason)> {
    let is_member = |at: &usize| parts[*at].0.groups.contains(group);
    let members: Vec<usize> = (0..parts.len()).filter(is_member).collect();
    let is_part = |metric: &MetricFormula| {
        let text = format!("{} {}", metric.name, metric.description).to_ascii_lowercase();
        text.contains("proportion") || text.contains("share of")
    };
    if members.len() < 2 || !members.iter().all(|at| is_part(parts[*at].0)) {
        return None;
    }
    let mut sum: BTreeMap<String, f64> = BTreeMap::new();
    let mut whole: Option<BTreeMap<String, f64>> = None;
    for at in &members {
        let linked = parts[*at].1;
        let (dividend, divisor) = quotient(linked)?;
        let divisor = weights(linked, divisor)?;
        if whole.get_or_insert_with(|| divisor.clone()) != &divisor {
            return None;
        }
        for (event, weight) in weights(linked, dividend)? {
            *sum.entry(event).or_default() += weight;
        }
    }
    let whole = whole.filter(|whole| !whole.is_empty())?;
    let above = |one: &BTreeMap<String, f64>, other: &BTreeMap<String, f64>| -> Vec<String> {
        let other = |event: &String| other.get(event).copied().unwrap_or(0.0);
        let is_above =
            |(event, weight): &(&String, &f64)| **weight > other(event) + NEAR * weight.abs();
        one.iter().filter(is_above).map(|(event, _)| event.clone()).collect()
    };
    let (extra, lacking) = (above(&sum, &whole), above(&whole, &sum));
    if extra.is_empty() && lacking.is_empty() {
        return None;
    }
    let group = group.clone();
    Some((members, MeshReason::NotWhole { group, extra, lacking, sum: None }))
}
