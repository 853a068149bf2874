//! Selection of the home node of an address within a chip. PMU guide 3.2.21.

use sim_core::LineAddr;

/// Map from an address to its home node, and to its set in a structure distributed over all nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HomeHash {
    slice_bits: u32,
    slice_sets: u64,
}

impl HomeHash {
    /// Creates the map. `slices` and `slice_sets` are powers of two.
    pub(crate) fn new(slices: u32, slice_sets: u64) -> HomeHash {
        HomeHash { slice_bits: slices.trailing_zeros(), slice_sets }
    }

    /// Returns the number of the home node of a line.
    pub(crate) fn slice_of(self, line: LineAddr) -> u32 {
        fold(line.0, self.slice_bits) as u32
    }

    /// Returns the set of a line: the slice by hash, the set within it by the bits above the slice
    /// bits.
    pub(crate) fn set_of(self, line: LineAddr) -> u32 {
        let set = line.0 >> self.slice_bits & (self.slice_sets - 1);
        (u64::from(self.slice_of(line)) * self.slice_sets + set) as u32
    }
}

/// Returns the exclusive-or of all groups of `bits` bits.
pub(crate) fn fold(line: u64, bits: u32) -> u64 {
    if bits == 0 {
        return 0;
    }
    // The groups of the upper half fold onto those of the lower half until one group is left.
    let halvings = (u64::BITS / 2).ilog2().saturating_sub(bits.ilog2());
    let folded = (0..=halvings).rev().fold(line, |folded, n| folded ^ folded >> (bits << n));
    folded & ((1 << bits) - 1)
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
        for bits in 1..64 {
            let line = 0x0123_4567_89ab_cdef_u64;
            let groups = (0..64_u32.div_ceil(bits)).map(|group| line >> (group * bits));
            let slow = groups.fold(0, |folded, group| folded ^ group) & ((1 << bits) - 1);
            assert_eq!(fold(line, bits), slow, "{bits} bits");
        }
        assert_eq!(fold(0xFFFF, 0), 0);
    }
}
