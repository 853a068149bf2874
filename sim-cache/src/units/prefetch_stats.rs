//! What became of the lines that prefetchers brought in: extra statistics beside the architected
//! events, none of which tells a useful prefetch from a useless one.

/// The prefetched lines of one cache. Each is issued once, then used, or lost, or still there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrefetchCounts {
    /// Lines that the prefetcher brought in.
    pub issued: u64,
    /// First used after they had arrived.
    pub useful: u64,
    /// First used while they were still on their way: part of the latency was saved.
    pub late: u64,
    /// Evicted or invalidated before anything used them.
    pub useless: u64,
    /// Lines that came in because something asked for them that the prefetcher had not foreseen.
    pub missed: u64,
}

impl PrefetchCounts {
    /// Prefetched lines that something used.
    pub fn used(&self) -> u64 {
        self.useful + self.late
    }

    /// Used part of the lines whose fate is known.
    pub fn accuracy(&self) -> Option<f64> {
        share(self.used(), self.used() + self.useless)
    }

    /// Part of the lines needed that the prefetcher had brought in, or had at least asked for.
    pub fn coverage(&self) -> Option<f64> {
        share(self.used(), self.used() + self.missed)
    }

    /// What was counted since `before`.
    #[must_use]
    pub fn since(&self, before: &PrefetchCounts) -> PrefetchCounts {
        self.combined(before, |now, before| now - before)
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &PrefetchCounts) -> PrefetchCounts {
        self.combined(other, |one, other| one + other)
    }

    /// Each count, changed alike.
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

/// The prefetchers of one core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrefetchStats {
    /// Stride and stream prefetcher of the L1 D-cache. A use is a load, a store or an atomic.
    pub l1d: PrefetchCounts,
    /// Next-line prefetcher of the L1 I-cache. A use is a fetch.
    pub l1i: PrefetchCounts,
    /// Prefetchers of the L2. A use is any request to the L2, by a prefetcher of an L1 as well.
    pub l2: PrefetchCounts,
}

impl PrefetchStats {
    /// What was counted since `before`.
    #[must_use]
    pub fn since(&self, before: &PrefetchStats) -> PrefetchStats {
        PrefetchStats {
            l1d: self.l1d.since(&before.l1d),
            l1i: self.l1i.since(&before.l1i),
            l2: self.l2.since(&before.l2),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &PrefetchStats) -> PrefetchStats {
        PrefetchStats {
            l1d: self.l1d.plus(&other.l1d),
            l1i: self.l1i.plus(&other.l1i),
            l2: self.l2.plus(&other.l2),
        }
    }

    /// Each count, changed alike.
    #[must_use]
    pub fn map(&self, change: impl Fn(u64) -> u64) -> PrefetchStats {
        let [l1d, l1i, l2] = [self.l1d, self.l1i, self.l2].map(|counts| counts.map(&change));
        PrefetchStats { l1d, l1i, l2 }
    }

    /// The prefetchers with the names that reports print.
    pub fn named(&self) -> [(&'static str, PrefetchCounts); 3] {
        [("L1D", self.l1d), ("L1I", self.l1i), ("L2", self.l2)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_no_lines_is_not_known() {
        let mut counts = PrefetchCounts::default();
        assert_eq!((counts.accuracy(), counts.coverage()), (None, None));
        counts.missed = 1;
        assert_eq!((counts.accuracy(), counts.coverage()), (None, Some(0.0)));
    }
}
