//! The exclusive monitor of a core: the line that its last load-exclusive marked. TRM 6.5.1.

/// Line of a load-exclusive.
#[derive(Clone, Copy, Debug)]
struct Mark {
    line: u64,
    /// Cycle in which its linefill was complete, which differs from that of any later one. A line
    /// that was not in the cache has none.
    filled: Option<u64>,
}

/// Monitor of one core.
#[derive(Clone, Debug, Default)]
pub(crate) struct Monitor {
    mark: Option<Mark>,
    /// Store-exclusives that succeeded without a mark.
    lost: u64,
}

impl Monitor {
    /// Marks a line, whose linefill was complete in the cycle `filled` if it is in the cache.
    pub(crate) fn mark(&mut self, line: u64, filled: Option<u64>) {
        self.mark = Some(Mark { line, filled });
    }

    /// Uses the mark up for a store-exclusive that succeeds. `filled` is that of its line now.
    pub(crate) fn store(&mut self, line: u64, filled: Option<u64>) {
        let mark = self.mark.take().filter(|mark| mark.line == line);
        let is_held = mark.is_some_and(|mark| mark.filled.is_none() || mark.filled == filled);
        self.lost += u64::from(!is_held);
    }

    /// Ends the mark.
    pub(crate) fn clear(&mut self) {
        self.mark = None;
    }

    /// Ends the mark of a line.
    pub(crate) fn lose(&mut self, line: u64) {
        self.mark = self.mark.filter(|mark| mark.line != line);
    }

    /// Returns the number of store-exclusives that succeeded without a mark.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }
}
