//! The share of one machine in the runs of a grid.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::str::FromStr;

/// Largest number of shares.
const SHARDS_MAX: u32 = 100_000;

/// Share `number` of `of`, counted from 1.
///
/// The shares of a grid are consecutive runs in the order of its table, so that runs of one trace
/// stay together; their sizes differ by at most one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    // First, so that shares sort by their number of all.
    of: u32,
    number: u32,
}

impl Shard {
    /// Returns share `number` of `of`.
    ///
    /// # Errors
    /// There is no such share, or there are more than 100000.
    pub fn new(number: u32, of: u32) -> Result<Shard, String> {
        match (number, of) {
            (_, 0) => Err(String::from("N is 0: give at least one share, such as 1/1")),
            (_, of) if of > SHARDS_MAX => Err(format!("at most {SHARDS_MAX} shares")),
            (number, of) if number == 0 || number > of => {
                Err(format!("there is no share {number} of {of}: I is from 1 to {of}"))
            }
            _ => Ok(Shard { number, of }),
        }
    }

    /// Returns the number of the share, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// Returns the number of all shares.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Returns the name of the file with the runs of the share.
    pub fn file_name(self) -> String {
        format!("{}-of-{}.runs", self.number, self.of)
    }

    /// Returns the numbers of the share's runs among `runs` runs.
    pub fn range(self, runs: usize) -> Range<usize> {
        let place = |share: u32| (runs as u64 * u64::from(share) / u64::from(self.of)) as usize;
        place(self.number - 1)..place(self.number)
    }
}

impl Display for Shard {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let pair = text.split_once('/');
        let numbers = pair.and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((number, of)) => Shard::new(number, of),
            None => Err(String::from("give share I of N as I/N, such as 3/16")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_in_exactly_one_share_of_even_size() {
        for runs in [0, 1, 7, 48, 100_000] {
            for of in [1, 2, 5, 16, 49, 1000] {
                let shares = (1..=of).map(|number| Shard::new(number, of).expect("a share"));
                let ranges: Vec<Range<usize>> = shares.map(|shard| shard.range(runs)).collect();
                assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, runs));
                assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
                let least = runs / of as usize;
                assert!(ranges.iter().all(|range| (least..=least + 1).contains(&range.len())));
            }
        }
    }

    #[test]
    fn a_share_that_does_not_exist_is_refused() {
        assert_eq!("3/16".parse(), Shard::new(3, 16));
        assert_eq!(Shard::new(3, 16).expect("a share").file_name(), "3-of-16.runs");
        for (text, message) in [
            ("0/4", "no share 0 of 4: I is from 1 to 4"),
            ("5/4", "no share 5 of 4"),
            ("1/0", "N is 0"),
            ("1/200000", "at most 100000"),
            ("x", "as I/N, such as 3/16"),
            ("1", "as I/N"),
            ("-1/4", "as I/N"),
            ("1/4/2", "as I/N"),
        ] {
            let error = text.parse::<Shard>().expect_err(text);
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
