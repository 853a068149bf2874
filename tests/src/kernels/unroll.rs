//! A kernel as a loop: unrolled, so that its backward branch is rare, and the order of its words.

use sim_isa::{BranchKind, Inst};

/// Number of words to which a kernel is unrolled.
const UNROLLED: usize = 200;
/// Largest number of taken branches in the unrolled loop: the capacity of the first level of branch
/// targets of the Neoverse N2.
const TAKEN: usize = 48;

/// An unrolled kernel.
#[derive(Clone, Debug)]
pub struct Unrolled {
    /// Copies of the kernel.
    pub copies: usize,
    /// Words of all copies. The backward branch follows them.
    pub words: usize,
    /// Indexes of the words in the order of execution, without the backward branch.
    pub path: Vec<usize>,
}

impl Unrolled {
    /// Unrolls the kernel of these instructions.
    pub fn of(body: &[Inst]) -> Unrolled {
        let taken = body.iter().filter(|inst| is_taken(inst)).count();
        let copies = (UNROLLED / body.len()).min(TAKEN / taken.max(1)).max(1);
        let words = copies * body.len();
        Unrolled { copies, words, path: path(body, words) }
    }

    /// Returns the word of the branch that follows the copies and goes to the first word.
    pub fn back(&self) -> u32 {
        0x1400_0000 | ((self.words as u32).wrapping_neg() & 0x03ff_ffff)
    }
}

/// Returns whether a branch is taken. Conditional branches of a kernel are never taken, others
/// always.
fn is_taken(inst: &Inst) -> bool {
    !matches!(inst.branch, BranchKind::None | BranchKind::Conditional)
}

/// Returns the execution order of the words of the unrolled loop. Indirect branches go to the next
/// word.
fn path(body: &[Inst], words: usize) -> Vec<usize> {
    let mut path = Vec::new();
    let mut links = Vec::new();
    let mut at = 0;
    while at < words {
        let inst = &body[at % body.len()];
        path.push(at);
        let target = at.wrapping_add_signed(inst.offset as isize / 4);
        at = match inst.branch {
            BranchKind::Direct => target,
            BranchKind::Call => {
                links.push(at + 1);
                target
            }
            BranchKind::Return => links.pop().unwrap_or(at + 1),
            _ => at + 1,
        };
    }
    path
}
