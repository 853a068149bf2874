//! The word of an instruction.

use super::fields::Unencodable;
use super::instruction::Instruction;
use super::{control, data, float, memory};

impl Instruction {
    /// Returns the word that encodes the instruction.
    ///
    /// # Errors
    ///
    /// If the field of an operand cannot hold its value.
    pub fn word(&self) -> Result<u32, Unencodable> {
        data::word(self)
            .or_else(|| control::word(self))
            .or_else(|| memory::word(self))
            .or_else(|| float::word(self))
            .unwrap_or_else(|| Err(Unencodable("no encoding is known".to_owned())))
    }
}
