//! Miss status holding registers, which limit outstanding refills; also used for the L2's queue and
//! the walker's slots.
//!
//! A register is held from the start of a miss until its data arrives. When all are held, the next
//! miss starts when the first one is freed. Merging needs no register: the tag array already holds
//! the line with its refill time. Requests do not come in time order: a store that leaves late must
//! not delay a load that issues early. Each register therefore remembers the idle gap before its
//! last hold. A request that fits at the start of the gap is accepted, whatever its length.

use sim_core::Cycle;

/// Register: idle in `idle_from..start`, held in `start..end`.
#[derive(Clone, Copy, Debug, Default)]
struct Register {
    idle_from: Cycle,
    start: Cycle,
    end: Cycle,
}

/// Bounded number of outstanding misses.
#[derive(Clone, Debug)]
pub(crate) struct Mshrs {
    registers: Box<[Register]>,
    /// Start of the next search: the register held longest ago is likely to be free.
    next: usize,
}

/// Register that is free from some cycle on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FreeRegister {
    /// First free cycle.
    pub(crate) from: Cycle,
    index: usize,
}

impl FreeRegister {
    /// Returns the number of the register.
    pub(crate) fn index(self) -> usize {
        self.index
    }
}

impl Register {
    /// Returns the first idle cycle at or after `at`.
    #[inline]
    fn free_from(self, at: Cycle) -> Cycle {
        if at >= self.end {
            return at;
        }
        let in_gap = at.max(self.idle_from);
        if in_gap < self.start { in_gap } else { self.end }
    }
}

impl Mshrs {
    /// Creates registers for `registers` misses at the same time.
    pub(crate) fn new(registers: u32) -> Mshrs {
        let registers = vec![Register::default(); registers as usize].into_boxed_slice();
        Mshrs { registers, next: 0 }
    }

    /// Returns the register that is free first at or after `at`. Has no side effects.
    #[inline]
    pub(crate) fn find(&self, at: Cycle) -> FreeRegister {
        let (before, after) = self.registers.split_at(self.next);
        let mut best = FreeRegister { from: Cycle::MAX, index: 0 };
        for (first, part) in [(self.next, after), (0, before)] {
            for (i, register) in part.iter().enumerate() {
                let from = register.free_from(at);
                if from < best.from {
                    best = FreeRegister { from, index: first + i };
                    if from == at {
                        return best;
                    }
                }
            }
        }
        best
    }

    /// Returns whether a register is free at `at`. Has no side effects.
    pub(crate) fn is_free(&self, at: Cycle) -> bool {
        self.find(at).from == at
    }

    /// Holds the register that [`Mshrs::find`] returned, until `end`.
    #[inline]
    pub(crate) fn hold(&mut self, free: FreeRegister, end: Cycle) {
        let register = &mut self.registers[free.index];
        if free.from >= register.end {
            *register = Register { idle_from: register.end, start: free.from, end };
        } else {
            // The hold is in the gap; the rest of the gap follows this hold.
            register.idle_from = end;
            register.end = register.end.max(end);
        }
        self.next = free.index + 1;
        if self.next == self.registers.len() {
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
            let free = mshrs.find(5);
            assert_eq!(free.from, 5);
            mshrs.hold(free, end);
        }
        let free = mshrs.find(10);
        assert_eq!(free.from, 90);
        mshrs.hold(free, 200);
        assert_eq!(mshrs.find(95).from, 100);
        assert!(!mshrs.is_free(99) && mshrs.is_free(100));
    }

    #[test]
    fn a_long_burst_never_holds_more_than_there_are() {
        let mut mshrs = Mshrs::new(16);
        for i in 0..1000 {
            let free = mshrs.find(7);
            assert_eq!(free.from, 7 + i / 16 * 100);
            mshrs.hold(free, free.from + 100);
        }
    }

    #[test]
    fn a_miss_that_starts_later_does_not_hold_a_register_now() {
        let mut mshrs = Mshrs::new(1);
        mshrs.hold(mshrs.find(1000), 1400);
        assert_eq!(mshrs.find(905).from, 905);
        assert_eq!(mshrs.find(1100).from, 1400);
        mshrs.hold(mshrs.find(905), 950);
        assert_eq!(mshrs.find(905).from, 950);
    }
}
