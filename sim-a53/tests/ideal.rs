//! Costs that a configuration leaves out: exact cycles of small programs without each, beside those
//! of the modeled core.
//!
//! The words are those that GNU as 2.40 assembles.

use sim_a53::bench::run_loop;
use sim_a53::cluster::EMBEDDED;
use sim_a53::{A53Config, A53CoreOutcome, A53Event, Stepper};
use sim_core::config::Document;

const DATA: u64 = 0x50_0000;
const LINE: u64 = 64;
const PAGE: u64 = 4096;

const NOP: u32 = 0xd503_201f;
const BRANCH: u32 = 0x1400_0001; // b .+4
const LDR_CHAIN: u32 = 0xf940_0000; // ldr x0, [x0]
const LDR: u32 = 0xf940_0023; // ldr x3, [x1]
const LDP: u32 = 0xa940_1023; // ldp x3, x4, [x1]
const STR: u32 = 0xf900_0043; // str x3, [x2]
const STR_OTHER: u32 = 0xf900_0045; // str x5, [x2]
const UMULH: u32 = 0x9bc1_7c00; // umulh x0, x0, x1
const FDIV: u32 = 0x1e61_1800; // fdiv d0, d0, d1
const UDIV: u32 = 0x9ac1_0800; // udiv x0, x0, x1

const DATA_IDEAL: &str = "memory.ideal.data=beyond-l1";
const L2_IDEAL: &str = "memory.ideal.data=beyond-l2";
const TRANSLATION: &str = "memory.ideal.translation=true";
const STORE_BUFFER: &str = "memory.ideal.store-buffer=true";
const PREDICTION: &str = "pipeline.ideal.prediction=true";
const FETCH: &str = "pipeline.ideal.fetch=true";
const LATENCY: &str = "pipeline.ideal.latency=true";
const ISSUE: &str = "pipeline.ideal.issue=true";
const NO_PREFETCH: &str = "memory.prefetch.outstanding=0";

