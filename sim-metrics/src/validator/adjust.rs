//! Contribution of each counting bias to a difference. The counts are changed as if the event did
//! not have the bias, and the formula is evaluated again. The bias whose removal brings the value
//! closest to the truth comes first.

use sim_core::Counts;
use sim_core::PmuEvent::{self, *};
use sim_core::pmu_event::Unit;

use super::evidence::Evidence;
use super::explanation;
use super::reason::Reason;
use crate::formula::double_count::original;
use crate::formula::{Evaluation, Linked};
use crate::identities::SLOTS_PER_CYCLE;
use crate::truth::Truth;

/// Counting bias of events that can be removed from the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CountingBias {
    /// Cycles without an operation are used for lost slots. This fault of the formula is found like
    /// a counting bias.
    CyclesForSlots,
    /// A pending miss takes the whole cycle, whatever the cycle waits for.
    PendingMisses,
    /// Wrong paths are counted.
    Speculation,
    /// Prefetches are counted.
    PrefetchCounted,
    /// Prefetches are not counted.
    PrefetchHidden,
    /// Waiting for a pending line does not count as a miss.
    InFlight,
    /// Each part of an access is counted.
    Fragments,
    /// Fetches are counted together with data.
    DataAndCode,
    /// Write-backs are counted as accesses.
    WriteBacks,
    /// Streaming stores are counted in the L2.
    Streamed,
    /// The refill after a flush is counted as front-end loss.
    Recovery,
}

/// Reason, and its effect on the value.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Reason of a difference.
    pub reason: Reason,
    /// Change of the value without the cause, in the unit of the truth.
    pub shift: Option<f64>,
}

/// Formula with its claim, on one run.
pub(super) struct Case<'a> {
    pub(super) formula: &'a Linked,
    /// Factor that converts the value to the unit of the truth.
    pub(super) factor: f64,
    pub(super) truth: Truth,
    pub(super) evidence: &'a Evidence,
    /// Evaluated revision r0pN.
    pub(super) patch: u8,
    /// Evaluates what the formula leaves of the whole instead of its value.
    pub(super) is_rest: bool,
}

impl CountingBias {
    pub(super) const ALL: [CountingBias; 11] = [
        CountingBias::CyclesForSlots,
        CountingBias::PendingMisses,
        CountingBias::Speculation,
        CountingBias::PrefetchCounted,
        CountingBias::PrefetchHidden,
        CountingBias::InFlight,
        CountingBias::Fragments,
        CountingBias::DataAndCode,
        CountingBias::WriteBacks,
        CountingBias::Streamed,
        CountingBias::Recovery,
    ];

    pub(super) fn reason(self) -> Reason {
        match self {
            CountingBias::CyclesForSlots => Reason::CyclesForSlots,
            CountingBias::PendingMisses => Reason::PendingMisses,
            CountingBias::Speculation => Reason::Speculation,
            CountingBias::PrefetchCounted => Reason::PrefetchCounted,
            CountingBias::PrefetchHidden => Reason::PrefetchHidden,
            CountingBias::InFlight => Reason::InFlight,
            CountingBias::Fragments => Reason::Fragments,
            CountingBias::DataAndCode => Reason::DataAndCode,
            CountingBias::WriteBacks => Reason::WriteBacks,
            CountingBias::Streamed => Reason::Streamed,
            CountingBias::Recovery => Reason::Recovery,
        }
    }

