//! Every decision of the flows is reported where it is taken: as many accesses leave a box as enter
//! it, and the visits of the boxes account for the events that are raised there.

use std::path::Path;
use std::thread::ScopedJoinHandle;

use sim_core::flow::{Flow, FlowCounts, FlowGraph, TIES, Tie, account};
use sim_core::pmu_event::RelationKind;
use sim_core::{Counts, FlowEdge, PmuEvent};
use sim_lab::FlowWatch;
use sim_machine::{ConfigSource, RunOptions};
use sim_metrics::identities::{self, Assumptions};
use sim_scenario::{configure, walk_case};
use sim_tests::cases::{RecordedCase, recorded_cases};
use sim_tests::trace_check::open;
use sim_tests::{files_below, repository};

/// Findings so far, over all runs.
#[derive(Default)]
struct Audit {
    faults: Vec<String>,
    /// Rows of [`TIES`] for which visits and count were not the same in some run.
    used: [bool; TIES.len()],
    /// Rows of [`PARTS`] that some run needed.
    parts: [bool; PARTS.len()],
}

/// Uncached accesses that the bus splits: each further part counts (4.6.7, 4.6.8). All parts are
/// translated and go through their flow with the first one.
const PARTS: [(&str, PmuEvent); 2] = [
    ("T.BUS_ACCESS.6", PmuEvent::MEM_ACCESS_RD),
    ("a non-cacheable store over the width of the bus", PmuEvent::MEM_ACCESS_WR),
];

impl Audit {
    /// Checks that as many accesses leave a box as enter it, and that its visits account for the
    /// events that are raised there.
    fn check(&mut self, name: &str, graphs: &[FlowGraph], flows: &FlowCounts, counts: &Counts) {
        for graph in graphs {
            let section = graph.flow().info().section;
            for (place, entered, left) in flows.unbalanced(graph) {
                self.faults.push(format!("{name}: {section} {place}: {entered} in, {left} out"));
            }
        }
        for account in account(flows, counts) {
            let (event, visits, counted) = (account.event, account.visits, account.counted);
            if let Some(row) = TIES.iter().position(|(tied, ..)| *tied == event) {
                self.used[row] |= visits != counted || matches!(account.tie, Tie::VisitsIn(_));
            }
            let part = PARTS.iter().position(|(case, part)| *case == name && *part == event);
            if let Some(part) = part.filter(|_| !account.holds() && visits + 1 == counted) {
                self.parts[part] = true;
            } else if !account.holds() {
                let (event, tie) = (event.mnemonic(), account.tie);
                self.faults
                    .push(format!("{name}: {event}: {visits} visits, {counted} counted, {tie:?}"));
            }
        }
    }

    fn close(&self) {
        let faults = &self.faults;
        assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    }
}

fn graphs() -> Vec<FlowGraph> {
    Flow::ALL.into_iter().map(FlowGraph::new).collect()
}

#[test]
fn as_many_accesses_leave_a_box_as_enter_it_and_visits_account_for_the_events() {
    let graphs = graphs();
    let mut audit = Audit::default();
    for RecordedCase { case, recorded } in recorded_cases() {
        audit.check(&case.test, &graphs, &recorded.flows, &recorded.counts);
    }
    for ((event, ..), _) in TIES.iter().zip(audit.used).filter(|(_, used)| !used) {
        let event = event.mnemonic();
        audit.faults.push(format!("TIES: {event} equals its visits: remove the row"));
    }
    for ((case, event), _) in PARTS.iter().zip(audit.parts).filter(|(_, used)| !used) {
        let event = event.mnemonic();
        audit.faults.push(format!("PARTS: {case}: {event} equals its visits: remove the row"));
    }
    audit.close();
}

