//! Faults of a formula's structure, independent of any run.
//!
//! The formula and the references of its claim are evaluated on invented counts that satisfy every
//! rule between events ([`Sample`]). If they agree on all samples they are the same. Otherwise
//! single mistakes are undone one at a time. A reason is reported only if the formula then equals
//! the reference.

use sim_core::PmuEvent::{self, *};

use super::edit::{dropped, number_edit, places, simplified, without_parentheses};
use super::evidence::FIRST_SOUND_PATCH;
use super::fraction::Fraction;
use super::reason::Reason;
use super::reference::{reference, references};
use super::sample::Sample;
use crate::formula::double_count::{double_counts, is_contained, is_part, original};
use crate::formula::event_use::{Levels, Quantity};
use crate::formula::population::population;
use crate::formula::{BinaryOp, Catalog, EventUse, Formula, Linked, Machine, NodeId, Op};
use crate::identities::SLOTS_PER_CYCLE;
use crate::truth::{Truth, TruthUnit};

/// Relative difference up to which two formulas agree.
const SAME: f64 = 1e-9;
/// Largest number of slots per cycle that a formula may assume.
const SLOTS_MAX: f64 = 16.0;

/// Relation of a formula to the references of its claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Structure {
    /// The formula is one of the references.
    pub(super) is_known: bool,
    /// Single mistake that distinguishes it from a reference.
    pub(super) fault: Option<Reason>,
    /// Corrected formula.
    pub(super) corrected: Option<String>,
}

/// Formula with its claim, its unit and the core that counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    pub(super) formula: &'a Linked,
    pub(super) factor: f64,
    pub(super) truth: Truth,
    pub(super) patch: u8,
}

/// Compares a formula with the references of its claim.
pub(super) fn compare(subject: Subject<'_>) -> Structure {
    let reads_levels = |name: &EventUse| name.levels != Levels::ALL;
    if subject.formula.events().iter().any(reads_levels) {
        return Structure::default();
    }
    let samples = Sample::all();
    let known = references(subject.truth).filter_map(|text| values_of(text, &samples)).collect();
    let comparison = Comparison { subject, samples, known };
    comparison.structure()
}

/// Returns the values of a reference on the samples.
fn values_of(text: &str, samples: &[Sample]) -> Option<Vec<f64>> {
    let formula = Formula::parse(text).ok()?;
    let linked = Linked::new(&formula, &Catalog::default()).ok()?;
    let machine = Machine::neoverse_n2(FIRST_SOUND_PATCH, 1);
    let value = |sample: &Sample| {
        let count = |name: &EventUse| Some(sample.count(name.event()?, FIRST_SOUND_PATCH));
        linked.evaluate(&machine, count).value
    };
    Some(samples.iter().map(value).collect())
}

struct Comparison<'a> {
    subject: Subject<'a>,
    samples: Vec<Sample>,
    /// Values of each reference on each sample.
    known: Vec<Vec<f64>>,
}

