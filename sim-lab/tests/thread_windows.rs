//! Windows of traces of several threads: parts of a run of all threads.

use std::path::Path;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use sim_core::{Counts, PmuEvent};
use sim_lab::{RegionOptions, Regions, RegionsError};
use sim_machine::{
    ConfigSource, Cut, MachineConfig, MachineError, Outcome, RunHeader, RunOptions, Session,
    ThreadOrder, ThreadWarming, Window,
};
use sim_trace::{MOST_WORDS, StatesHeader, StatesReader, StatesWriter, TicketReader};

fn session_with(trace: &str, overrides: &[&str], order: ThreadOrder) -> Session {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("these keys are there");
    let mut config = MachineConfig::from_document(&document).expect("a machine");
    config.threads.order = order;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(trace);
    Session::open(&path, config, RunHeader::default()).expect("a committed trace")
}

fn session(trace: &str) -> Session {
    session_with(trace, &[], ThreadOrder::Causal)
}

const TRACES: [&str; 5] = [
    "atomics.n2t",
    "threads/exclusive_adjacent.n2t",
    "threads/plain_padded.n2t",
    "parallel/queue.n2t",
    "parallel/samplesort.n2t",
];

fn same(found: &Outcome, expected: &Outcome, what: &str) {
    assert_eq!(found.cores.len(), expected.cores.len(), "{what}");
    for (found, expected) in found.cores.iter().zip(&expected.cores) {
        let of = format!("{what}, thread {}", expected.stream);
        assert_eq!(found.stream, expected.stream, "{of}");
        assert_eq!(found.counts.unpack(), expected.counts.unpack(), "{of}");
        assert_eq!(found.stalls.unpack(), expected.stalls.unpack(), "{of}");
        assert_eq!(found.memory, expected.memory, "{of}");
        assert_eq!(found.waits, expected.waits, "{of}");
    }
}

#[test]
fn one_window_over_everything_equals_the_run() {
    for trace in TRACES {
        for order in [ThreadOrder::Causal, ThreadOrder::Recorded, ThreadOrder::Free] {
            let session = session_with(trace, &[], order);
            let length = session.instructions();
            let window = Window { begin: 0, length, warmup: 0, functional_warmup: 0 };
            let found = session.run_windows(&[window], &mut |_| {}).expect("a good trace");
            let expected = session.run(&RunOptions::default(), &mut |_| {}).expect("a good trace");
            same(&found[0], &expected, &format!("{trace}, {order:?}"));
        }
    }
}

/// Windows that follow each other divide the cycles of the threads, their waits included.
#[test]
fn consecutive_windows_have_all_instructions_and_about_all_cycles() {
    for trace in ["parallel/queue.n2t", "parallel/samplesort.n2t"] {
        let session = session(trace);
        let length = session.instructions() / 4;
        let windows: Vec<Window> = (0..4)
            .map(|n| Window { begin: n * length, length, warmup: 0, functional_warmup: 0 })
            .collect();
        let found = session.run_windows(&windows, &mut |_| {}).expect("a good trace");
        let sum = sim_lab::estimate::join(&found).expect("four windows").total();
        let expected = session.run(&RunOptions::default(), &mut |_| {}).expect("a good trace");
        // An instruction that waits to be fused with the next one may count on the other side.
        let off = sum.value(PmuEvent::INST_RETIRED).abs_diff(4 * length);
        assert!(off <= 2 * 4 * session.trace().streams().len() as u64, "{trace}: {off}");
        let [sum, all] = [&sum, &expected.total()].map(|of| of.value(PmuEvent::CPU_CYCLES) as f64);
        assert!((sum / all - 1.0).abs() < 0.1, "{trace}: {sum} of {all} cycles");
    }
}

/// Events of lines that go from core to core. The thread that made the data of `readers_adjacent`
/// waits in a system call while the others take its lines, so that its core answers long after.
const SHARED_LINES: [PmuEvent; 6] = [
    PmuEvent::L1D_CACHE_INVAL,
    PmuEvent::L2D_CACHE_INVAL,
    PmuEvent::L1D_CACHE_WB_CLEAN,
    PmuEvent::BUS_ACCESS,
    PmuEvent::L1D_CACHE_REFILL,
    PmuEvent::L2D_CACHE_REFILL,
];

fn near(found: &Counts, expected: &Counts, event: PmuEvent, most: f64, trace: &str) {
    let [found, expected] = [found, expected].map(|counts| counts.value(event) as f64);
    assert!(expected > 1000.0, "{trace}: {event:?} is counted: {expected}");
    assert!((found / expected - 1.0).abs() < most, "{trace}: {event:?}: {found} of {expected}");
}

