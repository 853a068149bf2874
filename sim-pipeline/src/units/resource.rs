//! Resources that operations hold for a time: rings freed in order, pools freed out of order.

use sim_core::Cycle;
use sim_isa::UopCounts;

/// Buffer whose entries are taken in program order (ROB, load and store queue, speculative
/// registers). Operation `i` takes the entry of operation `i - size`.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    free_at: Box<[Cycle]>,
    next: usize,
}

impl Ring {
    /// Returns a ring of `size` free entries.
    pub(crate) fn new(size: usize) -> Ring {
        Ring { free_at: vec![0; size].into_boxed_slice(), next: 0 }
    }

    /// Returns the first cycle in which the next entry is free.
    #[inline]
    pub(crate) fn free_at(&self) -> Cycle {
        self.free_at[self.next]
    }

    /// Returns the first cycle in which the entry `nth` places after the next one is free.
    #[cfg(test)]
    pub(crate) fn free_at_nth(&self, nth: usize) -> Cycle {
        self.free_at[(self.next + nth) % self.free_at.len()]
    }

    /// Takes the next entry until `free`, the cycle in which the next user may have it.
    #[inline]
    pub(crate) fn take(&mut self, free: Cycle) {
        self.free_at[self.next] = free;
        self.next += 1;
        if self.next == self.free_at.len() {
            self.next = 0;
        }
    }

    /// Returns how many entries are still taken in `cycle`.
    pub(crate) fn held(&self, cycle: Cycle) -> usize {
        self.free_at.iter().filter(|free| **free > cycle).count()
    }

    /// Returns the position of the next entry, for [`Ring::rewind`] after a squash.
    #[inline]
    pub(crate) fn mark(&self) -> usize {
        self.next
    }

    /// Gives back all entries taken since the mark. Their free cycles stay: each is the squash
    /// cycle, which precedes any later operation.
    #[inline]
    pub(crate) fn rewind(&mut self, mark: usize) {
        self.next = mark;
    }
}

/// [`Ring`] of few entries that is never rewound. Any position is an index, so that the host need
/// not check it.
#[derive(Clone, Debug)]
pub(crate) struct ShortRing {
    /// The places up to `mask` are used.
    free_at: Box<[Cycle; ShortRing::MOST]>,
    /// Number of entries, modulo [`ShortRing::MOST`].
    size: u8,
    mask: u8,
    next: u8,
}

impl ShortRing {
    /// Largest number of entries.
    pub(crate) const MOST: usize = 1 << u8::BITS;

    /// Returns a ring of `size` free entries, 1 to [`ShortRing::MOST`].
    pub(crate) fn new(size: usize) -> ShortRing {
        let mask = (size.next_power_of_two() - 1) as u8;
        ShortRing { free_at: Box::new([0; ShortRing::MOST]), size: size as u8, mask, next: 0 }
    }

    /// Returns the first cycle in which the next entry is free.
    #[inline(always)]
    pub(crate) fn free_at(&self) -> Cycle {
        self.free_at[usize::from(self.next.wrapping_sub(self.size) & self.mask)]
    }

    /// Takes the next entry until `free`, the cycle in which the next user may have it.
    #[inline(always)]
    pub(crate) fn take(&mut self, free: Cycle) {
        self.free_at[usize::from(self.next & self.mask)] = free;
        self.next = self.next.wrapping_add(1);
    }

    /// Frees all entries.
    pub(crate) fn clear(&mut self) {
        self.free_at[..=usize::from(self.mask)].fill(0);
    }
}

/// Cycles ahead that [`Pools`] can hold. An entry held longer is given back at the end of that
/// time. Only a chain of some forty misses to memory reaches that far.
pub(crate) const HORIZON: u64 = 1 << 12;
const HORIZON_MASK: u64 = HORIZON - 1;

/// Queues that free their entries out of order (issue queues): the taken entries of each, and the
/// entries given back in each cycle. Entries taken on a wrong path are given back at its squash.
/// One word holds the counts of all queues, because most micro-operations take entries of two.
#[derive(Clone, Debug)]
pub(crate) struct Pools {
    sizes: UopCounts,
    taken: UopCounts,
    /// Entries given back in each cycle.
    given_back: Box<[UopCounts; HORIZON as usize]>,
    /// Cycle up to which entries given back are counted.
    now: Cycle,
}

