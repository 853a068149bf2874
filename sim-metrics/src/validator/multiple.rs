//! What is wrong with a formula of which no other form is known: a factor too many, or the rest of the whole
//! in the place of a part. Found on a run by undoing it: the value then is the truth, but for counting biases of the
//! events.

use super::adjust::{Case, CountingBias, Finding};
use super::edit::{number_edit, simplified};
use super::fraction::Fraction;
use super::reason::Reason;
use crate::formula::{Linked, NodeId, Op};
use crate::truth::TruthUnit;

/// Factors between the units that are confused: of a beat and a line of bytes, of percent and parts, of
/// thousands.
const UNITS: [f64; 6] = [16.0, 32.0, 64.0, 128.0, 100.0, 1000.0];
/// How exact a value is that no chance makes.
const EXACT: f64 = 1e-6;
/// What is left of a share that is the rest of the whole, at most.
const REST: f64 = 1e-4;
/// A truth is so many tolerances at least: near to nothing every factor fits.
const TOLERANCES: f64 = 4.0;

/// A fault that was undone.
pub(super) struct Undone {
    /// The fault.
    pub(super) reason: Reason,
    /// The formula without it.
    pub(super) text: Option<String>,
    /// The counting biases that explain what is left.
    pub(super) findings: Vec<Finding>,
    /// What they leave.
    pub(super) rest: f64,
}

/// Undoes the fault that leaves nothing of the difference, if there is one.
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

/// The numbers that multiply or divide the whole value.
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

/// The formula with another number, and how many times as much it was before.
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

/// A factor that should not be there; what it leaves may be counting biases of the events.
fn without(case: &Case, (id, _): (NodeId, f64), real: f64, tolerance: f64) -> Option<Undone> {
    let (formula, times) = with(case, id, 1.0);
    let (findings, rest) = Case { formula: &formula, ..*case }.biases(real, tolerance);
    let (reason, text) = fault(case, id, 1.0, times);
    (rest.abs() <= tolerance).then_some(Undone { reason, text, findings, rest })
}

/// The factor of another unit. There are several, so that the value must be exact, but for lines that are claimed.
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

/// What the claim leaves of the whole, but for one counting bias of the events.
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
