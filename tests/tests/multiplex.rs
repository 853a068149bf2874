//! Six counters on real traces: exact without multiplexing, and estimates with it.

use std::path::{Path, PathBuf};

use sim_core::PmuEvent;
use sim_machine::RunOptions;
use sim_pmu::counter::CounterCount;
use sim_pmu::perf::{Passes, Reading, Status};
use sim_tests::multiplex::{all_events, estimates, open};
use sim_tests::{files_below, repository};

/// Instructions of each thread: enough for refills, walks and mispredictions of every kind.
const LIMIT: u64 = 100_000;

fn traces() -> Vec<PathBuf> {
    let traces = files_below(&repository().join("traces"), "n2t");
    assert!(traces.len() >= 11, "the committed traces");
    traces
}

/// Checks that the counters of 25 passes, with at most six events and cycles each, are exact.
fn assert_exact(trace: &Path, overrides: &[String]) {
    let session = open(trace, overrides).expect("a committed trace");
    let mut passes = Passes::new(&all_events(), CounterCount::default());
    assert_eq!(passes.len(), 25, "147 events, cycles beside six of them");
    let options = RunOptions { limit: Some(LIMIT), ..RunOptions::default() };
    let outcome = session.run_with_sink(&options, &mut |_| {}, &mut passes).expect("a run");
    for (core, readings) in outcome.cores.iter().zip(passes.readings_by_core()) {
        let cycles = core.counts.value(PmuEvent::CPU_CYCLES);
        for (event, reading) in PmuEvent::ALL.into_iter().zip(readings) {
            let truth = Reading::exact(core.counts.value(event), cycles);
            assert_eq!(reading, truth, "{}: {event:?}", trace.display());
        }
    }
}

#[test]
fn up_to_six_events_are_exact_on_every_trace() {
    traces().iter().for_each(|trace| assert_exact(trace, &[]));
}

/// Early revisions count a stalled slot too many in every cycle: their counters do, too.
#[test]
fn the_erratum_of_early_revisions_is_counted_in_every_pass() {
    assert_exact(&traces()[0], &["core.revision=r0p0".to_owned()]);
}

/// 147 events on six counters: every event that had a counter has an estimate, the totals of time
/// are fair, and an estimate is exact where nothing happened.
#[test]
fn time_slices_are_shared_and_scaled_on_real_traces() {
    let ticks = [1_000, 100, 1_000_000_000];
    for trace in traces().iter().take(4) {
        let found = estimates(trace, &ticks, Some(LIMIT)).expect("a run");
        let [slow, fast, never] = &found.readings[..] else { panic!("three ticks") };
        let counted = |readings: &[Reading]| {
            readings.iter().filter(|reading| reading.status == Status::Counted).count()
        };
        assert_eq!(counted(never), 6, "{}: no tick comes", found.trace);
        assert!(counted(fast) >= counted(slow) && counted(fast) > 6, "{}", found.trace);
        for readings in &found.readings {
            let on: u64 = readings.iter().map(|reading| reading.running).sum();
            let enabled = readings[0].enabled;
            assert!(on <= 7 * enabled && on > 5 * enabled, "{}: {on} of {enabled}", found.trace);
            for (reading, truth) in readings.iter().zip(&found.truth) {
                assert!(reading.value <= *truth && reading.running <= reading.enabled);
                assert!(*truth > 0 || reading.error_percent(*truth).is_none_or(|e| e == 0.0));
            }
        }
    }
}

/// A sink that observes a run beside others receives the same events.
#[test]
fn counters_do_not_disturb_each_other() {
    let trace = &traces()[1];
    let both = estimates(trace, &[500, 3_000], Some(LIMIT)).expect("a run");
    let alone = estimates(trace, &[3_000], Some(LIMIT)).expect("a run");
    assert_eq!((&both.readings[1], &both.truth), (&alone.readings[0], &alone.truth));
    assert_ne!(both.readings[0], both.readings[1]);
}
