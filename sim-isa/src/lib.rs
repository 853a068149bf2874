//! What an A64 instruction word is on a Neoverse N2.

pub mod inst;

pub use inst::{
    Accumulate, BranchKind, Inst, MemOp, MemShape, PipeMask, Reg, RegFile, Rename, Role, Special,
    StaticEvents, UopGroup,
};
