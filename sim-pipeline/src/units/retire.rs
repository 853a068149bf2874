//! Retirement: in program order, a bounded number of MOPs per cycle.

use crate::units::stamp::{OpRef, Stamp};
use sim_core::Cycle;

/// Stage that takes at most `width` operations per cycle, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InOrderStage {
    width: u32,
    cycle: Cycle,
    used: u32,
    /// Operation that the stage waited for last.
    waited_for: OpRef,
}

impl InOrderStage {
    /// Returns a stage of this width at cycle 0.
    pub(crate) fn new(width: u32) -> InOrderStage {
        InOrderStage { width, cycle: 0, used: 0, waited_for: OpRef::NONE }
    }

    /// Returns the cycle of the next operation, `op`, ready in `ready`: in order, at most `width`
    /// per cycle.
    #[inline]
    pub(crate) fn assign(&mut self, ready: Cycle, op: OpRef) -> Cycle {
        let (is_later, is_full) = (ready > self.cycle, self.used == self.width);
        self.waited_for = if is_later { op } else { self.waited_for };
        self.cycle = if is_later { ready } else { self.cycle + u64::from(is_full) };
        self.used = if is_later | is_full { 1 } else { self.used + 1 };
        self.cycle
    }

    /// Delays younger operations until `ready`, when the second half of a fused pair is done.
    /// Returns the cycle.
    #[inline]
    pub(crate) fn wait(&mut self, ready: Cycle, op: OpRef) -> Cycle {
        if ready > self.cycle {
            self.cycle = ready;
            self.used = 1;
            self.waited_for = op;
        }
        self.cycle
    }

    /// Returns `cycle` with the operation that the stage waited for last.
    #[inline]
    pub(crate) fn stamp(&self, cycle: Cycle) -> Stamp {
        Stamp::new(cycle, self.waited_for)
    }

    /// Returns the cycle of the last operation.
    #[inline]
    pub(crate) fn cycle(&self) -> Cycle {
        self.cycle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_waits_for_older_ones_and_for_the_width() {
        let mut retire = InOrderStage::new(2);
        let cycles = [5, 3, 4, 9].into_iter().map(|ready| retire.assign(ready, OpRef::NONE));
        let cycles: Vec<u64> = cycles.collect();
        assert_eq!(cycles, [5, 5, 6, 9]);
    }

    #[test]
    fn younger_operations_wait_for_the_one_that_is_ready_last() {
        let mut retire = InOrderStage::new(2);
        retire.assign(200, OpRef(1));
        assert_eq!((retire.assign(30, OpRef(2)), retire.waited_for), (200, OpRef(1)));
        assert_eq!((retire.assign(40, OpRef(3)), retire.waited_for), (201, OpRef(1)));
        assert_eq!((retire.wait(300, OpRef(4)), retire.waited_for), (300, OpRef(4)));
    }
}
