//! Accesses to lines that cores take from one another, as a sink of the run.

use std::collections::{BTreeMap, BTreeSet};

use sim_core::{
    AccessKind, AccessShape, DataSource, EventSink, LINE_BYTES, LineAddr, Notice, Operation,
    OperationKind, PhysAddr, PmuEvent,
};

/// Most lines kept: 4 MiB of data. Later ones are ignored.
const KEPT: usize = 65_536;

/// Bytes of a line for one core, one bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UsedBytes {
    /// Bytes that the core has written.
    pub(super) written: u64,
    /// Bytes that other cores have written since it last used the line.
    unseen: u64,
    /// Its retired loads and atomics whose data came from another core.
    pub(super) loads: u64,
    /// Sum of their cycles, from issue to data.
    pub(super) cycles: u64,
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
    /// Loads of a byte that another core had written since the reader last used the line.
    pub(super) data_loads: u64,
    /// Sum of the cycles of all, from issue to data.
    pub(super) cycles: u64,
    /// Bytes used, by core.
    pub(super) used: BTreeMap<usize, UsedBytes>,
    /// Physical address; known from the first load from another core on that has one.
    pub(super) physical: Option<LineAddr>,
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
        // Data from an older store come without the line.
        let is_new = timeline.source != DataSource::StoreQueue && line.sees(self.core, bytes);
        let site = line.by_pc.entry(timeline.pc).or_default();
        if reads && is_from_peer {
            site.from_peer += 1;
            let cycles = timeline.complete.saturating_sub(timeline.issue);
            line.loads += 1;
            line.data_loads += u64::from(is_new);
            line.cycles += cycles;
            let used = line.used.entry(self.core).or_default();
            used.loads += 1;
            used.cycles += cycles;
            line.physical = operation.physical.map(PhysAddr::line).or(line.physical);
        }
        if writes {
            site.writes += 1;
            line.write(self.core, bytes);
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
    /// A core uses the line as it is now. Returns whether another one had written some of `bytes`
    /// since its last use.
    fn sees(&mut self, core: usize, bytes: u64) -> bool {
        let written = self.used.values().fold(0, |all, used| all | used.written);
        let used =
            self.used.entry(core).or_insert(UsedBytes { unseen: written, ..UsedBytes::default() });
        std::mem::take(&mut used.unseen) & bytes != 0
    }

    fn write(&mut self, core: usize, bytes: u64) {
        self.used.entry(core).or_default().written |= bytes;
        let others = self.used.iter_mut().filter(|(other, _)| **other != core);
        others.for_each(|(_, used)| used.unseen |= bytes);
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

    /// Core 0 reads a word twice and takes its line from core 1 both times, which writes at
    /// `written` in between.
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
        access(&mut sharing, 0, AccessKind::Load, 0x1000, DataSource::Peer);
        sharing.lines.remove(&0x1000).expect("the line moved")
    }

    #[test]
    fn a_load_needs_data_if_it_reads_a_byte_that_another_core_wrote() {
        let line = one_line(0x1008);
        assert_eq!((line.loads, line.cycles, line.used.len()), (2, 280, 2));
        assert_eq!((line.used[&0].loads, line.used[&0].cycles), (2, 280), "its reader");
        assert_eq!((line.used[&1].loads, line.used[&1].cycles), (0, 0), "its writer");
        assert_eq!(line.data_loads, 0, "the line, not its data");
        assert_eq!(one_line(0x1004).data_loads, 1, "half of the word");
        assert_eq!(one_line(0x1040).data_loads, 0, "the next line");
    }

    #[test]
    fn written_bytes_are_new_to_each_other_core_once() {
        let mut line = Line::default();
        assert!(!line.sees(0, 0xff));
        line.write(1, 0xff);
        assert!(!line.sees(0, 0xff00), "other bytes of the line");
        assert!(!line.sees(0, 0xff), "the line came with the access before");
        assert!(line.sees(2, 0xff), "a core that had not used the line");
        assert!(!line.sees(1, 0xff), "its own");
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
