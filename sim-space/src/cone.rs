//! The two forms of a cone: rays that generate it, and the half-spaces that bound it.
//!
//! The double description method in whole numbers. It keeps the half-spaces that hold for the rays
//! so far, as lines (sums that stay 0) and edges (sums that are at most 0), and adds one ray after
//! the other.

use crate::inequality::gcd;

/// Weighted sum over the coordinates.
pub(crate) type Weights = Vec<i128>;

/// The half-spaces of a cone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HalfSpaces {
    /// Sums that are 0 on every ray.
    pub(crate) equalities: Vec<Weights>,
    /// Sums that are at most 0 on every ray; none follows from the others.
    pub(crate) inequalities: Vec<Weights>,
}

/// Numbers over 127 bits, or more half-spaces than [`MOST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

/// Largest number of half-spaces at any step.
const MOST: usize = 3000;

struct Edge {
    weights: Weights,
    /// Rays on which the sum is 0, one bit each.
    zeros: Vec<u64>,
}

/// Returns the half-spaces of the cone of all sums of `rays`, which have `width` coordinates.
pub(crate) fn half_spaces(rays: &[Vec<i128>], width: usize) -> Result<HalfSpaces, TooMany> {
    let mut lines: Vec<Weights> =
        (0..width).map(|own| (0..width).map(|other| i128::from(own == other)).collect()).collect();
    let mut edges: Vec<Edge> = Vec::new();
    for (number, ray) in rays.iter().enumerate() {
        let cut = lines.iter().position(|line| product(line, ray) != Ok(0));
        if let Some(cut) = cut {
            let line = lines.swap_remove(cut);
            cut_line(line, ray, number, &mut lines, &mut edges)?;
        } else {
            cut_edges(ray, number, &mut edges)?;
        }
        if edges.len() > MOST {
            return Err(TooMany);
        }
    }
    let inequalities = edges.into_iter().map(|edge| edge.weights).collect();
    Ok(HalfSpaces { equalities: lines, inequalities })
}

/// Adds a ray that is not 0 on `line`: the line becomes an edge, and all else 0 on the ray.
fn cut_line(
    line: Weights,
    ray: &[i128],
    number: usize,
    lines: &mut [Weights],
    edges: &mut Vec<Edge>,
) -> Result<(), TooMany> {
    let side = product(&line, ray)?;
    let flatten = |weights: &Weights| -> Result<Weights, TooMany> {
        let own = product(weights, ray)?;
        combined(weights, side.abs(), &line, -own * side.signum())
    };
    for other in lines.iter_mut() {
        *other = flatten(other)?;
    }
    for edge in edges.iter_mut() {
        edge.weights = flatten(&edge.weights)?;
        set(&mut edge.zeros, number);
    }
    let weights = if side > 0 { line.iter().map(|weight| -weight).collect() } else { line };
    // A line is 0 on every ray before this one.
    let mut zeros = vec![0; number / 64 + 1];
    (0..number).for_each(|earlier| set(&mut zeros, earlier));
    edges.push(Edge { weights, zeros });
    Ok(())
}

/// Adds a ray on which every line is 0: keeps the edges that hold and joins them with neighbors
/// that do not.
fn cut_edges(ray: &[i128], number: usize, edges: &mut Vec<Edge>) -> Result<(), TooMany> {
    let sides: Vec<i128> =
        edges.iter().map(|edge| product(&edge.weights, ray)).collect::<Result<_, _>>()?;
    for (edge, side) in edges.iter_mut().zip(&sides) {
        if *side == 0 {
            set(&mut edge.zeros, number);
        }
    }
    let mut joined = Vec::new();
    let of = |sign: i128| -> Vec<usize> {
        (0..sides.len()).filter(|place| sides[*place].signum() == sign).collect()
    };
    let (over, under) = (of(1), of(-1));
    for &high in &over {
        for &low in &under {
            let common: Vec<u64> =
                edges[high].zeros.iter().zip(&edges[low].zeros).map(|(a, b)| a & b).collect();
            let contains = |edge: &Edge| includes(&edge.zeros, &common);
            let is_neighbor = edges
                .iter()
                .enumerate()
                .all(|(place, edge)| place == high || place == low || !contains(edge));
            if is_neighbor {
                let weights =
                    combined(&edges[high].weights, -sides[low], &edges[low].weights, sides[high])?;
                let mut zeros = common;
                set(&mut zeros, number);
                joined.push(Edge { weights, zeros });
            }
        }
        if joined.len() > MOST {
            return Err(TooMany);
        }
    }
    let mut place = 0;
    edges.retain(|_| {
        place += 1;
        sides[place - 1] <= 0
    });
    edges.extend(joined);
    Ok(())
}

