//! Reasons why the value of a formula differs from its claim, each with a code for programs and a
//! sentence for users.

use std::fmt;

use sim_core::PmuEvent;

use super::a53::reason::A53Reason;
use super::fraction::Fraction;
use super::mesh::reason::MeshReason;
use crate::identities::SLOTS_PER_CYCLE;

/// Reason of a difference.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// r0p0 to r0p2 count a surplus slot per cycle, and the formula does not subtract it.
    ErratumUncorrected,
    /// The formula subtracts a surplus slot per cycle that this revision does not count.
    ErratumTwice,
    /// Squashed work is counted together with retired work.
    Speculation,
    /// One side of a division counts executed work, the other retired work.
    MixedPopulations,
    /// Cache events count prefetched lines like demand accesses.
    PrefetchCounted,
    /// Prefetchers refilled lines that the event does not count.
    PrefetchHidden,
    /// Accesses that wait for a pending line have no refill of their own.
    InFlight,
    /// A wide or unaligned access counts once for each of its parts.
    Fragments,
    /// The event counts data and instructions together.
    DataAndCode,
    /// Write-backs of the upper-level cache count as accesses.
    WriteBacks,
    /// Stores that stream past the L1 D-cache count in the L2, and nothing waits for them.
    Streamed,
    /// The front-end refill after a flush counts as front-end loss.
    Recovery,
    /// The misprediction term charges this many times the actual cost.
    MispredictTerm(f64),
    /// Cycles without dispatch are used for lost slots.
    CyclesForSlots,
    /// Cycles count for a pending miss, whatever they wait for.
    PendingMisses,
    /// `CPUECTLR_EL1.EXTLLC` is 0, so the last-level events have no meaning.
    ExtllcClear(PmuEvent),
    /// The event never counts on this core.
    NeverCounts(PmuEvent),
    /// The core has no such event.
    UnknownEvent(String),
    /// The number is not an event of the core, but is one with its digits swapped.
    WrongNumber(String, PmuEvent),
    /// The value depends on something that the claimed quantity does not depend on.
    Dimension {
        /// Unit of the truth.
        wants: String,
        /// Behavior of the formula.
        gives: &'static str,
    },
    /// The value does not depend on the whole that the truth is a part of.
    WrongDenominator(String),
    /// The value is this many times what it claims, in every run.
    Factor(f64),
    /// The formula is this many times the one for its claim, independent of other differences from
    /// the truth.
    Multiple(f64),
    /// The formula assumes another number of slots per cycle.
    SlotWidth {
        /// Slots per cycle in the formula.
        given: u64,
        /// Ratio of the value to the claim, if it is constant.
        times: Option<f64>,
    },
    /// A sum of a whole and its part, or of an event and its alias.
    DoubleCount(PmuEvent, PmuEvent),
    /// The event counts only a part of the claim.
    Subset {
        /// Event in the formula.
        part: PmuEvent,
        /// Event for the claim.
        whole: PmuEvent,
    },
    /// The event counts more than the claim.
    Superset {
        /// Event for the claim.
        part: PmuEvent,
        /// Event in the formula.
        whole: PmuEvent,
    },
    /// The value is what the claim leaves of the whole.
    Complement,
    /// The formula divides the whole by the part.
    Inverted,
    /// A part is larger than its whole.
    AboveOne(f64),
    /// A part is negative.
    Negative(f64),
    /// The divisor was 0.
    DivisionByZero(String),
    /// Shares that should add up to a whole do not; the value is their sum.
    NotTiling(f64),
    /// This core has no L3 cache of its own; the event counts everything from outside the core.
    NoL3,
    /// Reason on a Cortex-A53.
    OnA53(A53Reason),
    /// Reason of a metric of the mesh.
    InMesh(MeshReason),
    /// No rule explains the difference.
    Unexplained,
}

