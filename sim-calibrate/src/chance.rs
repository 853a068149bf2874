//! Keys whose counts follow chance: the sizes of hashed tables.
//!
//! Which branches share an entry of a predictor changes with every bit of its index. No value of
//! such a key is nearer to the truth than another: all wrong ones cost about the same, and a search
//! would end at one of them and be sure of it. So these keys are not fitted. They stay where the
//! search starts, and a count that changes with them is doubted by as much.

use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sim_core::config::Steps;

use crate::calibrate::Given;
use crate::interval::Interval;
use crate::key::Key;
use crate::point::log_ratio;
use crate::runs::{Model, Predicted, RunError, Runs, Wanted};

/// Values of a key at most that run.
const MOST_VALUES: usize = 9;
/// Random places of which the best one is taken.
const CANDIDATES: usize = 64;

/// Returns whether a key's counts follow chance, as its range states.
pub(crate) fn is_by_chance(key: &Key) -> bool {
    key.range.steps == Steps::ByChance
}

/// Returns the interval of such a key: all values.
pub(crate) fn all_values(key: &Key) -> Interval {
    Interval { low: 0, high: key.last() }
}

/// Returns the doubt of each point: the standard deviation of its counts over the ranges of these
/// keys around a place, as a share.
pub(crate) fn spread<M: Model>(
    given: &Given<'_>,
    runs: &mut Runs<'_, M>,
    by_chance: &[usize],
    place: &[usize],
) -> Result<Vec<f64>, RunError<M::Error>> {
    let mut spread = vec![0.0_f64; given.points.all.len()];
    for key in by_chance {
        let last = given.keys[*key].last();
        let values = MOST_VALUES.min(last + 1);
        let places: Vec<Vec<usize>> =
            (0..values).map(|number| moved(place, *key, number * last / (values - 1))).collect();
        let range = runs.at(&places, Wanted::All)?;
        for (at, spread) in spread.iter_mut().enumerate() {
            // Two tables disturb a count on their own.
            *spread = spread.hypot(deviation(&range, at));
        }
    }
    Ok(spread)
}

/// Returns the lowest and the highest count of each point with other sizes of hashed tables around
/// a place, in runs of all kernels together: which branches share an entry depends on those before.
/// Two sizes can make a count that none of them makes alone, so every value of a key runs, and
/// every two values of two keys, those of keys that change nothing alone too.
pub(crate) fn span<M: Model>(
    given: &Given<'_>,
    runs: &mut Runs<'_, M>,
    place: &[usize],
) -> Result<Vec<(f64, f64)>, RunError<M::Error>> {
    let by_chance = given.keys.iter().enumerate().filter(|(_, key)| is_by_chance(key));
    let by_chance: Vec<usize> = by_chance.map(|(number, _)| number).collect();
    let mut span = vec![(f64::INFINITY, f64::NEG_INFINITY); given.points.all.len()];
    let mut places = pairwise(given.keys, &by_chance, place);
    for key in &by_chance {
        places.extend((0..=given.keys[*key].last()).map(|value| moved(place, *key, value)));
    }
    for run in runs.all_together(places)?.iter().flatten() {
        for (span, count) in span.iter_mut().zip(run.iter()) {
            *span = (span.0.min(*count), span.1.max(*count));
        }
    }
    Ok(span)
}

/// Returns a place with another value of a key.
fn moved(place: &[usize], key: usize, value: usize) -> Vec<usize> {
    let mut moved = place.to_vec();
    moved[key] = value;
    moved
}

/// Returns places around another one that have every two values of every two of these keys.
fn pairwise(keys: &[Key], chosen: &[usize], place: &[usize]) -> Vec<Vec<usize>> {
    let pairs = |at: &[usize]| {
        let pair = |one: &usize, other: &usize| (*one, at[*one], *other, at[*other]);
        let of = |(n, one): (usize, &usize)| {
            chosen[n + 1..].iter().map(|other| pair(one, other)).collect::<Vec<_>>()
        };
        chosen.iter().enumerate().flat_map(of).collect::<Vec<_>>()
    };
    let mut missing = BTreeSet::new();
    for (n, one) in chosen.iter().enumerate() {
        for other in &chosen[n + 1..] {
            let values = (0..=keys[*one].last())
                .flat_map(|a| (0..=keys[*other].last()).map(move |b| (*one, a, *other, b)));
            missing.extend(values);
        }
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut places = Vec::new();
    while let Some((one, a, other, b)) = missing.first().copied() {
        let mut candidate = || {
            let mut at = place.to_vec();
            chosen.iter().for_each(|key| at[*key] = random.random_range(0..=keys[*key].last()));
            (at[one], at[other]) = (a, b);
            at
        };
        let candidates: Vec<Vec<usize>> = (0..CANDIDATES).map(|_| candidate()).collect();
        let new = |at: &Vec<usize>| pairs(at).iter().filter(|pair| missing.contains(*pair)).count();
        let Some(best) = candidates.into_iter().max_by_key(new) else { break };
        for pair in pairs(&best) {
            missing.remove(&pair);
        }
        places.push(best);
    }
    places
}

/// Returns the standard deviation of a count over some runs, as a share.
fn deviation(runs: &[Predicted], at: usize) -> f64 {
    let counts = runs.iter().flatten().map(|run| log_ratio(run[at], 1.0));
    let logarithms: Vec<f64> = counts.collect();
    let number = logarithms.len() as f64;
    let mean = logarithms.iter().sum::<f64>() / number.max(1.0);
    let squares = logarithms.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
    (squares / (number - 1.0).max(1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::config::Range;

    #[test]
    fn every_two_values_of_two_keys_are_together_in_a_place() {
        let range = Range { low: 9, high: 13, steps: Steps::ByChance };
        let keys = ["a", "b", "c", "d"].map(|name| Key { name: name.to_owned(), range, start: 2 });
        let places = pairwise(&keys, &[0, 2, 3], &[1; 4]);
        for (one, other) in [(0, 2), (0, 3), (2, 3)] {
            let pairs: BTreeSet<_> = places.iter().map(|at| (at[one], at[other])).collect();
            assert_eq!(pairs.len(), 25, "{one} and {other}");
        }
        assert!(places.iter().all(|at| at[1] == 1) && places.len() < 50, "{}", places.len());
        assert!(pairwise(&keys, &[], &[1; 4]).is_empty());
    }
}