/// Returns the counts of consecutive windows over the whole trace together, and those of the run.
fn in_windows(trace: &str, count: u64) -> (Counts, Counts) {
    let session = session(trace);
    let length = session.instructions() / count;
    let windows: Vec<Window> = (0..count)
        .map(|n| Window { begin: n * length, length, warmup: 0, functional_warmup: 0 })
        .collect();
    let found = session.run_windows(&windows, &mut |_| {}).expect("a good trace");
    let sum = sim_lab::estimate::join(&found).expect("windows").total();
    (sum, session.run(&RunOptions::default(), &mut |_| {}).expect("a good trace").total())
}

#[test]
fn windows_have_the_snoops_of_threads_that_write_a_line_in_turn() {
    let trace = "threads/atomic_adjacent.n2t";
    let (sum, all) = in_windows(trace, 8);
    SHARED_LINES.into_iter().for_each(|event| near(&sum, &all, event, 0.1, trace));
}

/// A thread in a system call answers snoops where windows end. Else invalidations are 7 % too few.
#[test]
fn short_windows_have_the_snoops_of_threads_that_wait() {
    let trace = "parallel/readers_adjacent.n2t";
    let (sum, all) = in_windows(trace, 100);
    SHARED_LINES.into_iter().for_each(|event| near(&sum, &all, event, 0.05, trace));
}

/// The second half runs in a state from a file. Both halves together are near to the run, so the
/// state has what the first half leaves.
#[test]
fn a_run_in_two_windows_with_a_saved_state_between_has_the_counts_of_the_run() {
    for trace in ["parallel/readers_adjacent.n2t", "parallel/queue.n2t"] {
        let session = session(trace);
        let (all, half) = (session.instructions(), session.instructions() / 2);
        let mut regions = regions(&session);
        regions.windows.truncate(2);
        regions.warmup = 0;
        for (window, (begin, length)) in
            regions.windows.iter_mut().zip([(0, half), (half, all - half)])
        {
            (window.begin, window.length, window.represents) = (begin, length, length);
        }
        let bytes = states(&session, &regions);
        let found = regions.count(&session, Some(&mut reader(&bytes)), 0..2, &mut |_| {});
        let sum =
            sim_lab::estimate::join(&found.expect("two windows")).expect("two windows").total();
        let whole = session.run(&RunOptions::default(), &mut |_| {}).expect("a good trace").total();
        SHARED_LINES.into_iter().for_each(|event| near(&sum, &whole, event, 0.15, trace));
        near(&sum, &whole, PmuEvent::CPU_CYCLES, 0.05, trace);
        near(&sum, &whole, PmuEvent::L1D_TLB, 0.02, trace);
    }
}

/// Windows of a trace whose threads have unequal numbers of instructions in them.
#[test]
fn the_count_of_each_thread_is_scaled_to_its_instructions() {
    let session = session("parallel/samplesort.n2t");
    let regions =
        Regions::find(&session, &RegionOptions::default(), &mut |_| {}).expect("windows").0;
    let estimate = regions.run(&session, None, &mut |_| {}).expect("it is estimated");
    let estimate = estimate.expect("windows");
    let streams = session.trace().streams().iter().filter(|stream| stream.instructions > 0);
    for (core, stream) in estimate.outcome.cores.iter().zip(streams) {
        assert_eq!(core.counts.value(PmuEvent::INST_RETIRED), stream.instructions);
    }
    let whole = session.run(&RunOptions::default(), &mut |_| {}).expect("a good trace").total();
    let found = estimate.outcome.total();
    for event in
        [PmuEvent::CPU_CYCLES, PmuEvent::BR_RETIRED, PmuEvent::L1D_CACHE, PmuEvent::OP_SPEC]
    {
        near(&found, &whole, event, estimate.errors[event as usize] / 100.0, "samplesort");
        assert!(estimate.errors[event as usize] < 20.0, "{event:?}");
    }
}

fn refusal(trace: &str, change: impl Fn(&mut Regions)) -> MachineError {
    let session = session(trace);
    let found = Regions::find(&session, &RegionOptions::default(), &mut |_| {});
    let mut regions = match found {
        Ok((regions, _)) => regions,
        Err(RegionsError::Machine(error)) => return error,
        Err(other) => panic!("{other}"),
    };
    change(&mut regions);
    regions.run(&session, None, &mut |_| {}).map(|_| ()).expect_err("windows cannot represent it")
}

