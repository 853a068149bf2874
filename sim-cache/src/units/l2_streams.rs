//! The streams that the L2's prefetcher follows, one for each page of its last requests.
//!
//! Streams use physical addresses and therefore end with their page, unless the following page is
//! named.

use sim_core::{LineAddr, StateVisitor, Stored, WarmState};

use crate::config::PrefetchConfig;
use crate::units::prefetch::LINES;

/// Longest step of a stream, in lines.
const STEP_MAX: i64 = 4;
/// Reorder window: a request at most this many lines before the newest one starts no new stream.
const REORDER_MAX: u64 = 16;
/// Equal steps that start a stream.
const STEPS_TO_START: u32 = 2;

/// Stream of one page.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// Page number plus one; 0 for an unused entry.
    key: u64,
    /// Line of the stream that was reached last.
    last: u64,
    /// Lines from one request to the next; 0 when the last two were too far apart.
    step: i64,
    /// Consecutive repetitions of this step, up to [`STEPS_TO_START`].
    repeats: u32,
    /// Steps after `last` that were already requested.
    ahead: u64,
    /// Number of the page that follows in virtual addresses, plus one; 0 if unknown.
    next_key: u64,
}

impl Stream {
    fn runs(&self) -> bool {
        self.repeats == STEPS_TO_START
    }

    /// Trains the stream with a request of its page. Returns whether the stream starts or
    /// continues.
    fn observe(&mut self, line: u64, distance: u64) -> bool {
        let moved = line.wrapping_sub(self.last) as i64;
        if moved == 0 || self.runs() && self.is_reordered(moved) {
            return false;
        }
        if self.runs() && self.is_ahead(moved, distance) {
            self.ahead = self.ahead.saturating_sub((moved / self.step) as u64);
            self.last = line;
            return true;
        }
        let step = if moved.abs() <= STEP_MAX { moved } else { 0 };
        let repeats = match (step, step == self.step) {
            (0, _) => 0,
            (_, true) => STEPS_TO_START.min(self.repeats + 1),
            (_, false) => 1,
        };
        *self = Stream { key: self.key, last: line, step, repeats, ahead: 0, next_key: 0 };
        self.runs()
    }

    /// Returns the next line to request, in any page.
    fn following_line(&self) -> Option<u64> {
        self.last.checked_add_signed(self.step * (self.ahead as i64 + 1))
    }

    /// Returns the physical line of a following line, in this page or in the named next page, if
    /// known.
    fn physical_line(&self, line: u64, page_lines_shift: u32) -> Option<u64> {
        if (line >> page_lines_shift) + 1 == self.key {
            return Some(line);
        }
        let next = self.next_key.checked_sub(1)?;
        Some(((next << page_lines_shift) + line % (1 << page_lines_shift)) & LINES)
    }

    /// Returns this stream as a stream of the following page. Its last line keeps its distance from
    /// the start of that page.
    fn in_next_page(&self, page_lines_shift: u32) -> Stream {
        let page_lines = 1_u64 << page_lines_shift;
        let first = (self.next_key - 1) << page_lines_shift;
        let last = first.wrapping_add(self.last % page_lines);
        let last = if self.step > 0 {
            last.wrapping_sub(page_lines)
        } else {
            last.wrapping_add(page_lines)
        };
        Stream { key: self.next_key, last, next_key: 0, ..*self }
    }

    fn is_reordered(&self, moved: i64) -> bool {
        moved.signum() != self.step.signum() && moved.unsigned_abs() <= REORDER_MAX
    }

    fn is_ahead(&self, moved: i64, distance: u64) -> bool {
        moved % self.step == 0
            && moved.signum() == self.step.signum()
            && moved.unsigned_abs() <= distance
    }
}

/// Streams of the last requested pages, most recent first.
#[derive(Clone, Debug)]
pub(crate) struct L2Streams {
    streams: Box<[Stream]>,
    distance: u64,
}

