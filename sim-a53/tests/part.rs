//! Counted parts of a run: warm-up, limit, regions.

use std::path::PathBuf;

use sim_a53::cluster::EMBEDDED;
use sim_a53::{A53Config, A53CoreOutcome, A53Error, A53Event, Mark, Part, Region, run_part};
use sim_core::config::Document;
use sim_trace::TraceFile;

use crate::traces::{cores, traces};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../traces").join(name)
}

fn count(path: &std::path::Path, part: &Part) -> Result<Vec<A53CoreOutcome>, A53Error> {
    let document = Document::from_embedded(EMBEDDED[0].name, &EMBEDDED).expect("the defaults");
    let config = A53Config::from_document(&document).expect("valid defaults");
    run_part(&TraceFile::open(path).expect("a committed trace"), &config, part)
}

/// Given each committed trace, when a part after a warm-up of some lengths is counted, then the
/// slots of the part are two for each of its cycles, no cycle retires more than two instructions,
/// and what retires is the difference of two runs.
#[test]
fn a_part_after_a_warm_up_is_the_difference_of_two_runs() {
    for path in traces() {
        for warmup in [1000, 1001, 1003] {
            let part = Part { warmup, limit: Some(5000), ..Part::default() };
            let counted = count(&path, &part).expect("a long trace");
            let (whole, before) = (cores(&path, Some(warmup + 5000)), cores(&path, Some(warmup)));
            for (core, (whole, before)) in counted.iter().zip(whole.iter().zip(&before)) {
                if whole.instructions <= warmup {
                    continue;
                }
                assert_eq!(core.slots.total(), 2 * core.cycles, "{path:?}");
                assert!(2 * core.two_retired <= core.instructions, "{path:?}");
                assert_eq!(core.instructions, whole.instructions - before.instructions);
                for event in
                    [A53Event::LD_RETIRED, A53Event::ST_RETIRED, A53Event::BR_IMMED_RETIRED]
                {
                    let difference = whole.counts.value(event) - before.counts.value(event);
                    assert_eq!(core.counts.value(event), difference, "{path:?} {event:?}");
                }
                assert_eq!(core.counts.value(A53Event::CPU_CYCLES), core.cycles);
            }
        }
    }
}

/// Given a function that is called often, when its first two instructions are the region, then each
/// call counts two, and slots fill the cycles.
#[test]
fn a_region_counts_each_time_it_begins() {
    let path = path("btree.n2t");
    let trace = TraceFile::open(&path).expect("a committed trace");
    let insert = trace.meta().symbol("insert").expect("a function of the trace").addr;
    let region = Region { begin: Mark::Address(insert), end: Mark::Address(insert + 8) };
    let part = Part { limit: Some(200), region: Some(region), ..Part::default() };
    let [core] = &count(&path, &part).expect("a region")[..] else { panic!("one thread") };
    assert_eq!([core.instructions, core.counts.value(A53Event::INST_RETIRED)], [200, 200]);
    // The cycle in which the region begins or ends belongs to what comes before it.
    assert_eq!(core.slots.total(), 2 * core.cycles);
    assert_eq!(core.counts.value(A53Event::CPU_CYCLES), core.cycles);
}

/// Given a warm-up longer than the trace, or a marker that never comes, then the run says so.
#[test]
fn a_part_that_never_begins_is_an_error() {
    let path = path("hash.n2t");
    let part = Part { warmup: u64::MAX, ..Part::default() };
    assert!(matches!(count(&path, &part), Err(A53Error::WarmupTooLong { .. })));
    let region = Region { begin: Mark::Address(8), end: Mark::Address(16) };
    let part = Part { region: Some(region), ..Part::default() };
    let error = count(&path, &part).expect_err("no such address").to_string();
    assert!(error.contains("the region of interest never began"), "{error}");
}

/// Given each committed trace, when two spans of its threads run, the second after a warm-up that
/// does not begin at a block, then what does not depend on time adds up to the whole run.
#[test]
fn two_spans_add_up_to_the_run() {
    let exact = [
        A53Event::INST_RETIRED,
        A53Event::LD_RETIRED,
        A53Event::ST_RETIRED,
        A53Event::UNALIGNED_LDST_RETIRED,
        A53Event::BR_IMMED_RETIRED,
        A53Event::BR_RETURN_RETIRED,
        A53Event::PC_WRITE_RETIRED,
        A53Event::EXC_TAKEN,
        A53Event::EXC_RETURN,
    ];
    for path in traces() {
        let end = 61_007;
        let trace = TraceFile::open(&path).expect("a committed trace");
        if trace.streams().iter().any(|stream| stream.instructions < end) {
            continue;
        }
        let span = |counted: std::ops::Range<u64>, warmup: u64| {
            let span = Some(counted.start - warmup..counted.end);
            count(&path, &Part { warmup, span, ..Part::default() }).expect("a long trace")
        };
        let whole = span(0..end, 0);
        // Consecutive ends: one of them follows a branch that is not taken.
        let ends = 30_011..30_019;
        let halves = ends.map(|at| (span(0..at, 0), span(at..end, 4_999)));
        let halves: Vec<_> = halves.collect();
        let halves = halves.iter().flat_map(|(first, second)| first.iter().zip(second));
        for (whole, (first, second)) in whole.iter().cycle().zip(halves) {
            let mut sum = first.clone();
            sum.add(second);
            for event in exact {
                let [sum, whole] = [&sum, whole].map(|core| core.counts.value(event));
                assert_eq!(sum, whole, "{path:?} {event:?}");
            }
            assert_eq!(sum.slots.total(), 2 * sum.cycles, "{path:?}");
            assert_eq!(sum.counts.value(A53Event::CPU_CYCLES), sum.cycles, "{path:?}");
        }
    }
}
