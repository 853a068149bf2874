//! Basic block vectors of intervals, projected to a few dimensions (Sherwood and others,
//! "Automatically characterizing large scale program behavior", 2002).
//!
//! A vector has one number per block of the trace: the share of the interval's instructions in it.
//! A random projection nearly preserves the distances of vectors. It is applied while the trace is
//! read, so that memory grows only with the intervals.

use super::features::{FEATURES, FeatureSource, Features};
use crate::known_events::KNOWN_EVENTS;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use sim_trace::BlockVisitor;

/// Dimensions of a projected block vector.
const BLOCK_DIMENSIONS: usize = 16;
/// Dimensions of a projected block vector with the features.
pub(crate) const DIMENSIONS: usize = BLOCK_DIMENSIONS + FEATURES;
/// Spread of all features together, in units of the spread of the block vectors.
const FEATURE_SPREAD: f64 = 0.7;

/// Projected block vector and features of an interval.
pub(crate) type Vector = [f64; DIMENSIONS];

/// A part of the stream, from the begin of a block to the end of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    /// Number of instructions before it.
    pub(crate) begin: u64,
    /// Length in instructions.
    pub(crate) length: u64,
    /// Projected blocks and scaled features.
    pub(crate) vector: Vector,
    /// Features per instruction.
    pub(crate) features: Features,
}

impl Interval {
    /// Returns the counts of functional warming in the interval.
    pub(crate) fn known(&self) -> Vec<u64> {
        let count = |rate: &f64| (rate * self.length as f64).round() as u64;
        self.features[..KNOWN_EVENTS.len()].iter().map(count).collect()
    }

    /// Returns the values whose mean over the trace is known.
    pub(crate) fn calibration_row(&self) -> Vec<f64> {
        self.vector[..BLOCK_DIMENSIONS].iter().chain(&self.features).copied().collect()
    }
}

/// Divides a stream into intervals while it is read.
pub(crate) struct VectorReader<C> {
    /// Length of an interval; it ends with the block that reaches it.
    interval: u64,
    /// Projection of each block.
    rows: Vec<[f64; BLOCK_DIMENSIONS]>,
    pub(crate) features: C,
    /// Instructions of the current interval by block, and the blocks with any.
    executed: Vec<u64>,
    touched: Vec<u32>,
    begin: u64,
    length: u64,
    intervals: Vec<Interval>,
}

impl<C: FeatureSource> VectorReader<C> {
    /// Creates a reader of a trace with `blocks` blocks.
    pub(crate) fn new(blocks: usize, interval: u64, seed: u64, features: C) -> VectorReader<C> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut row = || std::array::from_fn(|_| unit(&mut random) * 2.0 - 1.0);
        VectorReader {
            interval: interval.max(1),
            rows: (0..blocks).map(|_| row()).collect(),
            features,
            executed: vec![0; blocks],
            touched: Vec::new(),
            begin: 0,
            length: 0,
            intervals: Vec::new(),
        }
    }

    /// Returns the intervals of the stream.
    pub(crate) fn finish(mut self) -> Vec<Interval> {
        self.close();
        scale_features(&mut self.intervals);
        self.intervals
    }

    fn close(&mut self) {
        if self.length == 0 {
            return;
        }
        let mut vector = [0.0; DIMENSIONS];
        // In the order of their numbers, so that sums do not depend on the order of execution.
        self.touched.sort_unstable();
        for block in self.touched.drain(..) {
            let block = block as usize;
            let share = std::mem::take(&mut self.executed[block]) as f64 / self.length as f64;
            for (sum, part) in vector.iter_mut().zip(&self.rows[block]) {
                *sum += share * part;
            }
        }
        let length = self.length as f64;
        let features = self.features.take().map(|count| count / length);
        // Bursts exceed the rest many times; square roots bring them closer.
        vector[BLOCK_DIMENSIONS..].copy_from_slice(&features.map(f64::sqrt));
        self.intervals.push(Interval { begin: self.begin, length: self.length, vector, features });
        self.begin += self.length;
        self.length = 0;
    }
}

impl<C: FeatureSource> BlockVisitor for VectorReader<C> {
    const ACCESSES: bool = true;

    #[inline]
    fn block(&mut self, block: u32, place: u32, executed: u16) {
        // Close here and not after the block, because its accesses are passed after it.
        if self.length >= self.interval {
            self.close();
        }
        self.features.block(block, place, executed);
        let before = &mut self.executed[block as usize];
        if *before == 0 {
            self.touched.push(block);
        }
        *before += u64::from(executed);
        self.length += u64::from(executed);
    }

    #[inline]
    fn access(&mut self, place: u32, addr: u64) {
        self.features.access(place, addr);
    }
}

/// Scales all features to the same variance, relative to the block vectors.
fn scale_features(intervals: &mut [Interval]) {
    let count = intervals.len().max(1) as f64;
    let mean = |intervals: &[Interval], column: usize| {
        intervals.iter().map(|one| one.vector[column]).sum::<f64>() / count
    };
    let means: Vec<f64> = (0..DIMENSIONS).map(|column| mean(intervals, column)).collect();
    let variance = |intervals: &[Interval], column: usize| {
        intervals.iter().map(|one| (one.vector[column] - means[column]).powi(2)).sum::<f64>()
            / count
    };
    let blocks: f64 = (0..BLOCK_DIMENSIONS).map(|column| variance(intervals, column)).sum();
    for column in BLOCK_DIMENSIONS..DIMENSIONS {
        let own = variance(intervals, column);
        let wanted = FEATURE_SPREAD * FEATURE_SPREAD * blocks / FEATURES as f64;
        let scale = if own > 1e-15 { (wanted / own).sqrt() } else { 0.0 };
        intervals.iter_mut().for_each(|one| one.vector[column] *= scale);
    }
}

/// Returns a random number from 0 to below 1.
pub(crate) fn unit(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns the squared distance of two vectors.
pub(crate) fn distance(a: &Vector, b: &Vector) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source without features.
    struct Plain;

    impl BlockVisitor for Plain {
        const ACCESSES: bool = true;
        fn block(&mut self, _block: u32, _place: u32, _executed: u16) {}
    }

    impl FeatureSource for Plain {
        fn take(&mut self) -> Features {
            [0.0; FEATURES]
        }
    }

    /// Returns intervals of ten instructions over runs `(block, instructions)`.
    fn intervals(runs: &[(u32, u16)]) -> Vec<Interval> {
        let mut reader = VectorReader::new(4, 10, 1, Plain);
        runs.iter().for_each(|(block, executed)| reader.block(*block, 0, *executed));
        reader.finish()
    }

    #[test]
    fn intervals_cover_the_stream_and_end_with_blocks() {
        let found = intervals(&[(0, 4), (1, 5), (0, 4), (2, 20), (3, 1)]);
        let places: Vec<(u64, u64)> = found.iter().map(|one| (one.begin, one.length)).collect();
        assert_eq!(places, [(0, 13), (13, 20), (33, 1)]);
    }

    #[test]
    fn a_vector_does_not_depend_on_the_order_of_execution() {
        let found = intervals(&[(0, 5), (1, 5), (1, 5), (0, 5), (2, 10)]);
        let blocks = |number: usize| &found[number].vector[..BLOCK_DIMENSIONS];
        assert_eq!(blocks(0), blocks(1));
        assert!(distance(&found[0].vector, &found[2].vector) > 0.1);
    }
}
