//! Static description of A64 instruction words on a Neoverse N2: class, registers, memory, events,
//! cost.
//!
//! - [`decode`] turns a word into an [`Inst`]; [`inst`] defines its types.
//! - [`Program`] keeps one `Inst` for each location of a program and names it by an [`InstId`].
//! - [`Governing`] names the predicate that controls the elements of an SVE word.
//! - [`Ordering`] states how a word orders its thread among others.
//! - [`fuses`] decides which neighbors become one operation.
//!
//! In scope: everything that the core implements (Armv9.0-A with SVE2 of 128 bits, LSE, MTE,
//! pointer authentication, cryptography, BF16, I8MM, RNG).
//!
//! Out of scope: AArch32 (except the few instructions that the PMU guide names, [`decode_a32`]);
//! SME and later extensions, whose words are [`Special::Unknown`]; and register values, because
//! this crate executes nothing.
//!
//! ```
//! use sim_isa::{MemOp, Reg, decode};
//! let ldp = decode(0xa8c1_7bfd); // LDP x29, x30, [sp], #16
//! assert_eq!(ldp.mem.op, MemOp::Load);
//! assert_eq!(ldp.mem.bytes, 16);
//! assert_eq!(ldp.dsts(), [Reg::x(29), Reg::x(30), Reg::SP]);
//! ```

mod access;
mod classify;
mod costs;
mod decode;
mod events;
mod fields;
mod finish_decode;
mod fuse;
mod fusion;
pub mod inst;
mod micro_op;
mod operands;
mod operation_class;
mod ordering;
mod path_class;
mod predicate;
mod program;
mod rename_resources;
mod row;
mod spare;
mod special_fields;
mod system;
mod uop_counts;
mod uops;

pub use access::AccessClass;
pub use costs::{Costs, DivideTime};
pub use decode::{CostRow, cost_rows, decode, decode_a32};
pub use fuse::fuses;
pub use fusion::Fusion;
pub use inst::{
    Accumulate, BranchKind, Faulting, Inst, MemOp, MemShape, Reg, RegFile, Rename, Special,
    StaticEvents,
};
pub use micro_op::{PipeMask, Role, UopGroup};
pub use operation_class::{MultiplyKind, OperationClass, VectorKind};
pub use ordering::{Ordering, Synchronizes};
pub use path_class::PathClass;
pub use predicate::Governing;
pub use program::Program;
pub use rename_resources::{RenameResources, ResourceKind};
pub use sim_core::InstId;
pub use spare::Spared;
pub use special_fields::BarrierScope;
pub use system::{BankName, ContextWrite};
pub use uop_counts::UopCounts;
