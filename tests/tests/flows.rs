//! Every decision of the flows is reported where it is taken: what enters a box leaves it, and the
//! visits of the boxes account for the events that are raised there.

use std::collections::BTreeMap;

use sim_core::PmuEvent;
use sim_core::flow::{Flow, FlowGraph};
use sim_machine::ConfigSource;
use sim_machine::scenario::{Recorded, configure, run_case_on};
use sim_tests::cases::all_cases;
use sim_trace::scenario::Reading;

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

#[test]
fn what_enters_a_box_leaves_it_and_visits_account_for_the_events() {
    let graphs: Vec<FlowGraph> = Flow::ALL.into_iter().map(FlowGraph::new).collect();
    let mut told = Vec::new();
    let mut used = [false; ELSEWHERE.len()];
    for filed in all_cases() {
        let case = &filed.case;
        let config = configure(case, &ConfigSource::default()).expect("the suite runs it");
        let (_, Recorded { counts, flows }) =
            run_case_on(case, &config, Reading::Guide, Recorded::default())
                .unwrap_or_else(|error| panic!("{}: {error}", case.test));
        let mut visited: BTreeMap<PmuEvent, u64> = BTreeMap::new();
        for graph in &graphs {
            let section = graph.flow().info().section;
            for (name, entered, left) in flows.unbalanced(graph) {
                told.push(format!("{}: {section} {name}: {entered} in, {left} out", case.test));
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
                Some(row) => used[row] = true,
                None => {
                    let name = event.mnemonic();
                    told.push(format!("{}: {name}: {visits} visits, {raised} raised", case.test));
                }
            }
        }
    }
    for (row, _) in ELSEWHERE.iter().zip(used).filter(|(_, used)| !used) {
        told.push(format!(
            "ELSEWHERE: {} is told by its visits: take the row out",
            row.0.mnemonic()
        ));
    }
    assert!(told.is_empty(), "{} faults:\n{}", told.len(), told.join("\n"));
}
