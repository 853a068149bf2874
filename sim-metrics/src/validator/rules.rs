//! The rules that find faults of a formula itself, one function each. Those that need no difference to
//! a truth come first; the others ask what the formula would say with something mended.

use sim_core::PmuEvent::{self, *};
use sim_core::pmu_event::{EventNameError, RelationKind};

use super::adjust::Case;
use super::evidence::{ERRATUM_PATCH, Evidence, FIRST_SOUND_PATCH};
use super::fraction::Fraction;
use super::reason::Reason;
use crate::formula::event_use::Quantity;
use crate::formula::{BinaryOp, EventUse, Linked, Node, NodeId, Op};
use crate::truth::{Truth, TruthUnit};

/// Factors that people forget: of percent, thousands, slots, bytes of a line or a beat.
const USUAL_FACTORS: [f64; 9] = [2.0, 4.0, 5.0, 8.0, 16.0, 32.0, 64.0, 100.0, 1000.0];
/// How exactly a ratio must be one of them.
const FACTOR_TOLERANCE: f64 = 0.02;
/// Runs in which an inexact factor must be the same: two may agree by chance.
const FACTOR_RUNS: usize = 3;
/// A share may be this much above 1 or below 0 by rounding.
const SHARE_ROUNDING: f64 = 1e-9;
/// How exact a ratio is that no chance makes.
const EXACT: f64 = 1e-6;
/// What remains of a difference when a rule explains it, at most.
const EXPLAINED: f64 = 0.5;
/// A misprediction term off by more than this charges for something else.
const TERM_MAX: f64 = 100.0;
/// A term that is right to this part is not the reason.
const TERM_TOLERANCE: f64 = 0.1;

/// Events that the formula needs and that say nothing on this machine.
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

/// The event whose number has the last two digits the other way round, in its own or another page of
/// numbers: floating-point operations are 0x80C0, not 0x0C.
fn exchanged(code: u32) -> Option<PmuEvent> {
    let (high, low) = (code >> 4 & 0xF, code & 0xF);
    let turned = low << 4 | high;
    let pages = [code & !0xFF, 0x8000, 0x4000];
    pages.into_iter().find_map(|page| PmuEvent::from_code(page | turned).ok())
}

/// A share that is more than a whole, or less than nothing.
pub(super) fn out_of_range(value: f64, unit: TruthUnit) -> Option<Reason> {
    match unit {
        TruthUnit::Share if value > 1.0 + SHARE_ROUNDING => Some(Reason::AboveOne(value)),
        TruthUnit::Share if value < -SHARE_ROUNDING => Some(Reason::Negative(value)),
        _ => None,
    }
}

/// The surplus slot of r0p0 to r0p2, left in or taken off where there is none.
pub(super) fn erratum(case: &Case, real: f64) -> Option<Reason> {
    let has_surplus = case.patch < FIRST_SOUND_PATCH;
    let (other, reason) = match has_surplus {
        true => (FIRST_SOUND_PATCH, Reason::ErratumUncorrected),
        false => (ERRATUM_PATCH, Reason::ErratumTwice),
    };
    // The formula of this revision, fed with the counts of the other one.
    let (own, fed) = (case.value(), case.fed_with(other));
    let is_explained = own != fed && (fed - real).abs() <= EXPLAINED * (own - real).abs();
    (is_explained && takes_cycles_off(case) != has_surplus).then_some(reason)
}

/// True if the formula, on this revision, takes cycles off a stall-slot event.
fn takes_cycles_off(case: &Case) -> bool {
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

/// One side of a division counts what was executed, the other what retired.
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
    // Operations kept of those executed is a ratio of its own, not a mistake.
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

/// Which instructions an expression counts.
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

/// The population of an expression; `None` if no event of it has one.
fn population(formula: &Linked, node: usize) -> Option<Population> {
    let op = &formula.nodes()[node].op;
    if let Op::Name(name) = op {
        return formula.event(*name).event().and_then(population_of);
    }
    let parts = op.operands().filter_map(|operand| population(formula, operand.index()));
    parts.reduce(|a, b| if a == b { a } else { Population::Mixed })
}

/// A term of mispredictions that charges something else than what they cost. Only a formula whose
/// other terms are what the ledger says without them has its difference from this one.
pub(super) fn mispredict_term(case: &Case, real: f64) -> Option<Reason> {
    const TERM: [PmuEvent; 2] = [BR_MIS_PRED, BR_MIS_PRED_RETIRED];
    let (without, with) = (case.with_scaled(&TERM, 0.0), case.with_scaled(&TERM, 1.0));
    let of_others = case.evidence.truths.value(without_recovery(case.truth)?)?;
    if (without - of_others).abs() > TERM_TOLERANCE * (with - without).abs() {
        return None;
    }
    // So much of the term would be right.
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

/// What the other terms of a share say, of which a term of mispredictions makes the truth.
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

/// One run alone shows a forgotten factor only if everything else is exact.
pub(super) fn exact_factor(value: f64, real: f64) -> Option<Reason> {
    let is_exact = |factor: f64| (value / (factor * real) - 1.0).abs() < EXACT;
    let forgotten = [100.0, 0.01, 1000.0, 0.001];
    forgotten.into_iter().find(|factor| is_exact(*factor)).map(Reason::Factor)
}

/// A forgotten factor: in every run the value is the same multiple of the truth, `pairs` of both. Any
/// simple fraction is one if it is exact; the usual ones may hide behind counting biases of the events.
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
