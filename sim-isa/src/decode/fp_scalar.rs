//! Scalar floating point (Arm ARM C4.1, "Data Processing -- Scalar Floating-Point").

use crate::inst::Rename;
use crate::row::Elem::{D, S, Y};
use crate::row::{Row, fma, fp, fp_ops, other};
use crate::uops::{
    FADD, FCMP, FCVT, FCVT_TO_GENERAL, FDIV, FMADD, FMUL, FROM_GENERAL, FSQRT, INSERT_GENERAL,
    NONE, TO_GENERAL,
};

pub(super) const ROWS: &[Row] = &[
    // FMOV of a register; FABS, FNEG; FSQRT
    other("00011110_yy1_000000_10000_nnnnn_ddddd y!=2", "vd = vn", FADD),
    fp("00011110_yy1_000001_10000_nnnnn_ddddd y!=2", "vd = vn", FADD, Y),
    fp("00011110_yy1_000010_10000_nnnnn_ddddd y!=2", "vd = vn", FADD, Y),
    fp("00011110_yy1_000011_10000_nnnnn_ddddd y!=2", "vd = vn", FSQRT, Y),
    // FCVT: single with double, single with half, double with half; BFCVT
    fp("00011110_001_000101_10000_nnnnn_ddddd", "vd = vn", FCVT, D),
    fp("00011110_011_000100_10000_nnnnn_ddddd", "vd = vn", FCVT, D),
    fp("00011110_001_000111_10000_nnnnn_ddddd", "vd = vn", FCVT, S),
    fp("00011110_111_000100_10000_nnnnn_ddddd", "vd = vn", FCVT, S),
    fp("00011110_011_000111_10000_nnnnn_ddddd", "vd = vn", FCVT, D),
    fp("00011110_111_000101_10000_nnnnn_ddddd", "vd = vn", FCVT, D),
    fp("00011110_011_000110_10000_nnnnn_ddddd", "vd = vn", FCVT, S),
    // FRINTN, P, M, Z, A, X, I; FRINT32Z, 32X, 64Z, 64X
    fp("00011110_yy1_001ooo_10000_nnnnn_ddddd y!=2 o!=5", "vd = vn", FCVT, Y),
    fp("00011110_yy1_0100oo_10000_nnnnn_ddddd y<2", "vd = vn", FCVT, Y),
    // FMOV of an immediate
    fp_ops("00011110_yy1_iiiiiiii_10000000_ddddd y!=2", "vd =", FADD, Y, 0),
    // FCMP, FCMPE with register and with zero
    fp("00011110_yy1_mmmmm_001000_nnnnn_e0000 y!=2", "f = vn vm", FCMP, Y),
    fp("00011110_yy1_....._001000_nnnnn_e1000 y!=2", "f = vn", FCMP, Y),
    // FCCMP, FCCMPE; FCSEL
    fp("00011110_yy1_mmmmm_cccc_01_nnnnn_ekkkk y!=2", "f = vn vm f", FCMP, Y),
    fp_ops("00011110_yy1_mmmmm_cccc_11_nnnnn_ddddd y!=2", "vd = vn vm f", FADD, Y, 0),
    // FMUL, FNMUL; FDIV; FADD, FSUB; FMAX, FMIN, FMAXNM, FMINNM
    fp("00011110_yy1_mmmmm_o00010_nnnnn_ddddd y!=2", "vd = vn vm", FMUL, Y),
    fp("00011110_yy1_mmmmm_000110_nnnnn_ddddd y!=2", "vd = vn vm", FDIV, Y),
    fp("00011110_yy1_mmmmm_001o10_nnnnn_ddddd y!=2", "vd = vn vm", FADD, Y),
    fp("00011110_yy1_mmmmm_01oo10_nnnnn_ddddd y!=2", "vd = vn vm", FADD, Y),
    // FMADD, FMSUB, FNMADD, FNMSUB
    fma("00011111_yyo_mmmmm_laaaaa_nnnnn_ddddd y!=2", "vd = vn vm +va", FMADD, Y),
    // FCVTNS..FCVTZU, FCVTAS, FCVTAU, FJCVTZS to general registers; the fixed-point forms
    fp("x0011110_yy1_rr_00u_000000_nnnnn_ddddd y!=2", "xd = vn", FCVT_TO_GENERAL, Y),
    fp("x0011110_yy1_00_10u_000000_nnnnn_ddddd y!=2", "xd = vn", FCVT_TO_GENERAL, Y),
    fp("00011110_011_11_110_000000_nnnnn_ddddd", "xd f = vn", FCVT, D),
    fp("10011110_yy0_11_00u_ssssss_nnnnn_ddddd y!=2", "xd = vn", FCVT_TO_GENERAL, Y),
    fp("00011110_yy0_11_00u_1sssss_nnnnn_ddddd y!=2", "xd = vn", FCVT_TO_GENERAL, Y),
    // SCVTF, UCVTF of integers and of fixed-point numbers
    fp("x0011110_yy1_00_01u_000000_nnnnn_ddddd y!=2", "vd = xn", FROM_GENERAL, Y),
    fp("10011110_yy0_00_01u_ssssss_nnnnn_ddddd y!=2", "vd = xn", FROM_GENERAL, Y),
    fp("00011110_yy0_00_01u_1sssss_nnnnn_ddddd y!=2", "vd = xn", FROM_GENERAL, Y),
    // FMOV of the zero register, completed at rename
    other("00011110_001_00_111_000000_11111_ddddd", "vd =", NONE).renamed(Rename::Zero),
    other("10011110_011_00_111_000000_11111_ddddd", "vd =", NONE).renamed(Rename::Zero),
    other("x0011110_111_00_111_000000_11111_ddddd", "vd =", NONE).renamed(Rename::Zero),
    // FMOV between register files: to general, from general, and of the high half
    other("00011110_001_00_110_000000_nnnnn_ddddd", "xd = vn", TO_GENERAL),
    other("10011110_011_00_110_000000_nnnnn_ddddd", "xd = vn", TO_GENERAL),
    other("x0011110_111_00_110_000000_nnnnn_ddddd", "xd = vn", TO_GENERAL),
    other("00011110_001_00_111_000000_nnnnn_ddddd", "vd = xn", FROM_GENERAL),
    other("10011110_011_00_111_000000_nnnnn_ddddd", "vd = xn", FROM_GENERAL),
    other("x0011110_111_00_111_000000_nnnnn_ddddd", "vd = xn", FROM_GENERAL),
    other("10011110_101_01_110_000000_nnnnn_ddddd", "xd = vn", TO_GENERAL),
    other("10011110_101_01_111_000000_nnnnn_ddddd", "vd = xn vd", INSERT_GENERAL),
];
