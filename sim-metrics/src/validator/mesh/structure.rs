//! Weights of the events in a formula over counts of the mesh, found without a run. A unit that is
//! off, and parts that do not make up their divisor, show in these numbers.

use std::collections::{BTreeMap, BTreeSet};

use super::reason::MeshReason;
use crate::formula::bandwidth_unit::bytes_per_second;
use crate::formula::event_use::{MESH_CYCLES, MESH_FREQUENCY};
use crate::formula::{BinaryOp, EventUse, Linked, Machine, MetricFormula, NodeId, Op, Quantity};

/// Bytes that a request, look-up or snoop moves at most, and those of a data flit.
const BYTES: [f64; 2] = [64.0, 32.0];
/// Largest relative error of a number that was computed.
const NEAR: f64 = 1e-9;
/// Cycles for which the rates of Arm's telemetry count.
const RATE_CYCLES: f64 = 1000.0;

/// Values of the names of a formula that are not events.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    cycles: f64,
    frequency: f64,
    seconds: f64,
}

/// Every clock is 1.
const ONE: Clocks = Clocks { cycles: 1.0, frequency: 1.0, seconds: 1.0 };

impl Clocks {
    /// Returns the value of a clock; None for an event.
    fn of(self, event: &EventUse) -> Option<f64> {
        match event.name.as_str() {
            _ if matches!(event.quantity, Quantity::Time(_)) => Some(self.seconds),
            MESH_FREQUENCY => Some(self.frequency),
            name if name == MESH_CYCLES || name.ends_with("/dtc_cycles/") => Some(self.cycles),
            _ => None,
        }
    }
}

/// Evaluates every node with given values of clocks and events.
fn values(linked: &Linked, clocks: Clocks, event: impl Fn(usize) -> f64) -> Vec<f64> {
    let events = linked.events().iter().enumerate();
    let counts = events.map(|(number, own)| clocks.of(own).or_else(|| Some(event(number))));
    linked.evaluate_counts(&Machine::neoverse_n2(3, 1), &counts.collect::<Vec<_>>()).values
}

/// Dependence of a node on events.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// It has the same value whatever is counted.
    Constant,
    /// It is a weighted sum of events and a constant.
    Linear,
    /// Any other.
    Other,
}

/// Returns the form of every node. `values` are those without events.
fn forms(linked: &Linked, values: &[f64]) -> Vec<Form> {
    let mut forms: Vec<Form> = Vec::with_capacity(linked.nodes().len());
    for node in linked.nodes() {
        let form = |id: NodeId| forms[id.index()];
        let worst = |a: Form, b: Form| match (a, b) {
            (Form::Constant, Form::Constant) => Form::Constant,
            (Form::Other, _) | (_, Form::Other) => Form::Other,
            _ => Form::Linear,
        };
        let own = match node.op {
            Op::Name(name) if ONE.of(linked.event(name)).is_none() => Form::Linear,
            Op::Negate(a) => form(a),
            Op::Binary(BinaryOp::Add | BinaryOp::Subtract, a, b) => worst(form(a), form(b)),
            Op::Binary(BinaryOp::Multiply, a, b) => match (form(a), form(b)) {
                (Form::Linear, Form::Linear) => Form::Other,
                (a, b) => worst(a, b),
            },
            Op::Binary(BinaryOp::Divide | BinaryOp::Ratio, a, b) => match form(b) {
                Form::Constant => form(a),
                _ => Form::Other,
            },
            Op::Choose { value, condition, otherwise } => match form(condition) {
                Form::Constant if values[condition.index()] == 0.0 => form(otherwise),
                Form::Constant => form(value),
                _ => Form::Other,
            },
            ref other if other.operands().all(|id| form(id) == Form::Constant) => Form::Constant,
            _ => Form::Other,
        };
        forms.push(own);
    }
    forms
}

