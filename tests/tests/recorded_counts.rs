//! The first instructions of every committed trace, and windows further on, count as on record in
//! every mode.
//!
//! With the pipeline they also count the same by the general path of the core. A change of the
//! model shows its effect on real programs here; a refactoring changes nothing. Other tests check
//! that the counts are right.
//!
//! `N2SIM_BLESS=1 cargo test -p sim-tests recorded_counts::` writes the current counts; read
//! the difference.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use sim_core::{
    Counts, DataSource, EventSink, FlowEdge, LostSlots, Notice, PmuEvent, RootCause, StallCause,
};
use sim_machine::{
    ConfigSource, MachineConfig, Mode, Outcome, RunHeader, RunOptions, Session, Window,
};
use sim_tests::{files_below, read, repository};

/// Instructions of each thread, from its first.
const LIMIT: u64 = 20_000;
/// Instructions of each window, and of those before it that run without counting, or only train
/// caches and predictors.
const WINDOW: u64 = 8_000;
const WARMUP: u64 = 2_000;
const LESSON: u64 = 10_000;
/// Begins of the windows, in percent of the trace.
const BEGINS: [u64; 3] = [30, 60, 90];

/// Sums over the operations of one path, in this order.
const SUMS: [&str; 17] = [
    "operations",
    "mispredicted",
    "from fetch to the end of the front end",
    "from there to rename",
    "from rename to issue",
    "from issue to completion",
    "from completion to retirement",
    "from retirement to the cache",
    "from rename to the base register",
    "translation",
    "data from an older store",
    "data from the L2",
    "data from the system level cache",
    "data from another core",
    "data from another chip",
    "data from memory",
    "data from a device",
];

/// Adds up everything that a sink receives beside counts.
#[derive(PartialEq)]
struct Observed {
    correct_path: [u64; SUMS.len()],
    wrong_path: [u64; SUMS.len()],
    edges: [u64; FlowEdge::COUNT],
}

impl Default for Observed {
    fn default() -> Observed {
        let none = [0; SUMS.len()];
        Observed { correct_path: none, wrong_path: none, edges: [0; FlowEdge::COUNT] }
    }
}

impl EventSink for Observed {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Edge(edge) => {
                self.edges[edge as usize] += 1;
            }
            Notice::Operation(operation) => {
                let timeline = &operation.timeline;
                let is_from = |source| u64::from(timeline.source == source);
                // Differences between stages, so that one late operation changes no later sum.
                let numbers = [
                    1,
                    timeline.mispredicted.into(),
                    timeline.front_end.wrapping_sub(timeline.fetch),
                    timeline.rename.wrapping_sub(timeline.front_end),
                    timeline.issue.wrapping_sub(timeline.rename),
                    timeline.complete.wrapping_sub(timeline.issue),
                    timeline.retire.wrapping_sub(timeline.complete),
                    timeline.written.saturating_sub(timeline.retire),
                    operation.base_ready.saturating_sub(timeline.rename),
                    timeline.translation_cycles.into(),
                    is_from(DataSource::StoreQueue),
                    is_from(DataSource::L2),
                    is_from(DataSource::Slc),
                    is_from(DataSource::Peer),
                    is_from(DataSource::Remote),
                    is_from(DataSource::Dram),
                    is_from(DataSource::Device),
                ];
                let sums =
                    if timeline.wrong_path { &mut self.wrong_path } else { &mut self.correct_path };
                for (sum, n) in sums.iter_mut().zip(numbers) {
                    *sum = sum.wrapping_add(n);
                }
            }
            _ => {}
        }
    }
}

fn session(path: &Path) -> Session {
    let document = ConfigSource::default().document().expect("the built-in configuration");
    let config = MachineConfig::from_document(&document).expect("the built-in configuration");
    Session::open(path, config, RunHeader::default()).expect("a committed trace")
}

fn run(session: &Session) -> Outcome {
    let options = RunOptions { limit: Some(LIMIT), ..RunOptions::default() };
    session.run(&options, &mut |_| {}).expect("a run")
}

fn follow(session: &Session) -> (Outcome, Observed) {
    let options = RunOptions { limit: Some(LIMIT), ..RunOptions::default() };
    let mut observed = Observed::default();
    let outcome = session.run_with_sink(&options, &mut |_| {}, &mut observed).expect("a run");
    (outcome, observed)
}

/// Runs the windows of a trace of one thread; returns none for others.
fn run_windows(session: &Session) -> Vec<Outcome> {
    if session.trace().streams().len() > 1 {
        return Vec::new();
    }
    let windows = BEGINS.map(|percent| Window {
        begin: session.instructions() * percent / 100,
        length: WINDOW,
        warmup: WARMUP,
        functional_warmup: LESSON,
    });
    session.run_windows(&windows, &mut |_| {}).expect("a run")
}

/// One line for each name, with the numbers of the runs; lines of zeros are left out.
#[derive(Default)]
struct Table(String);

impl Table {
    fn row(&mut self, name: &str, numbers: [u64; 4]) {
        if numbers != [0; 4] {
            let [full, memory, frontend, windows] = numbers;
            writeln!(self.0, "{name}\t{full}\t{memory}\t{frontend}\t{windows}")
                .expect("a text takes all");
        }
    }

