//! Built-in ratios: those that `perf stat` prints after a count, and some more.
//!
//! A metric is data: one event over another. The text of its formula is derived from the same terms
//! that compute the value, so the two cannot differ.

use sim_core::PmuEvent;
use sim_core::PmuEvent::*;

use crate::identities::SLOTS_PER_CYCLE;

/// Unit of a metric's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Plain ratio.
    Ratio,
    /// Percentage.
    Percent,
}

/// Built-in ratio of event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Name on the command line.
    pub name: &'static str,
    /// Words after the number, as `perf stat` prints them.
    pub label: &'static str,
    /// Unit of the value.
    pub unit: Unit,
    /// Numerator; the metric is printed next to its count.
    pub numerator: PmuEvent,
    /// Denominator.
    pub denominator: PmuEvent,
    /// Units of the numerator per unit of the denominator: 5 slots per cycle.
    pub weight: u64,
}

const fn ratio(name: &'static str, label: &'static str, n: PmuEvent, d: PmuEvent) -> Metric {
    Metric { name, label, unit: Unit::Ratio, numerator: n, denominator: d, weight: 1 }
}

const fn percent(name: &'static str, label: &'static str, n: PmuEvent, d: PmuEvent) -> Metric {
    Metric { name, label, unit: Unit::Percent, numerator: n, denominator: d, weight: 1 }
}

const fn slots(name: &'static str, label: &'static str, n: PmuEvent) -> Metric {
    let weight = SLOTS_PER_CYCLE;
    Metric { name, label, unit: Unit::Percent, numerator: n, denominator: CPU_CYCLES, weight }
}

/// Every built-in metric. An event has at most one, which is the comment after its count.
pub const ALL: &[Metric] = &[
    ratio("ipc", "insn per cycle", INST_RETIRED, CPU_CYCLES),
    percent("branch_miss_ratio", "of all branches", BR_MIS_PRED, BR_PRED),
    percent(
        "branch_retired_miss_ratio",
        "of all retired branches",
        BR_MIS_PRED_RETIRED,
        BR_RETIRED,
    ),
    percent("l1d_cache_miss_ratio", "of all L1-dcache accesses", L1D_CACHE_REFILL, L1D_CACHE),
    percent("l1d_read_miss_ratio", "of all L1-dcache reads", L1D_CACHE_REFILL_RD, L1D_CACHE_RD),
    percent("l1d_write_miss_ratio", "of all L1-dcache writes", L1D_CACHE_REFILL_WR, L1D_CACHE_WR),
    percent("l1i_cache_miss_ratio", "of all L1-icache accesses", L1I_CACHE_REFILL, L1I_CACHE),
    percent("l2_cache_miss_ratio", "of all L2 cache accesses", L2D_CACHE_REFILL, L2D_CACHE),
    percent("ll_cache_read_miss_ratio", "of all LL-cache reads", LL_CACHE_MISS_RD, LL_CACHE_RD),
    percent("l1d_tlb_miss_ratio", "of all L1-dTLB accesses", L1D_TLB_REFILL, L1D_TLB),
    percent("l1i_tlb_miss_ratio", "of all L1-iTLB accesses", L1I_TLB_REFILL, L1I_TLB),
    percent("l2_tlb_miss_ratio", "of all L2 TLB accesses", L2D_TLB_REFILL, L2D_TLB),
    percent("dtlb_walk_ratio", "of all L1-dTLB accesses", DTLB_WALK, L1D_TLB),
    percent("itlb_walk_ratio", "of all L1-iTLB accesses", ITLB_WALK, L1I_TLB),
    percent("frontend_stalled_cycles", "frontend cycles idle", STALL_FRONTEND, CPU_CYCLES),
    percent("backend_stalled_cycles", "backend cycles idle", STALL_BACKEND, CPU_CYCLES),
    percent(
        "backend_mem_stalled_cycles",
        "cycles waiting for memory",
        STALL_BACKEND_MEM,
        CPU_CYCLES,
    ),
    percent("stalled_cycles", "cycles idle", STALL, CPU_CYCLES),
    slots("stalled_slots", "of all slots", STALL_SLOT),
    slots("frontend_stalled_slots", "of all slots", STALL_SLOT_FRONTEND),
    slots("backend_stalled_slots", "of all slots", STALL_SLOT_BACKEND),
    slots("used_slots", "of all slots", OP_SPEC),
    percent("retired_ops", "of all operations", OP_RETIRED, OP_SPEC),
    ratio("spec_per_retired", "per retired instruction", INST_SPEC, INST_RETIRED),
    percent("load_share", "of all instructions", LD_SPEC, INST_SPEC),
    percent("store_share", "of all instructions", ST_SPEC, INST_SPEC),
    percent("integer_share", "of all instructions", DP_SPEC, INST_SPEC),
    percent("simd_share", "of all instructions", ASE_SPEC, INST_SPEC),
    percent("fp_share", "of all instructions", VFP_SPEC, INST_SPEC),
    percent("crypto_share", "of all instructions", CRYPTO_SPEC, INST_SPEC),
    percent("unaligned_share", "of all accesses", UNALIGNED_LDST_SPEC, MEM_ACCESS),
];