/// The rules between events (guide 2, chapter 4) hold in every case too. Events that are derived
/// from others, or that never count, are never raised; the only exception is the snoop residue of a
/// sum (A08, A05).
#[test]
fn every_case_keeps_the_identities_and_raises_only_the_finest_events() {
    let assumptions = Assumptions { has_stall_slot_erratum: Some(false), ..Assumptions::default() };
    let mut audit = Audit::default();
    for ran in recorded_cases() {
        let (case, counts, clock_runs) = (ran.case, &ran.recorded.counts, ran.clock_runs());
        let value =
            |event| (clock_runs || event != PmuEvent::CPU_CYCLES).then(|| counts.value(event));
        let check = identities::check(value, &assumptions);
        audit.faults.extend(check.violations.iter().map(|fault| format!("{}: {fault}", case.test)));
        for event in PmuEvent::ALL.into_iter().filter(|event| counts.raised(*event) > 0) {
            let derived = [RelationKind::AliasOf, RelationKind::SumOf, RelationKind::ImpliedSumOf];
            let is_derived = derived.into_iter().any(|kind| event.relation(kind).is_some());
            if is_derived && event != PmuEvent::BUS_ACCESS {
                audit.faults.push(format!("{}: {} is raised", case.test, event.mnemonic()));
            }
        }
    }
    audit.close();
}

/// Every committed trace to its end, every core by itself; only edges of the counted part.
#[test]
fn real_programs_follow_the_flows_of_the_guide() {
    let traces = files_below(&repository().join("traces"), "n2t");
    assert!(traces.len() >= 11, "{traces:?}");
    let faults: Vec<String> = std::thread::scope(|scope| {
        let halves = [0, 1].map(|half| traces.iter().skip(half).step_by(2));
        let runs = halves.map(|half| scope.spawn(|| half.flat_map(|path| audited(path)).collect()));
        runs.into_iter()
            .flat_map(|run: ScopedJoinHandle<'_, Vec<String>>| run.join().expect("a run ends"))
            .collect()
    });
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Returns the faults in the flows of one trace.
fn audited(path: &Path) -> Vec<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let session = open(path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut watch = FlowWatch::default();
    let outcome = session
        .run_with_sink(&RunOptions::default(), &mut |_| {}, &mut watch)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let (graphs, mut audit) = (graphs(), Audit::default());
    assert_eq!(watch.cores().count(), outcome.cores.len(), "{name}");
    for (number, (flows, core)) in watch.cores().zip(&outcome.cores).enumerate() {
        assert!(flows.taken(FlowEdge::FetchTlbHit) > 0, "{name} reports no edge");
        audit.check(&format!("{name} core {number}"), &graphs, flows, &core.counts.unpack());
    }
    audit.faults
}

/// In a window in the middle of a program, work in flight at the borders is inside or outside for
/// edges and events alike.
#[test]
fn a_window_cuts_edges_and_events_at_the_same_place() {
    let path = repository().join("traces/sort.n2t");
    let session = open(&path).expect("a committed trace");
    let options = RunOptions { warmup: 300_000, limit: Some(400_000), ..RunOptions::default() };
    let mut watch = FlowWatch::default();
    let outcome = session.run_with_sink(&options, &mut |_| {}, &mut watch).expect("a long trace");
    let mut audit = Audit::default();
    for (flows, core) in watch.cores().zip(&outcome.cores) {
        audit.check("sort.n2t", &graphs(), flows, &core.counts.unpack());
    }
    audit.close();
}

/// The steps of a case add up to the case: edges, events.
#[test]
fn the_steps_of_a_case_add_up() {
    let mut walked_edges = 0;
    for RecordedCase { case, recorded: whole } in recorded_cases() {
        let config = configure(case, &ConfigSource::default()).expect("it ran on it");
        let steps = walk_case(case, &config).unwrap_or_else(|e| panic!("{}: {e}", case.test));
        let mut counts = Counts::default();
        steps.iter().for_each(|step| counts.add(&step.counts));
        assert_eq!(counts, whole.counts, "{}", case.test);
        for edge in FlowEdge::ALL {
            let taken: u64 = steps.iter().map(|step| step.flows.taken(*edge)).sum();
            assert_eq!(taken, whole.flows.taken(*edge), "{}: {edge:?}", case.test);
            walked_edges += taken;
        }
    }
    assert!(walked_edges > 1000, "{walked_edges}");
}
