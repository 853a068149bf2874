//! Micro-operations of one instruction, counted as dispatch and the issue queues limit them: by the
//! pipes that they may use (PMU guide 3.2.2).

use crate::micro_op::{PipeMask, UopGroup};

/// Bits of one count: eight, and one above them that shows in a comparison whether the count was
/// sufficient.
const LANE_BITS: usize = 9;
const LANE_MASK: u64 = (1 << LANE_BITS) - 1;
/// The top bit of every lane.
const LANE_TOPS: u64 = UopCounts::new([1 << 8; UopCounts::LANES]).0;

const fn one(lane: usize, count: u64) -> u64 {
    count << (LANE_BITS * lane)
}

/// Seven counts of at most [`UopCounts::MAX`] in one word. All counts are added and compared in one
/// operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UopCounts(u64);

impl UopCounts {
    /// Number of counts.
    pub const LANES: usize = 7;
    /// Largest limit of a count.
    pub const MAX: u32 = 255;

    /// Creates a word from these counts.
    pub const fn new(lanes: [u32; UopCounts::LANES]) -> UopCounts {
        let (mut packed, mut lane) = (0, 0);
        while lane < UopCounts::LANES {
            packed |= one(lane, lanes[lane] as u64);
            lane += 1;
        }
        UopCounts(packed)
    }

    /// Returns the counts by dispatch type: all, branch or single-cycle, multi-cycle, M0, V0, V1,
    /// load/store.
    pub(crate) fn by_type(groups: &[UopGroup]) -> UopCounts {
        UopCounts(groups.iter().fold(0, |all, group| {
            let types = match group.pipes {
                PipeMask::B | PipeMask::S => one(1, 1),
                PipeMask::M | PipeMask::M1 => one(2, 1),
                // M0 is also one of the multi-cycle pipes.
                PipeMask::M0 => one(2, 1) | one(3, 1),
                PipeMask::V0 => one(4, 1),
                PipeMask::V1 => one(5, 1),
                PipeMask::L | PipeMask::L01 | PipeMask::L2 => one(6, 1),
                _ => 0,
            };
            all + u64::from(group.count) * (one(0, 1) | types)
        }))
    }

    /// Returns the counts by issue queue, in the lanes of [`UopCounts::queue_entry`].
    pub(crate) fn by_queue(groups: &[UopGroup]) -> UopCounts {
        UopCounts(groups.iter().fold(0, |all, group| {
            all + u64::from(group.count) * UopCounts::queue_entry(group.pipes).0
        }))
    }

    /// Returns the issue queue entries of one micro-operation for these pipes. The lanes are the
    /// integer, memory and vector queues, then the queues that feed one kind of pipe: M0, L0 and
    /// L1, V0, V1.
    #[inline]
    pub fn queue_entry(pipes: PipeMask) -> UopCounts {
        // Free of host branches, because the pipes of the next instruction are unpredictable.
        let is = |mask: PipeMask, lane| one(lane, u64::from(pipes == mask));
        let memory = pipes.0 & PipeMask::L.0 != 0;
        let vector = !memory && pipes.0 & PipeMask::V.0 != 0;
        let integer = !memory && !vector;
        let narrow =
            is(PipeMask::M0, 3) | is(PipeMask::L01, 4) | is(PipeMask::V0, 5) | is(PipeMask::V1, 6);
        UopCounts(u64::from(integer) | one(1, memory.into()) | one(2, vector.into()) | narrow)
    }

    /// Returns one of the counts.
    #[inline]
    pub fn lane(self, lane: usize) -> u32 {
        (self.0 >> (LANE_BITS * lane) & LANE_MASK) as u32
    }

    /// Returns the queue of a [`UopCounts::queue_entry`]: 0 integer, 1 memory, 2 vector.
    #[inline(always)]
    pub fn queue(self) -> usize {
        // Lanes are nine bits wide: a 1 in the first three begins at bit 0, 9 or 18.
        self.0.trailing_zeros() as usize >> 3 & 3
    }

    /// Returns the sum of all counts.
    pub fn sum(self) -> u32 {
        (0..UopCounts::LANES).map(|lane| self.lane(lane)).sum()
    }

    /// Returns the sum of both.
    #[inline]
    pub fn plus(self, more: UopCounts) -> UopCounts {
        UopCounts(self.0 + more.0)
    }

    /// Returns the difference to `less`, which must not exceed any count.
    #[inline]
    pub fn minus(self, less: UopCounts) -> UopCounts {
        UopCounts(self.0 - less.0)
    }

    /// Returns true when no count exceeds its limit.
    #[inline]
    pub fn within(self, limits: UopCounts) -> bool {
        self.above(limits) == 0
    }

    /// Returns the lanes whose count exceeds its limit, lowest first.
    #[inline]
    pub fn lanes_above(self, limits: UopCounts) -> impl Iterator<Item = usize> {
        let mut above = self.above(limits);
        std::iter::from_fn(move || {
            let lane = above.trailing_zeros() as usize / LANE_BITS;
            above &= above.wrapping_sub(1);
            (lane < UopCounts::LANES).then_some(lane)
        })
    }

    /// Returns the top bits of the lanes whose count exceeds its limit.
    #[inline]
    fn above(self, limits: UopCounts) -> u64 {
        ((limits.0 | LANE_TOPS) - self.0) & LANE_TOPS ^ LANE_TOPS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode;

    #[test]
    fn counts_are_added_and_compared_lane_by_lane() {
        let limits = UopCounts::new([10, 255, 0, 7, 1, 2, 3]);
        assert!(limits.within(limits));
        for lane in 0..UopCounts::LANES {
            let above = limits.plus(UopCounts(one(lane, 1)));
            assert!(!above.within(limits), "lane {lane}");
            assert_eq!(above.lane(lane), limits.lane(lane) + 1);
            assert_eq!(above.minus(limits).sum(), 1);
        }
    }

    #[test]
    fn an_instruction_is_counted_by_type_and_by_queue() {
        let madd = decode(0x9b02_0c20); // madd x0, x1, x2, x3
        assert_eq!(madd.by_type, UopCounts::new([1, 0, 1, 1, 0, 0, 0]));
        assert_eq!(madd.by_queue, UopCounts::new([1, 0, 0, 1, 0, 0, 0]));
        let store = decode(0xa900_0440); // stp x0, x1, [x2]
        assert_eq!(store.by_queue.lane(1), 1);
        assert_eq!(
            store.by_queue.lane(1),
            store.by_queue.lane(4),
            "store addresses are L0's and L1's"
        );
        let pair = decode(0xa940_0440); // ldp x0, x1, [x2]
        assert_eq!(pair.by_type, UopCounts::new([2, 0, 0, 0, 0, 0, 2]));
        assert_eq!(pair.by_queue, UopCounts::new([0, 2, 0, 0, 0, 0, 0]));
        let multiply = decode(0x4ea2_9c20); // mul v0.4s, v1.4s, v2.4s
        assert_eq!(multiply.by_queue, UopCounts::new([0, 0, 1, 0, 0, 1, 0]));
    }
}