impl Reason {
    /// Returns the code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Reason::ErratumUncorrected => "erratum-uncorrected",
            Reason::ErratumTwice => "erratum-twice",
            Reason::Speculation => "speculation",
            Reason::MixedPopulations => "mixed-populations",
            Reason::PrefetchCounted => "prefetch-counted",
            Reason::PrefetchHidden => "prefetch-hidden",
            Reason::InFlight => "in-flight",
            Reason::Fragments => "fragments",
            Reason::DataAndCode => "data-and-code",
            Reason::WriteBacks => "write-backs",
            Reason::Streamed => "streamed-stores",
            Reason::Recovery => "recovery",
            Reason::MispredictTerm(_) => "mispredict-term",
            Reason::CyclesForSlots => "cycles-for-slots",
            Reason::PendingMisses => "pending-misses",
            Reason::ExtllcClear(_) => "extllc-clear",
            Reason::NeverCounts(_) => "never-counts",
            Reason::UnknownEvent(_) => "unknown-event",
            Reason::WrongNumber(..) => "wrong-number",
            Reason::Dimension { .. } => "dimension",
            Reason::WrongDenominator(_) => "wrong-denominator",
            Reason::Factor(_) | Reason::Multiple(_) => "factor",
            Reason::SlotWidth { .. } => "slot-width",
            Reason::DoubleCount(..) => "double-count",
            Reason::Subset { .. } => "subset",
            Reason::Superset { .. } => "superset",
            Reason::Complement => "complement",
            Reason::Inverted => "inverted",
            Reason::AboveOne(_) => "above-one",
            Reason::Negative(_) => "negative",
            Reason::DivisionByZero(_) => "division-by-zero",
            Reason::NotTiling(_) => "not-tiling",
            Reason::NoL3 => "no-l3",
            Reason::OnA53(reason) => reason.code(),
            Reason::InMesh(reason) => reason.code(),
            Reason::Unexplained => "unexplained",
        }
    }

    /// Returns whether the formula itself must be fixed, independent of the workload.
    pub fn is_fault(&self) -> bool {
        if let Reason::OnA53(reason) = self {
            return reason.is_fault();
        }
        if let Reason::InMesh(reason) = self {
            return reason.is_fault();
        }
        !matches!(
            self,
            Reason::Speculation
                | Reason::PrefetchCounted
                | Reason::PrefetchHidden
                | Reason::InFlight
                | Reason::Fragments
                | Reason::DataAndCode
                | Reason::WriteBacks
                | Reason::Streamed
                | Reason::Recovery
                | Reason::PendingMisses
                | Reason::DivisionByZero(_)
                | Reason::Unexplained
        )
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::MispredictTerm(times) if times.is_finite() => {
                let times = times_of(*times);
                write!(f, "the misprediction term charges {times} the actual cost")
            }
            Reason::ExtllcClear(event) => {
                let event = event.mnemonic();
                write!(f, "CPUECTLR_EL1.EXTLLC is 0 on this machine: {event} stays 0")
            }
            Reason::NeverCounts(event) => {
                write!(f, "{} never counts on a Neoverse N2", event.mnemonic())
            }
            Reason::UnknownEvent(name) => write!(f, "{name} is not an event of the Neoverse N2"),
            Reason::WrongNumber(name, meant) => write!(
                f,
                "{name} is not an event of the Neoverse N2; with its digits swapped it is {} (r{:x})",
                meant.mnemonic(),
                meant.code()
            ),
            Reason::Dimension { wants, gives } => write!(f, "it claims {wants}, but {gives}"),
            Reason::WrongDenominator(whole) => {
                write!(f, "what it claims is divided by {whole}, and it divides by something else")
            }
            Reason::Factor(times) => {
                write!(
                    f,
                    "it is {} what it claims, in every run{}",
                    times_of(*times),
                    twice(*times)
                )
            }
            Reason::Multiple(times) => write!(
                f,
                "it is {} the formula for its claim, in every run{}",
                times_of(*times),
                twice(*times)
            ),
            Reason::SlotWidth { given, times } => {
                write!(f, "slots of another width: ")?;
                if let Some(times) = times {
                    write!(f, "it is {} what it claims, in every run; ", times_of(*times))?;
                }
                write!(f, "this core has {SLOTS_PER_CYCLE} slots in a cycle, not {given}")
            }
            Reason::DoubleCount(..) | Reason::Subset { .. } | Reason::Superset { .. } => {
                self.fmt_parts(f)
            }
            Reason::AboveOne(value) | Reason::Negative(value) => {
                write!(f, "it claims a part of a whole and is {:.1} %", 100.0 * value)
            }
            Reason::DivisionByZero(what) => f.write_str(what),
            Reason::NotTiling(sum) => {
                write!(f, "the parts that should make up a whole are {:.1} %", 100.0 * sum)
            }
            Reason::OnA53(reason) => reason.fmt(f),
            Reason::InMesh(reason) => reason.fmt(f),
            other => f.write_str(other.sentence()),
        }
    }
}

