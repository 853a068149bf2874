//! The L1 data prefetcher: strides by program counter, streams by page. PMU guide 4.2.1.
//!
//! The prefetcher trains on the line addresses of L1 misses and of first uses of prefetched lines.
//! A hit on an ordinary line therefore costs nothing. Not modeled: the spatial and temporal engines
//! of the N2.

use sim_core::{LINE_SHIFT, StateVisitor, Stored, WarmState};

use crate::config::PrefetchConfig;

/// log2 of the lines of the region in which a stream is recognized (4 KiB).
const REGION_SHIFT: u32 = 6;
/// Longest stride followed, in lines.
const STRIDE_MAX: i64 = 64;
/// Longest step of a stream without a common program counter, in lines.
const STREAM_STEP_MAX: i64 = 2;

/// Lines to prefetch: `first`, `first + stride` and so on, `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrefetchRun {
    /// First virtual line number.
    pub(crate) first: u64,
    /// Step in lines.
    pub(crate) stride: i64,
    /// Number of lines.
    pub(crate) count: u32,
}

/// Stride or stream that is followed.
#[derive(Clone, Copy, Debug, Default)]
struct Track {
    /// Program counter or region, plus one; 0 for an unused track.
    key: u64,
    last: u64,
    stride: i64,
    /// Repetitions of the stride.
    confidence: u32,
    /// Lines ahead of `last` that were already requested.
    ahead: u32,
}

/// Tracks by key; the oldest is replaced.
#[derive(Clone, Debug)]
struct TrackTable {
    tracks: Box<[Track]>,
    next: usize,
    step_max: i64,
}

impl TrackTable {
    fn new(entries: u32, step_max: i64) -> TrackTable {
        let tracks = vec![Track::default(); entries as usize].into_boxed_slice();
        TrackTable { tracks, next: 0, step_max }
    }

    /// Trains with one miss. Returns the track if the stride repeated: the track may then prefetch.
    fn train(&mut self, key: u64, line: u64) -> Option<&mut Track> {
        let Some(known) = self.tracks.iter().position(|t| t.key == key + 1) else {
            self.tracks[self.next] = Track { key: key + 1, last: line, ..Track::default() };
            self.next = (self.next + 1) % self.tracks.len();
            return None;
        };
        let track = &mut self.tracks[known];
        let step = line.wrapping_sub(track.last) as i64;
        if step == 0 {
            return None;
        }
        track.last = line;
        if step == track.stride {
            track.confidence += 1;
            track.ahead = track.ahead.saturating_sub(1);
            return Some(track);
        }
        let stride = if step.abs() <= self.step_max { step } else { 0 };
        *track = Track { stride, confidence: 0, ahead: 0, ..*track };
        None
    }
}

/// L1 data prefetcher.
#[derive(Clone, Debug)]
pub(crate) struct DataPrefetcher {
    strides: TrackTable,
    streams: TrackTable,
    distance: u32,
    degree: u32,
}

impl DataPrefetcher {
    /// Creates an untrained prefetcher.
    pub(crate) fn new(config: &PrefetchConfig) -> DataPrefetcher {
        DataPrefetcher {
            strides: TrackTable::new(config.l1d_table_entries, STRIDE_MAX),
            streams: TrackTable::new(config.l1d_table_entries, STREAM_STEP_MAX),
            distance: config.l1d_distance_lines,
            degree: config.l1d_degree_lines,
        }
    }

    /// Trains with a miss or the first use of a prefetched line. Returns the lines to prefetch.
    pub(crate) fn train(&mut self, pc: u64, line: u64) -> Option<PrefetchRun> {
        let (distance, degree) = (self.distance, self.degree);
        let stride = self.strides.train(pc, line);
        let stream = self.streams.train(line >> REGION_SHIFT, line);
        // A stride of one instruction is more precise than the stream that contains it.
        stride.or(stream).and_then(|track| track.run(distance, degree))
    }
}

/// Streams of stores in physical lines, followed by page alone.
#[derive(Clone, Debug)]
pub(crate) struct StoreStreams {
    streams: TrackTable,
    distance: u32,
}

/// Lines that a store prefetches at once beyond its own; two of them make up for a skipped line.
const STORE_DEGREE: u32 = 2;