/// Returns what each event adds to a node at given clocks, by the name of the event. None if the
/// node is not a weighted sum of events.
fn weights_at(linked: &Linked, node: NodeId, clocks: Clocks) -> Option<BTreeMap<String, f64>> {
    let values = values(linked, clocks, |_| 0.0);
    let forms = forms(linked, &values);
    if forms[node.index()] == Form::Other || values[node.index()] != 0.0 {
        return None;
    }
    // Operands come before their users, so that a node has its whole weight when it is reached.
    let mut weights = vec![0.0; linked.nodes().len()];
    weights[node.index()] = 1.0;
    let mut named = BTreeMap::new();
    for index in (0..=node.index()).rev() {
        let weight: f64 = weights[index];
        if weight == 0.0 || forms[index] == Form::Constant {
            continue;
        }
        let value = |id: NodeId| values[id.index()];
        let is_constant = |id: NodeId| forms[id.index()] == Form::Constant;
        match linked.nodes()[index].op {
            Op::Name(name) => {
                *named.entry(linked.event(name).name.clone()).or_default() += weight;
            }
            Op::Negate(a) => weights[a.index()] -= weight,
            Op::Binary(BinaryOp::Add, a, b) => {
                weights[a.index()] += weight;
                weights[b.index()] += weight;
            }
            Op::Binary(BinaryOp::Subtract, a, b) => {
                weights[a.index()] += weight;
                weights[b.index()] -= weight;
            }
            Op::Binary(BinaryOp::Multiply, a, b) if is_constant(a) => {
                weights[b.index()] += weight * value(a);
            }
            Op::Binary(BinaryOp::Multiply, a, b) => weights[a.index()] += weight * value(b),
            Op::Binary(_, a, b) => weights[a.index()] += weight / value(b),
            Op::Choose { value: yes, condition, otherwise } => {
                let chosen = if value(condition) == 0.0 { otherwise } else { yes };
                weights[chosen.index()] += weight;
            }
            _ => return None,
        }
    }
    named.retain(|_, weight| *weight != 0.0);
    named.values().all(|weight: &f64| weight.is_finite()).then_some(named)
}

/// Returns what each event adds to a node while every clock is 1.
fn weights(linked: &Linked, node: NodeId) -> Option<BTreeMap<String, f64>> {
    weights_at(linked, node, ONE)
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
pub(super) fn counted(linked: &Linked) -> Vec<&EventUse> {
    let (mut found, mut left): (Vec<&EventUse>, Vec<NodeId>) = (Vec::new(), vec![linked.root()]);
    let mut is_seen = vec![false; linked.nodes().len()];
    let mut is_found = vec![false; linked.events().len()];
    while let Some(id) = left.pop() {
        if std::mem::replace(&mut is_seen[id.index()], true) {
            continue;
        }
        match linked.node(id).op {
            Op::Name(name) => {
                let event = linked.event(name);
                let is_known = std::mem::replace(&mut is_found[name as usize], true);
                if ONE.of(event).is_none() && !is_known {
                    found.push(event);
                }
            }
            Op::Binary(BinaryOp::Divide | BinaryOp::Ratio, dividend, _) => left.push(dividend),
            ref other => left.extend(other.operands()),
        }
    }
    found
}

/// Returns the faults of a formula's unit.
pub(super) fn unit_faults(metric: &MetricFormula, linked: &Linked) -> Vec<MeshReason> {
    unit_factor(metric, linked).into_iter().chain(label(metric, linked)).collect()
}

/// Returns whether two numbers are equal but for rounding.
fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= NEAR * one.abs().max(other.abs())
}

/// Returns whether two weighted sums are equal but for rounding.
fn are_near(one: &BTreeMap<String, f64>, other: &BTreeMap<String, f64>) -> bool {
    one.len() == other.len()
        && one.iter().all(|(event, weight)| other.get(event).is_some_and(|o| is_near(*weight, *o)))
}

/// Finds a bandwidth that is a power of ten too large or too small.
fn unit_factor(metric: &MetricFormula, linked: &Linked) -> Option<MeshReason> {
    let unit = bytes_per_second(&metric.scale.unit)? * metric.scale.factor;
    let at = |clocks| weights_at(linked, linked.root(), clocks);
    let weights = at(ONE)?;
    // A number in place of a clock of the machine is not a factor of the unit: a rate for each
    // second is half as large in twice the time, and the same on a mesh of another frequency.
    let longer = at(Clocks { cycles: 0.5, seconds: 0.5, ..ONE })?;
    let halved: BTreeMap<String, f64> =
        longer.into_iter().map(|(event, weight)| (event, weight / 2.0)).collect();
    let faster = at(Clocks { cycles: 2.0, frequency: 2.0, ..ONE })?;
    if !are_near(&weights, &halved) || !are_near(&weights, &faster) {
        return None;
    }
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
    weights.into_iter().find_map(factor)
}

