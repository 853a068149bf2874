//! Every place that raises an event is proved to matter: silent or doubled, it fails a scenario.
//!
//! Run it alone with `cargo test -p sim-tests mutation::`. The survivors that it prints are
//! places whose events no scenario checks. A survivor needs a scenario, not a row in the tables
//! below: these are for places that no scenario can reach, and an unneeded row fails the test.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sim_core::{FlowEdge, PmuEvent};
use sim_isa::StaticEvents;
use sim_machine::{ConfigSource, MachineConfig};
use sim_scenario::{Reading, configure, run_case_on};
use sim_tests::cases::{FiledCase, all_cases};
use sim_tests::mutation::{Fault, Faulty, Learner, RaisingLine, Reached, Site, raising_lines};
use sim_tests::{files_below, read, repository};

/// Events of a line that no scenario raises there: file, a piece of the line, event, reason.
const UNREACHED: [(&str, &str, &str, &str); 5] = [
    ("sim-pipeline/src/stages/in_order.rs", "retired", "INST_RETIRED", WITHOUT_PIPELINE),
    ("sim-pipeline/src/stages/in_order.rs", "sink.raise(event)", "BR_IMMED_SPEC", WITHOUT_PIPELINE),
    (
        "sim-pipeline/src/stages/in_order.rs",
        "sink.raise(event)",
        "BR_RETURN_SPEC",
        WITHOUT_PIPELINE,
    ),
    (
        "sim-pipeline/src/stages/in_order.rs",
        "sink.raise(event)",
        "BR_INDIRECT_SPEC",
        WITHOUT_PIPELINE,
    ),
    (
        "sim-pmu/src/spe/unit.rs",
        "PmuEvent::SAMPLE_POP, mops",
        "SAMPLE_POP",
        "scenarios report every operation; tests/tests/deferred.rs compares runs that skip some",
    ),
];

const WITHOUT_PIPELINE: &str =
    "scenarios run the whole core; sim-machine/tests/modes.rs holds what parts of it count";

/// Events of [`StaticEvents`] that count when an instruction issues, and those that count when it
/// is renamed.
const ISSUED: [PmuEvent; 6] = chosen(true);
const RENAMED: [PmuEvent; StaticEvents::LIST.len() - 6] = chosen(false);

const fn chosen<const N: usize>(at_issue: bool) -> [PmuEvent; N] {
    let (mut all, mut n, mut i) = ([StaticEvents::LIST[0]; N], 0, 0);
    while i < StaticEvents::LIST.len() {
        if (StaticEvents::AT_ISSUE.0 >> i & 1 == 1) == at_issue {
            all[n] = StaticEvents::LIST[i];
            n += 1;
        }
        i += 1;
    }
    all
}

