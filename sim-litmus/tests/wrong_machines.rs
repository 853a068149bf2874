//! Machines that count an event wrongly, made of the counts of the model: the comparison names the
//! event, and blames no other.

use sim_core::PmuEvent::{self, *};
use sim_litmus::counts::FORMAT;
use sim_litmus::judge::{judge, totals};
use sim_litmus::{Admission, Counted, CountedCase, JudgedCase};

use crate::recorded::{candidates, replayed};

/// Count of a wrong machine for one event, from its right counts.
pub(crate) type Wrong = fn(&dyn Fn(PmuEvent) -> f64) -> f64;

/// Machines with one wrong event each.
const MACHINES: [(&str, PmuEvent, Wrong); 29] = [
    ("refills count twice", L1D_CACHE_REFILL, |n| 2.0 * n(L1D_CACHE_REFILL)),
    ("walks are not counted", DTLB_WALK, |_| 0.0),
    ("loads include stores", LD_SPEC, |n| n(LD_SPEC) + n(ST_SPEC)),
    ("reads alone are accesses", L1D_CACHE, |n| n(L1D_CACHE_RD)),
    ("refills include write-backs", L2D_CACHE_REFILL, |n| n(L2D_CACHE_REFILL) + n(L2D_CACHE_WB)),
    ("stores do not access memory", MEM_ACCESS, |n| n(MEM_ACCESS_RD)),
    ("returns do not retire", BR_RETIRED, |n| n(BR_RETIRED) - n(BR_RETURN_SPEC)),
    ("all barriers are one", DSB_SPEC, |n| n(DSB_SPEC) + n(DMB_SPEC)),
    ("scalar includes vector", VFP_SPEC, |n| n(VFP_SPEC) + n(ASE_SPEC)),
    ("loads are data processing", DP_SPEC, |n| n(DP_SPEC) + n(LD_SPEC)),
    ("stores miss no TLB", L1D_TLB_REFILL, |n| n(L1D_TLB_REFILL_RD)),
    ("exclusives are not counted", LDREX_SPEC, |_| 0.0),
    ("passed exclusives count twice", STREX_PASS_SPEC, |n| 2.0 * n(STREX_PASS_SPEC)),
    ("unaligned loads are lost", UNALIGNED_LD_SPEC, |_| 0.0),
    ("fused operations count once", FP_FIXED_OPS_SPEC, |n| n(FP_FIXED_OPS_SPEC) / 2.0),
    ("indirect is immediate", BR_IMMED_SPEC, |n| n(BR_IMMED_SPEC) + n(BR_INDIRECT_SPEC)),
    ("a line is two transactions", BUS_ACCESS_RD, |n| 2.0 * n(BUS_ACCESS_RD)),
    ("inner refills are outer ones", L1D_CACHE_REFILL_OUTER, |n| n(L1D_CACHE_REFILL)),
    ("write-backs of victims alone", L1D_CACHE_WB, |n| n(L1D_CACHE_WB_VICTIM)),
    ("work on a wrong path retires", INST_RETIRED, |n| n(INST_RETIRED).max(n(INST_SPEC))),
    ("speculative loads retire first", LD_SPEC, |n| n(LD_SPEC).min(n(INST_RETIRED))),
    ("barriers of a wrong path are lost", DSB_SPEC, |n| n(DSB_SPEC).min(n(INST_RETIRED))),
    ("instruction refills count twice", L1I_CACHE_REFILL, |n| 2.0 * n(L1I_CACHE_REFILL)),
    ("fetches do not read the L2", L2D_CACHE_RD, |n| n(L2D_CACHE_RD) - n(L1I_CACHE_REFILL)),
    ("instruction walks are not counted", ITLB_WALK, |_| 0.0),
    ("instruction walks count as data walks", DTLB_WALK, |n| n(DTLB_WALK) + n(ITLB_WALK)),
    ("partial predicates are full", SVE_PRED_FULL_SPEC, |n| {
        n(SVE_PRED_FULL_SPEC) + n(SVE_PRED_PARTIAL_SPEC)
    }),
    ("first-fault loads are plain loads", SVE_LDFF_SPEC, |_| 0.0),
    ("predicated includes all", SVE_PRED_FULL_SPEC, |n| n(SVE_INST_SPEC)),
];

/// Returns the result of a machine with the right counts of some cases, but of `event`, which
/// counts as `wrong` says.
pub(crate) fn machine(right: &[CountedCase], event: PmuEvent, wrong: Wrong) -> Counted {
    let mut cases = right.to_vec();
    for case in &mut cases {
        let repeats = case.counts["INST_RETIRED"].len();
        let right = case.counts.clone();
        let count = |at: usize| {
            let of = |event: PmuEvent| right.get(event.mnemonic()).map_or(0.0, |counts| counts[at]);
            wrong(&of)
        };
        case.counts.insert(event.mnemonic().to_owned(), (0..repeats).map(count).collect());
    }
    Counted { format: FORMAT.to_owned(), cases, ..Counted::default() }
}

/// Asserts that the wrong event of each machine is named, and no other.
pub(crate) fn assert_named(
    machines: &[(&str, PmuEvent, Wrong)],
    right: &[CountedCase],
    judged: impl Fn(&Counted) -> Vec<JudgedCase>,
) {
    let mut missed = Vec::new();
    for (what, event, wrong) in machines {
        let cases = judged(&machine(right, *event, *wrong));
        let named = |case: &JudgedCase| case.differences().any(|claim| claim.event == *event);
        if !cases.iter().any(named) {
            missed.push(*what);
        }
        let others =
            cases.iter().flat_map(JudgedCase::differences).filter(|claim| claim.event != *event);
        assert_eq!(others.count(), 0, "{what}");
    }
    assert_eq!(missed, Vec::<&str>::new());
}

fn judged(counted: &Counted) -> Vec<JudgedCase> {
    judge(candidates(), &Admission::builtin(), counted)
}

#[test]
fn the_model_agrees_with_every_admitted_case() {
    let counted = machine(replayed(), INST_RETIRED, |n| n(INST_RETIRED));
    let totals = totals(&judged(&counted));
    assert_eq!(totals.agree, Admission::builtin().cases.len(), "{totals:?}");
}

#[test]
fn a_machine_that_counts_nothing_agrees_with_nothing() {
    let counted = Counted { format: FORMAT.to_owned(), ..Counted::default() };
    let totals = totals(&judged(&counted));
    assert_eq!((totals.agree, totals.differ), (0, 0));
}

#[test]
fn the_wrong_event_of_a_machine_is_named() {
    assert_named(&MACHINES, replayed(), judged);
}
