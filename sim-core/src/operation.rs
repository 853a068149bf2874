//! One executed instruction as the units that follow a run are told of it: sampling, attribution,
//! timelines. Right and wrong paths alike, in the order of rename.

use crate::access::LoadWait;
use crate::addr::PhysAddr;
use crate::op_timeline::OpTimeline;
use crate::privilege::Privilege;
use crate::time::Cycle;
use crate::trace_inst::Activity;

/// How a branch went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BranchCourse {
    /// `B.cond`, `CBZ`, `TBZ` and kin.
    pub conditional: bool,
    /// The target comes from a register.
    pub indirect: bool,
    /// It writes the link register.
    pub call: bool,
    /// `RET` and authenticated forms.
    pub function_return: bool,
    /// `ERET` and authenticated forms.
    pub exception_return: bool,
    /// It was taken; on a wrong path: as predicted, unless it is known better.
    pub taken: bool,
    /// Where it went; `None` where nobody knows.
    pub target: Option<u64>,
}

/// What an access does to memory, as its kind is told apart by sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Loads.
    Load,
    /// Stores.
    Store,
    /// Atomic read-modify-write that returns the old value.
    AtomicLoad,
    /// Atomic read-modify-write without result.
    AtomicStore,
    /// `SWP`.
    AtomicSwap,
    /// `DC ZVA`.
    ZeroLine,
}

/// A load, a store or an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessShape {
    /// What it does.
    pub kind: AccessKind,
    /// Load-exclusive or store-exclusive.
    pub exclusive: bool,
    /// Load-acquire or store-release.
    pub ordered: bool,
    /// Each register or element is at a multiple of its size.
    pub aligned: bool,
    /// SVE gather or scatter.
    pub scattered: bool,
    /// Bytes of all registers together.
    pub bytes: u16,
}

/// What kind of operation it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OperationKind {
    /// Neither of the others; preloads, cache maintenance and address translation too.
    #[default]
    Other,
    /// A branch or an exception return.
    Branch(BranchCourse),
    /// An access to memory.
    Access(AccessShape),
}

/// One executed instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// What it lived through. Its first MOP is the access or the branch.
    pub timeline: OpTimeline,
    /// Its place in the thread's stream, from 0: how many instructions of the right path its core began
    /// before it. On a wrong path that of the branch, or the load, behind which the path was left.
    pub number: u64,
    /// Where the program runs.
    pub privilege: Privilege,
    /// Cycle in which the base register that it updates can be read, long before the data of a load; 0 if it
    /// updates none.
    pub base_ready: Cycle,
    /// Branch, access or neither.
    pub kind: OperationKind,
    /// What it waited for on its way to its data, if it is a load.
    pub wait: LoadWait,
    /// Physical address of its first byte, if it accesses memory and is mapped.
    pub physical: Option<PhysAddr>,
    /// It generates an exception: a call, an abort, a trap.
    pub exception: bool,
    /// It depends on the condition flags (`CSEL`, `CCMP`, `B.cond`).
    pub conditional: bool,
    /// It uses SIMD and floating-point registers, those of SVE included.
    pub simd: bool,
    /// It computes in floating point.
    pub floating: bool,
    /// It is an SVE instruction.
    pub sve: bool,
    /// It has a governing predicate.
    pub predicated: bool,
    /// What that predicate lets work.
    pub activity: Activity,
}