/// Finds a unit that says a rate where the value does not depend on cycles, or the reverse.
fn label(metric: &MetricFormula, linked: &Linked) -> Option<MeshReason> {
    let unit = metric.scale.unit.to_ascii_lowercase();
    // Different values, so that no difference of events is 0.
    let event = |number: usize| 100.0 + 3.0 * number as f64;
    let at = |clocks| values(linked, clocks, event)[linked.root().index()];
    let own = at(ONE);
    if !own.is_finite() || own == 0.0 {
        return None;
    }
    let slower = at(Clocks { cycles: 2.0, ..ONE });
    let other_clocks = at(Clocks { frequency: 2.0, seconds: 2.0, ..ONE });
    let is_rate = is_near(own, 2.0 * slower) && is_near(own, other_clocks);
    let is_ratio = is_near(own, slower) && is_near(own, other_clocks);
    let gives = match unit.as_str() {
        text if text.ends_with("per 1k clks") && is_ratio => "a quotient of two counts",
        "requests" if is_rate => "requests for each 1000 cycles",
        "none" if is_rate && counts_thousands(linked) => "a count for each 1000 cycles",
        _ => return None,
    };
    Some(MeshReason::Label { unit: metric.scale.unit.clone(), gives })
}

/// Returns whether a value adds each event 1000 times in a cycle: a rate of Arm's telemetry.
fn counts_thousands(linked: &Linked) -> bool {
    let is_thousand = |weight: &f64| is_near(weight.abs(), RATE_CYCLES);
    weights(linked, linked.root())
        .is_some_and(|weights| !weights.is_empty() && weights.values().all(is_thousand))
}

/// Metric of a group of parts, with its linked formula.
pub(super) type Part<'a> = (&'a MetricFormula, &'a Linked);

