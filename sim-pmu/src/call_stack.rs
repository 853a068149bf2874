//! Call stack of a thread: return addresses, derived from its own calls and returns.

use sim_core::{BranchCourse, Operation, OperationKind};

/// Largest number of calls kept. A program that leaves functions without returning accumulates
/// calls; the oldest are dropped.
const DEPTH_MAX: usize = 1 << 16;
/// Size of an instruction in bytes.
const INST_BYTES: u64 = 4;

/// Return addresses, outermost first.
#[derive(Clone, Debug, Default)]
pub struct CallStack {
    returns: Vec<u64>,
}

impl CallStack {
    /// Updates the stack with one operation of the core. Operations on a wrong path are ignored.
    #[inline]
    pub fn follow(&mut self, operation: &Operation) {
        let OperationKind::Branch(branch) = operation.kind else { return };
        if operation.timeline.retired {
            self.branch(operation.timeline.pc, branch);
        }
    }

    fn branch(&mut self, pc: u64, branch: BranchCourse) {
        if branch.call {
            self.call(pc);
        } else if branch.function_return {
            self.return_to(branch.target);
        }
    }

    /// Adds the call at `pc`.
    pub fn call(&mut self, pc: u64) {
        if self.returns.len() == DEPTH_MAX {
            self.returns.drain(..DEPTH_MAX / 2);
        }
        self.returns.push(pc.wrapping_add(INST_BYTES));
    }

    /// Removes the call that a return to `target` ends, and all calls above it. A return to any
    /// other address removes nothing: the kernel entered that function, or the recording began
    /// inside it.
    pub fn return_to(&mut self, target: Option<u64>) {
        if let Some(at) = self.returns.iter().rposition(|address| Some(*address) == target) {
            self.returns.truncate(at);
        }
    }

    /// Returns the return addresses, innermost first, at most `max`.
    pub fn callers(&self, max: usize) -> Vec<u64> {
        self.returns.iter().rev().take(max).copied().collect()
    }

    /// Removes every call.
    pub fn clear(&mut self) {
        self.returns.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(pc: u64) -> (u64, BranchCourse) {
        (pc, BranchCourse { call: true, ..BranchCourse::default() })
    }

    fn back(target: u64) -> (u64, BranchCourse) {
        let target = Some(target);
        (0, BranchCourse { function_return: true, target, ..BranchCourse::default() })
    }

    fn after(branches: &[(u64, BranchCourse)]) -> Vec<u64> {
        let mut stack = CallStack::default();
        for (pc, branch) in branches {
            stack.branch(*pc, *branch);
        }
        stack.callers(10)
    }

    #[test]
    fn calls_and_returns_pair_up() {
        assert_eq!(after(&[call(0x100), call(0x200)]), [0x204, 0x104]);
        assert_eq!(after(&[call(0x100), call(0x200), back(0x204)]), [0x104]);
        assert!(after(&[call(0x100), call(0x200), back(0x104)]).is_empty(), "left by a long jump");
        assert_eq!(after(&[call(0x100), back(0x999)]), [0x104], "a return without a call");
        let recursion = [call(0x100), call(0x100), back(0x104)];
        assert_eq!(after(&recursion), [0x104], "only the innermost of equal calls ends");
    }

    #[test]
    fn a_program_that_never_returns_uses_bounded_memory() {
        let mut stack = CallStack::default();
        for n in 0..3 * DEPTH_MAX as u64 {
            stack.branch(n * 4, call(0).1);
        }
        assert!(stack.returns.len() <= DEPTH_MAX);
        assert_eq!(stack.callers(1), [3 * DEPTH_MAX as u64 * 4]);
    }
}
