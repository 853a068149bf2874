//! The state that instructions change, and their effect on it.

mod access;
mod branch;
mod flags;
mod float;
mod integer;
mod memory;
mod registers;
mod step;
mod vector;

pub(crate) use memory::Memory;
pub use registers::Registers;
pub(crate) use step::{Machine, Next};
