//! Critical path: the chain of the latest inputs of an operation.
//!
//! Every operation leaves a record of its last input: its ready cycle and its producer. When rename
//! finds a structure full, the chain of the entry that is freed next explains each cycle of the
//! wait. It gives the operation that delays the core: one that executes, waits for a pipe, or waits
//! for its input.

use crate::units::rename::StoreWait;
use crate::units::stamp::{OpRef, Stamp};
use crate::units::wait_timeline::{Segment, WaitTimeline};
use sim_core::{Cycle, InstId, RootCause};

/// Operations recorded for each entry of the reorder buffer. The second half of a fused pair has a
/// record but no entry.
const FOR_EACH_ENTRY: usize = 3;
/// Largest number of links that are followed in a chain. The rest of the wait is attributed to the
/// last one.
const MOST_LINKS: usize = 64;
/// Cycles from a store's exit from the queue until its entry is free, if it hits the L1 D-cache.
const WRITE_HIT: Cycle = 2;

/// Execution record of one operation. It keeps the low 32 bits of the issue cycle.
#[derive(Clone, Copy, Debug)]
struct OpRecord {
    /// Ready cycle of its last input, and the producer of that input.
    needs: Stamp,
    inst: InstId,
    /// Cycle in which it began to execute. Until then it waited for a pipe.
    issue: u32,
    /// Cycles of its translation if that missed the L1 TLB, else 0.
    translation: u16,
    /// Root cause of stalls while it executes.
    root: RootCause,
}

/// Properties of an operation that are known with its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Executed {
    /// Static instruction.
    pub(crate) inst: InstId,
    /// Last input.
    pub(crate) needs: Stamp,
    /// Cycle in which it began to execute.
    pub(crate) issue: Cycle,
    /// Root cause of stalls while it executes.
    pub(crate) root: RootCause,
    /// Cycles of its translation if that missed the L1 TLB, else 0.
    pub(crate) translation: u32,
}

/// Records of the operations in flight.
#[derive(Clone, Debug)]
pub(crate) struct CriticalPath {
    /// Records in a ring; their number is a power of two.
    records: Box<[OpRecord]>,
    /// Number of records less one.
    mask: u16,
    now: u16,
    is_on: bool,
}

impl CriticalPath {
    /// Returns records for a reorder buffer of this size, at most 2,047 entries.
    pub(crate) fn new(rob: usize) -> CriticalPath {
        let places = (FOR_EACH_ENTRY * rob).next_power_of_two().min(OpRef::PLACES.into());
        let nothing = OpRecord {
            needs: Stamp::new(0, OpRef::NONE),
            inst: 0,
            issue: 0,
            translation: 0,
            root: RootCause::Latency,
        };
        let mask = (places - 1) as u16;
        CriticalPath {
            records: vec![nothing; places].into_boxed_slice(),
            mask,
            now: 0,
            is_on: true,
        }
    }

    /// Stops recording.
    pub(crate) fn turn_off(&mut self) {
        self.is_on = false;
    }

    /// Returns whether operations are recorded.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Begins the next operation.
    #[inline(always)]
    pub(crate) fn begin(&mut self) {
        self.now = (self.now + 1) & self.mask;
    }

    /// Returns the operation that began last.
    #[inline(always)]
    pub(crate) fn now(&self) -> OpRef {
        OpRef(self.now)
    }

    /// Records the execution of the operation that began last.
    #[inline(always)]
    pub(crate) fn note(&mut self, op: Executed) {
        if !self.is_on {
            return;
        }
        self.records[usize::from(self.now)] = OpRecord {
            needs: op.needs,
            inst: op.inst,
            issue: op.issue as u32,
            translation: op.translation.min(u16::MAX.into()) as u16,
            root: op.root,
        };
    }

    /// Returns the current position, to return to after a wrong path.
    #[inline]
    pub(crate) fn mark(&self) -> u16 {
        self.now
    }

    /// Drops the operations that began after the mark.
    #[inline]
    pub(crate) fn rewind(&mut self, mark: u16) {
        self.now = mark;
    }

    /// Adds to `waits` the causes that delayed `op`, whose result was needed in `until`, from cycle
    /// `from` on.
    pub(crate) fn trace(&self, op: OpRef, from: Cycle, until: Cycle, waits: &mut WaitTimeline) {
        let mut chain = Chain { from, end: until, segments: waits.chain() };
        self.follow(op, &mut chain);
        waits.take_chain();
    }

    /// Adds to `waits` the causes that delayed the store queue entry of `store`. After the store
    /// leaves the queue, it is written; a hit takes [`WRITE_HIT`] cycles for that. Between
    /// retirement and its exit from the queue, the store waits for a barrier or for its turn.
    pub(crate) fn trace_store(
        &self,
        store: StoreWait,
        (from, until): (Cycle, Cycle),
        waits: &mut WaitTimeline,
    ) {
        let StoreWait { free, sent, retired } = store;
        // A store that was never sent held its entry until it retired.
        let sent = sent.max(retired);
        let mut chain = Chain { from, end: until, segments: waits.chain() };
        let owner = self.records.get(usize::from(free.by().0)).map(|op| op.inst);
        if free.cycle() > sent.cycle() + WRITE_HIT {
            chain.back_to(sent.cycle(), RootCause::StoreDrain, owner);
        }
        let is_held = sent.by() == OpRef::ORDER;
        let turn = if is_held { RootCause::Barrier } else { RootCause::Pipe };
        chain.back_to(retired.cycle(), turn, owner);
        self.follow(retired.by(), &mut chain);
        waits.take_chain();
    }

