//! Dispatch: what one instruction sends on from rename, and how many micro-operations of each type go
//! in one cycle (PMU guide 3.2.2; optimization guides of the cores with five slots).

use crate::config::DispatchConfig;
use sim_isa::{Inst, PipeMask};

/// How an instruction goes on from rename.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Its micro-operations wait in issue queues.
    Issue,
    /// Renaming does it: a slot and a reorder buffer entry, nothing else.
    AtRename,
    /// The micro-operation of the instruction that it is fused with does it.
    WithPartner,
}

/// Micro-operations by the pipes they may use, one byte each: all, branch or single-cycle, multi-cycle,
/// M0, V0, V1, load/store. Counts stay below 128, so that no lane runs over into the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UopCounts(u64);

/// The top bit of every lane.
const LANE_TOPS: u64 = 0x8080_8080_8080_8080;

impl UopCounts {
    /// The limits of one cycle, in the order of the lanes.
    pub fn limits(d: &DispatchConfig) -> UopCounts {
        UopCounts::new([
            d.uops,
            d.branch_single,
            d.multi,
            d.multi0,
            d.vector0,
            d.vector1,
            d.load_store,
        ])
    }

    fn new(lanes: [u8; 7]) -> UopCounts {
        let packed = lanes.iter().rev().fold(0, |all, lane| all << 8 | u64::from(*lane));
        UopCounts(packed)
    }

    /// The micro-operations of one instruction.
    #[inline]
    pub fn of(inst: &Inst, way: Way) -> UopCounts {
        if way != Way::Issue {
            return UopCounts::default();
        }
        let mut all = 0;
        for group in inst.uops() {
            let count = u64::from(group.count);
            let lane = match group.pipes {
                PipeMask::B | PipeMask::S => 1,
                PipeMask::M | PipeMask::M1 => 2,
                // M0 alone is one of the multi-cycle pipes too.
                PipeMask::M0 => {
                    all += count << 16;
                    3
                }
                PipeMask::V0 => 4,
                PipeMask::V1 => 5,
                PipeMask::L | PipeMask::L01 | PipeMask::L2 => 6,
                _ => 7,
            };
            all += count | count << (8 * lane);
        }
        // The last lane is for those that no limit but the total binds.
        UopCounts(all & (u64::MAX >> 8))
    }

    /// Both together.
    #[inline]
    pub fn plus(self, more: UopCounts) -> UopCounts {
        UopCounts(self.0 + more.0)
    }

    /// True when no count is above its limit.
    #[inline]
    pub fn within(self, limits: UopCounts) -> bool {
        ((limits.0 | LANE_TOPS) - self.0) & LANE_TOPS == LANE_TOPS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_isa::decode;

    /// `madd x0, x1, x2, x3`, `ldp x0, x1, [x2]`
    const WORDS: [u32; 2] = [0x9b02_0c20, 0xa940_0440];

    #[test]
    fn a_type_that_has_reached_its_limit_lets_no_further_one_go() {
        let [madd, pair] = WORDS.map(|word| UopCounts::of(&decode(word), Way::Issue));
        let limits = UopCounts::new([10, 4, 4, 2, 2, 2, 5]);
        assert!(madd.plus(madd).within(limits), "two for M0");
        assert!(!madd.plus(madd).plus(madd).within(limits), "three for M0");
        assert!(pair.plus(pair).plus(madd).within(limits), "four loads and one for M0");
        assert!(!pair.plus(pair).plus(pair).within(limits), "six loads");
        assert_eq!(UopCounts::of(&decode(WORDS[0]), Way::WithPartner), UopCounts::default());
    }
}
