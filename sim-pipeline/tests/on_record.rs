//! The counts of random programs on random machines equal those on record. A change of the model
//! shows here which counts it changes; a refactoring changes none. Other tests check that a count
//! is correct.
//!
//! `N2SIM_BLESS=1 cargo test -p sim-pipeline on_record::` writes the present counts; review the
//! difference.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::random::{Random, STEPS, Scenario, corpus, default_config};
use crate::rare::{begin, disturb, rare};
use sim_core::{
    AccessKind, Counts, EventSink, LostSlots, Notice, Operation, OperationKind, PmuEvent,
    RootCause, StallCause,
};

/// Random scenarios of 250 instructions each.
const SCENARIOS: u64 = 400;

/// Sums over all scenarios.
#[derive(Default)]
struct Sums {
    counts: Counts,
    lost: LostSlots,
    reported: BTreeMap<&'static str, u64>,
}

impl Sums {
    fn add(&mut self, what: &'static str, n: u64) {
        let sum = self.reported.entry(what).or_default();
        *sum = sum.wrapping_add(n);
    }

    /// Adds the cycles of an operation's stages, separately for correct and wrong paths.
    fn add_timeline(&mut self, operation: &Operation) {
        let timeline = &operation.timeline;
        if timeline.wrong_path {
            self.add("operations of wrong paths", 1);
            self.add("cycles of issue on wrong paths", timeline.issue);
            self.add("cycles of completion on wrong paths", timeline.complete);
            return self.add("numbers of wrong paths", operation.number);
        }
        for (what, n) in [
            ("cycles of fetch", timeline.fetch),
            ("cycles of the front end", timeline.front_end),
            ("cycles of rename", timeline.rename),
            ("cycles of issue", timeline.issue),
            ("cycles of completion", timeline.complete),
            ("cycles of retirement", timeline.retire),
            ("cycles of writing", timeline.written),
            ("cycles of translation", timeline.translation_cycles.into()),
            ("operations that retire", timeline.retired.into()),
            ("mispredictions", timeline.mispredicted.into()),
        ] {
            self.add(what, n);
        }
    }

    /// Adds the kind of branch or access of an operation.
    fn add_kind(&mut self, kind: OperationKind) {
        match kind {
            OperationKind::Other => self.add("neither branch nor access", 1),
            OperationKind::Branch(branch) => {
                self.add("conditional branches", branch.conditional.into());
                self.add("indirect branches", branch.indirect.into());
                self.add("calls", branch.call.into());
                self.add("function returns", branch.function_return.into());
                self.add("exception returns", branch.exception_return.into());
                self.add("taken branches", branch.taken.into());
                self.add("targets", branch.target.unwrap_or(1));
            }
            OperationKind::Access(access) => {
                self.add(name_of(access.kind), 1);
                self.add("exclusive accesses", access.exclusive.into());
                self.add("ordered accesses", access.ordered.into());
                self.add("aligned accesses", access.aligned.into());
                self.add("scattered accesses", access.scattered.into());
                self.add("bytes", access.bytes.into());
            }
        }
    }
}

impl EventSink for Sums {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, event: PmuEvent, n: u64) {
        self.counts.count(event, n);
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::At(cycle) => {
                self.add("cycles of events", cycle);
            }
            Notice::Privilege(privilege) => {
                self.add("changes of level", 1);
                self.add("levels", privilege.level.into());
            }
            Notice::Operation(operation) => {
                self.add_timeline(operation);
                self.add_kind(operation.kind);
                for (what, n) in [
                    ("cycles of base registers", operation.base_ready),
                    ("waits for a buffer", operation.wait.buffer.into()),
                    ("waits for a line", operation.wait.line.into()),
                    ("physical addresses", operation.physical.map_or(1, |addr| addr.0)),
                    ("exceptions", operation.exception.into()),
                    ("conditional operations", operation.conditional.into()),
                    ("operations on vectors", operation.simd.into()),
                    ("operations in floating point", operation.floating.into()),
                    ("operations of SVE", operation.sve.into()),
                    ("predicated operations", operation.predicated.into()),
                    ("activity", operation.activity as u64),
                ] {
                    self.add(what, n);
                }
            }
            Notice::Squashed => {
                self.add("squashes", 1);
            }
            _ => {}
        }
    }
}

fn name_of(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Load => "loads",
        AccessKind::Store => "stores",
        AccessKind::AtomicLoad => "atomic loads",
        AccessKind::AtomicStore => "atomic stores",
        AccessKind::AtomicSwap => "swaps",
        AccessKind::ZeroLine => "zeroed lines",
    }
}

/// Runs the scenario of this seed and adds its counts and reports.
fn run(scenario: &mut Scenario, sums: &mut Sums) {
    let mut pipeline = begin(scenario.seed, &scenario.config);
    let mut outside = Random(scenario.seed ^ 0xaaaa);
    for _ in 0..STEPS {
        disturb(&mut outside, &mut pipeline, sums);
        let step = scenario.step();
        let Scenario { program, memory, .. } = scenario;
        pipeline.run_inst(&step, program, memory, sums);
        if scenario.cuts_window() {
            pipeline.cut_window(sums);
        }
    }
    pipeline.finish(sums);
    sums.lost.plus(pipeline.lost_slots());
}

/// Returns one line for each number that is not 0.
fn lines(sums: &Sums) -> String {
    let mut text = String::from("what\tsum\n");
    let mut line = |name: &str, sum: u64| {
        if sum > 0 {
            writeln!(text, "{name}\t{sum}").expect("writing to a string succeeds");
        }
    };
    for event in PmuEvent::ALL {
        line(event.mnemonic(), sums.counts.value(event));
    }
    for cause in StallCause::ALL {
        for root in RootCause::ALL {
            let name = format!("lost slots: {}, {}", cause.label(), root.label());
            line(&name, sums.lost.at(cause, root));
        }
    }
    sums.reported.iter().for_each(|(what, sum)| line(what, *sum));
    text
}

#[test]
fn counts_of_random_programs_equal_those_on_record() {
    let (corpus, default) = (corpus(), default_config());
    let mut sums = Sums::default();
    for seed in 0..SCENARIOS {
        run(&mut Scenario::new(seed, &corpus, &rare(seed, &default)), &mut sums);
    }
    let found = lines(&sums);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/random/counts.tsv");
    if std::env::var_os("N2SIM_BLESS").is_some() {
        std::fs::write(&path, &found).expect("the record is written");
    }
    let expected = std::fs::read_to_string(&path).expect("the record is committed");
    let changed =
        found.lines().zip(expected.lines()).position(|(found, expected)| found != expected);
    let line = changed.unwrap_or_else(|| found.lines().count().min(expected.lines().count()));
    assert!(
        found == expected,
        "{}:{}: found `{}`, on record `{}`; if the change is intended, bless it (see the top of this test)",
        path.display(),
        line + 1,
        found.lines().nth(line).unwrap_or("no line"),
        expected.lines().nth(line).unwrap_or("no line"),
    );
}