    /// Returns whether the bias can affect this truth. A number that fits by chance is not a
    /// reason: counting wrong paths is correct where the truth includes them.
    fn concerns(self, truth: Truth) -> bool {
        let sides = truth.quotient().map_or([truth; 2], |quotient| [quotient.part, quotient.whole]);
        let is_any = |list: &[Truth]| sides.iter().any(|side| list.contains(side));
        match self {
            CountingBias::CyclesForSlots => sides.contains(&Truth::Slots),
            CountingBias::PendingMisses => is_any(&[Truth::MemorySlots, Truth::CoreSlots]),
            CountingBias::Speculation if sides.contains(&Truth::Slots) => {
                is_any(&[Truth::RetiredSlots])
            }
            CountingBias::Speculation => !is_any(ON_ALL_PATHS),
            CountingBias::PrefetchCounted => !is_any(OF_LINES),
            CountingBias::PrefetchHidden => is_any(OF_LINES),
            CountingBias::InFlight => !is_any(OF_LINES),
            CountingBias::Streamed => true,
            CountingBias::Fragments => is_any(OF_ACCESSES),
            CountingBias::DataAndCode => is_of_data(truth),
            CountingBias::WriteBacks => is_any(&[Truth::L2Accesses, Truth::L2DataAccesses]),
            CountingBias::Recovery => is_any(OF_RECOVERY),
        }
    }

    /// Returns the correction of an event's count that removes the counting bias. An alias has the
    /// same correction and a part its share of it, so that equal formulas have equal reasons.
    fn delta(self, event: PmuEvent, truth: Truth, run: &Evidence) -> f64 {
        let event = original(event);
        match (self, event) {
            (CountingBias::Speculation, STALL_SLOT_FRONTEND | STALL_SLOT_BACKEND) => {
                share(event, STALL_SLOT, run) * self.own_delta(STALL_SLOT, truth, run)
            }
            (CountingBias::Speculation, _) => self.own_delta(event, truth, run),
            (_, L1D_CACHE_REFILL_INNER | L1D_CACHE_REFILL_OUTER) => {
                let of_all = self.own_delta(L1D_CACHE_REFILL, truth, run);
                share(event, L1D_CACHE_REFILL, run) * of_all
            }
            _ => self.own_delta(event, truth, run),
        }
    }

    fn own_delta(self, event: PmuEvent, truth: Truth, run: &Evidence) -> f64 {
        match self {
            CountingBias::CyclesForSlots => slots_less_cycles(event, run),
            CountingBias::PendingMisses => without_pending(event, run),
            // Slots of squashed operations are used, but lost all the same.
            CountingBias::Speculation if event == STALL_SLOT => match truth {
                Truth::Retiring | Truth::RetiredSlots => of(Truth::SquashedSlots, run),
                _ => 0.0,
            },
            CountingBias::Speculation => without_wrong_paths(event, run),
            CountingBias::PrefetchCounted => without_prefetches(event, run),
            CountingBias::PrefetchHidden => with_prefetches(event, run),
            CountingBias::InFlight => with_waiting(event, run),
            CountingBias::Fragments => one_each(event, run),
            CountingBias::DataAndCode => without_code(event, run),
            CountingBias::WriteBacks if matches!(event, L2D_CACHE | L2D_CACHE_WR) => {
                -(run.counts.value(L1D_CACHE_WB) as f64)
            }
            CountingBias::WriteBacks => 0.0,
            CountingBias::Streamed if OF_LINES.iter().any(|line| has(truth, *line)) => {
                without_claims(event, run)
            }
            CountingBias::Streamed => without_streams(event, run),
            CountingBias::Recovery => recovered(event, run),
        }
    }
}

/// Ground truths that include wrong paths.
const ON_ALL_PATHS: &[Truth] = &[
    Truth::Executed,
    Truth::ExecutedOps,
    Truth::SquashedOps,
    Truth::L1iAccesses,
    Truth::L1iMisses,
    Truth::ItlbAccesses,
    Truth::ItlbMisses,
    Truth::ItlbWalks,
    Truth::Walks,
    Truth::OutsideLines,
    Truth::SlcMisses,
    Truth::SlcHits,
    Truth::RemoteLines,
    Truth::BytesRead,
    Truth::BytesWritten,
    Truth::BytesMoved,
];
/// Ground truths of lines, including prefetched ones.
const OF_LINES: &[Truth] = &[
    Truth::OutsideLines,
    Truth::SlcMisses,
    Truth::SlcHits,
    Truth::PrefetchedLines,
    Truth::RemoteLines,
    Truth::BytesRead,
    Truth::BytesWritten,
    Truth::BytesMoved,
];
/// Ground truths in which an access counts once, however wide it is.
const OF_ACCESSES: &[Truth] = &[
    Truth::L1dAccesses,
    Truth::DtlbAccesses,
    Truth::L2DataAccesses,
    Truth::L2TlbDataAccesses,
    Truth::Loads,
    Truth::Stores,
];
/// Ground truths that assign the refill after a flush to bad speculation.
const OF_RECOVERY: &[Truth] = &[Truth::FrontendSlots, Truth::BadSlots, Truth::FetchLatencySlots];

