//! Tables with an error, made from the counts of a committed trace.

use sim_core::pmu_event::PmuEvent::{self, *};

use super::Values;

/// A table that was changed as an error in practice would change it.
pub(super) struct Falsified {
    /// The error.
    pub(super) error: &'static str,
    /// Trace that was counted.
    trace: &'static str,
    /// Counted events; no more than six of a core's counters and the cycle counter.
    events: &'static [PmuEvent],
    change: fn(&mut Values, &[(String, Values)]),
    /// Inequality that the table violates; for a table inside, the reason why nothing refutes it.
    pub(super) inequality: &'static str,
}

impl Falsified {
    /// Returns the changed counts of the events.
    pub(super) fn values(&self, real: &[(String, Values)]) -> Values {
        let (_, own) = real.iter().find(|(name, _)| name == self.trace).expect("a committed trace");
        let mut values = own.clone();
        values.retain(|event, _| self.events.contains(event));
        (self.change)(&mut values, real);
        values
    }
}

fn swap(values: &mut Values, one: PmuEvent, other: PmuEvent) {
    let (first, second) = (values[&one], values[&other]);
    values.insert(one, second);
    values.insert(other, first);
}

fn copy(values: &mut Values, event: PmuEvent, other: PmuEvent) {
    values.insert(event, values[&other]);
}

fn times(values: &mut Values, event: PmuEvent, times: u64) {
    values.insert(event, values[&event] * times);
}

fn divide(values: &mut Values, event: PmuEvent, parts: u64) {
    values.insert(event, values[&event] / parts);
}

fn add(values: &mut Values, event: PmuEvent, other: PmuEvent) {
    values.insert(event, values[&event] + values[&other]);
}

fn take(values: &mut Values, event: PmuEvent, other: PmuEvent) {
    values.insert(event, values[&event] - values[&other]);
}

fn set(values: &mut Values, events: &[PmuEvent], count: u64) {
    values.extend(events.iter().map(|event| (*event, count)));
}

fn double(values: &mut Values) {
    values.values_mut().for_each(|count| *count *= 2);
}

fn of_other(values: &mut Values, real: &[(String, Values)], trace: &str, event: PmuEvent) {
    let (_, other) = real.iter().find(|(name, _)| name == trace).expect("a committed trace");
    values.insert(event, other[&event]);
}

