//! Noise for the counts of the model, so that they vary as those of a machine do.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::counts::Counted;

/// Uniform numbers whose sum is nearly normal, with a variance of 1.
const UNIFORM: usize = 12;
/// Repetitions of a case whose recording has fewer.
const REPEATS: usize = 5;

/// Adds to each count a random number with a standard deviation of `percent` of the count; for a
/// case, whose counts are differences, of 1 if the count is smaller. All get at least five
/// repetitions. The same seed gives the same counts.
pub fn add(counted: &mut Counted, percent: f64, seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut normal = || {
        let uniform = |random: &mut Xoshiro256PlusPlus| random.next_u64() as f64 / u64::MAX as f64;
        (0..UNIFORM).map(|_| uniform(&mut random)).sum::<f64>() - UNIFORM as f64 / 2.0
    };
    let cases = counted.cases.iter_mut().flat_map(|case| case.counts.values_mut());
    let kernels = counted.kernels.iter_mut().flat_map(|kernel| kernel.counts.values_mut());
    let all = cases.map(|counts| (1.0, counts)).chain(kernels.map(|counts| (0.0, counts)));
    for (least, counts) in all {
        let exact = counts.clone();
        let many = REPEATS.max(exact.len());
        let noisy = |count: &f64| count + percent / 100.0 * count.abs().max(least) * normal();
        *counts = exact.iter().cycle().take(many).map(noisy).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::CountedCase;

    fn counts(percent: f64, seed: u64) -> Vec<f64> {
        let counts = [("LD_SPEC".to_owned(), vec![100.0; 400])];
        let case = CountedCase { counts: counts.into(), ..CountedCase::default() };
        let mut counted = Counted { cases: vec![case], ..Counted::default() };
        add(&mut counted, percent, seed);
        counted.cases[0].counts["LD_SPEC"].clone()
    }

    #[test]
    fn noise_has_the_given_deviation_and_follows_the_seed() {
        let noisy = counts(2.0, 7);
        let mean = noisy.iter().sum::<f64>() / 400.0;
        let square = |count: &f64| (count - mean) * (count - mean);
        let deviation = (noisy.iter().map(square).sum::<f64>() / 399.0).sqrt();
        assert!((mean - 100.0).abs() < 0.5, "{mean}");
        assert!((1.7..2.3).contains(&deviation), "{deviation}");
        assert_eq!(noisy, counts(2.0, 7));
        assert_ne!(noisy, counts(2.0, 8));
        assert_eq!(counts(0.0, 7), vec![100.0; 400]);
    }
}
