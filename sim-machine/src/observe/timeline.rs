//! A run over time in a bounded number of intervals: when there are too many, two become one.

use super::column::Column;
use super::slot_class::TopDownCategory;

/// Intervals of a core at most; at least half as many, but for a short run.
pub const MOST: usize = 240;
/// Cycles of the first intervals.
const FIRST_STEP: u64 = 64;

/// What was counted in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Cycles.
    pub cycles: u64,
    /// Events (index: `Column as usize`).
    pub columns: [u64; Column::COUNT],
    /// Slots (index: `End as usize`). A stall that lasts longer than the interval ends in a later one.
    pub slots: [u64; TopDownCategory::COUNT],
}

impl Interval {
    fn add(&mut self, other: &Interval) {
        self.cycles += other.cycles;
        for (sum, n) in self.columns.iter_mut().zip(&other.columns) {
            *sum += n;
        }
        for (sum, n) in self.slots.iter_mut().zip(&other.slots) {
            *sum += n;
        }
    }
}

/// The intervals of one core. Time is its counted cycles.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    step: u64,
    done: Vec<Interval>,
    open: Interval,
}

impl Default for Recorder {
    fn default() -> Self {
        Recorder { step: FIRST_STEP, done: Vec::new(), open: Interval::default() }
    }
}

impl Recorder {
    /// Time goes on.
    #[inline]
    pub(crate) fn pass(&mut self, cycles: u64) {
        if self.open.cycles + cycles >= self.step {
            return self.pass_ends(cycles);
        }
        self.open.cycles += cycles;
    }

    #[cold]
    fn pass_ends(&mut self, mut cycles: u64) {
        while self.open.cycles + cycles >= self.step {
            cycles -= self.step - self.open.cycles;
            self.open.cycles = self.step;
            self.done.push(std::mem::take(&mut self.open));
            if self.done.len() == MOST {
                self.done = halved(&self.done);
                self.step *= 2;
            }
        }
        self.open.cycles += cycles;
    }

    #[inline]
    pub(crate) fn count(&mut self, column: Column, n: u64) {
        self.open.columns[column as usize] += n;
    }

    #[inline]
    pub(crate) fn slots(&mut self, end: TopDownCategory, slots: u64) {
        self.open.slots[end as usize] += slots;
    }

    /// The intervals with this step, a larger one by some powers of two.
    fn with_step(&self, step: u64) -> Vec<Interval> {
        let mut all = self.done.clone();
        match all.last_mut() {
            // What came at the very end of the last interval, in no time, belongs to it.
            Some(last) if self.open.cycles == 0 => last.add(&self.open),
            _ => all.push(self.open),
        }
        let mut own = self.step;
        while own < step {
            all = halved(&all);
            own *= 2;
        }
        all
    }
}

/// Each two neighbors as one.
fn halved(intervals: &[Interval]) -> Vec<Interval> {
    let pair = |pair: &[Interval]| {
        let mut sum = pair[0];
        pair[1..].iter().for_each(|other| sum.add(other));
        sum
    };
    intervals.chunks(2).map(pair).collect()
}

/// The intervals of all cores with the same step.
pub(crate) fn aligned<'a>(
    cores: impl Iterator<Item = &'a Recorder> + Clone,
) -> (u64, Vec<Vec<Interval>>) {
    let step = cores.clone().map(|core| core.step).max().unwrap_or(FIRST_STEP);
    (step, cores.map(|core| core.with_step(step)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_however_long_the_run() {
        for cycles in [0, 1, 63, 64, 65, 64 * 239, 64 * 240, 1_000_003, u64::MAX / 8] {
            let mut recorder = Recorder::default();
            recorder.count(Column::Instructions, 7);
            recorder.pass(cycles);
            recorder.count(Column::Instructions, 5);
            let (step, cores) = aligned([&recorder].into_iter());
            let sum = |of: &dyn Fn(&Interval) -> u64| cores[0].iter().map(of).sum::<u64>();
            assert_eq!(sum(&|interval| interval.cycles), cycles);
            assert_eq!(sum(&|interval| interval.columns[0]), 12);
            assert!(cores[0].len() <= MOST, "{cycles}");
            assert!(cycles < 64 * 240 || cores[0].len() >= MOST / 2, "{cycles}");
            let (last, others) = cores[0].split_last().expect("never empty");
            assert!(others.iter().all(|interval| interval.cycles == step));
            assert!(last.cycles <= step);
        }
    }

    #[test]
    fn cores_of_different_length_have_the_same_step() {
        let mut long = Recorder::default();
        long.pass(64 * 1000);
        let mut short = Recorder::default();
        short.pass(64 * 3 + 1);
        let (step, cores) = aligned([&long, &short].into_iter());
        assert_eq!(step, 64 * 8);
        assert_eq!(cores[0].len(), 125);
        assert_eq!(cores[1].iter().map(|interval| interval.cycles).collect::<Vec<_>>(), [193]);
    }
}
