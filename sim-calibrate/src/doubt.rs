//! Counts that are known less well than their noise says.
//!
//! * What a kernel finds in caches and predictors depends on those before it. The correction for it
//!   is exact where it was measured and a guess elsewhere.
//! * Which of two prefetches comes first, or if a request finds a buffer full, can depend on each
//!   cycle before. Such a count jumps with one step of any key and says nothing about a single one.

use crate::calibrate::Given;
use crate::point::{Points, log_ratio};
use crate::runs::{Model, RunError, Runs, Wanted};

/// Keys that change a count before it can be called erratic.
const LEAST_KEYS: usize = 3;
/// Standard deviation of a count, from the median of half its second differences.
const OF_MEDIAN: f64 = 1.2;

/// Additional deviations of all points, as shares, from all places where they were learned.
pub(crate) struct Doubt {
    /// Least and greatest corrections, as logarithms.
    corrections: Vec<(f64, f64)>,
    /// Sizes of the jumps.
    jumps: Vec<f64>,
    /// Changes with keys that are not fitted because their counts follow chance.
    chance: Vec<f64>,
}

impl Doubt {
    pub(crate) fn new(points: &Points) -> Doubt {
        let all = points.all.len();
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        let (jumps, chance) = (vec![0.0; all], vec![0.0; all]);
        Doubt { corrections: vec![none; all], jumps, chance }
    }

    /// Doubts points by what changes with keys that are not fitted.
    pub(crate) fn by_chance(&mut self, spread: Vec<f64>) {
        self.chance = spread;
    }

    /// Learns at a place, and corrects the runs by what is exact there.
    pub(crate) fn learn<M: Model>(
        &mut self,
        given: &Given<'_>,
        runs: &mut Runs<'_, M>,
        place: &[usize],
    ) -> Result<(), RunError<M::Error>> {
        if let Some([together, alone]) = runs.correct(place)? {
            let both = together.iter().zip(alone.iter());
            for ((low, high), (together, alone)) in self.corrections.iter_mut().zip(both) {
                let correction = log_ratio(*together, *alone);
                (*low, *high) = (low.min(correction), high.max(correction));
            }
        }
        self.learn_jumps(given, runs, place, Wanted::Fitted)
    }

    /// Learns the jumps of the wanted points at a place.
    pub(crate) fn learn_jumps<M: Model>(
        &mut self,
        given: &Given<'_>,
        runs: &mut Runs<'_, M>,
        place: &[usize],
        wanted: Wanted,
    ) -> Result<(), RunError<M::Error>> {
        let jumps = jumps(given, runs, place, wanted)?;
        // A point that was not run has no number; it keeps what it had.
        self.jumps.iter_mut().zip(jumps).for_each(|(own, jump)| *own = own.max(jump));
        Ok(())
    }

    /// Returns the points as the fit sees them.
    pub(crate) fn of_fit(&self, points: &Points) -> Points {
        with(points, (0..points.all.len()).map(|at| self.of_point(at)))
    }

    /// Returns the points for a verdict about a run of all kernels together. It needs no
    /// correction, but the values are not known exactly, and a correction may differ with them.
    pub(crate) fn of_verdict(&self, points: &Points) -> Points {
        let doubt = |at: usize| {
            let (low, high) = self.corrections[at];
            (high - low).max(0.0).hypot(self.jumps[at]).hypot(self.chance[at])
        };
        with(points, (0..points.all.len()).map(doubt))
    }

    /// Returns the variance of the part of each fitted point in the cost of a place, by doubt
    /// alone.
    pub(crate) fn luck(&self, points: &Points, fitted: &[usize]) -> Vec<f64> {
        let variance = |at: &usize| {
            let (point, doubt) = (&points.all[*at], self.of_point(*at));
            let Some(sample) = point.counted else { return 0.0 };
            let share = doubt.powi(2) / points.deviation(point, sample).hypot(doubt).powi(2);
            2.0 * share * (2.0 - share)
        };
        fitted.iter().map(variance).collect()
    }

    fn of_point(&self, at: usize) -> f64 {
        let (low, high) = self.corrections[at];
        (-low).max(high).max(0.0).hypot(self.jumps[at]).hypot(self.chance[at])
    }
}

fn with(points: &Points, doubts: impl Iterator<Item = f64>) -> Points {
    let mut points = points.clone();
    for (point, doubt) in points.all.iter_mut().zip(doubts) {
        if let Some(sample) = &mut point.counted {
            sample.deviation = sample.deviation.hypot(doubt);
        }
    }
    points
}

/// Returns the jumps of all points around a place: the difference between each count and the mean
/// of its neighbors, one step of a key down and up. The median over the keys leaves out those for
/// which the place is a corner, such as the size of a buffer.
fn jumps<M: Model>(
    given: &Given<'_>,
    runs: &mut Runs<'_, M>,
    place: &[usize],
    wanted: Wanted,
) -> Result<Vec<f64>, RunError<M::Error>> {
    let has_both = |key: &&usize| (1..given.keys[**key].last()).contains(&place[**key]);
    let mut places = vec![place.to_vec()];
    for key in given.active.iter().filter(has_both) {
        for position in [place[*key] - 1, place[*key] + 1] {
            let mut moved = place.to_vec();
            moved[*key] = position;
            places.push(moved);
        }
    }
    let predicted = runs.at(&places, wanted)?;
    let none = vec![0.0; given.points.all.len()];
    let Some((Some(here), around)) = predicted.split_first() else { return Ok(none) };
    let jump = |at: usize| {
        let of_key = |pair: &[crate::runs::Predicted]| {
            let [Some(down), Some(up)] = pair else { return None };
            let (down, up) = (log_ratio(down[at], here[at]), log_ratio(up[at], here[at]));
            (down != 0.0 || up != 0.0).then(|| (down + up).abs() / 2.0)
        };
        let mut jumps: Vec<f64> = around.chunks_exact(2).filter_map(of_key).collect();
        jumps.sort_by(f64::total_cmp);
        if jumps.len() < LEAST_KEYS { 0.0 } else { OF_MEDIAN * jumps[jumps.len() / 2] }
    };
    Ok((0..here.len()).map(jump).collect())
}