impl Metric {
    /// Returns the metric that is printed next to the count of `event`.
    pub fn beside(event: PmuEvent) -> Option<&'static Metric> {
        ALL.iter().find(|metric| metric.numerator == event)
    }

    /// Returns the value over one window, or `None` if an event was not counted or the divisor is
    /// 0.
    ///
    /// With `has_stall_slot_erratum` (revisions r0p0 to r0p2) the surplus slot of each cycle is
    /// subtracted first, as in Arm's own formulas.
    pub fn value(
        &self,
        count: impl Fn(PmuEvent) -> Option<u64>,
        has_stall_slot_erratum: bool,
    ) -> Option<f64> {
        let mut numerator = count(self.numerator)? as f64;
        if has_stall_slot_erratum && self.has_surplus() {
            numerator -= count(CPU_CYCLES)? as f64;
        }
        let denominator = (count(self.denominator)? * self.weight) as f64;
        (denominator > 0.0).then(|| numerator / denominator * self.unit.scale())
    }

    /// Returns the formula as text.
    pub fn formula(&self, has_stall_slot_erratum: bool) -> String {
        let numerator = match has_stall_slot_erratum && self.has_surplus() {
            true => format!("({} - CPU_CYCLES)", self.numerator.mnemonic()),
            false => self.numerator.mnemonic().to_owned(),
        };
        let denominator = match self.weight {
            1 => self.denominator.mnemonic().to_owned(),
            n => format!("({n} x {})", self.denominator.mnemonic()),
        };
        match self.unit {
            Unit::Ratio => format!("{numerator} / {denominator}"),
            unit => format!("{} x {numerator} / {denominator}", unit.scale()),
        }
    }

    /// Returns whether the erratum adds one slot per cycle to the numerator.
    fn has_surplus(&self) -> bool {
        matches!(self.numerator, STALL_SLOT | STALL_SLOT_FRONTEND)
    }
}

impl Unit {
    fn scale(self) -> f64 {
        match self {
            Unit::Ratio => 1.0,
            Unit::Percent => 100.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn counts(event: PmuEvent) -> Option<u64> {
        match event {
            CPU_CYCLES => Some(51),
            STALL_SLOT => Some(295),
            OP_SPEC => Some(11),
            INST_RETIRED => Some(8),
            L1D_CACHE => Some(0),
            L1D_CACHE_REFILL => Some(0),
            _ => None,
        }
    }

    fn metric(name: &str) -> &'static Metric {
        ALL.iter().find(|metric| metric.name == name).expect("the metric is in the list")
    }

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<_> = ALL.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), ALL.len());
    }

    #[test]
    fn every_metric_is_printed_somewhere() {
        for metric in ALL {
            let shown = Metric::beside(metric.numerator).map(|shown| shown.name);
            assert_eq!(shown, Some(metric.name));
        }
    }

    #[test]
    fn a_ratio_never_divides_by_zero() {
        assert_eq!(metric("ipc").value(counts, false), Some(8.0 / 51.0));
        assert_eq!(metric("l1d_cache_miss_ratio").value(counts, false), None, "0 / 0");
        assert_eq!(metric("l2_cache_miss_ratio").value(counts, false), None, "not counted");
    }

    /// Used and stalled slots add up to all slots, on a revision with the erratum too.
    #[test]
    fn slot_shares_account_for_the_erratum() {
        let used = metric("used_slots").value(counts, true).expect("counted");
        let stalled = metric("stalled_slots").value(counts, true).expect("counted");
        assert!((used + stalled - 100.0).abs() < 1e-9, "{used} + {stalled}");
        let formula = "100 x (STALL_SLOT - CPU_CYCLES) / (5 x CPU_CYCLES)";
        assert_eq!(metric("stalled_slots").formula(true), formula);
        assert_eq!(metric("ipc").formula(true), "INST_RETIRED / CPU_CYCLES");
    }
}
