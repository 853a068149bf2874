//! The routes of the core agree. An instruction whose path class opens a shorter route counts,
//! waits and retires as on the general route. A sink that only counts has the same counts as one
//! that observes every operation.

use std::collections::BTreeMap;

use crate::random::{Random, STEPS, Scenario, corpus, default_config};
use crate::rare::{begin, disturb, rare};
use sim_core::{
    Counts, Cycle, EventSink, EventTally, LostSlots, Notice, OpTimeline, Operation, PmuEvent,
    RootCause, StallCause,
};
use sim_isa::{Program, StaticEvents};
use sim_pipeline::{Pipeline, PipelineConfig};

/// Random scenarios of 250 instructions each.
const SCENARIOS: u64 = 300;

/// Sink that counts, and takes the events of an execution as one tally.
#[derive(Default)]
struct CountingSink(Counts);

impl EventSink for CountingSink {
    const COUNTS_ONLY: bool = true;

    fn count(&mut self, event: PmuEvent, n: u64) {
        self.0.count(event, n);
    }

    fn add_tally(&mut self, tally: &EventTally) {
        for (event, n) in StaticEvents::LIST.into_iter().zip(tally.0) {
            self.0.count(event, n.into());
        }
    }
}

/// Sink that keeps all reports of a run: counts, events with their cycles, operations, edges, lost
/// slots, levels.
#[derive(Default)]
struct ObservingSink {
    counts: Counts,
    now: Cycle,
    timed: BTreeMap<(usize, Cycle), u64>,
    reports: Vec<Report>,
}

/// Report of a run, in the order of the run.
#[derive(Debug, PartialEq)]
enum Report {
    Operation(Operation),
    Other(Notice<'static>),
}

impl EventSink for ObservingSink {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, event: PmuEvent, n: u64) {
        self.counts.count(event, n);
        // Events that count cycles or slots have no cycle of their own.
        if !event.mnemonic().starts_with("STALL") && !event.mnemonic().ends_with("CYCLES") {
            *self.timed.entry((event as usize, self.now)).or_default() += n;
        }
    }

    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::At(cycle) => self.now = cycle,
            Notice::Operation(op) => self.reports.push(Report::Operation(*op)),
            Notice::Edge(edge) => self.reports.push(Report::Other(Notice::Edge(edge))),
            Notice::Lost(lost) => self.reports.push(Report::Other(Notice::Lost(lost))),
            Notice::Squashed => self.reports.push(Report::Other(Notice::Squashed)),
            Notice::Privilege(level) => self.reports.push(Report::Other(Notice::Privilege(level))),
            _ => {}
        }
    }
}

/// Returns the scenario of this seed, on a machine with some rare settings.
fn scenario(seed: u64, corpus: &[u32], default: &PipelineConfig) -> Scenario {
    Scenario::new(seed, corpus, &rare(seed, default))
}

/// Returns the scenario with all instructions on the general route.
fn without_path_classes(mut scenario: Scenario) -> Scenario {
    let mut program = Program::costing(scenario.config.costs()).without_path_classes();
    for id in 0..scenario.program.len() as u32 {
        program.intern(scenario.program.pc(id), scenario.program.inst(id).word);
    }
    scenario.program = program;
    scenario
}

/// Result of a run.
#[derive(Debug, PartialEq)]
struct Ran {
    timelines: Vec<OpTimeline>,
    lost: LostSlots,
    end: u64,
}

/// Runs a scenario to its end.
fn run<S: EventSink>(scenario: Scenario, sink: &mut S) -> Ran {
    let pipeline = begin(scenario.seed, &scenario.config);
    run_on(pipeline, scenario, sink)
}

fn run_on<S: EventSink>(mut pipeline: Pipeline, mut scenario: Scenario, sink: &mut S) -> Ran {
    let mut timelines = Vec::new();
    let mut outside = Random(scenario.seed ^ 0xaaaa);
    for _ in 0..STEPS {
        disturb(&mut outside, &mut pipeline, sink);
        let step = scenario.step();
        let Scenario { program, memory, .. } = &mut scenario;
        timelines.push(*pipeline.run_inst(&step, program, memory, sink));
        if scenario.cuts_window() {
            pipeline.cut_window(sink);
        }
    }
    let end = pipeline.finish(sink);
    Ran { timelines, lost: pipeline.lost_slots().clone(), end }
}

/// Fails with the first event whose counts differ.
fn assert_same(found: &Counts, expected: &Counts, seed: u64) {
    for event in PmuEvent::ALL {
        let (found, expected) = (found.value(event), expected.value(event));
        assert_eq!(found, expected, "seed {seed}: {}", event.mnemonic());
    }
}

#[test]
fn every_route_has_the_counts_and_cycles_of_the_general_route() {
    let (corpus, default) = (corpus(), default_config());
    for seed in 0..SCENARIOS {
        let scenario = || scenario(seed, &corpus, &default);
        let (mut general, mut routed) = (ObservingSink::default(), ObservingSink::default());
        let expected = run(without_path_classes(scenario()), &mut general);
        let found = run(scenario(), &mut routed);
        for (place, (found, expected)) in
            found.timelines.iter().zip(&expected.timelines).enumerate()
        {
            assert_eq!(found, expected, "seed {seed}: instruction {place}");
        }
        assert_eq!(found, expected, "seed {seed}");
        assert_same(&routed.counts, &general.counts, seed);
        for (found, expected) in routed.reports.iter().zip(&general.reports) {
            assert_eq!(found, expected, "seed {seed}");
        }
        assert_eq!(routed.reports.len(), general.reports.len(), "seed {seed}");
        for (found, expected) in routed.timed.iter().zip(&general.timed) {
            assert_eq!(found, expected, "seed {seed}: event, cycle and number");
        }
        assert_eq!(routed.timed.len(), general.timed.len(), "seed {seed}");
    }
}

#[test]
fn a_counting_sink_has_the_counts_of_an_observing_sink() {
    let (corpus, default) = (corpus(), default_config());
    for seed in 0..SCENARIOS {
        let scenario = || scenario(seed, &corpus, &default);
        let mut observed = ObservingSink::default();
        let expected = run(scenario(), &mut observed);
        let (mut routed, mut general) = (CountingSink::default(), CountingSink::default());
        for (ran, sink) in [
            (run(scenario(), &mut routed), &routed),
            (run(without_path_classes(scenario()), &mut general), &general),
        ] {
            assert_same(&sink.0, &observed.counts, seed);
            assert_eq!(ran.lost, expected.lost, "seed {seed}");
            assert_eq!(ran.end, expected.end, "seed {seed}");
        }
    }
}

#[test]
fn skipping_root_causes_changes_neither_counts_nor_cycles() {
    let (corpus, default) = (corpus(), default_config());
    for seed in 0..SCENARIOS {
        let scenario = || scenario(seed, &corpus, &default);
        let (mut found, mut skipped) = (CountingSink::default(), CountingSink::default());
        let with = run(scenario(), &mut found);
        let mut pipeline = begin(seed, &scenario().config);
        pipeline.skip_roots();
        let without = run_on(pipeline, scenario(), &mut skipped);
        assert_same(&skipped.0, &found.0, seed);
        assert_eq!(without.end, with.end, "seed {seed}");
        for cause in StallCause::ALL {
            assert_eq!(without.lost.of(cause), with.lost.of(cause), "seed {seed}: {cause:?}");
        }
        let back_end = without.lost.end(false);
        assert_eq!(without.lost.of_root(RootCause::Latency), back_end, "seed {seed}");
    }
}
