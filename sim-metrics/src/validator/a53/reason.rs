//! Reasons why a formula differs from its claim on a Cortex-A53.

use std::fmt;

use sim_core::A53Event;

use crate::formula::machine::A53_SLOTS;

/// Reason of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum A53Reason {
    /// The core has no event of this name; the text says which core has.
    AbsentEvent(String),
    /// The event stays 0 in the code of a trace.
    NeverCounts(A53Event),
    /// The event counts only a part of the claim.
    Subset {
        /// Event in the formula.
        part: A53Event,
        /// Event for the claim.
        whole: A53Event,
    },
    /// The event counts more than the claim.
    Superset {
        /// Event for the claim.
        part: A53Event,
        /// Event in the formula.
        whole: A53Event,
    },
    /// A sum of a whole and its part.
    DoubleCount(A53Event, A53Event),
    /// The formula assumes another number of slots per cycle.
    SlotWidth(u64),
    /// Descriptors that walks read count as accesses and refills of the L1 D-cache.
    Walks,
    /// Software prefetches count as accesses.
    SoftwarePrefetch,
    /// Lines that a prefetcher requests count as accesses and refills of the L2 cache.
    Prefetches,
    /// Lines that leave the L1 D-cache count as accesses of the L2 cache.
    Evictions,
    /// An access that waits for a line on its way has no refill of its own.
    InFlight,
    /// Writes in read-allocate mode have no refill.
    Streamed,
    /// Each line or element of an access counts.
    Fragments,
    /// Exception returns count as mispredicted.
    ExceptionReturns,
    /// Failed store-exclusives count as stores.
    FailedExclusives,
    /// Cycles of a stall of write-back count although younger instructions issue.
    StallOverlap,
    /// Cycles in which a line is decoded after its miss do not count.
    DecodeAfterMiss,
    /// Instructions that issue and do not retire.
    Abandoned,
    /// Write-backs of the L2 cache do not count as requests.
    L2WriteBacks,
    /// Prefetched lines of instructions do not count.
    FetchPrefetches,
    /// Loads and branches of wrong paths count.
    WrongPaths,
    /// Accesses of memory that no cache keeps do not count.
    Uncached,
}

impl A53Reason {
    /// Returns the code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            A53Reason::AbsentEvent(_) => "absent-event",
            A53Reason::NeverCounts(_) => "never-counts",
            A53Reason::Subset { .. } => "subset",
            A53Reason::Superset { .. } => "superset",
            A53Reason::DoubleCount(..) => "double-count",
            A53Reason::SlotWidth(_) => "slot-width",
            A53Reason::Walks => "walks",
            A53Reason::SoftwarePrefetch => "software-prefetch",
            A53Reason::Prefetches => "prefetch-counted",
            A53Reason::Evictions => "evictions",
            A53Reason::InFlight => "in-flight",
            A53Reason::Streamed => "streamed-stores",
            A53Reason::Fragments => "fragments",
            A53Reason::ExceptionReturns => "exception-returns",
            A53Reason::FailedExclusives => "failed-exclusives",
            A53Reason::StallOverlap => "stall-overlap",
            A53Reason::DecodeAfterMiss => "decode-after-miss",
            A53Reason::Abandoned => "abandoned",
            A53Reason::L2WriteBacks => "l2-write-backs",
            A53Reason::FetchPrefetches => "prefetch-hidden",
            A53Reason::WrongPaths => "wrong-paths",
            A53Reason::Uncached => "uncached",
        }
    }

    /// Returns whether the formula itself must be fixed, independent of the workload.
    pub fn is_fault(&self) -> bool {
        matches!(
            self,
            A53Reason::AbsentEvent(_)
                | A53Reason::NeverCounts(_)
                | A53Reason::Subset { .. }
                | A53Reason::Superset { .. }
                | A53Reason::DoubleCount(..)
                | A53Reason::SlotWidth(_)
        )
    }

    /// Returns the sentence of a reason without an event.
    fn sentence(&self) -> &'static str {
        match self {
            A53Reason::Walks => {
                "descriptors that the walker reads count as accesses and refills of the L1 D-cache, and \
                 their lines as accesses and refills of the L2 cache"
            }
            A53Reason::SoftwarePrefetch => {
                "software prefetches count as accesses of the L1 D-cache, and their lines in the L2 cache"
            }
            A53Reason::Prefetches => {
                "lines that a prefetcher requests count as accesses and refills of the L2 cache"
            }
            A53Reason::Evictions => {
                "lines that leave the L1 D-cache, changed or not, and streamed stores count as accesses \
                 of the L2 cache"
            }
            A53Reason::InFlight => {
                "an access that waits for a line on its way has no refill of its own"
            }
            A53Reason::Streamed => {
                "stores in read-allocate mode go past the L1 D-cache without a refill"
            }
            A53Reason::Fragments => {
                "each line or element of an access counts, and an atomic access counts as a load and a store"
            }
            A53Reason::ExceptionReturns => {
                "BR_MIS_PRED counts exception returns, which are not predicted"
            }
            A53Reason::FailedExclusives => {
                "ST_RETIRED counts failed store-exclusives (erratum 855827)"
            }
            A53Reason::StallOverlap => {
                "LD_DEP_STALL and ST_DEP_STALL count each cycle in which write-back is held, also those \
                 in which a younger instruction issues, but not those after it in which the pipeline is still full"
            }
            A53Reason::DecodeAfterMiss => {
                "IC_DEP_STALL and IUTLB_DEP_STALL do not count the cycles after a miss in which the line \
                 is decoded"
            }
            A53Reason::Abandoned => "instructions that fault issue and do not retire",
            A53Reason::L2WriteBacks => {
                "EXT_MEM_REQ does not count changed lines that leave the L2 cache"
            }
            A53Reason::FetchPrefetches => {
                "PREFETCH_LINEFILL does not count prefetched lines of instructions"
            }
            A53Reason::WrongPaths => {
                "loads that issue after a mispredicted branch, before it resolves, count as accesses and \
                 refills, and branches as predicted"
            }
            A53Reason::Uncached => {
                "L1D_CACHE does not count loads and stores of memory that no cache keeps"
            }
            _ => "",
        }
    }
}

impl fmt::Display for A53Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            A53Reason::AbsentEvent(why) => f.write_str(why),
            A53Reason::NeverCounts(event) => {
                write!(f, "{} stays 0 in A64 code on a Cortex-A53", event.mnemonic())
            }
            A53Reason::Subset { part, whole } => write!(
                f,
                "{} counts only a part of what it claims: {} counts all of it",
                part.mnemonic(),
                whole.mnemonic()
            ),
            A53Reason::Superset { part, whole } => write!(
                f,
                "{} counts more than what it claims: {} counts that part of it",
                whole.mnemonic(),
                part.mnemonic()
            ),
            A53Reason::DoubleCount(whole, part) if whole == part => {
                write!(f, "{} is added to itself", whole.mnemonic())
            }
            A53Reason::DoubleCount(whole, part) => write!(
                f,
                "counted twice: {} counts all that {} counts",
                whole.mnemonic(),
                part.mnemonic()
            ),
            A53Reason::SlotWidth(given) => {
                write!(f, "this core has {A53_SLOTS} issue slots in a cycle, not {given}")
            }
            other => f.write_str(other.sentence()),
        }
    }
}
