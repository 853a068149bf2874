//! Ground-truth counts by exception level and security state, as a counter with the matching filter
//! shows them (PMU guide 3.1.4; PMUv3, filtering).

use sim_core::{Counts, Packed, Privilege};

/// Exception level of one security state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level {
    /// Exception level, 0 to 3.
    pub level: u8,
    /// Secure state; always set at EL3.
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

/// Counts of one level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelCounts<C = Counts> {
    /// Exception level and security state.
    pub level: Level,
    /// Counts at this level.
    pub counts: C,
}

/// Counts of a core, split by level.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    /// Totals in the order of the levels.
    totals: Vec<LevelCounts>,
    /// Current level of the core.
    current: Level,
    /// Total of the core when it entered the level or when the window opened.
    since: Option<Counts>,
}

impl Levels {
    /// Returns the current level.
    #[inline]
    pub(crate) fn current(&self) -> Level {
        self.current
    }

    /// Opens a counted window at this total.
    pub(crate) fn open(&mut self, total: &Counts) {
        self.since = Some(total.clone());
    }

    /// Changes to `level`. If the window is open, the previous level gets the counts up to `total`.
    pub(crate) fn change(&mut self, level: Level, total: &Counts) {
        if let Some(since) = self.since.replace(total.clone()) {
            self.add(&total.since(&since));
        } else {
            self.since = None;
        }
        self.current = level;
    }

    /// Closes the window at this total.
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

    /// Clears all counts.
    pub(crate) fn forget_totals(&mut self) {
        self.totals.clear();
    }

    /// Returns the counts of each level, lowest level first.
    pub(crate) fn packed(&self) -> Box<[LevelCounts<Packed<Counts>>]> {
        packed(&self.totals)
    }
}

/// Packs the counts of each level.
pub(crate) fn packed(levels: &[LevelCounts]) -> Box<[LevelCounts<Packed<Counts>>]> {
    let one =
        |part: &LevelCounts| LevelCounts { level: part.level, counts: Packed::from(&part.counts) };
    levels.iter().map(one).collect()
}

/// Adds counts to those of one level; `totals` stays in the order of the levels.
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
    fn counts_in_a_window_go_to_the_current_level() {
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
    fn the_name_of_a_level_includes_its_security_state() {
        let names = [
            Level::from(Privilege { level: 3, ..Privilege::default() }),
            Level { level: 1, secure: true },
            USER,
        ];
        assert_eq!(names.map(|level| level.to_string()), ["EL3", "secure EL1", "EL0"]);
    }
}
