//! Usual causes of counts that break a rule.

use std::fmt;

use sim_core::PmuEvent::{self, *};

use crate::count::{Count, total};
use crate::identities::{
    Assumptions, Comparison, SLOTS_PER_CYCLE, Subject, Violation, slots_per_cycle,
};

/// Largest number of slots per cycle that a core may have.
const SLOTS_MAX: u64 = 16;
/// Largest relative distance of counts from a whole number of slots per cycle.
const SLOTS_TOLERANCE: f64 = 0.01;

/// Largest relative difference that is explained by reading at different moments rather than in
/// different runs.
const MOMENTS_SHARE: f64 = 0.01;
/// Largest relative distance of a side from a multiple of the other.
const MULTIPLE_TOLERANCE: f64 = 0.001;
/// Largest multiple that is recognized.
const MULTIPLE_MAX: u64 = 256;

/// Usual cause of impossible counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// There were more events than counters, so some were counted part of the time and scaled.
    Multiplexing,
    /// The sides were counted in different runs, at different times or for different levels.
    Windows,
    /// The sides differ so little that they belong to one run and were read at different moments.
    Moments,
    /// One side is a whole multiple of the other.
    Multiple(u64),
    /// One side is 0.
    NeverRan,
    /// The core has the erratum of `STALL_SLOT`, contrary to the stated revision.
    Erratum,
    /// The core does not have the erratum, contrary to the stated revision.
    NoErratum,
    /// The surplus slot per cycle was subtracted from one stall event and not from another.
    HalfCorrected,
    /// The counts belong to a core with this many slots per cycle.
    OtherSlots(u64),
    /// The events or their numbers belong to another core.
    OtherCore,
    /// `CPUECTLR_EL1.EXTLLC` is 0: firmware did not announce the last level cache.
    ExtllcClear,
    /// `CPUECTLR_EL1.EXTLLC` is 1, although stated to be 0.
    ExtllcSet,
    /// There are more last-level misses than reads, which no setting of `CPUECTLR_EL1.EXTLLC`
    /// causes.
    MissesWithoutReads,
    /// The last-level events copy the L2 events, as in older descriptions of the core.
    LastLevelCopies,
    /// The cycle counter did not run, or was read in another run.
    NoCycles,
    /// Preloads and prefetches refill without a separate access.
    Prefetches,
    /// Branches that the core does not predict count as mispredicted.
    Unpredicted,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::OtherSlots(slots) => {
                return write!(f, "these are the counts of a core with {slots} slots per cycle");
            }
            Cause::Multiple(times) => {
                return write!(
                    f,
                    "one side is {times} times the other: it was counted on {times} times as many CPUs, threads or \
                     runs"
                );
            }
            Cause::Moments => {
                "the counters were started or read at different moments of one run; count them in one group"
            }
            Cause::NeverRan => {
                "one side is 0: its counter never ran, or the event was not counted where the other one was"
            }
            Cause::MissesWithoutReads => {
                "neither setting of CPUECTLR_EL1.EXTLLC gives more misses than reads: the two were counted in \
                 different runs, or one is another event under its name"
            }
            Cause::Multiplexing => {
                "multiplexing: counted for a part of the time and scaled; count fewer events at once"
            }
            Cause::Windows => {
                "the sides were counted in different runs, at different times or for other levels \
                 (:u, :k); count them in one group"
            }
            Cause::Erratum => {
                "the core is r0p0 to r0p2: STALL_SLOT and STALL_SLOT_FRONTEND count one slot too \
                 many per cycle; subtract CPU_CYCLES"
            }
            Cause::NoErratum => {
                "the core is r0p3 or later, without the surplus slot of r0p0 to r0p2; subtract \
                 nothing"
            }
            Cause::HalfCorrected => {
                "CPU_CYCLES was subtracted from one of STALL_SLOT and STALL_SLOT_FRONTEND and not from the \
                 other"
            }
            Cause::OtherCore => {
                "this event stays 0 on a Neoverse N2: another core, or another event under its name"
            }
            Cause::ExtllcClear => {
                "CPUECTLR_EL1.EXTLLC is 0 on this machine: its last-level events and ratios have \
                 no meaning"
            }
            Cause::ExtllcSet => "CPUECTLR_EL1.EXTLLC is 1 on this machine",
            Cause::LastLevelCopies => {
                "the last-level events copy the L2 events, as they do on some cores while \
                 CPUECTLR_EL1.EXTLLC is 0"
            }
            Cause::NoCycles => "the cycle counter did not run, or the cycles are of another run",
            Cause::Prefetches => {
                "preloads and prefetches refill without an access of their own, but seldom so many; \
                 if not these, the sides are of different runs"
            }
            Cause::Unpredicted => {
                "branches that the core does not predict count as mispredicted, but seldom so many; \
                 if not these, the sides are of different runs"
            }
        })
    }
}