/// Errors that the space finds.
pub(super) const OUTSIDE: &[Falsified] = &[
    Falsified {
        error: "two columns of a spreadsheet are swapped: lookups and refills",
        trace: "hash",
        events: &[L1D_CACHE_RD, L1D_CACHE_REFILL_RD, L2D_CACHE_RD],
        change: |values, _| swap(values, L1D_CACHE_RD, L1D_CACHE_REFILL_RD),
        inequality: "L1D_CACHE_REFILL_RD <= L1D_CACHE_RD",
    },
    Falsified {
        error: "two columns are swapped: refills of the L1 I-cache and reads of the L2",
        trace: "btree",
        events: &[L1I_CACHE_REFILL, L1D_CACHE_REFILL_RD, L2D_CACHE_RD],
        change: |values, _| swap(values, L1I_CACHE_REFILL, L2D_CACHE_RD),
        inequality: "L1D_CACHE_REFILL_RD <= L2D_CACHE_RD",
    },
    Falsified {
        error: "a refill is counted twice, at its request and at its data",
        trace: "hash",
        events: &[L1D_CACHE_RD, L1D_CACHE_REFILL_RD, L2D_CACHE_RD],
        change: |values, _| times(values, L1D_CACHE_REFILL_RD, 2),
        inequality: "L1D_CACHE_REFILL_RD <= L2D_CACHE_RD",
    },
    Falsified {
        error: "prefetches count as demand refills",
        trace: "aes_sha",
        events: &[L1D_CACHE_RD, L1D_CACHE_REFILL_RD, L1I_CACHE_REFILL, L2D_CACHE_RD],
        change: |values, _| add(values, L1D_CACHE_REFILL_RD, L2D_CACHE_RD),
        inequality: "L1D_CACHE_REFILL_RD <= L2D_CACHE_RD",
    },
    Falsified {
        error: "table walks are not counted",
        trace: "chase",
        events: &[L2D_TLB_REFILL, L2D_TLB, DTLB_WALK, ITLB_WALK],
        change: |values, _| set(values, &[DTLB_WALK, ITLB_WALK], 0),
        inequality: "L2D_TLB_REFILL <= 3 x DTLB_WALK + 3 x ITLB_WALK",
    },
    Falsified {
        error: "one counter is stuck at 0: walks of the data side",
        trace: "chase",
        events: &[L2D_TLB_REFILL_WR, DTLB_WALK],
        change: |values, _| set(values, &[DTLB_WALK], 0),
        inequality: "L2D_TLB_REFILL_WR <= 3 x DTLB_WALK",
    },
    Falsified {
        error: "one counter is stuck at 0: reads of the L2 TLB",
        trace: "hash",
        events: &[L1D_TLB_RD, L1D_TLB_REFILL_RD, L2D_TLB_RD],
        change: |values, _| set(values, &[L2D_TLB_RD], 0),
        inequality: "L1D_TLB_REFILL_RD <= L2D_TLB_RD",
    },
    Falsified {
        error: "the L2 TLB counts the data side only",
        trace: "system",
        events: &[L1D_TLB_REFILL_RD, L1I_TLB_REFILL, L2D_TLB_RD],
        change: |values, _| take(values, L2D_TLB_RD, L1I_TLB_REFILL),
        inequality: "L1I_TLB_REFILL <= L2D_TLB_RD",
    },
    Falsified {
        error: "loads and stores are swapped in one unit only",
        trace: "interp",
        events: &[L1D_TLB_RD, L1D_TLB_WR, MEM_ACCESS_RD, MEM_ACCESS_WR],
        change: |values, _| swap(values, L1D_TLB_RD, L1D_TLB_WR),
        inequality: "L1D_TLB_WR <= MEM_ACCESS_WR",
    },
    Falsified {
        error: "accesses are counted once for each pair of registers",
        trace: "matrix",
        events: &[MEM_ACCESS_RD, L1D_TLB_RD, L1D_CACHE_RD],
        change: |values, _| divide(values, MEM_ACCESS_RD, 2),
        inequality: "L1D_TLB_RD <= MEM_ACCESS_RD",
    },
    Falsified {
        error: "write-backs are not seen by the L2",
        trace: "matrix",
        events: &[L1D_CACHE_WB_VICTIM, L2D_CACHE_WR],
        change: |values, _| set(values, &[L2D_CACHE_WR], 0),
        inequality: "L1D_CACHE_WB_VICTIM <= L2D_CACHE_WR",
    },
    Falsified {
        error: "a write-back is counted for each of its beats",
        trace: "chase",
        events: &[L1D_CACHE_WB_VICTIM, L2D_CACHE_WR, L1D_CACHE_REFILL_WR],
        change: |values, _| times(values, L1D_CACHE_WB_VICTIM, 4),
        inequality: "L1D_CACHE_WB_VICTIM <= L2D_CACHE_WR",
    },
    Falsified {
        error: "wrong unit: refills of the L2 in bytes",
        trace: "btree",
        events: &[L2D_CACHE_RD, L2D_CACHE_WR, L2D_CACHE_REFILL_RD],
        change: |values, _| times(values, L2D_CACHE_REFILL_RD, 64),
        inequality: "L2D_CACHE_REFILL_RD <= L2D_CACHE_RD + L2D_CACHE_WR",
    },
    Falsified {
        error: "evictions are missing on the bus",
        trace: "chase",
        events: &[L2D_CACHE_WB_VICTIM, BUS_ACCESS_RD, BUS_ACCESS_WR],
        change: |values, _| set(values, &[BUS_ACCESS_WR], 0),
        inequality: "L2D_CACHE_WB_VICTIM <= BUS_ACCESS_WR",
    },
    Falsified {
        error: "wrong unit: bus accesses in thousands",
        trace: "chase",
        events: &[BUS_ACCESS, L2D_CACHE_REFILL_RD, L2D_CACHE_WB_VICTIM],
        change: |values, _| divide(values, BUS_ACCESS, 1000),
        inequality: "L2D_CACHE_WB_VICTIM <= BUS_ACCESS",
    },
    Falsified {
        error: "victims of the L2 are counted twice",
        trace: "chase",
        events: &[L2D_CACHE_REFILL_RD, L2D_CACHE_WB_VICTIM, BUS_ACCESS_RD, BUS_ACCESS_WR],
        change: |values, _| times(values, L2D_CACHE_WB_VICTIM, 2),
        inequality: "L2D_CACHE_WB_VICTIM <= BUS_ACCESS_WR",
    },
    Falsified {
        error: "data of the L2 counts as data from outside, too",
        trace: "hash",
        events: &[
            L1D_CACHE_REFILL_RD,
            L1D_CACHE_REFILL_WR,
            L1D_CACHE_REFILL_OUTER,
            L1D_CACHE_REFILL_INNER,
        ],
        change: |values, _| add(values, L1D_CACHE_REFILL_OUTER, L1D_CACHE_REFILL_INNER),
        inequality: "L1D_CACHE_REFILL_RD + L1D_CACHE_REFILL_WR = L1D_CACHE_REFILL_INNER + L1D_CACHE_REFILL_OUTER",
    },
    Falsified {
        error: "prefetches count as refills from the L2",
        trace: "matrix",
        events: &[L1D_CACHE_REFILL, L1D_CACHE_REFILL_INNER, L1D_CACHE_REFILL_OUTER],
        change: |values, _| times(values, L1D_CACHE_REFILL_INNER, 2),
        inequality: "L1D_CACHE_REFILL_INNER <= L1D_CACHE_REFILL",
    },
    Falsified {
        error: "lookups of the micro-operation cache count as lookups of the L1 I-cache",
        trace: "search",
        events: &[L1I_TLB, L1I_CACHE, L1I_CACHE_REFILL],
        change: |values, _| times(values, L1I_CACHE, 2),
        inequality: "L1I_CACHE <= L1I_TLB",
    },
    Falsified {
        error: "two event numbers are swapped: walks of the data and of the instruction side",
        trace: "chase",
        events: &[DTLB_WALK, ITLB_WALK, L2D_TLB_RD, L1D_TLB_REFILL_RD],
        change: |values, _| swap(values, DTLB_WALK, ITLB_WALK),
        inequality: "ITLB_WALK <= L2D_TLB_RD",
    },
    Falsified {
        error: "two event numbers are swapped: L1 TLB refills of loads and of stores",
        trace: "hash",
        events: &[L1D_TLB_REFILL_RD, L1D_TLB_REFILL_WR, L2D_TLB_RD, L2D_TLB_WR],
        change: |values, _| swap(values, L1D_TLB_REFILL_RD, L1D_TLB_REFILL_WR),
        inequality: "L1D_TLB_REFILL_WR <= L2D_TLB_WR",
    },
    Falsified {
        error: "the L2 was counted in the run of another program",
        trace: "hash",
        events: &[L1D_CACHE_REFILL_RD, L1I_CACHE_REFILL, L2D_CACHE_RD, BUS_ACCESS_RD],
        change: |values, real| of_other(values, real, "sort", L2D_CACHE_RD),
        inequality: "L1D_CACHE_REFILL_RD <= L2D_CACHE_RD",
    },
    Falsified {
        error: "the L1 was counted on two cores and the L2 on one",
        trace: "hash",
        events: &[L1D_CACHE_REFILL, L1I_CACHE_REFILL, L2D_CACHE],
        change: |values, _| times(values, L1D_CACHE_REFILL, 2),
        inequality: "L1D_CACHE_REFILL <= L2D_CACHE",
    },
    Falsified {
        error: "cycles of a clock of half the speed",
        trace: "lz",
        events: &[CPU_CYCLES, OP_SPEC, STALL_SLOT_FRONTEND, STALL_SLOT_BACKEND],
        change: |values, _| divide(values, CPU_CYCLES, 2),
        inequality: "OP_SPEC <= 5 x CPU_CYCLES",
    },
    Falsified {
        error: "the erratum of r0p0 to r0p2: STALL_SLOT_FRONTEND has a slot too many in each cycle",
        trace: "lz",
        events: &[CPU_CYCLES, OP_SPEC, STALL_SLOT_FRONTEND, STALL_SLOT_BACKEND],
        change: |values, _| add(values, STALL_SLOT_FRONTEND, CPU_CYCLES),
        inequality: "OP_SPEC + STALL_SLOT_FRONTEND <= 5 x CPU_CYCLES",
    },
    Falsified {
        error: "two columns are swapped: predicted and retired mispredicted branches",
        trace: "sort",
        events: &[BR_MIS_PRED_RETIRED, BR_PRED, BR_RETIRED],
        change: |values, _| swap(values, BR_MIS_PRED_RETIRED, BR_PRED),
        inequality: "BR_MIS_PRED_RETIRED <= BR_PRED",
    },
    Falsified {
        error: "long-latency misses count every wait for a line",
        trace: "hash",
        events: &[L1D_CACHE_RD, L1D_CACHE_LMISS_RD, INST_RETIRED],
        change: |values, _| times(values, L1D_CACHE_LMISS_RD, 10),
        inequality: "L1D_CACHE_LMISS_RD <= L1D_CACHE_RD",
    },
    Falsified {
        error: "wrong unit: lookups of the L1 D-cache in bytes",
        trace: "sort",
        events: &[L1D_CACHE, L1D_TLB, INST_RETIRED],
        change: |values, _| times(values, L1D_CACHE, 8),
        inequality: "L1D_CACHE <= 2 x L1D_TLB",
    },
    Falsified {
        error: "the counter of L2D_CACHE was programmed with L2D_CACHE_REFILL",
        trace: "hash",
        events: &[L1D_CACHE_REFILL, L1I_CACHE_REFILL, L2D_CACHE, L2D_CACHE_REFILL],
        change: |values, _| copy(values, L2D_CACHE, L2D_CACHE_REFILL),
        inequality: "L1D_CACHE_REFILL <= L2D_CACHE",
    },
    Falsified {
        error: "wrong unit: last-level misses in bytes",
        trace: "chase",
        events: &[BUS_ACCESS, LL_CACHE_MISS_RD],
        change: |values, _| times(values, LL_CACHE_MISS_RD, 64),
        inequality: "LL_CACHE_MISS_RD <= BUS_ACCESS",
    },
];

