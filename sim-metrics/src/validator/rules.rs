//! Rules that find faults of a formula, one function each. Rules that do not compare with the truth
//! come first. The others evaluate the formula with one part corrected.

use sim_core::PmuEvent::{self, *};
use sim_core::pmu_event::{EventNameError, RelationKind};

use super::adjust::Case;
use super::evidence::{ERRATUM_PATCH, Evidence, FIRST_SOUND_PATCH};
use super::fraction::Fraction;
use super::reason::Reason;
use crate::formula::event_use::Quantity;
use crate::formula::{BinaryOp, EventUse, Linked, Node, NodeId, Op};
use crate::truth::{Truth, TruthUnit};

/// Factors that are often forgotten: of percent, thousands, slots, and bytes of a line or a beat.
const USUAL_FACTORS: [f64; 9] = [2.0, 4.0, 5.0, 8.0, 16.0, 32.0, 64.0, 100.0, 1000.0];
/// Relative tolerance of a ratio that equals one of them.
const FACTOR_TOLERANCE: f64 = 0.02;
/// Smallest number of runs in which an inexact factor must be the same; two runs may agree by
/// chance.
const FACTOR_RUNS: usize = 3;
/// Amount by which a share may be above 1 or below 0 because of rounding.
const SHARE_ROUNDING: f64 = 1e-9;
/// Relative difference that is too small for chance.
const EXACT: f64 = 1e-6;
/// Largest fraction of a difference that may remain when a rule explains it.
const EXPLAINED: f64 = 0.5;
/// Largest ratio of a misprediction term to the actual cost. A term beyond it charges for something
/// else.
const TERM_MAX: f64 = 100.0;
/// Relative tolerance within which a term is correct.
const TERM_TOLERANCE: f64 = 0.1;

/// Returns reasons for needed events that have no meaning on this machine.
pub(super) fn useless_events(
    formula: &Linked,
    name: &str,
    run: Option<&Evidence>,
    needed: &[&EventUse],
) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = needed.iter().filter_map(|event| useless(event, run)).collect();
    let is_last_level =
        |event: &EventUse| matches!(event.event(), Some(LL_CACHE_RD | LL_CACHE_MISS_RD));
    let lower = name.to_ascii_lowercase();
    if lower.contains("l3") && formula.events().iter().any(is_last_level) {
        reasons.push(Reason::NoL3);
    }
    reasons
}

fn useless(name: &EventUse, run: Option<&Evidence>) -> Option<Reason> {
    match &name.quantity {
        Quantity::Event(event) if event.never_counts() => Some(Reason::NeverCounts(*event)),
        Quantity::Event(event) => {
            let needs_cache = event.relation(RelationKind::RequiresExtllc).is_some();
            let has_none = run.is_some_and(|run| !run.has_external_llc);
            (needs_cache && has_none).then_some(Reason::ExtllcClear(*event))
        }
        Quantity::Time(_) => None,
        Quantity::Unknown(EventNameError::UnknownCode(code)) => Some(match exchanged(*code) {
            Some(meant) => Reason::WrongNumber(name.name.clone(), meant),
            None => Reason::UnknownEvent(name.name.clone()),
        }),
        _ => Some(Reason::UnknownEvent(name.name.clone())),
    }
}

/// Returns the event whose number has the last two digits swapped, in the same page of numbers or
/// another one: floating-point operations are 0x80C0, not 0x0C.
fn exchanged(code: u32) -> Option<PmuEvent> {
    let (high, low) = (code >> 4 & 0xF, code & 0xF);
    let turned = low << 4 | high;
    let pages = [code & !0xFF, 0x8000, 0x4000];
    pages.into_iter().find_map(|page| PmuEvent::from_code(page | turned).ok())
}

/// Returns a reason for a share above 1 or below 0.
pub(super) fn out_of_range(value: f64, unit: TruthUnit) -> Option<Reason> {
    match unit {
        TruthUnit::Share if value > 1.0 + SHARE_ROUNDING => Some(Reason::AboveOne(value)),
        TruthUnit::Share if value < -SHARE_ROUNDING => Some(Reason::Negative(value)),
        _ => None,
    }
}

/// Returns a reason if the surplus slot of r0p0 to r0p2 is not subtracted, or is subtracted where
/// there is none.
pub(super) fn erratum(case: &Case, real: f64) -> Option<Reason> {
    let has_surplus = case.patch < FIRST_SOUND_PATCH;
    let (other, reason) = match has_surplus {
        true => (FIRST_SOUND_PATCH, Reason::ErratumUncorrected),
        false => (ERRATUM_PATCH, Reason::ErratumTwice),
    };
    // The formula of this revision with the counts of the other one.
    let (own, fed) = (case.value(), case.fed_with(other));
    let is_explained = own != fed && (fed - real).abs() <= EXPLAINED * (own - real).abs();
    (is_explained && subtracts_cycles(case) != has_surplus).then_some(reason)
}

/// Returns whether the formula, on this revision, subtracts cycles from a stall-slot event.
fn subtracts_cycles(case: &Case) -> bool {
    let formula = case.formula;
    let values = case.evaluation().values;
    let event_at = |node: NodeId| match formula.node(node).op {
        Op::Name(name) => formula.event(name).event(),
        _ => None,
    };
    let mut open = vec![formula.root()];
    while let Some(node) = open.pop() {
        match formula.node(node).op {
            Op::Choose { value, condition, otherwise } => {
                open.push(if values[condition.index()] == 0.0 { otherwise } else { value });
            }
            Op::Binary(BinaryOp::Subtract, from, what)
                if matches!(event_at(from), Some(STALL_SLOT | STALL_SLOT_FRONTEND))
                    && event_at(what) == Some(CPU_CYCLES) =>
            {
                return true;
            }
            op => open.extend(op.operands()),
        }
    }
    false
}

