//! Waits of loads that missed the L1 D-cache, besides the service of their lines, for observers of
//! a run. Written only on the miss path and read by no other part of the model.

use sim_core::{Cycle, LoadWait, VirtAddr};

/// Waits of the current refill and of the last load that missed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waits {
    refill: LoadWait,
    /// The load: its program counter, when its address was translated, its waits.
    load: (VirtAddr, Cycle, LoadWait),
}

/// Returns cycles saturated to 32 bits.
fn saturated(cycles: Cycle) -> u32 {
    u32::try_from(cycles).unwrap_or(u32::MAX)
}

impl Waits {
    /// Begins a refill of the L1 D-cache that has waited for a register.
    #[inline]
    pub(crate) fn begin(&mut self, buffer: Cycle) {
        self.refill = LoadWait { buffer: saturated(buffer), line: 0 };
    }

    /// Adds the refill's wait for a slot of the L2 queue.
    #[inline]
    pub(crate) fn for_buffer(&mut self, cycles: Cycle) {
        self.refill.buffer = self.refill.buffer.saturating_add(saturated(cycles));
    }

    /// Adds the refill's wait for a line in flight into the L2.
    #[inline]
    pub(crate) fn for_line(&mut self, cycles: Cycle) {
        self.refill.line = self.refill.line.saturating_add(saturated(cycles));
    }

    /// Assigns the refill to a load.
    #[inline]
    pub(crate) fn load(&mut self, pc: VirtAddr, at: Cycle) {
        self.load = (pc, at, self.refill);
    }

    /// Records a load that waits for a line in flight into the L1.
    #[inline]
    pub(crate) fn load_for_line(&mut self, pc: VirtAddr, at: Cycle, cycles: Cycle) {
        self.load = (pc, at, LoadWait { buffer: 0, line: saturated(cycles) });
    }

    /// Returns the waits of the load at `pc`, issued at `issued`; zero if it was not the last.
    pub(crate) fn of(&self, pc: VirtAddr, issued: Cycle) -> LoadWait {
        let (own, at, wait) = self.load;
        if own == pc && at >= issued { wait } else { LoadWait::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_of_the_last_missed_load_is_returned_unless_the_query_is_later() {
        let (pc, other) = (VirtAddr(0x1000), VirtAddr(0x2000));
        let mut waits = Waits::default();
        waits.begin(3);
        waits.for_line(4);
        waits.load(pc, 100);
        let wait = LoadWait { buffer: 3, line: 4 };
        assert_eq!([99, 100, 101].map(|at| waits.of(pc, at)), [wait, wait, LoadWait::default()]);
        assert_eq!(waits.of(other, 99), LoadWait::default());
    }
}
