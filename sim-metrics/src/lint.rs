//! Implausible counts that no rule of the guide forbids: ratios above 1, negative parts of a whole,
//! and last-level counts of a machine that does not count them.

use std::fmt;

use sim_core::CoreEvent;
use sim_core::PmuEvent::{self, *};

use crate::cause::{Cause, is_copied, is_half_corrected, slots_cause};
use crate::count::{Count, formula, total};
use crate::identities::{Assumptions, SLOTS_PER_CYCLE, has_erratum};

/// Largest number of instructions that retire in a cycle. Source: counting width of INST_RETIRED.
const RETIRED_PER_CYCLE_MAX: u64 = 8;
/// Amount by which a part of a whole may be below 0 because of rounding.
const SHARE_ROUNDING: f64 = 0.005;

/// Doubt about a table of counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// Implausible statement of the counts.
    pub statement: String,
    /// Usual cause of the doubt.
    pub cause: Cause,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.statement)
    }
}

/// Ratio that is at most 1 on every machine under usual work.
pub(crate) struct Ratio<E: 'static> {
    /// Sum of events.
    part: &'static [(u64, E)],
    whole: (u64, E),
    cause: Cause,
}

/// Returns the ratio of `part` to `whole`, with the usual cause of one above 1.
pub(crate) const fn ratio<E: Copy>(
    part: &'static [(u64, E)],
    whole: (u64, E),
    cause: Cause,
) -> Ratio<E> {
    Ratio { part, whole, cause }
}

/// Ratios that no relation of the event table covers.
const RATIOS: &[Ratio<PmuEvent>] = &[
    ratio(&[(1, L1D_TLB_REFILL)], (1, L1D_TLB), Cause::Prefetches),
    ratio(&[(1, L2D_CACHE_REFILL)], (1, L2D_CACHE), Cause::Prefetches),
    ratio(&[(1, DTLB_WALK)], (1, L1D_TLB), Cause::Prefetches),
    ratio(&[(1, ITLB_WALK)], (1, L1I_TLB), Cause::Prefetches),
    ratio(&[(1, INST_RETIRED)], (RETIRED_PER_CYCLE_MAX, CPU_CYCLES), Cause::NoCycles),
    ratio(&[(1, OP_SPEC)], (SLOTS_PER_CYCLE, CPU_CYCLES), Cause::NoCycles),
    ratio(&[(1, STALL_SLOT)], (SLOTS_PER_CYCLE + 1, CPU_CYCLES), Cause::NoCycles),
];

/// Events for the four top-down shares of the slots.
const SLOT_EVENTS: [PmuEvent; 6] =
    [CPU_CYCLES, STALL_SLOT, STALL_SLOT_FRONTEND, STALL_SLOT_BACKEND, OP_RETIRED, OP_SPEC];
/// Instruction classes, with their weight in the sum.
const CLASSES: [(u64, PmuEvent); 8] = [
    (1, LD_SPEC),
    (1, ST_SPEC),
    (1, DP_SPEC),
    (1, ASE_SPEC),
    (1, VFP_SPEC),
    (1, CRYPTO_SPEC),
    (1, BR_IMMED_SPEC),
    (1, BR_INDIRECT_SPEC),
];

/// Returns all doubts about a table of counts of a Neoverse N2; none for another core.
pub fn doubts<C: Into<Count>>(
    count: impl Fn(PmuEvent) -> Option<C>,
    assumptions: &Assumptions,
) -> Vec<Doubt> {
    if !assumptions.core.is_n2() {
        return Vec::new();
    }
    let count = |event| {
        let exact: Count = count(event)?.into();
        Some(Count { tolerance: exact.tolerance.max(assumptions.tolerance), ..exact })
    };
    let ratios = RATIOS.iter().filter(|ratio| ratio.applies(assumptions.is_part_of_code));
    let slots = || slots_cause(&count, assumptions);
    let mut doubts: Vec<Doubt> =
        ratios.filter_map(|ratio| ratio.above_one(&count, slots)).collect();
    if !assumptions.is_part_of_code {
        doubts.extend(negative_slots(&count, assumptions));
    }
    doubts.extend(negative_mix(&count));
    doubts.extend(last_level(&count, assumptions));
    doubts
}

impl<E: CoreEvent> Ratio<E> {
    /// Returns whether the ratio applies. A part of the code shares its cycles with others.
    pub(crate) fn applies(&self, is_part_of_code: bool) -> bool {
        !is_part_of_code || self.whole.1 != E::CYCLES
    }

    /// Returns a doubt if the ratio is above 1. `slots_cause` is the cause of wrong slots, if they
    /// are wrong.
    pub(crate) fn above_one(
        &self,
        count: &impl Fn(E) -> Option<Count>,
        slots_cause: impl Fn() -> Option<Cause>,
    ) -> Option<Doubt> {
        let part = total(self.part, count)?;
        let whole = total(&[self.whole], count)?;
        let tolerance = part.tolerance.max(whole.tolerance);
        let is_above = part.value as f64 > whole.value as f64 * (1.0 + tolerance);
        let is_estimate = part.is_estimate || whole.is_estimate;
        is_above.then(|| Doubt {
            statement: format!(
                "{} above {}: {} of {}",
                formula(self.part),
                formula(&[self.whole]),
                part.value,
                whole.value
            ),
            cause: match slots_cause().filter(|_| self.whole.1 == E::CYCLES) {
                Some(cause) => cause,
                None if is_estimate => Cause::Multiplexing,
                None => self.cause,
            },
        })
    }
}

