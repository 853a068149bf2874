//! Hidden machines: the fit gets their counts with noise, and nothing else.

use std::cell::Cell;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sim_calibrate::{
    Calibration, Journal, JournalError, Key, Model, Point, Points, Progress, Runs, Sample,
    Settings, calibrate,
};
use sim_core::config::{Range, Steps};

/// Latencies of three levels, of which two always come together; an overlap; and a value that no
/// kernel uses.
const NAMES: [&str; 6] = ["l1", "l2", "bus", "dram", "overlap", "unused"];
const HIDDEN: [i64; 6] = [5, 12, 9, 311, 6, 4];
const START: [i64; 6] = [4, 9, 6, 255, 4, 3];

fn range(low: i64, high: i64) -> Range {
    Range { low, high, steps: Steps::Ones }
}

fn keys() -> Vec<Key> {
    let ranges =
        [range(1, 8), range(5, 20), range(2, 40), range(200, 400), range(1, 16), range(1, 9)];
    let key = |((name, range), start): ((&str, Range), i64)| Key {
        name: name.to_owned(),
        range,
        start: range.position(start).expect("the start is in the range"),
    };
    NAMES.into_iter().zip(ranges).zip(START).map(key).collect()
}

/// A machine of four kernels: hits of the L1, hits of the L2, misses one by one and misses that
/// overlap. `separates` adds one that uses the bus alone.
#[derive(Clone, Copy, Default)]
struct Machine {
    separates: bool,
    /// A stall that no key describes.
    unknown: f64,
    /// Dirty lines that the third kernel leaves to the last one, which writes them to memory: a
    /// share of its cycles.
    left_over: f64,
}

impl Machine {
    fn new(separates: bool) -> Machine {
        Machine { separates, ..Machine::default() }
    }

    fn kernels(&self) -> usize {
        4 + usize::from(self.separates)
    }

    /// Returns the cycles, stalls and misses of a kernel.
    fn kernel(&self, kernel: usize, values: &[i64]) -> [f64; 3] {
        let [l1, l2, bus, dram, overlap, _] = [0, 1, 2, 3, 4, 5].map(|at| values[at] as f64);
        let miss = l1 + l2 + bus + dram;
        let own = self.unknown;
        match kernel {
            0 => [l1 + own, 0.0, 0.0],
            1 => [l1 + l2, l2 - own / 2.0, 0.0],
            2 => [miss, bus + dram, 1.0],
            3 => [(miss / overlap).max(l1), (miss / overlap - 2.0).max(0.0), 1.0],
            _ => [10.0 + bus, bus, 0.0],
        }
    }

    /// Returns the counts of all kernels, one after the other.
    fn all(&self, values: &[i64]) -> Vec<f64> {
        let mut all: Vec<[f64; 3]> =
            (0..self.kernels()).map(|kernel| self.kernel(kernel, values)).collect();
        if let Some(last) = all.last_mut() {
            last[0] += self.left_over * values[3] as f64;
        }
        all.concat()
    }
}

impl Model for Machine {
    type Error = ();

    fn predict(&self, kernel: usize, values: &[i64]) -> Result<Option<Vec<f64>>, ()> {
        Ok(Some(self.kernel(kernel, values).to_vec()))
    }

    fn predict_together(&self, values: &[i64]) -> Result<Option<Vec<f64>>, ()> {
        Ok((self.left_over > 0.0).then(|| self.all(values)))
    }
}

const EVENTS: [&str; 3] = ["CPU_CYCLES", "STALL_BACKEND", "LL_CACHE_MISS_RD"];

/// Returns the counts of the hidden machine with noise of 1 %.
fn counts(machine: &Machine, seed: u64) -> Points {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let exact = machine.all(&HIDDEN);
    let point = |(number, exact): (usize, f64)| Point {
        kernel: number / 3,
        event: EVENTS[number % 3].to_owned(),
        counted: Some(Sample { mean: exact * (1.0 + 0.01 * normal(&mut random)), deviation: 0.0 }),
        step: 0.0,
        held_out: false,
    };
    let all = exact.into_iter().enumerate().map(point).collect();
    let kernels = (0..machine.kernels()).map(|number| format!("kernel {number}")).collect();
    Points { kernels, all, noise: 0.01 }
}

