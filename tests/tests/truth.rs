//! Ground-truth values add up, and agree with the events where an event is exact.

use sim_core::PmuEvent;
use sim_lab::{Ledger, TruthSink};
use sim_machine::{ConfigSource, MachineConfig, Outcome, RunHeader, RunOptions, Session};
use sim_metrics::Truth;
use sim_tests::repository;

/// Instructions of each thread: enough for misses of every kind, few enough for a debug build.
const LIMIT: u64 = 150_000;

fn ledger(trace: &str, warmup: u64) -> (Outcome, Ledger) {
    let path = repository().join("traces").join(trace);
    let document = ConfigSource::default().document().expect("the built-in configuration");
    let config = MachineConfig::from_document(&document).expect("the built-in configuration");
    let session = Session::open(&path, config, RunHeader::default()).expect("a committed trace");
    let options = RunOptions { warmup, limit: Some(LIMIT), roi: None };
    let mut sink = TruthSink::default();
    let outcome = session.run_with_sink(&options, &mut |_| {}, &mut sink).expect("a run");
    let ledger = sink.ledger(&outcome);
    (outcome, ledger)
}

const TRACES: [&str; 6] =
    ["sort.n2t", "btree.n2t", "atomics.n2t", "interp.n2t", "chase.n2t", "vector.n2t"];

#[test]
fn the_shares_of_the_slots_add_up_to_one() {
    for trace in TRACES {
        for warmup in [0, 20_000] {
            let (_, ledger) = ledger(trace, warmup);
            let value = |truth| ledger.truths.value(truth).expect("cycles passed");
            let parts =
                [Truth::RetiredSlots, Truth::BadSlots, Truth::FrontendSlots, Truth::BackendSlots];
            let sum: f64 = parts.map(value).iter().sum();
            assert_eq!(sum, value(Truth::Slots), "{trace} after {warmup}");
            let backend = value(Truth::MemorySlots) + value(Truth::CoreSlots);
            assert_eq!(backend, value(Truth::BackendSlots), "{trace}");
            let fetch = value(Truth::FetchLatencySlots) + value(Truth::FetchBandwidthSlots);
            assert!(fetch <= value(Truth::FrontendSlots), "{trace}");
        }
    }
}

#[test]
fn ground_truth_values_agree_with_the_events_that_are_exact() {
    for trace in TRACES {
        let (outcome, ledger) = ledger(trace, 0);
        let counts = outcome.total();
        for (truth, event) in [
            (Truth::Retired, PmuEvent::INST_RETIRED),
            (Truth::Executed, PmuEvent::INST_SPEC),
            (Truth::RetiredOps, PmuEvent::OP_RETIRED),
            (Truth::ExecutedOps, PmuEvent::OP_SPEC),
            (Truth::Branches, PmuEvent::BR_RETIRED),
            (Truth::Mispredicted, PmuEvent::BR_MIS_PRED_RETIRED),
            (Truth::OutsideLines, PmuEvent::LL_CACHE_RD),
            (Truth::SlcMisses, PmuEvent::LL_CACHE_MISS_RD),
            (Truth::ItlbWalks, PmuEvent::ITLB_WALK),
            (Truth::ItlbMisses, PmuEvent::L1I_TLB_REFILL),
            (Truth::EmptyFrontendSlots, PmuEvent::STALL_SLOT_FRONTEND),
            (Truth::BackendSlots, PmuEvent::STALL_SLOT_BACKEND),
        ] {
            let truth_value = ledger.truths.value(truth);
            assert_eq!(truth_value, Some(counts.value(event) as f64), "{trace}: {truth:?}");
        }
    }
}

/// Retired and squashed work are the whole, and the retired part is the architectural one.
#[test]
fn events_of_retired_work_are_a_part_of_all() {
    for trace in TRACES {
        let (outcome, ledger) = ledger(trace, 0);
        let counts = outcome.total();
        for event in PmuEvent::ALL {
            let (part, all) = (ledger.retired.value(event), counts.value(event));
            assert!(part <= all, "{trace}: {event:?} {part} of {all}");
        }
        let retired = |event| ledger.retired.value(event);
        assert_eq!(retired(PmuEvent::INST_SPEC), counts.value(PmuEvent::INST_RETIRED), "{trace}");
        assert_eq!(retired(PmuEvent::OP_SPEC), counts.value(PmuEvent::OP_RETIRED), "{trace}");
    }
}

/// Instructions of the pointer chase after which it no longer builds its list.
const CHASE_FROM: u64 = 4_700_000;

/// A pointer chase misses, waits and walks; its cost appears in the right categories.
#[test]
fn a_pointer_chase_is_bound_by_memory() {
    let (_, ledger) = ledger("chase.n2t", CHASE_FROM);
    let value = |truth| ledger.truths.value(truth).expect("there were some");
    assert!(value(Truth::MemoryBound) > 0.5, "{}", value(Truth::MemoryBound));
    assert!(value(Truth::MissLatency) > 20.0, "{}", value(Truth::MissLatency));
    assert!(value(Truth::WalkLatency) > 1.0);
    assert!(value(Truth::BytesRead) >= 64.0 * value(Truth::OutsideLines));
}
