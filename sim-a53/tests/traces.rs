//! The committed traces on the Cortex-A53: slots, speed, and the events that a run can raise.

use std::path::{Path, PathBuf};

use sim_a53::cluster::EMBEDDED;
use sim_a53::{A53Condition, A53Config, A53CoreOutcome, A53Event, run};
use sim_core::config::Document;
use sim_metrics::a53_rules;
use sim_trace::TraceFile;

/// Instructions of each thread.
const LIMIT: u64 = 600_000;

/// Returns the paths of the committed traces of at most four threads, one for each core.
pub(crate) fn traces() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
    let mut files: Vec<PathBuf> = [folder.clone(), folder.join("threads")]
        .iter()
        .flat_map(|folder| folder.read_dir().expect("the committed traces"))
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|name| name == "n2t"))
        .collect();
    files.sort();
    files
}

pub(crate) fn cores(path: &Path, limit: Option<u64>) -> Vec<A53CoreOutcome> {
    let document = Document::from_embedded(EMBEDDED[0].name, &EMBEDDED).expect("the defaults");
    let config = A53Config::from_document(&document).expect("valid defaults");
    let trace = TraceFile::open(path).expect("a committed trace");
    run(&trace, &config, limit).expect("a trace of at most four threads")
}

/// Given every committed trace, when it runs, then all slots have one use, no cycle retires more
/// than two instructions, and the speed is that of such a core: 0.1 to 1.6 instructions per cycle.
#[test]
fn every_trace_fills_its_slots_at_a_plausible_speed() {
    for path in traces() {
        let name = path.file_name().expect("a name").to_owned();
        for core in cores(&path, Some(LIMIT)) {
            if core.instructions == 0 {
                continue;
            }
            assert_eq!(core.slots.total(), 2 * core.cycles, "{name:?}");
            assert!(2 * core.two_retired <= core.instructions, "{name:?}");
            let ipc = core.instructions as f64 / core.cycles as f64;
            let is_long = core.instructions > 10_000;
            assert!(!is_long || (0.1..1.6).contains(&ipc), "{name:?}: {ipc:.3} per cycle");
        }
    }
}

/// Given every committed trace, when it runs, then every rule between counts of a real Cortex-A53
/// holds, and no count is doubtful.
#[test]
fn every_trace_obeys_the_rules_between_counts() {
    for path in traces() {
        for core in cores(&path, Some(LIMIT)) {
            let count = |event| Some(core.counts.value(event));
            let check = a53_rules::check(count, false);
            assert_eq!((check.violations, check.left_out), (vec![], 0), "{path:?}");
            assert!(check.tested > 30, "{}", check.tested);
            assert_eq!(a53_rules::doubts(count, false), [], "{path:?}");
        }
    }
}

/// Given two threads whose counters share a line, when they run, then the line moves between the
/// cores (manual 12.9, 0xC8) and each atomic takes longer than with a line of its own.
#[test]
fn counters_in_one_line_compete_for_it() {
    let of = |name: &str| {
        let path = traces().into_iter().find(|path| path.ends_with(name)).expect("a trace");
        let cores = cores(&path, None);
        let cycles = cores.iter().map(|core| core.cycles).max().expect("a thread");
        let snoops: u64 = cores.iter().map(|core| core.counts.value(A53Event::EXT_SNOOP)).sum();
        (cycles, snoops)
    };
    let (apart, few) = of("threads/plain_padded.n2t");
    let (together, many) = of("threads/plain_adjacent.n2t");
    assert!(together > apart, "{together} cycles, {apart} with lines apart");
    assert!(many > 10 * few.max(100), "{many} lines moved, {few} with lines apart");
}

/// In a trace without the kernel, each system call is an exception.
#[test]
fn a_system_call_takes_an_exception() {
    let path = traces().into_iter().find(|path| path.ends_with("threads/plain_padded.n2t"));
    let cores = cores(&path.expect("a trace"), None);
    let taken: u64 = cores.iter().map(|core| core.counts.value(A53Event::EXC_TAKEN)).sum();
    assert_eq!(taken, 7, "as the Neoverse N2 counts in this trace");
}

/// Events of errors in memories of the core.
const ERRORS: [A53Event; 4] =
    [A53Event::MEMORY_ERROR, A53Event::L1I_CACHE_ERR, A53Event::L1D_CACHE_ERR, A53Event::TLB_ERR];

/// Given an error in one of a hundred lines and TLB entries, when the committed traces run, then
/// they find errors of every kind, and the sum of those of a core is MEMORY_ERROR.
#[test]
fn configured_errors_are_found_by_a_trace() {
    let mut document = Document::from_embedded(EMBEDDED[0].name, &EMBEDDED).expect("the defaults");
    for rate in [
        "l1i-per-million-refills",
        "l1d-per-million-refills",
        "tlb-per-million-refills",
        "l2-per-million-lines",
        "snoop-filter-per-million-lines",
    ] {
        document = document.set(&format!("memory.errors.{rate}=10000")).expect("a rate");
    }
    let config = A53Config::from_document(&document).expect("valid rates");
    let (mut events, mut conditions) = ([0; 4], [0; 3]);
    for path in traces() {
        let trace = TraceFile::open(&path).expect("a committed trace");
        for core in run(&trace, &config, Some(LIMIT)).expect("a trace of at most four threads") {
            let counts = ERRORS.map(|event| core.counts.value(event));
            assert_eq!(counts[0], counts[1..].iter().sum::<u64>(), "{path:?}");
            assert_eq!(core.slots.total(), 2 * core.cycles, "{path:?}");
            (0..4).for_each(|at| events[at] += counts[at]);
            let own = A53Condition::ALL.map(|condition| core.counts.cycles_of(condition));
            (0..3).for_each(|at| conditions[at] += own[at]);
        }
    }
    assert!(events.iter().all(|count| *count > 0), "{events:?}");
    assert!(conditions[0] > 0 && conditions[1] > 0 && conditions[2] == 0, "{conditions:?}");
}

/// Every numbered row of the manual's table is raised by a committed trace, or says why not.
#[test]
fn every_event_is_raised_by_a_trace_or_says_why_not() {
    let all: Vec<A53CoreOutcome> = traces().iter().flat_map(|path| cores(path, None)).collect();
    for event in A53Event::ALL {
        let count: u64 = all.iter().map(|core| core.counts.value(event)).sum();
        match sim_a53::event::never_raised(event) {
            // No committed trace takes an FIQ, and by default no memory has errors.
            None if event == A53Event::EXC_FIQ || ERRORS.contains(&event) => assert_eq!(count, 0),
            None => assert!(count > 0, "{event:?} is never raised"),
            Some(_) => assert_eq!(count, 0, "{event:?} is raised"),
        }
    }
}
