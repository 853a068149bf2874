//! Write streaming: after several full lines of stores, store misses stop allocating in the L1
//! D-cache.
//!
//! PMU guide 4.2.3 (full-line writes to the L2 without an L1 write), decision A36. Stores merge
//! here per line; a full line goes to the L2 as one write that needs no read.
//!
//! An open line also leaves for a fifth open line, a barrier or store-release, or another access or
//! snoop to it. It also leaves after a time without further stores.

use sim_core::{Cycle, LineAddr, StateVisitor, Stored, WarmState};

use crate::units::replacement::LATEST_STAMP;

/// Lines that are written at the same time.
const OPEN_LINES: usize = 4;

/// Merged line that leaves for the L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Drain {
    /// Address of the line.
    pub(crate) line: LineAddr,
    /// All 64 bytes were written.
    pub(crate) full: bool,
}

/// Line that stores are writing.
#[derive(Clone, Copy, Debug, Default)]
struct OpenLine {
    /// Line address plus one; 0 for none.
    tag: u64,
    /// Bytes written so far, as a mask.
    bytes: u64,
    /// The bytes of the line wait here, because no L1 line holds them.
    held: bool,
    /// Number of lines opened before it.
    opened: u64,
    /// Cycle of the last store to held bytes; 0 if unknown.
    written: Cycle,
}

/// Lines being written, and the run of full lines so far.
#[derive(Clone, Debug)]
pub(crate) struct WriteStreams {
    open: [OpenLine; OPEN_LINES],
    opened: u64,
    full_lines: u32,
    threshold: u32,
    held: u32,
    /// Cycles without a store after which a held line leaves; 0 means never.
    idle_cycles: Cycle,
}

impl WriteStreams {
    /// Creates the streams. `threshold` consecutive full lines start streaming; 0 means never. A
    /// line without new stores for `idle_cycles` leaves; 0 means never.
    pub(crate) fn new(threshold: u32, idle_cycles: u32) -> WriteStreams {
        let open = [OpenLine::default(); OPEN_LINES];
        let idle_cycles = idle_cycles.into();
        WriteStreams { open, opened: 0, full_lines: 0, threshold, held: 0, idle_cycles }
    }

    /// Returns whether the next store miss to a new line is held here.
    #[inline]
    pub(crate) fn is_streaming(&self) -> bool {
        self.threshold > 0 && self.full_lines >= self.threshold
    }

    /// Returns whether a store that misses the L1 is merged here. Has no side effects.
    pub(crate) fn can_hold(&self, line: LineAddr) -> bool {
        let open = self.open.iter().find(|o| o.tag == line.0 + 1);
        open.map_or(self.is_streaming(), |o| o.held)
    }

    /// Returns whether bytes of this line wait here. Has no side effects.
    #[inline]
    pub(crate) fn holds(&self, line: LineAddr) -> bool {
        self.held > 0 && self.open.iter().any(|o| o.held && o.tag == line.0 + 1)
    }

    /// Records a store of `bytes` (a mask) to a line. With `hold`, a new line is held. Returns the
    /// lines that leave: one that made room, and a held line that became full.
    #[inline]
    pub(crate) fn write(&mut self, line: LineAddr, bytes: u64, hold: bool) -> [Option<Drain>; 2] {
        if self.threshold == 0 {
            return [None, None];
        }
        let tag = line.0 + 1;
        let (index, made_room) = match self.open.iter().position(|o| o.tag == tag) {
            Some(known) => (known, None),
            None => self.open_line(tag, hold),
        };
        self.open[index].bytes |= bytes;
        let full = if self.open[index].bytes == u64::MAX { self.close(index) } else { None };
        [made_room, full]
    }

    /// Opens a line in a free entry, or in place of the line opened first.
    fn open_line(&mut self, tag: u64, hold: bool) -> (usize, Option<Drain>) {
        let first = (0..OPEN_LINES).min_by_key(|i| (self.open[*i].tag != 0, self.open[*i].opened));
        let index = first.expect("there is at least one place");
        let made_room = self.close(index);
        self.opened += 1;
        let opened = self.opened;
        self.open[index] = OpenLine { tag, held: hold, opened, ..OpenLine::default() };
        self.held += u32::from(hold);
        (index, made_room)
    }

    /// Removes a held line because another kind of access needs it.
    pub(crate) fn take(&mut self, line: LineAddr) -> Option<Drain> {
        if !self.holds(line) {
            return None;
        }
        let index = self.open.iter().position(|o| o.tag == line.0 + 1)?;
        self.close(index)
    }

    /// Records when bytes were added to a held line.
    pub(crate) fn wrote(&mut self, line: LineAddr, now: Cycle) {
        if let Some(open) = self.open.iter_mut().find(|o| o.held && o.tag == line.0 + 1) {
            open.written = now;
        }
    }

    /// Returns whether bytes of any line wait here.
    #[inline]
    pub(crate) fn holds_any(&self) -> bool {
        self.held > 0
    }