fn normal(random: &mut impl Rng) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

fn fit(machine: &Machine, points: &Points) -> Calibration {
    let keys = keys();
    let mut runs = Runs::new(&keys, machine, None, &|_| (), 1).expect("a thread");
    let settings = Settings { most_runs: 1000 };
    let done = calibrate(&mut runs, &keys, points, settings).expect("the model runs");
    done.expect("the model has a machine at the start")
}

fn values(calibration: &Calibration, name: &str) -> std::ops::RangeInclusive<i64> {
    let at = NAMES.iter().position(|known| *known == name).expect("a key");
    let interval = calibration.keys[at].interval.expect("it changes counts");
    keys()[at].value(interval.low)..=keys()[at].value(interval.high)
}

/// Given a machine that no kernel separates into bus and memory, expect their sum and not more.
#[test]
fn sum_of_two_latencies() {
    let machine = Machine::new(false);
    for seed in 1..20 {
        let found = fit(&machine, &counts(&machine, seed));
        assert!(found.unexplained.is_empty(), "seed {seed}: {:?}", found.unexplained);
        assert!(found.after.fitted < 0.02 && found.before.fitted > 0.1, "seed {seed}");
        assert_eq!(found.keys[5].interval, None, "no kernel uses it");
        for (name, hidden) in NAMES.into_iter().zip(HIDDEN).take(5) {
            let interval = values(&found, name);
            assert!(interval.contains(&hidden), "seed {seed}: {name} {interval:?}");
        }
        let [tie] = found.ties.as_slice() else { panic!("seed {seed}: {:?}", found.ties) };
        let mut tied: Vec<usize> = tie.moves.iter().map(|(key, _)| *key).collect();
        tied.sort_unstable();
        assert_eq!(tied, [2, 3], "seed {seed}");
        let known = tie.known.expect("a sum");
        assert_eq!(known.factor, 1.0);
        assert!((known.value - 320.0).abs() <= known.deviation + 1.0, "seed {seed}: {known:?}");
    }
}

/// Given counts without any noise, expect the values and an end of the search.
#[test]
fn exact_counts() {
    let machine = Machine::new(true);
    let exact = machine.all(&HIDDEN);
    let mut points = counts(&machine, 1);
    for (point, mean) in points.all.iter_mut().zip(exact) {
        point.counted = Some(Sample { mean, deviation: 0.0 });
    }
    let found = fit(&machine, &points);
    assert_eq!((found.after.fitted, found.is_noise), (0.0, true));
    let fitted: Vec<i64> =
        keys().iter().zip(&found.keys).map(|(key, found)| key.value(found.position)).collect();
    assert_eq!(fitted[..5], HIDDEN[..5]);
}

/// Given a kernel that uses the bus alone, expect both values.
#[test]
fn kernel_that_separates() {
    let machine = Machine::new(true);
    let found = fit(&machine, &counts(&machine, 3));
    assert!(found.ties.is_empty(), "{:?}", found.ties);
    assert!(values(&found, "bus").contains(&9) && values(&found, "bus").count() < 4);
}

/// Given the same kernel without a count, expect its name as the one that would separate.
#[test]
fn kernel_that_would_separate() {
    let machine = Machine::new(true);
    let mut points = counts(&machine, 3);
    points.all.iter_mut().filter(|point| point.kernel == 4).for_each(|point| point.counted = None);
    let found = fit(&machine, &points);
    let (kernel, ..) = found.ties[0].separated_by.clone().expect("a kernel");
    assert_eq!(points.kernels[kernel], "kernel 4");
}

/// Given a kernel that takes longer after the one before it, expect the values all the same.
#[test]
fn kernel_that_follows_another() {
    let machine = Machine { left_over: 0.1, ..Machine::new(true) };
    for seed in 1..10 {
        let found = fit(&machine, &counts(&machine, seed));
        assert!(found.is_noise && found.unexplained.is_empty(), "seed {seed}: {found:?}");
        for (name, hidden) in NAMES.into_iter().zip(HIDDEN).take(5) {
            let interval = values(&found, name);
            assert!(interval.contains(&hidden), "seed {seed}: {name} {interval:?}");
        }
    }
}

