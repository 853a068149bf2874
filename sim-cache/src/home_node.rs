//! The home nodes of one chip, each with a slice of the system level cache. PMU guide 3.2.21.
//!
//! With direct connect a slice allocates on evictions from an L2. It is exclusive for data that one
//! core wants (a read takes the line away) and keeps code and what several cores share.

use sim_core::{LineAddr, StateVisitor, WarmState};

use crate::config::SlcConfig;
use crate::level::{Level, Victim};
use crate::replacement::Insertion;
use crate::tag_array::LineState;

/// Which home node an address belongs to, and which set of a structure that is spread over them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HomeHash {
    slice_bits: u32,
    slice_sets: u64,
}

impl HomeHash {
    /// `slices` and `slice_sets` are powers of two.
    pub(crate) fn new(slices: u32, slice_sets: u64) -> HomeHash {
        HomeHash { slice_bits: slices.trailing_zeros(), slice_sets }
    }

    /// The home node.
    pub(crate) fn slice_of(self, line: LineAddr) -> u32 {
        fold(line.0, self.slice_bits) as u32
    }

    /// Slice by hash, set by the bits above the slice bits.
    pub(crate) fn set_of(self, line: LineAddr) -> u32 {
        let set = line.0 >> self.slice_bits & (self.slice_sets - 1);
        (u64::from(self.slice_of(line)) * self.slice_sets + set) as u32
    }
}

/// Exclusive-or of all groups of `bits` bits.
pub(crate) fn fold(line: u64, bits: u32) -> u64 {
    if bits == 0 {
        return 0;
    }
    let mut folded = 0;
    let mut rest = line;
    while rest != 0 {
        folded ^= rest;
        rest >>= bits;
    }
    folded & ((1 << bits) - 1)
}

/// The system level cache: slices chosen by an address hash, kept as one array of sets.
#[derive(Clone, Debug)]
pub(crate) struct Slc {
    level: Level,
    hash: HomeHash,
}

impl Slc {
    /// An empty one; none if the slices have no capacity.
    pub(crate) fn new(config: &SlcConfig, seed: u64) -> Option<Slc> {
        if config.slice_bytes == 0 {
            return None;
        }
        let size_bytes = config.slice_bytes * u64::from(config.slices);
        let slice_sets = config.slice_bytes / (u64::from(config.ways) * sim_core::LINE_BYTES);
        Some(Slc {
            level: Level::new(size_bytes, config.ways, config.replacement, seed ^ 3),
            hash: HomeHash::new(config.slices, slice_sets),
        })
    }

    /// Reads a line that stays.
    pub(crate) fn read(&mut self, line: LineAddr) -> Option<LineState> {
        let place = self.level.lookup_in(self.hash.set_of(line), line)?;
        Some(self.level.state(place))
    }

    /// Gives a line away, with the duty to write it back.
    pub(crate) fn take(&mut self, line: LineAddr) -> Option<LineState> {
        self.level.remove_from(self.hash.set_of(line), line)
    }

    /// Takes a line in, or adds to one that is here; the line that made room.
    pub(crate) fn put(&mut self, line: LineAddr, dirty: bool) -> Option<Victim> {
        let set = self.hash.set_of(line);
        if let Some(place) = self.level.lookup_in(set, line) {
            let state = self.level.state(place);
            self.level.set_state(place, state.with_dirty(state.is_dirty() | dirty));
            return None;
        }
        let state = LineState::default().with_dirty(dirty);
        self.level.allocate_in(set, line, state, Insertion::Demand)
    }

    /// State of a line. Pure.
    pub(crate) fn state(&self, line: LineAddr) -> Option<LineState> {
        let place = self.level.probe_in(self.hash.set_of(line), line)?;
        Some(self.level.state(place))
    }
}

impl WarmState for Slc {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        self.level.visit(visitor);
    }
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn neighboring_lines_spread_evenly_over_the_slices() {
        let mut hits = [0; 32];
        for line in 0x12_3400..0x12_3400 + 320u64 {
            hits[fold(line, 5) as usize] += 1;
        }
        assert_eq!(hits, [10; 32]);
        assert_eq!(fold(0xFFFF, 0), 0);
    }
}
