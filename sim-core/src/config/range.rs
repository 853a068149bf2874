//! Ranges of assumed values: the numbers that a value without a public source may have.
//!
//! A configuration file writes them into the comment after the value, `[assumed, 2 to 5: reason]`,
//! or `[assumed, 32 to 128 by doubling: reason]` where only 32, 64 and 128 are possible, or
//! `[assumed, 9 to 13 by chance: reason]` where no value is nearer to another in its effect.

use super::Setting;

/// Largest difference between the ends of a range.
const MOST_WIDE: i64 = 1 << 20;

/// Plausible values of a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Least value.
    pub low: i64,
    /// Greatest value.
    pub high: i64,
    /// Distance of the values.
    pub steps: Steps,
}

/// Distance of the values of a [`Range`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// All whole numbers.
    Ones,
    /// The least value times powers of two.
    Doublings,
    /// All whole numbers, but what one of them does says nothing about the next one: bits of the
    /// index of a hashed table.
    ByChance,
}

impl Setting {
    /// Returns the plausible values of an assumed number, if its source states them.
    pub fn range(&self) -> Option<Range> {
        let stated = self.source.split_once("[assumed, ")?.1.split_once(':')?.0;
        Range::parse(stated)
    }
}

impl Range {
    /// Reads `2 to 5`, `32 to 128 by doubling` or `9 to 13 by chance`. Returns `None` for other
    /// texts, for an upper end that is not above the lower one, and for doublings that do not reach
    /// the upper end.
    pub fn parse(text: &str) -> Option<Range> {
        let text = text.trim();
        let with = |suffix, steps| text.strip_suffix(suffix).map(|ends| (ends, steps));
        let (ends, steps) = with(" by doubling", Steps::Doublings)
            .or_else(|| with(" by chance", Steps::ByChance))
            .unwrap_or((text, Steps::Ones));
        let (low, high) = ends.split_once(" to ")?;
        let number = |text: &str| text.trim().replace('_', "").parse::<i64>().ok();
        let range = Range { low: number(low)?, high: number(high)?, steps };
        let is_sound = match steps {
            Steps::Ones | Steps::ByChance => true,
            Steps::Doublings => {
                range.low > 0
                    && range.high % range.low == 0
                    && (range.high / range.low).count_ones() == 1
            }
        };
        let width = range.high.checked_sub(range.low)?;
        (1..=MOST_WIDE).contains(&width).then_some(range).filter(|_| is_sound)
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        let last = match self.steps {
            Steps::Ones | Steps::ByChance => self.high - self.low,
            Steps::Doublings => (self.high / self.low).ilog2().into(),
        };
        usize::try_from(last).unwrap_or(0) + 1
    }

    /// Returns false: a range has at least two values.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Returns the value at a position, from 0 for the least one. A position after the last one has
    /// the greatest value.
    pub fn value(&self, position: usize) -> i64 {
        let position = position.min(self.len() - 1);
        match self.steps {
            Steps::Ones | Steps::ByChance => self.low + position as i64,
            Steps::Doublings => self.low << position,
        }
    }

    /// Returns the position of a value; `None` if the range does not have it.
    pub fn position(&self, value: i64) -> Option<usize> {
        let position = match self.steps {
            Steps::Ones | Steps::ByChance => usize::try_from(value.checked_sub(self.low)?).ok()?,
            Steps::Doublings => (0..self.len()).find(|at| self.value(*at) == value)?,
        };
        (position < self.len()).then_some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(source: &str) -> Setting {
        Setting { key: "a.b".into(), value: "3".into(), source: source.into() }
    }

    #[test]
    fn range_in_a_source() {
        let range = setting("[assumed, 2 to 5: two stages]").range().expect("a range");
        assert_eq!((range.low, range.high, range.steps), (2, 5, Steps::Ones));
        assert_eq!((range.len(), range.value(3), range.position(4)), (4, 5, Some(2)));
        assert_eq!(range.position(6), None);
    }

    #[test]
    fn doublings() {
        let range = setting("[assumed, 8_192 to 65_536 by doubling: sets]").range();
        let range = range.expect("a range");
        assert_eq!((range.len(), range.value(1), range.position(32_768)), (4, 16_384, Some(2)));
        assert_eq!(range.position(20_000), None);
        assert_eq!(Range::parse("3 to 10 by doubling"), None);
    }

    #[test]
    fn sizes_of_hashed_tables() {
        let range = setting("[assumed, 9 to 13 by chance: entries]").range().expect("a range");
        assert_eq!((range.steps, range.len(), range.value(1)), (Steps::ByChance, 5, 10));
        assert_eq!(range.position(13), Some(4));
    }

    #[test]
    fn sources_without_a_range() {
        for source in ["[assumed: two stages]", "[HC33: 2 to 5]", "[assumed, 5 to 2: x]", ""] {
            assert_eq!(setting(source).range(), None, "{source}");
        }
    }
}
