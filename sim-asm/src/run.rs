//! A run of a program: one record for each executed instruction.

use crate::error::{RunError, RunFault};
use crate::machine::{Machine, Memory, Next, Registers};
use crate::program::{CODE, Program, STACK};

/// First value of X30: a return to it ends the run. No instruction is there.
const RETURN: u64 = CODE - 4;

/// Limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest number of executed instructions.
    pub instructions: u64,
    /// Largest number of bytes of memory that are written, in pages of 4 KiB.
    pub memory: u64,
}

impl Default for Limits {
    /// One million instructions and 256 MiB.
    fn default() -> Limits {
        Limits { instructions: 1_000_000, memory: 256 << 20 }
    }
}

/// One executed instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed {
    /// Its line in the text, from 1.
    pub line: u32,
    /// Its address.
    pub pc: u64,
    /// Its word.
    pub word: u32,
    /// The first address of its access to data; that of the line for `DC ZVA`.
    pub addr: Option<u64>,
    /// It is a branch, and it was taken.
    pub taken: bool,
    /// Address of the instruction after it, or of the end.
    pub next_pc: u64,
}

/// The reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The run reached the end of the text.
    End,
    /// It returned from the first function.
    Return,
    /// It reached `SVC` or `HLT`.
    Halt,
    /// It executed as many instructions as the limit.
    Limit,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Executed instructions in their order.
    pub executed: Vec<Executed>,
    /// The reason for the end.
    pub stopped: Stop,
    /// Registers at the end.
    pub registers: Registers,
}

/// Runs a program from its first instruction, with all registers 0 but SP ([`STACK`]) and X30 (an
/// address that ends the run).
///
/// # Errors
///
/// If an instruction cannot be executed: an access outside of memory, a store to the code, a branch
/// to an address without an instruction, too much memory.
///
/// ```
/// use sim_asm::{Limits, Stop, assemble, run};
/// let program = assemble("mov x0, #3\nloop: subs x0, x0, #1\nb.ne loop\nret").expect("known");
/// let run = run(&program, Limits::default()).expect("no memory is used");
/// let taken: Vec<bool> = run.executed.iter().filter(|e| e.line == 3).map(|e| e.taken).collect();
/// assert_eq!(taken, [true, true, false]);
/// assert_eq!(run.stopped, Stop::Return);
/// ```
pub fn run(program: &Program, limits: Limits) -> Result<Run, RunError> {
    let located = |line, pc| move |fault: RunFault| RunError { line, pc, fault };
    let memory = Memory::new(program, limits.memory).map_err(located(0, CODE))?;
    let mut registers = Registers { sp: STACK, ..Registers::default() };
    registers.x[30] = RETURN;
    let mut machine = Machine { registers, memory };
    let mut executed = Vec::new();
    let mut pc = CODE;
    let stopped = loop {
        let Some(code) = program.index_of(pc).and_then(|index| program.code.get(index)) else {
            break Stop::End;
        };
        if executed.len() as u64 >= limits.instructions {
            break Stop::Limit;
        }
        let (addr, next) = machine.step(&code.instruction, pc).map_err(located(code.line, pc))?;
        let (next_pc, taken) = match next {
            Next::Target(target) => (target, true),
            Next::Following | Next::Stop => (pc + 4, false),
        };
        let is_end = next_pc == program.end() || next_pc == RETURN;
        if taken && !is_end && program.index_of(next_pc).is_none() {
            return Err(located(code.line, pc)(RunFault::Target(next_pc)));
        }
        let (line, word) = (code.line, code.word);
        executed.push(Executed { line, pc, word, addr, taken, next_pc });
        if next == Next::Stop {
            break Stop::Halt;
        }
        if next_pc == RETURN {
            break Stop::Return;
        }
        pc = next_pc;
    };
    Ok(Run { executed, stopped, registers: machine.registers })
}
