//! The counts of random programs on random machines are those on record. Whoever changes the model sees here what
//! moves, and says why; whoever only rewrites it sees that nothing does.
//!
//! `N2SIM_BLESS=1 cargo test -p sim-pipeline --test on_record` writes the counts as they are now; read the difference.

mod random;
#[path = "random/rare.rs"]
mod rare;

use std::fmt::Write as _;
use std::path::Path;

use random::{STEPS, Scenario, corpus, default_config};
use rare::rare;
use sim_core::{Counts, Cycle, LostSlots, PmuEvent, RootCause, StallCause};
use sim_pipeline::Pipeline;

/// Random scenarios of 250 instructions each.
const SCENARIOS: u64 = 400;

/// Sums over all scenarios.
#[derive(Default)]
struct Sums {
    counts: Counts,
    lost: LostSlots,
    /// Of the cycles in which an instruction was fetched, renamed, issued, completed, retired and written.
    stages: [Cycle; 6],
}

/// Runs the scenario of this seed and adds what it counts.
fn run(scenario: &mut Scenario, sums: &mut Sums) {
    let mut pipeline = Pipeline::new(&scenario.config);
    for _ in 0..STEPS {
        let step = scenario.step();
        let Scenario { program, memory, .. } = scenario;
        let life = *pipeline.run_inst(&step, program, memory, &mut sums.counts);
        let stages =
            [life.fetch, life.rename, life.issue, life.complete, life.retire, life.written];
        for (sum, cycle) in sums.stages.iter_mut().zip(stages) {
            *sum = sum.wrapping_add(cycle);
        }
        if scenario.cuts_window() {
            pipeline.cut_window(&mut sums.counts);
        }
    }
    pipeline.finish(&mut sums.counts);
    sums.lost.plus(pipeline.lost_slots());
}

/// One line for each number that is not 0.
fn lines(sums: &Sums) -> String {
    let mut text = String::from("what\tsum\n");
    let mut line = |name: &str, sum: u64| {
        if sum > 0 {
            writeln!(text, "{name}\t{sum}").expect("a text takes what is written");
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
    let names = ["fetch", "rename", "issue", "complete", "retire", "written"];
    for (name, sum) in names.into_iter().zip(sums.stages) {
        line(&format!("cycles of {name}"), sum);
    }
    text
}

#[test]
fn random_programs_count_as_on_record() {
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
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found, expected);
}
