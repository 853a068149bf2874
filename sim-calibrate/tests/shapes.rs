//! Models whose counts have valleys, jumps and gaps, as real ones do.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sim_calibrate::{
    Calibration, FittedKey, Key, Model, Point, Points, Runs, Sample, Settings, calibrate,
};
use sim_core::config::{Range, Steps};

/// A model of several kernels with one count each. `None` is a place without a machine.
struct Shape<F> {
    kernels: usize,
    count: F,
    /// Share of its count that a kernel has after the others.
    together: f64,
    /// The model says without a run where it has no machine.
    says: bool,
}

impl<F: Fn(usize, &[i64]) -> Option<f64> + Sync> Model for Shape<F> {
    type Error = ();

    fn has_machine(&self, values: &[i64]) -> bool {
        !self.says || (0..self.kernels).all(|kernel| (self.count)(kernel, values).is_some())
    }

    fn predict(&self, kernel: usize, values: &[i64]) -> Result<Option<Vec<f64>>, ()> {
        Ok((self.count)(kernel, values).map(|count| vec![count]))
    }

    fn predict_together(&self, values: &[i64]) -> Result<Option<Vec<f64>>, ()> {
        let count = |kernel| (self.count)(kernel, values).map(|count| self.together * count);
        Ok(if self.together == 1.0 { None } else { (0..self.kernels).map(count).collect() })
    }
}

impl<F: Fn(usize, &[i64]) -> Option<f64> + Sync> Shape<F> {
    fn new(kernels: usize, count: F) -> Shape<F> {
        Shape { kernels, count, together: 1.0, says: true }
    }

    /// Returns the counts of a machine with such values, with noise of 1 %.
    fn counts(&self, values: &[i64], seed: u64) -> Points {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let point = |kernel: usize| {
            let exact = (self.count)(kernel, values).expect("a machine") * self.together;
            let normal = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            let counted = Some(Sample { mean: exact * (1.0 + 0.01 * normal), deviation: 0.0 });
            Point { kernel, event: "CPU_CYCLES".to_owned(), counted, step: 0.0, held_out: false }
        };
        let all = (0..self.kernels).map(point).collect();
        let kernels = (0..self.kernels).map(|kernel| kernel.to_string()).collect();
        Points { kernels, all, noise: 0.01 }
    }

    fn fit(&self, keys: &[Key], points: &Points) -> Calibration {
        let mut runs = Runs::new(keys, self, None, &|_| (), 1).expect("a thread");
        let settings = Settings { most_runs: 2000 };
        let done = calibrate(&mut runs, keys, points, settings).expect("the model runs");
        done.expect("the model has a machine at the start")
    }
}

/// Returns keys with these ranges and starts.
fn keys(ranges: &[(i64, i64, i64)]) -> Vec<Key> {
    let key = |(number, (low, high, start)): (usize, &(i64, i64, i64))| {
        let range = Range { low: *low, high: *high, steps: Steps::Ones };
        let start = range.position(*start).expect("the start is in the range");
        Key { name: format!("key {number}"), range, start }
    };
    ranges.iter().enumerate().map(key).collect()
}

fn values(keys: &[Key], found: &Calibration) -> Vec<i64> {
    keys.iter().zip(&found.keys).map(|(key, found)| key.value(found.position)).collect()
}

/// Returns the values that the counts allow.
fn interval(key: &Key, found: &FittedKey) -> std::ops::RangeInclusive<i64> {
    let interval = found.interval.expect("it changes counts");
    key.value(interval.low)..=key.value(interval.high)
}

/// Given a sum of two values that all counts show, and a count that changes only where both are at
/// the ends of their ranges, expect the intervals to lead there, and a search that starts again.
#[test]
fn better_place_that_an_interval_finds() {
    let model = Shape::new(2, |kernel, values: &[i64]| {
        let [one, other] = [values[0], values[1]];
        let is_corner = one <= 2 && other >= 198;
        Some(match kernel {
            0 => (one + other) as f64,
            _ if is_corner => 30.0,
            _ => 10.0 + (one + other) as f64 / 1000.0,
        })
    });
    let keys = keys(&[(0, 200, 60), (0, 200, 120)]);
    let found = model.fit(&keys, &model.counts(&[0, 200], 1));
    let fitted = values(&keys, &found);
    assert!(fitted[0] <= 2 && fitted[1] >= 198, "{fitted:?}");
    assert!(found.is_noise && found.unexplained.is_empty(), "{:?}", found.unexplained);
    // Both searches had missed it.
    assert_eq!(found.agrees, Some(false));
}

/// Given a valley around the start that no step leads out of, and a deeper one where the second
/// search starts, expect the deeper one and the difference between the two.
#[test]
fn two_valleys() {
    let model = Shape::new(3, |kernel, values: &[i64]| {
        let [one, other] = [values[0], values[1]];
        let distance = ((one - 150).abs() + (other - 150).abs()) as f64;
        Some(match kernel {
            0 => 100.0 + (one - 150) as f64 / 10.0,
            1 => 100.0 + (other - 150) as f64 / 10.0,
            // Both keys together show it, each alone does not.
            _ if distance < 20.0 => 50.0 + distance,
            _ => 100.0 + (one + other) as f64 / 100.0,
        })
    });
    let keys = keys(&[(0, 200, 40), (0, 200, 40)]);
    let mut points = model.counts(&[150, 150], 1);
    // The keys alone lead to the start.
    for point in &mut points.all[..2] {
        point.counted = Some(Sample { mean: 89.0, deviation: 0.0 });
    }
    let found = model.fit(&keys, &points);
    assert_eq!(found.agrees, Some(false));
    assert!(values(&keys, &found).iter().all(|value| *value > 130));
}