    /// Adds to `waits` the causes that delayed an issue queue entry. The entry waited for its input
    /// first, and then `for_pipe` cycles for a pipe.
    pub(crate) fn trace_issue(
        &self,
        input: OpRef,
        for_pipe: u16,
        (from, until): (Cycle, Cycle),
        waits: &mut WaitTimeline,
    ) {
        let mut chain = Chain { from, end: until, segments: waits.chain() };
        if for_pipe > 0 {
            // The entry is free one cycle after its operation issues.
            chain.back_to(until.saturating_sub(Cycle::from(for_pipe) + 1), RootCause::Pipe, None);
        }
        self.follow(input, &mut chain);
        waits.take_chain();
    }

    fn follow(&self, op: OpRef, chain: &mut Chain<'_>) {
        let from = chain.from;
        let mut link = op;
        for _ in 0..MOST_LINKS {
            if chain.end <= from {
                break;
            }
            link = match link {
                OpRef::NONE => break,
                OpRef::ORDER => {
                    chain.back_to(from, RootCause::Barrier, None);
                    break;
                }
                OpRef::STORE_ADDRESS => {
                    chain.back_to(from, RootCause::Forwarding, None);
                    break;
                }
                OpRef(place) => chain.link(&self.records[usize::from(place)]),
            };
        }
        let owner = chain.owner();
        chain.back_to(from, RootCause::Latency, owner);
    }
}

/// Chain of causes, followed backward in time.
struct Chain<'a> {
    from: Cycle,
    /// Cycles before this one are not explained yet.
    end: Cycle,
    /// Segments found, latest first.
    segments: &'a mut Vec<Segment>,
}

impl Chain<'_> {
    /// Adds the cycles of one operation. Returns the producer of its last input.
    fn link(&mut self, op: &OpRecord) -> OpRef {
        let owner = Some(op.inst);
        // An operation that issues after `end` was still waiting for its input or pipe then.
        let executing = (self.end as u32).wrapping_sub(op.issue);
        if executing as i32 > 0 {
            let issue = self.end.saturating_sub(executing.into());
            self.back_to(issue + Cycle::from(op.translation), op.root, owner);
            self.back_to(issue, RootCause::Translation, owner);
        }
        self.back_to(op.needs.cycle(), RootCause::Pipe, owner);
        op.needs.by()
    }

    /// Attributes the cycles from `cycle` to the end to this root cause.
    fn back_to(&mut self, cycle: Cycle, root: RootCause, owner: Option<InstId>) {
        let cycle = cycle.max(self.from);
        if cycle < self.end {
            self.segments.push(Segment { end: self.end, root, owner });
            self.end = cycle;
        }
    }

    /// Returns the instruction of the earliest segment.
    fn owner(&self) -> Option<InstId> {
        self.segments.last().and_then(|last| last.owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a path with these operations: instruction, needs, issue, root cause.
    fn path(ops: &[(InstId, Stamp, Cycle, RootCause)]) -> CriticalPath {
        let mut path = CriticalPath::new(160);
        for (inst, needs, issue, root) in ops {
            path.begin();
            let (needs, issue, root) = (*needs, *issue, *root);
            path.note(Executed { inst: *inst, needs, issue, root, translation: 0 });
        }
        path
    }

    fn found(path: &CriticalPath, op: u16, from: Cycle, until: Cycle) -> Vec<(Cycle, RootCause)> {
        let mut waits = WaitTimeline::default();
        path.trace(OpRef(op), from, until, &mut waits);
        waits.over(from, until).map(|part| (part.cycles, part.root)).collect()
    }

    #[test]
    fn a_wait_is_attributed_to_the_wait_of_the_last_input() {
        use RootCause::{Latency, LoadDram, Pipe};
        // A load from DRAM issues in 10 and has its data in 400. An addition needs it and waits 5
        // cycles for its pipe. A second addition needs the first.
        let path = path(&[
            (7, Stamp::new(9, OpRef::NONE), 10, LoadDram),
            (8, Stamp::new(400, OpRef(1)), 405, Latency),
            (9, Stamp::new(406, OpRef(2)), 406, Latency),
        ]);
        let all = [(380, LoadDram), (5, Pipe), (1, Latency), (1, Latency)];
        assert_eq!(found(&path, 3, 20, 407), all);
        assert_eq!(found(&path, 3, 402, 407), [(3, Pipe), (1, Latency), (1, Latency)]);
        assert_eq!(found(&path, 3, 20, 300), [(280, LoadDram)], "squashed before it could issue");
    }

    #[test]
    fn a_chain_has_the_translation_before_the_data() {
        let mut path = CriticalPath::new(160);
        path.begin();
        let (needs, root) = (Stamp::new(5, OpRef::NONE), RootCause::LoadL2);
        path.note(Executed { inst: 1, needs, issue: 10, root, translation: 30 });
        let parts = [(30, RootCause::Translation), (15, RootCause::LoadL2)];
        assert_eq!(found(&path, 1, 10, 55), parts);
    }

    #[test]
    fn a_barrier_ends_the_chain_of_an_access() {
        let path = path(&[(7, Stamp::new(90, OpRef::ORDER), 90, RootCause::LoadL1)]);
        assert_eq!(found(&path, 1, 10, 94), [(80, RootCause::Barrier), (4, RootCause::LoadL1)]);
    }
}