/// Returns a doubt if one of the four top-down shares is negative.
fn negative_slots(
    count: &impl Fn(PmuEvent) -> Option<Count>,
    assumptions: &Assumptions,
) -> Option<Doubt> {
    let mut values = [0.0; 6];
    let (mut tolerance, mut is_estimate) = (SHARE_ROUNDING, false);
    for (value, event) in values.iter_mut().zip(SLOT_EVENTS) {
        let count = count(event)?;
        *value = count.value as f64;
        tolerance = tolerance.max(count.tolerance);
        is_estimate |= count.is_estimate;
    }
    let [cycles, stalled, frontend, backend, retired, spec] = values;
    if cycles == 0.0 || spec == 0.0 {
        return None;
    }
    let surplus = if has_erratum(count, assumptions) { cycles } else { 0.0 };
    let slots = SLOTS_PER_CYCLE as f64 * cycles;
    let used = 1.0 - (stalled - surplus) / slots;
    let parts = [
        ("retiring", retired / spec * used),
        ("bad speculation", (1.0 - retired / spec) * used),
        ("front end", (frontend - surplus) / slots),
        ("back end", backend / slots),
    ];
    let is_negative = parts.iter().any(|(_, part)| *part < -tolerance);
    is_negative.then(|| Doubt {
        statement: format!("shares of the slots with a negative part: {}", percentages(&parts)),
        cause: match slots_cause(count, assumptions) {
            _ if is_half_corrected(count) => Cause::HalfCorrected,
            Some(cause) => cause,
            None if is_estimate => Cause::Multiplexing,
            None => Cause::Windows,
        },
    })
}

fn percentages(parts: &[(&str, f64)]) -> String {
    // Adding 0 removes the sign of a negative zero.
    let tenths = |share: f64| (share * 1000.0).round() / 10.0 + 0.0;
    let part = |(name, share): &(&str, f64)| format!("{name} {:.1} %", tenths(*share));
    parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

/// Returns a doubt if the instruction classes exceed all instructions.
fn negative_mix(count: &impl Fn(PmuEvent) -> Option<Count>) -> Option<Doubt> {
    let classes = total(&CLASSES, count)?;
    let whole = count(INST_SPEC)?;
    // An atomic is both a load and a store, so there are at most as many atomics as the fewer of
    // the two.
    let atomics_max = count(LD_SPEC)?.value.min(count(ST_SPEC)?.value);
    let tolerance = classes.tolerance.max(whole.tolerance);
    let limit = (whole.value + atomics_max) as f64 * (1.0 + tolerance);
    let share = |value: u64| 100.0 * value as f64 / whole.value.max(1) as f64;
    let is_estimate = classes.is_estimate || whole.is_estimate;
    (classes.value as f64 > limit).then(|| Doubt {
        statement: format!(
            "the classes of instructions are {:.1} % of INST_SPEC, of which atomics, loads and \
             stores at once, explain at most {:.1} %: the others would be negative",
            share(classes.value),
            share(atomics_max)
        ),
        cause: if is_estimate { Cause::Multiplexing } else { Cause::Windows },
    })
}

/// Returns a doubt if the last-level events stay 0 although the L2 refills, or repeat the L2
/// events.
fn last_level(
    count: &impl Fn(PmuEvent) -> Option<Count>,
    assumptions: &Assumptions,
) -> Option<Doubt> {
    let reads = count(LL_CACHE_RD)?.value;
    let refills = count(L2D_CACHE_REFILL_RD)?.value;
    if reads == 0 && refills > 0 && assumptions.has_external_llc != Some(false) {
        return Some(Doubt {
            statement: format!("LL_CACHE_RD is 0 while the L2 refilled {refills} times"),
            cause: Cause::ExtllcClear,
        });
    }
    let is_doubted = assumptions.has_external_llc != Some(false) && is_copied(count);
    is_doubted.then(|| Doubt {
        statement: String::from(
            "LL_CACHE_RD and LL_CACHE_MISS_RD equal L2D_CACHE_RD and L2D_CACHE_REFILL_RD",
        ),
        cause: Cause::LastLevelCopies,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubts_of(counts: &[(PmuEvent, u64)]) -> Vec<Doubt> {
        let value = |event| counts.iter().find(|(own, _)| *own == event).map(|(_, n)| *n);
        doubts(value, &Assumptions::default())
    }

    #[test]
    fn zero_counts_raise_no_doubt() {
        assert_eq!(doubts(|_| Some(0u64), &Assumptions::default()), []);
        assert_eq!(doubts_of(&[]), []);
    }

    #[test]
    fn each_ratio_is_doubted_only_above_one() {
        for ratio in RATIOS {
            let (weight, whole) = ratio.whole;
            let with = |part| doubts_of(&[(whole, 10), (ratio.part[0].1, part)]).len();
            assert_eq!((with(10 * weight), with(10 * weight + 1)), (0, 1), "{:?}", ratio.part);
        }
    }

    #[test]
    fn atomics_count_as_loads_and_stores() {
        let mix = |loads, stores| {
            let zero = [DP_SPEC, ASE_SPEC, VFP_SPEC, CRYPTO_SPEC, BR_IMMED_SPEC, BR_INDIRECT_SPEC];
            let mut counts: Vec<_> = zero.map(|event| (event, 0)).to_vec();
            counts.extend([(INST_SPEC, 100), (LD_SPEC, loads), (ST_SPEC, stores)]);
            doubts_of(&counts).len()
        };
        assert_eq!((mix(100, 100), mix(80, 40)), (0, 0));
        assert_eq!((mix(140, 20), mix(101, 0)), (1, 1));
    }
}
