//! Miss status holding registers: how many refills may be outstanding (also the L2's queue).
//!
//! A register is held from the start of a miss until its data arrives. When all are held, the next
//! miss starts when the first is freed. Merging needs no register: the line is already in the tag
//! array with its arrival time. Requests do not come in time order, so intervals are remembered and
//! not just the time at which a register is free: a store that leaves late must not hold a register
//! against a load that issues early.

use sim_core::Cycle;

/// Intervals remembered per register, at least; what is older counts as full.
const KEPT: usize = 2;
/// Intervals remembered at least.
const KEPT_MIN: usize = 64;

/// A bounded number of outstanding misses.
#[derive(Clone, Debug)]
pub(crate) struct Mshrs {
    starts: Box<[Cycle]>,
    ends: Box<[Cycle]>,
    next: usize,
    registers: usize,
    /// No interval that was ever entered ends later.
    latest_end: Cycle,
    /// No forgotten interval ends later: nothing is known of the time before.
    forgotten_until: Cycle,
}

impl Mshrs {
    /// `registers` misses at the same time.
    pub(crate) fn new(registers: u32) -> Mshrs {
        let registers = registers as usize;
        let starts = vec![0; (registers * KEPT).max(KEPT_MIN)].into_boxed_slice();
        let ends = starts.clone();
        Mshrs { starts, ends, next: 0, registers, latest_end: 0, forgotten_until: 0 }
    }

    /// The first cycle at or after `at` in which a register is free. Pure.
    #[inline]
    pub(crate) fn free_from(&self, at: Cycle) -> Cycle {
        let mut at = at.max(self.forgotten_until);
        while at < self.latest_end {
            let mut held = 0;
            let mut first_end = Cycle::MAX;
            for (start, end) in self.starts.iter().zip(&self.ends) {
                if *start <= at && at < *end {
                    held += 1;
                    first_end = first_end.min(*end);
                }
            }
            if held < self.registers {
                return at;
            }
            at = first_end;
        }
        at
    }

    /// Holds a register from `start` until `end`.
    #[inline]
    pub(crate) fn hold(&mut self, start: Cycle, end: Cycle) {
        self.forgotten_until = self.forgotten_until.max(self.ends[self.next]);
        self.starts[self.next] = start;
        self.ends[self.next] = end;
        self.latest_end = self.latest_end.max(end);
        self.next += 1;
        if self.next == self.ends.len() {
            self.next = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Mshrs;

    #[test]
    fn a_miss_waits_when_every_register_is_held() {
        let mut mshrs = Mshrs::new(2);
        for end in [100, 90] {
            assert_eq!(mshrs.free_from(0), 0);
            mshrs.hold(0, end);
        }
        assert_eq!(mshrs.free_from(10), 90);
        mshrs.hold(90, 200);
        assert_eq!(mshrs.free_from(95), 100);
    }

    #[test]
    fn a_long_burst_never_holds_more_than_there_are() {
        let mut mshrs = Mshrs::new(16);
        for i in 0..1000 {
            let start = mshrs.free_from(7);
            assert_eq!(start, 7 + i / 16 * 100);
            mshrs.hold(start, start + 100);
        }
    }

    #[test]
    fn a_miss_that_starts_later_does_not_hold_a_register_now() {
        let mut mshrs = Mshrs::new(1);
        mshrs.hold(1000, 1400);
        assert_eq!(mshrs.free_from(905), 905);
        assert_eq!(mshrs.free_from(1100), 1400);
    }
}
