//! An assembled program.

use sim_isa::encode::Instruction;

/// Address of the first instruction.
pub const CODE: u64 = 0x40_0000;
/// Address of the first data.
pub const DATA: u64 = 0x1_0000;
/// Address of the first data that would reach the code if they followed the others.
pub const LARGE_DATA: u64 = 0x1000_0000;
/// First value of SP; the stack grows down from here.
pub const STACK: u64 = 0x7ff0_0000;

/// A label of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: u64,
    /// Its line, from 1.
    pub line: u32,
    /// It names an instruction, not data.
    pub is_code: bool,
}

/// One instruction of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Code {
    pub(crate) instruction: Instruction,
    pub(crate) word: u32,
    pub(crate) line: u32,
}

/// An assembled program: instructions from [`CODE`], data from [`DATA`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    pub(crate) code: Vec<Code>,
    /// First bytes of memory that are not zero, by address.
    pub(crate) data: Vec<(u64, Vec<u8>)>,
    /// Labels in the order of their addresses.
    pub labels: Vec<Label>,
    /// The address after the last data.
    pub data_end: u64,
}

impl Program {
    /// Returns the instruction words; the first one is at [`CODE`].
    pub fn words(&self) -> impl ExactSizeIterator<Item = u32> {
        self.code.iter().map(|code| code.word)
    }

    /// Returns the lines of the text, from 1, of the instructions: one for each of
    /// [`Program::words`].
    pub fn lines(&self) -> impl ExactSizeIterator<Item = u32> {
        self.code.iter().map(|code| code.line)
    }

    /// Returns the address after the last instruction.
    pub(crate) fn end(&self) -> u64 {
        CODE + 4 * self.code.len() as u64
    }

    /// Returns the number of the instruction at an address.
    pub(crate) fn index_of(&self, pc: u64) -> Option<usize> {
        let distance = pc.checked_sub(CODE).filter(|distance| distance % 4 == 0)?;
        usize::try_from(distance / 4).ok().filter(|index| *index < self.code.len())
    }
}
