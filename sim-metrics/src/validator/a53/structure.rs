//! Faults of a formula for a Cortex-A53 that need no run: the formula and the known ones of its
//! claim are evaluated on invented counts that satisfy the sums between events. A single mistake is
//! a reason only if the formula without it is a known one.

use sim_core::A53Event as E;

use super::reason::A53Reason;
use super::reference::references;
use crate::formula::a53_lint::{double_counts, is_part};
use crate::formula::event_use::{Levels, Quantity};
use crate::formula::machine::A53_SLOTS;
use crate::formula::{
    BinaryOp, Catalog, EventUse, Formula, FormulaCore, Linked, Machine, NodeId, Op,
};
use crate::truth::{Truth, TruthUnit};
use crate::validator::Reason;
use crate::validator::edit::{number_edit, places_of, simplified, without_parentheses};
use crate::validator::fraction::Fraction;

/// Relative difference up to which two formulas agree.
const SAME: f64 = 1e-9;
/// Largest number of slots per cycle that a formula may assume.
const SLOTS_MAX: f64 = 16.0;
/// Samples; no two different formulas agree on so many by chance.
const SAMPLES: u64 = 4;
/// Events that count only a part of what another one counts, beside those that a sum would count
/// twice. Taken branches alone write the PC.
const PARTS: &[(E, E)] = &[
    (E::PC_WRITE_RETIRED, E::BR_PRED),
    (E::BR_IMMED_RETIRED, E::BR_PRED),
    (E::BR_RETURN_RETIRED, E::BR_PRED),
    (E::BR_RETURN_RETIRED, E::BR_INDIRECT_SPEC),
    (E::STALL_SB_FULL, E::ST_DEP_STALL),
];

/// Relation of a formula to the known ones of its claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Structure {
    /// The formula is a known one.
    pub(super) is_known: bool,
    /// Single mistake that distinguishes it from a known one.
    pub(super) fault: Option<Reason>,
    /// Corrected formula.
    pub(super) corrected: Option<String>,
}

/// Compares a formula, whose value times `factor` claims to be the truth, with the known ones.
pub(super) fn compare(formula: &Linked, factor: f64, truth: Truth) -> Structure {
    let reads_levels = |name: &EventUse| name.levels != Levels::ALL;
    if formula.events().iter().any(reads_levels) {
        return Structure::default();
    }
    let known: Vec<Vec<f64>> = references(truth).filter_map(values_of).collect();
    Comparison { formula, factor, truth, known }.structure()
}

/// Returns the reason of a sum that counts something twice.
pub(super) fn counted_twice(formula: &Linked) -> Option<Reason> {
    let found = double_counts(formula);
    let double = found.first()?;
    Some(Reason::OnA53(A53Reason::DoubleCount(double.whole, double.part)))
}

/// Returns the values of a known formula on the samples.
fn values_of(text: &str) -> Option<Vec<f64>> {
    let formula = Formula::parse(text).ok()?;
    let linked = Linked::on(FormulaCore::CortexA53, "", &formula, &Catalog::default()).ok()?;
    Some(values(&linked, 1.0, &|event| event))
}

/// Returns the values of a formula on the samples, with the count of `of(event)` for each event.
fn values(formula: &Linked, factor: f64, of: &dyn Fn(E) -> E) -> Vec<f64> {
    let count = |seed: u64, name: &EventUse| match name.quantity {
        Quantity::A53(event) => Some(invented(of(event), seed)),
        Quantity::Time(_) => Some(invented(E::CPU_CYCLES, seed) * 1e-9),
        _ => None,
    };
    let machine = Machine::cortex_a53(1);
    let value = |seed| factor * formula.evaluate(&machine, |name| count(seed, name)).value;
    (1..=SAMPLES).map(value).collect()
}

