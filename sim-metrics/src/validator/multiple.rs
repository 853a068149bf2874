//! Faults of a formula that is not close to any known one: a surplus factor, or the rest of the
//! whole instead of a part. A fault is found on a run by undoing it: the value is then the truth,
//! except for counting biases of the events.

use super::adjust::{Case, CountingBias, Finding};
use super::edit::{number_edit, simplified};
use super::fraction::Fraction;
use super::reason::Reason;
use crate::formula::{Linked, NodeId, Op};
use crate::truth::TruthUnit;

/// Factors between units that are often confused: bytes of a beat and of a line, percent and
/// fractions, thousands.
const UNITS: [f64; 6] = [16.0, 32.0, 64.0, 128.0, 100.0, 1000.0];
/// Relative difference that is too small for chance.
const EXACT: f64 = 1e-6;
/// Largest remaining difference of a share that is the rest of the whole.
const REST: f64 = 1e-4;
/// Smallest truth in tolerances. Every factor fits a smaller one.
const TOLERANCES: f64 = 4.0;

/// Undone fault.
pub(super) struct Undone {
    /// Reason that describes the fault.
    pub(super) reason: Reason,
    /// Formula without the fault.
    pub(super) text: Option<String>,
    /// Counting biases that explain the remaining difference.
    pub(super) findings: Vec<Finding>,
    /// Difference that the counting biases leave.
    pub(super) rest: f64,
}

/// Undoes the fault that explains the difference, if there is one.
pub(super) fn undone(case: &Case, real: f64, tolerance: f64, is_of_many: bool) -> Option<Undone> {
    let factor = || {
        let places = multipliers(case.formula).into_iter();
        places.filter_map(|(id, given)| without(case, (id, given), real, tolerance)).next()
    };
    let unit = || {
        let places = multipliers(case.formula).into_iter().filter(|_| is_of_many);
        places.filter_map(|(id, given)| of_other_unit(case, (id, given), real)).next()
    };
    if real.abs() <= TOLERANCES * tolerance {
        return None;
    }
    unit().or_else(factor).or_else(|| rest_of_whole(case, real))
}

/// Returns the numbers that multiply or divide the whole value.
fn multipliers(formula: &Linked) -> Vec<(NodeId, f64)> {
    use crate::formula::BinaryOp::{Divide, Multiply, Ratio};
    let mut found = Vec::new();
    let mut open = vec![formula.root()];
    while let Some(id) = open.pop() {
        match formula.node(id).op {
            Op::Binary(Multiply | Divide | Ratio, a, b) => open.extend([b, a]),
            Op::Number(given) if given > 0.0 && given != 1.0 => found.push((id, given)),
            _ => {}
        }
    }
    found
}

/// Returns the formula with another number at a node, and the ratio of the old to the new value.
fn with(case: &Case, id: NodeId, number: f64) -> (Linked, f64) {
    let formula = case.formula.with_number(id, number);
    let value = Case { formula: &formula, ..*case }.value();
    (formula, case.value() / value)
}

fn fault(case: &Case, id: NodeId, number: f64, times: f64) -> (Reason, Option<String>) {
    let times = Fraction::of(times).map_or(times, Fraction::value);
    let text = case.formula.rewritten(&[number_edit(case.formula, id, number)]);
    (Reason::Multiple(times), text.map(|text| simplified(&text)))
}

/// Undoes a surplus factor. Counting biases may explain the remaining difference.
fn without(case: &Case, (id, _): (NodeId, f64), real: f64, tolerance: f64) -> Option<Undone> {
    let (formula, times) = with(case, id, 1.0);
    let (findings, rest) = Case { formula: &formula, ..*case }.biases(real, tolerance);
    let (reason, text) = fault(case, id, 1.0, times);
    (rest.abs() <= tolerance).then_some(Undone { reason, text, findings, rest })
}

/// Undoes a factor of the wrong unit. There are several units, so the value must be exact, except
/// for claimed lines.
fn of_other_unit(case: &Case, (id, given): (NodeId, f64), real: f64) -> Option<Undone> {
    let others = UNITS.into_iter().filter(|unit| *unit != given && UNITS.contains(&given));
    others.chain([1.0]).find_map(|number| {
        let (formula, times) = with(case, id, number);
        let other = Case { formula: &formula, ..*case };
        let own = other.value() - real;
        let unclaimed = other.without(&[CountingBias::Streamed]) - real;
        let is_exact = |rest: f64| rest.abs() <= EXACT * real.abs();
        let (rest, findings) = match is_exact(own) {
            true => (own, Vec::new()),
            false => {
                let shift = Some(unclaimed - own);
                (unclaimed, vec![Finding { reason: CountingBias::Streamed.reason(), shift }])
            }
        };
        let (reason, text) = fault(case, id, number, times);
        is_exact(rest).then_some(Undone { reason, text, findings, rest })
    })
}

/// Undoes the use of the rest of the whole, up to one counting bias of the events.
fn rest_of_whole(case: &Case, real: f64) -> Option<Undone> {
    if case.truth.unit() != TruthUnit::Share {
        return None;
    }
    let (findings, rest) = Case { is_rest: true, ..*case }.biases(real, REST);
    let text = (case.factor == 1.0).then(|| case.formula.rewritten(&[])).flatten();
    (rest.abs() <= REST && findings.len() <= 1).then(|| Undone {
        reason: Reason::Complement,
        text: text.map(|text| format!("1 - ({text})")),
        findings,
        rest,
    })
}