/// Given counts that jump with each step of every key, expect intervals that have the values: the
/// place with the least difference is the luckiest one, and not the right one.
#[test]
fn counts_that_jump() {
    const STEADY: usize = 4;
    const HIDDEN: [i64; STEADY] = [30, 25, 40, 35];
    let model = Shape::new(STEADY + 80, |kernel, values: &[i64]| {
        if kernel < STEADY {
            return Some(100.0 + values[kernel] as f64);
        }
        let place = values.iter().fold(kernel as u64, |all, value| 1000 * all + *value as u64);
        let jump = Xoshiro256PlusPlus::seed_from_u64(place).random::<f64>() - 0.5;
        Some((1000 + values.iter().sum::<i64>()) as f64 * (1.0 + jump))
    });
    let keys = keys(&[(0, 60, 20); STEADY]);
    let mut open = 0;
    for seed in 1..4 {
        let found = model.fit(&keys, &model.counts(&HIDDEN, seed));
        assert!(found.is_noise, "seed {seed}");
        for (number, hidden) in HIDDEN.into_iter().enumerate() {
            let interval = interval(&keys[number], &found.keys[number]);
            assert!(interval.contains(&hidden), "seed {seed}: {hidden} {interval:?}");
            open += usize::from(interval == (0..=60));
        }
    }
    assert!(open < 6, "{open} of 12 intervals exclude nothing");
}

/// Given a kernel that takes less time after others, expect the value, and an interval that is as
/// wide as the share is unsure elsewhere.
#[test]
fn kernel_that_takes_less_time_after_others() {
    let keys = keys(&[(10, 400, 40)]);
    let found = [1.0, 0.9].map(|together| {
        let model = Shape { together, ..Shape::new(1, |_, values: &[i64]| Some(values[0] as f64)) };
        let found = model.fit(&keys, &model.counts(&[120], 2));
        assert_eq!((found.is_noise, &found.unexplained[..]), (true, &[][..]), "{together}");
        assert!((118..=122).contains(&values(&keys, &found)[0]), "{together}: {found:?}");
        interval(&keys[0], &found.keys[0])
    });
    let [alone, after] = found;
    assert!(alone.contains(&120) && *alone.start() > 110 && *alone.end() < 130, "{alone:?}");
    assert!(*after.start() < 100 && (150..400).contains(after.end()), "{after:?}");
}

/// Given a range at one end of which the model has no machine, expect a key that changes no count
/// as one that is not seen, and no run for it.
#[test]
fn unused_key_without_a_machine_at_an_end() {
    for says in [true, false] {
        let count =
            |_: usize, values: &[i64]| (values[1] <= 30).then_some(100.0 + values[0] as f64);
        let model = Shape { says, ..Shape::new(1, count) };
        let keys = keys(&[(0, 60, 20), (0, 60, 20)]);
        let found = model.fit(&keys, &model.counts(&[40, 20], 1));
        assert!(interval(&keys[0], &found.keys[0]).contains(&40), "{says}: {found:?}");
        assert_eq!(found.keys[1], FittedKey { position: 20, interval: None }, "{says}");
    }
}

/// Given a key that changes counts only up to where machines end, expect that it is seen: the
/// change to the nearest machine counts, and not the one to the end of the range.
#[test]
fn seen_key_without_a_machine_at_an_end() {
    let model = Shape::new(1, |_, values: &[i64]| {
        (values[0] <= 33).then_some(100.0 + (values[0] - 30).max(0) as f64)
    });
    let keys = keys(&[(0, 200, 20)]);
    let found = model.fit(&keys, &model.counts(&[33], 1));
    let interval = interval(&keys[0], &found.keys[0]);
    assert!(values(&keys, &found)[0] > 30 && interval.contains(&33), "{found:?}");
}

/// Given a value next to places without a machine, expect the slope to the other side, and so an
/// interval that is not all of the range.
#[test]
fn value_next_to_a_gap() {
    for gap in [51..=200, 0..=49] {
        let model = Shape::new(2, |kernel, values: &[i64]| {
            let count = 100 + values[0] + if kernel == 0 { values[1] } else { 0 };
            (!gap.contains(&values[0])).then_some(count as f64)
        });
        let keys = keys(&[(0, 200, 50), (0, 200, 90)]);
        let found = model.fit(&keys, &model.counts(&[50, 30], 1));
        for (number, hidden) in [50, 30].into_iter().enumerate() {
            let interval = interval(&keys[number], &found.keys[number]);
            assert!(interval.contains(&hidden) && interval.count() < 40, "{gap:?}: {found:?}");
        }
    }
}

/// Given no machine where the second search would start, expect it to start nearer.
#[test]
fn second_search_without_a_machine_far_away() {
    let model = Shape::new(3, |kernel, values: &[i64]| {
        let count = [100 + values[0], 100 + values[1], 100 + values[0] + values[1]][kernel];
        (values[0] + values[1] < 150).then_some(count as f64)
    });
    for start in [20, 60] {
        let keys = keys(&[(0, 200, start), (0, 200, start)]);
        let mut points = model.counts(&[40, 40], 1);
        // No value explains it, so that there is a second search.
        points.all[2].counted = Some(Sample { mean: 1000.0, deviation: 0.0 });
        let found = model.fit(&keys, &points);
        assert!(found.agrees == Some(true) && !found.unexplained.is_empty(), "{found:?}");
    }
}