/// Compares the parts of each group with the divisor that they share. Returns the groups that are
/// not a whole, with the positions of their members.
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
    let of = |sum: &BTreeMap<String, f64>, event: &String| sum.get(event).copied().unwrap_or(0.0);
    // An event may be in the parts alone, or in the divisor alone.
    let names: BTreeSet<&String> = sum.keys().chain(whole.keys()).collect();
    let differ = |event: &&&String| !is_near(of(&sum, event), of(&whole, event));
    let (extra, lacking): (Vec<String>, Vec<String>) = names
        .iter()
        .filter(differ)
        .map(|event| (*event).clone())
        .partition(|event| of(&sum, event) > of(&whole, event));
    if extra.is_empty() && lacking.is_empty() {
        return None;
    }
    let group = group.clone();
    Some((members, MeshReason::NotWhole { group, extra, lacking, sum: None }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{Catalog, Scale};

    fn linked(text: &str) -> Linked {
        let metric = MetricFormula::new("m", text, "");
        Linked::new(&metric.formula.expect("a formula"), &Catalog::default()).expect("links")
    }

    fn weights_of(text: &str) -> Option<Vec<(String, f64)>> {
        let linked = linked(text);
        weights(&linked, linked.root()).map(|weights| weights.into_iter().collect())
    }

    fn faults(text: &str, unit: &str) -> Vec<&'static str> {
        let scale = Scale { unit: unit.to_owned(), ..Scale::default() };
        let metric = MetricFormula { scale, ..MetricFormula::new("m", text, "") };
        unit_faults(&metric, &linked(text)).iter().map(MeshReason::code).collect()
    }

    #[test]
    fn weights_are_those_of_a_sum() {
        let of = |text: &str| {
            let weights = weights_of(text)?;
            let short = |(name, weight): (String, f64)| (name.replace("PMU_HNF_", ""), weight);
            Some(weights.into_iter().map(short).collect::<Vec<_>>())
        };
        let some = |all: &[(&str, f64)]| {
            Some(all.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect::<Vec<_>>())
        };
        assert_eq!(of("2 * (PMU_HNF_A - PMU_HNF_B / 4) * 3"), some(&[("A", 6.0), ("B", -1.5)]));
        assert_eq!(of("(PMU_HNF_A + 1) * 5 - 5 + PMU_HNF_A"), some(&[("A", 6.0)]));
        assert_eq!(of("PMU_HNF_A if 0 else -PMU_HNF_B"), some(&[("B", -1.0)]));
        assert_eq!(of("PMU_HNF_A - PMU_HNF_A + 0 * PMU_HNF_B"), some(&[]));
        for text in [
            "PMU_HNF_A * PMU_HNF_B",
            "PMU_HNF_A / PMU_HNF_B",
            "PMU_HNF_A + 1",
            "PMU_HNF_A / (SYS_CMN_CYCLES - SYS_FREQUENCY)",
            "max(PMU_HNF_A, PMU_HNF_B)",
            "1 if PMU_HNF_A else 0",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    /// Each event and each operation is looked at a few times, whatever their number.
    #[test]
    fn a_formula_of_many_events_is_checked_at_once() {
        let names: Vec<String> = (0..1500).map(|number| format!("PMU_HNF_E{number}")).collect();
        let text = format!("({}) * 64 / SYS_CMN_CYCLES * SYS_FREQUENCY", names.join(" + "));
        let start = std::time::Instant::now();
        assert_eq!(faults(&text, "GB/s"), ["unit-factor"]);
        assert_eq!(weights_of(&text).expect("a sum").len(), 1500);
        assert_eq!(counted(&linked(&text)).len(), 1500);
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }

    #[test]
    fn a_factor_is_found_only_where_the_unit_is_known() {
        let bandwidth = "64 * PMU_HNF_MC_REQS * SYS_FREQUENCY / SYS_CMN_CYCLES";
        let none: [&str; 0] = [];
        for unit in ["Bytes per second", "B/s"] {
            assert_eq!(faults(bandwidth, unit), none, "{unit}");
        }
        for unit in ["GB/s", "Megabytes per second", "KB/s"] {
            assert_eq!(faults(bandwidth, unit), ["unit-factor"], "{unit}");
            assert_eq!(faults(&format!("{bandwidth} / 7"), unit), none, "{unit}");
        }
        for (factor, unit) in [
            ("1e6", "Megabytes per second"),
            ("1e3", "KB/s"),
            ("1048576", "MiB/s"),
            ("0.125e9", "Gb/s"),
            ("1", "lines"),
            ("1", "gb/s"),
            ("1", ""),
        ] {
            assert_eq!(faults(&format!("{bandwidth} / {factor}"), unit), none, "{unit}");
        }
        assert_eq!(faults("64 * PMU_HNF_MC_REQS / 1e9 / duration_time", "GB/s"), none);
        assert_eq!(faults("64 * PMU_HNF_MC_REQS / 1e6 / duration_time", "GB/s"), ["unit-factor"]);
        // The frequency as a number, and bytes of a whole run.
        assert_eq!(faults("64 * PMU_HNF_MC_REQS / SYS_CMN_CYCLES * 1e9", "B/s"), none);
        assert_eq!(faults("64 * PMU_HNF_MC_REQS", "MB/s"), none);
    }

    #[test]
    fn a_rate_without_a_unit_is_found() {
        let none: [&str; 0] = [];
        let rate = "PMU_HNI_RETRY / SYS_CMN_CYCLES * 1000";
        for unit in ["None", "Requests"] {
            assert_eq!(faults(rate, unit), ["unit-label"], "{unit}");
        }
        assert_eq!(faults(rate, "Requests per 1K clks"), none);
        assert_eq!(faults("PMU_HNI_RETRY / PMU_HNI_REQS", "None"), none);
        assert_eq!(faults("PMU_HNI_RETRY / SYS_CMN_CYCLES * 50", "None"), none);
        assert_eq!(faults("PMU_HNI_RETRY / PMU_HNI_REQS", "Requests per 1K clks"), ["unit-label"]);
    }

    #[test]
    fn an_event_of_the_divisor_alone_is_found() {
        let part = |name: &str, text: &str| {
            let groups = vec![String::from("Parts")];
            let description = String::from("Proportion of requests");
            MetricFormula { groups, description, ..MetricFormula::new(name, text, "") }
        };
        let found = |hits: &str, misses: &str, divisor: &str| {
            let metrics = [hits, misses].map(|own| part(own, &format!("{own} / ({divisor})")));
            let linked =
                [0, 1].map(|at| linked(&format!("({}) / ({divisor})", [hits, misses][at])));
            let parts: Vec<Part<'_>> = metrics.iter().zip(&linked).collect();
            broken_groups(&parts).into_iter().next().map(|(_, reason)| match reason {
                MeshReason::NotWhole { extra, lacking, .. } => (extra, lacking),
                other => panic!("{other}"),
            })
        };
        let (access, miss) = ("PMU_HNF_ACCESS", "PMU_HNF_MISS");
        let hits = format!("{access} - {miss}");
        assert_eq!(found(&hits, miss, access), None);
        let only = |event: &str| Some((vec![event.to_owned()], Vec::new()));
        assert_eq!(found(&hits, miss, &hits), only(miss));
        assert_eq!(found(access, "0 * PMU_HNF_MISS", &hits), only(miss));
        let lacking = Some((Vec::new(), vec![miss.to_owned()]));
        assert_eq!(
            found("0.5 * PMU_HNF_ACCESS", "0.5 * PMU_HNF_ACCESS", &format!("{access} + {miss}")),
            lacking
        );
    }
}
