//! Counting biases of the events of a Cortex-A53. Each is taken out of the counts, and the formula
//! is evaluated again; biases are reasons if the value then is the truth.

use sim_core::A53Event as E;

use super::evidence::A53Evidence;
use super::reason::A53Reason;
use crate::formula::Linked;
use crate::truth::Truth;
use crate::validator::{Finding, Reason, explanation};

/// Counting bias that can be taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bias {
    Walks,
    SoftwarePrefetch,
    Prefetches,
    Evictions,
    InFlight,
    Streamed,
    Fragments,
    ExceptionReturns,
    FailedExclusives,
    StallOverlap,
    DecodeAfterMiss,
    Abandoned,
    L2WriteBacks,
    FetchPrefetches,
    WrongPaths,
    Uncached,
}

/// Formula with its claim, on one run.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) formula: &'a Linked,
    /// Factor that converts the value to the unit of the truth.
    pub(super) factor: f64,
    pub(super) truth: Truth,
    pub(super) run: &'a A53Evidence,
}

impl Bias {
    const ALL: [Bias; 16] = [
        Bias::Walks,
        Bias::SoftwarePrefetch,
        Bias::Prefetches,
        Bias::Evictions,
        Bias::InFlight,
        Bias::Streamed,
        Bias::Fragments,
        Bias::ExceptionReturns,
        Bias::FailedExclusives,
        Bias::StallOverlap,
        Bias::DecodeAfterMiss,
        Bias::Abandoned,
        Bias::L2WriteBacks,
        Bias::FetchPrefetches,
        Bias::WrongPaths,
        Bias::Uncached,
    ];

    fn reason(self) -> A53Reason {
        match self {
            Bias::Walks => A53Reason::Walks,
            Bias::SoftwarePrefetch => A53Reason::SoftwarePrefetch,
            Bias::Prefetches => A53Reason::Prefetches,
            Bias::Evictions => A53Reason::Evictions,
            Bias::InFlight => A53Reason::InFlight,
            Bias::Streamed => A53Reason::Streamed,
            Bias::Fragments => A53Reason::Fragments,
            Bias::ExceptionReturns => A53Reason::ExceptionReturns,
            Bias::FailedExclusives => A53Reason::FailedExclusives,
            Bias::StallOverlap => A53Reason::StallOverlap,
            Bias::DecodeAfterMiss => A53Reason::DecodeAfterMiss,
            Bias::Abandoned => A53Reason::Abandoned,
            Bias::L2WriteBacks => A53Reason::L2WriteBacks,
            Bias::FetchPrefetches => A53Reason::FetchPrefetches,
            Bias::WrongPaths => A53Reason::WrongPaths,
            Bias::Uncached => A53Reason::Uncached,
        }
    }

    /// Returns whether the bias can affect this truth. A number that fits by chance is no reason.
    fn concerns(self, truth: Truth) -> bool {
        use Truth as T;
        let sides = truth.quotient().map_or([truth; 2], |quotient| [quotient.part, quotient.whole]);
        let is_any = |list: &[Truth]| sides.iter().any(|side| list.contains(side));
        match self {
            Bias::Walks | Bias::SoftwarePrefetch => {
                is_any(&[T::L1dAccesses, T::L1dMisses, T::L2Accesses, T::L2Misses])
            }
            Bias::Prefetches => is_any(&[T::L2Accesses, T::L2Misses]),
            Bias::Evictions => is_any(&[T::L2Accesses]),
            Bias::InFlight => is_any(&[T::L1dMisses, T::L1iMisses]),
            Bias::Streamed => is_any(&[T::L1dMisses]),
            Bias::Fragments => is_any(&[T::L1dAccesses, T::L1dMisses]),
            Bias::ExceptionReturns => is_any(&[T::Mispredicted]),
            Bias::FailedExclusives => is_any(&[T::Stores, T::L1dAccesses]),
            Bias::StallOverlap => is_any(&[T::IdleLoadMiss, T::IdleStore]),
            Bias::DecodeAfterMiss => is_any(&[T::IdleL1i, T::IdleItlb]),
            Bias::Abandoned => is_any(&[T::IssuedSlots]),
            Bias::L2WriteBacks => is_any(&[T::MemoryRequests]),
            Bias::FetchPrefetches => is_any(&[T::PrefetchedLines]),
            Bias::WrongPaths => {
                is_any(&[T::L1dAccesses, T::L1dMisses, T::Branches, T::IndirectBranches])
            }
            Bias::Uncached => is_any(&[T::L1dAccesses]),
        }
    }

