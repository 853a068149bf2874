//! A resource that serves at most N requests per cycle or per group of cycles.
//!
//! Requests come in program order, not in time order: a later request may take an earlier free
//! slot. Not modeled: requests older than the ring (about the length of a core's window times the
//! memory latency) are not limited.

use sim_core::Cycle;

/// Bookings of the last `ring.len()` buckets of `1 << shift` cycles.
#[derive(Clone, Debug)]
pub(crate) struct Bandwidth {
    /// `bucket number << 8 | bookings`.
    ring: Box<[u64]>,
    capacity: u64,
    shift: u32,
}

/// Buckets in the ring.
const BUCKETS: usize = 2048;

impl Bandwidth {
    /// Creates a resource for `capacity` requests in every cycle.
    pub(crate) fn per_cycle(capacity: u32) -> Bandwidth {
        Bandwidth::new(capacity, 0)
    }

    /// Creates a resource for `units` per cycle, where a request takes `request_units`: a rate
    /// below one request per cycle. The rate holds over the shortest group of 16 to 256 cycles in
    /// which it is accurate to 3 percent.
    pub(crate) fn rate(units: u32, request_units: u32) -> Bandwidth {
        let requests = |shift: u32| ((units << shift) + request_units / 2) / request_units;
        let is_close = |shift: &u32| {
            let booked = requests(*shift) * request_units;
            booked.abs_diff(units << shift) * 33 <= units << shift
        };
        let shift = (4..=8).find(is_close).unwrap_or(8);
        Bandwidth::new(requests(shift).max(1), shift)
    }

    fn new(capacity: u32, shift: u32) -> Bandwidth {
        let capacity = u64::from(capacity.min(255));
        Bandwidth { ring: vec![0; BUCKETS].into_boxed_slice(), capacity, shift }
    }

    /// Books the first free slot at or after `at`. Returns its cycle.
    #[inline]
    pub(crate) fn book(&mut self, at: Cycle) -> Cycle {
        let mut bucket = at >> self.shift;
        loop {
            let entry = &mut self.ring[bucket as usize & (BUCKETS - 1)];
            let held = *entry >> 8;
            if held < bucket {
                *entry = bucket << 8;
            } else if held > bucket {
                return at;
            }
            if *entry & 0xFF < self.capacity {
                *entry += 1;
                return at.max(bucket << self.shift);
            }
            bucket += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Bandwidth;

    #[test]
    fn a_third_transaction_of_a_cycle_waits_for_the_next() {
        let mut bus = Bandwidth::per_cycle(2);
        assert_eq!([bus.book(7), bus.book(7), bus.book(7)], [7, 7, 8]);
    }

    #[test]
    fn a_later_request_fills_an_earlier_free_slot() {
        let mut bus = Bandwidth::per_cycle(1);
        assert_eq!([bus.book(1000), bus.book(905), bus.book(1000)], [1000, 905, 1001]);
    }

    #[test]
    fn a_rate_below_one_holds_over_time() {
        for (units, request_units) in [(20, 64), (13, 64), (1, 5), (64, 64)] {
            let mut port = Bandwidth::rate(units, request_units);
            let last = (0..1000).map(|_| port.book(0)).max().unwrap_or(0);
            let exact = 1000 * u64::from(request_units) / u64::from(units);
            assert!(last.abs_diff(exact) * 25 <= exact, "{last} instead of {exact}");
        }
    }

    #[test]
    fn a_rate_that_is_off_by_three_percent_exactly_keeps_the_shorter_group() {
        // 33 units in each of 16 cycles are 8.25 requests: 8 of them are 1 part of 33 too few.
        let mut port = Bandwidth::rate(33, 64);
        let last = (0..9).map(|_| port.book(0)).max();
        assert_eq!(last, Some(16));
    }

    #[test]
    fn a_request_older_than_the_ring_is_not_limited_and_takes_no_slot() {
        let mut bus = Bandwidth::per_cycle(1);
        let (old, new) = (5, 5 + super::BUCKETS as u64);
        assert_eq!(
            [bus.book(new), bus.book(old), bus.book(old), bus.book(new)],
            [new, old, old, new + 1]
        );
    }
}
