//! A branch instruction as the front end sees it.

use sim_isa::{BranchKind, Inst};

/// A branch as the front end sees it.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// Program counter.
    pub pc: u64,
    /// Kind.
    pub kind: BranchKind,
    /// Target of a direct branch.
    pub target: u64,
}

impl Branch {
    /// The branch in the instruction at `pc`.
    #[inline]
    pub fn of(pc: u64, inst: &Inst) -> Branch {
        let target = pc.wrapping_add_signed(inst.offset.into());
        Branch { pc, kind: inst.branch, target }
    }

    /// True if it is taken when the stream goes on at `next`.
    #[inline]
    pub fn goes_to(self, next: u64) -> bool {
        !self.is_conditional() || next != self.pc.wrapping_add(4)
    }

    /// True for a branch that may fall through.
    pub fn is_conditional(self) -> bool {
        self.kind == BranchKind::Conditional
    }

    /// True for a direct branch without a condition.
    #[inline]
    pub(super) fn is_always_to_target(self) -> bool {
        matches!(self.kind, BranchKind::Direct | BranchKind::Call)
    }
}