impl L2Streams {
    /// Creates untrained streams.
    pub(crate) fn new(config: &PrefetchConfig) -> L2Streams {
        L2Streams {
            streams: vec![Stream::default(); config.l2_table_entries as usize].into(),
            distance: config.l2_distance_lines.into(),
        }
    }

    /// Trains with a request. Returns whether the stream of its page starts or continues. An
    /// unknown page replaces the least recently requested one.
    ///
    /// Two equal steps in a row, of at most [`STEP_MAX`] lines, start a stream. A later request
    /// advances it if it is whole steps ahead and within the distance. A request at most
    /// [`REORDER_MAX`] lines before the newest one changes nothing; any other request restarts the
    /// training.
    pub(crate) fn observe(&mut self, line: u64, page_lines_shift: u32) -> bool {
        let key = (line >> page_lines_shift) + 1;
        let known = self.streams.iter().position(|stream| stream.key == key);
        let continued = || self.streams.iter().position(|stream| stream.next_key == key);
        let (known, is_continued) = match known {
            Some(_) => (known, false),
            None => (continued(), true),
        };
        let index = known.unwrap_or(self.streams.len() - 1);
        self.streams[..=index].rotate_right(1);
        if known.is_some() && is_continued {
            self.streams[0] = self.streams[0].in_next_page(page_lines_shift);
        }
        if known.is_none() {
            self.streams[0] = Stream { key, last: line, ..Stream::default() };
            return false;
        }
        self.streams[0].observe(line, self.distance)
    }

    /// Returns the next unrequested line of the most recent stream, within the distance and within
    /// its page or the named next page. Marks the line as requested.
    pub(crate) fn next_line(&mut self, page_lines_shift: u32) -> Option<LineAddr> {
        let stream = &mut self.streams[0];
        let reach = (stream.ahead + 1) * stream.step.unsigned_abs();
        if reach > self.distance {
            return None;
        }
        let line = stream.physical_line(stream.following_line()?, page_lines_shift)?;
        stream.ahead += 1;
        Some(LineAddr(line))
    }

    /// Returns the step of the stream of this line's page, if it has reached the end of the page
    /// and the following page is unknown.
    pub(crate) fn lacks_next_page(&self, line: LineAddr, page_lines_shift: u32) -> Option<i64> {
        let key = (line.0 >> page_lines_shift) + 1;
        let stream = self.streams.iter().find(|stream| stream.key == key)?;
        let is_at_end =
            || stream.following_line().is_none_or(|line| (line >> page_lines_shift) + 1 != key);
        (stream.runs() && stream.next_key == 0 && is_at_end()).then_some(stream.step)
    }

    /// Names the page that follows the page of `line`.
    pub(crate) fn name_next_page(&mut self, line: LineAddr, next: LineAddr, page_lines_shift: u32) {
        let key_of = |line: LineAddr| (line.0 >> page_lines_shift) + 1;
        if let Some(stream) = self.streams.iter_mut().find(|stream| stream.key == key_of(line)) {
            stream.next_key = key_of(next);
        }
    }
}

impl Stored for Stream {
    const WORDS: usize = 6;

    fn store(self, words: &mut [u64]) {
        words[0] = self.key;
        words[1] = self.last;
        words[2] = self.step.cast_unsigned();
        words[3] = self.repeats.into();
        words[4] = self.ahead;
        words[5] = self.next_key;
    }

    fn load(words: &[u64]) -> Stream {
        let step = words[2].cast_signed().clamp(-STEP_MAX, STEP_MAX);
        // A stream without a step does not run.
        let most = if step == 0 { 0 } else { STEPS_TO_START };
        Stream {
            key: words[0],
            last: words[1] & LINES,
            step,
            repeats: (words[3] as u32).min(most),
            ahead: words[4].min(u64::from(u16::MAX)),
            next_key: words[5] & LINES,
        }
    }
}

