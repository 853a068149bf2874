//! Cycles in which at least one L2 miss was outstanding outside the core (`STALL_BACKEND_MEM`).

use sim_core::Cycle;

/// Number of intervals kept; older ones are dropped.
const KEPT: usize = 128;

/// Short sorted list of disjoint intervals `from..to`.
#[derive(Clone, Debug)]
pub(crate) struct MissIntervals {
    spans: [(Cycle, Cycle); KEPT],
    len: usize,
}

impl MissIntervals {
    /// Creates an empty list.
    pub(crate) fn new() -> MissIntervals {
        MissIntervals { spans: [(0, 0); KEPT], len: 0 }
    }

    /// Adds a miss that was outstanding in `from..to`, merging overlapping and adjacent intervals.
    pub(crate) fn add(&mut self, from: Cycle, to: Cycle) {
        let (mut from, mut to) = (from, to);
        let spans = &self.spans[..self.len];
        // New misses are near the end of the list, so the search starts there.
        let end = spans.iter().rposition(|s| s.0 <= to).map_or(0, |i| i + 1);
        let begin = spans[..end].iter().rposition(|s| s.1 < from).map_or(0, |i| i + 1);
        if begin < end {
            from = from.min(spans[begin].0);
            to = to.max(spans[end - 1].1);
            self.spans.copy_within(end..self.len, begin + 1);
            self.len -= end - begin - 1;
            self.spans[begin] = (from, to);
        } else {
            self.insert(begin, (from, to));
        }
    }

    fn insert(&mut self, at: usize, span: (Cycle, Cycle)) {
        let mut at = at;
        if self.len == KEPT {
            if at == 0 {
                return;
            }
            // Half is dropped at once, so that a full list does not move with every miss.
            self.spans.copy_within(KEPT / 2.., 0);
            self.len = KEPT / 2;
            at = at.saturating_sub(KEPT / 2);
        }
        self.spans.copy_within(at..self.len, at + 1);
        self.spans[at] = span;
        self.len += 1;
    }

    /// Returns the cycles of `from..to` inside any interval. Has no side effects.
    pub(crate) fn overlap(&self, from: Cycle, to: Cycle) -> u64 {
        let later = self.spans[..self.len].iter().rev().skip_while(|s| s.0 >= to);
        later.take_while(|s| s.1 > from).map(|s| s.1.min(to).saturating_sub(s.0.max(from))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::MissIntervals;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn intervals_cover_what_a_set_of_cycles_covers(
            misses in prop::collection::vec((0u64..500, 1u64..40), 1..60),
            from in 0u64..500, length in 0u64..200,
        ) {
            let mut pending = MissIntervals::new();
            let mut cycles = std::collections::BTreeSet::new();
            for (start, latency) in misses {
                pending.add(start, start + latency);
                cycles.extend(start..start + latency);
            }
            let expected = cycles.range(from..from + length).count() as u64;
            prop_assert_eq!(pending.overlap(from, from + length), expected);
        }
    }

    #[test]
    fn a_full_list_forgets_the_oldest() {
        let mut pending = MissIntervals::new();
        for i in 0..1000u64 {
            pending.add(i * 10, i * 10 + 5);
        }
        assert_eq!(pending.overlap(9900, 10_000), 50);
        assert_eq!(pending.overlap(0, 100), 0);
    }
}