/// Returns an invented count of plausible size. Sums of events add up.
fn invented(event: E, seed: u64) -> f64 {
    let parts: &[E] = match event {
        E::BUS_CYCLES => &[E::CPU_CYCLES],
        E::BUS_ACCESS => &[E::BUS_ACCESS_LD, E::BUS_ACCESS_ST],
        E::MEMORY_ERROR => &[E::L1I_CACHE_ERR, E::L1D_CACHE_ERR, E::TLB_ERR],
        _ => &[],
    };
    if !parts.is_empty() {
        return parts.iter().map(|part| invented(*part, seed)).sum();
    }
    let size = match event {
        E::CPU_CYCLES => 2e6,
        E::INST_RETIRED => 1e6,
        _ if event.mnemonic().contains("REFILL") || event.mnemonic().contains("MIS") => 1e3,
        _ => 1e5,
    };
    size * random(event, seed)
}

/// Returns a number from 0.5 to 1 that depends only on the event and the seed (SplitMix64).
fn random(event: E, seed: u64) -> f64 {
    let mut bits = (seed << 32 | event as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    0.5 + (bits >> 11) as f64 / (1u64 << 54) as f64
}

struct Comparison<'a> {
    formula: &'a Linked,
    factor: f64,
    truth: Truth,
    /// Values of each known formula.
    known: Vec<Vec<f64>>,
}

type Found = Option<(Reason, Option<String>)>;

