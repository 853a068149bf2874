//! Counts of the machine, as the fit sees them.

/// A count of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Mean of the repetitions.
    pub mean: f64,
    /// Standard deviation of the mean, as a share of the mean.
    pub deviation: f64,
}

/// An event of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Number of the kernel in [`Points::kernels`].
    pub kernel: usize,
    /// Mnemonic of the event.
    pub event: String,
    /// Count of the machine; `None` if it was not counted.
    pub counted: Option<Sample>,
    /// One event, in the unit of the count. A difference of one event is chance.
    pub step: f64,
    /// The fit does not see it: it measures the fit.
    pub held_out: bool,
}

/// All points of a fit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    /// Names of the kernels.
    pub kernels: Vec<String>,
    /// Events of the kernels: those of the first kernel, then those of the second, and so on.
    pub all: Vec<Point>,
    /// Standard deviation that every count has at least, as a share.
    pub noise: f64,
}

/// Counts per round that are as good as none. It keeps the logarithm of rare events finite.
pub(crate) const FLOOR: f64 = 0.005;

impl Points {
    /// Returns the standard deviation of a counted point, as a share.
    pub(crate) fn deviation(&self, point: &Point, sample: Sample) -> f64 {
        self.of_chance(sample).hypot(point.step / (sample.mean + FLOOR))
    }

    /// Returns the part of it that a repetition would show.
    pub(crate) fn of_chance(&self, sample: Sample) -> f64 {
        sample.deviation.hypot(self.noise)
    }

    /// Returns the difference between prediction and count, as the logarithm of their ratio in
    /// standard deviations; `None` for a point that was not counted.
    pub(crate) fn residual(&self, point: &Point, predicted: f64) -> Option<f64> {
        let sample = point.counted?;
        Some(log_ratio(predicted, sample.mean) / self.deviation(point, sample))
    }

    /// Returns the change between two predictions, in standard deviations of the count, or of the
    /// noise that every count has.
    pub(crate) fn change(&self, point: &Point, before: f64, after: f64) -> f64 {
        let deviation = point.counted.map_or(self.noise, |sample| self.deviation(point, sample));
        log_ratio(after, before) / deviation
    }

    /// Returns the residual that noise alone makes: 1, or less for a rare event.
    pub(crate) fn expected(&self, point: &Point, sample: Sample) -> f64 {
        let deviation = self.deviation(point, sample);
        log_ratio(sample.mean * (1.0 + deviation), sample.mean) / deviation
    }

    /// Returns the numbers of the points that are fitted.
    pub(crate) fn fitted(&self) -> Vec<usize> {
        let is_fitted = |point: &&(usize, &Point)| point.1.counted.is_some() && !point.1.held_out;
        let numbered: Vec<_> = self.all.iter().enumerate().collect();
        numbered.iter().filter(is_fitted).map(|(number, _)| *number).collect()
    }

    /// Returns the residuals of the fitted points.
    pub(crate) fn residuals(&self, fitted: &[usize], predicted: &[f64]) -> Vec<f64> {
        let of = |number: &usize| {
            self.residual(&self.all[*number], predicted[*number]).unwrap_or_default()
        };
        fitted.iter().map(of).collect()
    }
}

/// Returns the logarithm of the ratio of two counts per round.
pub(crate) fn log_ratio(count: f64, reference: f64) -> f64 {
    ((count + FLOOR) / (reference + FLOOR)).ln()
}

/// Returns true for a third of all names of kernels, always the same ones: their counts measure a
/// fit and do not take part in it.
pub fn is_held_out(kernel: &str) -> bool {
    digest(kernel.as_bytes()).is_multiple_of(3)
}

/// Returns the 64-bit FNV-1a hash of some bytes.
pub fn digest(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
