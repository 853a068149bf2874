//! Faults of a text and of a run, each with its place.

use std::fmt;

use thiserror::Error;

/// A fault in the text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct AsmError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The fault.
    pub message: String,
    /// The known name most like an unknown one.
    pub nearest: Option<&'static str>,
    /// Right use of the instruction.
    pub example: Option<&'static str>,
}

impl fmt::Display for AsmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        if let Some(nearest) = self.nearest {
            write!(f, "; the nearest known name is {nearest}")?;
        }
        match self.example {
            Some(example) => write!(f, "; example: {example}"),
            None => Ok(()),
        }
    }
}

/// An instruction that a run cannot execute.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, address {pc:#x}: {fault}")]
pub struct RunError {
    /// Line of the instruction, from 1.
    pub line: u32,
    /// Its address.
    pub pc: u64,
    /// The reason.
    pub fault: RunFault,
}

/// The reason that ends a run with an error.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunFault {
    /// An access below the first data or above the last address.
    #[error(
        "address {0:#x} is outside of memory (0x1000 to 0xffff_ffff_ffff): load an address into \
         the base register first, for example ldr x0, =array"
    )]
    Address(u64),
    /// A store to the program itself.
    #[error("the store to {0:#x} would change the code; data are kept below .data")]
    Code(u64),
    /// An exclusive or atomic access across its size.
    #[error("address {address:#x} of an exclusive or atomic access is not a multiple of {bytes}")]
    Unaligned {
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u64,
    },
    /// A branch to an address without an instruction.
    #[error("the branch to {0:#x} leaves the program: br, blr and ret need the address of a label")]
    Target(u64),
    /// More memory than the limit.
    #[error("the run touches more than {0} bytes of memory: raise the limit or use less data")]
    Memory(u64),
}

/// A fault in one line, before the line number is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Column, from 1.
    pub(crate) column: u32,
    pub(crate) message: String,
    /// A name that is not known, for which the nearest one is looked up.
    pub(crate) unknown: Option<String>,
}

impl Fault {
    pub(crate) fn new(column: u32, message: impl Into<String>) -> Fault {
        Fault { column, message: message.into(), unknown: None }
    }
}
