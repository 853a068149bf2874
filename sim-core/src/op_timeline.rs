//! Timeline of one operation, for viewers, the PMU, SPE and stall accounting.

use crate::access::{AccessOutcome, DataSource};
use crate::time::Cycle;
use crate::trace_inst::InstId;

/// Complete timeline of one operation (a MOP, which takes one rename slot).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpTimeline {
    /// The static instruction.
    pub inst: InstId,
    /// Program counter.
    pub pc: u64,
    /// Data address, or 0 without one.
    pub addr: u64,
    /// Cycle in which its instruction words left the fetch stage.
    pub fetch: Cycle,
    /// First cycle in which the front end could have delivered it to rename.
    pub front_end: Cycle,
    /// Cycle in which it took its rename slot.
    pub rename: Cycle,
    /// Cycle in which its first micro-operation issued.
    pub issue: Cycle,
    /// Cycle in which its result could be used.
    pub complete: Cycle,
    /// Cycle in which it retired, or the squash cycle of a wrong-path operation.
    pub retire: Cycle,
    /// Cycle in which a store had written its data to the cache, or 0 for other operations.
    pub written: Cycle,
    /// Cycles spent on translating its address.
    pub translation_cycles: u32,
    /// Source of its data.
    pub source: DataSource,
    /// Misses, faults and errors of its access.
    pub outcome: AccessOutcome,
    /// False for a squashed operation and for one that ended in an exception.
    pub retired: bool,
    /// True for an operation on a squashed path, which is not part of the program's execution.
    pub wrong_path: bool,
    /// True for a branch that resolved against its prediction.
    pub mispredicted: bool,
    /// Rename slots that it took, or 0 for the second half of a fused pair.
    pub mops: u8,
}

impl OpTimeline {
    /// Returns the cycle in which it left the core: after its retirement, or the cycle of its
    /// squash. The result is always after its fetch.
    pub fn end(&self) -> Cycle {
        let end = if self.wrong_path { self.retire } else { self.retire + 1 };
        end.max(self.fetch + 1)
    }

    /// Returns its last cycle: a store may be written long after it retires.
    pub fn last(&self) -> Cycle {
        self.end().max(self.written)
    }
}
