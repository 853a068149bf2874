//! What one operation lived through; read by viewers, the PMU, SPE and the stall ledger.

use crate::access::{AccessOutcome, DataSource};
use crate::time::Cycle;
use crate::trace_inst::InstId;

/// The finished life of one operation (a MOP: what takes one rename slot).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpTimeline {
    /// The static instruction.
    pub inst: InstId,
    /// Program counter.
    pub pc: u64,
    /// Data address, 0 without one.
    pub addr: u64,
    /// Cycle in which its words left the fetch stage.
    pub fetch: Cycle,
    /// First cycle in which rename could have taken it, as far as the front end goes.
    pub front_end: Cycle,
    /// Cycle of its rename slot.
    pub rename: Cycle,
    /// Cycle in which its first micro-operation issued.
    pub issue: Cycle,
    /// Cycle in which its result could be used.
    pub complete: Cycle,
    /// Cycle in which it retired; the squash cycle for a wrong-path operation.
    pub retire: Cycle,
    /// Cycle in which a store had written its data to the cache, 0 for anything else.
    pub written: Cycle,
    /// Cycles spent on translating its address.
    pub translation_cycles: u32,
    /// Where its data came from.
    pub source: DataSource,
    /// What its access met.
    pub outcome: AccessOutcome,
    /// False for an operation of an abandoned path, and for one that ended in an exception.
    pub retired: bool,
    /// It ran on a path that was thrown away: no instruction of the program's own way.
    pub wrong_path: bool,
    /// True for a branch that resolved against its prediction.
    pub mispredicted: bool,
    /// Rename slots that it took; 0 for the second half of a fused pair.
    pub mops: u8,
}
