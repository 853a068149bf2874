//! The cost of leaving a loop, against what qsdr measured on a Zynq UltraScale+.

use sim_a53::cluster::EMBEDDED;
use sim_a53::{A53Config, A53Event, Stepper};
use sim_core::config::Document;

/// `subs x1, x1, #1`, then `b.ne` to it, then `b` to the first.
const WORDS: [u32; 3] = [0xf100_0421, 0x54ff_ffe1, 0x17ff_fffe];
/// Loops that the predictor learns from.
const WARM: usize = 200;
/// Measured loops.
const LOOPS: usize = 100;

/// Returns the cycles and the mispredictions of one loop of `trips` rounds, with the branch back to
/// its begin.
fn loop_of(trips: usize) -> (f64, f64) {
    let document = Document::from_embedded(EMBEDDED[0].name, &EMBEDDED).expect("embedded");
    let config = A53Config::from_document(&document).expect("a core");
    let mut core = Stepper::new(&config, 0x10_0000, &WORDS);
    let mut run = |loops: usize| {
        for _ in 0..loops {
            for trip in 0..trips {
                core.step(0, None, 1);
                core.step(1, None, if trip + 1 == trips { 2 } else { 0 });
            }
            core.step(2, None, 0);
        }
        (core.cycle(), core.count(A53Event::BR_COND_MISPRED))
    };
    let (from, to) = (run(WARM), run(LOOPS));
    let each = |count: u64| count as f64 / LOOPS as f64;
    (each(to.0 - from.0), each(to.1 - from.1))
}

// Given: a loop whose exit is not predicted, because it has more rounds than the history. Stimulus:
// 40 rounds. Expect: 7 cycles more than the rounds and the branch back take (qsdr; LLVM assumes 9).
#[test]
fn the_exit_of_a_long_loop_costs_what_was_measured() {
    let (long, longer) = (loop_of(40), loop_of(41));
    let per_round = longer.0 - long.0;
    let (short, shorter) = (loop_of(6), loop_of(5));
    let without_miss = short.0 + 34.0 * per_round;
    assert!((short.0 - shorter.0 - per_round).abs() < 0.01, "rounds of short loops cost the same");
    assert_eq!((short.1, long.1), (0.0, 1.0), "mispredictions of a loop");
    let miss = long.0 - without_miss;
    assert!((miss - 7.0).abs() < 0.1, "{miss} cycles");
}

// Given: loops of up to eight rounds. Stimulus: many of them. Expect: no misprediction (qsdr).
#[test]
fn the_exit_of_a_short_loop_is_predicted() {
    for trips in 2..=8 {
        assert_eq!(loop_of(trips).1, 0.0, "{trips} rounds");
    }
}