impl Reason {
    /// Writes the sentence of a reason about a whole and its part.
    fn fmt_parts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::DoubleCount(whole, part) if whole == part => {
                write!(f, "{} is added to itself", whole.mnemonic())
            }
            Reason::DoubleCount(whole, part) => write!(
                f,
                "counted twice: {} counts all that {} counts",
                whole.mnemonic(),
                part.mnemonic()
            ),
            Reason::Subset { part, whole } => write!(
                f,
                "{} counts only a part of what it claims: {} counts all of it",
                part.mnemonic(),
                whole.mnemonic()
            ),
            Reason::Superset { part, whole } => write!(
                f,
                "{} counts more than what it claims: {} counts that part of it",
                whole.mnemonic(),
                part.mnemonic()
            ),
            _ => Ok(()),
        }
    }

    /// Returns the sentence of a reason without a number.
    fn sentence(&self) -> &'static str {
        match self {
            Reason::ErratumUncorrected => {
                "r0p0 to r0p2 count one slot too many per cycle in STALL_SLOT and \
                 STALL_SLOT_FRONTEND, and the formula does not subtract CPU_CYCLES"
            }
            Reason::ErratumTwice => {
                "the formula subtracts CPU_CYCLES from a stall-slot event that has no surplus on this \
                 revision"
            }
            Reason::Speculation => "events count squashed work along with retired work",
            Reason::MixedPopulations => {
                "it divides executed work, including wrong paths, by retired work, or the other way \
                 round"
            }
            Reason::PrefetchCounted => {
                "the event counts prefetched lines or prefetcher lookups like demand accesses"
            }
            Reason::PrefetchHidden => "prefetchers refilled lines that the event does not count",
            Reason::InFlight => "an access that waits for a pending line has no refill of its own",
            Reason::Fragments => "wide and unaligned accesses count once for each of their parts",
            Reason::DataAndCode => "the event counts data and instructions together",
            Reason::WriteBacks => "write-backs of the L1 D-cache count as accesses of the L2",
            Reason::Streamed => {
                "stores that stream past the L1 D-cache count in the L2, and nothing waits for their \
                 lines"
            }
            Reason::Recovery => {
                "the refill of the front end after a flush counts as front-end loss, not as bad \
                 speculation"
            }
            Reason::MispredictTerm(_) => {
                "the misprediction term subtracts more or less than the actual cost"
            }
            Reason::CyclesForSlots => {
                "cycles without dispatch are used for lost slots: a cycle that dispatches one \
                 operation of five is not counted, but loses four slots"
            }
            Reason::PendingMisses => {
                "STALL_BACKEND_MEM counts every cycle without an operation while an L2 miss is \
                 pending, whatever the cycle waits for, and no cycle that waits for the L2 itself"
            }
            Reason::Complement => {
                "it is the rest of the whole: 1 minus the value is what it claims"
            }
            Reason::Inverted => {
                "it divides the whole by the part: 1 over the value is what it claims"
            }
            Reason::NoL3 => {
                "a Neoverse N2 has no level 3 cache of its own: LL_CACHE events count what came \
                 from the mesh, from other cores and from memory"
            }
            _ => "no rule explains the difference",
        }
    }
}

/// Returns an addition for a doubled value.
fn twice(times: f64) -> &'static str {
    if times == 2.0 { ": counted twice" } else { "" }
}

/// Returns a ratio as text: `2 times`, `0.625 = 5/8 of`, `1/6.01 of`.
fn times_of(times: f64) -> String {
    match Fraction::of(times) {
        Some(whole @ Fraction { whole: 1, .. }) => format!("{whole} times"),
        Some(part) if times < 1.0 => format!("{} = {part} of", short(times)),
        Some(fraction) => format!("{} = {fraction} times", short(times)),
        None if times >= 1.0 => format!("{times:.2} times"),
        None => format!("1/{:.2} of", 1.0 / times),
    }
}

/// Returns a number with as many decimals as it needs, at most four.
fn short(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
