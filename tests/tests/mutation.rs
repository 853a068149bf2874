//! Every place that raises an event is proved to matter: silent or doubled, it fails a scenario.
//!
//! Run it alone with `cargo test -p sim-tests --test mutation`; the survivors that it prints are
//! places whose events no scenario holds. A survivor needs a scenario, not a row in the tables below:
//! these are for what no scenario can reach, and a row that is not needed any more fails the test.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sim_core::FlowEdge;
use sim_machine::scenario::{configure, run_case_on};
use sim_machine::{ConfigSource, MachineConfig};
use sim_tests::cases::{FiledCase, all_cases};
use sim_tests::mutation::{Fault, Faulty, Learner, Reached, Site, raising_lines};
use sim_tests::{files_below, read, repository};
use sim_trace::scenario::Reading;

/// Lines that no scenario reaches: file, a piece of the line, why.
const UNREACHED: [(&str, &str, &str); 2] = [
    (
        "sim-pipeline/src/restart.rs",
        "EXC_TAKEN",
        "an instruction of a scenario is fetched for free, so that its own fetch never faults: \
         F.5.3.4 holds the abort of a fetch alone, sim-pipeline/tests/delivery.rs that of a whole one",
    ),
    ("sim-pipeline/src/restart.rs", "EXC_PABORT", "as above"),
];

/// Faults that no scenario notices: file, a piece of the line, event or `*`, why.
const SURVIVORS: [(&str, &str, &str, &str); 0] = [];

struct Bench {
    cases: Vec<FiledCase>,
    configs: Vec<MachineConfig>,
}

impl Bench {
    /// Every case with its machine.
    fn new() -> Bench {
        let cases = all_cases();
        let configured = |filed: &FiledCase| {
            configure(&filed.case, &ConfigSource::default())
                .unwrap_or_else(|error| panic!("{}: {error}", filed.case.test))
        };
        let configs = cases.iter().map(configured).collect();
        Bench { cases, configs }
    }

    /// Which cases reach which place.
    fn learn(&self) -> Reached {
        let mut reached = Reached::new();
        for (i, filed) in self.cases.iter().enumerate() {
            let run =
                run_case_on(&filed.case, &self.configs[i], Reading::Guide, Learner::default());
            let (verdict, learner) =
                run.unwrap_or_else(|error| panic!("{}: {error}", filed.case.test));
            assert!(verdict.holds(), "{}", verdict.explain(&filed.file, &filed.case));
            for site in learner.sites {
                reached.entry(site).or_default().push(i);
            }
        }
        for cases in reached.values_mut() {
            cases.sort_by_key(|i| self.cases[*i].case.steps.len());
        }
        reached
    }

    /// True when one of these cases fails on a machine with the fault.
    fn is_noticed(&self, fault: Fault, cases: &[usize]) -> bool {
        cases.iter().any(|i| {
            let case = &self.cases[*i].case;
            let run = run_case_on(case, &self.configs[*i], Reading::Guide, Faulty::new(fault));
            run.map_or(true, |(verdict, _)| !verdict.holds())
        })
    }
}

/// What `work` says of each item, with all threads of the host.
fn on_all_threads<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Option<R> + Sync) -> Vec<R> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(result) = work(item) {
                        found.lock().expect("no thread panics with it").push(result);
                    }
                }
            });
        }
    });
    found.into_inner().expect("all threads are done")
}

/// Sources of the model: file as the compiler names it, and text.
fn sources() -> BTreeMap<String, String> {
    let top = repository();
    let mut sources = BTreeMap::new();
    for folder in ["sim-cache/src", "sim-pipeline/src"] {
        for path in files_below(&top.join(folder), "rs") {
            let name = path.strip_prefix(&top).unwrap_or(&path).display().to_string();
            sources.insert(name, read(&path));
        }
    }
    sources
}

fn line_of(sources: &BTreeMap<String, String>, site: &Site) -> String {
    let text = sources.get(site.file).map(String::as_str).unwrap_or_default();
    text.lines().nth(site.line as usize - 1).unwrap_or_default().trim().to_owned()
}

#[test]
fn every_place_that_raises_an_event_fails_a_scenario_when_it_is_silent_or_doubled() {
    let bench = Bench::new();
    let reached = bench.learn();
    let sources = sources();
    let faults: Vec<(Fault, &Site, &Vec<usize>)> = reached
        .iter()
        .flat_map(|(site, cases)| {
            [Fault::Silent(*site), Fault::Double(*site)].map(|fault| (fault, site, cases))
        })
        .collect();
    assert!(faults.len() > 200, "only {} faults: the sinks hear too little", faults.len());
    let survivors = on_all_threads(&faults, |(fault, site, cases)| {
        (!bench.is_noticed(*fault, cases)).then_some((*fault, **site))
    });
    let mut told = Vec::new();
    let mut used = [false; SURVIVORS.len()];
    for (fault, site) in survivors {
        let line = line_of(&sources, &site);
        let row = SURVIVORS.iter().position(|(file, piece, event, _)| {
            let named = *event == "*" || *event == site.event.mnemonic();
            site.file.ends_with(file) && line.contains(piece) && named
        });
        match row {
            Some(row) => used[row] = true,
            None => {
                let what = if matches!(fault, Fault::Silent(_)) { "silent" } else { "doubled" };
                let Site { file, line: number, event } = site;
                told.push(format!("{file}:{number}: {} {what}: {line}", event.mnemonic()));
            }
        }
    }
    told.sort();
    for (row, _) in SURVIVORS.iter().zip(used).filter(|(_, used)| !used) {
        told.push(format!("SURVIVORS: {} '{}' is noticed now: take the row out", row.0, row.1));
    }
    let total = faults.len();
    assert!(told.is_empty(), "{} of {total} faults:\n{}", told.len(), told.join("\n"));
}

/// Every edge that the model reports lies on the path of a case, which fails without it.
#[test]
fn every_edge_of_the_flows_fails_a_scenario_when_it_is_lost_or_doubled() {
    let bench = Bench::new();
    let mut told = Vec::new();
    for edge in FlowEdge::ALL {
        let named: Vec<usize> = (0..bench.cases.len())
            .filter(|i| bench.cases[*i].case.ways.iter().any(|way| way.flow == edge.info().flow))
            .collect();
        for fault in [Fault::LostEdge(*edge), Fault::DoubleEdge(*edge)] {
            if !bench.is_noticed(fault, &named) {
                told.push(format!("{fault:?}"));
            }
        }
    }
    assert!(told.is_empty(), "{} faults:\n{}", told.len(), told.join("\n"));
}

#[test]
fn every_line_that_raises_an_event_is_reached_by_a_scenario() {
    let reached = Bench::new().learn();
    let sources: Vec<(String, String)> = sources().into_iter().collect();
    let mut told = Vec::new();
    let mut used = [false; UNREACHED.len()];
    for (file, number, code) in raising_lines(&sources) {
        if reached.keys().any(|site| site.line == number && site.file == file) {
            continue;
        }
        let row = UNREACHED
            .iter()
            .position(|(name, piece, _)| file.ends_with(name) && code.contains(piece));
        match row {
            Some(row) => used[row] = true,
            None => told.push(format!("{file}:{number}: {code}")),
        }
    }
    for (row, _) in UNREACHED.iter().zip(used).filter(|(_, used)| !used) {
        told.push(format!("UNREACHED: {} '{}' is reached now: take the row out", row.0, row.1));
    }
    assert!(told.is_empty(), "{} lines:\n{}", told.len(), told.join("\n"));
}
