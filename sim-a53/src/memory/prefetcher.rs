//! The data prefetcher of a core. TRM 6.6.2.
//!
//! Misses at a fixed stride of up to four lines, up or down, begin a stream; accesses that hit
//! between them do not matter. A stream keeps some lines ahead of the accesses. Assumed: it looks
//! for the stride among the last four misses, it ends with a page of 4 KB, and the first
//! use of a prefetched line continues it.

use super::slots::Slots;

/// Bits of a line number within a page.
const PAGE_LINES_SHIFT: u32 = 6;
/// Misses that can begin a stream. Assumed (2 to 8).
const MISSES: usize = 4;
/// Largest number of streams (CPUACTLR.NPFSTRM).
const STREAMS: usize = 4;

fn same_page(one: u64, other: u64) -> bool {
    one >> PAGE_LINES_SHIFT == other >> PAGE_LINES_SHIFT
}

/// Miss that belongs to no stream.
#[derive(Clone, Copy, Debug, Default)]
struct Miss {
    line: u64,
    /// Lines from the miss before it in the same sequence; 0 for the first.
    stride: i64,
    length: u32,
}

/// Stream of prefetches.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// Line of the last access.
    used: u64,
    /// Line prefetched last.
    head: u64,
    /// Lines between two accesses; 0 for no stream.
    stride: i64,
    /// Time of the last access, for replacement.
    stamp: u64,
}

impl Stream {
    /// Returns the number of strides from the last access up to `line`.
    fn steps_to(&self, line: u64) -> Option<u64> {
        if self.stride == 0 || !same_page(self.used, line) {
            return None;
        }
        let distance = line.wrapping_sub(self.used) as i64;
        let steps = distance / self.stride;
        (steps >= 0 && steps * self.stride == distance).then_some(steps as u64)
    }

    fn steps_ahead(&self) -> u64 {
        self.steps_to(self.head).unwrap_or(0)
    }
}

/// Prefetcher with its buffers.
#[derive(Clone, Debug)]
pub(crate) struct Prefetcher {
    misses: [Miss; MISSES],
    next_miss: usize,
    streams: [Stream; STREAMS],
    stream_count: usize,
    sequence: u32,
    reach: i64,
    depth: u64,
    clock: u64,
    /// Prefetches outstanding.
    pub(crate) buffers: Slots,
}

impl Prefetcher {
    /// Creates a prefetcher without streams.
    pub(crate) fn new(outstanding: u32, streams: u32, sequence: u32, reach: u32) -> Prefetcher {
        Prefetcher {
            misses: [Miss::default(); MISSES],
            next_miss: 0,
            streams: [Stream::default(); STREAMS],
            stream_count: streams.clamp(1, STREAMS as u32) as usize,
            sequence,
            reach: reach.into(),
            depth: outstanding.into(),
            clock: 0,
            buffers: Slots::new(outstanding),
        }
    }

    /// Records an access that misses, or that uses a prefetched line first. Returns the stream to
    /// continue.
    pub(crate) fn access(&mut self, line: u64, is_miss: bool) -> Option<usize> {
        if self.depth == 0 {
            return None;
        }
        self.clock += 1;
        let followed = self.streams.iter().position(|stream| {
            stream.steps_to(line).is_some_and(|steps| steps <= stream.steps_ahead() + 1)
        });
        if let Some(index) = followed {
            let stream = &mut self.streams[index];
            stream.stamp = self.clock;
            let passes = stream.steps_to(line) > stream.steps_to(stream.head);
            stream.head = if passes { line } else { stream.head };
            stream.used = line;
            return Some(index);
        }
        if is_miss { self.record_miss(line) } else { None }
    }

    /// Records a miss of no stream. Returns the stream that it begins.
    fn record_miss(&mut self, line: u64) -> Option<usize> {
        let near = self.misses.iter().position(|miss| {
            let stride = line.wrapping_sub(miss.line) as i64;
            let is_near = stride != 0 && (-self.reach..=self.reach).contains(&stride);
            miss.length > 0
                && same_page(miss.line, line)
                && is_near
                && (miss.stride == 0 || miss.stride == stride)
        });
        let Some(index) = near else {
            self.misses[self.next_miss] = Miss { line, stride: 0, length: 1 };
            self.next_miss = (self.next_miss + 1) % MISSES;
            return None;
        };
        let miss = &mut self.misses[index];
        let stride = line.wrapping_sub(miss.line) as i64;
        *miss = Miss { line, stride, length: miss.length + 1 };
        if miss.length < self.sequence {
            return None;
        }
        *miss = Miss::default();
        let streams = &mut self.streams[..self.stream_count];
        let (index, oldest) = streams.iter_mut().enumerate().min_by_key(|(_, s)| s.stamp)?;
        *oldest = Stream { used: line, head: line, stride, stamp: self.clock };
        Some(index)
    }

    /// Returns the next line that a stream prefetches, unless it is far enough ahead or at the end
    /// of its page.
    pub(crate) fn next_line(&mut self, index: usize) -> Option<u64> {
        let stream = &mut self.streams[index];
        let line = stream.head.wrapping_add_signed(stream.stride);
        if !same_page(line, stream.used) || stream.steps_ahead() >= self.depth {
            return None;
        }
        stream.head = line;
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::Prefetcher;

    fn all(prefetcher: &mut Prefetcher, line: u64) -> Vec<u64> {
        let stream = prefetcher.access(line, true);
        stream
            .into_iter()
            .flat_map(|s| std::iter::from_fn(|| prefetcher.next_line(s)).collect::<Vec<_>>())
            .collect()
    }

    #[test]
    fn two_misses_at_a_stride_begin_a_stream_that_stops_at_the_page() {
        let mut prefetcher = Prefetcher::new(5, 2, 2, 4);
        assert!(all(&mut prefetcher, 40).is_empty());
        assert_eq!(all(&mut prefetcher, 44), [48, 52, 56, 60]);
        let mut prefetcher = Prefetcher::new(5, 2, 2, 4);
        assert!(all(&mut prefetcher, 40).is_empty());
        assert!(all(&mut prefetcher, 45).is_empty());
        assert_eq!(all(&mut prefetcher, 38), [36, 34, 32, 30, 28]);
    }

    #[test]
    fn a_longer_sequence_needs_a_third_miss_at_the_same_stride() {
        let mut prefetcher = Prefetcher::new(2, 2, 3, 4);
        assert!(all(&mut prefetcher, 10).is_empty());
        assert!(all(&mut prefetcher, 11).is_empty());
        assert_eq!(all(&mut prefetcher, 12), [13, 14]);
        assert_eq!(all(&mut prefetcher, 13), [15]);
    }
}
