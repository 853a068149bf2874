//! Accesses to lines that cores take from one another, as a sink of the run.

use std::collections::{BTreeMap, BTreeSet};

use sim_core::{
    AccessKind, AccessShape, DataSource, EventSink, LINE_BYTES, Notice, Operation, OperationKind,
    PmuEvent,
};

/// Most lines kept: 4 MiB of data. Later ones are ignored.
const KEPT: usize = 65_536;

/// Bytes that a core has read and written in a line, one bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UsedBytes {
    pub(super) read: u64,
    pub(super) written: u64,
}

/// Accesses of one instruction to a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Accesses {
    /// Loads and atomics whose data came from another core.
    pub(super) from_peer: u64,
    pub(super) writes: u64,
}

/// Line that came from another core at least once, with its accesses from then on.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// Retired loads and atomics whose data came from another core.
    pub(super) loads: u64,
    /// Sum of their cycles, from issue to data.
    pub(super) cycles: u64,
    /// Bytes used, by core.
    pub(super) used: BTreeMap<usize, UsedBytes>,
    /// Accesses by address of the instruction.
    pub(super) by_pc: BTreeMap<u64, Accesses>,
}

/// Sink that keeps the lines which came from another core at least once.
#[derive(Debug, Default)]
pub(super) struct LineSharing {
    core: usize,
    /// Cores in the counted part of their run.
    counting: BTreeSet<usize>,
    lines: BTreeMap<u64, Line>,
}

impl EventSink for LineSharing {
    const OBSERVES_OPS: bool = true;

    #[inline]
    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => self.core = core,
            Notice::Counting(true) => {
                self.counting.insert(self.core);
            }
            Notice::Counting(false) => {
                self.counting.remove(&self.core);
            }
            Notice::Operation(operation) => {
                if let OperationKind::Access(shape) = operation.kind {
                    self.access(operation, shape);
                }
            }
            _ => {}
        }
    }
}

impl LineSharing {
    /// Returns the lines by address.
    pub(super) fn lines(&self) -> &BTreeMap<u64, Line> {
        &self.lines
    }

    fn access(&mut self, operation: &Operation, shape: AccessShape) {
        let timeline = &operation.timeline;
        let is_from_peer = timeline.source == DataSource::Peer;
        // In a run of one core nothing is kept, and nothing looked up.
        let is_known = !self.lines.is_empty() || is_from_peer;
        if !is_known || !timeline.retired || !self.counting.contains(&self.core) {
            return;
        }
        let address = timeline.addr / LINE_BYTES * LINE_BYTES;
        let line = match is_from_peer {
            true if self.lines.len() < KEPT => self.lines.entry(address).or_default(),
            _ => match self.lines.get_mut(&address) {
                Some(line) => line,
                None => return,
            },
        };
        let (reads, writes) = directions(shape.kind);
        let bytes = mask(timeline.addr - address, shape.bytes.into());
        let used = line.used.entry(self.core).or_default();
        let site = line.by_pc.entry(timeline.pc).or_default();
        if reads {
            used.read |= bytes;
            let is_supplied = u64::from(is_from_peer);
            site.from_peer += is_supplied;
            line.loads += is_supplied;
            line.cycles += is_supplied * timeline.complete.saturating_sub(timeline.issue);
        }
        if writes {
            used.written |= bytes;
            site.writes += 1;
        }
    }
}

/// Returns whether an access reads, and whether it writes.
fn directions(kind: AccessKind) -> (bool, bool) {
    match kind {
        AccessKind::Load => (true, false),
        AccessKind::Store | AccessKind::ZeroLine => (false, true),
        AccessKind::AtomicLoad | AccessKind::AtomicStore | AccessKind::AtomicSwap => (true, true),
    }
}

/// Returns the bits of some bytes of a line; those after its end are left out.
fn mask(offset: u64, bytes: u64) -> u64 {
    let ones = if bytes >= LINE_BYTES { u64::MAX } else { (1 << bytes) - 1 };
    ones << offset
}

impl Line {
    /// Returns whether a core wrote a byte that another one accessed.
    pub(super) fn same_bytes(&self) -> bool {
        let used_by_others = |core: usize| {
            let others = self.used.iter().filter(move |(other, _)| **other != core);
            others.fold(0, |bytes, (_, used)| bytes | used.read | used.written)
        };
        self.used.iter().any(|(core, used)| used.written & used_by_others(*core) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::OpTimeline;

    fn access(
        sharing: &mut LineSharing,
        core: usize,
        kind: AccessKind,
        addr: u64,
        source: DataSource,
    ) {
        let shape = AccessShape {
            kind,
            exclusive: false,
            ordered: false,
            aligned: true,
            scattered: false,
            bytes: 8,
        };
        let timeline = OpTimeline {
            addr,
            source,
            retired: true,
            issue: 10,
            complete: 150,
            ..OpTimeline::default()
        };
        let operation =
            Operation { timeline, kind: OperationKind::Access(shape), ..Operation::default() };
        sharing.notify(Notice::Core(core));
        sharing.notify(Notice::Operation(&operation));
    }

    /// Core 0 reads a word and takes its line from core 1, which then writes at `written`.
    fn one_line(written: u64) -> Line {
        let mut sharing = LineSharing::default();
        for core in [0, 1] {
            sharing.notify(Notice::Core(core));
            sharing.notify(Notice::Counting(true));
        }
        access(&mut sharing, 1, AccessKind::Store, 0x1000, DataSource::L1);
        assert!(sharing.lines.is_empty(), "only lines that moved are kept");
        access(&mut sharing, 0, AccessKind::Load, 0x1000, DataSource::Peer);
        access(&mut sharing, 1, AccessKind::Store, written, DataSource::L1);
        sharing.lines.remove(&0x1000).expect("the line moved")
    }

    #[test]
    fn sharing_is_false_if_no_byte_that_a_core_writes_is_used_by_another() {
        let line = one_line(0x1008);
        assert_eq!((line.loads, line.cycles, line.used.len()), (1, 140, 2));
        assert!(!line.same_bytes(), "the line, not its data");
        assert!(one_line(0x1004).same_bytes(), "half of the word");
        assert!(!one_line(0x1040).same_bytes(), "the next line");
    }

    #[test]
    fn bytes_after_the_end_of_a_line_are_left_out() {
        assert_eq!(mask(0, 8), 0xff);
        assert_eq!(mask(60, 8), 0xf000_0000_0000_0000);
        assert_eq!(mask(0, 64), u64::MAX);
    }

    #[test]
    fn accesses_before_the_counted_part_are_left_out() {
        let mut sharing = LineSharing::default();
        access(&mut sharing, 0, AccessKind::Load, 0x1000, DataSource::Peer);
        assert!(sharing.lines.is_empty());
    }
}