fn of(truth: Truth, run: &Evidence) -> f64 {
    run.truths.value(truth).unwrap_or(0.0)
}

/// Returns the fraction of one count in another.
fn share(part: PmuEvent, whole: PmuEvent, run: &Evidence) -> f64 {
    let whole = run.counts.value(whole) as f64;
    if whole == 0.0 { 0.0 } else { run.counts.value(part) as f64 / whole }
}

/// Returns the difference between lost slots, in cycles of five, and cycles in which all slots were
/// lost.
fn slots_less_cycles(event: PmuEvent, run: &Evidence) -> f64 {
    let slots = match event {
        STALL => STALL_SLOT,
        STALL_FRONTEND => STALL_SLOT_FRONTEND,
        STALL_BACKEND => STALL_SLOT_BACKEND,
        STALL_BACKEND_MEM => return MemoryCycles::of(run).in_part,
        _ => return 0.0,
    };
    let lost = run.counts.value(slots) as f64 / SLOTS_PER_CYCLE as f64;
    lost - run.counts.value(event) as f64
}

/// Difference between `STALL_BACKEND_MEM` and the slots lost to memory, in cycles of five slots.
struct MemoryCycles {
    /// Slots lost to memory in cycles that dispatched something: the excess over the cycles of the
    /// event, as far as partly used cycles can hold it.
    in_part: f64,
    /// Excess cycles of the event; negative if it has too few even with the other cycles.
    surplus: f64,
}

impl MemoryCycles {
    fn of(run: &Evidence) -> MemoryCycles {
        let each = SLOTS_PER_CYCLE as f64;
        let count = |event| run.counts.value(event) as f64;
        let in_part = (count(STALL_SLOT_BACKEND) / each - count(STALL_BACKEND)).max(0.0);
        let beyond = of(Truth::MemorySlots, run) / each - count(STALL_BACKEND_MEM);
        MemoryCycles {
            in_part: beyond.max(0.0).min(in_part),
            surplus: if beyond < 0.0 { -beyond } else { -(beyond - in_part).max(0.0) },
        }
    }
}

/// Removes the cycles with a pending miss that waited for something else.
fn without_pending(event: PmuEvent, run: &Evidence) -> f64 {
    if event == STALL_BACKEND_MEM { -MemoryCycles::of(run).surplus } else { 0.0 }
}

/// Moves the slots of the refill after a flush to the squashed operations.
fn recovered(event: PmuEvent, run: &Evidence) -> f64 {
    let slots = of(Truth::RecoverySlots, run);
    match event {
        STALL_SLOT | STALL_SLOT_FRONTEND => -slots,
        OP_SPEC => slots,
        _ => 0.0,
    }
}

fn without_wrong_paths(event: PmuEvent, run: &Evidence) -> f64 {
    match event {
        // While a fetch waits, its path is not known yet, so the truth includes wrong paths.
        L1I_CACHE | L1I_CACHE_REFILL | L1I_TLB | L1I_TLB_REFILL | ITLB_WALK => return 0.0,
        L2D_CACHE_REFILL | L2D_CACHE_REFILL_RD => return -run.l2.wrong_paths,
        L2D_CACHE_REFILL_WR => return 0.0,
        _ => {}
    }
    match event.info().unit {
        Unit::Cycle | Unit::Slot => 0.0,
        Unit::Event => run.retired.value(event) as f64 - run.counts.value(event) as f64,
    }
}

