//! Explanations of sections of the guide: groups of events (4.1 to 4.14) and flows (5.1 to 5.8).

use sim_core::PmuEvent;
use sim_core::flow::{Flow, FlowEdge};
use sim_core::pmu_event::Group;

use super::{EventRelation, Explanation, Index, Kind, Origin, Proof};

/// Most scenarios listed for a group of events.
const NAMED: usize = 8;

/// Explains a section: `4.2` or `5.4`. Returns `None` for a section of a single event, which the
/// event explains.
pub fn section(number: &str) -> Option<Explanation> {
    let group = Group::ALL.into_iter().find(|group| group.section() == number);
    group.map(of_group).or_else(|| Flow::of_section(number).map(of_flow))
}

fn blank(section: &str, title: &str, counts: Vec<String>) -> Explanation {
    Explanation {
        kind: Kind::Section,
        name: section.to_owned(),
        code: None,
        title: title.to_owned(),
        section: section.to_owned(),
        unit: String::new(),
        formula: None,
        counts,
        excludes: Vec::new(),
        relations: Vec::new(),
        other_names: Vec::new(),
        pitfalls: Vec::new(),
        raised: Vec::new(),
        scenarios: Vec::new(),
        more_scenarios: 0,
        example: None,
    }
}

fn of_group(group: Group) -> Explanation {
    let events: Vec<PmuEvent> =
        PmuEvent::ALL.into_iter().filter(|event| event.info().group == group).collect();
    let evidence = || events.iter().map(|event| Index::get().event(*event));
    let first: Vec<Proof> = evidence().filter_map(|own| own.scenarios.first().cloned()).collect();
    let all: usize = evidence().map(|own| own.scenarios.len() + own.more_scenarios).sum();
    let scenarios: Vec<Proof> = first.into_iter().take(NAMED).collect();
    let names = events.iter().map(|event| event.mnemonic().to_owned()).collect();
    let own_events =
        EventRelation { label: String::from("its events"), origin: Origin::Printed, others: names };
    Explanation {
        relations: vec![own_events],
        more_scenarios: all - scenarios.len(),
        scenarios,
        example: evidence().find_map(|own| own.example.clone()),
        ..blank(&group.section(), group.title(), vec![about(group).to_owned()])
    }
}

/// Returns the common subject of a group of events, in a sentence.
fn about(group: Group) -> &'static str {
    match group {
        Group::Tlb => {
            "translation of addresses: lookups and refills of the two L1 TLBs and of the L2 TLB that they share, and the page table walks when all of them miss"
        }
        Group::L1d => {
            "accesses of loads and stores to the L1 data cache: lookups, refills, write-backs and invalidations"
        }
        Group::L1i => "fetches from the L1 instruction cache: lookups and refills",
        Group::L2 => {
            "the private L2, which holds data and code: lookups by the L1 caches and by write-backs, refills, lines written back"
        }
        Group::Llc => {
            "the source of data for a read that left the core: the system level cache, or memory below it. The core has no L3, so the events named after one stay 0"
        }
        Group::Memory => {
            "accesses of the load/store unit wherever they are served, transactions between the core and the interconnect, data from another chip, errors of the core's RAMs"
        }
        Group::Pipeline => {
            "rename slots that stayed empty, as cycles and as slots, divided into front end and back end"
        }
        Group::LoadStore => {
            "load and store instructions by kind: unaligned, exclusive, ordered, barriers. They count when they execute, also on wrong paths"
        }
        Group::Instruction => {
            "instructions and the operations that they become, executed or retired, and instructions by class"
        }
        Group::Branch => "branches by kind, executed or retired, and mispredicted branches",
        Group::Exception => {
            "exceptions taken and returns, by kind and by whether they are taken locally"
        }
        Group::Cpu => {
            "clocks, the carry that combines two counters, and events that software raises"
        }
        Group::Simd => {
            "Advanced SIMD, floating-point and SVE work: instructions, operations, elements, predicates"
        }
        Group::Spe => {
            "the statistical profiling unit: its population, the samples that it takes, those that its filters keep, and those that collide"
        }
    }
}

fn of_flow(flow: Flow) -> Explanation {
    let info = flow.info();
    let boxes = info.boxes.iter().map(|part| {
        let names: Vec<&str> = part.events.iter().map(|event| event.mnemonic()).collect();
        let number = if part.step > 0 { format!("{}. ", part.step) } else { String::new() };
        match names.as_slice() {
            [] => format!("{number}{}", part.name),
            _ => format!("{number}{}: raises {}", part.name, names.join(", ")),
        }
    });
    let ways = FlowEdge::ALL.iter().map(|edge| edge.info()).filter(|edge| edge.flow == flow);
    let relations = ways.map(|edge| EventRelation {
        label: format!("{}, {}", edge.from, edge.label),
        origin: Origin::Printed,
        others: vec![edge.to.to_owned()],
    });
    let evidence = Index::get().flow(info.section).cloned().unwrap_or_default();
    Explanation {
        relations: relations.collect(),
        scenarios: evidence.scenarios,
        more_scenarios: evidence.more_scenarios,
        example: evidence.example,
        ..blank(info.section, info.title, boxes.collect())
    }
}
