//! Parts of a trace count what they count within the whole, and represent it.

use std::path::Path;

use sim_core::{Counts, PmuEvent};
use sim_lab::{RegionOptions, Regions};
use sim_machine::{
    ConfigSource, MachineConfig, MachineError, Outcome, RunHeader, RunOptions, Session, Window,
};

fn session(trace: &str) -> Session {
    let document = ConfigSource::default().document().expect("the profile is embedded");
    let config = MachineConfig::from_document(&document).expect("a machine");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(trace);
    Session::open(&path, config, RunHeader::default()).expect("a committed trace")
}

fn whole(session: &Session, warmup: u64, limit: Option<u64>) -> Counts {
    let options = RunOptions { warmup, limit, roi: None };
    session.run(&options, &mut |_| {}).expect("a good trace").total()
}

fn windows(session: &Session, windows: &[Window]) -> Vec<Outcome> {
    session.run_windows(windows, &mut |_| {}).expect("a good trace")
}

/// Returns the deviation of one count from another, in percent.
fn percent(found: &Counts, expected: &Counts, event: PmuEvent) -> f64 {
    let (found, expected) = (found.value(event) as f64, expected.value(event) as f64);
    100.0 * (found - expected) / expected
}

#[test]
fn one_window_over_everything_equals_the_run() {
    let session = session("vector.n2t");
    let length = session.instructions();
    let found = windows(&session, &[Window { begin: 0, length, warmup: 0, functional_warmup: 0 }]);
    let options = RunOptions::default();
    let expected = session.run(&options, &mut |_| {}).expect("a good trace");
    assert_eq!(found[0].total(), expected.total());
    assert_eq!(found[0].memory(), expected.memory());
    assert_eq!(found[0].stalls(), expected.stalls());
}

#[test]
fn consecutive_windows_cover_the_run() {
    let session = session("vector.n2t");
    let quarter = session.instructions() / 4;
    let parts: Vec<Window> = (0..4)
        .map(|n| Window { begin: n * quarter, length: quarter, warmup: 1000, functional_warmup: 0 })
        .collect();
    let found = sim_lab::estimate::join(&windows(&session, &parts)).expect("four parts").total();
    let expected = whole(&session, 0, Some(4 * quarter));
    // Each seam runs one uncounted instruction, which must not affect later ones.
    let wrong = |counts: &Counts| counts.value(PmuEvent::BR_MIS_PRED_RETIRED);
    assert!(wrong(&expected) - wrong(&found) <= 3);
    let lost = 4 * quarter - found.value(PmuEvent::INST_RETIRED);
    assert!(lost <= 3, "{lost} instructions at three seams");
    assert!(percent(&found, &expected, PmuEvent::CPU_CYCLES).abs() < 0.1);
}

/// A window after millions of skipped instructions counts about what it counts in the whole run,
/// although the L1 D-cache misses 39 times in 1000 instructions: after the last accesses alone as
/// well as after functional warming.
///
/// The mispredicted branch compares hashes, so its direction is random. Which of 2679 guesses hit
/// depends on all earlier branches. Functional warming over none to 3 M instructions gives 2 to 50
/// more, in no order; only over all of them the number equals the run's.
#[test]
fn the_last_accesses_warm_the_caches() {
    let session = session("hash.n2t");
    let (begin, length, warmup) = (4_000_000, 300_000, 50_000);
    let expected = whole(&session, begin, Some(length));
    for functional_warmup in [0, 500_000, u64::MAX] {
        let window = Window { begin, length, warmup, functional_warmup };
        let found = windows(&session, &[window]).remove(0).total();
        assert_eq!(found.value(PmuEvent::INST_RETIRED), length);
        let events = [
            (PmuEvent::CPU_CYCLES, 3.0),
            (PmuEvent::L1D_CACHE_REFILL, 0.5),
            (PmuEvent::L1D_TLB_REFILL, 0.5),
            (PmuEvent::BR_MIS_PRED_RETIRED, if functional_warmup == u64::MAX { 1e-9 } else { 2.5 }),
        ];
        for (event, most) in events {
            let off = percent(&found, &expected, event);
            assert!(
                off.abs() < most,
                "functional warm-up of {functional_warmup}, {event:?}: {off} %"
            );
        }
        // The table was accessed before and fits the L2.
        let misses = found.value(PmuEvent::L2D_CACHE_REFILL);
        assert!(misses < expected.value(PmuEvent::L2D_CACHE_REFILL) + 100, "{misses}");
    }
}

/// Returns two windows after functional warming of everything before them, and the same windows of
/// a run in which everything is simulated.
fn in_order_and_simulated(trace: &str, length: u64) -> [Vec<Outcome>; 2] {
    let session = session(trace);
    let instructions = session.instructions();
    let parts = |warmup, functional_warmup| {
        [3, 7].map(|n| Window { begin: n * instructions / 8, length, warmup, functional_warmup })
    };
    [windows(&session, &parts(2_000, u64::MAX)), windows(&session, &parts(u64::MAX, 0))]
}

/// A lost branch, a doubled one, or a wrong history after a window changes these numbers.
#[test]
fn functionally_warmed_predictors_predict_as_in_the_run() {
    for trace in ["sort.n2t", "search.n2t", "interp.n2t"] {
        let [in_order, simulated] = in_order_and_simulated(trace, 200_000);
        for (found, expected) in in_order.iter().zip(&simulated) {
            let wrong = |of: &Outcome| of.total().value(PmuEvent::BR_MIS_PRED_RETIRED);
            assert_eq!(wrong(found), wrong(expected), "{trace}");
        }
    }
}