#[test]
fn traces_that_windows_cannot_represent_are_refused() {
    let refused = refusal("threads/exclusive_adjacent.n2t", |_| ());
    assert!(matches!(refused, MachineError::ThreadMix { percent: 11.., .. }), "{refused}");
    let refused = refusal("parallel/queue.n2t", |_| ());
    assert!(matches!(refused, MachineError::ThreadWaits { percent: 51.., .. }), "{refused}");
    let refused = refusal("threads/atomic_padded.n2t", |_| ());
    assert!(matches!(refused, MachineError::FewWindows { least: 10, .. }), "{refused}");
    let refused = refusal("parallel/samplesort.n2t", |regions| {
        regions.known.clear();
        regions.windows.iter_mut().for_each(|window| window.known.clear());
    });
    assert!(matches!(refused, MachineError::UnknownWindows { .. }), "{refused}");
    // Windows that claim to have half of the branches of the trace.
    let refused = refusal("parallel/samplesort.n2t", |regions| {
        *regions.known.last_mut().expect("branches") *= 2;
    });
    assert!(matches!(refused, MachineError::ThreadCode { percent: 80.., .. }), "{refused}");
}

#[test]
fn a_count_with_a_wide_interval_is_not_estimated() {
    let session = session("parallel/readers_adjacent.n2t");
    let regions =
        Regions::find(&session, &RegionOptions::default(), &mut |_| {}).expect("windows").0;
    let estimate = regions.run(&session, None, &mut |_| {}).expect("it is estimated");
    let errors = estimate.expect("windows").errors;
    assert!(
        errors[PmuEvent::L1D_CACHE_REFILL as usize].is_infinite(),
        "refills are in another order"
    );
    assert!(errors.iter().all(|error| *error <= 100.0 || error.is_infinite()));
    assert!(errors[PmuEvent::CPU_CYCLES as usize] < 20.0);
}

fn regions(session: &Session) -> Regions {
    let interval = Some(session.instructions() / 40);
    let options = RegionOptions { interval, windows: 12, ..RegionOptions::default() };
    Regions::find(session, &options, &mut |_| {}).expect("a good trace").0
}

fn states(session: &Session, regions: &Regions) -> Vec<u8> {
    let mut bytes = Vec::new();
    let written = regions.write_states(session, &mut bytes, "a.states", &mut |_| {});
    written.expect("memory takes it");
    bytes
}

fn reader(bytes: &[u8]) -> StatesReader {
    StatesReader::new(std::io::Cursor::new(bytes.to_vec()), "a.states").expect("states")
}

#[test]
fn a_saved_state_counts_as_functional_warming_up_to_it() {
    for trace in TRACES {
        for order in [ThreadOrder::Causal, ThreadOrder::Recorded] {
            let session = session_with(trace, &[], order);
            let regions = regions(&session);
            let bytes = states(&session, &regions);
            let all = 0..regions.windows.len();
            let count = |states: Option<&mut StatesReader>| {
                regions.count(&session, states, all.clone(), &mut |_| {}).expect("good windows")
            };
            let (warmed, saved) = (count(None), count(Some(&mut reader(&bytes))));
            for (warmed, saved) in warmed.iter().zip(&saved) {
                same(saved, warmed, trace);
            }
        }
    }
}

fn tickets(session: &Session, stream: u32) -> TicketReader {
    session.trace().tickets(stream).expect("a good trace")
}

/// In the recorded order a cut divides the tickets by their numbers.
#[test]
fn no_thread_has_passed_a_ticket_before_a_lower_one() {
    for trace in TRACES {
        let session = session_with(trace, &[], ThreadOrder::Recorded);
        let mut warming = ThreadWarming::new(&session).expect("a good trace");
        let streams = session.trace().streams().iter().filter(|stream| stream.instructions > 0);
        let streams: Vec<_> = streams.collect();
        for part in 1..10 {
            warming.run_to(part * session.instructions() / 10, &mut |_, _| {}).expect("it goes on");
            let cut = warming.cut();
            assert_eq!(cut.instructions(), part * session.instructions() / 10, "{trace}");
            let (mut passed, mut left) = (0, u64::MAX);
            for (stream, place) in streams.iter().zip(&cut.places) {
                let mut tickets = tickets(&session, stream.stream);
                while let Some(ticket) = tickets.next_ticket().expect("a good trace") {
                    if ticket.position < place.position {
                        passed = passed.max(ticket.order);
                    } else if ticket.position < stream.instructions {
                        left = left.min(ticket.order);
                    }
                }
            }
            assert!(passed < left, "{trace}: {passed} passed, {left} left");
        }
    }
}

