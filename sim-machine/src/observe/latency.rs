//! Load latencies by data source, as histograms of fixed size.

use sim_core::{DataSource, LoadWait};

/// Data sources, nearest first.
pub const SOURCES: [DataSource; 8] = [
    DataSource::StoreQueue,
    DataSource::L1,
    DataSource::L2,
    DataSource::Slc,
    DataSource::Peer,
    DataSource::Remote,
    DataSource::Dram,
    DataSource::Device,
];

/// Buckets per power of two: latencies are resolved to one eighth.
const STEPS: u64 = 8;
/// Number of buckets: one for each of 0 to 7 cycles, then [`STEPS`] for each power of two up to 64
/// bits.
const BUCKETS: usize = (STEPS as usize) * 62;

/// Latencies of the loads from one source.
#[derive(Clone, Debug)]
pub struct Latency {
    /// Number of loads.
    pub loads: u64,
    /// Sum of their latencies, in cycles.
    pub cycles: u64,
    /// Smallest latency; `u64::MAX` without loads.
    pub min: u64,
    /// Largest latency.
    pub max: u64,
    /// Cycles of waiting for a free refill buffer.
    pub buffer_wait: u64,
    /// Cycles of waiting for a pending refill of the same line.
    pub line_wait: u64,
    /// Loads that waited for a pending refill of the same line.
    pub found_on_its_way: u64,
    buckets: Box<[u64]>,
}

impl Default for Latency {
    fn default() -> Self {
        let buckets = vec![0; BUCKETS].into_boxed_slice();
        let (loads, cycles, buffer_wait, line_wait, found_on_its_way) = (0, 0, 0, 0, 0);
        let (min, max) = (u64::MAX, 0);
        Latency { loads, cycles, min, max, buffer_wait, line_wait, found_on_its_way, buckets }
    }
}

impl Latency {
    #[inline]
    fn add(&mut self, cycles: u64, wait: LoadWait) {
        self.buffer_wait += u64::from(wait.buffer);
        self.line_wait += u64::from(wait.line);
        self.found_on_its_way += u64::from(wait.line > 0);
        self.loads += 1;
        self.cycles += cycles;
        self.min = self.min.min(cycles);
        self.max = self.max.max(cycles);
        self.buckets[bucket(cycles)] += 1;
    }

    /// Returns the smallest and largest cycle count of each non-empty bucket, with its loads. The
    /// outer bounds are the smallest and largest latency.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let filled = self.buckets.iter().enumerate().filter(|(_, loads)| **loads > 0);
        filled.map(|(number, loads)| {
            let (from, to) = range(number);
            (from.max(self.min), to.min(self.max), *loads)
        })
    }

    /// Returns the latency that `percent` of the loads do not exceed: the upper bound of their
    /// bucket. Returns `None` without loads.
    pub fn percentile(&self, percent: u64) -> Option<u64> {
        let wanted = (u128::from(self.loads) * u128::from(percent)).div_ceil(100);
        let mut seen = 0;
        self.buckets().find_map(|(_, to, loads)| {
            seen += u128::from(loads);
            (seen >= wanted).then_some(to)
        })
    }
}

#[inline]
fn bucket(cycles: u64) -> usize {
    if cycles < STEPS {
        return cycles as usize;
    }
    let power = u64::from(cycles.ilog2() - STEPS.ilog2());
    // The leading one of `cycles >> power` is the first of the eight steps of its power of two.
    (power * STEPS + (cycles >> power)) as usize
}

/// Returns the smallest and largest cycle count of a bucket.
fn range(number: usize) -> (u64, u64) {
    let number = number as u64;
    if number < STEPS {
        return (number, number);
    }
    let power = number / STEPS - 1;
    let step = number % STEPS + STEPS;
    (step << power, (step << power) + ((1 << power) - 1))
}

/// Latencies of retired loads by data source.
#[derive(Clone, Debug, Default)]
pub struct Latencies([Latency; SOURCES.len()]);

impl Latencies {
    /// Adds a load with its latency.
    #[inline]
    pub(crate) fn add(&mut self, source: DataSource, cycles: u64, wait: LoadWait) {
        self.0[source as usize].add(cycles, wait);
    }

    /// Returns the latencies of the loads from one source.
    pub fn of(&self, source: DataSource) -> &Latency {
        &self.0[source as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_tile_the_numbers() {
        assert!(SOURCES.iter().enumerate().all(|(i, source)| *source as usize == i));
        let mut next = 0;
        for number in 0..BUCKETS {
            let (from, to) = range(number);
            assert_eq!(from, next, "bucket {number}");
            assert_eq!((bucket(from), bucket(to)), (number, number));
            next = to.wrapping_add(1);
        }
        assert_eq!(next, 0, "the last one ends with the largest number");
        let mut latency = Latency::default();
        [0, 7, 8, u64::MAX / 2]
            .into_iter()
            .for_each(|cycles| latency.add(cycles, LoadWait::default()));
        assert_eq!(latency.buckets().map(|(.., loads)| loads).sum::<u64>(), 4);
    }

    #[test]
    fn a_percentile_is_the_end_of_its_bucket_and_at_most_the_largest_latency() {
        let mut latency = Latency::default();
        assert_eq!(latency.percentile(50), None);
        (0..98).for_each(|_| latency.add(4, LoadWait::default()));
        latency.add(100, LoadWait { buffer: 60, line: 0 });
        latency.add(401, LoadWait { buffer: 5, line: 300 });
        assert_eq!(
            (latency.buffer_wait, latency.line_wait, latency.found_on_its_way),
            (65, 300, 1)
        );
        assert_eq!(
            [50, 98, 99, 100].map(|p| latency.percentile(p)),
            [Some(4), Some(4), Some(103), Some(401)]
        );
        assert_eq!((latency.min, latency.max, latency.cycles), (4, 401, 4 * 98 + 501));
    }
}
