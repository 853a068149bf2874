//! Windows in saved states count the same as windows after everything before them.

use std::path::Path;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use sim_core::PmuEvent;
use sim_lab::{Estimate, Region, Regions};
use sim_machine::{ConfigSource, MachineConfig, MachineError, Outcome, RunHeader, Session, Window};
use sim_trace::{StatePlace, StatesHeader, StatesReader, StatesWriter};

fn session_with(trace: &str, overrides: &[&str]) -> Session {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("these keys are there");
    let config = MachineConfig::from_document(&document).expect("a machine");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(trace);
    Session::open(&path, config, RunHeader::default()).expect("a committed trace")
}

fn session(trace: &str) -> Session {
    session_with(trace, &[])
}

/// Returns windows of `length` at these places, which represent the trace in equal parts.
fn regions(session: &Session, begins: &[u64], length: u64) -> Regions {
    let instructions = session.instructions();
    let count = begins.len() as u64;
    let region = |(n, begin): (u64, &u64)| Region {
        cluster: 0,
        begin: *begin,
        length,
        represents: instructions / count + u64::from(n < instructions % count),
        known: Vec::new(),
    };
    Regions {
        trace: String::new(),
        trace_hash: String::new(),
        instructions,
        warmup: 2_000,
        functional_warmup: u64::MAX,
        known_on: None,
        known: Vec::new(),
        states: None,
        windows: (0..).zip(begins).map(region).collect(),
    }
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

fn run(session: &Session, regions: &Regions, bytes: &[u8]) -> Result<Outcome, MachineError> {
    let estimate = regions.run(session, Some(&mut reader(bytes)), &mut |_| {})?;
    let Estimate { outcome, .. } = estimate.expect("there is a window");
    Ok(outcome)
}

/// A saved state is complete: a window after functional warming from the first instruction counts
/// the same, event by event.
#[test]
fn a_window_in_its_saved_state_counts_as_after_everything_before_it() {
    let other = [
        "pipeline.branch.direction=gshare",
        "memory.l1d.replacement=lru",
        "memory.l2.replacement=rrip",
        "memory.slc.replacement=lru",
        "memory.l1i.replacement=lru",
    ];
    let runs: [(&str, &[&str]); 7] = [
        ("hash.n2t", &[]),
        ("interp.n2t", &[]),
        ("lz.n2t", &[]),
        ("vector.n2t", &[]),
        ("chase.n2t", &[]),
        ("system.n2t", &[]),
        ("lz.n2t", &other),
    ];
    for (trace, overrides) in runs {
        let session = session_with(trace, overrides);
        let begin = session.instructions() / 2;
        let window = Window { begin, length: 100_000, warmup: 2_000, functional_warmup: u64::MAX };
        let after = session.run_windows(&[window], &mut |_| {}).expect("a good trace");
        let one = regions(&session, &[begin], 100_000);
        let mut all = one.clone();
        all.windows[0].represents = 100_000;
        let in_state = run(&session, &all, &states(&session, &one)).expect("own states");
        assert_eq!(in_state.total(), after[0].total(), "{trace}");
        assert_eq!(in_state.memory(), after[0].memory(), "{trace}");
    }
}

/// Caches and predictors after a window do not affect the saved state of the next one. A
/// window that begins at the end of the last one continues there.
#[test]
fn windows_in_saved_states_do_not_affect_each_other() {
    let session = session("hash.n2t");
    let begins = [0, 1_000_000, 1_050_000, 3_000_000];
    let count = |begins: &[u64]| {
        let mut regions = regions(&session, begins, 50_000);
        let bytes = states(&session, &regions);
        regions.windows.iter_mut().for_each(|window| window.represents = window.length);
        run(&session, &regions, &bytes).expect("own states").total()
    };
    let misses = |begins: &[u64]| count(begins).value(PmuEvent::L1D_CACHE_REFILL);
    let alone = misses(&begins[..1]) + misses(&begins[1..3]) + misses(&begins[3..]);
    assert_eq!(misses(&begins), alone);
    assert_eq!(count(&begins).value(PmuEvent::INST_RETIRED), 200_000);
}

/// A core with another reorder buffer starts in the same states, one with another L2 does not.
#[test]
fn states_depend_on_caches_and_predictors_and_not_on_the_pipeline() {
    let usual = session("lz.n2t");
    let regions = regions(&usual, &[500_000], 20_000);
    let bytes = states(&usual, &regions);
    let fits = |overrides: &[&str]| {
        let session = session_with("lz.n2t", overrides);
        regions
            .fit_states(session.trace().hash(), session.config().warm_hash(), &reader(&bytes))
            .expect("states of this trace")
    };
    assert!(fits(&[]));
    assert!(fits(&["pipeline.window.rob=100"]));
    assert!(!fits(&["memory.l2.size-bytes=524288"]));
    assert!(!fits(&["pipeline.branch.direction=gshare"]));
}

#[test]
fn states_of_another_trace_or_of_other_windows_are_refused() {
    let lz = session("lz.n2t");
    let wanted = regions(&lz, &[500_000], 20_000);
    let bytes = states(&lz, &wanted);
    let message = |session: &Session, regions: &Regions| {
        let error = regions
            .fit_states(session.trace().hash(), session.config().warm_hash(), &reader(&bytes))
            .expect_err("they do not fit");
        error.to_string()
    };
    let other = session("hash.n2t");
    assert!(
        message(&other, &wanted).contains("a.states: its first bytes: these states are of another")
    );
    assert!(message(&lz, &regions(&lz, &[500_001], 20_000)).contains("of other windows"));
    assert!(message(&lz, &regions(&lz, &[1, 500_000], 20_000)).contains("of other windows"));
}

/// Invalid words and places of no machine and no trace, with correct checksums.
#[test]
fn no_state_makes_the_machine_panic() {
    let session = session("sort.n2t");
    let regions = regions(&session, &[1_000_000], 20_000);
    let bytes = states(&session, &regions);
    let mut own = reader(&bytes);
    let header = *own.header();
    let (place, words) = own.next_state().expect("own bytes").expect("one state");
    let words = words.to_vec();
    let code = session.trace().statics().insts().len() as u64;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut ran = 0;
    for round in 0..100_u64 {
        let mut words = words.clone();
        let mut at = 0;
        while at < words.len() {
            let next = random.next_u64();
            // From a few words to all of them.
            at += 1 + (next % (1 << (round % 12))) as usize;
            if at >= words.len() {
                break;
            }
            let (word, own) = (random.next_u64(), words[at]);
            // Random values, the ends of the range, nearby words, and the other half of all
            // addresses.
            let changed = [
                word,
                word >> (next % 64),
                u64::MAX,
                u64::MAX - 1,
                words[(at ^ 1).min(words.len() - 1)],
                words[at.saturating_sub(1 + (next % 9) as usize)],
                own ^ 1 << 63,
                own ^ 1,
            ];
            words[at] = changed[(next >> 32) as usize % changed.len()];
        }
        // One of three rounds is at the begin; of the others a few name no instruction.
        let last = (round % 3 > 0).then_some((random.next_u64() % (code + code / 8)) as u32);
        let cycle = random.next_u64() >> (22 + round % 20);
        let place = StatePlace { cycle, last, ..place };
        match run(&session, &regions, &with(&header, &place, &words)) {
            Ok(outcome) => {
                // Fewer if a translation from the file forbids the access.
                let retired = outcome.total().value(PmuEvent::INST_RETIRED);
                assert!(retired <= session.instructions());
                ran += 1;
            }
            Err(error) => assert!(error.to_string().contains("its place is not one"), "{error}"),
        }
    }
    assert!(ran > 60, "{ran} states were run");
    for position in [place.position + 1, session.instructions() + 1, u64::MAX] {
        let place = StatePlace { position, ..place };
        let error = run(&session, &regions, &with(&header, &place, &words)).expect_err("no place");
        assert!(error.to_string().contains("its place is not one of this trace"), "{error}");
    }
    let short = StatesHeader { words: 1, ..header };
    let error = run(&session, &regions, &with(&short, &place, &words[..1])).expect_err("too short");
    assert!(error.to_string().contains("not as large as"), "{error}");
}

fn with(header: &StatesHeader, place: &StatePlace, words: &[u64]) -> Vec<u8> {
    let mut writer = StatesWriter::new(Vec::new(), header).expect("memory");
    writer.add(place, words).expect("memory");
    writer.into_inner()
}
