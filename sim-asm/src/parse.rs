//! From a line of text to its labels, its mnemonic and its operands.

mod line;
mod number;
mod operand;
mod register;
mod token;

pub(crate) use line::{Statement, line};
pub(crate) use operand::{Index, Modifier, Operand, Placed, Value};
pub(crate) use register::General;