fn without_prefetches(event: PmuEvent, run: &Evidence) -> f64 {
    let prefetched = &run.prefetched;
    let in_l2 = |count: f64| if prefetched.is_counted_in_l2 { count } else { 0.0 };
    match event {
        L2D_CACHE_REFILL | L2D_CACHE_REFILL_RD => {
            -in_l2(prefetched.l2_lines) - prefetched.next_line_lines
        }
        L2D_CACHE | L2D_CACHE_RD => -in_l2(prefetched.l2_lookups) - prefetched.l1i_lines,
        LL_CACHE_RD | BUS_ACCESS_RD | BUS_ACCESS => -prefetched.l2_lines,
        L1I_CACHE_REFILL => -prefetched.l1i_lines,
        L1I_CACHE | L1I_TLB => -prefetched.l1i_lookups,
        L1D_TLB_REFILL | L1D_TLB_REFILL_RD | L2D_TLB | L2D_TLB_RD => -prefetched.tlb_misses,
        DTLB_WALK | L2D_TLB_REFILL | L2D_TLB_REFILL_RD => -prefetched.walks,
        _ => 0.0,
    }
}

fn with_prefetches(event: PmuEvent, run: &Evidence) -> f64 {
    let prefetched = &run.prefetched;
    match event {
        L2D_CACHE_REFILL | L2D_CACHE_REFILL_RD if !prefetched.is_counted_in_l2 => {
            prefetched.l2_lines
        }
        L1D_CACHE_REFILL | L1D_CACHE_REFILL_RD => prefetched.l1d_lines,
        _ => 0.0,
    }
}

/// Returns whether this truth, or a side of its ratio, is `part`.
fn has(truth: Truth, part: Truth) -> bool {
    truth == part || truth.quotient().is_some_and(|q| q.part == part || q.whole == part)
}

/// Removes the lines that were claimed without a read, which move no bytes.
fn without_claims(event: PmuEvent, run: &Evidence) -> f64 {
    match event {
        L2D_CACHE_REFILL => -run.l2.claimed,
        BUS_ACCESS | BUS_ACCESS_WR => -run.l2.claims_on_bus,
        _ => 0.0,
    }
}

fn without_streams(event: PmuEvent, run: &Evidence) -> f64 {
    match event {
        L2D_CACHE_REFILL => -run.l2.streamed,
        L2D_CACHE | L2D_CACHE_WR => -run.l2.streamed_writes,
        _ => 0.0,
    }
}

fn with_waiting(event: PmuEvent, run: &Evidence) -> f64 {
    let truth = |truth| run.truths.value(truth).unwrap_or(0.0);
    let of_data = truth(Truth::L1dMisses) - truth(Truth::L1dRefills);
    let own = |counts: &Counts, event| counts.value(event) as f64 + without_prefetches(event, run);
    let of_code = truth(Truth::L1iMisses) - own(&run.counts, L1I_CACHE_REFILL);
    match event {
        L1D_CACHE_REFILL | L1D_CACHE_REFILL_RD => of_data,
        L2D_CACHE | L2D_CACHE_RD => of_data + of_code,
        L1I_CACHE_REFILL => of_code,
        L2D_CACHE_REFILL | L2D_CACHE_REFILL_RD => run.l2.waits,
        L1D_TLB_REFILL | L1D_TLB_REFILL_RD => {
            (truth(Truth::DtlbMisses) - own(&run.retired, L1D_TLB_REFILL)).max(0.0)
        }
        _ => 0.0,
    }
}

fn one_each(event: PmuEvent, run: &Evidence) -> f64 {
    let whole = match event {
        L1D_CACHE | L1D_CACHE_RD | L1D_CACHE_WR => L1D_CACHE,
        L1D_TLB | L1D_TLB_RD | L1D_TLB_WR => L1D_TLB,
        MEM_ACCESS | MEM_ACCESS_RD | MEM_ACCESS_WR => MEM_ACCESS,
        _ => return 0.0,
    };
    let parts = run.retired.value(whole) as f64;
    let accesses = run.truths.value(Truth::L1dAccesses).unwrap_or(0.0);
    if parts == 0.0 { 0.0 } else { run.counts.value(event) as f64 * (accesses / parts - 1.0) }
}