/// Last accesses do not determine lines that prefetchers bring in, reused lines of an L2 or of a
/// system level cache, and lines that wait for write-back.
#[test]
fn functionally_warmed_caches_hold_what_they_hold_in_the_run() {
    for (trace, most) in [("hash.n2t", 1.0), ("chase.n2t", 1.0), ("btree.n2t", 2.5)] {
        let [in_order, simulated] = in_order_and_simulated(trace, 300_000);
        let sum = |of: &[Outcome]| sim_lab::estimate::join(of).expect("two windows").total();
        let (found, expected) = (sum(&in_order), sum(&simulated));
        let events = [
            PmuEvent::L1D_CACHE_REFILL,
            PmuEvent::L1D_TLB_REFILL,
            PmuEvent::L2D_CACHE,
            PmuEvent::L2D_CACHE_REFILL,
            PmuEvent::BUS_ACCESS,
            PmuEvent::LL_CACHE_MISS_RD,
        ];
        for event in events.into_iter().filter(|event| expected.value(*event) > 200) {
            let off = percent(&found, &expected, event);
            assert!(off.abs() < most, "{trace}, {event:?}: {off} %");
        }
    }
}

/// A branch that is lost at the end of a window leaves another history.
#[test]
fn seams_between_windows_do_not_change_predictions() {
    let session = session("sort.n2t");
    let (count, length) = (300, 10_000);
    let parts: Vec<Window> = (0..count)
        .map(|n| Window { begin: n * length, length, warmup: 0, functional_warmup: 0 })
        .collect();
    let found = sim_lab::estimate::join(&windows(&session, &parts)).expect("parts").total();
    let expected = whole(&session, 0, Some(count * length));
    let wrong = |counts: &Counts| counts.value(PmuEvent::BR_MIS_PRED_RETIRED);
    let (found, expected) = (wrong(&found), wrong(&expected));
    // The uncounted instruction at a seam may be a mispredicted branch.
    assert!(found <= expected && expected - found <= count / 10, "{found} of {expected}");
}

fn options() -> RegionOptions {
    RegionOptions {
        interval: Some(10_000),
        windows: 24,
        clusters: 8,
        warmup: Some(10_000),
        functional_warmup: Some(100_000),
        seed: 1,
    }
}

#[test]
fn windows_represent_the_trace() {
    let session = session("lz.n2t");
    let (regions, found) = Regions::find(&session, &options(), &mut |_| {}).expect("a good trace");
    assert!(found.clusters > 1 && found.intervals > 400, "{found:?}");
    let again = Regions::find(&session, &options(), &mut |_| {}).expect("a good trace");
    assert_eq!(again.0, regions, "the same each time");
    let estimate = regions.run(&session, None, &mut |_| {}).expect("a good trace");
    let estimate = estimate.expect("there are windows");
    let (found, expected) = (estimate.outcome.total(), whole(&session, 0, None));
    for event in [PmuEvent::CPU_CYCLES, PmuEvent::INST_RETIRED, PmuEvent::L1D_CACHE] {
        let (off, stated) = (percent(&found, &expected, event), estimate.errors[event as usize]);
        assert!(
            off.abs() < 5.0 && off.abs() < 2.0 * stated + 1.0,
            "{event:?}: {off} %, stated {stated} %"
        );
    }
    assert!(estimate.errors[PmuEvent::CPU_CYCLES as usize] > 0.0);
}

/// Functional warming is accurate enough to be useful, and its counts of bursts equal the run's.
#[test]
fn known_counts_are_near_those_of_the_run() {
    for (trace, most) in [("lz.n2t", 5.0), ("sort.n2t", 5.0), ("chase.n2t", 5.0)] {
        let session = session(trace);
        let (regions, _) = Regions::find(&session, &options(), &mut |_| {}).expect("a good trace");
        let expected = whole(&session, 0, None);
        for (event, found) in [
            (PmuEvent::BR_MIS_PRED_RETIRED, regions.known[2]),
            (PmuEvent::L2D_CACHE_REFILL, regions.known[7]),
            (PmuEvent::LL_CACHE_MISS_RD, regions.known[11]),
            (PmuEvent::DTLB_WALK, regions.known[14]),
        ] {
            let expected = expected.value(event);
            let off = 100.0 * (found as f64 - expected as f64) / expected as f64;
            assert!(off.abs() < most || expected < 500, "{trace}, {event:?}: {off} %");
        }
    }
}

#[test]
fn chunks_count_what_the_run_counts() {
    let session = session("matrix.n2t");
    let expected = whole(&session, 0, None);
    let found = sim_lab::run_chunks(&session, 3, &mut |_| {}).expect("a good trace");
    assert_eq!(found.total().value(PmuEvent::INST_RETIRED), expected.value(PmuEvent::INST_RETIRED));
    let off = percent(&found.total(), &expected, PmuEvent::CPU_CYCLES);
    assert!(off.abs() < 1.0, "{off} %");
    let again = sim_lab::run_chunks(&session, 3, &mut |_| {}).expect("a good trace");
    assert_eq!(again.total(), found.total(), "the same each time");
    let one = sim_lab::run_chunks(&session, 1, &mut |_| {}).expect("a good trace");
    assert_eq!(one.total(), expected, "one chunk is the run");
}

#[test]
fn chunks_of_several_threads_are_refused() {
    let session = session("atomics.n2t");
    let is_refused =
        |error: &MachineError| matches!(error, MachineError::Threads { threads: 2, .. });
    let refused = sim_lab::run_chunks(&session, 2, &mut |_| {}).err();
    assert!(refused.as_ref().is_some_and(is_refused), "{refused:?}");
}
