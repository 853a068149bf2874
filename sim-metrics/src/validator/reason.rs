//! Why the value of a formula is not what it claims, each with a word for programs and a sentence for people.

use std::fmt;

use sim_core::PmuEvent;

use super::fraction::Fraction;
use crate::identities::SLOTS_PER_CYCLE;

/// One reason.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// r0p0 to r0p2 count a surplus slot per cycle, and the formula does not take it off.
    ErratumUncorrected,
    /// The formula takes a surplus slot per cycle off that this revision does not count.
    ErratumTwice,
    /// What was thrown away is counted along with what retired.
    Speculation,
    /// One side of a division is of what was executed, the other of what retired.
    MixedPopulations,
    /// Events of the cache count the lines of prefetchers as if something had asked for them.
    PrefetchCounted,
    /// Prefetchers brought what the event does not count.
    PrefetchHidden,
    /// Accesses that wait for a line on its way have no refill of their own.
    InFlight,
    /// A wide or unaligned access counts once for each of its parts.
    Fragments,
    /// The event counts data and instructions together.
    DataAndCode,
    /// Write-backs of the cache above count as accesses.
    WriteBacks,
    /// Stores that stream past the L1 D-cache count in the L2, and wait for nothing.
    Streamed,
    /// The refill of the front end behind a flush is taken for the front end's own loss.
    Recovery,
    /// The term of mispredictions charges so many times what they cost.
    MispredictTerm(f64),
    /// Cycles in which nothing was sent stand for lost slots.
    CyclesForSlots,
    /// Cycles count for a pending miss, whatever they wait for.
    PendingMisses,
    /// `CPUECTLR_EL1.EXTLLC` is 0: the last-level events say nothing.
    ExtllcClear(PmuEvent),
    /// The event never counts on this core.
    NeverCounts(PmuEvent),
    /// The core has no such event.
    UnknownEvent(String),
    /// The number is no event of the core, with its digits exchanged it is one.
    WrongNumber(String, PmuEvent),
    /// The value grows with what the claimed quantity does not.
    Dimension {
        /// What the truth is measured in.
        wants: String,
        /// What the formula makes of it.
        gives: &'static str,
    },
    /// The value does not depend on what the truth is a part of.
    WrongDenominator(String),
    /// The value is this many times what it claims, in every run.
    Factor(f64),
    /// The formula is this many times the one for its claim, whatever else makes that differ from the truth.
    Multiple(f64),
    /// It takes a cycle to have so many slots; the value is this many times what it claims, if it is
    /// a multiple.
    SlotWidth {
        /// Slots of a cycle, as the formula has them.
        given: u64,
        /// The multiple.
        times: Option<f64>,
    },
    /// A sum of a whole and its part, or of an event and its alias.
    DoubleCount(PmuEvent, PmuEvent),
    /// The event counts a part of what is claimed.
    Subset {
        /// The event.
        part: PmuEvent,
        /// What is claimed.
        whole: PmuEvent,
    },
    /// The event counts more than what is claimed.
    Superset {
        /// What is claimed.
        part: PmuEvent,
        /// The event.
        whole: PmuEvent,
    },
    /// It is what the claim leaves of the whole.
    Complement,
    /// It divides the whole by the part.
    Inverted,
    /// A part is more than its whole.
    AboveOne(f64),
    /// A part is less than nothing.
    Negative(f64),
    /// The divisor was 0.
    DivisionByZero(String),
    /// Shares that should make up a whole do not: their sum.
    NotTiling(f64),
    /// This core has no level 3 cache of its own; the event counts what came from anywhere outside.
    NoL3,
    /// No rule explains the difference.
    Unexplained,
}

impl Reason {
    /// The word that programs know it by.
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
            Reason::Unexplained => "unexplained",
        }
    }

    /// True if the formula is to be mended, whatever runs: it is not the workload that makes it wrong.
    pub fn is_fault(&self) -> bool {
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
                write!(f, "the term of mispredictions charges {times} what they cost here")
            }
            Reason::ExtllcClear(event) => {
                let event = event.mnemonic();
                write!(f, "CPUECTLR_EL1.EXTLLC is 0 on this machine: {event} stays 0")
            }
            Reason::NeverCounts(event) => {
                write!(f, "{} never counts on a Neoverse N2", event.mnemonic())
            }
            Reason::UnknownEvent(name) => write!(f, "{name} is no event of a Neoverse N2"),
            Reason::WrongNumber(name, meant) => write!(
                f,
                "{name} is no event of a Neoverse N2; with its digits exchanged it is {} (r{:x})",
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
            other => f.write_str(other.sentence()),
        }
    }
}

impl Reason {
    /// The sentence of a reason about a whole and its part.
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

    /// The sentence of a reason that has no figure in it.
    fn sentence(&self) -> &'static str {
        match self {
            Reason::ErratumUncorrected => {
                "r0p0 to r0p2 count one slot too many per cycle in STALL_SLOT and \
                 STALL_SLOT_FRONTEND, and it does not take CPU_CYCLES off"
            }
            Reason::ErratumTwice => {
                "it takes CPU_CYCLES off a stall-slot event that has no surplus on this revision"
            }
            Reason::Speculation => "events count what was thrown away along with what retired",
            Reason::MixedPopulations => {
                "it divides what was executed, wrong paths included, by what retired, or the other \
                 way round"
            }
            Reason::PrefetchCounted => {
                "the event counts what prefetchers brought or looked up as if something had asked \
                 for it"
            }
            Reason::PrefetchHidden => "prefetchers brought lines that the event does not count",
            Reason::InFlight => {
                "an access that waits for a line on its way has no refill of its own"
            }
            Reason::Fragments => "wide and unaligned accesses count once for each of their parts",
            Reason::DataAndCode => "the event counts data and instructions together",
            Reason::WriteBacks => "write-backs of the L1 D-cache count as accesses of the L2",
            Reason::Streamed => {
                "stores that stream past the L1 D-cache count in the L2, and nothing waits for their \
                 lines"
            }
            Reason::Recovery => {
                "the refill of the front end behind a flush counts as the front end's own loss, not \
                 as bad speculation"
            }
            Reason::MispredictTerm(_) => {
                "the term of mispredictions takes off what they do not cost here"
            }
            Reason::CyclesForSlots => {
                "cycles in which nothing was sent stand for lost slots: a cycle that sends one \
                 operation of five is none of them, and has lost four slots"
            }
            Reason::PendingMisses => {
                "STALL_BACKEND_MEM counts every cycle without an operation in which a miss of the L2 is \
                 pending, whatever the cycle waits for, and no cycle that waits for the L2 itself"
            }
            Reason::Complement => "it is the rest of the whole: 1 less the value is what it claims",
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

/// What to say of the double.
fn twice(times: f64) -> &'static str {
    if times == 2.0 { ": counted twice" } else { "" }
}

/// `2 times`, `0.625 = 5/8 of`, `1/6.01 of`.
fn times_of(times: f64) -> String {
    match Fraction::of(times) {
        Some(whole @ Fraction { whole: 1, .. }) => format!("{whole} times"),
        Some(part) if times < 1.0 => format!("{} = {part} of", short(times)),
        Some(fraction) => format!("{} = {fraction} times", short(times)),
        None if times >= 1.0 => format!("{times:.2} times"),
        None => format!("1/{:.2} of", 1.0 / times),
    }
}

/// A number with as many decimals as it needs, four at most.
fn short(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
