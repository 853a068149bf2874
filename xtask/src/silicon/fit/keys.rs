//! The values that are fitted, with their ranges and where each search starts.

use anyhow::{Context, Result};
use sim_calibrate::Key;
use sim_core::config::{Document, Range};
use sim_machine::{ConfigSource, Machine, Profile};

/// Values that the machine files choose with measurements in view, and one that the profile states
/// without a range. Both starts share these ranges.
const CHOSEN: [(&str, &str); 5] = [
    ("memory.bus.read-bytes-per-cycle", "8 to 32"),
    ("memory.bus.write-bytes-per-cycle", "6 to 32"),
    ("memory.dram.access-cycles", "200 to 400"),
    ("memory.prefetch.l2-distance-lines", "8 to 64"),
    ("memory.slc.home-node-cycles", "8 to 60"),
];

/// Values of the machine files that the plain configuration does not have: no document names them.
const HAND_MADE: [&str; 4] = [
    "memory.bus.read-bytes-per-cycle",
    "memory.bus.write-bytes-per-cycle",
    "memory.dram.access-cycles",
    "memory.slc.home-node-cycles",
];

/// Values with a range in their source that the rows can show. Others would only cost runs: the
/// loops are predicted, and what adds up with a value of the list is seen as that value.
const WITH_RANGE: [&str; 4] = [
    "memory.l1d.mshrs",
    "memory.l2.fill-cycles",
    "pipeline.execute.barrier-cycles",
    "pipeline.execute.hash-forward-cycles",
];

/// A place where a search starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// The profile, with what documents say about the machine.
    Plain,
    /// The profile with the machine file.
    HandMade,
}

impl Start {
    pub(super) const BOTH: [Start; 2] = [Start::Plain, Start::HandMade];

    /// Returns the name of the configuration in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Start::Plain => "plain configuration",
            Start::HandMade => "machine file",
        }
    }

    /// Returns the name of what was fitted from here.
    pub(super) fn fitted_name(self) -> &'static str {
        match self {
            Start::Plain => "fitted from plain",
            Start::HandMade => "fitted from the machine file",
        }
    }

    /// Returns the configuration of a machine at this place.
    pub(super) fn document(self, machine: Machine) -> Result<Document> {
        let source = |machine| ConfigSource {
            profile: Profile::Silicon,
            machine,
            ..ConfigSource::default()
        };
        let document = source(machine).document()?;
        if self == Start::HandMade {
            return Ok(document);
        }
        let profile = source(Machine::default()).document()?;
        HAND_MADE.iter().try_fold(document, |document, key| {
            let value = profile.get(key).with_context(|| format!("{key} does not exist"))?;
            Ok(document.set(&format!("{key}={value}"))?)
        })
    }
}

/// Returns the keys of a search on a machine. Their names and ranges are the same for both starts.
pub(super) fn keys(machine: Machine, start: Start) -> Result<Vec<Key>> {
    let profile = ConfigSource { profile: Profile::Silicon, ..ConfigSource::default() };
    let settings = profile.document()?.settings();
    let stated = |name: &str| {
        let setting = settings.iter().find(|setting| setting.key == name);
        setting.and_then(|setting| setting.range())
    };
    let document = start.document(machine)?;
    let chosen = CHOSEN.iter().map(|(name, range)| (*name, Range::parse(range)));
    let with_range = WITH_RANGE.iter().map(|name| (*name, stated(name)));
    let key = |(name, range): (&str, Option<Range>)| {
        let range = range.with_context(|| format!("{name} has no range"))?;
        let value = document.get(name).with_context(|| format!("{name} does not exist"))?;
        let start = range.position(value.parse()?);
        let start = start.with_context(|| format!("{name} = {value} is outside of its range"))?;
        Ok(Key { name: name.to_owned(), range, start })
    };
    chosen.chain(with_range).map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_starts_search_the_same_ranges() {
        for machine in super::super::super::rows::MACHINES {
            let [plain, hand_made] =
                Start::BOTH.map(|start| keys(machine, start).expect("all keys exist"));
            assert_eq!(plain.len(), CHOSEN.len() + WITH_RANGE.len());
            let pairs = plain.iter().zip(&hand_made);
            let differ = pairs.filter(|(one, other)| {
                assert_eq!((&one.name, one.range), (&other.name, other.range));
                one.start != other.start
            });
            assert!((2..=HAND_MADE.len()).contains(&differ.count()));
        }
    }
}