impl StoreStreams {
    /// Creates untrained streams.
    pub(crate) fn new(config: &PrefetchConfig) -> StoreStreams {
        let streams = TrackTable::new(config.store_table_entries, STREAM_STEP_MAX);
        StoreStreams { streams, distance: config.store_distance_lines }
    }

    /// Trains with a store whose line is in no L1 set. Returns the lines to prefetch.
    pub(crate) fn train(&mut self, line: u64) -> Option<PrefetchRun> {
        let distance = self.distance;
        let track = self.streams.train(line >> REGION_SHIFT, line)?;
        track.run(distance, STORE_DEGREE)
    }
}

impl Track {
    /// Returns the next lines of the stride, at most `degree`, within the allowed distance.
    fn run(&mut self, distance: u32, degree: u32) -> Option<PrefetchRun> {
        if self.stride == 0 {
            return None;
        }
        // The distance doubles with every repetition, so that a short run wastes little.
        let allowed = distance.min(1 << self.confidence.min(16));
        let count = allowed.saturating_sub(self.ahead).min(degree);
        let first = self.last.wrapping_add_signed(self.stride * i64::from(self.ahead + 1));
        self.ahead += count;
        (count > 0).then_some(PrefetchRun { first, stride: self.stride, count })
    }
}

/// Mask of line numbers: differences of two line numbers fit into a signed number.
pub(crate) const LINES: u64 = u64::MAX >> LINE_SHIFT;
/// Mask of counters from a file: far below the overflow of the counter.
const FAR: u32 = u32::MAX >> 2;

impl Stored for Track {
    const WORDS: usize = 5;

    fn store(self, words: &mut [u64]) {
        words[0] = self.key;
        words[1] = self.last;
        words[2] = self.stride.cast_unsigned();
        words[3] = self.confidence.into();
        words[4] = self.ahead.into();
    }

    fn load(words: &[u64]) -> Track {
        Track {
            key: words[0],
            last: words[1] & LINES,
            stride: words[2].cast_signed().clamp(-STRIDE_MAX, STRIDE_MAX),
            confidence: words[3] as u32 & FAR,
            ahead: words[4] as u32 & FAR,
        }
    }
}

impl WarmState for TrackTable {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        visitor.words(&mut self.tracks);
        let mut next = self.next as u64;
        visitor.one(&mut next);
        self.next = next as usize % self.tracks.len();
    }
}

impl WarmState for DataPrefetcher {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        self.strides.visit(visitor);
        self.streams.visit(visitor);
    }
}

impl WarmState for StoreStreams {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        self.streams.visit(visitor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefetcher() -> DataPrefetcher {
        DataPrefetcher {
            strides: TrackTable::new(4, STRIDE_MAX),
            streams: TrackTable::new(4, STREAM_STEP_MAX),
            distance: 8,
            degree: 2,
        }
    }

    #[test]
    fn three_consecutive_lines_train_it_for_any_program_counter() {
        for same_pc in [true, false] {
            let mut prefetcher = prefetcher();
            let pc = |i: u64| if same_pc { 0x400 } else { 0x400 + 4 * i };
            assert_eq!(prefetcher.train(pc(0), 0x200), None);
            assert_eq!(prefetcher.train(pc(1), 0x201), None);
            let run = prefetcher.train(pc(2), 0x202);
            assert_eq!(run, Some(PrefetchRun { first: 0x203, stride: 1, count: 2 }));
        }
    }

    #[test]
    fn a_backward_stride_is_followed_and_no_line_is_requested_twice() {
        let mut prefetcher = prefetcher();
        let mut asked = Vec::new();
        for i in 0..20u64 {
            if let Some(run) = prefetcher.train(0x400, 10_000 - 5 * i) {
                let step = |k: u32| run.first.wrapping_add_signed(run.stride * i64::from(k));
                asked.extend((0..run.count).map(step));
            }
        }
        let mut expected = asked.clone();
        expected.dedup();
        assert_eq!(asked, expected);
        assert!(asked.windows(2).all(|w| w[0] - w[1] == 5), "{asked:?}");
        assert!(asked.len() > 20, "the distance grows to 8 lines: {asked:?}");
    }

    #[test]
    fn random_lines_train_nothing() {
        let mut prefetcher = prefetcher();
        let runs = (1..200u64).filter_map(|i| prefetcher.train(0x400, i * i * 977 % 65_536));
        assert_eq!(runs.count(), 0);
    }
}
