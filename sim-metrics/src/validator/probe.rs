//! Structure of a formula, determined by experiments that need no run. Counts of one kind are
//! doubled. The change of the value shows whether it is a count or a ratio, and of cycles or
//! instructions.

use sim_core::PmuEvent::{self, *};
use sim_core::pmu_event::Unit;

use super::reason::Reason;
use crate::formula::event_use::Quantity;
use crate::formula::{Linked, Machine};
use crate::truth::{Truth, TruthUnit};

/// Relative difference up to which a value must follow.
const EXACT: f64 = 1e-6;

/// Returns the mismatch between a formula and the truth that it claims.
pub(super) fn misfit(formula: &Linked, machine: &Machine, truth: Truth) -> Option<Reason> {
    let probe = Probe { formula, machine };
    let whole = truth.quotient().map(|quotient| quotient.whole);
    let wants = claim_in_words(truth);
    let length = probe.doubled(|_| true, true)?;
    if let Some(gives) = length_misfit(length, whole.is_some()) {
        return Some(Reason::Dimension { wants, gives });
    }
    let is_of_slots = |truth: Truth| truth.unit() == TruthUnit::Slots;
    let of_slots = truth.quotient().map_or(is_of_slots(truth), |quotient| {
        is_of_slots(quotient.part) || is_of_slots(quotient.whole)
    });
    let per_branch = whole.is_some_and(|whole| whole.unit() == TruthUnit::Branches);
    let time = probe.doubled(|event| is_time(event, of_slots, per_branch), true)?;
    if let Some(gives) = time_misfit(time, time_exponent(truth)) {
        return Some(Reason::Dimension { wants, gives });
    }
    let whole = whole?;
    let whole_events = events_of(whole);
    // Operations and stalled slots together are all slots, without a cycle event.
    let events = formula.core_events();
    if whole == Truth::Slots && [OP_SPEC, STALL_SLOT].iter().all(|event| events.contains(event)) {
        return None;
    }
    let is_independent = probe.doubled(|event| whole_events.contains(&event), false)? == 1.0;
    (!whole_events.is_empty() && is_independent)
        .then(|| Reason::WrongDenominator(whole.unit().to_string()))
}

/// Returns the claim in words: `a share of slots`, `branches per 1000 instructions`.
pub(super) fn claim_in_words(truth: Truth) -> String {
    match truth.quotient() {
        None => truth.unit().to_string(),
        Some(quotient) => match truth.unit() {
            TruthUnit::Share => format!("a share of {}", quotient.whole.unit()),
            TruthUnit::SlotsEach | TruthUnit::CyclesEach => {
                format!("{} of each of {}", quotient.part.unit(), quotient.whole.unit())
            }
            unit => format!("{} {unit}", quotient.part.unit()),
        },
    }
}

struct Probe<'a> {
    formula: &'a Linked,
    machine: &'a Machine,
}

impl Probe<'_> {
    /// Returns the ratio of the value when the events of a class are doubled, or `None` if it has
    /// no value.
    fn doubled(&self, is_in: impl Fn(PmuEvent) -> bool, with_seconds: bool) -> Option<f64> {
        let value = |factor: f64| {
            let count = |name: &crate::formula::EventUse| match name.quantity {
                Quantity::Event(event) if is_in(event) => Some(factor * invented(event)),
                Quantity::Event(event) => Some(invented(event)),
                Quantity::Time(_) if with_seconds => Some(factor),
                Quantity::Time(_) => Some(1.0),
                _ => None,
            };
            self.formula.evaluate(self.machine, count).value
        };
        let (once, twice) = (value(1.0), value(2.0));
        let ratio = if once == twice { 1.0 } else { twice / once };
        (once.is_finite() && twice.is_finite() && once != 0.0).then_some(ratio)
    }
}

/// Returns counts for which no formula becomes 0 by chance.
fn invented(event: PmuEvent) -> f64 {
    1000.0 + 37.0 * (event as usize as f64).sqrt()
}

fn is_near(ratio: f64, expected: f64) -> bool {
    (ratio - expected).abs() <= EXACT * expected
}

/// Checks the value when all counts are doubled: a ratio stays, a count doubles.
pub(super) fn length_misfit(ratio: f64, claims_ratio: bool) -> Option<&'static str> {
    match claims_ratio {
        true if is_near(ratio, 1.0) => None,
        true if is_near(ratio, 2.0) => {
            Some("its value is a count that grows with the length of the run")
        }
        true => Some("its value changes with the length of the run"),
        false if is_near(ratio, 2.0) => None,
        false => Some("its value does not grow with the length of the run, as a count does"),
    }
}

