//! Retirement: in program order, a bounded number of MOPs per cycle.

use sim_core::Cycle;

/// A stage that takes at most `width` operations per cycle, in order.
#[derive(Clone, Copy, Debug)]
pub struct InOrder {
    width: u32,
    cycle: Cycle,
    used: u32,
    memory_until: Cycle,
}

impl InOrder {
    /// A stage of this width at cycle 0.
    pub fn new(width: u32) -> InOrder {
        InOrder { width, cycle: 0, used: 0, memory_until: 0 }
    }

    /// The cycle of the next operation, which is ready in `ready`.
    #[inline]
    pub fn place(&mut self, ready: Cycle) -> Cycle {
        let (is_later, is_full) = (ready > self.cycle, self.used == self.width);
        self.cycle = if is_later { ready } else { self.cycle + u64::from(is_full) };
        self.used = if is_later | is_full { 1 } else { self.used + 1 };
        self.cycle
    }

    /// Nothing younger leaves before `ready`: the second half of a fused pair is done then.
    #[inline]
    pub fn wait(&mut self, ready: Cycle) -> Cycle {
        if ready > self.cycle {
            self.cycle = ready;
            self.used = 1;
        }
        self.cycle
    }

    /// The operation that comes next is ready in `ready` and waits for memory until then: it holds up
    /// all younger ones from the cycle in which it is the oldest.
    #[inline]
    pub fn wait_for_memory(&mut self, ready: Cycle) {
        if ready > self.cycle {
            self.memory_until = ready;
        }
    }

    /// Until when the oldest operation last waited for memory.
    #[inline]
    pub fn memory_until(&self) -> Cycle {
        self.memory_until
    }

    /// The cycle of the last operation.
    #[inline]
    pub fn cycle(&self) -> Cycle {
        self.cycle
    }
}

#[cfg(test)]
mod tests {
    use super::InOrder;

    #[test]
    fn an_operation_waits_for_the_older_ones_and_for_the_width() {
        let mut retire = InOrder::new(2);
        let cycles: Vec<u64> = [5, 3, 4, 9].into_iter().map(|ready| retire.place(ready)).collect();
        assert_eq!(cycles, [5, 5, 6, 9]);
    }

    #[test]
    fn memory_holds_up_younger_operations_only_while_its_operation_is_the_oldest() {
        let mut retire = InOrder::new(2);
        retire.wait_for_memory(200);
        assert_eq!(retire.place(200), 200);
        assert_eq!(
            (retire.place(30), retire.memory_until()),
            (200, 200),
            "waits for the older one"
        );
        retire.place(900);
        retire.wait_for_memory(800);
        retire.place(800);
        assert_eq!(retire.memory_until(), 200, "its data came while an older one computed");
    }
}
