//! Interval counter: selects the operations of the population that are sampled (SPE supplement
//! 3.1). Decision A37: the sampled operation is the one after the operation that decrements the
//! counter to zero.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::registers::{pmsicr, pmsirr};

/// Source of random bytes.
#[derive(Clone, Debug)]
pub(crate) enum RandomBytes {
    /// Random generator.
    Seeded(Box<Xoshiro256PlusPlus>),
    /// Repeated sequence of given bytes, and the position in it.
    Given(Vec<u8>, usize),
}

impl RandomBytes {
    /// Returns the generator of one core.
    pub(crate) fn seeded(seed: u64) -> RandomBytes {
        RandomBytes::Seeded(Box::new(Xoshiro256PlusPlus::seed_from_u64(seed)))
    }

    fn next(&mut self) -> u8 {
        match self {
            RandomBytes::Seeded(generator) => (generator.next_u32() >> 24) as u8,
            RandomBytes::Given(bytes, at) => {
                let byte = bytes.get(*at % bytes.len().max(1)).copied().unwrap_or(0);
                *at += 1;
                byte
            }
        }
    }
}

/// `PMSICR_EL1`: the interval counter, and the second counter of a unit that counts its random
/// number after the interval.
#[derive(Clone, Debug)]
pub(crate) struct IntervalCounter {
    count: u32,
    second: u8,
    /// `PMSIDR_EL1.ERnd`: the random number is counted after the interval.
    random_after: bool,
    random: RandomBytes,
}

impl IntervalCounter {
    pub(crate) fn new(random_after: bool, random: RandomBytes) -> IntervalCounter {
        IntervalCounter { count: 0, second: 0, random_after, random }
    }

    /// Returns `PMSICR_EL1`.
    pub(crate) fn bits(&self) -> u64 {
        u64::from(self.count) | u64::from(self.second) << pmsicr::ECOUNT_SHIFT
    }

    /// Writes `PMSICR_EL1`.
    pub(crate) fn set_bits(&mut self, value: u64) {
        self.count = (value & pmsicr::COUNT) as u32;
        self.second = if self.random_after { (value >> pmsicr::ECOUNT_SHIFT) as u8 } else { 0 };
    }

    /// Replaces the source of random numbers.
    pub(crate) fn set_random(&mut self, random: RandomBytes) {
        self.random = random;
    }

    /// Handles the enabling of profiling. A counter that is zero begins a new interval; any other
    /// continues.
    pub(crate) fn start(&mut self, pmsirr: u64) {
        if self.bits() == 0 {
            self.count = self.reload(pmsirr);
        }
    }

    /// Returns how many operations of the population are certainly not sampled next.
    pub(crate) fn unsampled(&self) -> u64 {
        let second = if self.second > 0 { u32::from(self.second) - 1 } else { u32::MAX };
        self.count.min(second).into()
    }

    /// Counts operations of the population that are not sampled, as [`IntervalCounter::unsampled`]
    /// allows.
    pub(crate) fn skip(&mut self, operations: u64) {
        // Once a skip: more would ruin all later samples.
        assert!(operations <= self.unsampled(), "{operations} of {}", self.unsampled());
        self.count -= operations as u32;
        self.second = u64::from(self.second).saturating_sub(operations) as u8;
    }

    /// Counts one operation of the population. Returns whether it is sampled.
    #[inline]
    pub(crate) fn step(&mut self, pmsirr: u64) -> bool {
        if self.random_after && pmsirr & pmsirr::RND != 0 {
            return self.step_both(pmsirr);
        }
        if self.count == 0 {
            self.count = self.reload(pmsirr);
            return true;
        }
        self.count -= 1;
        false
    }

    /// Steps both counters of a unit that counts the random number after the interval.
    fn step_both(&mut self, pmsirr: u64) -> bool {
        let mut selects = self.second == 1;
        self.second = self.second.saturating_sub(1);
        if self.count == 0 {
            self.count = self.reload(pmsirr);
            self.second = self.random.next();
            selects |= self.second == 0;
        } else {
            self.count -= 1;
        }
        selects
    }

    fn reload(&mut self, pmsirr: u64) -> u32 {
        let interval = (pmsirr & pmsirr::INTERVAL) as u32;
        let is_random = pmsirr & pmsirr::RND != 0 && !self.random_after;
        interval | if is_random { u32::from(self.random.next()) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(random_after: bool, bytes: &[u8]) -> IntervalCounter {
        IntervalCounter::new(random_after, RandomBytes::Given(bytes.to_vec(), 0))
    }

    fn selected(counter: &mut IntervalCounter, pmsirr: u64, operations: u64) -> Vec<u64> {
        counter.start(pmsirr);
        (1..=operations).filter(|_| counter.step(pmsirr)).collect()
    }

    #[test]
    fn without_random_numbers_the_interval_is_one_more_than_programmed() {
        assert_eq!(selected(&mut counter(false, &[]), 0x100, 771), [257, 514, 771]);
        assert_eq!(selected(&mut counter(true, &[]), 0x400, 2050), [1025, 2050]);
        assert_eq!(selected(&mut counter(false, &[]), 0, 4), [1, 2, 3, 4], "an interval of 0");
    }

    #[test]
    fn a_random_number_is_part_of_the_interval_or_follows_it() {
        let bytes = [0x10, 0x00, 0xFF];
        assert_eq!(selected(&mut counter(false, &bytes), 0x101, 1042), [273, 530, 1042]);
        assert_eq!(selected(&mut counter(true, &[5, 0, 255]), 0x101, 1026), [262, 514, 1026]);
    }

    #[test]
    fn a_nonzero_counter_continues() {
        let mut counter = counter(false, &[]);
        counter.set_bits(0x50);
        assert_eq!(selected(&mut counter, 0x100, 0x51 + 257), [0x51, 0x51 + 257]);
        counter.set_bits(u64::MAX);
        assert_eq!(counter.bits(), 0xFFFF_FFFF, "there is no second counter");
    }

    #[test]
    fn operations_that_are_skipped_count_as_single_ones_do() {
        for random_after in [false, true] {
            let mut single = counter(random_after, &[5, 0, 255, 17]);
            let mut skipping = single.clone();
            single.start(0x101);
            skipping.start(0x101);
            let mut at = 0;
            while at < 3_000 {
                let skipped = skipping.unsampled().min(1 + at % 97);
                skipping.skip(skipped);
                assert!((0..skipped).all(|_| !single.step(0x101)), "operation {at}");
                assert_eq!(skipping.step(0x101), single.step(0x101), "operation {at}");
                assert_eq!(skipping.bits(), single.bits());
                at += skipped + 1;
            }
        }
    }

    /// Mean intervals of the supplement's notes, decision A37.
    #[test]
    fn mean_intervals_match_the_architecture() {
        for (random_after, mean) in [(false, 1024.0 + 1.0 + 127.5), (true, 1025.0)] {
            let mut counter = IntervalCounter::new(random_after, RandomBytes::seeded(7));
            let operations = 4_000_000;
            let n = selected(&mut counter, 0x401, operations).len() as f64;
            let found = operations as f64 / n;
            assert!((found - mean).abs() < 4.0, "{found} instead of {mean}");
        }
    }
}
