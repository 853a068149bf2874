//! The store buffer of a core. TRM 2.1.6.
//!
//! Stores enter after commit and merge within an aligned 128 bits. The newest entry is open: it
//! waits for stores to merge with. A store to other bytes, a barrier or some idle cycles close it,
//! and then it leaves for the L1 cache, a linefill or the bus. Assumed: entries leave in order, one
//! in a cycle.

use super::cache::LINE_SHIFT;

/// Bits of an address within an entry: 128 bits (TRM 2.1.6).
const ENTRY_SHIFT: u32 = 4;
/// Bytes of an entry.
const ENTRY_BYTES: u32 = 1 << ENTRY_SHIFT;

/// Some bytes of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineBytes {
    /// Line number.
    pub(crate) line: u64,
    /// Bit for each byte.
    pub(crate) mask: u64,
}

impl LineBytes {
    /// Creates the bytes `addr..addr + bytes`, without those after the end of the line.
    #[inline]
    pub(crate) fn new(addr: u64, bytes: u32) -> LineBytes {
        let offset = addr & ((1 << LINE_SHIFT) - 1);
        let ones = if bytes >= 64 { u64::MAX } else { (1 << bytes) - 1 };
        LineBytes { line: addr >> LINE_SHIFT, mask: ones << offset }
    }

    /// Returns all bytes of a line.
    pub(crate) fn whole(line: u64) -> LineBytes {
        LineBytes { line, mask: u64::MAX }
    }

    /// Returns whether it has every byte of `other`.
    #[inline]
    pub(crate) fn covers(self, other: LineBytes) -> bool {
        self.line == other.line && self.mask & other.mask == other.mask
    }

    /// Returns the number of 128-bit beats that have these bytes.
    pub(crate) fn beats(self) -> u64 {
        (0..4).filter(|beat| self.mask >> (16 * beat) & 0xFFFF != 0).count() as u64
    }

    /// Returns the number of bursts, of 1, 2 or 4 beats (TRM 7.3.2), that have these bytes: that of
    /// the whole line, or one for each half.
    pub(crate) fn bursts(self) -> u64 {
        let half = |at: u32| u64::from(self.mask >> at & 0xFFFF_FFFF != 0);
        if self.beats() == 4 { 1 } else { half(0) + half(32) }
    }

    /// Returns whether these are all bytes of the line.
    pub(crate) fn is_whole(self) -> bool {
        self.mask == u64::MAX
    }

    /// Returns the number of the aligned 128 bits of the first byte.
    fn granule(self) -> u64 {
        self.line << (LINE_SHIFT - ENTRY_SHIFT)
            | u64::from(self.mask.trailing_zeros() / ENTRY_BYTES)
    }
}

/// Newest entry.
#[derive(Clone, Copy, Debug)]
struct Open {
    bytes: LineBytes,
    /// First cycle in which it can leave: it is in the buffer, and its address is translated.
    from: u64,
    /// Cycle in which it leaves if no store comes.
    until: u64,
}

/// Closed entry, to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    /// Bytes to write.
    pub(crate) bytes: LineBytes,
    /// First cycle in which they can be written.
    pub(crate) at: u64,
    index: usize,
}

/// Store buffer.
#[derive(Clone, Debug)]
pub(crate) struct StoreBuffer {
    /// Cycle in which the content of each entry has left.
    ends: Box<[u64]>,
    /// Entry after the newest one: the oldest.
    next: usize,
    open: Option<Open>,
    merge_cycles: u64,
    /// A store always finds an entry.
    is_never_full: bool,
    /// Cycle in which the last entry left.
    last_end: u64,
}

impl StoreBuffer {
    /// Creates an empty buffer.
    pub(crate) fn new(entries: u32, merge_cycles: u32, is_never_full: bool) -> StoreBuffer {
        StoreBuffer {
            ends: vec![0; entries.max(2) as usize].into_boxed_slice(),
            next: 0,
            open: None,
            merge_cycles: merge_cycles.into(),
            is_never_full,
            last_end: 0,
        }
    }

    /// Merges a store into the open entry, if that has the same 128 bits.
    #[inline]
    pub(crate) fn merge(&mut self, bytes: LineBytes, now: u64, translated: u64) -> bool {
        let Some(open) = &mut self.open else { return false };
        let fits = open.bytes.granule() == bytes.granule() && open.until >= now;
        if fits {
            open.bytes.mask |= bytes.mask;
            open.from = open.from.max(translated);
            open.until = open.until.max(open.from);
        }
        fits
    }

    /// Opens an entry, after the former one is closed. Returns the cycle in which an entry is free.
    pub(crate) fn open(&mut self, bytes: LineBytes, now: u64, translated: u64) -> u64 {
        let accepted = if self.is_never_full { now } else { now.max(self.ends[self.next]) };
        let from = accepted.max(translated);
        self.open = Some(Open { bytes, from, until: from + self.merge_cycles });
        accepted
    }

    /// Closes the open entry, if any, in the cycle `now` at the latest. The caller writes the bytes
    /// and then calls [`StoreBuffer::left`].
    pub(crate) fn close(&mut self, now: u64) -> Option<Leaving> {
        let open = self.open.take()?;
        let at = open.until.min(now.max(open.from)).max(self.last_end);
        let index = self.next;
        self.next = (index + 1) % self.ends.len();
        Some(Leaving { bytes: open.bytes, at, index })
    }

    /// Closes the open entry if its time is over at `now`.
    #[inline]
    pub(crate) fn close_idle(&mut self, now: u64) -> Option<Leaving> {
        if self.open.is_some_and(|open| open.until < now) { self.close(now) } else { None }
    }

    /// Records the cycle in which a closed entry has left.
    pub(crate) fn left(&mut self, entry: Leaving, end: u64) {
        self.ends[entry.index] = end;
        self.last_end = self.last_end.max(end);
    }

    /// Returns whether the open entry has all these bytes, so that it forwards them to a load.
    #[inline]
    pub(crate) fn forwards(&self, bytes: LineBytes) -> bool {
        self.open.is_some_and(|open| open.bytes.covers(bytes))
    }

    /// Returns the line of the open entry.
    pub(crate) fn open_line(&self) -> Option<u64> {
        self.open.map(|open| open.bytes.line)
    }

    /// Returns the cycle in which all closed entries have left.
    pub(crate) fn empty_at(&self) -> u64 {
        self.last_end
    }
}
