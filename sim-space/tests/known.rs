//! Tables that are possible or not, and what is said about them.

use sim_core::pmu_event::PmuEvent::{self, *};
use sim_metrics::Count;
use sim_metrics::identities::Assumptions;
use sim_space::{FAMILIES, Inequality, Membership, Space, Table};

fn space() -> Space {
    let assumptions = Assumptions { has_stall_slot_erratum: Some(false), ..Assumptions::default() };
    Space::new(&assumptions, |_| None)
}

fn table(counts: &[(PmuEvent, u64)], tolerance: f64) -> Table {
    Table::new(counts.iter().map(|(event, count)| (*event, Count::from(*count))), tolerance)
}

/// Returns the inequality that counts violate, or `inside`.
fn verdict(counts: &[(PmuEvent, u64)], tolerance: f64) -> String {
    match space().test(&table(counts, tolerance)) {
        Membership::Inside => String::from("inside"),
        Membership::Outside(inequality) => inequality.to_string(),
        Membership::Undecided => String::from("undecided"),
    }
}

#[test]
fn a_table_without_events_is_inside() {
    assert_eq!(verdict(&[], 0.0), "inside");
    assert_eq!(verdict(&[(L2D_CACHE_RD, 7)], 0.0), "inside", "one count alone says nothing");
}

#[test]
fn refills_of_both_l1_caches_read_the_l2() {
    let counts = |reads| [(L1D_CACHE_REFILL_RD, 60), (L1I_CACHE_REFILL, 5), (L2D_CACHE_RD, reads)];
    assert_eq!(verdict(&counts(65), 0.0), "inside");
    assert_eq!(verdict(&counts(64), 0.0), "L1I_CACHE_REFILL + L1D_CACHE_REFILL_RD <= L2D_CACHE_RD");
    assert_eq!(verdict(&counts(64), 0.02), "inside", "within two percent");
}

/// Each count has its own tolerance: that of an estimate does not excuse the exact ones.
#[test]
fn an_estimate_has_room_of_its_own() {
    let estimate = |value| Count { tolerance: 0.1, is_estimate: true, ..Count::from(value) };
    let exact = |value| Count::from(value);
    let test = |refills, reads| {
        let counts = [(L1I_CACHE_REFILL, refills), (L2D_CACHE_RD, reads)];
        space().test(&Table::new(counts, 0.0)) == Membership::Inside
    };
    assert!(test(estimate(105), exact(100)));
    assert!(!test(estimate(120), exact(100)));
    assert!(!test(exact(101), exact(100)));
}

#[test]
fn an_inequality_names_the_flows_that_count_its_events() {
    let counts =
        [(L1D_CACHE_REFILL_RD, 60), (L1I_CACHE_REFILL, 5), (L2D_CACHE_RD, 9), (L1D_CACHE, 99)];
    let Membership::Outside(found) = space().test(&table(&counts, 0.0)) else {
        panic!("60 reads of 9")
    };
    assert_eq!(found.to_string(), "L1D_CACHE_REFILL_RD <= L2D_CACHE_RD", "the shortest one");
    assert_eq!(found.sections(), ["5.4", "5.7"]);
    let value = |event| counts.iter().find(|(own, _)| *own == event).map(|(_, n)| *n);
    assert_eq!(found.values(value), Some([60, 9]));
    assert!(!found.holds(value) && found.rules().is_empty());
}

/// Events of no flow: the rules of the event table follow from one another through events that were
/// not counted.
#[test]
fn rules_are_joined_over_events_that_were_not_counted() {
    let counts = [(BR_MIS_PRED_RETIRED, 9), (BR_PRED, 8)];
    let Membership::Outside(found) = space().test(&table(&counts, 0.0)) else { panic!("9 of 8") };
    assert_eq!(found.to_string(), "BR_MIS_PRED_RETIRED <= BR_PRED");
    assert_eq!(found.rules(), ["BR_MIS_PRED <= BR_PRED", "BR_MIS_PRED >= BR_MIS_PRED_RETIRED"]);
    assert_eq!(found.sections(), ["4.10.2", "4.10.4"]);
}

#[test]
fn sums_and_events_that_never_count_are_equalities() {
    assert_eq!(
        verdict(&[(L1D_CACHE, 9), (L1D_CACHE_RD, 4), (L1D_CACHE_WR, 4)], 0.0),
        "L1D_CACHE = L1D_CACHE_RD + L1D_CACHE_WR"
    );
    assert_eq!(verdict(&[(L2D_CACHE_ALLOCATE, 1)], 0.0), "L2D_CACHE_ALLOCATE = 0");
}

#[test]
fn every_violation_is_found_once() {
    let counts = [
        (L1D_TLB_REFILL_WR, 5),
        (L2D_TLB_WR, 1),
        (L1I_CACHE_REFILL, 9),
        (L2D_CACHE_RD, 2),
        (CPU_CYCLES, 100),
    ];
    let (found, _) = space().violations(&table(&counts, 0.0));
    let mut found: Vec<String> = found.iter().map(Inequality::to_string).collect();
    found.sort();
    assert_eq!(found, ["L1D_TLB_REFILL_WR <= L2D_TLB_WR", "L1I_CACHE_REFILL <= L2D_CACHE_RD"]);
}

#[test]
fn the_largest_counts_get_an_answer() {
    for event in PmuEvent::ALL {
        let counts = [(event, u64::MAX), (L1D_CACHE_RD, 1), (CPU_CYCLES, u64::MAX - 1)];
        let counts: std::collections::BTreeMap<PmuEvent, u64> = counts.into_iter().collect();
        let counts: Vec<(PmuEvent, u64)> = counts.into_iter().collect();
        assert_ne!(verdict(&counts, 0.0), "undecided", "{}", event.mnemonic());
        assert_ne!(verdict(&counts, 1.0), "undecided", "{}", event.mnemonic());
    }
}

#[test]
fn every_family_has_half_spaces_that_its_generators_keep() {
    let space = space();
    for family in FAMILIES {
        let projection = space.project(family.events).expect("few events");
        assert!(!projection.half_spaces().is_empty(), "{}", family.title);
        for half_space in projection.half_spaces() {
            for generator in space.generators() {
                let count = |event| Some(generator.count(event));
                assert!(half_space.holds(count), "{half_space}: {}", generator.name());
            }
        }
    }
}