/// Returns whether the event measures time. Where slots are claimed, operations take one slot each,
/// and a misprediction takes some.
fn is_time(event: PmuEvent, of_slots: bool, per_branch: bool) -> bool {
    let is_clock = matches!(event.info().unit, Unit::Cycle | Unit::Slot);
    let is_slot = match event {
        OP_SPEC | OP_RETIRED => true,
        BR_MIS_PRED | BR_MIS_PRED_RETIRED => !per_branch,
        _ => false,
    };
    is_clock || (of_slots && is_slot)
}

/// Returns the exponent of time in the claimed quantity.
pub(super) fn time_exponent(truth: Truth) -> i32 {
    let is_time = |truth: Truth| matches!(truth.unit(), TruthUnit::Cycles | TruthUnit::Slots);
    match truth.quotient() {
        None => i32::from(is_time(truth)),
        Some(quotient) => i32::from(is_time(quotient.part)) - i32::from(is_time(quotient.whole)),
    }
}

pub(super) fn time_misfit(ratio: f64, exponent: i32) -> Option<&'static str> {
    if is_near(ratio, f64::from(exponent).exp2()) {
        return None;
    }
    Some(match ratio {
        _ if is_near(ratio, 0.5) => "its value is a number per cycle",
        _ if is_near(ratio, 1.0) => "its value depends on neither cycles nor slots",
        _ if is_near(ratio, 2.0) => "its value grows with the number of cycles",
        _ => "it adds cycles or slots to another quantity",
    })
}

