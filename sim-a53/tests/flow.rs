//! The charts of the flows: what enters a box leaves it, and its events count what its visits
//! imply.

use std::path::Path;

use sim_a53::cluster::EMBEDDED;
use sim_a53::flow::{A53Flow, FLOWS, FlowSink, Steps, accounts};
use sim_a53::{A53Config, A53Counts, A53Event, run_with_sinks};
use sim_core::config::Document;
use sim_trace::TraceFile;

/// Instructions of each thread.
const LIMIT: u64 = 200_000;

fn run(name: &str) -> (Steps, A53Counts) {
    run_set(name, &[])
}

fn run_set(name: &str, settings: &[&str]) -> (Steps, A53Counts) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(name);
    let trace = TraceFile::open(&path).expect("a committed trace");
    let mut document = Document::from_embedded(EMBEDDED[0].name, &EMBEDDED).expect("embedded");
    for setting in settings {
        document = document.set(setting).expect("a key");
    }
    let config = A53Config::from_document(&document).expect("valid");
    let runs = run_with_sinks(&trace, &config, Some(LIMIT), |_| FlowSink::default()).expect("runs");
    let (mut steps, mut counts) = (Steps::default(), A53Counts::default());
    for (_, sink) in &runs {
        steps.join(&sink.steps);
        counts.add(&sink.counts);
    }
    (steps, counts)
}

/// Returns the boxes of a flow whose visits differ from the edges on a side that has some.
fn unbalanced(flow: &A53Flow, steps: &Steps) -> Vec<&'static str> {
    let is_open = |name: &str, visits: u64| {
        let sum = |at: fn(&sim_a53::flow::A53Edge) -> &'static str| {
            let edges = flow.edges.iter().filter(move |edge| at(edge) == name);
            edges.map(|edge| (edge.taken)(steps)).reduce(|sum, taken| sum + taken)
        };
        let sides = [sum(|edge| edge.from), sum(|edge| edge.to)];
        sides.into_iter().flatten().any(|taken| taken != visits)
    };
    let boxes = flow.boxes.iter().map(|own| (own.name, (own.visits)(steps)));
    boxes.filter(|(name, visits)| is_open(name, *visits)).map(|(name, _)| name).collect()
}

#[test]
fn the_charts_account_for_every_event_of_real_programs() {
    let mut visited = vec![false; A53Event::ALL.len()];
    for name in ["hash.n2t", "matrix.n2t", "chase.n2t", "threads/plain_adjacent.n2t"] {
        let (steps, counts) = run(name);
        for flow in FLOWS {
            assert_eq!(unbalanced(flow, &steps), [""; 0], "{name}: {}", flow.name);
        }
        for account in accounts(&steps, &counts) {
            let event = account.event;
            assert_eq!(account.visits, account.counted, "{name}: {}", event.mnemonic());
            visited[event as usize] |= account.visits > 0;
        }
    }
    for event in [
        A53Event::BUS_ACCESS_ST,
        A53Event::EXT_SNOOP,
        A53Event::READ_ALLOC_ENTER,
        A53Event::L2D_CACHE_WB,
        A53Event::PREFETCH_LINEFILL,
        A53Event::PREFETCH_LINEFILL_DROP,
    ] {
        assert!(visited[event as usize], "{}", event.mnemonic());
    }
}

/// Given data and code in memory that no cache keeps, when programs run, then the chart of such
/// accesses accounts for all that the others leave.
#[test]
fn the_charts_account_for_accesses_past_the_caches() {
    for kind in ["non-cacheable", "device"] {
        let setting = format!("memory.pages.{kind}=[\"0x0..0x1000000000000\"]");
        for name in ["hash.n2t", "matrix.n2t"] {
            let (steps, counts) = run_set(name, &[&setting]);
            assert!(counts.value(A53Event::EXT_MEM_REQ_NC) > 0);
            for flow in FLOWS {
                assert_eq!(unbalanced(flow, &steps), [""; 0], "{name}: {}", flow.name);
            }
            for account in accounts(&steps, &counts) {
                let event = account.event.mnemonic();
                assert_eq!(account.visits, account.counted, "{kind}, {name}: {event}");
            }
        }
    }
}

/// A kernel maintains caches, which raises events beside the flows: those alone differ.
#[test]
fn only_maintenance_and_walks_of_it_differ_with_a_kernel() {
    let (steps, counts) = run("system.n2t");
    for account in accounts(&steps, &counts) {
        let may_differ = matches!(
            account.event,
            A53Event::L1D_CACHE_WB | A53Event::L2D_CACHE_WB | A53Event::BUS_ACCESS_ST
        );
        assert!(may_differ || account.visits == account.counted, "{account:?}");
    }
}
