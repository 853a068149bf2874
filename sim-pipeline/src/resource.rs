//! Entries that operations hold for a time: rings freed in order, pools freed out of order.

use sim_core::Cycle;

/// A buffer of which entries are taken and freed in program order (ROB, load and store queue,
/// speculative registers): the entry for operation `i` is the one of operation `i - size`.
#[derive(Clone, Debug)]
pub struct Ring {
    free_at: Box<[Cycle]>,
    next: usize,
}

impl Ring {
    /// A ring of `size` free entries.
    pub fn new(size: usize) -> Ring {
        Ring { free_at: vec![0; size].into_boxed_slice(), next: 0 }
    }

    /// First cycle in which the next entry is free.
    #[inline]
    pub fn free_at(&self) -> Cycle {
        self.free_at[self.next]
    }

    /// First cycle in which the entry `nth` places behind the next one is free.
    #[inline]
    pub fn free_at_nth(&self, nth: usize) -> Cycle {
        self.free_at[(self.next + nth) % self.free_at.len()]
    }

    /// Takes the next entry until `free`, the cycle in which the next user may have it.
    #[inline]
    pub fn take(&mut self, free: Cycle) {
        self.free_at[self.next] = free;
        self.next += 1;
        if self.next == self.free_at.len() {
            self.next = 0;
        }
    }

    /// Where the next entry will be taken; give it to [`Ring::rewind`] after a squash.
    #[inline]
    pub fn mark(&self) -> usize {
        self.next
    }

    /// Gives back all entries taken since the mark. Their free cycles stay: they are the squash,
    /// which lies before any operation that comes now.
    #[inline]
    pub fn rewind(&mut self, mark: usize) {
        self.next = mark;
    }
}

/// A queue that frees its entries out of order (issue queues).
#[derive(Clone, Debug)]
pub struct Pool {
    free_at: Box<[Cycle]>,
    hand: usize,
}

impl Pool {
    /// A pool of `size` free entries.
    pub fn new(size: usize) -> Pool {
        Pool { free_at: vec![0; size].into_boxed_slice(), hand: 0 }
    }

    /// First cycle from `now` on in which an entry is free. Moves only the search position.
    #[inline]
    pub fn free_at(&mut self, now: Cycle) -> Cycle {
        let size = self.free_at.len();
        let mut best = self.hand;
        for step in 0..size {
            let mut i = self.hand + step;
            if i >= size {
                i -= size;
            }
            if self.free_at[i] <= now {
                self.hand = i;
                return now;
            }
            if self.free_at[i] < self.free_at[best] {
                best = i;
            }
        }
        self.hand = best;
        self.free_at[best]
    }

    /// Takes the entry found by the last [`Pool::free_at`] until `free`.
    #[inline]
    pub fn take(&mut self, free: Cycle) {
        self.free_at[self.hand] = free;
        self.hand += 1;
        if self.hand == self.free_at.len() {
            self.hand = 0;
        }
    }

    /// Puts the entries back after a wrong path. What an abandoned operation had taken was free
    /// when it came, so the older free cycle is as good as the squash.
    pub fn restore(&mut self, saved: &[Cycle]) {
        self.free_at.copy_from_slice(saved);
    }

    /// The entries, to be given to [`Pool::restore`].
    pub fn entries(&self) -> &[Cycle] {
        &self.free_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_entry_is_the_one_of_the_operation_its_size_ago() {
        let mut ring = Ring::new(2);
        ring.take(10);
        ring.take(20);
        assert_eq!(ring.free_at(), 10);
        ring.take(30);
        assert_eq!(ring.free_at(), 20);
    }

    #[test]
    fn a_rewound_ring_starts_again_at_its_mark() {
        let mut ring = Ring::new(3);
        ring.take(5);
        let mark = ring.mark();
        ring.take(7);
        ring.rewind(mark);
        assert_eq!(ring.free_at(), 7);
    }

    #[test]
    fn a_pool_gives_the_entry_that_frees_first() {
        let mut pool = Pool::new(2);
        assert_eq!(pool.free_at(0), 0);
        pool.take(9);
        assert_eq!(pool.free_at(0), 0);
        pool.take(4);
        assert_eq!(pool.free_at(1), 4);
        pool.take(30);
        assert_eq!(pool.free_at(5), 9);
    }
}
