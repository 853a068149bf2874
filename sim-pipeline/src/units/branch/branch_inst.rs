//! Branch instruction as the front end sees it.

use sim_isa::{BranchKind, Inst};

/// Branch as the front end sees it.
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
    /// Returns the branch in the instruction at `pc`.
    #[inline]
    pub fn of(pc: u64, inst: &Inst) -> Branch {
        let target = pc.wrapping_add_signed(inst.offset.into());
        Branch { pc, kind: inst.branch, target }
    }

    /// Returns whether the branch is taken if the stream continues at `next`.
    #[inline]
    pub fn goes_to(self, next: u64) -> bool {
        !self.is_conditional() || next != self.pc.wrapping_add(4)
    }

    /// Returns whether the branch may fall through.
    pub fn is_conditional(self) -> bool {
        self.kind == BranchKind::Conditional
    }

    /// Returns whether the branch is direct and unconditional.
    #[inline]
    pub(super) fn is_always_to_target(self) -> bool {
        matches!(self.kind, BranchKind::Direct | BranchKind::Call)
    }
}
