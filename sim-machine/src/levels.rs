//! The truth by exception level and security state: what a counter with the right filter would show
//! (PMU guide 3.1.4; PMUv3, filtering).

use sim_core::{Counts, Packed, Privilege};

/// An exception level of one security state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level {
    /// 0 to 3.
    pub level: u8,
    /// Secure state; EL3 always is.
    pub secure: bool,
}

impl From<Privilege> for Level {
    fn from(privilege: Privilege) -> Level {
        Level { level: privilege.level, secure: privilege.is_secure() }
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = if self.secure && self.level < 3 { "secure " } else { "" };
        write!(f, "{state}EL{}", self.level)
    }
}

/// What was counted at one level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelCounts<C = Counts> {
    /// The level.
    pub level: Level,
    /// Its counts.
    pub counts: C,
}

/// The counts of all levels that a core ran at, as parts of its total.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    /// In the order of the levels.
    totals: Vec<LevelCounts>,
    /// Where the core runs.
    current: Level,
    /// The core's total when it came here, or when its window opened.
    since: Option<Counts>,
}

impl Levels {
    /// The level of what is counted next.
    #[inline]
    pub(crate) fn current(&self) -> Level {
        self.current
    }

    /// A counted window opens, with this total.
    pub(crate) fn open(&mut self, total: &Counts) {
        self.since = Some(total.clone());
    }

    /// The core goes on at `level`. Its total so far belongs to the level before, if it was counted.
    pub(crate) fn change(&mut self, level: Level, total: &Counts) {
        if let Some(since) = self.since.replace(total.clone()) {
            self.add(&total.since(&since));
        } else {
            self.since = None;
        }
        self.current = level;
    }

    /// The window closes, with this total.
    pub(crate) fn close(&mut self, total: &Counts) {
        if let Some(since) = self.since.take() {
            self.add(&total.since(&since));
        }
    }

    fn add(&mut self, more: &Counts) {
        if *more == Counts::default() {
            return;
        }
        add_at(&mut self.totals, self.current, more);
    }

    /// What was counted so far belongs to nobody any more.
    pub(crate) fn forget_totals(&mut self) {
        self.totals.clear();
    }

    /// Everything counted so far, lowest level first.
    pub(crate) fn packed(&self) -> Box<[LevelCounts<Packed<Counts>>]> {
        packed(&self.totals)
    }
}

/// The counts of each level, kept small.
pub(crate) fn packed(levels: &[LevelCounts]) -> Box<[LevelCounts<Packed<Counts>>]> {
    let one =
        |part: &LevelCounts| LevelCounts { level: part.level, counts: Packed::from(&part.counts) };
    levels.iter().map(one).collect()
}

/// Adds counts to those of one level, kept in the order of the levels.
pub(crate) fn add_at(totals: &mut Vec<LevelCounts>, level: Level, more: &Counts) {
    match totals.binary_search_by_key(&level, |known| known.level) {
        Ok(at) => totals[at].counts.add(more),
        Err(at) => totals.insert(at, LevelCounts { level, counts: more.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::{EventSink, PmuEvent};

    const USER: Level = Level { level: 0, secure: false };
    const KERNEL: Level = Level { level: 1, secure: false };

    #[test]
    fn only_what_falls_into_a_window_is_counted_each_at_its_level() {
        let (mut levels, mut total) = (Levels::default(), Counts::default());
        let mut run = |n: u64| {
            total.count(PmuEvent::INST_RETIRED, n);
            total.clone()
        };
        levels.change(KERNEL, &run(1000));
        levels.open(&run(100));
        levels.change(USER, &run(1));
        levels.change(KERNEL, &run(20));
        levels.close(&run(3));
        levels.change(USER, &run(500));
        levels.open(&run(500));
        levels.close(&run(40));
        let of = |n: usize| {
            let part = &levels.packed()[n];
            (part.level, part.counts.value(PmuEvent::INST_RETIRED))
        };
        assert_eq!(levels.packed().len(), 2);
        assert_eq!([of(0), of(1)], [(USER, 60), (KERNEL, 4)]);
    }

    #[test]
    fn a_level_is_named_with_its_security_state() {
        let names = [
            Level::from(Privilege { level: 3, ..Privilege::default() }),
            Level { level: 1, secure: true },
            USER,
        ];
        assert_eq!(names.map(|level| level.to_string()), ["EL3", "secure EL1", "EL0"]);
    }
}
