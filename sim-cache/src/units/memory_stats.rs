//! Statistics of the private memory of one core, besides the architected events: refilled lines and
//! their sources, bytes moved, cycles of walks. Events separate demand from prefetch, and data from
//! code, only in some places; these figures always do (PMU guide 4.2 to 4.6, as ground-truth values
//! for formulas).

use sim_core::{AccessOutcome, Cycle, DataSource};

use crate::units::bus::BytesMoved;
use crate::units::request::L2Request;
use crate::units::requester::Requester;

/// Walks of one side and their cycles, each from its start to its last descriptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walks {
    /// Walks of stage 1, including the stage 2 walks that they need.
    pub walks: u64,
    /// Cycles of all walks; each of several parallel walks counts in full.
    pub cycles: u64,
}

/// Totals of one core's private memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// Lines refilled into the L2 for a load, a store or an atomic.
    pub data_lines: u64,
    /// Lines refilled into the L2 for the L1 I-cache, including its prefetcher.
    pub fetch_lines: u64,
    /// Lines refilled into the L2 for a preload instruction.
    pub preload_lines: u64,
    /// Writes of the L2 by stores that stream past the L1 D-cache: whole lines and parts of lines.
    pub streamed_writes: u64,
    /// Lines refilled into the L2, or claimed without a read, for streamed writes. `data_lines`
    /// includes the lines that were read.
    pub streamed_lines: u64,
    /// Streamed lines that were claimed without a read.
    pub claimed_lines: u64,
    /// Lines refilled into the L2 for a hardware prefetcher.
    pub prefetch_lines: u64,
    /// Lines refilled into the L2 for a table walk.
    pub walk_lines: u64,
    /// Refilled lines that the system level cache supplied.
    pub slc_lines: u64,
    /// Refilled lines that another core of the chip supplied.
    pub peer_lines: u64,
    /// Refilled lines that memory supplied.
    pub dram_lines: u64,
    /// Refilled lines from another chip.
    pub remote_lines: u64,
    /// Bytes of data into the core.
    pub read_bytes: u64,
    /// Bytes of data out of the core.
    pub written_bytes: u64,
    /// Walks for loads, stores, preloads and prefetches of data.
    pub data_walks: Walks,
    /// Walks for fetches.
    pub fetch_walks: Walks,
    /// Fetches that waited for a line which missed the L1 I-cache or was in flight.
    pub fetch_waits: u64,
    /// Waiting fetches whose line came from outside the core.
    pub fetch_waits_outside: u64,
    /// Lines refilled into the L2 for the next-line prefetcher of the L1 I-cache, included in
    /// `fetch_lines`.
    pub next_line_lines: u64,
    /// L1 data TLB misses of the data prefetcher, counted like those of accesses.
    pub prefetch_tlb_misses: u64,
    /// Walks of the data prefetcher.
    pub prefetch_walks: u64,
    /// Lookups of the L1 I-cache and its TLB by the next-line prefetcher; events count them as
    /// fetches.
    pub next_line_lookups: u64,
    /// Store-exclusives to a line that another core had taken since the previous one.
    pub contended_exclusives: u64,
}

impl MemoryStats {
    /// Counts a line refilled into the L2.
    pub(crate) fn line(&mut self, request: L2Request, source: DataSource) {
        match request {
            L2Request::Load | L2Request::Atomic | L2Request::Store => self.data_lines += 1,
            L2Request::Fetch => self.fetch_lines += 1,
            L2Request::Preload => self.preload_lines += 1,
            L2Request::L1Prefetch | L2Request::L2Prefetch | L2Request::StorePrefetch => {
                self.prefetch_lines += 1;
            }
            L2Request::Walk => self.walk_lines += 1,
        }
        match source {
            DataSource::Slc => self.slc_lines += 1,
            DataSource::Peer => self.peer_lines += 1,
            DataSource::Remote => self.remote_lines += 1,
            _ => self.dram_lines += 1,
        }
    }

    /// Counts a finished walk.
    pub(crate) fn walk(&mut self, requester: Requester, cycles: Cycle) {
        let walks = if requester == Requester::Fetch {
            &mut self.fetch_walks
        } else {
            &mut self.data_walks
        };
        walks.walks += 1;
        walks.cycles += cycles;
    }