#[test]
fn cuts_change_nothing() {
    for trace in TRACES {
        let session = session(trace);
        let run = |steps: u64| {
            let mut warming = ThreadWarming::new(&session).expect("a good trace");
            for step in 1..=steps {
                let to = step * session.instructions() * 4 / 5 / steps;
                warming.run_to(to, &mut |_, _| {}).expect("it goes on");
            }
            let mut words = Vec::new();
            warming.save(1000, &mut words).expect("it goes on");
            (warming.cut(), words)
        };
        let once: (Cut, Vec<u64>) = run(1);
        assert!(once == run(37), "{trace}");
    }
}

#[test]
fn states_that_do_not_fit_are_refused() {
    let session = session("parallel/queue.n2t");
    let regions = regions(&session);
    let bytes = states(&session, &regions);
    let message = |bytes: &[u8]| {
        let all = 0..regions.windows.len();
        let run = regions.count(&session, Some(&mut reader(bytes)), all, &mut |_| {});
        run.expect_err("it is wrong").to_string()
    };
    let mut wrong = bytes.clone();
    *wrong.last_mut().expect("there is one") ^= 1;
    let number = regions.windows.len();
    let expected = format!("state {number} of {number}: the checksum does not match");
    assert!(message(&wrong).contains(&expected), "{}", message(&wrong));
    let short = message(&bytes[..bytes.len() - 9]);
    assert!(
        short.contains(&format!("state {number} of {number}: the file ends inside it")),
        "{short}"
    );
    let short = message(&bytes[..60]);
    assert!(short.contains("state 1 of"), "{short}");
    // States of another number of cores, and of another trace.
    let rewritten = |change: &dyn Fn(&mut StatesHeader)| {
        let mut header = *reader(&bytes).header();
        change(&mut header);
        StatesWriter::new(Vec::new(), &header).expect("memory").into_inner()
    };
    let cores = message(&rewritten(&|header| header.words -= 4));
    assert!(cores.contains("state 1: it is not as large as those of this machine"), "{cores}");
    let other = rewritten(&|header| header.trace ^= 1);
    let fit = regions.fit_states(session.trace().hash(), session.warm_hash(), &reader(&other));
    let refused = fit.expect_err("another trace").to_string();
    assert!(refused.contains("these states are of another trace"), "{refused}");
    let huge = StatesHeader { words: MOST_WORDS + 1, ..*reader(&bytes).header() };
    assert!(StatesWriter::new(Vec::new(), &huge).is_err(), "no reader would take it");
    // A thread beyond the end of its stream, with a correct checksum.
    let mut own = reader(&bytes);
    let mut writer = StatesWriter::new(Vec::new(), own.header()).expect("memory");
    while let Some((place, words)) = own.next_state().expect("own bytes") {
        let mut words = words.to_vec();
        words[1] += 1 << 40;
        writer.add(&place, &words).expect("memory");
    }
    let found = message(&writer.into_inner());
    assert!(found.contains("a.states: state 1: its place is not one of this trace"), "{found}");
    let recorded = session_with("parallel/queue.n2t", &[], ThreadOrder::Recorded);
    let fits = |session: &Session| {
        let states = reader(&bytes);
        regions.fit_states(session.trace().hash(), session.warm_hash(), &states).expect("own")
    };
    assert!(fits(&session) && !fits(&recorded), "the order of threads is part of a state");
}

/// Invalid words with correct checksums, at the places of the trace.
#[test]
fn no_state_makes_the_machine_panic() {
    let session = session("threads/exclusive_adjacent.n2t");
    let mut regions = regions(&session);
    regions.windows.truncate(1);
    let bytes = states(&session, &regions);
    let mut own = reader(&bytes);
    let header = *own.header();
    let (place, words) = own.next_state().expect("own bytes").expect("one state");
    let words = words.to_vec();
    let cut = 1 + 4 * session.trace().streams().len() + (1 << 18);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for round in 0..24_u64 {
        let mut words = words.clone();
        let mut at = cut;
        while at < words.len() {
            let next = random.next_u64();
            words[at] = if next >> 32 & 1 == 0 { next >> (next % 64) } else { words[at] ^ 1 };
            at += 1 + (random.next_u64() % (1 << (2 * (round % 10)))) as usize;
        }
        let mut writer = StatesWriter::new(Vec::new(), &header).expect("memory");
        writer.add(&place, &words).expect("memory");
        let run =
            regions.count(&session, Some(&mut reader(&writer.into_inner())), 0..1, &mut |_| {});
        assert!(run.is_ok(), "{:?}", run.err());
    }
}

#[test]
fn threads_that_share_cores_are_refused() {
    let session = session_with("parallel/queue.n2t", &["threads.cores=2"], ThreadOrder::Causal);
    let refused = session.run_windows(&[], &mut |_| {}).expect_err("three threads on two cores");
    assert!(matches!(refused, MachineError::SharedWindows { cores: 2, .. }), "{refused}");
}