/// Returns a reason if one side of a division counts executed work and the other retired work.
pub(super) fn mixed_populations(case: &Case, real: f64) -> Option<Reason> {
    let is_mixed = |node: &Node| match node.op {
        Op::Binary(BinaryOp::Divide | BinaryOp::Ratio, above, below) => {
            let sides = [above, below].map(|side| population(case.formula, side.index()));
            matches!(
                sides,
                [Some(Population::Executed), Some(Population::Retired)]
                    | [Some(Population::Retired), Some(Population::Executed)]
            )
        }
        _ => false,
    };
    // The fraction of executed operations that retire is a valid ratio, not a mistake.
    let is_wanted = matches!(
        case.truth,
        Truth::OpsKept | Truth::OpsWasted | Truth::Retiring | Truth::BadSpeculation
    );
    let is_explained = || {
        let of_all = case.without(&[super::adjust::CountingBias::Speculation]);
        (of_all - real).abs() <= EXPLAINED * (case.value() - real).abs()
    };
    let found = !is_wanted && case.formula.nodes().iter().any(is_mixed);
    (found && is_explained()).then_some(Reason::MixedPopulations)
}

/// Population of instructions that an expression counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Population {
    Executed,
    Retired,
    Mixed,
}

fn population_of(event: PmuEvent) -> Option<Population> {
    let name = event.mnemonic();
    match event {
        BR_PRED | BR_MIS_PRED => Some(Population::Executed),
        _ if name.ends_with("_SPEC") => Some(Population::Executed),
        _ if name.ends_with("_RETIRED") => Some(Population::Retired),
        _ => None,
    }
}

/// Returns the population of an expression, or `None` if none of its events has one.
fn population(formula: &Linked, node: usize) -> Option<Population> {
    let op = &formula.nodes()[node].op;
    if let Op::Name(name) = op {
        return formula.event(*name).event().and_then(population_of);
    }
    let parts = op.operands().filter_map(|operand| population(formula, operand.index()));
    parts.reduce(|a, b| if a == b { a } else { Population::Mixed })
}

/// Returns a reason if a misprediction term charges something other than the actual cost. The term
/// is responsible only if the other terms equal the machine's accounting without mispredictions.
pub(super) fn mispredict_term(case: &Case, real: f64) -> Option<Reason> {
    const TERM: [PmuEvent; 2] = [BR_MIS_PRED, BR_MIS_PRED_RETIRED];
    let (without, with) = (case.with_scaled(&TERM, 0.0), case.with_scaled(&TERM, 1.0));
    let of_others = case.evidence.truths.value(without_recovery(case.truth)?)?;
    if (without - of_others).abs() > TERM_TOLERANCE * (with - without).abs() {
        return None;
    }
    // Ratio of the correct term to the given one.
    let right = (real - without) / (with - without);
    if !right.is_finite() || (right - 1.0).abs() < TERM_TOLERANCE {
        return None;
    }
    let times = 1.0 / right;
    if right.abs() < 1.0 / TERM_MAX {
        return Some(Reason::MispredictTerm(f64::INFINITY));
    }
    (1.0 / TERM_MAX..=TERM_MAX).contains(&times).then_some(Reason::MispredictTerm(times))
}

/// Returns the truth of a share's other terms, which the misprediction term completes to the claim.
fn without_recovery(truth: Truth) -> Option<Truth> {
    match truth {
        Truth::FrontendBound => Some(Truth::FrontendEmpty),
        Truth::BadSpeculation => Some(Truth::Squashed),
        Truth::BackendBound | Truth::Retiring | Truth::Squashed | Truth::FrontendEmpty => {
            Some(truth)
        }
        _ => None,
    }
}

/// Returns a forgotten factor from one run, where everything else must be exact.
pub(super) fn exact_factor(value: f64, real: f64) -> Option<Reason> {
    let is_exact = |factor: f64| (value / (factor * real) - 1.0).abs() < EXACT;
    let forgotten = [100.0, 0.01, 1000.0, 0.001];
    forgotten.into_iter().find(|factor| is_exact(*factor)).map(Reason::Factor)
}

/// Returns a forgotten factor: in every run the value is the same multiple of the truth, as given
/// by `pairs` of both. An exact ratio may be any simple fraction. An inexact one must be a usual
/// factor, because counting biases may obscure it.
pub(super) fn factor(pairs: &[(f64, f64)]) -> Option<f64> {
    let ratios: Vec<f64> =
        pairs.iter().filter(|(_, real)| *real != 0.0).map(|(v, r)| v / r).collect();
    let first = *ratios.first()?;
    let is_near = |ratio: f64, factor: f64, tolerance| (ratio / factor - 1.0).abs() <= tolerance;
    if ratios.len() > 1
        && Fraction::of(first).is_some_and(|fraction| fraction != Fraction { part: 1, whole: 1 })
        && ratios.iter().all(|ratio| is_near(*ratio, first, EXACT))
    {
        return Some(first);
    }
    let usual = USUAL_FACTORS.iter().flat_map(|factor| [*factor, 1.0 / factor]);
    let factor = usual.into_iter().find(|factor| is_near(first, *factor, FACTOR_TOLERANCE))?;
    let is_common = ratios.iter().all(|ratio| is_near(*ratio, factor, FACTOR_TOLERANCE));
    (is_common && ratios.len() >= FACTOR_RUNS).then_some(factor)
}