/// Returns the events for a whole in a formula, or none where many events could be meant.
fn events_of(whole: Truth) -> &'static [PmuEvent] {
    match whole {
        Truth::Retired | Truth::Executed => &[INST_RETIRED, INST_SPEC],
        Truth::Cycles | Truth::Slots => &[CPU_CYCLES, BUS_CYCLES],
        Truth::ExecutedOps => &[OP_SPEC],
        Truth::Branches => &[BR_RETIRED, BR_PRED, BR_IMMED_SPEC, BR_INDIRECT_SPEC],
        Truth::L1dAccesses => {
            &[L1D_CACHE, L1D_CACHE_RD, L1D_CACHE_WR, MEM_ACCESS, MEM_ACCESS_RD, MEM_ACCESS_WR]
        }
        Truth::DtlbAccesses => {
            &[L1D_TLB, L1D_TLB_RD, L1D_TLB_WR, MEM_ACCESS, MEM_ACCESS_RD, MEM_ACCESS_WR]
        }
        Truth::L1iAccesses => &[L1I_CACHE],
        Truth::ItlbAccesses => &[L1I_TLB],
        Truth::L2Accesses | Truth::L2DataAccesses => &[
            L2D_CACHE,
            L2D_CACHE_RD,
            L2D_CACHE_WR,
            L1D_CACHE_REFILL,
            L1D_CACHE_REFILL_RD,
            L1D_CACHE_REFILL_WR,
            L1I_CACHE_REFILL,
        ],
        Truth::L2TlbAccesses | Truth::L2TlbDataAccesses => {
            &[L2D_TLB, L2D_TLB_RD, L2D_TLB_WR, L1D_TLB_REFILL, L1I_TLB_REFILL]
        }
        Truth::OutsideLines => &[LL_CACHE_RD, BUS_ACCESS_RD, BUS_ACCESS, L2D_CACHE_REFILL],
        Truth::Mispredicted => &[BR_MIS_PRED, BR_MIS_PRED_RETIRED],
        Truth::Walks => &[DTLB_WALK, ITLB_WALK],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{Catalog, Formula};

    fn code(formula: &str, truth: Truth) -> Option<&'static str> {
        let formula = Formula::parse(formula).expect("a formula");
        let linked = Linked::new(&formula, &Catalog::default()).expect("links");
        misfit(&linked, &Machine::neoverse_n2(3, 1), truth).map(|reason| reason.code())
    }

    #[test]
    fn correct_formulas_have_no_misfit() {
        for (formula, truth) in [
            ("INST_RETIRED / CPU_CYCLES", Truth::Ipc),
            ("BR_MIS_PRED_RETIRED / INST_RETIRED * 1000", Truth::BranchMpki),
            ("OP_RETIRED / OP_SPEC * (1 - STALL_SLOT / (CPU_CYCLES * #slots))", Truth::Retiring),
            (
                "STALL_SLOT_BACKEND / (5 * CPU_CYCLES) - 3 * BR_MIS_PRED / CPU_CYCLES",
                Truth::BackendBound,
            ),
            ("(LL_CACHE_RD - LL_CACHE_MISS_RD) / LL_CACHE_RD", Truth::SlcHitRatio),
            ("1 - OP_RETIRED / OP_SPEC", Truth::OpsWasted),
            ("L1D_CACHE_REFILL * 64 / CPU_CYCLES", Truth::ReadBandwidth),
            ("STALL_BACKEND / CPU_CYCLES", Truth::BackendCycles),
            ("STALL_SLOT_BACKEND / (OP_SPEC + STALL_SLOT)", Truth::BackendBound),
            ("64 * L2D_CACHE_REFILL", Truth::BytesRead),
        ] {
            assert_eq!(code(formula, truth), None, "{formula}");
        }
    }

    #[test]
    fn other_quantities_are_found() {
        for (formula, truth, expected) in [
            ("BR_MIS_PRED_RETIRED / CPU_CYCLES * 1000", Truth::BranchMpki, "dimension"),
            ("BR_MIS_PRED_RETIRED", Truth::BranchMpki, "dimension"),
            ("INST_RETIRED / (5 * CPU_CYCLES)", Truth::Retiring, "dimension"),
            ("L1D_CACHE_REFILL / CPU_CYCLES", Truth::BytesRead, "dimension"),
            ("LD_SPEC / OP_SPEC", Truth::LoadMix, "wrong-denominator"),
            ("BR_MIS_PRED_RETIRED / INST_RETIRED", Truth::BranchMissRatio, "wrong-denominator"),
            ("CPU_CYCLES / INST_RETIRED", Truth::Ipc, "dimension"),
            ("STALL_BACKEND / (5 * CPU_CYCLES) + LD_SPEC", Truth::BackendBound, "dimension"),
        ] {
            assert_eq!(code(formula, truth), Some(expected), "{formula}");
        }
    }

    /// The reason describes the formula's actual behavior rather than only that it does not fit.
    #[test]
    fn each_misfit_has_its_description() {
        for (formula, truth, description) in [
            ("BR_MIS_PRED_RETIRED", Truth::BranchMpki, "a count that grows with the length"),
            ("BR_RETIRED * INST_RETIRED", Truth::BranchMpki, "changes with the length"),
            ("L1D_CACHE_REFILL / LD_SPEC", Truth::BytesRead, "does not grow with the length"),
            ("BR_RETIRED / CPU_CYCLES", Truth::BranchMpki, "a number per cycle"),
            ("INST_RETIRED / BR_RETIRED", Truth::Ipc, "depends on neither cycles nor slots"),
            ("CPU_CYCLES / INST_RETIRED", Truth::Ipc, "grows with the number of cycles"),
            ("(CPU_CYCLES + LD_SPEC) / BR_RETIRED", Truth::Ipc, "adds cycles or slots to another"),
        ] {
            let parsed = Formula::parse(formula).expect("a formula");
            let linked = Linked::new(&parsed, &Catalog::default()).expect("links");
            let found = misfit(&linked, &Machine::neoverse_n2(3, 1), truth);
            let text = found.map(|reason| reason.to_string()).unwrap_or_default();
            assert!(text.contains(description), "{formula}: {text}");
        }
    }

    /// Operations are slots where slots are claimed. A misprediction is not a slot where it is the
    /// whole.
    #[test]
    fn slots_on_either_side_are_slots() {
        let each = "(OP_SPEC - OP_RETIRED) / BR_MIS_PRED_RETIRED";
        assert_eq!(code(each, Truth::MispredictCost), None);
        let part = "INST_RETIRED / (OP_SPEC + STALL_SLOT)";
        assert_eq!(code(part, Truth::RetiredPerSlot), None);
        let stalls = "STALL_SLOT_BACKEND / STALL_SLOT";
        assert_eq!(code(stalls, Truth::BackendBound), Some("wrong-denominator"));
        let branches = "BR_MIS_PRED_RETIRED * STALL_SLOT / (STALL_SLOT * OP_SPEC)";
        assert_eq!(code(branches, Truth::BranchMissRatio), Some("wrong-denominator"));
    }

    /// A formula that is always 0 has no kind, and many events can be meant by timed loads.
    #[test]
    fn formulas_without_a_kind_have_no_misfit() {
        assert_eq!(code("0 * INST_RETIRED", Truth::Retired), None);
        assert_eq!(code("CPU_CYCLES / LD_SPEC", Truth::LoadLatency), None);
    }
}
