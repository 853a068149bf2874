//! SVE floating point (Arm ARM C4.1, "SVE encodings").

use crate::row::Elem::{D, H, S, Z};
use crate::row::{Row, fma, fp, fp_lanes, fp_ops};
use crate::uops::simd;
use crate::uops::sve::*;

pub(super) const ROWS: &[Row] = &[
    // Unpredicated: FADD, FSUB; FMUL; FTSMUL; FRECPS, FRSQRTS -------------------------------------
    fp("01100101_zz_0_mmmmm_00000o_nnnnn_ddddd z>0", "vd = vn vm", ALU, Z),
    fp("01100101_zz_0_mmmmm_000010_nnnnn_ddddd z>0", "vd = vn vm", simd::FMUL, Z),
    fp("01100101_zz_0_mmmmm_000011_nnnnn_ddddd z>0", "vd = vn vm", FMULTIPLY, Z),
    fma("01100101_zz_0_mmmmm_00011o_nnnnn_ddddd z>0", "vd = vn vm", FRECPS, Z),
    // FRECPE, FRSQRTE; FEXPA; FTSSEL; FTMAD
    fp("01100101_zz_0_0111o_001100_nnnnn_ddddd z>0", "vd = vn", CONVERT, Z),
    fp("00000100_zz_1_00000_101110_nnnnn_ddddd z>0", "vd = vn", FEXPA, Z),
    fp("00000100_zz_1_mmmmm_101100_nnnnn_ddddd z>0", "vd = vn vm", FMULTIPLY, Z),
    fma("01100101_zz_0_10iii_100000_mmmmm_ddddd z>0", "vd = vd vm", FTMAD, Z),
    // Predicated ----------------------------------------------------------------------------------
    // FADD, FSUB; FMUL; FSUBR; FMAXNM, FMINNM, FMAX, FMIN; FABD; FSCALE; FMULX; FDIVR, FDIV
    fp("01100101_zz_0_0000o_100_ggg_mmmmm_ddddd z>0", "vd = vd vm pg", ALU, Z),
    fp("01100101_zz_0_00010_100_ggg_mmmmm_ddddd z>0", "vd = vd vm pg", simd::FMUL, Z),
    fp("01100101_zz_0_00011_100_ggg_mmmmm_ddddd z>0", "vd = vd vm pg", ALU, Z),
    fp("01100101_zz_0_001oo_100_ggg_mmmmm_ddddd z>0", "vd = vd vm pg", ALU, Z),
    fp("01100101_zz_0_01000_100_ggg_mmmmm_ddddd z>0", "vd = vd vm pg", ALU, Z),
    fp("01100101_zz_0_01001_100_ggg_mmmmm_ddddd z>0", "vd = vd vm pg", FMULTIPLY, Z),
    fp("01100101_zz_0_01010_100_ggg_mmmmm_ddddd z>0", "vd = vd vm pg", simd::FMUL, Z),
    fp("01100101_zz_0_0110o_100_ggg_mmmmm_ddddd z>0", "vd = vd vm pg", FDIV, Z),
    // With an immediate: FMUL; FADD, FSUB, FSUBR, FMAXNM, FMINNM, FMAX, FMIN
    fp("01100101_zz_0_11010_100_ggg_0000i_ddddd z>0", "vd = vd pg", simd::FMUL, Z),
    fp("01100101_zz_0_11ooo_100_ggg_0000i_ddddd z>0", "vd = vd pg", ALU, Z),
    // FABS, FNEG; FRINT; FRECPX; FSQRT; FLOGB
    fp("00000100_zz_0_1110o_101_ggg_nnnnn_ddddd z>0", "vd = vd vn pg", ALU, Z),
    fp("01100101_zz_0_00ooo_101_ggg_nnnnn_ddddd z>0 o!=5", "vd = vd vn pg", CONVERT, Z),
    fp("01100101_zz_0_01100_101_ggg_nnnnn_ddddd z>0", "vd = vd vn pg", CONVERT, Z),
    fp("01100101_zz_0_01101_101_ggg_nnnnn_ddddd z>0", "vd = vd vn pg", FSQRT, Z),
    fp("01100101_00_0_11zz0_101_ggg_nnnnn_ddddd z>0", "vd = vd vn pg", CONVERT, Z),
    // FCVT of single with half; with double; BFCVT; FCVTX
    fp("01100101_10_0_0100o_101_ggg_nnnnn_ddddd", "vd = vd vn pg", CONVERT, S),
    fp("01100101_11_0_010oo_101_ggg_nnnnn_ddddd", "vd = vd vn pg", CONVERT, D),
    fp("01100101_10_0_01010_101_ggg_nnnnn_ddddd", "vd = vd vn pg", BFCVT, S),
    fp("01100101_00_0_01010_101_ggg_nnnnn_ddddd", "vd = vd vn pg", CONVERT, D),
    // SCVTF, UCVTF and FCVTZS, FCVTZU by the floating-point type, whatever the integer's size (PMU
    // guide 4.13.5 to 4.13.7); the larger of the two types determines the number of elements
    fp("01100101_01_0_1o01u_101_ggg_nnnnn_ddddd", "vd = vd vn pg", CONVERT, H),
    fp_lanes("01100101_01_0_1o10u_101_ggg_nnnnn_ddddd", "vd = vd vn pg", CONVERT, H, S),
    fp_lanes("01100101_01_0_1o11u_101_ggg_nnnnn_ddddd", "vd = vd vn pg", CONVERT, H, D),
    fp("01100101_10_0_1o10u_101_ggg_nnnnn_ddddd", "vd = vd vn pg", CONVERT, S),
    fp("01100101_11_0_1o00u_101_ggg_nnnnn_ddddd", "vd = vd vn pg", CONVERT, D),
    fp_lanes("01100101_11_0_1o10u_101_ggg_nnnnn_ddddd", "vd = vd vn pg", CONVERT, S, D),
    fp("01100101_11_0_1o11u_101_ggg_nnnnn_ddddd", "vd = vd vn pg", CONVERT, D),
    // FCVTNT, FCVTLT of half and single; of single and double; FCVTXNT; BFCVTNT
    fp("01100100_10_0_0100o_101_ggg_nnnnn_ddddd", "vd = vd vn pg", CONVERT, S),
    fp("01100100_11_0_0101o_101_ggg_nnnnn_ddddd", "vd = vd vn pg", CONVERT, D),
    fp("01100100_00_0_01010_101_ggg_nnnnn_ddddd", "vd = vd vn pg", CONVERT, D),
    fp("01100100_10_0_01010_101_ggg_nnnnn_ddddd", "vd = vd vn pg", BFCVT, S),
    // Reductions: FADDV, FMAXNMV, FMINNMV, FMAXV, FMINV; FADDA
    fp("01100101_zz_0_00000_001_ggg_nnnnn_ddddd z>0", "vd = vn pg", FREDUCE, Z),
    fp("01100101_zz_0_001oo_001_ggg_nnnnn_ddddd z>0", "vd = vn pg", FREDUCE, Z),
    fp("01100101_zz_0_11000_001_ggg_mmmmm_ddddd z>0", "vd = vd vm pg", FADDA, Z),
    // Compares to a predicate: with zero; of vectors
    fp("01100101_zz_0_1000o_001_ggg_nnnnn_e_dddd z>0", "pd = vn pg", FCOMPARE, Z),
    fp("01100101_zz_0_1001o_001_ggg_nnnnn_0_dddd z>0", "pd = vn pg", FCOMPARE, Z),
    fp("01100101_zz_0_mmmmm_01o_ggg_nnnnn_e_dddd z>0", "pd = vn vm pg", FCOMPARE, Z),
    fp("01100101_zz_0_mmmmm_110_ggg_nnnnn_e_dddd z>0", "pd = vn vm pg", FCOMPARE, Z),
    fp("01100101_zz_0_mmmmm_111_ggg_nnnnn_1_dddd z>0", "pd = vn vm pg", FCOMPARE, Z),
    // FMLA, FMLS, FNMLA, FNMLS; FMAD, FMSB, FNMAD, FNMSB
    fma("01100101_zz_1_mmmmm_0oo_ggg_nnnnn_ddddd z>0", "vd = +vd vn vm pg", simd::FMLA, Z),
    fma("01100101_zz_1_aaaaa_1oo_ggg_mmmmm_ddddd z>0", "vd = vd vm +va pg", simd::FMLA, Z),
    // FCMLA, FCADD; FADDP; FMAXNMP, FMINNMP, FMAXP, FMINP
    fma("01100100_zz_0_mmmmm_0rr_ggg_nnnnn_ddddd z>0", "vd = +vd vn vm pg", FCMLA, Z),
    fp("01100100_zz_0_0000r_100_ggg_mmmmm_ddddd z>0", "vd = vd vm pg", FMULTIPLY, Z),
    fp("01100100_zz_0_10000_100_ggg_mmmmm_ddddd z>0", "vd = vd vm pg", ALU, Z),
    fp("01100100_zz_0_101oo_100_ggg_mmmmm_ddddd z>0", "vd = vd vm pg", ALU, Z),
    // By element: FMLA, FMLS; FMUL; FCMLA
    fma("01100100_0i_1_ii_mmm_00000o_nnnnn_ddddd", "vd = +vd vn vm", simd::FMLA, H),
    fma("01100100_10_1_ii_mmm_00000o_nnnnn_ddddd", "vd = +vd vn vm", simd::FMLA, S),
    fma("01100100_11_1_i_mmmm_00000o_nnnnn_ddddd", "vd = +vd vn vm", simd::FMLA, D),
    fp("01100100_0i_1_ii_mmm_001000_nnnnn_ddddd", "vd = vn vm", simd::FMUL, H),
    fp("01100100_10_1_ii_mmm_001000_nnnnn_ddddd", "vd = vn vm", simd::FMUL, S),
    fp("01100100_11_1_i_mmmm_001000_nnnnn_ddddd", "vd = vn vm", simd::FMUL, D),
    fma("01100100_10_1_ii_mmm_0001rr_nnnnn_ddddd", "vd = +vd vn vm", FCMLA, H),
    fma("01100100_11_1_i_mmmm_0001rr_nnnnn_ddddd", "vd = +vd vn vm", FCMLA, S),
    // FMLALB, FMLALT, FMLSLB, FMLSLT: by element, by vector
    fma("01100100_10_1_ii_mmm_01o0ik_nnnnn_ddddd", "vd = +vd vn vm", simd::FMLA, S),
    fma("01100100_10_1_mmmmm_10o00k_nnnnn_ddddd", "vd = +vd vn vm", simd::FMLA, S),
    // BFDOT; BFMLALB, BFMLALT; BFMMLA
    fp_ops("01100100_01_1_ii_mmm_010000_nnnnn_ddddd", "vd = +vd vn vm", simd::BFDOT, S, 4),
    fp_ops("01100100_01_1_mmmmm_100000_nnnnn_ddddd", "vd = +vd vn vm", simd::BFDOT, S, 4),
    fma("01100100_11_1_ii_mmm_0100ik_nnnnn_ddddd", "vd = +vd vn vm", simd::BFMLAL, S),
    fma("01100100_11_1_mmmmm_10000k_nnnnn_ddddd", "vd = +vd vn vm", simd::BFMLAL, S),
    fp_ops("01100100_01_1_mmmmm_111001_nnnnn_ddddd", "vd = +vd vn vm", simd::BFMMLA, S, 8),
];
