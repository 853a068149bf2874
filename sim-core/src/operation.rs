//! One executed instruction for units that observe a run: sampling, attribution, timelines. Correct
//! and wrong paths are both included, in rename order.

use crate::access::LoadWait;
use crate::addr::PhysAddr;
use crate::op_timeline::OpTimeline;
use crate::privilege::Privilege;
use crate::time::Cycle;
use crate::trace_inst::Activity;

/// Outcome of a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BranchCourse {
    /// True for `B.cond`, `CBZ`, `TBZ` and related instructions.
    pub conditional: bool,
    /// True if the target comes from a register.
    pub indirect: bool,
    /// True if it writes the link register.
    pub call: bool,
    /// True for `RET` and its authenticated forms.
    pub function_return: bool,
    /// True for `ERET` and its authenticated forms.
    pub exception_return: bool,
    /// True if it was taken. On a wrong path, this is the prediction unless the outcome is known.
    pub taken: bool,
    /// Target; `None` if it is unknown.
    pub target: Option<u64>,
}

/// Kind of a memory access, as sampling distinguishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Loads.
    Load,
    /// Stores.
    Store,
    /// Atomic read-modify-write that returns the old value.
    AtomicLoad,
    /// Atomic read-modify-write without a result.
    AtomicStore,
    /// `SWP`.
    AtomicSwap,
    /// `DC ZVA`.
    ZeroLine,
}

/// Properties of a load, a store or an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessShape {
    /// Kind of the access.
    pub kind: AccessKind,
    /// Load-exclusive or store-exclusive.
    pub exclusive: bool,
    /// Load-acquire or store-release.
    pub ordered: bool,
    /// True if the address of each register or element is a multiple of its size.
    pub aligned: bool,
    /// SVE gather or scatter.
    pub scattered: bool,
    /// Bytes of all registers together.
    pub bytes: u16,
}

/// Class of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OperationKind {
    /// Neither a branch nor an access. Includes preloads, cache maintenance and address
    /// translation.
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
    /// Timeline. Its first MOP is the access or the branch.
    pub timeline: OpTimeline,
    /// Position in the thread's stream, from 0: the number of correct-path instructions that its
    /// core began before it. A wrong-path operation has the number of the branch or load that
    /// started the path.
    pub number: u64,
    /// Exception level and security state of the program.
    pub privilege: Privilege,
    /// Cycle in which the updated base register can be read, long before the data of a load. 0 if
    /// it updates none.
    pub base_ready: Cycle,
    /// Branch, access or neither.
    pub kind: OperationKind,
    /// Wait of a load on the way to its data.
    pub wait: LoadWait,
    /// Physical address of its first byte, if it accesses memory and is mapped.
    pub physical: Option<PhysAddr>,
    /// True if it generates an exception: a call, an abort, a trap.
    pub exception: bool,
    /// True if it depends on the condition flags (`CSEL`, `CCMP`, `B.cond`).
    pub conditional: bool,
    /// True if it uses SIMD and floating-point registers, including those of SVE.
    pub simd: bool,
    /// True if it computes in floating point.
    pub floating: bool,
    /// True if it is an SVE instruction.
    pub sve: bool,
    /// True if it has a governing predicate.
    pub predicated: bool,
    /// Activity of the elements under the governing predicate: all, none or some.
    pub activity: Activity,
}
