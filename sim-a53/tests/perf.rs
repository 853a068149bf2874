//! Counts as perf gives them: of chosen levels, in intervals, with shared counters.

use sim_a53::cluster::EMBEDDED;
use sim_a53::perf::{PerfCore, PerfRequest, run_for_perf};
use sim_a53::{A53Config, A53Event, Mark, Part, Region, run_part};
use sim_core::config::Document;
use sim_pmu::counter::CounterCount;
use sim_pmu::perf::{Group, Levels, PerfEvent, Reading, Status};
use sim_trace::TraceFile;

use crate::traces::traces;

fn config() -> A53Config {
    let document = Document::from_embedded(EMBEDDED[0].name, &EMBEDDED).expect("the defaults");
    A53Config::from_document(&document).expect("valid defaults")
}

fn trace(name: &str) -> TraceFile {
    let path = traces().into_iter().find(|path| path.ends_with(name)).expect("a committed trace");
    TraceFile::open(&path).expect("a committed trace")
}

fn singles(events: &[A53Event]) -> Vec<Group<A53Event>> {
    events.iter().map(|event| Group::single(*event)).collect()
}

fn count(
    trace: &TraceFile,
    part: &Part,
    groups: &[Group<A53Event>],
    rotation: Option<u64>,
    interval: u64,
) -> Vec<PerfCore> {
    let end = |number: u64| number.saturating_mul(interval);
    let request = PerfRequest { groups, counters: CounterCount::default(), rotation, end: &end };
    run_for_perf(trace, &config(), part, &request).expect("a run")
}

/// Given a part of a trace, when perf counts every event exactly, then the counts are those of the
/// run, and the intervals divide the cycles.
#[test]
fn exact_counts_are_those_of_the_run() {
    let trace = trace("btree.n2t");
    let insert = trace.meta().symbol("insert").expect("a function of the trace").addr;
    let region = Region { begin: Mark::Address(insert), end: Mark::Address(insert + 8) };
    let parts = [
        Part { limit: Some(20_000), ..Part::default() },
        Part { warmup: 5001, limit: Some(20_000), ..Part::default() },
        Part { limit: Some(200), region: Some(region), ..Part::default() },
    ];
    let groups = singles(&A53Event::ALL);
    for part in &parts {
        let run = run_part(&trace, &config(), part).expect("a run");
        let perf = count(&trace, part, &groups, None, 1000);
        for (core, own) in run.iter().zip(&perf) {
            assert_eq!(own.cycles, core.cycles, "{part:?}");
            for (event, reading) in A53Event::ALL.into_iter().zip(&own.exact) {
                let expected = Reading::exact(core.counts.value(event), core.cycles);
                assert_eq!(*reading, expected, "{event:?} {part:?}");
            }
            assert_eq!(own.intervals.len() as u64, core.cycles / 1000);
            for (number, read) in (1..).zip(&own.intervals) {
                let cycles = read[A53Event::CPU_CYCLES as usize];
                assert_eq!(cycles, Reading::exact(1000 * number, 1000 * number));
            }
        }
    }
}

/// Given six events and cycles, when they share the counters of a core, then all of them are on
/// counters all the time and exact; with a seventh, each is on for a part of it,
/// cycles too: no group starts after one that finds no counter.
#[test]
fn six_events_and_cycles_are_not_multiplexed() {
    use A53Event::*;
    let trace = trace("hash.n2t");
    let part = Part { warmup: 1000, limit: Some(100_000), ..Part::default() };
    let mut events =
        vec![INST_RETIRED, LD_RETIRED, L1D_CACHE, BR_PRED, LD_DEP_STALL, AGU_DEP_STALL, CPU_CYCLES];
    let [core] = &count(&trace, &part, &singles(&events), Some(500), u64::MAX)[..] else {
        panic!("one thread")
    };
    assert_eq!((&core.readings, core.rotations), (&core.exact, 0));
    events.push(ST_RETIRED);
    let [core] = &count(&trace, &part, &singles(&events), Some(500), u64::MAX)[..] else {
        panic!("one thread")
    };
    assert_eq!(core.rotations, core.cycles / 500);
    for (event, (reading, exact)) in events.iter().zip(core.readings.iter().zip(&core.exact)) {
        assert_eq!(reading.status, Status::Counted);
        assert!((0.7..0.95).contains(&reading.share()), "six of seven: {event:?} {reading:?}");
        let error = reading.error_percent(exact.value).expect("it occurs");
        assert!(error.abs() < 5.0, "{event:?} {error}");
    }
}

/// Given a trace with its kernel, when an event counts in the application and in the kernel, then
/// both add up to the whole, in exact counts and on counters.
#[test]
fn levels_add_up() {
    let trace = trace("system.n2t");
    let levels = |user, kernel| Levels { user, kernel, hypervisor: kernel };
    let request = |event, levels| PerfEvent { levels, ..PerfEvent::new(event) };
    let of = |event| {
        [Levels::ALL, levels(true, false), levels(false, true)].map(|levels| request(event, levels))
    };
    let events = [of(A53Event::INST_RETIRED), of(A53Event::CPU_CYCLES)].concat();
    let groups = [Group { events, ..Group::default() }];
    let part = Part { limit: Some(200_000), ..Part::default() };
    for core in count(&trace, &part, &groups, Some(1_000_000), u64::MAX) {
        assert_eq!(core.readings, core.exact);
        for of_event in core.exact.chunks(3) {
            let [all, user, kernel] = of_event else { panic!("three levels") };
            assert!(user.value > 0 && kernel.value > 0, "{of_event:?}");
            assert_eq!(all.value, user.value + kernel.value);
        }
    }
}
