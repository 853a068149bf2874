//! Samples are uniform over the operations of a loop. With random intervals each operation is
//! sampled equally often, whatever factor the loop's length shares with the interval. Without them
//! the interval decides.

use sim_core::{Counts, NullSink, OpTimeline, Operation, Privilege};
use sim_pmu::spe::{Spe, SpeConfig, SpeRegister};

/// `INTERVAL` 4: 1024 operations, and one more without random numbers.
const INTERVAL: u64 = 4 << 8;
const PERIOD: usize = 1025;

/// Returns the number of samples of each operation in a loop of `length` operations.
fn positions(config: &SpeConfig, random: bool, length: usize, samples: usize) -> Vec<u64> {
    let mut spe = Spe::new(config, 0);
    spe.set_mdcr_el3(0b11 << 12);
    spe.set_mdcr_el2(0b11 << 12);
    spe.set_privilege(Privilege::default());
    spe.keep_sampled_ops();
    spe.set(SpeRegister::PMSCR_EL1, 1);
    spe.set(SpeRegister::PMSIRR_EL1, INTERVAL | u64::from(random));
    spe.set(SpeRegister::PMBPTR_EL1, 0x1_0000);
    spe.set(SpeRegister::PMBLIMITR_EL1, 0x7000_0000_0001);
    let timeline = OpTimeline { retired: true, mops: 1, ..OpTimeline::default() };
    let mut operation = Operation { timeline, ..Operation::default() };
    let mut found = vec![0; length];
    let mut taken = 0;
    while taken < samples {
        for position in 0..length {
            operation.timeline.rename += 1;
            operation.timeline.retire = operation.timeline.rename + 4;
            operation.timeline.pc = position as u64;
            spe.operation(&operation, &mut NullSink);
        }
        spe.synchronize(&mut NullSink);
        for op in spe.take_sampled_ops() {
            let pc = op.record.and_then(|record| record.pc).expect("every record has its PC");
            found[pc.address as usize] += 1;
            taken += 1;
        }
    }
    found
}

/// Returns the sum of squared deviations over the expected numbers, for each degree of freedom.
fn chi_square_per_degree(found: &[u64], shares: &[f64]) -> f64 {
    let n = found.iter().sum::<u64>() as f64;
    let deviation = |(k, share): (&u64, &f64)| (*k as f64 - n * share).powi(2) / (n * share);
    let sum: f64 = found.iter().zip(shares).map(deviation).sum();
    sum / (found.len() - 1) as f64
}

/// Returns the shares of a loop's operations when the random number follows a constant interval.
/// The interval alone walks through the loop in equal steps, and 0 to 255 operations follow.
fn shares_after_interval(length: usize) -> Vec<f64> {
    let mut shares = vec![0.0; length];
    let steps = length / gcd(length, PERIOD);
    for (base, byte) in (0..steps).flat_map(|n| (0..256).map(move |byte| (n * PERIOD, byte))) {
        // The interval expires at operation 1025, number 1024 from 0.
        shares[(base + PERIOD - 1 + byte) % length] += 1.0 / (256 * steps) as f64;
    }
    shares
}

fn gcd(mut a: usize, mut b: usize) -> usize {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Lengths that divide the period, share a factor with it or with 256, or share no factor.
const LENGTHS: [usize; 8] = [5, 16, 25, 41, 64, 82, 97, 205];

/// Returns the limit: four standard deviations of a chi-square value per degree of freedom.
fn limit(length: usize) -> f64 {
    1.0 + 4.0 * (2.0 / (length - 1) as f64).sqrt()
}

#[test]
fn random_intervals_sample_every_operation_of_a_loop_equally() {
    for length in LENGTHS {
        let found = positions(&SpeConfig::default(), true, length, 60 * length);
        let spread = chi_square_per_degree(&found, &vec![1.0 / length as f64; length]);
        assert!(spread < limit(length), "{length}: {spread:.2}, {found:?}");
    }
}

/// The architecture's other form is fair for most loops, but its long-term period is fixed. In a
/// loop of 205 operations, a fifth of it, the first 51 after the interval are sampled twice as
/// often.
#[test]
fn a_random_number_after_the_interval_keeps_the_bias_of_the_interval() {
    let config = SpeConfig { random_after_interval: true, ..SpeConfig::default() };
    for length in LENGTHS {
        let found = positions(&config, true, length, 60 * length);
        let spread = chi_square_per_degree(&found, &shares_after_interval(length));
        assert!(spread < limit(length), "{length}: {spread:.2}, {found:?}");
    }
    let (even, uneven) = (shares_after_interval(97), shares_after_interval(205));
    let ratio =
        |shares: &[f64]| shares.iter().fold(0.0_f64, |a, b| a.max(*b)) * shares.len() as f64;
    assert!(ratio(&even) < 1.01 && ratio(&uneven) > 1.5);
}

#[test]
fn constant_intervals_sample_a_loop_in_equal_steps() {
    for length in LENGTHS {
        let reached = length / gcd(length, PERIOD);
        let found = positions(&SpeConfig::default(), false, length, 12 * reached);
        let visited: Vec<u64> = found.into_iter().filter(|n| *n > 0).collect();
        assert_eq!(visited.len(), reached, "a loop of {length}");
        let (least, most) = (visited.iter().min(), visited.iter().max());
        assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 2), "{visited:?}");
    }
}

#[test]
fn samples_depend_on_seed_and_core_only() {
    let first = |seed, core| {
        let config = SpeConfig { seed, ..SpeConfig::default() };
        let mut spe = Spe::new(&config, core);
        spe.set_mdcr_el3(0b11 << 12);
        spe.set_mdcr_el2(0b11 << 12);
        spe.set(SpeRegister::PMSCR_EL1, 1);
        spe.set(SpeRegister::PMSIRR_EL1, INTERVAL | 1);
        spe.set(SpeRegister::PMBLIMITR_EL1, 0x1_0001);
        spe.keep_sampled_ops();
        let timeline = OpTimeline { retired: true, mops: 1, ..OpTimeline::default() };
        let operation = Operation { timeline, ..Operation::default() };
        let mut counts = Counts::default();
        for _ in 0..20_000 {
            spe.operation(&operation, &mut counts);
        }
        spe.sampled_ops().iter().map(|op| op.number).collect::<Vec<_>>()
    };
    assert_eq!(first(1, 0), first(1, 0));
    assert_ne!(first(1, 0), first(2, 0));
    assert_ne!(first(1, 0), first(1, 1));
}
