//! Structure of a formula for a Cortex-A53 by experiments: counts of one kind are doubled, and the
//! change of the value shows whether it is a count or a ratio, and of cycles or of something else.

use sim_core::A53Event as E;

use crate::formula::event_use::Quantity;
use crate::formula::population::{Base, of_a53};
use crate::formula::{EventUse, Linked, Machine};
use crate::truth::{Truth, TruthUnit};
use crate::validator::Reason;
use crate::validator::probe::{claim_in_words, length_misfit, time_exponent, time_misfit};

/// Returns the mismatch between a formula and the truth that it claims.
pub(super) fn misfit(formula: &Linked, truth: Truth) -> Option<Reason> {
    let whole = truth.quotient().map(|quotient| quotient.whole);
    let wants = claim_in_words(truth);
    if let Some(gives) = length_misfit(doubled(formula, |_| true)?, whole.is_some()) {
        return Some(Reason::Dimension { wants, gives });
    }
    // An instruction takes an issue slot, so that slots are neither time nor instructions here.
    let is_of_slots = |truth: Truth| truth.unit() == TruthUnit::Slots;
    let of_slots = truth.quotient().map_or(is_of_slots(truth), |quotient| {
        is_of_slots(quotient.part) || is_of_slots(quotient.whole)
    });
    if !of_slots {
        let time = doubled(formula, |event| of_a53(event).base == Base::Cycle)?;
        if let Some(gives) = time_misfit(time, time_exponent(truth)) {
            return Some(Reason::Dimension { wants, gives });
        }
    }
    let whole = whole?;
    let events = events_of(whole);
    let is_independent = doubled(formula, |event| events.contains(&event))? == 1.0;
    (!events.is_empty() && is_independent)
        .then(|| Reason::WrongDenominator(whole.unit().to_string()))
}

/// Returns the ratio of the value when the events of a class are doubled, or `None` if it has no
/// value.
fn doubled(formula: &Linked, is_in: impl Fn(E) -> bool) -> Option<f64> {
    let value = |factor: f64| {
        let count = |name: &EventUse| match name.quantity {
            Quantity::A53(event) if is_in(event) => Some(factor * invented(event)),
            Quantity::A53(event) => Some(invented(event)),
            Quantity::Time(_) if is_in(E::CPU_CYCLES) => Some(factor),
            Quantity::Time(_) => Some(1.0),
            _ => None,
        };
        formula.evaluate(&Machine::cortex_a53(1), count).value
    };
    let (once, twice) = (value(1.0), value(2.0));
    let ratio = if once == twice { 1.0 } else { twice / once };
    (once.is_finite() && twice.is_finite() && once != 0.0).then_some(ratio)
}

/// Returns counts for which no formula becomes 0 by chance.
fn invented(event: E) -> f64 {
    1000.0 + 37.0 * (event as usize as f64).sqrt()
}

/// Returns the events for a whole in a formula, or none where many events could be meant.
fn events_of(whole: Truth) -> &'static [E] {
    match whole {
        Truth::Retired => &[E::INST_RETIRED],
        Truth::Cycles | Truth::Slots => &[E::CPU_CYCLES, E::BUS_CYCLES],
        Truth::Branches => {
            &[E::BR_PRED, E::PC_WRITE_RETIRED, E::BR_IMMED_RETIRED, E::BR_COND, E::BR_INDIRECT_SPEC]
        }
        Truth::L1dAccesses => &[E::L1D_CACHE, E::MEM_ACCESS, E::LD_RETIRED, E::ST_RETIRED],
        Truth::L1iAccesses => &[E::L1I_CACHE],
        Truth::L2Accesses => &[E::L2D_CACHE, E::L1D_CACHE_REFILL, E::L1I_CACHE_REFILL],
        _ => &[],
    }
}
