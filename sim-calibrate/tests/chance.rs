//! Sizes of hashed tables, of which no value is nearer to the truth than another.

use sim_calibrate::{
    Calibration, Cause, FittedKey, Key, Model, Point, Points, Runs, Sample, Settings, calibrate,
    digest,
};
use sim_core::config::{Range, Steps};

/// Latency of a branch, and the sizes of two tables, as bits.
const HIDDEN: [i64; 3] = [7, 12, 9];
const START: [i64; 3] = [4, 11, 11];
const BRANCHES: usize = 12;
const KERNELS: usize = 2;

/// A machine with a predictor whose branches share entries by chance.
struct Machine;

fn counts(kernel: usize, values: &[i64]) -> Vec<f64> {
    let missed = |branch: usize| {
        let of = [kernel as u8, branch as u8, values[1] as u8, values[2] as u8];
        let mixed = digest(&digest(&of).to_le_bytes());
        20.0 + (mixed >> 40 & 0x1ff) as f64
    };
    let missed: Vec<f64> = (0..BRANCHES).map(missed).collect();
    // Mispredictions cost time, too: as much as chance is in them.
    let cycles = 1000.0 * values[0] as f64 + missed.iter().sum::<f64>() / 100.0;
    [missed, vec![cycles, 2.0 * cycles]].concat()
}

impl Model for Machine {
    type Error = ();

    fn predict(&self, kernel: usize, values: &[i64]) -> Result<Option<Vec<f64>>, ()> {
        Ok(Some(counts(kernel, values)))
    }
}

fn keys() -> Vec<Key> {
    let key = |(number, name): (usize, &str)| {
        let (low, high, steps) = match number {
            0 => (1, 40, Steps::Ones),
            _ => (9, 13, Steps::ByChance),
        };
        let range = Range { low, high, steps };
        let start = range.position(START[number]).expect("the start is in the range");
        Key { name: name.to_owned(), range, start }
    };
    ["latency", "tagged-bits", "folded-bits"].into_iter().enumerate().map(key).collect()
}

/// Returns the counts of the hidden machine, with some noise that is the same in every run.
fn points() -> Points {
    let point = |(kernel, (number, mean)): (usize, (usize, f64))| {
        let mean = mean * (1.0 + 0.004 * (number % 3) as f64);
        let counted = Some(Sample { mean, deviation: 0.0 });
        Point { kernel, event: format!("EVENT_{number}"), counted, step: 0.0, held_out: false }
    };
    let of = |kernel| counts(kernel, &HIDDEN).into_iter().enumerate().map(move |at| (kernel, at));
    let kernels = (0..KERNELS).map(|number| format!("kernel {number}")).collect();
    Points { kernels, all: (0..KERNELS).flat_map(of).map(point).collect(), noise: 0.01 }
}

/// Returns the result, and for each key its value and those that are not excluded.
fn fitted() -> (Calibration, Vec<(i64, i64, i64)>) {
    let (keys, points) = (keys(), points());
    let mut runs = Runs::new(&keys, &Machine, None, &|_| {}, 1).expect("one thread starts");
    let found = calibrate(&mut runs, &keys, &points, Settings { most_runs: 3000 });
    let found = found.expect("no run fails").expect("there is a machine");
    let value = |(key, fitted): (&Key, &FittedKey)| {
        let interval = fitted.interval.expect("the key changes counts");
        (key.value(fitted.position), key.value(interval.low), key.value(interval.high))
    };
    let values = keys.iter().zip(&found.keys).map(value).collect();
    (found, values)
}

#[test]
fn nothing_is_claimed_about_sizes_and_other_values_are_found() {
    let (found, values) = fitted();
    assert_eq!(values[1..], [(11, 9, 13), (11, 9, 13)], "where the search started, all open");
    assert_eq!(values[0], (7, 7, 7), "the latency shows in the cycles");
    assert!(found.is_noise && found.unexplained.is_empty(), "{:?}", found.unexplained);
}

/// A machine whose branches miss only with these sizes of both tables, and only after other
/// kernels, and miss `factor` times as often as in the model then.
struct Both {
    missing: fn(&[i64]) -> bool,
    factor: f64,
}

impl Both {
    fn counts(&self, values: &[i64]) -> Vec<f64> {
        let missed = if (self.missing)(values) { 2000.0 * self.factor } else { 20.0 };
        vec![missed, 1000.0 * values[0] as f64]
    }
}

impl Model for Both {
    type Error = ();

    fn predict(&self, _: usize, values: &[i64]) -> Result<Option<Vec<f64>>, ()> {
        let alone = Both { missing: |_| false, ..*self };
        Ok(Some(alone.counts(values)))
    }

    fn predict_together(&self, values: &[i64]) -> Result<Option<Vec<f64>>, ()> {
        Ok(Some(self.counts(values)))
    }
}

/// Given a machine with other sizes that a kernel alone does not show, expect a difference by
/// chance, whether one size makes it or both; given more misses than any sizes make, expect another
/// structure.
#[test]
fn what_other_sizes_make_is_no_other_structure() {
    let both: fn(&[i64]) -> bool = |values| values[1] < 11 && values[2] < 11;
    let one: fn(&[i64]) -> bool = |values| values[1] == 9 && values[2] == START[2];
    let cases = [
        (both, [7, 9, 10], 1.0, Cause::HashedSizes),
        (one, [7, 9, START[2]], 1.0, Cause::HashedSizes),
        (both, [7, 9, 10], 9.0, Cause::Structure),
    ];
    for (missing, hidden, factor, cause) in cases {
        let counted = Both { missing, factor }.counts(&hidden);
        let point = |(number, mean): (usize, f64)| {
            let counted = Some(Sample { mean, deviation: 0.0 });
            let event = format!("EVENT_{number}");
            Point { kernel: 0, event, counted, step: 0.0, held_out: false }
        };
        let all = counted.into_iter().enumerate().map(point).collect();
        let points = Points { kernels: vec!["branches".to_owned()], all, noise: 0.01 };
        let (keys, model) = (keys(), Both { missing, factor: 1.0 });
        let mut runs = Runs::new(&keys, &model, None, &|_| {}, 1).expect("one thread starts");
        let found = calibrate(&mut runs, &keys, &points, Settings { most_runs: 3000 });
        let found = found.expect("no run fails").expect("there is a machine");
        let causes: Vec<Cause> = found.unexplained.iter().map(|count| count.cause).collect();
        assert_eq!(causes, [cause], "{:?}", found.unexplained);
    }
}
