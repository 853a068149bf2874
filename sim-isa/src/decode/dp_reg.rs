//! Data processing on registers (Arm ARM C4.1, "Data Processing -- Register").

use crate::inst::Rename;
use crate::row::{Row, dp};
use crate::uops::{
    ALU, ALU_FLAGS, ALU_SHIFT, ALU_SHIFT_FLAGS, CRC, DIV_W, DIV_X, MADD, MUL, MUL_HIGH, NONE, PAC,
    TAG, XPAC,
};

pub(super) const ROWS: &[Row] = &[
    // MOV from the zero register and between registers, completed at rename
    dp("x0101010000_11111_000000_11111_ddddd", "xd =", NONE).renamed(Rename::Zero),
    dp("x0101010000_mmmmm_000000_11111_ddddd", "xd = xm", ALU).renamed(Rename::Move),
    // ANDS, BICS without and with a shift; AND, BIC, ORR, ORN, EOR, EON
    dp("x1101010_00_o_mmmmm_000000_nnnnn_ddddd", "xd f = xn xm", ALU_FLAGS),
    dp("11101010_hh_o_mmmmm_iiiiii_nnnnn_ddddd", "xd f = xn xm", ALU_SHIFT_FLAGS),
    dp("01101010_hh_o_mmmmm_0iiiii_nnnnn_ddddd", "xd f = xn xm", ALU_SHIFT_FLAGS),
    dp("1oo01010_hh_l_mmmmm_iiiiii_nnnnn_ddddd", "xd = xn xm", ALU),
    dp("0oo01010_hh_l_mmmmm_0iiiii_nnnnn_ddddd", "xd = xn xm", ALU),
    // ADD, SUB with LSL of at most 4, then with any shift
    dp("xo001011_000_mmmmm_iiiiii_nnnnn_ddddd i<5", "xd = xn xm", ALU),
    dp("xo101011_000_mmmmm_iiiiii_nnnnn_ddddd i<5", "xd f = xn xm", ALU_FLAGS),
    dp("1o001011_hh0_mmmmm_iiiiii_nnnnn_ddddd h<3", "xd = xn xm", ALU_SHIFT),
    dp("0o001011_hh0_mmmmm_0iiiii_nnnnn_ddddd h<3", "xd = xn xm", ALU_SHIFT),
    dp("1o101011_hh0_mmmmm_iiiiii_nnnnn_ddddd h<3", "xd f = xn xm", ALU_SHIFT_FLAGS),
    dp("0o101011_hh0_mmmmm_0iiiii_nnnnn_ddddd h<3", "xd f = xn xm", ALU_SHIFT_FLAGS),
    // ADD, SUB with extension
    dp("xo001011_001_mmmmm_ooo_iii_nnnnn_ddddd i<5", "sd = sn xm", ALU_SHIFT),
    dp("xo101011_001_mmmmm_ooo_iii_nnnnn_ddddd i<5", "xd f = sn xm", ALU_SHIFT_FLAGS),
    // ADC, SBC; with flags
    dp("xo011010_000_mmmmm_000000_nnnnn_ddddd", "xd = xn xm f", ALU),
    dp("xo111010_000_mmmmm_000000_nnnnn_ddddd", "xd f = xn xm f", ALU_FLAGS),
    // RMIF, SETF8, SETF16 keep some flags
    dp("10111010_000_iiiiii_00001_nnnnn_0kkkk", "f = f xn", ALU_FLAGS),
    dp("00111010_000_00000_0o0010_nnnnn_01101", "f = f xn", ALU_FLAGS),
    // CCMN, CCMP with register and with immediate
    dp("xo111010_010_mmmmm_cccc_00_nnnnn_0kkkk", "f = f xn xm", ALU_FLAGS),
    dp("xo111010_010_iiiii_cccc_10_nnnnn_0kkkk", "f = f xn", ALU_FLAGS),
    // CSEL, CSINC, CSINV, CSNEG
    dp("xo011010_100_mmmmm_cccc_0l_nnnnn_ddddd", "xd = xn xm f", ALU),
    // MUL, MNEG and MADD, MSUB
    dp("x0011011_000_mmmmm_o11111_nnnnn_ddddd", "xd = xn xm", MUL),
    dp("x0011011_000_mmmmm_oaaaaa_nnnnn_ddddd", "xd = xn xm +xa", MADD),
    // SMULL, SMNEGL, SMADDL, SMSUBL and the unsigned forms
    dp("10011011_u01_mmmmm_o11111_nnnnn_ddddd", "xd = xn xm", MUL),
    dp("10011011_u01_mmmmm_oaaaaa_nnnnn_ddddd", "xd = xn xm +xa", MADD),
    // SMULH, UMULH
    dp("10011011_u10_mmmmm_0....._nnnnn_ddddd", "xd = xn xm", MUL_HIGH),
    // UDIV, SDIV
    dp("00011010_110_mmmmm_00001o_nnnnn_ddddd", "xd = xn xm", DIV_W),
    dp("10011010_110_mmmmm_00001o_nnnnn_ddddd", "xd = xn xm", DIV_X),
    // LSLV, LSRV, ASRV, RORV
    dp("x0011010_110_mmmmm_0010oo_nnnnn_ddddd", "xd = xn xm", ALU),
    // CRC32B, H, W; CRC32X; and the CRC32C forms
    dp("00011010_110_mmmmm_010czz_nnnnn_ddddd z!=3", "xd = +xn xm", CRC),
    dp("10011010_110_mmmmm_010c11_nnnnn_ddddd", "xd = +xn xm", CRC),
    // SUBP, SUBPS, IRG, GMI, PACGA
    dp("10011010_110_mmmmm_000000_nnnnn_ddddd", "xd = sn sm", ALU),
    dp("10111010_110_mmmmm_000000_nnnnn_ddddd", "xd f = sn sm", ALU_FLAGS),
    dp("10011010_110_mmmmm_000100_nnnnn_ddddd", "sd = sn xm", TAG),
    dp("10011010_110_mmmmm_000101_nnnnn_ddddd", "xd = sn xm", ALU),
    dp("10011010_110_mmmmm_001100_nnnnn_ddddd", "xd = xn sm", PAC),
    // RBIT, REV16, REV32 or REV, REV of 64 bits, CLZ, CLS
    dp("x1011010_110_00000_00000o_nnnnn_ddddd", "xd = xn", ALU),
    dp("x1011010_110_00000_000010_nnnnn_ddddd", "xd = xn", ALU),
    dp("11011010_110_00000_000011_nnnnn_ddddd", "xd = xn", ALU),
    dp("x1011010_110_00000_00010o_nnnnn_ddddd", "xd = xn", ALU),
    // PACIA..AUTDB with modifier, with zero, XPACI and XPACD
    dp("11011010_110_00001_000ooo_nnnnn_ddddd", "xd = xd sn", PAC),
    dp("11011010_110_00001_001ooo_11111_ddddd", "xd = xd", PAC),
    dp("11011010_110_00001_01000o_11111_ddddd", "xd = xd", XPAC),
];
