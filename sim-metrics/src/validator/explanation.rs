//! Smallest set of counting biases that explains the difference of a value from the truth, on any
//! core.

/// Fraction of the remaining difference that a bias must remove to count as an explanation.
const WORTH: f64 = 0.2;
/// Largest number of biases that explain one difference.
const REASONS_MAX: usize = 4;

/// Returns the biases that explain the difference to `real`, each with its effect on the value, the
/// greatest first, and the difference that remains. They are the smallest set that leaves nothing
/// above `tolerance`. Biases may compensate each other, so that none of them alone reduces the
/// difference. `without` returns the value without some biases.
pub(super) fn explain<B: Copy>(
    possible: &[B],
    without: impl Fn(&[B]) -> f64,
    real: f64,
    tolerance: f64,
) -> (Vec<(B, f64)>, f64) {
    let mut set = smallest_set(possible, &without, real, tolerance);
    let own = without(&[]);
    let weight = |bias: &B| (without(&[*bias]) - own).abs();
    set.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    let mut value = own;
    let effect = |taken: usize| {
        let before = std::mem::replace(&mut value, without(&set[..taken]));
        (set[taken - 1], value - before)
    };
    let found = (1..=set.len()).map(effect).collect();
    (found, value - real)
}

fn smallest_set<B: Copy>(
    possible: &[B],
    without: &impl Fn(&[B]) -> f64,
    real: f64,
    tolerance: f64,
) -> Vec<B> {
    let chosen = |set: &[usize]| set.iter().map(|at| possible[*at]).collect::<Vec<B>>();
    let distance = |set: &[usize]| {
        let left = (without(&chosen(set)) - real).abs();
        if left.is_finite() { left } else { f64::INFINITY }
    };
    let mut best = (Vec::new(), distance(&[]));
    let mut sets = vec![Vec::new()];
    for _ in 0..REASONS_MAX {
        if best.1 <= tolerance {
            break;
        }
        sets = larger(&sets, possible.len());
        let measured = sets.iter().map(|set| (set, distance(set)));
        let Some((set, left)) = measured.min_by(|a, b| a.1.total_cmp(&b.1)) else { break };
        if left <= (1.0 - WORTH) * best.1 {
            best = (set.clone(), left);
        }
    }
    chosen(&best.0)
}

/// Returns all sets with one more place of `places`, each once.
fn larger(sets: &[Vec<usize>], places: usize) -> Vec<Vec<usize>> {
    let grown = sets.iter().flat_map(|set| {
        let first = set.last().map_or(0, |last| last + 1);
        (first..places).map(|place| [set.as_slice(), &[place]].concat())
    });
    grown.collect()
}