/// Returns the usual cause of a violation in a table of counts.
pub fn usual_cause<C: Into<Count>>(
    violation: &Violation,
    count: impl Fn(PmuEvent) -> Option<C>,
    assumptions: &Assumptions,
) -> Cause {
    let count = |event| count(event).map(Into::into);
    match violation.subject {
        Subject::Never => Cause::OtherCore,
        Subject::NoExternalCache if is_copied(&count) => Cause::LastLevelCopies,
        Subject::NoExternalCache | Subject::Subset
            if is_of_last_level(violation) && misses_exceed_reads(&count) =>
        {
            Cause::MissesWithoutReads
        }
        Subject::NoExternalCache => Cause::ExtllcSet,
        Subject::Slots => {
            slots_cause(&count, assumptions).unwrap_or_else(|| by_difference(violation))
        }
        Subject::Sum
            if assumptions.core.is_n2() && is_half_corrected(&count) && is_of_slots(violation) =>
        {
            Cause::HalfCorrected
        }
        Subject::BusCeiling | Subject::PerCycle if violation.right_value == 0 => Cause::NoCycles,
        _ => by_difference(violation),
    }
}

/// Returns the cause that the counting method and the size of the difference suggest.
pub(crate) fn by_difference(violation: &Violation) -> Cause {
    let (less, more) = match (violation.left_value, violation.right_value) {
        (left, right) if left < right => (left, right),
        (left, right) => (right, left),
    };
    match violation.comparison {
        _ if violation.is_estimate => Cause::Multiplexing,
        _ if less == 0 => Cause::NeverRan,
        _ if violation.difference_share() <= MOMENTS_SHARE => Cause::Moments,
        Comparison::Equal => multiple(less, more).map_or(Cause::Windows, Cause::Multiple),
        Comparison::AtMost | Comparison::AtLeast => Cause::Windows,
    }
}

/// Returns how many times `more` contains `less`, if that is a whole number from 2 on.
fn multiple(less: u64, more: u64) -> Option<u64> {
    let times = more as f64 / less as f64;
    let whole = times.round();
    let is_whole = (times - whole).abs() <= whole * MULTIPLE_TOLERANCE;
    (is_whole && (2..=MULTIPLE_MAX).contains(&(whole as u64))).then_some(whole as u64)
}

fn is_of_last_level(violation: &Violation) -> bool {
    let names = [LL_CACHE_RD.mnemonic(), LL_CACHE_MISS_RD.mnemonic()];
    names.contains(&violation.left.as_str())
}

/// Returns whether the system level cache missed more reads than it received.
fn misses_exceed_reads(count: &impl Fn(PmuEvent) -> Option<Count>) -> bool {
    let misses = count(LL_CACHE_MISS_RD);
    count(LL_CACHE_RD).zip(misses).is_some_and(|(reads, misses)| misses.value > reads.value)
}

fn is_of_slots(violation: &Violation) -> bool {
    violation.left == STALL_SLOT.mnemonic()
}

/// Returns the cause why operations and stalled slots do not add up to all slots. Returns `None` if
/// they do, or are not known.
pub(crate) fn slots_cause(
    count: &impl Fn(PmuEvent) -> Option<Count>,
    assumptions: &Assumptions,
) -> Option<Cause> {
    let used = total(&[(1, OP_SPEC), (1, STALL_SLOT)], count)?;
    let cycles = count(CPU_CYCLES)?;
    if cycles.value == 0 {
        return Some(Cause::NoCycles);
    }
    let expected = slots_per_cycle(count, assumptions);
    let slots = used.value as f64 / cycles.value as f64;
    let whole = slots.round();
    let is_estimate = used.is_estimate || cycles.is_estimate;
    // A whole number of slots per cycle is the strongest evidence.
    match whole as u64 {
        n if n == expected => None,
        _ if (slots - whole).abs() > whole * SLOTS_TOLERANCE => {
            Some(if is_estimate { Cause::Multiplexing } else { Cause::Windows })
        }
        SLOTS_PER_CYCLE if assumptions.core.is_n2() => Some(Cause::NoErratum),
        n if n == SLOTS_PER_CYCLE + 1 && assumptions.core.is_n2() => Some(Cause::Erratum),
        n @ 1..=SLOTS_MAX => Some(Cause::OtherSlots(n)),
        _ => Some(Cause::Windows),
    }
}

