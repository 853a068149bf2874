//! Branches, exception generation and system instructions (Arm ARM C4.1, "Branches, Exception
//! Generating and System instructions").

use sim_core::TagUse;

use crate::inst::BranchKind::{
    Call, Conditional, Direct, ExceptionReturn, Indirect, IndirectCall, Return,
};
use crate::inst::{MemOp, Rename, Special};
use crate::row::{Row, Size, barrier, branch, dp, mem, other};
use crate::uops::{
    ALU_FLAGS, BRANCH, BRANCH_AUTH, CALL, MAINTENANCE, NONE, PAC, STORE, SYSTEM_READ, SYSTEM_WRITE,
    XPAC,
};

/// Creates a row for a hint, which takes a slot and no pipe.
const fn hint(bits: &'static str) -> Row {
    other(bits, "=", NONE).renamed(Rename::Nop)
}

/// Creates a row for maintenance of the line at an address.
const fn by_address(bits: &'static str) -> Row {
    mem(bits, "= [xt]", MAINTENANCE, MemOp::Maintenance, Size::Bytes(1), 1)
}

/// Creates a row for `DC ZVA` and related operations: 64 bytes, aligned by hardware.
const fn zero_line(bits: &'static str) -> Row {
    mem(bits, "= [xt]", STORE, MemOp::ZeroLine, Size::Bytes(64), 1)
}