/// Given a count that the kernel before it changes, and that is ten times too large, expect it as
/// one that no value explains.
#[test]
fn wrong_count_after_another_kernel() {
    let machine = Machine { left_over: 0.1, ..Machine::new(true) };
    let mut points = counts(&machine, 1);
    let wrong = points.all.iter_mut().rfind(|point| point.event == EVENTS[0]).expect("a count");
    wrong.counted = wrong.counted.map(|count| Sample { mean: 10.0 * count.mean, ..count });
    let found = fit(&machine, &points);
    let is_wrong =
        |count: &sim_calibrate::Unexplained| count.kernel == 4 && count.event == EVENTS[0];
    assert!(found.unexplained.iter().any(is_wrong), "{:?}", found.unexplained);
}

/// Given a machine with a stall that the model does not have, expect it among the residuals.
#[test]
fn other_structure() {
    let hidden = Machine { unknown: 3.0, ..Machine::new(true) };
    let found = fit(&Machine::new(true), &counts(&hidden, 5));
    assert!(!found.unexplained.is_empty() && !found.is_noise && found.agrees == Some(true));
    assert!(found.unexplained.iter().all(|count| count.kernel < 2), "{:?}", found.unexplained);
}

/// Given one count that is three times too large, expect it as the largest residual, and the values
/// that other counts show in their intervals.
#[test]
fn one_wrong_count() {
    let machine = Machine::new(true);
    for seed in 1..10 {
        let mut points = counts(&machine, seed);
        let wrong = &mut points.all[2 * EVENTS.len() + 1];
        wrong.counted = wrong.counted.map(|count| Sample { mean: 3.0 * count.mean, ..count });
        let found = fit(&machine, &points);
        let unexplained = &found.unexplained;
        let largest = &unexplained[0];
        let is_wrong_one = largest.kernel == 2 && largest.event == EVENTS[1];
        assert!(is_wrong_one, "seed {seed}: {unexplained:?}");
        for (name, hidden) in NAMES.into_iter().zip(HIDDEN).take(2) {
            let interval = values(&found, name);
            assert!(interval.contains(&hidden), "seed {seed}: {name} {interval:?}");
        }
    }
}

/// Given the journal of a search, expect the same result without a run.
#[test]
fn search_that_goes_on() -> Result<(), JournalError> {
    let path = std::env::temp_dir().join(format!("n2sim-journal-{}", std::process::id()));
    let machine = Machine::new(true);
    let (keys, points) = (keys(), counts(&machine, 3));
    let made = Cell::new(0);
    let search = || -> Result<Option<Calibration>, JournalError> {
        let progress = |progress: Progress| made.set(progress.runs);
        let journal = Journal::open(&path, "twin")?;
        let mut runs = Runs::new(&keys, &machine, Some(journal), &progress, 2).expect("threads");
        Ok(calibrate(&mut runs, &keys, &points, Settings { most_runs: 1000 }).ok().flatten())
    };
    let first = search()?;
    assert!(made.take() > 50);
    let second = search()?;
    assert_eq!((&first, made.take()), (&second, 0));
    // A line that was changed by hand is a run that was not made.
    let text = std::fs::read_to_string(&path).map_err(JournalError::Io)?;
    let place = text.lines().nth(1).and_then(|line| line.split("\"predicted\"").next());
    let short = format!("{}\"predicted\":[1.0]}}\n", place.unwrap_or_default());
    std::fs::write(&path, text + &short).map_err(JournalError::Io)?;
    let third = search()?;
    assert_eq!((&first, made.take()), (&third, 1));
    assert!(matches!(Journal::open(&path, "another"), Err(JournalError::OtherSearch)));
    // A second search would mix its lines with those of the first.
    let open = Journal::open(&path, "twin")?;
    for second in [Journal::open, Journal::restart] {
        assert!(matches!(second(&path, "twin"), Err(JournalError::InUse)));
    }
    drop(open);
    drop(Journal::restart(&path, "another")?);
    assert!(matches!(Journal::open(&path, "twin"), Err(JournalError::OtherSearch)));
    std::fs::remove_file(&path).map_err(JournalError::Io)
}
