//! A mnemonic with the function that reads its operands.

use sim_isa::encode::Instruction;

use super::args::Args;
use crate::error::Fault;

/// Turns operands into an instruction.
type Build = fn(&mut Args<'_>) -> Result<Instruction, Fault>;

/// A mnemonic.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The mnemonic in lower case.
    pub name: &'static str,
    /// One example of its use.
    pub example: &'static str,
    pub(crate) build: Build,
}

pub(super) const fn row(name: &'static str, example: &'static str, build: Build) -> Form {
    Form { name, example, build }
}