    /// Counts a fetch that waits for a line.
    pub(crate) fn fetch_wait(&mut self, source: DataSource) {
        self.fetch_waits += 1;
        self.fetch_waits_outside += u64::from(source.is_outside());
    }

    /// Counts a translation for the data prefetcher.
    pub(crate) fn prefetch_translation(&mut self, outcome: AccessOutcome) {
        self.prefetch_tlb_misses += u64::from(outcome.has(AccessOutcome::L1_TLB_MISS));
        self.prefetch_walks += u64::from(outcome.has(AccessOutcome::WALK));
    }

    /// Returns the totals with the bytes that the bus port moved.
    pub(crate) fn with_moved(self, moved: BytesMoved) -> MemoryStats {
        MemoryStats { read_bytes: moved.read, written_bytes: moved.written, ..self }
    }

    /// Returns the difference to the earlier totals `before`.
    #[must_use]
    pub fn since(&self, before: &MemoryStats) -> MemoryStats {
        self.combined(before, |now, before| now - before)
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn plus(&self, other: &MemoryStats) -> MemoryStats {
        self.combined(other, |one, other| one + other)
    }

    /// Returns each total changed by the same function.
    #[must_use]
    pub fn map(&self, change: impl Fn(u64) -> u64) -> MemoryStats {
        self.combined(self, |one, _| change(one))
    }

    fn combined(&self, other: &MemoryStats, f: impl Fn(u64, u64) -> u64) -> MemoryStats {
        let walks = |one: Walks, other: Walks| Walks {
            walks: f(one.walks, other.walks),
            cycles: f(one.cycles, other.cycles),
        };
        MemoryStats {
            data_lines: f(self.data_lines, other.data_lines),
            fetch_lines: f(self.fetch_lines, other.fetch_lines),
            preload_lines: f(self.preload_lines, other.preload_lines),
            streamed_writes: f(self.streamed_writes, other.streamed_writes),
            streamed_lines: f(self.streamed_lines, other.streamed_lines),
            claimed_lines: f(self.claimed_lines, other.claimed_lines),
            prefetch_lines: f(self.prefetch_lines, other.prefetch_lines),
            walk_lines: f(self.walk_lines, other.walk_lines),
            slc_lines: f(self.slc_lines, other.slc_lines),
            peer_lines: f(self.peer_lines, other.peer_lines),
            dram_lines: f(self.dram_lines, other.dram_lines),
            remote_lines: f(self.remote_lines, other.remote_lines),
            read_bytes: f(self.read_bytes, other.read_bytes),
            written_bytes: f(self.written_bytes, other.written_bytes),
            data_walks: walks(self.data_walks, other.data_walks),
            fetch_walks: walks(self.fetch_walks, other.fetch_walks),
            fetch_waits: f(self.fetch_waits, other.fetch_waits),
            fetch_waits_outside: f(self.fetch_waits_outside, other.fetch_waits_outside),
            next_line_lines: f(self.next_line_lines, other.next_line_lines),
            prefetch_tlb_misses: f(self.prefetch_tlb_misses, other.prefetch_tlb_misses),
            prefetch_walks: f(self.prefetch_walks, other.prefetch_walks),
            next_line_lookups: f(self.next_line_lookups, other.next_line_lookups),
            contended_exclusives: f(self.contended_exclusives, other.contended_exclusives),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_one_reason_and_one_supplier() {
        let mut stats = MemoryStats::default();
        let requests = [
            L2Request::Load,
            L2Request::Fetch,
            L2Request::Preload,
            L2Request::L1Prefetch,
            L2Request::L2Prefetch,
            L2Request::Walk,
        ];
        let sources = [DataSource::Slc, DataSource::Peer, DataSource::Remote, DataSource::Dram];
        for (request, source) in requests.into_iter().zip(sources.into_iter().cycle()) {
            stats.line(request, source);
        }
        let reasons = [
            stats.data_lines,
            stats.fetch_lines,
            stats.preload_lines,
            stats.prefetch_lines,
            stats.walk_lines,
        ];
        let suppliers = [stats.slc_lines, stats.peer_lines, stats.remote_lines, stats.dram_lines];
        assert_eq!((reasons, suppliers), ([1, 1, 1, 2, 1], [2, 2, 1, 1]));
        assert_eq!(stats.plus(&stats).since(&stats), stats);
    }
}