fn config(settings: &[&str]) -> A53Config {
    let document = Document::from_embedded(EMBEDDED[0].name, &EMBEDDED).expect("the defaults");
    let set = |document: Document, setting: &&str| document.set(setting).expect("a key");
    let document = settings.iter().fold(document, set);
    A53Config::from_document(&document).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs `count` of these bodies one after the other. The access number n is `step * n` after the
/// begin of the data.
fn straight(settings: &[&str], body: &[u32], count: usize, step: u64) -> A53CoreOutcome {
    let words = body.repeat(count);
    let run = run_loop(&config(settings), &words, |at| DATA + step * at as u64, 1);
    assert_eq!(run.slots.total(), 2 * run.cycles, "{settings:?}");
    run
}

/// Returns the cycles of a body within many, without those of the begin and the end.
fn cycles(settings: &[&str], body: &[u32], step: u64) -> f64 {
    let [short, long] = [64, 128].map(|count| straight(settings, body, count, step).cycles);
    (long - short) as f64 / 64.0
}

/// A chain of loads, each of a line that is in no cache: 3 cycles as from the L1, 15 as from the
/// L2, and far more from memory.
#[test]
fn ideal_data_takes_the_time_of_a_hit() {
    let of = |data: &str| cycles(&[TRANSLATION, FETCH, NO_PREFETCH, data], &[LDR_CHAIN], LINE);
    assert_eq!(of(DATA_IDEAL), 3.0);
    assert_eq!(of(L2_IDEAL), 3.0 + 12.0);
    assert!(of("memory.ideal.data=nowhere") > 150.0);
    let misses = |settings: &[&str]| {
        straight(settings, &[LDR_CHAIN], 64, LINE).counts.value(A53Event::L1D_CACHE_REFILL)
    };
    assert!(misses(&[DATA_IDEAL, NO_PREFETCH]) >= 64, "a miss counts");
}

/// A load of a new page each: without the time of the walk, 3 cycles as any other.
#[test]
fn ideal_translation_takes_no_time() {
    let of = |own: &[&str]| cycles(&[own, &[DATA_IDEAL, FETCH]].concat(), &[LDR_CHAIN], PAGE);
    assert_eq!(of(&[TRANSLATION]), 3.0);
    assert!(of(&[]) > 6.0, "{}", of(&[]));
    let refills =
        |own: &[&str]| straight(own, &[LDR_CHAIN], 64, PAGE).counts.value(A53Event::L1D_TLB_REFILL);
    assert_eq!((refills(&[TRANSLATION]), refills(&[])), (64, 64));
}

/// Stores of a new line each: the five entries of the buffer wait for memory.
#[test]
fn an_ideal_store_buffer_is_never_full() {
    let settings = [TRANSLATION, FETCH, "memory.read-allocate.l1-lines=0", NO_PREFETCH];
    let ideal = [&settings[..], &[STORE_BUFFER]].concat();
    let full = |settings: &[&str]| {
        straight(settings, &[STR], 128, LINE).counts.value(A53Event::STALL_SB_FULL)
    };
    assert_eq!((cycles(&ideal, &[STR], LINE), full(&ideal)), (1.0, 0));
    assert!(cycles(&settings, &[STR], LINE) > 10.0 && full(&settings) > 1000);
    let quick = [&settings[..], &[DATA_IDEAL]].concat();
    assert_eq!(cycles(&quick, &[STR], LINE), 1.0, "a store takes the time of a hit");
}

/// Code of 4 KB that runs once, two instructions a cycle; taken branches, one a cycle.
#[test]
fn ideal_fetch_delays_nothing() {
    assert_eq!(cycles(&[FETCH], &[NOP; 16], 0), 8.0);
    assert!(cycles(&[TRANSLATION], &[NOP; 16], 0) > 16.0);
    assert_eq!(cycles(&[FETCH], &[BRANCH], 0), 1.0);
    assert!(cycles(&[], &[BRANCH], 0) > 3.0);
}

/// A loop of 40 rounds, whose exit the modeled core does not predict.
#[test]
fn ideal_prediction_never_restarts() {
    // subs x1, x1, #1; b.ne to it; b to the first.
    let words = [0xf100_0421, 0x54ff_ffe1, 0x17ff_fffe];
    let run = |settings: &[&str], trips: usize| {
        let mut core = Stepper::new(&config(settings), 0x10_0000, &words);
        for _ in 0..100 {
            for trip in 0..trips {
                core.step(0, None, 1);
                core.step(1, None, if trip + 1 == trips { 2 } else { 0 });
            }
            core.step(2, None, 0);
        }
        (core.cycle(), core.count(A53Event::BR_MIS_PRED))
    };
    let ((ideal, wrong), (longer, _)) = (run(&[PREDICTION], 40), run(&[PREDICTION], 41));
    assert_eq!((wrong, longer - ideal), (0, 100), "a round takes a cycle");
    let (modeled, wrong) = run(&[], 40);
    assert!(wrong >= 100 && modeled >= ideal + 600, "{wrong} mispredictions: {modeled}, {ideal}");
}

/// Chains of operations that take 6, 29 and 4 cycles, and of loads from the L1.
#[test]
fn ideal_results_are_ready_in_the_next_cycle() {
    for (word, modeled) in [(UMULH, 6.0), (FDIV, 29.0), (UDIV, 4.0), (LDR_CHAIN, 3.0)] {
        let of = |own: &[&str]| cycles(&[own, &[FETCH]].concat(), &[word], 0);
        assert_eq!(of(&[LATENCY]), 1.0, "{word:#x}");
        assert!(of(&[]) >= modeled, "{word:#x}: {}", of(&[]));
    }
}

/// Two accesses need the one address unit, and a pair of registers takes it for two cycles.
#[test]
fn ideal_issue_pairs_any_two() {
    for (body, modeled) in [([LDR, STR_OTHER], 2.0), ([LDP, LDP], 4.0)] {
        assert_eq!(cycles(&[FETCH], &body, 0), modeled, "{body:x?}");
        assert_eq!(cycles(&[FETCH, ISSUE], &body, 0), 1.0, "{body:x?}");
    }
    let single = [FETCH, ISSUE, "pipeline.dual-issue=false"];
    assert_eq!(cycles(&single, &[NOP, NOP], 0), 2.0, "one instruction a cycle stays one");
}