impl Comparison<'_> {
    fn structure(&self) -> Structure {
        let own = self.values(&|sample, event| sample.count(event, self.subject.patch));
        if self.is_known(&own) {
            return Structure { is_known: true, ..Structure::default() };
        }
        let found = self
            .double_count()
            .or_else(|| self.part_for_whole())
            .or_else(|| self.slot_number())
            .or_else(|| self.multiple(&own))
            .or_else(|| self.complement_or_inverse(&own))
            .or_else(|| self.whole_for_part());
        let (fault, corrected) = match found {
            Some((fault, corrected)) => (Some(fault), corrected),
            None => (None, self.erratum().or_else(|| self.cycles()).or_else(|| self.other_event())),
        };
        let corrected = corrected.map(|text| simplified(&text)).or_else(|| self.reference());
        Structure { is_known: false, fault, corrected }
    }

    /// Returns the known formula of the claim, in the unit of the formula.
    fn reference(&self) -> Option<String> {
        let text = reference(self.subject.truth, self.subject.patch < FIRST_SOUND_PATCH)?;
        let is_sum = text.contains(" - ") && !text.starts_with('(');
        match Fraction::of(1.0 / self.subject.factor) {
            Some(Fraction { part: 1, whole: 1 }) => Some(text),
            Some(times) if is_sum => Some(format!("{times} * ({text})")),
            Some(times) => Some(format!("{times} * {text}")),
            None => None,
        }
    }

    /// Returns the value on each sample, in the unit of the truth, with counts from `table`.
    fn values(&self, table: &dyn Fn(&Sample, PmuEvent) -> f64) -> Vec<f64> {
        self.values_of(self.subject.formula, table)
    }

    fn values_of(&self, formula: &Linked, table: &dyn Fn(&Sample, PmuEvent) -> f64) -> Vec<f64> {
        let machine = Machine::neoverse_n2(self.subject.patch, 1);
        let value = |sample: &Sample| {
            let count = |name: &EventUse| match name.quantity {
                Quantity::Event(event) => Some(table(sample, event)),
                Quantity::Time(_) => Some(sample.seconds()),
                _ => None,
            };
            self.subject.factor * formula.evaluate(&machine, count).value
        };
        self.samples.iter().map(value).collect()
    }

    /// Returns whether the values equal those of a reference.
    fn is_known(&self, values: &[f64]) -> bool {
        self.ratio(values) == Some(1.0)
    }

    /// Returns the number that scales a reference to the values, if one number does.
    fn ratio(&self, values: &[f64]) -> Option<f64> {
        let is_near = |a: f64, b: f64| (a / b - 1.0).abs() <= SAME;
        let constant = |known: &Vec<f64>| {
            let ratio = values.first()? / known.first()?;
            let holds =
                values.iter().zip(known).all(|(value, known)| is_near(value / known, ratio));
            (holds && ratio.is_finite()).then_some(if is_near(ratio, 1.0) { 1.0 } else { ratio })
        };
        let ratios: Vec<f64> = self.known.iter().filter_map(constant).collect();
        ratios.iter().copied().find(|ratio| *ratio == 1.0).or(ratios.first().copied())
    }

    /// Returns the values of the formula with one event replaced by another.
    fn replaced(&self, own: PmuEvent, by: PmuEvent) -> Vec<f64> {
        self.values(&|sample, event| {
            sample.count(if event == own { by } else { event }, self.subject.patch)
        })
    }

    /// Returns the text with every occurrence of an event replaced.
    fn text_with(&self, own: PmuEvent, words: &str) -> Option<String> {
        let edits: Vec<_> =
            places(self.subject.formula, own).map(|id| (id, words.to_owned())).collect();
        self.subject.formula.rewritten(&edits)
    }

    /// Finds a whole and its part, or an event and its alias, in one sum.
    fn double_count(&self) -> Option<(Reason, Option<String>)> {
        let formula = self.subject.formula;
        let found = double_counts(formula);
        let first = found.first()?;
        let parts: Vec<PmuEvent> = found.iter().map(|double| double.part).collect();
        let without = self.values(&|sample, event| match parts.contains(&event) {
            true => 0.0,
            false => sample.count(event, self.subject.patch),
        });
        // A formula that without the part is neither the claim nor a multiple of it has another
        // fault.
        self.ratio(&without).or(self.known.is_empty().then_some(1.0))?;
        let corrected = self.is_known(&without).then(|| {
            let edits: Option<Vec<_>> = parts.iter().map(|part| dropped(formula, *part)).collect();
            formula.rewritten(&edits.filter(|edits| edits.len() == 1)?)
        });
        Some((Reason::DoubleCount(first.whole, first.part), corrected.flatten()))
    }

    /// Finds a part in place of the claimed event.
    fn part_for_whole(&self) -> Option<(Reason, Option<String>)> {
        let events = self.subject.formula.core_events();
        let wholes = |part: PmuEvent| {
            let original = original(part);
            PmuEvent::ALL.into_iter().filter(move |whole| {
                *whole != original && is_contained(original, *whole) && is_of_stage(part, *whole)
            })
        };
        for part in events.iter().copied() {
            for whole in wholes(part) {
                if self.is_known(&self.replaced(part, whole)) {
                    let text = self.text_with(part, whole.mnemonic());
                    return Some((Reason::Subset { part, whole }, text));
                }
            }
        }
        self.side_for_both(&events)
    }

    /// Finds reads or writes alone on both sides of a quotient.
    fn side_for_both(&self, events: &[PmuEvent]) -> Option<(Reason, Option<String>)> {
        let whole_of = |event: PmuEvent| {
            let name = event.mnemonic();
            let stem = name.strip_suffix("_RD").or_else(|| name.strip_suffix("_WR"))?;
            PmuEvent::from_name(stem).ok()
        };
        let sides: Vec<_> =
            events.iter().filter_map(|event| Some((*event, whole_of(*event)?))).collect();
        let both = self.values(&|sample, event| {
            let whole = sides.iter().find(|(part, _)| *part == event).map(|(_, whole)| *whole);
            sample.count(whole.unwrap_or(event), self.subject.patch)
        });
        let (part, whole) = *sides.first()?;
        let edits: Vec<_> = sides
            .iter()
            .flat_map(|(part, whole)| {
                places(self.subject.formula, *part).map(|id| (id, whole.mnemonic().to_owned()))
            })
            .collect();
        self.is_known(&both)
            .then(|| (Reason::Subset { part, whole }, self.subject.formula.rewritten(&edits)))
    }

    /// Finds an event that counts more than the claim.
    fn whole_for_part(&self) -> Option<(Reason, Option<String>)> {
        for whole in self.subject.formula.core_events() {
            let parts = PmuEvent::ALL.into_iter().filter(|part| is_part(*part, whole));
            let parts = parts.filter(|part| original(*part) != original(whole));
            for part in parts.filter(|part| is_of_stage(*part, whole)) {
                if self.is_known(&self.replaced(whole, part)) {
                    let text = self.text_with(whole, part.mnemonic());
                    return Some((Reason::Superset { part, whole }, text));
                }
            }
        }
        None
    }

    /// Finds a wrong number of slots per cycle.
    fn slot_number(&self) -> Option<(Reason, Option<String>)> {
        let formula = self.subject.formula;
        let ids = (0..formula.nodes().len()).map(|index| NodeId(index as u32));
        for id in ids.filter(|_| claims_slots(self.subject.truth)) {
            let Op::Number(given) = formula.node(id).op else { continue };
            let is_width = given.fract() == 0.0 && (1.0..=SLOTS_MAX).contains(&given);
            if !is_width || given == SLOTS_PER_CYCLE as f64 {
                continue;
            }
            let slots = SLOTS_PER_CYCLE as f64;
            let changed = formula.with_number(id, slots);
            let table = |sample: &Sample, event| sample.count(event, self.subject.patch);
            if self.is_known(&self.values_of(&changed, &table)) {
                let times = self.ratio(&self.values(&table));
                let text = formula.rewritten(&[(id, SLOTS_PER_CYCLE.to_string())]);
                return Some((Reason::SlotWidth { given: given as u64, times }, text));
            }
        }
        None
    }

    /// Finds a constant multiple of the claim.
    fn multiple(&self, own: &[f64]) -> Option<(Reason, Option<String>)> {
        let times = self.ratio(own).filter(|times| *times != 1.0 && *times > 0.0)?;
        let times = Fraction::of(times).map_or(times, Fraction::value);
        let corrected = self.without_number(times).or_else(|| self.divided(times));
        let reason = multiple_reason(self.subject.truth, times);
        Some((reason, corrected))
    }

    /// Returns the formula with one number changed so that the multiple is removed.
    fn without_number(&self, times: f64) -> Option<String> {
        let formula = self.subject.formula;
        let table = |sample: &Sample, event| sample.count(event, self.subject.patch);
        let ids = (0..formula.nodes().len()).map(|index| NodeId(index as u32));
        for id in ids {
            let Op::Number(given) = formula.node(id).op else { continue };
            for number in [given / times, given * times] {
                let is_short = (number * 1000.0).fract().abs() < SAME;
                if is_short
                    && self.is_known(&self.values_of(&formula.with_number(id, number), &table))
                {
                    return formula.rewritten(&[number_edit(formula, id, number)]);
                }
            }
        }
        None
    }

    fn divided(&self, times: f64) -> Option<String> {
        let text = self.own_text()?;
        let Fraction { part, whole } = Fraction::of(times)?;
        Some(match (part, whole) {
            (1, whole) => format!("({text}) * {whole}"),
            (part, 1) => format!("({text}) / {part}"),
            (part, whole) => format!("({text}) * {whole} / {part}"),
        })
    }

    fn own_text(&self) -> Option<String> {
        self.subject.formula.rewritten(&[])
    }

    /// Finds the rest of the whole in place of the part, or an inverted quotient.
    fn complement_or_inverse(&self, own: &[f64]) -> Option<(Reason, Option<String>)> {
        let is_share = self.subject.truth.unit() == TruthUnit::Share;
        let rest: Vec<f64> = own.iter().map(|value| 1.0 - value).collect();
        if is_share && self.is_known(&rest) {
            let whole = if self.subject.factor == 1.0 { "1" } else { "100" };
            let text = self.own_text().map(|text| format!("{whole} - ({text})"));
            return Some((Reason::Complement, self.taken_from_whole(whole).or(text)));
        }
        let inverse: Vec<f64> = own.iter().map(|value| 1.0 / value).collect();
        self.is_known(&inverse).then(|| {
            let text = self.own_text().filter(|_| self.subject.factor == 1.0);
            (Reason::Inverted, text.map(|text| format!("1 / ({text})")))
        })
    }

    /// Returns the part that the formula subtracts from the whole, if it does nothing else.
    fn taken_from_whole(&self, whole: &str) -> Option<String> {
        let formula = self.subject.formula;
        let Op::Binary(BinaryOp::Subtract, from, taken) = formula.node(formula.root()).op else {
            return None;
        };
        let is_whole = formula.text_of(from).trim() == whole && formula.node(taken).text == 0;
        is_whole.then(|| without_parentheses(formula.text_of(taken)).to_owned())
    }

    /// Returns the formula with the surplus slot of r0p0 to r0p2 subtracted.
    fn erratum(&self) -> Option<String> {
        let sound = self.values(&|sample, event| sample.count(event, FIRST_SOUND_PATCH));
        if self.subject.patch >= FIRST_SOUND_PATCH || !self.is_known(&sound) {
            return None;
        }
        let formula = self.subject.formula;
        let edits: Vec<_> = [STALL_SLOT, STALL_SLOT_FRONTEND]
            .into_iter()
            .flat_map(|event| {
                let words = format!("({} - CPU_CYCLES)", event.mnemonic());
                places(formula, event).map(move |id| (id, words.clone()))
            })
            .collect();
        formula.rewritten(&edits)
    }

    /// Returns the formula with slots in place of cycles.
    fn cycles(&self) -> Option<String> {
        let formula = self.subject.formula;
        let slots_of = |event| match event {
            STALL => Some(STALL_SLOT),
            STALL_FRONTEND => Some(STALL_SLOT_FRONTEND),
            STALL_BACKEND => Some(STALL_SLOT_BACKEND),
            _ => None,
        };
        let each = SLOTS_PER_CYCLE as f64;
        let slots = self.values(&|sample, event| match slots_of(event) {
            Some(slots) => sample.count(slots, FIRST_SOUND_PATCH) / each,
            None => sample.count(event, self.subject.patch),
        });
        if !self.is_known(&slots) {
            return None;
        }
        self.reference().or_else(|| formula.rewritten(&[]))
    }

    /// Returns the formula with one event replaced by an event of the references.
    fn other_event(&self) -> Option<String> {
        let others: Vec<PmuEvent> = references(self.subject.truth)
            .filter_map(|text| Formula::parse(text).ok())
            .flat_map(|formula| formula.names().to_vec())
            .filter_map(|name| PmuEvent::from_name(&name).ok())
            .collect();
        for own in self.subject.formula.core_events() {
            for other in &others {
                if self.is_known(&self.replaced(own, *other)) {
                    return self.text_with(own, other.mnemonic());
                }
            }
        }
        None
    }
}

