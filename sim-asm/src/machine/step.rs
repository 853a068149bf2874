//! One instruction of a run.

use sim_isa::encode::Instruction;

use super::memory::Memory;
use super::registers::Registers;
use super::{access, branch, float, integer, vector};
use crate::error::RunFault;

/// The place where a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// At the next instruction.
    Following,
    /// At the target of a taken branch.
    Target(u64),
    /// Nowhere: `SVC` or `HLT`.
    Stop,
}

/// Registers and memory.
pub(crate) struct Machine {
    pub(crate) registers: Registers,
    pub(crate) memory: Memory,
}

impl Machine {
    /// Executes one instruction: its data address, and where the run goes on.
    pub(crate) fn step(
        &mut self,
        instruction: &Instruction,
        pc: u64,
    ) -> Result<(Option<u64>, Next), RunFault> {
        let registers = &mut self.registers;
        if integer::execute(registers, instruction, pc) {
            return Ok((None, Next::Following));
        }
        if let Some(next) = branch::execute(registers, instruction, pc) {
            return Ok((None, next));
        }
        if let Some(address) = access::execute(registers, &mut self.memory, instruction)? {
            return Ok((Some(address), Next::Following));
        }
        // Barriers change nothing for a single thread.
        let _ = float::execute(registers, instruction) || vector::execute(registers, instruction);
        Ok((None, Next::Following))
    }
}
