//! Outcomes of prefetched lines: statistics besides the architected events. No event separates
//! useful prefetches from useless ones.

/// Prefetched lines of one cache. Each line is issued once, then used, lost, or still present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrefetchCounts {
    /// Lines that the prefetcher brought in.
    pub issued: u64,
    /// Lines first used after their arrival.
    pub useful: u64,
    /// Lines first used while still in flight: part of the latency was saved.
    pub late: u64,
    /// Lines evicted or invalidated before any use.
    pub useless: u64,
    /// Lines refilled for a demand that the prefetcher had not predicted.
    pub missed: u64,
}

impl PrefetchCounts {
    /// Returns the number of used prefetched lines.
    pub fn used(&self) -> u64 {
        self.useful + self.late
    }

    /// Returns the used share of the prefetched lines with a known outcome; `None` without such
    /// lines.
    pub fn accuracy(&self) -> Option<f64> {
        share(self.used(), self.used() + self.useless)
    }

    /// Returns the share of the needed lines that the prefetcher had requested; `None` without any.
    pub fn coverage(&self) -> Option<f64> {
        share(self.used(), self.used() + self.missed)
    }

    /// Returns the difference to the earlier counts `before`.
    #[must_use]
    pub fn since(&self, before: &PrefetchCounts) -> PrefetchCounts {
        self.combined(before, |now, before| now - before)
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn plus(&self, other: &PrefetchCounts) -> PrefetchCounts {
        self.combined(other, |one, other| one + other)
    }

    /// Returns each count changed by the same function.
    fn map(&self, change: impl Fn(u64) -> u64) -> PrefetchCounts {
        self.combined(self, |one, _| change(one))
    }

    fn combined(&self, other: &PrefetchCounts, f: impl Fn(u64, u64) -> u64) -> PrefetchCounts {
        PrefetchCounts {
            issued: f(self.issued, other.issued),
            useful: f(self.useful, other.useful),
            late: f(self.late, other.late),
            useless: f(self.useless, other.useless),
            missed: f(self.missed, other.missed),
        }
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Statistics of the prefetchers of one core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrefetchStats {
    /// Stride and stream prefetcher of the L1 D-cache. A use is a load, a store or an atomic.
    pub l1d: PrefetchCounts,
    /// Next-line prefetcher of the L1 I-cache. A use is a fetch.
    pub l1i: PrefetchCounts,
    /// Prefetchers of the L2. A use is any request to the L2, including those of the L1
    /// prefetchers.
    pub l2: PrefetchCounts,
}

impl PrefetchStats {
    /// Returns the difference to the earlier counts `before`.
    #[must_use]
    pub fn since(&self, before: &PrefetchStats) -> PrefetchStats {
        PrefetchStats {
            l1d: self.l1d.since(&before.l1d),
            l1i: self.l1i.since(&before.l1i),
            l2: self.l2.since(&before.l2),
        }
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn plus(&self, other: &PrefetchStats) -> PrefetchStats {
        PrefetchStats {
            l1d: self.l1d.plus(&other.l1d),
            l1i: self.l1i.plus(&other.l1i),
            l2: self.l2.plus(&other.l2),
        }
    }

    /// Returns each count changed by the same function.
    #[must_use]
    pub fn map(&self, change: impl Fn(u64) -> u64) -> PrefetchStats {
        let [l1d, l1i, l2] = [self.l1d, self.l1i, self.l2].map(|counts| counts.map(&change));
        PrefetchStats { l1d, l1i, l2 }
    }

    /// Returns the counts of each prefetcher with the name that reports print.
    pub fn named(&self) -> [(&'static str, PrefetchCounts); 3] {
        [("L1D", self.l1d), ("L1I", self.l1i), ("L2", self.l2)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_no_lines_is_unknown() {
        let mut counts = PrefetchCounts::default();
        assert_eq!((counts.accuracy(), counts.coverage()), (None, None));
        counts.missed = 1;
        assert_eq!((counts.accuracy(), counts.coverage()), (None, Some(0.0)));
    }
}