/// Returns the reason of a formula that is a multiple of the one for its claim.
fn multiple_reason(truth: Truth, times: f64) -> Reason {
    match factor_reason(truth, times) {
        Reason::Factor(times) => Reason::Multiple(times),
        width => width,
    }
}

/// Returns the reason of a value that is a multiple of its claim.
pub(super) fn factor_reason(truth: Truth, times: f64) -> Reason {
    let width = SLOTS_PER_CYCLE as f64 / times;
    let is_width = (width - width.round()).abs() < SAME && width.round() <= SLOTS_MAX;
    // A core with fewer slots has larger shares; a value that is doubled was counted twice.
    match claims_slots(truth) && is_width && width.round() >= 2.0 && times != 2.0 {
        true => Reason::SlotWidth { given: width.round() as u64, times: Some(times) },
        false => Reason::Factor(times),
    }
}

/// Returns a reason for a sum of a whole and its part, where no claim states the intention.
pub(super) fn counted_twice(formula: &Linked) -> Option<Reason> {
    let found = double_counts(formula);
    found.first().map(|double| Reason::DoubleCount(double.whole, double.part))
}

/// Returns whether the truth is in slots, or per slot.
fn claims_slots(truth: Truth) -> bool {
    let is_slots = |truth: Truth| truth.unit() == TruthUnit::Slots;
    truth
        .quotient()
        .map_or(is_slots(truth), |quotient| is_slots(quotient.part) || is_slots(quotient.whole))
}