impl WarmState for L2Streams {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        visitor.words(&mut self.streams);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// log2 of the lines of a page of 4 KiB.
    const SHIFT: u32 = 6;

    fn streams(entries: usize) -> L2Streams {
        L2Streams { streams: vec![Stream::default(); entries].into(), distance: 8 }
    }

    /// Returns the lines that a request leads to.
    fn requested(streams: &mut L2Streams, line: u64) -> Vec<u64> {
        if !streams.observe(line, SHIFT) {
            return Vec::new();
        }
        std::iter::from_fn(|| streams.next_line(SHIFT)).map(|line| line.0).collect()
    }

    #[test]
    fn three_lines_in_equal_steps_start_a_stream_up_or_down() {
        for step in [1, -1, 4, -4_i64] {
            let mut streams = streams(1);
            let line = |i: i64| 0x2020_u64.wrapping_add_signed(i * step);
            assert_eq!(requested(&mut streams, line(0)), []);
            assert_eq!(requested(&mut streams, line(1)), []);
            let ahead: Vec<u64> = (3..).map(line).take((8 / step.abs()) as usize).collect();
            assert_eq!(requested(&mut streams, line(2)), ahead);
            assert_eq!(requested(&mut streams, line(3)), [line(3 + 8 / step.abs())]);
        }
    }

    #[test]
    fn a_stream_ends_with_its_page() {
        let mut streams = streams(2);
        for line in [57, 58] {
            assert_eq!(requested(&mut streams, line), []);
        }
        assert_eq!(requested(&mut streams, 59), [60, 61, 62, 63]);
        assert_eq!(requested(&mut streams, 60), []);
        assert_eq!(requested(&mut streams, 64), [], "a page of its own");
        for line in [2, 1] {
            assert_eq!(requested(&mut streams, line), []);
        }
        assert_eq!(requested(&mut streams, 0), [], "nothing lies before the first line");
    }

    #[test]
    fn reordered_or_skipped_requests_do_not_end_a_stream_but_a_jump_does() {
        let mut streams = streams(1);
        for line in 0..3 {
            requested(&mut streams, line);
        }
        assert_eq!(requested(&mut streams, 5), [11, 12, 13], "3 to 10 were requested");
        assert_eq!(requested(&mut streams, 4), [], "late");
        assert_eq!(requested(&mut streams, 6), [14]);
        assert_eq!(requested(&mut streams, 40), [], "a jump");
        assert_eq!(requested(&mut streams, 41), []);
        assert_eq!(requested(&mut streams, 42), [43, 44, 45, 46, 47, 48, 49, 50]);
    }

    #[test]
    fn the_least_recently_requested_page_is_replaced() {
        let (a, b, c) = (0, 64, 128);
        let mut streams = streams(2);
        for line in [a, b, a + 1, c] {
            requested(&mut streams, line);
        }
        assert_eq!(requested(&mut streams, a + 2).len(), 8, "a was requested after b");
        for line in [b + 1, b + 2] {
            assert_eq!(requested(&mut streams, line), [], "b was replaced");
        }
    }

    #[test]
    fn long_and_changing_steps_start_nothing() {
        for lines in [[0, 5, 10, 15], [0, 1, 3, 4], [0, 1, 0, 1]] {
            let mut streams = streams(1);
            for line in lines {
                assert_eq!(requested(&mut streams, line), [], "{lines:?}");
            }
        }
    }

    #[test]
    fn a_saved_stream_continues_and_one_without_a_step_does_not() {
        let stream =
            Stream { key: 9, last: 5, step: 2, repeats: STEPS_TO_START, ahead: 3, next_key: 4 };
        let mut words = [0; Stream::WORDS];
        stream.store(&mut words);
        assert!(Stream::load(&words).runs());
        words[2] = 0;
        assert!(!Stream::load(&words).runs());
    }
}
