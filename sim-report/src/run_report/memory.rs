//! Lookups and misses of caches and TLBs, and the outcome of prefetches. PMU guide 4.1 to 4.5.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::PmuEvent::*;
use sim_core::{Counts, PmuEvent};
use sim_machine::PrefetchCounts;

use super::observed::Observed;
use super::ratio::{over, some_percent};

/// Count with its event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamedCount {
    /// Mnemonic of the event.
    pub event: String,
    /// Count.
    pub count: u64,
}

/// Lookups of one structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LookupRow {
    /// Structure: `L1D`, `L2 TLB`.
    pub structure: String,
    /// Kind of lookups: `all`, `read`, `write`.
    pub kind: String,
    /// Size in readable form: `64 KiB, 4-way` or `40 entries`.
    pub size: String,
    /// Lookups.
    pub accesses: NamedCount,
    /// Refills, or the event that counts the misses of the structure.
    pub misses: NamedCount,
    /// Share of misses in the lookups, in percent. Absent without lookups, and for reads and writes
    /// of the L2, whose refills all count as reads.
    pub miss_percent: Option<f64>,
    /// Misses per 1000 retired instructions.
    pub mpki: Option<f64>,
}

/// Outcome of the lines of one prefetcher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrefetcherRow {
    /// Prefetcher: `l1d`, `l1i`, `l2`.
    pub prefetcher: String,
    /// Issued lines.
    pub issued: u64,
    /// Lines used after their refill.
    pub useful: u64,
    /// Lines that the program requested while they were pending.
    pub late: u64,
    /// Lines evicted without a use.
    pub useless: u64,
    /// Uncovered misses.
    pub missed: u64,
    /// Used share of the lines with a known outcome, in percent.
    pub accuracy_percent: Option<f64>,
    /// Prefetched share of the lines that would have missed, in percent.
    pub coverage_percent: Option<f64>,
}

impl LookupRow {
    /// Returns the caches, the nearest first.
    pub(super) fn caches(observed: &Observed<'_>) -> Vec<LookupRow> {
        let memory = &observed.session.config().memory;
        let cache = |bytes, ways| format!("{}, {ways}-way", binary(bytes));
        let l1d = cache(memory.l1d.size_bytes, memory.l1d.ways);
        let l2 = cache(memory.l2.line_bytes(), memory.l2.line_ways());
        let slc = memory.slc.slice_bytes.saturating_mul(memory.slc.slices.into());
        let (l1i, slc) = (
            cache(memory.l1i.size_bytes, memory.l1i.ways),
            format!("{} of the mesh", cache(slc, memory.slc.ways)),
        );
        let rows: [(&str, &str, &str, PmuEvent, PmuEvent); 8] = [
            ("L1D", "all", &l1d, L1D_CACHE, L1D_CACHE_REFILL),
            ("L1D", "read", &l1d, L1D_CACHE_RD, L1D_CACHE_REFILL_RD),
            ("L1D", "write", &l1d, L1D_CACHE_WR, L1D_CACHE_REFILL_WR),
            ("L1I", "all", &l1i, L1I_CACHE, L1I_CACHE_REFILL),
            ("L2", "all", &l2, L2D_CACHE, L2D_CACHE_REFILL),
            ("L2", "read", &l2, L2D_CACHE_RD, L2D_CACHE_REFILL_RD),
            ("L2", "write", &l2, L2D_CACHE_WR, L2D_CACHE_REFILL_WR),
            ("system level cache", "read", &slc, LL_CACHE_RD, LL_CACHE_MISS_RD),
        ];
        LookupRow::rows(observed, &rows)
    }

    /// Returns the TLBs; a table walk is a miss of all of them.
    pub(super) fn tlbs(observed: &Observed<'_>) -> Vec<LookupRow> {
        let memory = &observed.session.config().memory;
        let entries = |count: u32| format!("{count} entries");
        let (dtlb, itlb) = (entries(memory.dtlb.entries), entries(memory.itlb.entries));
        let l2 = format!("{} entries, {}-way", memory.l2_tlb.entries, memory.l2_tlb.ways);
        let rows: [(&str, &str, &str, PmuEvent, PmuEvent); 9] = [
            ("L1 data TLB", "all", &dtlb, L1D_TLB, L1D_TLB_REFILL),
            ("L1 data TLB", "read", &dtlb, L1D_TLB_RD, L1D_TLB_REFILL_RD),
            ("L1 data TLB", "write", &dtlb, L1D_TLB_WR, L1D_TLB_REFILL_WR),
            ("L1 instruction TLB", "all", &itlb, L1I_TLB, L1I_TLB_REFILL),
            ("L2 TLB", "all", &l2, L2D_TLB, L2D_TLB_REFILL),
            ("L2 TLB", "read", &l2, L2D_TLB_RD, L2D_TLB_REFILL_RD),
            ("L2 TLB", "write", &l2, L2D_TLB_WR, L2D_TLB_REFILL_WR),
            ("table walks", "data", "", L1D_TLB, DTLB_WALK),
            ("table walks", "instruction", "", L1I_TLB, ITLB_WALK),
        ];
        LookupRow::rows(observed, &rows)
    }

    fn rows(
        observed: &Observed<'_>,
        rows: &[(&str, &str, &str, PmuEvent, PmuEvent)],
    ) -> Vec<LookupRow> {
        let counts = observed.outcome.total();
        let instructions = counts.value(INST_RETIRED);
        let row = |&(structure, kind, size, accesses, misses): &(&str, &str, &str, _, _)| {
            let (accesses, misses) =
                (NamedCount::of(accesses, &counts), NamedCount::of(misses, &counts));
            // By the guide, L2 refills for stores count as reads, so a ratio of one kind is
            // meaningless.
            let is_mixed = structure == "L2" && kind != "all";
            let percent = some_percent(misses.count, accesses.count);
            LookupRow {
                structure: structure.to_owned(),
                kind: kind.to_owned(),
                size: size.to_owned(),
                miss_percent: percent.filter(|_| !is_mixed),
                mpki: over(misses.count, instructions, 1000.0),
                accesses,
                misses,
            }
        };
        rows.iter().map(row).collect()
    }
}

impl NamedCount {
    pub(super) fn of(event: PmuEvent, counts: &Counts) -> NamedCount {
        NamedCount { event: event.mnemonic().to_owned(), count: counts.value(event) }
    }
}

impl PrefetcherRow {
    pub(super) fn all(observed: &Observed<'_>) -> Vec<PrefetcherRow> {
        let row = |(name, counts): (&str, PrefetchCounts)| PrefetcherRow {
            prefetcher: name.to_owned(),
            issued: counts.issued,
            useful: counts.useful,
            late: counts.late,
            useless: counts.useless,
            missed: counts.missed,
            accuracy_percent: counts.accuracy().map(|share| share * 100.0),
            coverage_percent: counts.coverage().map(|share| share * 100.0),
        };
        observed.outcome.prefetches().named().into_iter().map(row).collect()
    }
}

/// Formats bytes in the largest unit that divides them.
pub(super) fn binary(bytes: u64) -> String {
    match bytes {
        0 => String::from("0 bytes"),
        _ if bytes.is_multiple_of(1 << 30) => format!("{} GiB", bytes >> 30),
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}