/// Returns whether both events count wrong paths, or neither does. Another rule handles mixtures.
fn is_of_stage(a: PmuEvent, b: PmuEvent) -> bool {
    population(a).stage == population(b).stage
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(text: &str, truth: Truth, factor: f64, patch: u8) -> Structure {
        let formula = Formula::parse(text).expect("a formula");
        let linked = Linked::new(&formula, &Catalog::default()).expect("links");
        compare(Subject { formula: &linked, factor, truth, patch })
    }

    fn fault(text: &str, truth: Truth) -> (Option<&'static str>, Option<String>) {
        let structure = structure(text, truth, 1.0, 3);
        (structure.fault.map(|fault| fault.code()), structure.corrected)
    }

    #[test]
    fn every_form_of_a_reference_is_known() {
        for (text, truth) in [
            ("OP_RETIRED / OP_SPEC * (1 - STALL_SLOT / (CPU_CYCLES * #slots))", Truth::Retiring),
            (
                "1 - STALL_SLOT_FRONTEND / (5 * CPU_CYCLES) - OP_SPEC / (5 * CPU_CYCLES)",
                Truth::BackendBound,
            ),
            (
                "(L1D_CACHE_REFILL_RD + L1D_CACHE_REFILL_WR) / (L1D_CACHE_RD + L1D_CACHE_WR)",
                Truth::L1dMissRatio,
            ),
            ("INST_RETIRED / BUS_CYCLES", Truth::Ipc),
            ("(STALL - STALL_BACKEND) / CPU_CYCLES", Truth::FrontendCycles),
            ("L1I_CACHE_LMISS / L1I_CACHE", Truth::L1iMissRatio),
        ] {
            assert!(structure(text, truth, 1.0, 3).is_known, "{text}");
        }
        let percent = "100 * STALL_SLOT_BACKEND / (5 * CPU_CYCLES)";
        assert!(structure(percent, Truth::BackendBound, 0.01, 3).is_known);
        let early = "(STALL_SLOT_FRONTEND - CPU_CYCLES) / (5 * CPU_CYCLES)";
        assert!(structure(early, Truth::FrontendEmpty, 1.0, 2).is_known);
        assert!(!structure(early, Truth::FrontendEmpty, 1.0, 3).is_known);
    }

    /// Formula with one mistake, its claim, the code of the mistake, and the corrected formula.
    const SINGLE_MISTAKES: [(&str, Truth, &str, &str); 11] = [
        (
            "OP_RETIRED / (8 * CPU_CYCLES)",
            Truth::Retiring,
            "slot-width",
            "OP_RETIRED / (5 * CPU_CYCLES)",
        ),
        (
            "STALL_SLOT_BACKEND / CPU_CYCLES / 4",
            Truth::BackendBound,
            "slot-width",
            "STALL_SLOT_BACKEND / CPU_CYCLES / 5",
        ),
        ("2 * INST_RETIRED / CPU_CYCLES", Truth::Ipc, "factor", "INST_RETIRED / CPU_CYCLES"),
        ("INST_RETIRED / CPU_CYCLES * 4 / 5", Truth::Ipc, "factor", "INST_RETIRED / CPU_CYCLES"),
        (
            "(L1D_CACHE_REFILL + L1D_CACHE_REFILL_RD) / L1D_CACHE",
            Truth::L1dMissRatio,
            "double-count",
            "L1D_CACHE_REFILL / L1D_CACHE",
        ),
        (
            "L1D_CACHE_REFILL_OUTER / L1D_CACHE",
            Truth::L1dMissRatio,
            "subset",
            "L1D_CACHE_REFILL / L1D_CACHE",
        ),
        (
            "L1D_CACHE_LMISS_RD / L1D_CACHE",
            Truth::L1dMissRatio,
            "subset",
            "L1D_CACHE_REFILL / L1D_CACHE",
        ),
        (
            "L1D_CACHE_REFILL_RD / L1D_CACHE_RD",
            Truth::L1dMissRatio,
            "subset",
            "L1D_CACHE_REFILL / L1D_CACHE",
        ),
        (
            "STALL_SLOT / (5 * CPU_CYCLES)",
            Truth::BackendBound,
            "superset",
            "STALL_SLOT_BACKEND / (5 * CPU_CYCLES)",
        ),
        (
            "1 - LL_CACHE_MISS_RD / LL_CACHE_RD",
            Truth::SlcMissRatio,
            "complement",
            "LL_CACHE_MISS_RD / LL_CACHE_RD",
        ),
        (
            "BR_RETIRED / BR_MIS_PRED_RETIRED",
            Truth::BranchMissRatio,
            "inverted",
            "1 / (BR_RETIRED / BR_MIS_PRED_RETIRED)",
        ),
    ];

    #[test]
    fn single_mistakes_are_undone() {
        for (text, truth, code, corrected) in SINGLE_MISTAKES {
            let found = fault(text, truth);
            assert_eq!(found, (Some(code), Some(corrected.to_owned())), "{text}");
        }
    }

    #[test]
    fn a_complement_of_a_complement_is_the_share_itself() {
        let complement_or_inverse = "1 - (LL_CACHE_MISS_RD / LL_CACHE_RD)";
        let found = fault(complement_or_inverse, Truth::SlcMissRatio);
        let corrected = "LL_CACHE_MISS_RD / LL_CACHE_RD".to_owned();
        assert_eq!(found, (Some("complement"), Some(corrected)));
    }

    /// With a second fault, the double count is not the only mistake and so is not the reason.
    #[test]
    fn a_double_count_is_a_reason_only_without_another_fault() {
        let both = "(L1D_CACHE_REFILL + L1D_CACHE_REFILL_RD) / BUS_ACCESS";
        assert_ne!(fault(both, Truth::L1dMissRatio).0, Some("double-count"));
    }

    #[test]
    fn faults_of_other_rules_are_corrected() {
        let corrected = |text, truth, patch| structure(text, truth, 1.0, patch).corrected;
        let per_branch = corrected("BR_MIS_PRED_RETIRED / INST_RETIRED", Truth::BranchMissRatio, 3);
        assert_eq!(per_branch.as_deref(), Some("BR_MIS_PRED_RETIRED / BR_RETIRED"));
        let early = corrected("STALL_SLOT_FRONTEND / (5 * CPU_CYCLES)", Truth::FrontendEmpty, 2);
        assert_eq!(early.as_deref(), Some("(STALL_SLOT_FRONTEND - CPU_CYCLES) / (5 * CPU_CYCLES)"));
        let cycles = corrected("STALL_BACKEND / CPU_CYCLES", Truth::BackendBound, 3);
        assert_eq!(cycles.as_deref(), Some("STALL_SLOT_BACKEND / (5 * CPU_CYCLES)"));
    }
}
