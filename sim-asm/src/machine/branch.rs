//! Branches and the instructions that end a run.

use sim_isa::encode::{BranchRegister, Instruction, Width};

use super::flags::holds;
use super::registers::Registers;
use super::step::Next;

/// Executes a branch, or returns `None` for other instructions.
pub(super) fn execute(
    registers: &mut Registers,
    instruction: &Instruction,
    pc: u64,
) -> Option<Next> {
    let (is_taken, target) = match *instruction {
        Instruction::Branch { links, offset } => {
            if links {
                registers.set(Width::X, 30, pc + 4);
            }
            (true, pc.wrapping_add_signed(offset))
        }
        Instruction::BranchIf { condition, offset } => {
            (holds(registers, condition), pc.wrapping_add_signed(offset))
        }
        Instruction::CompareBranch { width, if_zero, t, offset } => {
            ((registers.get(width, t) == 0) == if_zero, pc.wrapping_add_signed(offset))
        }
        Instruction::TestBranch { if_zero, t, bit, offset } => {
            let is_zero = registers.get(Width::X, t) >> (bit & 63) & 1 == 0;
            (is_zero == if_zero, pc.wrapping_add_signed(offset))
        }
        Instruction::BranchTo { kind, n } => {
            let target = registers.get(Width::X, n);
            if kind == BranchRegister::Blr {
                registers.set(Width::X, 30, pc + 4);
            }
            (true, target)
        }
        Instruction::Svc(_) | Instruction::Hlt(_) => return Some(Next::Stop),
        _ => return None,
    };
    Some(if is_taken { Next::Target(target) } else { Next::Following })
}
