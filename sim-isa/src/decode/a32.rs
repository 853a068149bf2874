//! The few A32 instructions that the PMU guide names (4.9.4, 4.9.5, 4.10.3, 4.11.2), so that
//! directed tests can show their counts.
//!
//! These instructions have the descriptions of the corresponding A64 instructions and take the same
//! path through the core. This is not a full A32 decoder: traces hold only A64, and a Neoverse N2
//! runs AArch32 at EL0 only. Registers R0 to R14 are X0 to X14 (Arm ARM, "Mapping of the
//! general-purpose registers between the Execution states").

use crate::inst::BranchKind::{ExceptionReturn, Indirect};
use crate::inst::{Inst, MemOp, Special};
use crate::row::Elem::D;
use crate::row::{Domain, Row, Size, branch, int, mem, other};
use crate::uops::{BRANCH, LOAD, NONE, simd};

use super::Entry;

/// Creates a row for a load into the program counter: a branch whose target comes from memory.
const fn load_branch(bits: &'static str) -> Row {
    let mut row = mem(bits, "= [xn]", LOAD, MemOp::Load, Size::Bytes(4), 4);
    row.branch = Indirect;
    row
}

const ROWS: [(Domain, Row); 5] = [
    // LDR PC, [Rn, #imm]
    (Domain::Integer, load_branch("1110_0101_u001_nnnn_1111_iiiiiiiiiiii")),
    // MOV PC, Rm
    (Domain::Integer, branch("1110_0001_1010_0000_1111_00000000_mmmm", "= xm", BRANCH, Indirect)),
    // SUBS PC, LR, #imm
    (
        Domain::Integer,
        branch("1110_0010_0101_1110_1111_iiiiiiiiiiii", "=", BRANCH, ExceptionReturn),
    ),
    // BKPT
    (
        Domain::Integer,
        other("1110_0001_0010_iiiiiiiiiiii_0111_jjjj", "=", NONE).special(Special::Breakpoint),
    ),
    // VMULL.P64 Qd, Dn, Dm
    (Domain::Simd, int("1111_0010_1010_nnnn_dddd_1110_0000_mmmm", "vd = vn vm", simd::PMULL_D, D)),
];

/// Returns the description of the A32 instruction `word`, if the guide names it.
///
/// ```
/// use sim_isa::{Special, decode_a32};
/// let bkpt = decode_a32(0xe120_0070).expect("BKPT #0");
/// assert_eq!(bkpt.special, Special::Breakpoint);
/// ```
pub fn decode_a32(word: u32) -> Option<Inst> {
    ROWS.iter()
        .map(|(domain, row)| Entry::parse(*domain, row))
        .find(|entry| entry.pattern.matches(word))
        .map(|entry| entry.describe(word))
}
