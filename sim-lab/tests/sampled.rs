//! Windows at random places of a run of several threads represent it.

use std::path::Path;

use sim_core::{Counts, PmuEvent};
use sim_lab::{Estimate, SampleOptions, run_sampled};
use sim_machine::{
    ConfigSource, MachineConfig, Outcome, RunHeader, RunOptions, Session, Stretch, ThreadOrder,
};

fn session(trace: &str, order: ThreadOrder) -> Session {
    let document = ConfigSource::default().document().expect("the profile is embedded");
    let mut config = MachineConfig::from_document(&document).expect("a machine");
    config.threads.order = order;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(trace);
    Session::open(&path, config, RunHeader::default()).expect("a committed trace")
}

fn whole(session: &Session) -> Outcome {
    session.run(&RunOptions::default(), &mut |_| {}).expect("a good trace")
}

fn estimate(session: &Session, stretches: &[Stretch]) -> Estimate {
    run_sampled(session, stretches, &mut |_| {}).expect("a good trace")
}

/// Windows over everything, each as long as its stretch.
fn full(session: &Session, count: u64) -> Vec<Stretch> {
    let length = session.instructions().div_ceil(count);
    let stretch = |n| Stretch { begin: n * length, window: n * length, length, warmup: 0 };
    (0..count).map(stretch).collect()
}

fn options(windows: u32, length: u64) -> SampleOptions {
    SampleOptions { windows, length: Some(length), ..SampleOptions::default() }
}

/// Returns the deviation of one count from another, in percent.
fn percent(found: &Counts, expected: &Counts, event: PmuEvent) -> f64 {
    let (found, expected) = (found.value(event) as f64, expected.value(event) as f64);
    100.0 * (found - expected) / expected
}

#[test]
fn one_window_over_everything_equals_the_run_of_all_threads() {
    for order in [ThreadOrder::Causal, ThreadOrder::Recorded, ThreadOrder::Free] {
        for trace in ["parallel/queue.n2t", "threads/plain_adjacent.n2t"] {
            let session = session(trace, order);
            let expected = whole(&session);
            let Estimate { outcome, errors, unknown } = estimate(&session, &full(&session, 1));
            assert_eq!(outcome.cores.len(), expected.cores.len());
            for (found, expected) in outcome.cores.iter().zip(&expected.cores) {
                assert_eq!(found.counts, expected.counts, "{trace}");
                assert_eq!(found.levels, expected.levels, "{trace}");
                assert_eq!(found.stalls, expected.stalls, "{trace}");
                assert_eq!(found.memory, expected.memory, "{trace}");
                assert_eq!(found.prefetches, expected.prefetches, "{trace}");
                assert_eq!(found.waits, expected.waits, "{trace}");
                assert_eq!(found.instructions, expected.instructions, "{trace}");
            }
            assert_eq!(outcome.notes, expected.notes);
            assert!(errors.iter().all(|error| *error == 0.0) && unknown == 0);
        }
    }
}

#[test]
fn consecutive_windows_cover_the_run_of_all_threads() {
    let session = session("parallel/queue.n2t", ThreadOrder::Causal);
    let expected = whole(&session).total();
    let found = estimate(&session, &full(&session, 4));
    let total = found.outcome.total();
    // A window begins and ends in each thread on a rename cycle, so that it has a few slots more.
    assert_eq!(total.value(PmuEvent::INST_RETIRED), expected.value(PmuEvent::INST_RETIRED));
    for event in [PmuEvent::CPU_CYCLES, PmuEvent::L1D_CACHE_REFILL, PmuEvent::STALL_BACKEND] {
        let off = percent(&total, &expected, event);
        assert!(off.abs() < 1.0, "{event:?}: {off} %");
        assert_eq!(found.errors[event as usize], 0.0, "nothing was left out");
    }
}

#[test]
fn a_sampled_run_repeats_itself() {
    let session = session("parallel/queue.n2t", ThreadOrder::Causal);
    let stretches = options(20, 2_000).stretches(session.instructions(), 8);
    let [one, other] = [(); 2].map(|()| estimate(&session, &stretches));
    assert_eq!(one.outcome.total(), other.outcome.total());
    assert_eq!(one.errors, other.errors);
    let seed = SampleOptions { seed: 2, ..options(20, 2_000) };
    let third = estimate(&session, &seed.stretches(session.instructions(), 8));
    assert_ne!(one.outcome.total(), third.outcome.total(), "another seed, other windows");
}

/// Threads of different work: what they execute is known, what it costs is estimated.
#[test]
fn the_interval_contains_the_cycles_of_the_run() {
    for (trace, threads) in [
        ("parallel/samplesort.n2t", 8),
        ("parallel/readers_padded.n2t", 8),
        ("threads/atomic_padded.n2t", 2),
    ] {
        let session = session(trace, ThreadOrder::Causal);
        let expected = whole(&session);
        let stretches = options(20, 500 * threads).stretches(session.instructions(), threads);
        assert_eq!(stretches.len(), 20, "{trace}");
        let Estimate { outcome, errors, .. } = estimate(&session, &stretches);
        let (found, expected) = (outcome.total(), expected.total());
        let retired = PmuEvent::INST_RETIRED;
        assert_eq!(found.value(retired), expected.value(retired), "{trace}");
        let off = percent(&found, &expected, PmuEvent::CPU_CYCLES);
        let claimed = errors[PmuEvent::CPU_CYCLES as usize];
        assert!(off.abs() <= claimed && claimed > 0.0, "{trace}: {off} % +- {claimed} %");
    }
}

/// A thread that waits for another one counts cycles and stalls, but no instructions.
#[test]
fn waits_for_other_threads_are_those_of_the_run() {
    let session = session("parallel/queue.n2t", ThreadOrder::Causal);
    let expected = whole(&session);
    let stretches = options(20, 2_000).stretches(session.instructions(), 8);
    let found = estimate(&session, &stretches).outcome;
    let waited = |of: &Outcome| of.cores.iter().map(|core| core.waits.on_core).sum::<u64>() as f64;
    let away = |of: &Outcome| of.cores.iter().map(|core| core.waits.away).sum::<u64>() as f64;
    let off = |found: f64, expected: f64| 100.0 * (found - expected) / expected;
    assert!(off(waited(&found), waited(&expected)).abs() < 25.0, "{}", waited(&found));
    assert!(off(away(&found), away(&expected)).abs() < 25.0, "{}", away(&found));
}

#[test]
fn a_single_thread_has_windows_at_random_places_too() {
    let session = session("matrix.n2t", ThreadOrder::Causal);
    let expected = whole(&session).total();
    let stretches = SampleOptions::default().stretches(session.instructions(), 1);
    assert_eq!(stretches.len(), 100);
    let Estimate { outcome, errors, .. } = estimate(&session, &stretches);
    let off = percent(&outcome.total(), &expected, PmuEvent::CPU_CYCLES);
    let claimed = errors[PmuEvent::CPU_CYCLES as usize];
    assert!(off.abs() <= claimed && claimed < 5.0, "{off} % +- {claimed} %");
}