impl Pools {
    /// Returns pools with this number of free entries.
    pub(crate) fn new(sizes: UopCounts) -> Pools {
        Pools {
            sizes,
            taken: UopCounts::default(),
            given_back: Box::new([UopCounts::default(); HORIZON as usize]),
            now: 0,
        }
    }

    /// Returns whether these entries are free now.
    #[inline]
    pub(crate) fn have_room(&self, entries: UopCounts) -> bool {
        self.taken.plus(entries).within(self.sizes)
    }

    /// Returns the pools that do not have these entries free now.
    #[inline]
    pub(crate) fn lacking(&self, entries: UopCounts) -> impl Iterator<Item = usize> {
        self.taken.plus(entries).lanes_above(self.sizes)
    }

    /// Returns the first cycle from `earliest` on in which one pool has `entries` free, or all it
    /// has if those are fewer. `earliest` must not be in the past.
    pub(crate) fn free_at(&self, pool: usize, earliest: Cycle, entries: u32) -> Cycle {
        let (size, taken) = (self.sizes.lane(pool), self.taken.lane(pool));
        let entries = entries.min(size);
        if entries == 0 || taken + entries <= size {
            return earliest;
        }
        earliest.max(self.next_free(pool, taken + entries - size))
    }

    /// Returns how many entries of all pools are still taken in `cycle`.
    pub(crate) fn held(&self, cycle: Cycle) -> usize {
        let until = cycle.min(self.now + HORIZON - 1);
        let given_back = (self.now + 1..=until).map(|cycle| self.given_back[slot_of(cycle)]);
        given_back.fold(self.taken, UopCounts::minus).sum() as usize
    }

    /// Takes entries until `free`. Returns the index of that cycle within the horizon.
    #[inline(always)]
    pub(crate) fn take(&mut self, entries: UopCounts, free: Cycle) -> usize {
        let at = slot_of(free.clamp(self.now + 1, self.now + HORIZON - 1));
        self.taken = self.taken.plus(entries);
        self.given_back[at] = self.given_back[at].plus(entries);
        at
    }

    /// Counts the entries given back up to and including `now`. `now` never decreases.
    #[inline(always)]
    pub(crate) fn advance(&mut self, now: Cycle) {
        if now == self.now + 1 {
            self.taken = self.taken.minus(std::mem::take(&mut self.given_back[slot_of(now)]));
            self.now = now;
        } else {
            self.advance_far(now);
        }
    }

    /// Does the work of [`Pools::advance`] over many cycles. It is not inlined, to save the host's
    /// instruction cache.
    #[inline(never)]
    fn advance_far(&mut self, now: Cycle) {
        if now - self.now >= HORIZON {
            self.given_back.fill(UopCounts::default());
            (self.taken, self.now) = (UopCounts::default(), now);
            return;
        }
        let (from, to) = (slot_of(self.now + 1), slot_of(now + 1));
        if from <= to {
            self.give_back(from, to);
        } else {
            self.give_back(from, HORIZON as usize);
            self.give_back(0, to);
        }
        self.now = now;
    }

    /// Counts the entries given back in these cycles of the horizon, and clears them.
    fn give_back(&mut self, from: usize, to: usize) {
        for places in self.given_back[from..to].chunks_mut(8) {
            // The sum never exceeds the taken entries. After a wait for memory nearly all are 0.
            let all = places.iter().fold(UopCounts::default(), |all, one| all.plus(*one));
            if all != UopCounts::default() {
                self.taken = self.taken.minus(all);
                places.fill(UopCounts::default());
            }
        }
    }

    /// Returns the cycle by which `needed` more entries of a pool are given back.
    fn next_free(&self, pool: usize, mut needed: u32) -> Cycle {
        let mut cycle = self.now + 1;
        if self.given_back[slot_of(cycle)].lane(pool) >= needed {
            return cycle;
        }
        let (wrapped, ahead) = self.given_back.split_at(slot_of(cycle));
        for places in [ahead, wrapped] {
            for few in places.chunks(8) {
                // Most cycles return no entry. The sum never exceeds the taken entries.
                let all = few.iter().fold(UopCounts::default(), |all, one| all.plus(*one));
                if all.lane(pool) >= needed {
                    return cycle + enough(few, pool, needed);
                }
                needed -= all.lane(pool);
                cycle += few.len() as Cycle;
            }
        }
        self.now + HORIZON
    }
}