pub(super) const ROWS: &[Row] = &[
    // B, BL, B.cond, CBZ, CBNZ, TBZ, TBNZ
    branch("000101_iiiiiiiiiiiiiiiiiiiiiiiiii", "=", BRANCH, Direct),
    branch("100101_iiiiiiiiiiiiiiiiiiiiiiiiii", "lr =", CALL, Call),
    branch("01010100_iiiiiiiiiiiiiiiiiii_0_cccc", "= f", BRANCH, Conditional),
    branch("x011010o_iiiiiiiiiiiiiiiiiii_ttttt", "= xt", BRANCH, Conditional),
    branch("b011011o_bbbbb_iiiiiiiiiiiiii_ttttt", "= xt", BRANCH, Conditional),
    // BR, BLR, RET
    branch("1101011_0000_11111_000000_nnnnn_00000", "= xn", BRANCH, Indirect),
    branch("1101011_0001_11111_000000_nnnnn_00000", "lr = xn", CALL, IndirectCall),
    branch("1101011_0010_11111_000000_nnnnn_00000", "= xn", BRANCH, Return),
    // BRAAZ, BRABZ; BLRAAZ, BLRABZ; RETAA, RETAB
    branch("1101011_0000_11111_00001k_nnnnn_11111", "= xn", BRANCH_AUTH, Indirect),
    branch("1101011_0001_11111_00001k_nnnnn_11111", "lr = xn", BRANCH_AUTH, IndirectCall),
    branch("1101011_0010_11111_00001k_11111_11111", "= lr sp", BRANCH_AUTH, Return),
    // BRAA, BRAB; BLRAA, BLRAB
    branch("1101011_1000_11111_00001k_nnnnn_mmmmm", "= xn sm", BRANCH_AUTH, Indirect),
    branch("1101011_1001_11111_00001k_nnnnn_mmmmm", "lr = xn sm", BRANCH_AUTH, IndirectCall),
    // ERET; ERETAA, ERETAB
    branch("1101011_0100_11111_000000_11111_00000", "=", BRANCH, ExceptionReturn),
    branch("1101011_0100_11111_00001k_11111_11111", "= sp", BRANCH_AUTH, ExceptionReturn),
    // SVC, HVC, SMC; BRK, HLT, DCPS1..3; DRPS outside debug state; UDF
    other("11010100_000_iiiiiiiiiiiiiiii_00001", "=", NONE).special(Special::SupervisorCall),
    other("11010100_000_iiiiiiiiiiiiiiii_00010", "=", NONE).special(Special::HypervisorCall),
    other("11010100_000_iiiiiiiiiiiiiiii_00011", "=", NONE).special(Special::SecureMonitorCall),
    other("11010100_001_iiiiiiiiiiiiiiii_00000", "=", NONE).special(Special::Breakpoint),
    other("11010100_010_iiiiiiiiiiiiiiii_00000", "=", NONE).special(Special::Undefined),
    other("11010100_101_iiiiiiiiiiiiiiii_000ll l>0", "=", NONE).special(Special::Undefined),
    other("11010110_10111111_00000011_11100000", "=", NONE).special(Special::Undefined),
    other("0000000000000000_iiiiiiiiiiiiiiii", "=", NONE).special(Special::Undefined),
    // Hints: WFE, WFI; ESB, TSB CSYNC; XPACLRI; PAC and AUT of X17 and X30
    other("11010101000000110010_0000_01o_11111", "=", NONE).special(Special::Wait),
    other("11010101000000110010_0010_000_11111", "=", NONE).special(Special::DataSyncBarrier),
    other("11010101000000110010_0010_010_11111", "=", NONE).special(Special::DataSyncBarrier),
    dp("11010101000000110010_0000_111_11111", "lr = lr", XPAC),
    dp("11010101000000110010_0001_oo0_11111", "x17 = x17 x16", PAC),
    dp("11010101000000110010_0011_oo0_11111", "lr = lr", PAC),
    dp("11010101000000110010_0011_oo1_11111", "lr = lr sp", PAC),
    // NOP, YIELD, SEV, SEVL, DGH, PSB CSYNC, CSDB, BTI and every hint without a name
    hint("11010101000000110010_ccccccc_11111"),
    // WFET, WFIT
    other("11010101000000110001_0000_00o_ttttt", "= xt", NONE).special(Special::Wait),
    // CLREX, DSB, DMB, ISB, SB, DSB with nXS
    hint("11010101000000110011_cccc_010_11111").special(Special::ClearExclusive),
    barrier("11010101000000110011_cccc_100_11111", Special::DataSyncBarrier),
    barrier("11010101000000110011_cccc_101_11111", Special::DataMemoryBarrier),
    barrier("11010101000000110011_cccc_110_11111", Special::InstSyncBarrier),
    other("11010101000000110011_0000_111_11111", "=", NONE).special(Special::InstSyncBarrier),
    barrier("11010101000000110011_cc10_001_11111", Special::DataSyncBarrier),
    // CFINV, XAFLAG, AXFLAG
    dp("1101010100000_000_0100_0000_000_11111", "f = f", ALU_FLAGS),
    dp("1101010100000_000_0100_0000_001_11111", "f = f", ALU_FLAGS),
    dp("1101010100000_000_0100_0000_010_11111", "f = f", ALU_FLAGS),
    // MSR of a PSTATE field by immediate
    other("1101010100000_ooo_0100_cccc_kkk_11111", "=", NONE).special(Special::SystemWrite),
    // DC ZVA, GVA, GZVA
    zero_line("1101010100001_011_0111_0100_001_ttttt"),
    zero_line("1101010100001_011_0111_0100_011_ttttt").tags(TagUse::Writes),
    zero_line("1101010100001_011_0111_0100_100_ttttt").tags(TagUse::Writes),
    // DC IVAC, IGVAC, IGDVAC; IC IVAU; DC CVAC, CGVAC, CGDVAC and CVAU, CVAP, CVADP, CIVAC with
    // tags
    by_address("1101010100001_000_0111_0110_0o1_ttttt"),
    by_address("1101010100001_000_0111_0110_101_ttttt"),
    by_address("1101010100001_011_0111_0101_001_ttttt"),
    by_address("1101010100001_011_0111_1010_oo1_ttttt"),
    by_address("1101010100001_011_0111_1011_001_ttttt"),
    by_address("1101010100001_011_0111_1100_oo1_ttttt"),
    by_address("1101010100001_011_0111_1101_oo1_ttttt"),
    by_address("1101010100001_011_0111_1110_oo1_ttttt"),
    // Every other SYS (TLBI, AT, IC IALLU, DC by set and way ...) and SYSL
    other("1101010100001_ooo_nnnn_cccc_kkk_ttttt", "= xt", SYSTEM_WRITE)
        .special(Special::SystemWrite),
    other("1101010100101_ooo_nnnn_cccc_kkk_ttttt", "xt =", SYSTEM_READ)
        .special(Special::SystemRead),
    // MSR and MRS of NZCV
    other("11010101000_11011_0100_0010_000_ttttt", "f = xt", ALU_FLAGS),
    other("11010101001_11011_0100_0010_000_ttttt", "xt = f", SYSTEM_READ),
    // MRS of RNDR and RNDRRS also writes NZCV
    other("11010101001_11011_0010_0100_00o_ttttt", "xt f =", SYSTEM_READ)
        .special(Special::SystemRead),
    // MRS of registers that programs do not change: CTR_EL0, DCZID_EL0, TPIDR_EL0, TPIDRRO_EL0;
    // FPCR
    other("11010101001_11011_0000_0000_001_ttttt", "xt =", SYSTEM_READ),
    other("11010101001_11011_0000_0000_111_ttttt", "xt =", SYSTEM_READ),
    other("11010101001_11011_1101_0000_01o_ttttt", "xt =", SYSTEM_READ),
    other("11010101001_11011_0100_0100_000_ttttt", "xt =", SYSTEM_READ),
    // Every other MSR and MRS
    other("11010101000_1oooo_nnnn_cccc_kkk_ttttt", "= xt", SYSTEM_WRITE)
        .special(Special::SystemWrite),
    other("11010101001_1oooo_nnnn_cccc_kkk_ttttt", "xt =", SYSTEM_READ)
        .special(Special::SystemRead),
];
