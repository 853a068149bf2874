//! Common instructions of A64 by their operands, and the words that encode them.
//!
//! The opposite of [`crate::decode`] for the part of A64 that people write by hand: integer
//! arithmetic, branches, loads and stores, atomics, barriers, scalar floating point, and a few
//! vector instructions.
//!
//! ```
//! use sim_isa::encode::{Instruction, Width};
//! let add = Instruction::AddImmediate {
//!     width: Width::X,
//!     is_sub: false,
//!     sets_flags: false,
//!     d: 0,
//!     n: 1,
//!     value: 4,
//!     is_high: false,
//! };
//! assert_eq!(add.word(), Ok(0x9100_1020)); // ADD x0, x1, #4
//! ```

mod bitmask;
mod control;
mod data;
mod fields;
mod float;
mod instruction;
mod memory;
mod operand;
mod word;

pub use bitmask::bitmask;
pub use fields::Unencodable;
pub use float::float_immediate;
pub use instruction::Instruction;
pub use operand::{
    Address, AtomicKind, BarrierKind, BranchRegister, Condition, Extend, FloatBinary, FloatUnary,
    Integer, LogicKind, MoveKind, Order, PairAddress, SelectKind, ShiftKind, Transfer, UnaryKind,
    VectorKind, Width,
};