impl Comparison<'_> {
    fn structure(&self) -> Structure {
        let own = values(self.formula, self.factor, &|event| event);
        if self.ratio(&own) == Some(1.0) {
            return Structure { is_known: true, ..Structure::default() };
        }
        let found = self
            .double_count()
            .or_else(|| self.other_extent())
            .or_else(|| self.slot_number())
            .or_else(|| self.multiple(&own))
            .or_else(|| self.complement_or_inverse(&own));
        let (fault, corrected) = match found {
            Some((fault, corrected)) => (Some(fault), corrected),
            None => (None, None),
        };
        let corrected = corrected.map(|text| simplified(&text)).or_else(|| self.reference());
        Structure { is_known: false, fault, corrected }
    }

    /// Returns the known formula of the claim, in the unit of the formula.
    fn reference(&self) -> Option<String> {
        let text = references(self.truth).next()?;
        match Fraction::of(1.0 / self.factor)? {
            Fraction { part: 1, whole: 1 } => Some(text.to_owned()),
            times => Some(format!("{times} * {text}")),
        }
    }

    /// Returns the number that scales a known formula to the values, if one number does.
    fn ratio(&self, values: &[f64]) -> Option<f64> {
        let is_near = |a: f64, b: f64| (a / b - 1.0).abs() <= SAME;
        let constant = |known: &Vec<f64>| {
            let ratio = values.first()? / known.first()?;
            let mut pairs = values.iter().zip(known);
            let holds = pairs.all(|(value, known)| is_near(value / known, ratio));
            (holds && ratio.is_finite()).then_some(if is_near(ratio, 1.0) { 1.0 } else { ratio })
        };
        let ratios: Vec<f64> = self.known.iter().filter_map(constant).collect();
        ratios.iter().copied().find(|ratio| *ratio == 1.0).or(ratios.first().copied())
    }

    fn is_known(&self, values: &[f64]) -> bool {
        self.ratio(values) == Some(1.0)
    }

    /// Finds a whole and its part in one sum.
    fn double_count(&self) -> Found {
        let found = double_counts(self.formula);
        let double = found.first()?;
        // An event that is 0 in every sample takes the place of the part.
        let part = double.part;
        let without = self.values_without(part);
        self.ratio(&without).or(self.known.is_empty().then_some(1.0))?;
        Some((Reason::OnA53(A53Reason::DoubleCount(double.whole, part)), None))
    }

    fn values_without(&self, part: E) -> Vec<f64> {
        let machine = Machine::cortex_a53(1);
        let value = |seed| {
            let count = |name: &EventUse| match name.quantity {
                Quantity::A53(event) if event == part => Some(0.0),
                Quantity::A53(event) => Some(invented(event, seed)),
                _ => None,
            };
            self.factor * self.formula.evaluate(&machine, count).value
        };
        (1..=SAMPLES).map(value).collect()
    }

    /// Finds a part in place of the claimed event, or an event that counts more than it.
    fn other_extent(&self) -> Found {
        for own in self.formula.a53_events() {
            for other in E::ALL {
                let is_within =
                    |part, whole| is_part(part, whole) || PARTS.contains(&(part, whole));
                let reason = match () {
                    () if is_within(own, other) => A53Reason::Subset { part: own, whole: other },
                    () if is_within(other, own) => A53Reason::Superset { part: other, whole: own },
                    () => continue,
                };
                let swapped = |event| if event == own { other } else { event };
                if self.is_known(&values(self.formula, self.factor, &swapped)) {
                    let words = other.mnemonic().to_owned();
                    let edits: Vec<_> =
                        places_of(self.formula, |name| name.a53_event() == Some(own))
                            .map(|id| (id, words.clone()))
                            .collect();
                    return Some((Reason::OnA53(reason), self.formula.rewritten(&edits)));
                }
            }
        }
        None
    }

    /// Finds a wrong number of slots per cycle.
    fn slot_number(&self) -> Found {
        let is_slots = |truth: Truth| truth.unit() == TruthUnit::Slots;
        let claims_slots = self.truth.quotient().map_or(is_slots(self.truth), |quotient| {
            is_slots(quotient.part) || is_slots(quotient.whole)
        });
        for (id, given) in self.numbers().filter(|_| claims_slots) {
            let is_width = given.fract() == 0.0 && (1.0..=SLOTS_MAX).contains(&given);
            if !is_width || given == f64::from(A53_SLOTS) {
                continue;
            }
            let changed = self.formula.with_number(id, f64::from(A53_SLOTS));
            if self.is_known(&values(&changed, self.factor, &|event| event)) {
                let text = self.formula.rewritten(&[(id, A53_SLOTS.to_string())]);
                return Some((Reason::OnA53(A53Reason::SlotWidth(given as u64)), text));
            }
        }
        None
    }

    fn numbers(&self) -> impl Iterator<Item = (NodeId, f64)> {
        let ids = (0..self.formula.nodes().len()).map(|index| NodeId(index as u32));
        ids.filter_map(|id| match self.formula.node(id).op {
            Op::Number(given) => Some((id, given)),
            _ => None,
        })
    }

    /// Finds a constant multiple of the claim.
    fn multiple(&self, own: &[f64]) -> Found {
        let times = self.ratio(own).filter(|times| *times != 1.0 && *times > 0.0)?;
        let times = Fraction::of(times).map_or(times, Fraction::value);
        let same = |event| event;
        let without = self.numbers().find_map(|(id, given)| {
            [given / times, given * times].into_iter().find_map(|number| {
                let is_short = (number * 1000.0).fract().abs() < SAME;
                let changed = self.formula.with_number(id, number);
                let is_right = is_short && self.is_known(&values(&changed, self.factor, &same));
                let edit = || self.formula.rewritten(&[number_edit(self.formula, id, number)]);
                is_right.then(edit).flatten()
            })
        });
        Some((Reason::Multiple(times), without))
    }

    /// Returns the part that the formula subtracts from 1, if it does nothing else.
    fn taken_from_one(&self) -> Option<String> {
        let root = self.formula.node(self.formula.root());
        let Op::Binary(BinaryOp::Subtract, from, taken) = root.op else { return None };
        let is_one = self.formula.text_of(from).trim() == "1";
        let is_own = is_one && self.formula.node(taken).text == 0 && self.factor == 1.0;
        is_own.then(|| without_parentheses(self.formula.text_of(taken)).to_owned())
    }

    /// Finds the rest of the whole in place of the part, or an inverted quotient.
    fn complement_or_inverse(&self, own: &[f64]) -> Found {
        let is_share = self.truth.unit() == TruthUnit::Share;
        let rest: Vec<f64> = own.iter().map(|value| 1.0 - value).collect();
        let text = || self.formula.rewritten(&[]).filter(|_| self.factor == 1.0);
        if is_share && self.is_known(&rest) {
            let corrected =
                self.taken_from_one().or_else(|| text().map(|text| format!("1 - ({text})")));
            return Some((Reason::Complement, corrected));
        }
        let inverse: Vec<f64> = own.iter().map(|value| 1.0 / value).collect();
        let corrected = || text().map(|text| format!("1 / ({text})"));
        self.is_known(&inverse).then(|| (Reason::Inverted, corrected()))
    }
}
