//! Every decision of the flows is reported where it is taken: what enters a box leaves it, and the
//! visits of the boxes account for the events that are raised there.

use std::collections::BTreeMap;

use sim_core::flow::{Flow, FlowGraph};
use sim_core::pmu_event::RelationKind;
use sim_core::{FlowEdge, PmuEvent};
use sim_machine::scenario::{Recorded, configure, run_case_on};
use sim_machine::{ConfigSource, RunOptions};
use sim_metrics::identities::{self, Assumptions};
use sim_tests::cases::all_cases;
use sim_tests::trace_check::open;
use sim_tests::{files_below, repository};
use sim_trace::scenario::{Action, Reading};

/// Events of boxes that are raised elsewhere too, with the reason why visits do not tell them.
const ELSEWHERE: [(PmuEvent, &str); 9] = [
    (
        PmuEvent::LD_SPEC,
        "once for an instruction, by the pipeline; a split load enters twice (A11)",
    ),
    (PmuEvent::ST_SPEC, "as for loads"),
    (PmuEvent::MEM_ACCESS_RD, "printed in 5.1 and in 5.4, one occurrence (A10)"),
    (PmuEvent::MEM_ACCESS_WR, "printed in 5.2 and in 5.5, one occurrence (A10)"),
    (PmuEvent::L2D_TLB_REFILL_RD, "partial entries count by a semantics key (A14)"),
    (PmuEvent::L2D_TLB_REFILL_WR, "partial entries count by a semantics key (A14)"),
    (PmuEvent::BUS_ACCESS_RD, "uncached reads and prefetches use the bus beside the flows (4.6.5)"),
    (PmuEvent::BUS_ACCESS_WR, "uncached writes, evictions and cleans use it too (4.6.6, A48)"),
    (PmuEvent::REMOTE_ACCESS, "uncached reads return data of another chip too (4.6.4)"),
];

/// Instructions of each thread of a trace that are run here.
const LIMIT: u64 = 1_000_000;

/// What was found so far, over all runs.
#[derive(Default)]
struct Audit {
    faults: Vec<String>,
    /// Rows of [`ELSEWHERE`] that some run needed.
    used: [bool; ELSEWHERE.len()],
}

impl Audit {
    /// Holds the visits of every box against the events that were raised.
    fn check(&mut self, name: &str, graphs: &[FlowGraph], recorded: &Recorded) {
        let Recorded { counts, flows, .. } = recorded;
        let mut visited: BTreeMap<PmuEvent, u64> = BTreeMap::new();
        for graph in graphs {
            let section = graph.flow().info().section;
            for (place, entered, left) in flows.unbalanced(graph) {
                self.faults.push(format!("{name}: {section} {place}: {entered} in, {left} out"));
            }
            for (event, visits) in flows.events(graph) {
                *visited.entry(event).or_default() += visits;
            }
        }
        for (event, visits) in visited {
            let raised = counts.raised(event);
            if raised == visits {
                continue;
            }
            match ELSEWHERE.iter().position(|(elsewhere, _)| *elsewhere == event) {
                Some(row) => self.used[row] = true,
                None => {
                    let event = event.mnemonic();
                    self.faults.push(format!("{name}: {event}: {visits} visits, {raised} raised"));
                }
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
fn what_enters_a_box_leaves_it_and_visits_account_for_the_events() {
    let graphs = graphs();
    let mut audit = Audit::default();
    for filed in all_cases() {
        let case = &filed.case;
        let config = configure(case, &ConfigSource::default()).expect("the suite runs it");
        let (_, recorded) = run_case_on(case, &config, Reading::Guide, Recorded::default())
            .unwrap_or_else(|error| panic!("{}: {error}", case.test));
        audit.check(&case.test, &graphs, &recorded);
    }
    for (row, _) in ELSEWHERE.iter().zip(audit.used).filter(|(_, used)| !used) {
        let event = row.0.mnemonic();
        audit.faults.push(format!("ELSEWHERE: {event} is told by its visits: take the row out"));
    }
    audit.close();
}

/// The rules between events (guide 2, chapter 4) hold in every case too, and what is derived from other
/// events or never counts is never raised by itself; only the snoop residue of a sum is (A08, A05).
#[test]
fn every_case_keeps_the_identities_and_raises_only_the_finest_events() {
    let assumptions =
        Assumptions { has_stall_slot_erratum: Some(false), has_external_llc: None, tolerance: 0.0 };
    let mut audit = Audit::default();
    for filed in all_cases() {
        let case = &filed.case;
        let config = configure(case, &ConfigSource::default()).expect("the suite runs it");
        let (_, Recorded { counts, .. }) =
            run_case_on(case, &config, Reading::Guide, Recorded::default())
                .unwrap_or_else(|error| panic!("{}: {error}", case.test));
        // Fetches and agents outside do not run the core's clock: rules with it are left out there.
        let clock_runs = case.steps.iter().all(|s| matches!(s.action, Action::Execute { .. }));
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

#[test]
fn real_programs_walk_the_flows_as_the_guide_draws_them() {
    let graphs = graphs();
    let mut audit = Audit::default();
    let options = RunOptions { limit: Some(LIMIT), ..RunOptions::default() };
    for path in files_below(&repository().join("traces"), "n2t") {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let session = open(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut recorded = Recorded::default();
        session
            .run_heard(&options, &mut |_| {}, &mut recorded)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(recorded.flows.taken(FlowEdge::FetchTlbHit) > 0, "{name} reports no edge");
        audit.check(&name, &graphs, &recorded);
    }
    audit.close();
}
