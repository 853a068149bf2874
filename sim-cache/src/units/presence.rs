//! Numbers of the lines of an array, by the low bits of their addresses. Most searches for a line
//! that is absent end here, without reading the sets that could hold it.

use sim_core::LineAddr;

/// Number of counters; several times the lines of an L1 cache, so that few lines share one.
const COUNTERS: usize = 4096;

/// Counters of lines; none if the array does not count its lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Presence {
    counters: Box<[u16]>,
}

impl Presence {
    /// Creates counters for an empty array.
    pub(crate) fn counting() -> Presence {
        Presence { counters: vec![0; COUNTERS].into_boxed_slice() }
    }

    /// Returns false if the line is absent. True says nothing.
    #[inline(always)]
    pub(crate) fn may_have(&self, line: LineAddr) -> bool {
        self.counters.get(line.0 as usize % COUNTERS).is_none_or(|count| *count > 0)
    }

    /// Records a line that enters the array.
    #[inline]
    pub(crate) fn enters(&mut self, line: LineAddr) {
        if let Some(count) = self.counters.get_mut(line.0 as usize % COUNTERS) {
            *count = count.saturating_add(1);
        }
    }

    /// Records a line that leaves the array. A counter that reached its limit stays there.
    #[inline]
    pub(crate) fn leaves(&mut self, line: LineAddr) {
        if let Some(count) = self.counters.get_mut(line.0 as usize % COUNTERS)
            && *count < u16::MAX
        {
            *count -= 1;
        }
    }

    /// Counts all lines of the array again.
    pub(crate) fn recount(&mut self, lines: impl Iterator<Item = LineAddr>) {
        if self.counters.is_empty() {
            return;
        }
        self.counters.fill(0);
        lines.for_each(|line| self.enters(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_absent_only_after_all_lines_of_its_counter_have_left() {
        let (line, other) = (LineAddr(7), LineAddr(7 + COUNTERS as u64));
        let mut presence = Presence::counting();
        assert!(!presence.may_have(line));
        presence.enters(line);
        presence.enters(other);
        presence.leaves(line);
        assert!(presence.may_have(line));
        presence.leaves(other);
        assert!(!presence.may_have(line) && Presence::default().may_have(line));
        presence.recount([other].into_iter());
        assert!(presence.may_have(line));
    }

    #[test]
    fn a_full_counter_never_claims_absence() {
        let mut presence = Presence::counting();
        (0..=u32::from(u16::MAX)).for_each(|_| presence.enters(LineAddr(1)));
        (0..=u32::from(u16::MAX)).for_each(|_| presence.leaves(LineAddr(1)));
        assert!(presence.may_have(LineAddr(1)));
    }
}
