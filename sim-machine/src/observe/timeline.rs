//! A run over time as a bounded number of intervals: when there are too many, each pair is merged.

use super::column::Column;
use super::slot_class::TopDownCategory;

/// Largest number of intervals of a core. A run that is not very short has at least half as many.
pub const MOST: usize = 240;
/// Cycles of an interval at the start.
const FIRST_STEP: u64 = 64;

/// Counts of one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Cycles.
    pub cycles: u64,
    /// Events (index: `Column as usize`).
    pub columns: [u64; Column::COUNT],
    /// Slots (index: `TopDownCategory as usize`). A stall counts in the interval in which it ends.
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

/// Intervals of one core, over its counted cycles.
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
    /// Advances time.
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
    pub(crate) fn slots(&mut self, category: TopDownCategory, slots: u64) {
        self.open.slots[category as usize] += slots;
    }

    /// Returns the intervals with a step that is larger by a power of two.
    fn with_step(&self, step: u64) -> Vec<Interval> {
        let mut all = self.done.clone();
        match all.last_mut() {
            // Counts at the very end of the last interval, in no time, belong to it.
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

/// Merges each pair of neighbors.
fn halved(intervals: &[Interval]) -> Vec<Interval> {
    let pair = |pair: &[Interval]| {
        let mut sum = pair[0];
        pair[1..].iter().for_each(|other| sum.add(other));
        sum
    };
    intervals.chunks(2).map(pair).collect()
}

/// Returns a common step and the intervals of all cores with that step.
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
    fn no_count_is_lost_whatever_the_length_of_the_run() {
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
