//! Cause of rename's wait in each cycle, as far back as an operation may have waited in its slot.

use sim_core::{Cycle, InstId, RootCause};

/// Number of segments that are kept. The waits of the five operations in the slots have fewer.
const KEPT: usize = 512;

/// Run of cycles with one root cause, from the end of the previous segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// First cycle after it.
    pub(crate) end: Cycle,
    /// Root cause of the wait.
    pub(crate) root: RootCause,
    /// Static instruction that is the root cause, if one is known.
    pub(crate) owner: Option<InstId>,
}

impl Segment {
    /// Segment of length 0.
    pub(crate) const NONE: Segment = Segment { end: 0, root: RootCause::Latency, owner: None };
}

/// Part of the requested cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Length in cycles.
    pub(crate) cycles: Cycle,
    /// Root cause of the wait.
    pub(crate) root: RootCause,
    /// Static instruction that is the root cause, if one is known.
    pub(crate) owner: Option<InstId>,
}

/// Last segments, oldest first.
#[derive(Clone, Debug)]
pub(crate) struct WaitTimeline {
    segments: Box<[Segment; KEPT]>,
    pushed: usize,
    /// Chain that is being followed, latest segment first.
    chain: Vec<Segment>,
}

impl Default for WaitTimeline {
    fn default() -> WaitTimeline {
        let segments = Box::new([Segment::NONE; KEPT]);
        WaitTimeline { segments, pushed: 0, chain: Vec::new() }
    }
}

impl WaitTimeline {
    /// Adds the cycles from the end of the last segment to that of `segment`, if there are any.
    pub(crate) fn push(&mut self, segment: Segment) {
        let last = &mut self.segments[self.pushed.wrapping_sub(1) % KEPT];
        if segment.end <= last.end {
            return;
        }
        if self.pushed > 0 && last.root == segment.root && last.owner == segment.owner {
            last.end = segment.end;
            return;
        }
        self.segments[self.pushed % KEPT] = segment;
        self.pushed += 1;
    }

    /// Returns whether nothing was added. All cycles then have the root cause latency.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.pushed == 0
    }

    /// Returns the root cause of the last segment.
    pub(crate) fn last(&self) -> (RootCause, Option<InstId>) {
        let last = &self.segments[self.pushed.wrapping_sub(1) % KEPT];
        (last.root, last.owner)
    }

    /// Returns the cleared buffer for a chain, latest segment first.
    pub(crate) fn chain(&mut self) -> &mut Vec<Segment> {
        self.chain.clear();
        &mut self.chain
    }

    /// Adds the chain.
    pub(crate) fn take_chain(&mut self) {
        while let Some(segment) = self.chain.pop() {
            self.push(segment);
        }
    }

    /// Returns the cycles from `from` to `end` by root cause. Cycles without a segment have the
    /// root cause latency.
    pub(crate) fn over(&self, from: Cycle, end: Cycle) -> impl Iterator<Item = Part> + '_ {
        let mut at = self.pushed;
        while at > self.pushed.saturating_sub(KEPT) && self.segments[(at - 1) % KEPT].end > from {
            at -= 1;
        }
        let mut from = from;
        std::iter::from_fn(move || {
            if from >= end {
                return None;
            }
            let segment = match at < self.pushed {
                true => self.segments[at % KEPT],
                false => Segment { end, ..Segment::NONE },
            };
            at += 1;
            let until = segment.end.min(end);
            let cycles = until - from;
            from = until;
            Some(Part { cycles, root: segment.root, owner: segment.owner })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_split_at_the_ends_of_segments() {
        let mut waits = WaitTimeline::default();
        for (end, root) in
            [(10, RootCause::Pipe), (50, RootCause::LoadDram), (60, RootCause::Latency)]
        {
            waits.push(Segment { end, root, owner: Some(1) });
        }
        let over =
            |from, end| waits.over(from, end).map(|p| (p.cycles, p.root)).collect::<Vec<_>>();
        assert_eq!(
            over(8, 52),
            [(2, RootCause::Pipe), (40, RootCause::LoadDram), (2, RootCause::Latency)]
        );
        assert_eq!(over(20, 21), [(1, RootCause::LoadDram)]);
        assert_eq!(over(58, 63), [(2, RootCause::Latency), (3, RootCause::Latency)]);
        assert_eq!(over(5, 5), []);
    }

    #[test]
    fn only_the_last_segments_are_kept() {
        let mut waits = WaitTimeline::default();
        for end in 1..=1400 {
            waits.push(Segment { end, root: RootCause::Pipe, owner: Some(end as InstId) });
        }
        let owners: Vec<_> = waits.over(1398, 1400).map(|part| part.owner).collect();
        assert_eq!(owners, [Some(1399), Some(1400)]);
        assert_eq!(waits.over(0, 1400).map(|part| part.cycles).sum::<Cycle>(), 1400);
    }
}