/// Events of lines that take their event from a variable or a table: file, a piece of the line,
/// events.
const TABLES: [(&str, &str, &[PmuEvent]); 14] = [
    (
        "sim-pipeline/src/stages/in_order.rs",
        "sink.raise(event)",
        &[PmuEvent::BR_IMMED_SPEC, PmuEvent::BR_RETURN_SPEC, PmuEvent::BR_INDIRECT_SPEC],
    ),
    ("sim-pipeline/src/stages/events.rs", "sink.count(StaticEvents", &RENAMED),
    ("sim-pipeline/src/stages/events.rs", "sink.raise(StaticEvents", &ISSUED),
    (
        "sim-pipeline/src/stages/events.rs",
        "fp_element_ops",
        &[PmuEvent::FP_SCALE_OPS_SPEC, PmuEvent::FP_FIXED_OPS_SPEC],
    ),
    (
        "sim-pipeline/src/stages/sve_elements.rs",
        "sink.count(event",
        &[PmuEvent::SVE_PRED_EMPTY_SPEC, PmuEvent::SVE_PRED_PARTIAL_SPEC],
    ),
    (
        "sim-pipeline/src/stages/exceptions.rs",
        "sink.raise(event)",
        &[
            PmuEvent::EXC_SVC,
            PmuEvent::EXC_HVC,
            PmuEvent::EXC_SMC,
            PmuEvent::EXC_UNDEF,
            PmuEvent::EXC_PABORT,
            PmuEvent::EXC_DABORT,
            PmuEvent::EXC_IRQ,
            PmuEvent::EXC_FIQ,
            PmuEvent::EXC_TRAP_PABORT,
            PmuEvent::EXC_TRAP_DABORT,
            PmuEvent::EXC_TRAP_OTHER,
            PmuEvent::EXC_TRAP_IRQ,
            PmuEvent::EXC_TRAP_FIQ,
        ],
    ),
    (
        "sim-cache/src/flows/l1d_load.rs",
        "sink.raise(refill)",
        &[PmuEvent::L1D_CACHE_REFILL_RD, PmuEvent::L1D_CACHE_REFILL_WR],
    ),
    (
        "sim-cache/src/flows/l1d_load.rs",
        "inner_or_outer",
        &[PmuEvent::L1D_CACHE_REFILL_INNER, PmuEvent::L1D_CACHE_REFILL_OUTER],
    ),
    (
        "sim-cache/src/flows/walk.rs",
        "requester.walk()",
        &[PmuEvent::DTLB_WALK, PmuEvent::ITLB_WALK],
    ),
    (
        "sim-cache/src/flows/walk.rs",
        "requester.l2_refill()",
        &[PmuEvent::L2D_TLB_REFILL_RD, PmuEvent::L2D_TLB_REFILL_WR],
    ),
    (
        "sim-cache/src/flows/translate.rs",
        "requester.l2_lookup()",
        &[PmuEvent::L2D_TLB_RD, PmuEvent::L2D_TLB_WR],
    ),
    (
        "sim-cache/src/flows/translate.rs",
        "requester.l1_refill()",
        &[PmuEvent::L1D_TLB_REFILL_RD, PmuEvent::L1D_TLB_REFILL_WR, PmuEvent::L1I_TLB_REFILL],
    ),
    (
        "sim-cache/src/flows/l2.rs",
        "lookup_event",
        &[PmuEvent::L2D_CACHE_RD, PmuEvent::L2D_CACHE_WR],
    ),
    (
        "sim-cache/src/flows/l2.rs",
        "transaction(event, LINE_BYTES",
        &[PmuEvent::BUS_ACCESS_RD, PmuEvent::BUS_ACCESS_WR],
    ),
];

/// Faults that no scenario notices: file, a piece of the line, event or `*`, reason.
const SURVIVORS: [(&str, &str, &str, &str); 0] = [];

struct Bench {
    cases: &'static [FiledCase],
    configs: Vec<MachineConfig>,
}

impl Bench {
    /// Returns every case with its machine.
    fn new() -> Bench {
        let cases = all_cases();
        let configured = |filed: &FiledCase| {
            configure(&filed.case, &ConfigSource::default())
                .unwrap_or_else(|error| panic!("{}: {error}", filed.case.test))
        };
        let configs = cases.iter().map(configured).collect();
        Bench { cases, configs }
    }

    /// Returns which cases reach which place.
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

    /// Returns true when one of these cases fails on a machine with the fault.
    fn is_noticed(&self, fault: Fault, cases: &[usize]) -> bool {
        cases.iter().any(|i| {
            let case = &self.cases[*i].case;
            let run = run_case_on(case, &self.configs[*i], Reading::Guide, Faulty::new(fault));
            run.map_or(true, |(verdict, _)| !verdict.holds())
        })
    }
}

/// Applies `work` to each item, with all threads of the host, and collects the results.
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