    /// Removes the held line that was opened first.
    pub(crate) fn take_first(&mut self) -> Option<Drain> {
        self.take_if(|_| true)
    }

    /// Removes the first held line without new stores for too long.
    pub(crate) fn take_idle(&mut self, now: Cycle) -> Option<Drain> {
        let idle_cycles = self.idle_cycles;
        if self.held == 0 || idle_cycles == 0 {
            return None;
        }
        for open in self.open.iter_mut().filter(|open| open.held && open.written == 0) {
            open.written = now;
        }
        self.take_if(|open| open.written.saturating_add(idle_cycles) <= now)
    }

    fn take_if(&mut self, leaves: impl Fn(&OpenLine) -> bool) -> Option<Drain> {
        let held = (0..OPEN_LINES).filter(|i| self.open[*i].held && leaves(&self.open[*i]));
        let first = held.min_by_key(|i| self.open[*i].opened)?;
        self.close(first)
    }

    /// Ends the merging of one line. A full one extends the run, a partial one ends it.
    fn close(&mut self, index: usize) -> Option<Drain> {
        let closed = std::mem::take(&mut self.open[index]);
        if closed.tag == 0 {
            return None;
        }
        let full = closed.bytes == u64::MAX;
        self.full_lines = if full { self.full_lines.saturating_add(1) } else { 0 };
        self.held -= u32::from(closed.held);
        closed.held.then_some(Drain { line: LineAddr(closed.tag - 1), full })
    }
}

impl Stored for OpenLine {
    const WORDS: usize = 4;

    fn store(self, words: &mut [u64]) {
        words.copy_from_slice(&[self.tag, self.bytes, self.held.into(), self.opened]);
    }

    fn load(words: &[u64]) -> OpenLine {
        // A free entry holds nothing.
        let held = words[2] & 1 == 1 && words[0] != 0;
        OpenLine { tag: words[0], bytes: words[1], held, opened: words[3], written: 0 }
    }
}

impl WarmState for WriteStreams {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        visitor.words(&mut self.open);
        visitor.one(&mut self.opened);
        visitor.one(&mut self.full_lines);
        self.opened = self.opened.min(LATEST_STAMP);
        self.held = self.open.iter().map(|line| u32::from(line.held)).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(streams: &mut WriteStreams, line: u64, hold: bool) -> Vec<Drain> {
        let parts = [0xFFFF_FFFFu64, 0xFFFF_FFFF << 32];
        let left = parts.map(|bytes| streams.write(LineAddr(line), bytes, hold));
        left.into_iter().flatten().flatten().collect()
    }

    #[test]
    fn full_lines_start_streaming_and_a_partial_line_ends_it() {
        let mut streams = WriteStreams::new(4, 100);
        for line in 0..4 {
            assert!(!streams.is_streaming());
            assert_eq!(fill(&mut streams, line, false), []);
        }
        assert!(streams.is_streaming());
        assert_eq!(fill(&mut streams, 9, true), [Drain { line: LineAddr(9), full: true }]);
        for line in 20..24 {
            assert_eq!(streams.write(LineAddr(line), 0xFF, true), [None, None]);
        }
        assert!(streams.holds(LineAddr(20)));
        let pushed_out = streams.write(LineAddr(30), 0xFF, false);
        assert_eq!(pushed_out, [Some(Drain { line: LineAddr(20), full: false }), None]);
        assert!(!streams.is_streaming());
    }

    #[test]
    fn a_held_line_is_taken_once() {
        let mut streams = WriteStreams::new(1, 100);
        streams.write(LineAddr(5), 1, true);
        assert_eq!(streams.take(LineAddr(5)), Some(Drain { line: LineAddr(5), full: false }));
        assert_eq!(streams.take(LineAddr(5)), None);
    }

    #[test]
    fn a_line_without_new_stores_leaves_after_a_time() {
        let mut streams = WriteStreams::new(1, 100);
        fill(&mut streams, 1, false);
        for (line, now) in [(5, 1000), (6, 1050)] {
            streams.write(LineAddr(line), 1, true);
            streams.wrote(LineAddr(line), now);
        }
        assert_eq!(streams.take_idle(1099), None);
        assert_eq!(streams.take_idle(1100), Some(Drain { line: LineAddr(5), full: false }));
        assert_eq!(streams.take_idle(1100), None);
        assert_eq!(streams.take_first(), Some(Drain { line: LineAddr(6), full: false }));
        assert_eq!(streams.take_first(), None);
        assert!(!streams.holds_any());
    }

    #[test]
    fn a_saved_line_is_held_if_it_was_and_is_not_empty() {
        let held = |words: [u64; 4]| OpenLine::load(&words).held;
        assert_eq!(
            [held([7, 1, 1, 0]), held([7, 1, 0, 0]), held([0, 1, 1, 0])],
            [true, false, false]
        );
    }
}
