//! Limits of resources over time: buffers, rates, and periods in which a unit is taken.
//!
//! Times are computed forward, and requests do not come in time order: the eviction of a miss is
//! booked before the next access, which starts earlier. Each limit therefore leaves earlier free
//! time to later requests.

/// Buffer: idle in `idle_from..start`, held in `start..end`.
#[derive(Clone, Copy, Debug, Default)]
struct Buffer {
    idle_from: u64,
    start: u64,
    end: u64,
}

impl Buffer {
    /// Returns the first idle cycle at or after `at`.
    #[inline]
    fn free_from(self, at: u64) -> u64 {
        let in_gap = at.max(self.idle_from);
        if in_gap < self.start { in_gap } else { at.max(self.end) }
    }
}

/// Buffer that is free from some cycle on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FreeSlot {
    /// First free cycle.
    pub(crate) from: u64,
    index: usize,
}

/// A number of buffers, such as those of linefills.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    buffers: Box<[Buffer]>,
}

impl Slots {
    /// Creates `count` idle buffers. The limit of zero buffers never has a free one.
    pub(crate) fn new(count: u32) -> Slots {
        Slots { buffers: vec![Buffer::default(); count as usize].into_boxed_slice() }
    }

    /// Returns the buffer that is free first at or after `at`. Has no side effects.
    #[inline]
    pub(crate) fn find(&self, at: u64) -> FreeSlot {
        let mut best = FreeSlot { from: u64::MAX, index: 0 };
        for (index, buffer) in self.buffers.iter().enumerate() {
            let from = buffer.free_from(at);
            if from < best.from {
                best = FreeSlot { from, index };
                if from == at {
                    break;
                }
            }
        }
        best
    }

    /// Holds a buffer that was found until `end`.
    #[inline]
    pub(crate) fn hold(&mut self, free: FreeSlot, end: u64) {
        let Some(buffer) = self.buffers.get_mut(free.index) else { return };
        if free.from >= buffer.end {
            *buffer = Buffer { idle_from: buffer.end, start: free.from, end };
        } else {
            // The hold is in the gap; the rest of the gap follows this hold.
            buffer.idle_from = end;
            buffer.end = buffer.end.max(end);
        }
    }
}

/// Periods in the ring of a rate.
const PERIODS: usize = 512;

/// Rate of one request in each period of some cycles.
#[derive(Clone, Debug)]
pub(crate) struct Rate {
    /// Period number, plus one, of the last booking in each place.
    ring: Box<[u64; PERIODS]>,
    period: u64,
}

impl Rate {
    /// Creates a rate of one request in `cycles` cycles.
    pub(crate) fn new(cycles: u32) -> Rate {
        Rate { ring: Box::new([0; PERIODS]), period: u64::from(cycles.max(1)) }
    }

    /// Books the first free period at or after `at`. Returns the cycle in which the request is
    /// served. A request older than the ring is not limited.
    #[inline]
    pub(crate) fn book(&mut self, at: u64) -> u64 {
        let mut number = at / self.period;
        loop {
            let place = &mut self.ring[number as usize % PERIODS];
            if *place > number + 1 {
                return at;
            }
            if *place <= number {
                *place = number + 1;
                return at.max(number * self.period);
            }
            number += 1;
        }
    }
}

/// One period in which a unit is taken.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taken {
    from: u64,
    until: u64,
}

impl Taken {
    /// Returns the first cycle at or after `at` in which the unit is not taken.
    #[inline]
    pub(crate) fn free_from(self, at: u64) -> u64 {
        if at >= self.from { at.max(self.until) } else { at }
    }

    /// Takes the unit in `from..until`, in place of the period before.
    #[inline]
    pub(crate) fn take(&mut self, from: u64, until: u64) {
        *self = Taken { from, until };
    }
}

#[cfg(test)]
mod tests {
    use super::{Rate, Slots, Taken};

    #[test]
    fn a_request_waits_when_every_buffer_is_held() {
        let mut slots = Slots::new(2);
        for end in [100, 90] {
            let free = slots.find(5);
            assert_eq!(free.from, 5);
            slots.hold(free, end);
        }
        let free = slots.find(10);
        assert_eq!(free.from, 90);
        slots.hold(free, 200);
        assert_eq!(slots.find(95).from, 100);
        assert_eq!(Slots::new(0).find(5).from, u64::MAX);
    }

    #[test]
    fn a_later_hold_leaves_the_time_before_it_free() {
        let mut slots = Slots::new(1);
        slots.hold(slots.find(1000), 1400);
        assert_eq!([slots.find(905).from, slots.find(1100).from], [905, 1400]);
        slots.hold(slots.find(905), 950);
        assert_eq!(slots.find(905).from, 950);
    }

    #[test]
    fn a_rate_serves_one_request_in_each_period() {
        let mut rate = Rate::new(4);
        assert_eq!([rate.book(100), rate.book(9), rate.book(9), rate.book(101)], [100, 9, 12, 104]);
        rate.book(100 + 4 * super::PERIODS as u64);
        assert_eq!([rate.book(100), rate.book(100)], [100, 100]);
    }

    #[test]
    fn a_taken_unit_serves_who_comes_before_and_after() {
        let mut taken = Taken::default();
        taken.take(50, 60);
        assert_eq!([taken.free_from(49), taken.free_from(50), taken.free_from(70)], [49, 60, 70]);
    }
}
