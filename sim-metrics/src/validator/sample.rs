//! Invented counts that satisfy every rule between events: sums add up, aliases are equal,
//! operations and stalled slots are all slots. Two formulas that agree on several samples are the
//! same formula.

use sim_core::PmuEvent::{self, *};
use sim_core::pmu_event::RelationKind;

use super::evidence::FIRST_SOUND_PATCH;
use crate::identities::SLOTS_PER_CYCLE;

/// Number of samples; no two different formulas agree on so many by chance.
const SAMPLES: u64 = 4;
/// Smallest number of cycles in a sample. The stalled slots of a sample never fill them.
const CYCLES: f64 = 1e6;

/// Invented counts of a core.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    counts: Vec<f64>,
}

impl Sample {
    /// Returns the samples for every formula, the same in every run.
    pub(super) fn all() -> Vec<Sample> {
        (1..=SAMPLES).map(Sample::new).collect()
    }

    fn new(seed: u64) -> Sample {
        let mut counts: Vec<f64> =
            PmuEvent::ALL.into_iter().map(|event| invented(event, seed)).collect();
        for event in PmuEvent::ALL {
            counts[event as usize] = resolved(event, &counts);
        }
        // Refilled lines are also divided into those from near and from far.
        let (all, near) = (counts[L1D_CACHE_REFILL as usize], random(L1D_CACHE_REFILL_INNER, seed));
        counts[L1D_CACHE_REFILL_INNER as usize] = all * near;
        counts[L1D_CACHE_REFILL_OUTER as usize] = all - all * near;
        let slots = SLOTS_PER_CYCLE as f64 * counts[CPU_CYCLES as usize];
        counts[OP_SPEC as usize] = slots - counts[STALL_SLOT as usize];
        counts[OP_RETIRED as usize] = counts[OP_SPEC as usize] * random(OP_RETIRED, seed);
        Sample { counts }
    }

    /// Returns the count on a core of revision r0pN, with the surplus slot of revisions before
    /// r0p3.
    pub(super) fn count(&self, event: PmuEvent, patch: u8) -> f64 {
        let has_surplus = patch < FIRST_SOUND_PATCH;
        let surplus = match event {
            STALL_SLOT | STALL_SLOT_FRONTEND if has_surplus => self.counts[CPU_CYCLES as usize],
            _ => 0.0,
        };
        self.counts[event as usize] + surplus
    }

    /// Returns the invented duration of the run in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.counts[CPU_CYCLES as usize] * 3e-10
    }
}

/// Returns the count of an event that other events determine.
fn resolved(event: PmuEvent, own: &[f64]) -> f64 {
    let sum = |parts: &[PmuEvent]| parts.iter().map(|part| resolved(*part, own)).sum::<f64>();
    match event {
        _ if event.never_counts() => 0.0,
        // Snoops are neither reads nor writes.
        BUS_ACCESS => sum(&[BUS_ACCESS_RD, BUS_ACCESS_WR]) + own[event as usize],
        L2D_CACHE_REFILL => own[event as usize] + resolved(L2D_CACHE_REFILL_RD, own),
        _ => {
            let kinds = [RelationKind::AliasOf, RelationKind::SumOf, RelationKind::ImpliedSumOf];
            let parts = kinds.into_iter().find_map(|kind| event.relation(kind));
            parts.map_or(own[event as usize], sum)
        }
    }
}

/// Returns a count of plausible size: parts are smaller than their wholes.
fn invented(event: PmuEvent, seed: u64) -> f64 {
    const SMALL: [&str; 6] = ["REFILL", "MISS", "WB", "WALK", "MIS_PRED", "CHECKED"];
    let name = event.mnemonic();
    let size = match event {
        CPU_CYCLES => 2.0 * CYCLES,
        STALL_SLOT_FRONTEND | STALL_SLOT_BACKEND => CYCLES,
        STALL_FRONTEND | STALL_BACKEND => 0.2 * CYCLES,
        INST_SPEC => 2.0 * CYCLES,
        INST_RETIRED => CYCLES,
        _ if SMALL.iter().any(|word| name.contains(word)) => 1e3,
        _ => 1e5,
    };
    size * random(event, seed)
}

/// Returns a number from 0.5 to 1 that depends only on the event and the seed (SplitMix64).
fn random(event: PmuEvent, seed: u64) -> f64 {
    let mut bits = (seed << 32 | event as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    0.5 + (bits >> 11) as f64 / (1u64 << 54) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identities::{Assumptions, Comparison, check};

    /// Every equation of the table must hold; subset rules are not needed.
    #[test]
    fn samples_satisfy_every_equation() {
        for sample in Sample::all() {
            for (patch, has_erratum) in [(3, false), (2, true)] {
                let assumptions = Assumptions {
                    has_stall_slot_erratum: Some(has_erratum),
                    tolerance: 0.01,
                    ..Assumptions::default()
                };
                // The sum of the halves has the surplus slot too, because one of them has it.
                let check = check(|event| Some(sample.count(event, patch) as u64), &assumptions);
                let broken: Vec<_> = check
                    .violations
                    .iter()
                    .filter(|violation| violation.comparison == Comparison::Equal)
                    .map(ToString::to_string)
                    .collect();
                assert!(broken.is_empty(), "{broken:?}");
            }
            assert!(sample.count(OP_RETIRED, 3) > 0.0 && sample.seconds() > 0.0);
        }
    }
}
