//! A run over time as a bounded number of intervals: when there are too many, each pair is merged.

use sim_core::{Counts, EventSink, InstId, PmuEvent};

use super::column::Column;
use super::slot_class::{ClassSlots, SlotClass, TopDownCategory};

/// Largest number of intervals of a core. A run that is not very short has at least half as many.
pub const MOST: usize = 240;
/// Most instructions kept for an interval: those with most slots.
pub const MOST_CODE: usize = 1024;
/// Cycles of an interval at the start.
const FIRST_STEP: u64 = 64;

/// Cost of one static instruction in one interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeTime {
    /// Number of the static instruction.
    pub inst: InstId,
    /// Rename slots charged to it.
    pub slots: u64,
}

/// Counts of one interval.
#[derive(Clone, Debug, Default)]
pub struct Interval {
    /// Cycles.
    pub cycles: u64,
    /// Every event.
    pub counts: Counts,
    /// Slots by class (index: [`SlotClass::index`]). A stall counts in the interval in which it
    /// ends.
    pub slots: ClassSlots,
    /// Instructions with slots, by number.
    pub code: Vec<CodeTime>,
}

impl Interval {
    /// Returns the count of an event of a column.
    pub fn column(&self, column: Column) -> u64 {
        self.counts.value(column.event())
    }

    /// Returns the slots of a top-down category.
    pub fn category(&self, category: TopDownCategory) -> u64 {
        let own = SlotClass::all().filter(|class| class.category() == category);
        own.map(|class| self.slots[class.index()]).sum()
    }

    fn add(&mut self, other: &Interval) {
        self.cycles += other.cycles;
        self.counts.add(&other.counts);
        for (sum, n) in self.slots.iter_mut().zip(other.slots.iter()) {
            *sum += n;
        }
        self.code = bounded(merged(&self.code, &other.code));
    }
}

/// Keeps the most expensive instructions of a list, in the order of their numbers.
fn bounded(mut code: Vec<CodeTime>) -> Vec<CodeTime> {
    if code.len() > MOST_CODE {
        code.sort_unstable_by_key(|own| (std::cmp::Reverse(own.slots), own.inst));
        code.truncate(MOST_CODE);
        code.sort_unstable_by_key(|own| own.inst);
    }
    code
}

/// Adds two lists that are ordered by instruction.
fn merged(a: &[CodeTime], b: &[CodeTime]) -> Vec<CodeTime> {
    let mut sums: Vec<CodeTime> = Vec::with_capacity(a.len().max(b.len()));
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if y.inst < x.inst => b.next(),
            (Some(_), _) => a.next(),
            (None, _) => b.next(),
        };
        let Some(next) = next else { return sums };
        match sums.last_mut() {
            Some(last) if last.inst == next.inst => {
                last.slots += next.slots;
            }
            _ => sums.push(*next),
        }
    }
}

/// Intervals of one core, over its counted cycles.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    step: u64,
    done: Vec<Interval>,
    /// Present interval, without its instructions.
    open: Interval,
    /// Slots of each instruction in the present interval (index: its number).
    code: Vec<u64>,
    /// Instructions with slots in the present interval, in any order.
    used: Vec<InstId>,
}

impl Default for Recorder {
    fn default() -> Self {
        let open = Interval::default();
        let (done, code, used) = (Vec::new(), Vec::new(), Vec::new());
        Recorder { step: FIRST_STEP, done, open, code, used }
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
            self.open.code = self.taken();
            self.done.push(std::mem::take(&mut self.open));
            if self.done.len() == MOST {
                self.done = halved(&self.done);
                self.step *= 2;
            }
        }
        self.open.cycles += cycles;
    }

    #[inline]
    pub(crate) fn count(&mut self, event: PmuEvent, n: u64) {
        self.open.counts.count(event, n);
    }

    #[inline]
    pub(crate) fn slots(&mut self, class: SlotClass, slots: u64) {
        self.open.slots[class.index()] += slots;
    }

    /// Adds slots of an instruction.
    #[inline]
    pub(crate) fn charge(&mut self, inst: Option<InstId>, slots: u64) {
        let Some(inst) = inst.filter(|_| slots > 0) else { return };
        match self.code.get_mut(inst as usize) {
            Some(own) => {
                if *own == 0 {
                    self.used.push(inst);
                }
                *own += slots;
            }
            None => self.charge_new(inst, slots),
        }
    }

    #[cold]
    fn charge_new(&mut self, inst: InstId, slots: u64) {
        self.code.resize((inst as usize + 1).next_power_of_two(), 0);
        self.charge(Some(inst), slots);
    }

    /// Returns the instructions of the present interval and begins with none.
    fn taken(&mut self) -> Vec<CodeTime> {
        let mut used = std::mem::take(&mut self.used);
        used.sort_unstable();
        let code = used.iter().map(|inst| {
            let slots = std::mem::take(&mut self.code[*inst as usize]);
            CodeTime { inst: *inst, slots }
        });
        let code = code.collect();
        used.clear();
        self.used = used;
        bounded(code)
    }

    /// Returns the intervals with a step that is larger by a power of two.
    fn with_step(&self, step: u64) -> Vec<Interval> {
        let mut all = self.done.clone();
        let open = Interval { code: self.clone().taken(), ..self.open.clone() };
        match all.last_mut() {
            // Counts at the very end of the last interval, in no time, belong to it.
            Some(last) if open.cycles == 0 => last.add(&open),
            _ => all.push(open),
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
        let mut sum = pair[0].clone();
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
            recorder.count(PmuEvent::INST_RETIRED, 7);
            recorder.charge(Some(3), 2);
            recorder.slots(SlotClass::Retired, 2);
            recorder.pass(cycles);
            recorder.count(PmuEvent::INST_RETIRED, 5);
            recorder.charge(Some(3), 1);
            recorder.slots(SlotClass::Retired, 1);
            let (step, cores) = aligned([&recorder].into_iter());
            let sum = |of: &dyn Fn(&Interval) -> u64| cores[0].iter().map(of).sum::<u64>();
            assert_eq!(sum(&|interval| interval.cycles), cycles);
            assert_eq!(sum(&|interval| interval.column(Column::Instructions)), 12);
            assert_eq!(sum(&|interval| interval.category(TopDownCategory::Retiring)), 3);
            let code = cores[0].iter().flat_map(|interval| &interval.code);
            assert_eq!(
                code.map(|own| (own.inst, own.slots)).fold(0, |sum, (inst, n)| {
                    assert_eq!(inst, 3);
                    sum + n
                }),
                3
            );
            assert!(cores[0].len() <= MOST, "{cycles}");
            assert!(cycles < 64 * 240 || cores[0].len() >= MOST / 2, "{cycles}");
            let (last, others) = cores[0].split_last().expect("never empty");
            assert!(others.iter().all(|interval| interval.cycles == step));
            assert!(last.cycles <= step);
        }
    }

    #[test]
    fn an_interval_keeps_the_most_expensive_instructions() {
        let mut recorder = Recorder::default();
        for inst in 0..2 * MOST_CODE as InstId {
            recorder.charge(Some(inst), u64::from(inst % 2) + 1);
        }
        let code = recorder.taken();
        assert_eq!(code.len(), MOST_CODE);
        assert!(code.iter().all(|own| own.inst % 2 == 1 && own.slots == 2));
        assert!(recorder.taken().is_empty());
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