/// Returns the first of these cycles up to which a pool gets `needed` entries back. The caller
/// guarantees that there is one.
fn enough(places: &[UopCounts], pool: usize, needed: u32) -> Cycle {
    let mut sum = 0;
    let is_enough = |one: &UopCounts| {
        sum += one.lane(pool);
        sum >= needed
    };
    places.iter().position(is_enough).unwrap_or(0) as Cycle
}

/// Returns the index of a cycle within the horizon.
#[inline]
pub(crate) fn slot_of(cycle: Cycle) -> usize {
    (cycle & HORIZON_MASK) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_ring_frees_its_entries_as_a_ring_does() {
        for size in [1, 3, 16, 17, 255, ShortRing::MOST] {
            let (mut short, mut ring) = (ShortRing::new(size), Ring::new(size));
            for free in (1..2000).map(|i| i * i % 701) {
                assert_eq!(short.free_at(), ring.free_at(), "{size} entries");
                short.take(free);
                ring.take(free);
            }
            short.clear();
            assert_eq!(short.free_at(), 0);
        }
    }

    #[test]
    fn a_ring_reuses_the_entry_of_the_operation_its_size_ago() {
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

    /// Returns pools of which the first has `size` entries and the others one less.
    fn pools(size: u32) -> Pools {
        let mut sizes = [size - 1; UopCounts::LANES];
        sizes[0] = size;
        Pools::new(UopCounts::new(sizes))
    }

    const ENTRY: UopCounts = UopCounts::new([1, 0, 0, 0, 0, 0, 0]);

    #[test]
    fn a_full_pool_has_room_when_its_first_entry_is_returned() {
        let mut pools = pools(2);
        assert_eq!(pools.free_at(0, 0, 1), 0);
        pools.take(ENTRY, 900);
        pools.take(ENTRY, 4);
        assert_eq!(pools.free_at(0, 1, 1), 4);
        assert_eq!(pools.free_at(0, 7, 1), 7);
        assert_eq!(pools.free_at(0, 1, 1), 4, "a query does not advance the clock");
        assert_eq!(pools.free_at(1, 1, 1), 1, "another pool has room");
        pools.advance(4);
        pools.take(ENTRY, 30);
        assert_eq!(pools.free_at(0, 5, 1), 30);
        assert_eq!(pools.free_at(0, 40, 1), 40);
        pools.advance(1000);
        pools.take(ENTRY, 9000);
        assert_eq!(
            pools.free_at(0, 1000, 2),
            1000 + HORIZON - 1,
            "an entry held longer than the horizon"
        );
    }

    #[test]
    fn pools_agree_with_a_list_of_entries() {
        let (size, mut state) = (5, 1_u64);
        let mut pools = pools(size as u32);
        let mut list: Vec<Cycle> = Vec::new();
        let mut now = 0;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            now += (state >> 60) / 4 * (state >> 40 & 63);
            list.retain(|free| *free > now);
            let earliest = now + (state >> 30 & 3);
            let entries = 1 + (state >> 10 & 3) as usize;
            list.sort_unstable();
            // All but `size - entries` must be free again.
            let before = (list.len() + entries).checked_sub(size + 1).map(|i| list[i]);
            let expected = before.map_or(earliest, |free| earliest.max(free));
            assert_eq!(pools.free_at(0, earliest, entries as u32), expected);
            assert_eq!(pools.held(earliest), list.iter().filter(|free| **free > earliest).count());
            now = expected;
            list.retain(|free| *free > now);
            pools.advance(now);
            for _ in 0..entries {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let free = now + 1 + (state >> 20 & 255);
                pools.take(ENTRY, free);
                list.push(free);
            }
            let room = UopCounts::new([(size - list.len()) as u32, 0, 0, 0, 0, 0, 0]);
            assert!(pools.have_room(room) && !pools.have_room(room.plus(ENTRY)));
        }
    }
}