    /// Returns what the count of an event lacks without the bias.
    fn delta(self, event: E, run: &A53Evidence) -> f64 {
        let (s, of) = (&run.surplus, |truth| run.truths.value(truth).unwrap_or(0.0));
        match (self, event) {
            (Bias::Walks, E::L1D_CACHE) => -s.descriptors,
            (Bias::Walks, E::L1D_CACHE_REFILL | E::L2D_CACHE) => -s.descriptor_misses,
            (Bias::Walks, E::L2D_CACHE_REFILL) => -s.descriptor_lines,
            (Bias::SoftwarePrefetch, E::L1D_CACHE) => -s.software_prefetches,
            (Bias::SoftwarePrefetch, E::L2D_CACHE) => -s.software_lines,
            (Bias::SoftwarePrefetch, E::L2D_CACHE_REFILL) => -s.software_memory_lines,
            (Bias::Prefetches, E::L2D_CACHE) => -s.prefetched,
            (Bias::Prefetches, E::L2D_CACHE_REFILL) => -s.prefetched_memory_lines,
            (Bias::Evictions, E::L2D_CACHE) => -s.moved_out,
            (Bias::InFlight, E::L1D_CACHE_REFILL) => s.load_waits,
            (Bias::InFlight, E::L1I_CACHE_REFILL) => s.fetch_waits,
            (Bias::Streamed, E::L1D_CACHE_REFILL) => s.streamed,
            (Bias::Fragments, E::L1D_CACHE | E::MEM_ACCESS) => {
                of(Truth::L1dAccesses) - s.lookups - s.uncached
            }
            (Bias::Uncached, E::L1D_CACHE) => s.uncached,
            (Bias::Fragments, E::L1D_CACHE_REFILL) => s.load_misses - s.load_refills - s.load_waits,
            (Bias::ExceptionReturns, E::BR_MIS_PRED) => -s.exception_returns,
            (Bias::FailedExclusives, E::ST_RETIRED) => -s.failed_exclusives,
            (Bias::StallOverlap, E::LD_DEP_STALL) => of(Truth::IdleLoadMiss) - run.count(event),
            (Bias::StallOverlap, E::ST_DEP_STALL) => of(Truth::IdleStore) - run.count(event),
            (Bias::DecodeAfterMiss, E::IC_DEP_STALL) => of(Truth::IdleL1i) - run.count(event),
            (Bias::DecodeAfterMiss, E::IUTLB_DEP_STALL) => of(Truth::IdleItlb) - run.count(event),
            (Bias::Abandoned, E::INST_RETIRED) => s.abandoned,
            (Bias::L2WriteBacks, E::EXT_MEM_REQ) => s.l2_victims,
            (Bias::FetchPrefetches, E::PREFETCH_LINEFILL) => s.fetch_prefetched,
            (Bias::WrongPaths, E::L1D_CACHE) => -s.wrong_loads,
            (Bias::WrongPaths, E::MEM_ACCESS) => -s.wrong_loads - s.wrong_uncached,
            (Bias::WrongPaths, E::BR_INDIRECT_SPEC) => -s.wrong_indirect,
            (Bias::WrongPaths, E::L1D_CACHE_REFILL) => -s.wrong_refills,
            (Bias::WrongPaths, E::BR_PRED) => -s.wrong_branches,
            _ => 0.0,
        }
    }
}

impl Case<'_> {
    /// Returns the value, in the unit of the truth.
    pub(super) fn value(&self) -> f64 {
        self.without(&[])
    }

    /// Returns the value without these biases.
    fn without(&self, biases: &[Bias]) -> f64 {
        let table = |event| {
            let deltas: f64 = biases.iter().map(|bias| bias.delta(event, self.run)).sum();
            (self.run.count(event) + deltas).max(0.0)
        };
        self.factor * self.run.evaluate(self.formula, table).value
    }

    /// Returns the smallest set of biases that explains the difference to `real`, greatest first,
    /// and the difference that remains.
    pub(super) fn biases(&self, real: f64, tolerance: f64) -> (Vec<Finding>, f64) {
        let moves = |bias: &Bias| self.without(&[*bias]) != self.value();
        let possible = Bias::ALL.into_iter().filter(|bias| bias.concerns(self.truth));
        let possible: Vec<Bias> = possible.filter(moves).collect();
        let without = |set: &[Bias]| self.without(set);
        let (found, left) = explanation::explain(&possible, without, real, tolerance);
        let finding = |(bias, shift): (Bias, f64)| Finding {
            reason: Reason::OnA53(bias.reason()),
            shift: Some(shift),
        };
        (found.into_iter().map(finding).collect(), left)
    }
}