/// Errors that leave possible counts.
pub(super) const INSIDE: &[Falsified] = &[
    Falsified {
        error: "every counter runs twice: all counts are doubled",
        trace: "hash",
        events: &[L1D_CACHE_RD, L1D_CACHE_REFILL_RD, L2D_CACHE_RD, BUS_ACCESS_RD],
        change: |values, _| double(values),
        inequality: "a sum of possible counts is possible",
    },
    Falsified {
        error: "the L2 counts its reads twice",
        trace: "hash",
        events: &[L1D_CACHE_REFILL_RD, L1I_CACHE_REFILL, L2D_CACHE_RD],
        change: |values, _| times(values, L2D_CACHE_RD, 2),
        inequality: "prefetches and walks may read it, too",
    },
    Falsified {
        error: "the bus counts beats",
        trace: "btree",
        events: &[L2D_CACHE_REFILL_RD, BUS_ACCESS_RD, BUS_ACCESS_WR],
        change: |values, _| times(values, BUS_ACCESS_RD, 2),
        inequality: "a reading of the guide",
    },
    Falsified {
        error: "half of the walks are missing",
        trace: "chase",
        events: &[L2D_TLB_REFILL, L2D_TLB, DTLB_WALK, ITLB_WALK],
        change: |values, _| divide(values, DTLB_WALK, 2),
        inequality: "a walk may refill three entries (A14)",
    },
    Falsified {
        error: "half of the refills are missing",
        trace: "hash",
        events: &[L1D_CACHE_RD, L1D_CACHE_REFILL_RD, L2D_CACHE_RD],
        change: |values, _| divide(values, L1D_CACHE_REFILL_RD, 2),
        inequality: "fewer misses are possible",
    },
    Falsified {
        error: "loads that were squashed are missing",
        trace: "btree",
        events: &[LD_SPEC, MEM_ACCESS_RD, L1D_CACHE_RD],
        change: |values, _| divide(values, LD_SPEC, 2),
        inequality: "an instruction may access more than once (A11)",
    },
];
