//! Lookups and misses of caches and TLBs, and what prefetchers did. PMU guide 4.1 to 4.5.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::PmuEvent::*;
use sim_core::{Counts, PmuEvent};
use sim_machine::PrefetchCounts;

use super::observed::Observed;
use super::ratio::{over, some_percent};

/// A count with the event that shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamedCount {
    /// Mnemonic of the event.
    pub event: String,
    /// Its count.
    pub count: u64,
}

/// Lookups of one structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LookupRow {
    /// The structure: `L1D`, `L2 TLB`.
    pub structure: String,
    /// Which lookups: `all`, `read`, `write`.
    pub kind: String,
    /// Its size, for people: `64 KiB, 4-way` or `40 entries`.
    pub size: String,
    /// Lookups.
    pub accesses: NamedCount,
    /// Refills, or what else counts as a miss there.
    pub misses: NamedCount,
    /// Misses of all lookups in percent; absent without lookups, and for reads and writes of the L2, whose
    /// refills all count as reads.
    pub miss_percent: Option<f64>,
    /// Misses for each 1000 retired instructions.
    pub mpki: Option<f64>,
}

/// What became of the lines that one prefetcher brought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrefetcherRow {
    /// Which one: `l1d`, `l1i`, `l2`.
    pub prefetcher: String,
    /// Lines asked for.
    pub issued: u64,
    /// Used after they had come.
    pub useful: u64,
    /// Asked for by the program while they were on their way.
    pub late: u64,
    /// Lost without a use.
    pub useless: u64,
    /// Misses that it did not preset_wrong_path.
    pub missed: u64,
    /// Used of all whose end is known, in percent.
    pub accuracy_percent: Option<f64>,
    /// Used of all that would have missed, in percent.
    pub coverage_percent: Option<f64>,
}

impl LookupRow {
    /// The caches, the nearest first.
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

    /// The TLBs; a table walk is a miss of all of them.
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
            // By the guide the L2's refills for stores count as reads: a ratio of one kind says nothing.
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

/// Bytes in the largest unit that divides them.
pub(super) fn binary(bytes: u64) -> String {
    match bytes {
        0 => String::from("0 bytes"),
        _ if bytes.is_multiple_of(1 << 30) => format!("{} GiB", bytes >> 30),
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}
