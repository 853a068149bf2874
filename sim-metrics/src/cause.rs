//! Why counts that somebody collected usually break a rule.

use std::fmt;

use sim_core::PmuEvent::{self, *};

use crate::count::{Count, total};
use crate::identities::{Assumptions, SLOTS_PER_CYCLE, Subject, Violation, slots_per_cycle};

/// The most slots per cycle that a core is taken to have.
const SLOTS_MAX: u64 = 16;
/// How far, as a share, counts may be from a whole number of slots per cycle.
const SLOTS_TOLERANCE: f64 = 0.01;

/// The usual cause of counts that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// More events than counters: some were counted for a part of the time and scaled.
    Multiplexing,
    /// The sides were counted in different runs, at different times or for different levels.
    Windows,
    /// The core has the erratum of `STALL_SLOT`, and was said not to have it.
    Erratum,
    /// The core does not have the erratum, and was said to have it.
    NoErratum,
    /// The surplus slot per cycle was taken out of one stall event and not of another.
    HalfCorrected,
    /// The counts are of a core with this many slots per cycle.
    OtherSlots(u64),
    /// The events are of another core, or their numbers are.
    OtherCore,
    /// `CPUECTLR_EL1.EXTLLC` is 0: firmware did not announce the last level cache.
    ExtllcClear,
    /// `CPUECTLR_EL1.EXTLLC` is 1, and was said to be 0.
    ExtllcSet,
    /// The last-level events copy those of the L2, as older descriptions of the core have them.
    LastLevelCopies,
    /// The cycle counter did not run, or was read in another run.
    NoCycles,
    /// Preloads and prefetches refill without an access of their own.
    Prefetches,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::OtherSlots(slots) => {
                return write!(f, "these are the counts of a core with {slots} slots per cycle");
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
                 many per cycle; take CPU_CYCLES off"
            }
            Cause::NoErratum => {
                "the core is r0p3 or later, without the surplus slot of r0p0 to r0p2; take nothing \
                 off"
            }
            Cause::HalfCorrected => {
                "CPU_CYCLES was taken off one of STALL_SLOT and STALL_SLOT_FRONTEND and not off the \
                 other"
            }
            Cause::OtherCore => {
                "this event stays 0 on a Neoverse N2: another core, or another event under its name"
            }
            Cause::ExtllcClear => {
                "CPUECTLR_EL1.EXTLLC is 0 on this machine: its last-level events and ratios say \
                 nothing"
            }
            Cause::ExtllcSet => "CPUECTLR_EL1.EXTLLC is 1 on this machine",
            Cause::LastLevelCopies => {
                "the last-level events copy those of the L2, as they do on some cores while \
                 CPUECTLR_EL1.EXTLLC is 0"
            }
            Cause::NoCycles => "the cycle counter did not run, or the cycles are of another run",
            Cause::Prefetches => {
                "preloads and prefetches refill without an access of their own, but seldom so many; \
                 if not these, the sides are of different runs"
            }
        })
    }
}

/// The usual cause of a violation in a table of counts.
pub fn usual_cause<C: Into<Count>>(
    violation: &Violation,
    count: impl Fn(PmuEvent) -> Option<C>,
    assumptions: &Assumptions,
) -> Cause {
    let count = |event| count(event).map(Into::into);
    match violation.subject {
        Subject::Never => Cause::OtherCore,
        Subject::NoExternalCache if is_copied(&count) => Cause::LastLevelCopies,
        Subject::NoExternalCache => Cause::ExtllcSet,
        Subject::Slots => slots_cause(&count, assumptions).unwrap_or_else(|| by_way(violation)),
        Subject::Sum if is_half_corrected(&count) && is_of_slots(violation) => Cause::HalfCorrected,
        Subject::BusCeiling if violation.right_value == 0 => Cause::NoCycles,
        _ => by_way(violation),
    }
}

/// The cause that only the way of counting suggests.
fn by_way(violation: &Violation) -> Cause {
    if violation.is_estimate { Cause::Multiplexing } else { Cause::Windows }
}

fn is_of_slots(violation: &Violation) -> bool {
    violation.left == STALL_SLOT.mnemonic()
}

/// Why operations and stalled slots do not make up all slots; `None` if they do, or are not known.
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
    // A whole number of slots per cycle says more than anything else.
    match whole as u64 {
        n if n == expected => None,
        _ if (slots - whole).abs() > whole * SLOTS_TOLERANCE => {
            Some(if is_estimate { Cause::Multiplexing } else { Cause::Windows })
        }
        SLOTS_PER_CYCLE => Some(Cause::NoErratum),
        n if n == SLOTS_PER_CYCLE + 1 => Some(Cause::Erratum),
        n @ 1..=SLOTS_MAX => Some(Cause::OtherSlots(n)),
        _ => Some(Cause::Windows),
    }
}

/// True if the stall slots and their halves are one slot per cycle apart.
pub(crate) fn is_half_corrected(count: &impl Fn(PmuEvent) -> Option<Count>) -> bool {
    let halves = total(&[(1, STALL_SLOT_FRONTEND), (1, STALL_SLOT_BACKEND)], count);
    let (Some(all), Some(halves), Some(cycles)) = (count(STALL_SLOT), halves, count(CPU_CYCLES))
    else {
        return false;
    };
    let error = all.value.abs_diff(halves.value).abs_diff(cycles.value);
    cycles.value > 0 && error as f64 <= cycles.value as f64 * SLOTS_TOLERANCE
}

/// True if the last-level events show what those of the L2 show, although the L2 hits at times: if
/// all its reads missed, the counts would be the same for a good reason.
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
    fn a_whole_number_of_slots_tells_the_core() {
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
    fn copies_are_told_from_an_l2_that_always_misses() {
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

    #[test]
    fn every_cause_is_a_sentence_without_a_stop() {
        for cause in [Cause::Multiplexing, Cause::Windows, Cause::OtherSlots(8), Cause::OtherCore] {
            let text = cause.to_string();
            assert!(text.len() > 20 && !text.ends_with('.') && !text.contains("  "), "{text}");
        }
    }
}