fn is_of_data(truth: Truth) -> bool {
    use Truth::{
        DtlbWalkPki, DtlbWalkRatio, L2DataAccesses, L2DataMissRatio, L2DataMisses, L2DataMpki,
        L2TlbDataAccesses, L2TlbDataMissRatio, L2TlbDataMisses, L2TlbDataMpki,
    };
    matches!(
        truth,
        L2TlbDataAccesses
            | L2TlbDataMisses
            | L2TlbDataMissRatio
            | L2TlbDataMpki
            | L2DataAccesses
            | L2DataMisses
            | L2DataMissRatio
            | L2DataMpki
            | DtlbWalkPki
            | DtlbWalkRatio
    )
}

fn without_code(event: PmuEvent, run: &Evidence) -> f64 {
    let count = |event| run.counts.value(event) as f64;
    match event {
        L2D_TLB | L2D_TLB_RD => -count(L1I_TLB_REFILL),
        L2D_TLB_REFILL | L2D_TLB_REFILL_RD => -count(ITLB_WALK),
        L2D_CACHE | L2D_CACHE_RD => -count(L1I_CACHE_REFILL),
        L2D_CACHE_REFILL | L2D_CACHE_REFILL_RD => -run.prefetched.fetch_lines,
        _ => 0.0,
    }
}

impl Case<'_> {
    /// Returns the value, in the unit of the truth.
    pub(super) fn value(&self) -> f64 {
        self.without(&[])
    }

    /// Evaluates the formula on exact counts.
    pub(super) fn evaluation(&self) -> Evaluation {
        let table = |event| self.evidence.count(event, self.patch);
        self.evidence.evaluate(self.formula, self.patch, table)
    }

    /// Returns the value on another revision.
    pub(super) fn value_at(&self, patch: u8) -> f64 {
        let table = |event| self.evidence.count(event, patch);
        self.of(self.evidence.evaluate(self.formula, patch, table).value)
    }

    /// Converts a value of the formula to the unit of the truth, or to what it leaves of the whole.
    fn of(&self, value: f64) -> f64 {
        let value = self.factor * value;
        if self.is_rest { 1.0 - value } else { value }
    }

    /// Returns the value of this revision's formula with the counts of another revision.
    pub(super) fn fed_with(&self, patch: u8) -> f64 {
        let table = |event| self.evidence.count(event, patch);
        self.of(self.evidence.evaluate(self.formula, self.patch, table).value)
    }

    /// Returns the value without these counting biases.
    pub(super) fn without(&self, biases: &[CountingBias]) -> f64 {
        let (run, truth) = (self.evidence, self.truth);
        let table = |event| {
            let deltas: f64 = biases.iter().map(|bias| bias.delta(event, truth, run)).sum();
            (run.count(event, self.patch) + deltas).max(0.0)
        };
        self.of(run.evaluate(self.formula, self.patch, table).value)
    }

    /// Returns the value with the counts of some events multiplied.
    pub(super) fn with_scaled(&self, scaled: &[PmuEvent], times: f64) -> f64 {
        let table = |event: PmuEvent| {
            let count = self.evidence.count(event, self.patch);
            if scaled.contains(&event) { count * times } else { count }
        };
        self.of(self.evidence.evaluate(self.formula, self.patch, table).value)
    }

    /// Returns the counting biases that explain the difference to `real`, greatest first, and the
    /// remaining difference. They are the smallest set that leaves nothing. Biases may compensate
    /// each other, so that none of them alone reduces the difference.
    pub(super) fn biases(&self, real: f64, tolerance: f64) -> (Vec<Finding>, f64) {
        let possible = CountingBias::ALL.into_iter().filter(|bias| bias.concerns(self.truth));
        let possible: Vec<CountingBias> = possible.collect();
        let without = |set: &[CountingBias]| self.without(set);
        let (found, left) = explanation::explain(&possible, without, real, tolerance);
        let finding = |(bias, shift): (CountingBias, f64)| Finding {
            reason: bias.reason(),
            shift: Some(shift),
        };
        (found.into_iter().map(finding).collect(), left)
    }
}
