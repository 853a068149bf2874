//! Read-allocate mode of a core: store misses of a stream go out without linefill. TRM 6.2.5.
//!
//! The mode begins when whole lines are written, one after the other, before their linefills are
//! complete. It ends with a written burst that is less than a line, or a load of the line being
//! written. Assumed: the next line of a stream is the one after or before the last.

use super::store_buffer::LineBytes;

/// Lines in flight whose stored bytes are known.
const FILLS: usize = 8;

/// Line in flight with the bytes that stores have written.
#[derive(Clone, Copy, Debug)]
struct Fill {
    bytes: LineBytes,
    ready: u64,
}

/// Detector of streams, and the line being gathered in the mode.
#[derive(Clone, Debug)]
pub(crate) struct ReadAllocate {
    l1_lines: u32,
    l2_lines: u32,
    fills: [Fill; FILLS],
    next: usize,
    /// Line of the last stores to a line in flight.
    current: usize,
    /// Whole lines in sequence before the current one.
    consecutive: u32,
    /// Cycle in which the mode began, while it lasts.
    entered: Option<u64>,
    /// Bytes gathered for the line being written.
    gathered: Option<LineBytes>,
}

impl ReadAllocate {
    /// Creates a detector. The mode begins with line number `l1_lines` of a stream; from line
    /// `l2_lines` on, lines do not enter the L2 cache either. Zero is never.
    pub(crate) fn new(l1_lines: u32, l2_lines: u32) -> ReadAllocate {
        let none = Fill { bytes: LineBytes { line: u64::MAX, mask: 0 }, ready: 0 };
        ReadAllocate {
            l1_lines,
            l2_lines,
            fills: [none; FILLS],
            next: 0,
            current: 0,
            consecutive: 0,
            entered: None,
            gathered: None,
        }
    }

    /// Returns whether the mode lasts.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.entered.is_some()
    }

    /// Records that a store goes to a line that is missing, or in flight without stored bytes.
    /// Returns whether the mode begins with it.
    pub(crate) fn begin_line(&mut self, line: u64, at: u64) -> bool {
        if self.is_on() {
            return false;
        }
        let last = self.fills[self.current].bytes;
        let is_next = last.is_whole() && last.line.abs_diff(line) == 1;
        self.consecutive = if is_next { self.consecutive.saturating_add(1) } else { 0 };
        let begins = self.l1_lines > 0 && self.consecutive.saturating_add(1) >= self.l1_lines;
        if begins {
            self.entered = Some(at);
        }
        begins
    }

    /// Records the linefill of a line with the first stored bytes.
    pub(crate) fn add_fill(&mut self, bytes: LineBytes, ready: u64) {
        self.current = self.next;
        self.next = (self.next + 1) % FILLS;
        self.fills[self.current] = Fill { bytes, ready };
    }

    /// Adds stored bytes to a line in flight at `at`. Returns false if it has none so far.
    pub(crate) fn add_bytes(&mut self, bytes: LineBytes, at: u64) -> bool {
        let held = self.fills.iter().position(|f| f.bytes.line == bytes.line && f.ready > at);
        let Some(index) = held else { return false };
        self.fills[index].bytes.mask |= bytes.mask;
        self.current = index;
        true
    }

    /// Returns whether stored bytes of a line in flight at `at` serve a load.
    pub(crate) fn forwards(&self, bytes: LineBytes, at: u64) -> bool {
        self.fills.iter().any(|fill| fill.ready > at && fill.bytes.covers(bytes))
    }

    /// Returns the cycle in which every linefill of a store is complete.
    pub(crate) fn filled_at(&self) -> u64 {
        self.fills.iter().map(|fill| fill.ready).max().unwrap_or(0)
    }

    /// Gathers bytes of a store miss in the mode. Returns the bytes if the line is whole. The
    /// caller first takes what is gathered of another line.
    pub(crate) fn gather(&mut self, bytes: LineBytes) -> Option<LineBytes> {
        let before = self.gathered.filter(|own| own.line == bytes.line).map_or(0, |own| own.mask);
        let all = LineBytes { line: bytes.line, mask: before | bytes.mask };
        if all.is_whole() {
            self.gathered = None;
            self.consecutive = self.consecutive.saturating_add(1);
            return Some(all);
        }
        self.gathered = Some(all);
        None
    }

    /// Returns the line being written.
    #[inline]
    pub(crate) fn gathered_line(&self) -> Option<u64> {
        self.gathered.map(|own| own.line)
    }

    /// Takes the bytes gathered so far.
    pub(crate) fn take_gathered(&mut self) -> Option<LineBytes> {
        self.gathered.take()
    }

    /// Returns whether the whole line just gathered passes the L2 cache by.
    pub(crate) fn passes_l2(&self) -> bool {
        self.l2_lines > 0 && self.consecutive >= self.l2_lines
    }

    /// Ends the mode. Returns the cycles that it lasted until `at`.
    pub(crate) fn end(&mut self, at: u64) -> u64 {
        self.consecutive = 0;
        self.entered.take().map_or(0, |from| at.saturating_sub(from))
    }
}

#[cfg(test)]
mod tests {
    use super::{LineBytes, ReadAllocate};

    fn write(mode: &mut ReadAllocate, line: u64, mask: u64) -> bool {
        let begins = mode.begin_line(line, 100);
        mode.add_fill(LineBytes { line, mask }, 200);
        begins
    }

    #[test]
    fn the_mode_begins_with_the_fourth_line_in_sequence() {
        let mut mode = ReadAllocate::new(4, 128);
        let lines = [10, 11, 12, 20, 21, 22, 23];
        let begins = lines.map(|line| write(&mut mode, line, u64::MAX));
        assert_eq!(begins, [false, false, false, false, false, false, true]);
        assert_eq!((mode.end(150), mode.end(160)), (50, 0));
    }

    #[test]
    fn a_line_with_missing_bytes_breaks_the_sequence() {
        let mut mode = ReadAllocate::new(3, 0);
        let begins = [(1, u64::MAX), (2, 1), (3, u64::MAX), (4, u64::MAX), (5, u64::MAX)]
            .map(|(line, mask)| write(&mut mode, line, mask));
        assert_eq!(begins, [false, false, false, false, true]);
        assert!(!mode.passes_l2());
    }
}
