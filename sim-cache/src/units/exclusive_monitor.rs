//! The exclusive monitor of one core: the line that its last load-exclusive marked.
//!
//! Arm architecture, load-exclusive and store-exclusive; the granule is the 64-byte line (PMU guide
//! 3.2.6). Another agent that takes the line away clears the mark; an eviction by the core itself
//! does not.

use sim_core::LineAddr;

/// Monitor of at most one marked line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExclusiveMonitor {
    marked: Option<LineAddr>,
    /// Line of the last store-exclusive that succeeded.
    stored: Option<LineAddr>,
    /// Set if another agent has since taken the line of `stored` away.
    is_contended: bool,
}

impl ExclusiveMonitor {
    /// Marks the line of a load-exclusive, replacing an earlier mark.
    pub(crate) fn mark(&mut self, line: LineAddr) {
        self.marked = Some(line);
    }

    /// Clears the mark, for a store-exclusive or `CLREX`.
    pub(crate) fn clear(&mut self) {
        self.marked = None;
    }

    /// Records that another agent takes a line away.
    pub(crate) fn lose(&mut self, line: LineAddr) {
        if self.marked == Some(line) {
            self.marked = None;
        }
        self.is_contended |= self.stored == Some(line);
    }

    /// Records a successful store-exclusive. Returns whether another agent took its line since the
    /// previous one.
    pub(crate) fn store(&mut self, line: LineAddr) -> bool {
        let is_contended = self.is_contended && self.stored == Some(line);
        *self = ExclusiveMonitor { marked: None, stored: Some(line), is_contended: false };
        is_contended
    }

    /// Returns whether a store-exclusive to this line would succeed. Has no side effects.
    pub(crate) fn holds(self, line: LineAddr) -> bool {
        self.marked == Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_marked_line_is_held_until_it_is_lost_or_cleared() {
        let (line, other) = (LineAddr(5), LineAddr(6));
        let mut monitor = ExclusiveMonitor::default();
        assert!(!monitor.holds(line));
        monitor.mark(line);
        monitor.lose(other);
        assert!(monitor.holds(line) && !monitor.holds(other));
        monitor.lose(line);
        assert!(!monitor.holds(line));
        monitor.mark(other);
        monitor.clear();
        assert_eq!(monitor, ExclusiveMonitor::default());
    }

    #[test]
    fn a_line_that_another_agent_had_between_two_stores_is_contended() {
        let (line, other) = (LineAddr(5), LineAddr(6));
        let mut monitor = ExclusiveMonitor::default();
        monitor.lose(line);
        assert!(!monitor.store(line), "the first one");
        assert!(!monitor.store(line));
        monitor.lose(other);
        assert!(!monitor.store(line));
        monitor.lose(line);
        monitor.mark(line);
        assert!(monitor.store(line));
        assert!(!monitor.store(line));
    }

    #[test]
    fn a_store_to_another_line_than_the_contended_one_is_not_contended() {
        let (line, other) = (LineAddr(5), LineAddr(6));
        let mut monitor = ExclusiveMonitor::default();
        monitor.store(line);
        monitor.lose(line);
        assert!(!monitor.store(other));
        assert!(!monitor.store(line), "the last one was to another line");
    }
}