    fn lost(&mut self, full: &LostSlots, windows: &LostSlots) {
        for cause in StallCause::ALL {
            for root in RootCause::ALL {
                let name = format!("lost slots: {}, {}", cause.label(), root.label());
                self.row(&name, [full.at(cause, root), 0, 0, windows.at(cause, root)]);
            }
        }
    }
}

/// Returns all numbers of a trace.
fn table(path: &Path, full: &Outcome, windows: &[Outcome], observed: &Observed) -> String {
    let mut table = Table("what\tfull\tmemory\tfrontend\twindows\n".into());
    let in_mode = |mode| run(&session(path).in_mode(mode)).total();
    let totals = [full.total(), in_mode(Mode::Memory), in_mode(Mode::Frontend)];
    let (mut lost, in_windows) = (LostSlots::default(), windows.iter().map(Outcome::total));
    windows.iter().for_each(|window| lost.plus(&window.stalls()));
    let in_windows: Vec<Counts> = in_windows.collect();
    for event in PmuEvent::ALL {
        let [full, memory, frontend] = totals.each_ref().map(|total| total.value(event));
        let windows = in_windows.iter().map(|counts| counts.value(event)).sum();
        table.row(event.mnemonic(), [full, memory, frontend, windows]);
    }
    table.lost(&full.stalls(), &lost);
    for (path, sums) in [("right", observed.correct_path), ("wrong", observed.wrong_path)] {
        for (name, sum) in SUMS.into_iter().zip(sums) {
            table.row(&format!("{path} path: {name}"), [sum, 0, 0, 0]);
        }
    }
    for (edge, sum) in FlowEdge::ALL.iter().zip(observed.edges) {
        table.row(&format!("edge: {edge:?}"), [sum, 0, 0, 0]);
    }
    table.0
}

/// Returns the faults of one trace, in one line.
fn faults_of(path: &Path, name: &str) -> Option<String> {
    let session = session(path);
    let full = run(&session);
    let general = run(&self::session(path).without_path_classes());
    if let Some(difference) = difference(&full, &general) {
        return Some(format!("{name}: by the general path {difference}"));
    }
    let (followed, observed) = follow(&self::session(path));
    if let Some(difference) = difference(&full, &followed) {
        return Some(format!("{name}: with a sink that observes operations {difference}"));
    }
    if observed != follow(&self::session(path).without_path_classes()).1 {
        return Some(format!("{name}: by the general path other operations are reported"));
    }
    let windows = run_windows(&session);
    let general = run_windows(&self::session(path).without_path_classes());
    let differences = windows.iter().zip(&general).map(|(one, other)| difference(one, other));
    if let Some(difference) = differences.flatten().next() {
        return Some(format!("{name}: in a window by the general path {difference}"));
    }
    let found = table(path, &full, &windows, &observed);
    let record = repository().join("tests/recorded-counts").join(format!("{name}.tsv"));
    if std::env::var_os("N2SIM_BLESS").is_some() {
        std::fs::write(&record, &found).expect("the record is written");
    }
    let expected = read(&record);
    if found == expected {
        return None;
    }
    let moved = found.lines().zip(expected.lines()).position(|(found, expected)| found != expected);
    let line = moved.unwrap_or_else(|| found.lines().count().min(expected.lines().count()));
    let of = |text: &str| text.lines().nth(line).unwrap_or("no line").to_owned();
    let (found, expected) = (of(&found), of(&expected));
    Some(format!(
        "tests/recorded-counts/{name}.tsv:{}: found `{found}`, on record `{expected}`; if the model is to count so, \
         bless it (see the top of this test)",
        line + 1
    ))
}

/// Returns the first event, or the lost slots, with different numbers in two runs.
fn difference(one: &Outcome, other: &Outcome) -> Option<String> {
    let (first, second) = (one.total(), other.total());
    let event = PmuEvent::ALL.iter().find(|event| first.value(**event) != second.value(**event));
    let of_event = event.map(|event| {
        let [first, second] = [&first, &second].map(|counts| counts.value(*event));
        format!("{} is {second}, not {first}", event.mnemonic())
    });
    let of_slots = || (one.stalls() != other.stalls()).then(|| "other slots are lost".to_owned());
    of_event.or_else(of_slots)
}

#[test]
fn committed_traces_count_as_on_record() {
    let traces = files_below(&repository().join("traces"), "n2t");
    assert!(!traces.is_empty(), "traces/ holds recorded programs");
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let names: BTreeSet<String> = traces.iter().map(|path| name(path)).collect();
    assert_eq!(names.len(), traces.len(), "each trace has a name, and so a record, of its own");
    let faults: Vec<String> =
        traces.iter().filter_map(|path| faults_of(path, &name(path))).collect();
    assert!(faults.is_empty(), "{} traces:\n{}", faults.len(), faults.join("\n"));
    let records = files_below(&repository().join("tests/recorded-counts"), "tsv");
    let records: BTreeSet<String> = records.iter().map(|path| name(path)).collect();
    assert_eq!(records, names, "every record has its trace");
}
