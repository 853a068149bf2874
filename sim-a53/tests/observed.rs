//! Observers of single instructions: overflow samples and profiles agree with the counts of a run.

use std::collections::BTreeMap;

use sim_a53::overflow::{SampleError, run_sampled};
use sim_a53::profile::{A53Cost, COLUMNS, SlotUse, run_profiled};
use sim_a53::slots::{LostTo, SLOTS};
use sim_a53::{A53Config, A53Event, run};
use sim_core::config::Document;
use sim_pmu::overflow::Sampled;
use sim_pmu::perf::Levels;
use sim_trace::TraceFile;

use crate::traces::traces;

const LIMIT: u64 = 20_000;

fn config() -> A53Config {
    let embedded = &sim_a53::cluster::EMBEDDED;
    let document = Document::from_embedded(embedded[0].name, embedded).expect("the defaults");
    A53Config::from_document(&document).expect("valid defaults")
}

fn trace(name: &str) -> TraceFile {
    let path = traces().into_iter().find(|path| path.ends_with(name)).expect("a trace");
    TraceFile::open(&path).expect("a committed trace")
}

fn sampled(event: A53Event, period: u64) -> Sampled {
    Sampled { code: event.code(), levels: Levels::ALL, period }
}

/// Given every committed trace, when its overflows are sampled, then the run is the same, and the
/// samples of each event are its count over the period.
#[test]
fn every_period_gives_one_sample() {
    let events = [
        A53Event::CPU_CYCLES,
        A53Event::INST_RETIRED,
        A53Event::L1D_CACHE_REFILL,
        A53Event::BR_MIS_PRED,
        A53Event::LD_DEP_STALL,
        A53Event::OTHER_IQ_DEP_STALL,
        A53Event::BUS_ACCESS,
    ];
    for path in traces() {
        let trace = TraceFile::open(&path).expect("a committed trace");
        let exact = run(&trace, &config(), Some(LIMIT)).expect("it runs");
        let requests = events.map(|event| sampled(event, 7));
        let cores = run_sampled(&trace, &config(), Some(LIMIT), &requests).expect("it runs");
        for (core, exact) in cores.iter().zip(&exact) {
            assert_eq!(core.outcome.counts, exact.counts, "{path:?}");
            assert_eq!(core.cycles, exact.cycles, "{path:?}");
            for (request, event) in events.into_iter().enumerate() {
                let samples = core.samples.iter().filter(|own| own.request == request).count();
                assert_eq!(samples as u64, exact.counts.value(event) / 7, "{path:?}, {event:?}");
            }
        }
    }
}

/// Given a trace, when every cycle is sampled, then each instruction has as many samples as cycles
/// in which it was the next to issue: those that the profile gives it. The cycles after the last
/// issue are the last instruction's samples, and no instruction's in the profile.
#[test]
fn samples_of_cycles_are_the_profile() {
    for name in ["hash.n2t", "btree.n2t"] {
        let trace = trace(name);
        let requests = [sampled(A53Event::CPU_CYCLES, 1)];
        let cores = run_sampled(&trace, &config(), Some(LIMIT), &requests).expect("it runs");
        let mut found: BTreeMap<u64, u64> = BTreeMap::new();
        cores[0].samples.iter().for_each(|own| *found.entry(own.pc).or_default() += 1);
        let profile = run_profiled(&trace, &config(), Some(LIMIT)).expect("it runs");
        let last = cores[0].samples.last().expect("a sample").pc;
        let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
        for (code, cost) in trace.statics().insts().iter().zip(&profile.costs) {
            *expected.entry(code.pc).or_default() += cost.cycles;
        }
        *expected.entry(last).or_default() += profile.elsewhere.cycles;
        expected.retain(|_, cycles| *cycles > 0);
        assert_eq!(found, expected, "{name}");
    }
}

/// Given every committed trace, when it is profiled, then the run is the same, the costs of all
/// instructions add up to it, and so do its intervals.
#[test]
fn costs_and_intervals_add_up_to_the_run() {
    for path in traces() {
        let trace = TraceFile::open(&path).expect("a committed trace");
        let exact = run(&trace, &config(), Some(LIMIT)).expect("it runs");
        let profile = run_profiled(&trace, &config(), Some(LIMIT)).expect("it runs");
        let mut sum = profile.elsewhere.clone();
        profile.costs.iter().for_each(|cost| sum.add(cost));
        let mut over_time = A53Cost::default();
        profile.time.iter().flat_map(|time| &time.intervals).for_each(|own| over_time.add(own));
        assert_eq!(over_time.slots, sum.slots, "{path:?}");
        for cause in LostTo::ALL {
            let lost: u64 = exact.iter().map(|core| core.slots.lost(cause)).sum();
            let more = match cause {
                LostTo::FrontEnd => sum.slots_of(SlotUse::Misprediction),
                _ => 0,
            };
            assert_eq!(sum.slots_of(SlotUse::Lost(cause)) + more, lost, "{path:?}, {cause:?}");
        }
        for event in COLUMNS {
            let count: u64 = exact.iter().map(|core| core.counts.value(event)).sum();
            let counts = (sum.count(event), over_time.count(event));
            assert_eq!(counts, (count, count), "{path:?}, {event:?}");
        }
        let cycles: u64 = exact.iter().map(|core| core.cycles).sum();
        assert_eq!((sum.cycles, sum.all_slots()), (cycles, SLOTS * cycles), "{path:?}");
        assert!(profile.time.iter().all(|time| time.intervals.len() <= 257), "{path:?}");
    }
}

/// Given the load that misses most, when the cycles of stalls are sampled, then the samples are the
/// instruction after it, not the load.
#[test]
fn a_load_that_misses_is_not_its_own_sample() {
    const PART: Option<u64> = Some(300_000);
    let trace = trace("hash.n2t");
    let requests = [sampled(A53Event::LD_DEP_STALL, 10)];
    let cores = run_sampled(&trace, &config(), PART, &requests).expect("it runs");
    let profile = run_profiled(&trace, &config(), PART).expect("it runs");
    let insts = trace.statics().insts().iter().zip(&profile.costs);
    let misses = |cost: &A53Cost| cost.count(A53Event::L1D_CACHE_REFILL);
    let (load, cost) = insts.max_by_key(|(_, cost)| misses(cost)).expect("a load");
    assert!(misses(cost) > 4000, "{}", misses(cost));
    let at = |pc| cores[0].samples.iter().filter(|own| own.pc == pc).count();
    let (own, next) = (at(load.pc), at(load.pc + 4));
    assert!(next > 7000 && 50 * own < next, "{own} of the load, {next} of the next");
}

#[test]
fn more_events_than_counters_are_refused() {
    let seven = [A53Event::LD_RETIRED; 7].map(|event| sampled(event, 100));
    let error = run_sampled(&trace("hash.n2t"), &config(), Some(10), &seven).expect_err("seven");
    assert!(matches!(error, SampleError::TooMany(_)), "{error}");
    assert!(error.to_string().starts_with("7 events need a counter each"), "{error}");
    let with_cycles = [&[sampled(A53Event::CPU_CYCLES, 100)][..], &seven[..6]].concat();
    assert!(run_sampled(&trace("hash.n2t"), &config(), Some(10), &with_cycles).is_ok());
}