/// Returns the sources of the model: file as the compiler names it, and text.
fn sources() -> BTreeMap<String, String> {
    let top = repository();
    let mut sources = BTreeMap::new();
    for folder in ["sim-cache/src", "sim-pipeline/src", "sim-pmu/src/spe"] {
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
    assert!(faults.len() > 200, "only {} faults: the sinks observe too little", faults.len());
    let survivors = on_all_threads(&faults, |(fault, site, cases)| {
        (!bench.is_noticed(*fault, cases)).then_some((*fault, **site))
    });
    let mut problems = Vec::new();
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
                problems.push(format!("{file}:{number}: {} {what}: {line}", event.mnemonic()));
            }
        }
    }
    problems.sort();
    for (row, _) in SURVIVORS.iter().zip(used).filter(|(_, used)| !used) {
        problems.push(format!("SURVIVORS: {} '{}' is noticed now: remove the row", row.0, row.1));
    }
    let total = faults.len();
    assert!(problems.is_empty(), "{} of {total} faults:\n{}", problems.len(), problems.join("\n"));
}

/// Every edge that the model reports lies on the path of a case, which fails without it.
#[test]
fn every_edge_of_the_flows_fails_a_scenario_when_it_is_lost_or_doubled() {
    let bench = Bench::new();
    let mut problems = Vec::new();
    for edge in FlowEdge::ALL {
        let named: Vec<usize> = (0..bench.cases.len())
            .filter(|i| bench.cases[*i].case.ways.iter().any(|way| way.flow == edge.info().flow))
            .collect();
        for fault in [Fault::LostEdge(*edge), Fault::DoubleEdge(*edge)] {
            if !bench.is_noticed(fault, &named) {
                problems.push(format!("{fault:?}"));
            }
        }
    }
    assert!(problems.is_empty(), "{} faults:\n{}", problems.len(), problems.join("\n"));
}

/// Every event that a line can raise is raised there by a scenario: the events that the line names,
/// or that its row in [`TABLES`] lists. The test above silences and doubles the reached ones.
#[test]
fn every_line_raises_each_of_its_events_in_a_scenario() {
    let reached = Bench::new().learn();
    let sources: Vec<(String, String)> = sources().into_iter().collect();
    let mut problems = Vec::new();
    let mut used = [false; UNREACHED.len()];
    let mut used_tables = [false; TABLES.len()];
    for RaisingLine { file, line, code, named } in raising_lines(&sources) {
        let table = TABLES.iter().position(|row| file.ends_with(row.0) && code.contains(row.1));
        let expected = match table {
            _ if !named.is_empty() => named,
            Some(row) => {
                used_tables[row] = true;
                TABLES[row].2.to_vec()
            }
            None => {
                problems.push(format!("{file}:{line}: which events? add a row to TABLES: {code}"));
                continue;
            }
        };
        let here = |site: &&Site| site.line == line && site.file == file;
        let raised: Vec<PmuEvent> = reached.keys().filter(here).map(|site| site.event).collect();
        for event in expected.iter().filter(|event| !raised.contains(event)) {
            let row = UNREACHED.iter().position(|(name, piece, of, _)| {
                file.ends_with(name) && code.contains(piece) && *of == event.mnemonic()
            });
            match row {
                Some(row) => used[row] = true,
                None => problems.push(format!("{file}:{line}: {} by {code}", event.mnemonic())),
            }
        }
        for event in raised.iter().filter(|event| !expected.contains(event)) {
            problems.push(format!("TABLES: {file}:{line} raises {} too: {code}", event.mnemonic()));
        }
    }
    for (row, _) in UNREACHED.iter().zip(used).filter(|(_, used)| !used) {
        problems.push(format!("UNREACHED: {} '{}' is reached now: remove the row", row.0, row.1));
    }
    for (row, _) in TABLES.iter().zip(used_tables).filter(|(_, used)| !used) {
        problems.push(format!("TABLES: no line for {} '{}': remove the row", row.0, row.1));
    }
    assert!(problems.is_empty(), "{} events:\n{}", problems.len(), problems.join("\n"));
}