/// Returns whether the stall slots and their halves differ by one slot per cycle.
pub(crate) fn is_half_corrected(count: &impl Fn(PmuEvent) -> Option<Count>) -> bool {
    let halves = total(&[(1, STALL_SLOT_FRONTEND), (1, STALL_SLOT_BACKEND)], count);
    let (Some(all), Some(halves), Some(cycles)) = (count(STALL_SLOT), halves, count(CPU_CYCLES))
    else {
        return false;
    };
    let error = all.value.abs_diff(halves.value).abs_diff(cycles.value);
    cycles.value > 0 && error as f64 <= cycles.value as f64 * SLOTS_TOLERANCE
}

/// Returns whether the last-level events equal the L2 events although the L2 hits at times. If all
/// L2 reads missed, the counts would be equal for a good reason.
pub(crate) fn is_copied(count: &impl Fn(PmuEvent) -> Option<Count>) -> bool {
    let values = [LL_CACHE_RD, LL_CACHE_MISS_RD, L2D_CACHE_RD, L2D_CACHE_REFILL_RD]
        .map(|event| total(&[(1, event)], count).map(|count| count.value));
    let [Some(reads), Some(misses), Some(l2_reads), Some(l2_refills)] = values else {
        return false;
    };
    reads == l2_reads && misses == l2_refills && l2_reads != l2_refills && misses > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identities::check;

    fn causes(counts: &[(PmuEvent, u64)], assumptions: &Assumptions) -> Vec<Cause> {
        let value = |event| counts.iter().find(|(own, _)| *own == event).map(|(_, n)| *n);
        let violations = check(value, assumptions).violations;
        violations.iter().map(|violation| usual_cause(violation, value, assumptions)).collect()
    }

    #[test]
    fn a_whole_number_of_slots_identifies_the_core() {
        let of = |slots: u64, erratum| {
            let counts = [(CPU_CYCLES, 100), (OP_SPEC, 100), (STALL_SLOT, slots - 100)];
            let assumptions =
                Assumptions { has_stall_slot_erratum: erratum, ..Assumptions::default() };
            causes(&counts, &assumptions)
        };
        assert_eq!(of(600, Some(false)), [Cause::Erratum]);
        assert_eq!(of(500, Some(true)), [Cause::NoErratum]);
        assert_eq!(of(800, None), [Cause::OtherSlots(8)]);
        assert_eq!(of(730, None), [Cause::Windows]);
        assert_eq!(of(600, None), []);
    }

    #[test]
    fn copies_differ_from_an_l2_that_always_misses() {
        let with = |l2_reads, refills| {
            let counts = [
                (LL_CACHE_RD, l2_reads),
                (LL_CACHE_MISS_RD, refills),
                (L2D_CACHE_RD, l2_reads),
                (L2D_CACHE_REFILL_RD, refills),
            ];
            let assumptions =
                Assumptions { has_external_llc: Some(false), ..Assumptions::default() };
            causes(&counts, &assumptions)
        };
        assert_eq!(with(100, 40), [Cause::LastLevelCopies; 2]);
        assert_eq!(with(100, 100), [Cause::ExtllcSet; 2]);
    }

    /// The form of the difference identifies the cause.
    #[test]
    fn the_cause_depends_on_the_evidence() {
        let of = |whole, reads, writes| {
            let counts = [(L1D_CACHE, whole), (L1D_CACHE_RD, reads), (L1D_CACHE_WR, writes)];
            causes(&counts, &Assumptions::default())
        };
        assert_eq!(of(1000, 600, 409), [Cause::Moments], "0.9 % apart");
        assert_eq!(of(2000, 600, 400), [Cause::Multiple(2)], "two CPUs against one");
        assert_eq!(of(1000, 0, 0), [Cause::NeverRan]);
        assert_eq!(of(1500, 600, 400), [Cause::Windows]);
    }

    /// Misses without reads are impossible under either setting of the last level cache.
    #[test]
    fn misses_without_reads_are_not_explained_by_a_setting() {
        let counts = [(LL_CACHE_RD, 0), (LL_CACHE_MISS_RD, 12)];
        for has_external_llc in [None, Some(false), Some(true)] {
            let assumptions = Assumptions { has_external_llc, ..Assumptions::default() };
            let causes = causes(&counts, &assumptions);
            assert!(!causes.is_empty());
            assert!(
                causes.iter().all(|cause| *cause == Cause::MissesWithoutReads),
                "{has_external_llc:?}: {causes:?}"
            );
        }
    }

    #[test]
    fn every_cause_is_a_sentence_without_a_stop() {
        for cause in [
            Cause::Multiplexing,
            Cause::Windows,
            Cause::OtherSlots(8),
            Cause::OtherCore,
            Cause::Moments,
            Cause::Multiple(2),
            Cause::NeverRan,
            Cause::MissesWithoutReads,
            Cause::Unpredicted,
        ] {
            let text = cause.to_string();
            assert!(text.len() > 20 && !text.ends_with('.') && !text.contains("  "), "{text}");
        }
    }
}
