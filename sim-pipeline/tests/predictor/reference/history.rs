//! Branch history, kept whole.

use sim_isa::BranchKind;
use sim_pipeline::branch::Branch;

/// Number of taken branches in the path.
const PATH_BRANCHES: usize = 10;

/// Position in the history: the number of directions and of taken branches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    directions: usize,
    jumps: usize,
}

/// Directions and taken branches, oldest first.
#[derive(Default)]
pub(crate) struct History {
    directions: Vec<bool>,
    /// Source and target address of each taken branch.
    jumps: Vec<(u64, u64)>,
}

impl History {
    /// Adds a branch. A branch that always goes the same way has no direction. For an indirect
    /// branch, one bit derived from its target is the direction.
    pub(crate) fn push(&mut self, branch: Branch, taken: bool, next: u64) {
        if taken {
            self.jumps.push((branch.pc, next));
        }
        match branch.kind {
            BranchKind::Conditional => self.directions.push(taken),
            BranchKind::Indirect | BranchKind::IndirectCall => {
                let ones = [2, 5, 8].iter().filter(|bit| next >> **bit & 1 == 1).count();
                self.directions.push(ones % 2 == 1);
            }
            _ => {}
        }
    }

    /// Returns the present position.
    pub(crate) fn mark(&self) -> Mark {
        Mark { directions: self.directions.len(), jumps: self.jumps.len() }
    }

    /// Drops the entries after an earlier position.
    pub(crate) fn restore(&mut self, mark: Mark) {
        self.directions.truncate(mark.directions);
        self.jumps.truncate(mark.jumps);
    }

    /// Returns the last `length` directions, folded to `width` bits: the exclusive or of all
    /// pieces.
    pub(crate) fn fold(&self, length: u32, width: u32) -> u64 {
        let mut fold = 0;
        let mut bit = 0;
        for taken in self.directions.iter().rev().take(length as usize) {
            fold ^= u64::from(*taken) << bit;
            bit = if bit + 1 == width { 0 } else { bit + 1 };
        }
        fold
    }

    /// Returns the path to the present branch: three bits per taken branch.
    pub(crate) fn path(&self) -> u64 {
        let youngest_first = self.jumps.iter().rev().take(PATH_BRANCHES).enumerate();
        let path = youngest_first
            .fold(0, |path, (age, (from, to))| path ^ ((from >> 4) ^ (to >> 2)) << (3 * age));
        path % (1 << (3 * PATH_BRANCHES))
    }
}