fn set(bits: &mut Vec<u64>, number: usize) {
    if bits.len() <= number / 64 {
        bits.resize(number / 64 + 1, 0);
    }
    bits[number / 64] |= 1 << (number % 64);
}

fn includes(bits: &[u64], part: &[u64]) -> bool {
    let padded = bits.iter().copied().chain(std::iter::repeat(0));
    part.iter().zip(padded).all(|(part, own)| part & !own == 0)
}

/// Returns the sum of products of two vectors.
pub(crate) fn product(one: &[i128], other: &[i128]) -> Result<i128, TooMany> {
    one.iter()
        .zip(other)
        .try_fold(0i128, |sum, (a, b)| sum.checked_add(a.checked_mul(*b)?))
        .ok_or(TooMany)
}

/// Returns `times * one + other_times * other`, without a common divisor.
pub(crate) fn combined(
    one: &[i128],
    times: i128,
    other: &[i128],
    other_times: i128,
) -> Result<Weights, TooMany> {
    let sum =
        |(a, b): (&i128, &i128)| a.checked_mul(times)?.checked_add(b.checked_mul(other_times)?);
    let sums: Option<Weights> = one.iter().zip(other).map(sum).collect();
    let mut sums = sums.ok_or(TooMany)?;
    let divisor = sums.iter().fold(0, |known, weight| gcd(known, *weight));
    if divisor > 1 {
        sums.iter_mut().for_each(|weight| *weight /= divisor);
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(rays: &[&[i128]]) -> (Vec<Weights>, Vec<Weights>) {
        let rays: Vec<Vec<i128>> = rays.iter().map(|ray| ray.to_vec()).collect();
        let width = rays[0].len();
        let mut found = half_spaces(&rays, width).expect("a small cone");
        found.inequalities.sort();
        (found.equalities, found.inequalities)
    }

    #[test]
    fn accesses_and_misses() {
        // A hit (1, 0) and a miss (1, 1): no negative misses, no more misses than accesses.
        let (equalities, inequalities) = sorted(&[&[1, 0], &[1, 1]]);
        assert_eq!(equalities, Vec::<Weights>::new());
        assert_eq!(inequalities, [[-1, 1], [0, -1]]);
    }

    #[test]
    fn a_flat_cone_has_equalities() {
        // Two parts and their sum.
        let (equalities, inequalities) = sorted(&[&[1, 1, 0], &[1, 0, 1]]);
        assert_eq!(equalities.len(), 1);
        let line = &equalities[0];
        assert!(line == &[1, -1, -1] || line == &[-1, 1, 1], "{line:?}");
        assert_eq!(inequalities.len(), 2);
    }

    #[test]
    fn a_square_cone_has_four_sides() {
        let (_, inequalities) = sorted(&[&[1, 1, 1], &[1, -1, 1], &[-1, 1, 1], &[-1, -1, 1]]);
        assert_eq!(inequalities, [[-1, 0, -1], [0, -1, -1], [0, 1, -1], [1, 0, -1]]);
        let (_, inside) = sorted(&[&[1, 1, 1], &[1, -1, 1], &[0, 0, 1], &[-1, 1, 1], &[-1, -1, 1]]);
        assert_eq!(inside, inequalities, "a ray inside changes nothing");
    }
}
