//! Static description of A64 instruction words on a Neoverse N2: class, registers, memory, events,
//! cost.
//!
//! - [`decode`] turns a word into an [`Inst`]; [`inst`] defines its types.
//! - [`Program`] keeps one `Inst` for each location of a program and names it by an [`InstId`].
//! - [`Governing`] names the predicate that controls the elements of an SVE word.
//! - [`Ordering`] states how a word orders its thread among others.
//! - [`fuses`] decides which neighbors become one operation.
//! - [`Exit`] states where a program may continue after a word.
//! - [`Addressing`], [`SveAddressing`] and [`AddressOperand`] state how a word forms an address.
//! - [`RegisterEffect`] states what a word does to general registers.
//! - [`encode`] names common instructions by their operands and returns their words.
//! - [`is_sve`], [`always_accesses`] and other classes need a few bits of a word only.
//!
//! In scope: everything that the core implements (Armv9.0-A with SVE2 of 128 bits, LSE, MTE,
//! pointer authentication, cryptography, BF16, I8MM, RNG).
//!
//! Out of scope: AArch32 (except the few instructions that the PMU guide names, [`decode_a32`]);
//! SME and later extensions, whose words are [`Special::Unknown`]; and the state of a program,
//! because this crate executes nothing: [`RegisterValue`] computes from values that a caller knows.
//!
//! ```
//! use sim_isa::{MemOp, Reg, decode};
//! let ldp = decode(0xa8c1_7bfd); // LDP x29, x30, [sp], #16
//! assert_eq!(ldp.mem.op, MemOp::Load);
//! assert_eq!(ldp.mem.bytes, 16);
//! assert_eq!(ldp.dsts(), [Reg::x(29), Reg::x(30), Reg::SP]);
//! ```

mod access;
mod address_operand;
mod addressing;
mod bits;
mod classify;
mod context_register;
mod costs;
mod decode;
pub mod encode;
mod events;
mod exit;
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
mod register_access;
mod register_effect;
mod register_value;
mod rename_resources;
mod row;
mod spare;
mod special_fields;
mod sve_addressing;
mod system;
mod uop_counts;
mod uops;
mod vector_steps;
mod word_class;

pub use access::AccessClass;
pub use address_operand::AddressOperand;
pub use addressing::Addressing;
pub use context_register::ContextRegister;
pub use costs::{Costs, DivideTime};
pub use decode::{CostRow, cost_rows, decode, decode_a32};
pub use exit::Exit;
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
pub use register_access::register_access;
pub use register_effect::{LiteralKind, RegisterEffect, Writes};
pub use register_value::{
    BitField, Extension, GeneralRegister, Operation, RegisterValue, Second, Shift,
};
pub use rename_resources::{RenameResources, ResourceKind};
pub use sim_core::InstId;
pub use spare::Spared;
pub use special_fields::BarrierScope;
pub use sve_addressing::{SveAddressing, VectorOffset};
pub use system::{BankName, ContextWrite};
pub use uop_counts::UopCounts;
pub use word_class::{
    always_accesses, is_load_or_store, is_prefetch, is_prfm, is_return, is_store_exclusive, is_sve,
    is_sve_access, is_tag_access, is_zero_line, may_access, never_completes, never_faults,
    never_traps,
};
