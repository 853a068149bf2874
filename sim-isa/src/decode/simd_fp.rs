//! Advanced SIMD floating point, vector and scalar forms, half precision and BF16 (Arm ARM C4.1,
//! "Data Processing -- Scalar Floating-Point and Advanced SIMD").

use crate::row::Elem::{D, H, S, Y};
use crate::row::{Row, fma, fp, fp_ops};
use crate::uops::simd::*;
use crate::uops::{FCVT, FRECPS};

pub(super) const ROWS: &[Row] = &[
    // Three registers, single and double ----------------------------------------------------------
    // FMAXNM, FMINNM and pairwise; FMLA, FMLS; FADD, FSUB, FADDP, FABD; FMULX; FMUL
    fp("0qu01110_oy1_mmmmm_11000_1_nnnnn_ddddd no1d", "vd = vn vm", ALU, Y),
    fma("0q001110_oy1_mmmmm_11001_1_nnnnn_ddddd no1d", "vd = +vd vn vm", FMLA, Y),
    fp("0qu01110_oy1_mmmmm_11010_1_nnnnn_ddddd no1d", "vd = vn vm", ALU, Y),
    fp("0qu01110_0y1_mmmmm_11011_1_nnnnn_ddddd no1d", "vd = vn vm", FMUL, Y),
    // FCMEQ; FCMGE, FCMGT; FACGE, FACGT; FMAX, FMIN and pairwise; FRECPS, FRSQRTS; FDIV
    fp("0q001110_0y1_mmmmm_11100_1_nnnnn_ddddd no1d", "vd = vn vm", ALU, Y),
    fp("0q101110_oy1_mmmmm_1110k_1_nnnnn_ddddd no1d", "vd = vn vm", ALU, Y),
    fp("0qu01110_oy1_mmmmm_11110_1_nnnnn_ddddd no1d", "vd = vn vm", ALU, Y),
    fma("0q001110_oy1_mmmmm_11111_1_nnnnn_ddddd no1d", "vd = vn vm", FRECPS, Y),
    fp("0q101110_0y1_mmmmm_11111_1_nnnnn_ddddd no1d", "vd = vn vm", FDIV, Y),
    // FMLAL, FMLSL; FMLAL2, FMLSL2
    fma("0q001110_o01_mmmmm_11101_1_nnnnn_ddddd", "vd = +vd vn vm", FMLAL, S),
    fma("0q101110_o01_mmmmm_11001_1_nnnnn_ddddd", "vd = +vd vn vm", FMLAL, S),
    // Scalar: FMULX; FCMEQ; FCMGE, FCMGT, FACGE, FACGT; FABD; FRECPS, FRSQRTS
    fp("01011110_0y1_mmmmm_11011_1_nnnnn_ddddd", "vd = vn vm", FMUL, Y),
    fp("01011110_0y1_mmmmm_11100_1_nnnnn_ddddd", "vd = vn vm", ALU, Y),
    fp("01111110_oy1_mmmmm_1110k_1_nnnnn_ddddd", "vd = vn vm", ALU, Y),
    fp("01111110_1y1_mmmmm_11010_1_nnnnn_ddddd", "vd = vn vm", ALU, Y),
    fma("01011110_oy1_mmmmm_11111_1_nnnnn_ddddd", "vd = vn vm", FRECPS, Y),
    // Three registers, half -----------------------------------------------------------------------
    fp("0qu01110_o10_mmmmm_00000_1_nnnnn_ddddd", "vd = vn vm", ALU, H),
    fma("0q001110_o10_mmmmm_00001_1_nnnnn_ddddd", "vd = +vd vn vm", FMLA, H),
    fp("0qu01110_o10_mmmmm_00010_1_nnnnn_ddddd", "vd = vn vm", ALU, H),
    fp("0qu01110_010_mmmmm_00011_1_nnnnn_ddddd", "vd = vn vm", FMUL, H),
    fp("0q001110_010_mmmmm_00100_1_nnnnn_ddddd", "vd = vn vm", ALU, H),
    fp("0q101110_o10_mmmmm_0010k_1_nnnnn_ddddd", "vd = vn vm", ALU, H),
    fp("0qu01110_o10_mmmmm_00110_1_nnnnn_ddddd", "vd = vn vm", ALU, H),
    fma("0q001110_o10_mmmmm_00111_1_nnnnn_ddddd", "vd = vn vm", FRECPS, H),
    fp("0q101110_010_mmmmm_00111_1_nnnnn_ddddd", "vd = vn vm", FDIV_H, H),
    fp("01011110_010_mmmmm_00011_1_nnnnn_ddddd", "vd = vn vm", FMUL, H),
    fp("01011110_010_mmmmm_00100_1_nnnnn_ddddd", "vd = vn vm", ALU, H),
    fp("01111110_o10_mmmmm_0010k_1_nnnnn_ddddd", "vd = vn vm", ALU, H),
    fp("01111110_110_mmmmm_00010_1_nnnnn_ddddd", "vd = vn vm", ALU, H),
    fma("01011110_o10_mmmmm_00111_1_nnnnn_ddddd", "vd = vn vm", FRECPS, H),
    // Complex: FCMLA, FCADD -----------------------------------------------------------------------
    fma("0q101110_010_mmmmm_110rr_1_nnnnn_ddddd", "vd = +vd vn vm", FCMLA, H),
    fma("0q101110_1y0_mmmmm_110rr_1_nnnnn_ddddd no1d", "vd = +vd vn vm", FCMLA, Y),
    fp("0q101110_010_mmmmm_111r0_1_nnnnn_ddddd", "vd = vn vm", ALU, H),
    fp("0q101110_1y0_mmmmm_111r0_1_nnnnn_ddddd no1d", "vd = vn vm", ALU, Y),
    // BFDOT; BFMLALB, BFMLALT; BFMMLA: elements are single precision ------------------------------
    fp_ops("0q101110_010_mmmmm_11111_1_nnnnn_ddddd", "vd = +vd vn vm", BFDOT, S, 4),
    fp_ops("00101110_110_mmmmm_11111_1_nnnnn_ddddd", "vd = +vd vn vm", BFMLAL, S, 4),
    fp_ops("01101110_110_mmmmm_11111_1_nnnnn_ddddd", "vd = +vd vn vm", BFMLAL, S, 2),
    fp_ops("01101110_010_mmmmm_11101_1_nnnnn_ddddd", "vd = +vd vn vm", BFMMLA, S, 8),
    // Two registers, single and double ------------------------------------------------------------
    // FCVTN, FCVTL of half and single; of single and double; FCVTXN; BFCVTN; second halves keep the
    // first
    fp_ops("00001110_00_10000_10110_10_nnnnn_ddddd", "vd = vn", FCVT_HALF, S, 2),
    fp_ops("01001110_00_10000_10110_10_nnnnn_ddddd", "vd = vd vn", FCVT_HALF, S, 1),
    fp_ops("00001110_00_10000_10111_10_nnnnn_ddddd", "vd = vn", FCVT_HALF, S, 2),
    fp_ops("01001110_00_10000_10111_10_nnnnn_ddddd", "vd = vn", FCVT_HALF, S, 1),
    fp_ops("00o01110_01_10000_10110_10_nnnnn_ddddd", "vd = vn", FCVT, D, 2),
    fp_ops("01o01110_01_10000_10110_10_nnnnn_ddddd", "vd = vd vn", FCVT, D, 1),
    fp_ops("00001110_01_10000_10111_10_nnnnn_ddddd", "vd = vn", FCVT, D, 2),
    fp_ops("01001110_01_10000_10111_10_nnnnn_ddddd", "vd = vn", FCVT, D, 1),
    fp_ops("00001110_10_10000_10110_10_nnnnn_ddddd", "vd = vn", BFCVTN, S, 2),
    fp_ops("01001110_10_10000_10110_10_nnnnn_ddddd", "vd = vd vn", BFCVTN, S, 1),
    // FRINTN, FRINTP, FRINTM, FRINTZ; FRINTA; FRINTX, FRINTI; FRINT32Z, 32X, 64Z, 64X
    fp("0q001110_oy_10000_1100k_10_nnnnn_ddddd no1d", "vd = vn", CONVERT, Y),
    fp("0q101110_0y_10000_11000_10_nnnnn_ddddd no1d", "vd = vn", CONVERT, Y),
    fp("0q101110_oy_10000_11001_10_nnnnn_ddddd no1d", "vd = vn", CONVERT, Y),
    fp("0qu01110_0y_10000_1111o_10_nnnnn_ddddd no1d", "vd = vn", CONVERT, Y),
    // FCVTNS, PS, MS, ZS and unsigned; FCVTAS, FCVTAU; SCVTF, UCVTF; FRECPE, FRSQRTE
    fp("0qu01110_oy_10000_1101k_10_nnnnn_ddddd no1d", "vd = vn", CONVERT, Y),
    fp("0qu01110_0y_10000_11100_10_nnnnn_ddddd no1d", "vd = vn", CONVERT, Y),
    fp("0qu01110_oy_10000_11101_10_nnnnn_ddddd no1d", "vd = vn", CONVERT, Y),
    // Compares with zero; FABS, FNEG; FSQRT
    fp("0qu01110_1y_10000_0110o_10_nnnnn_ddddd no1d", "vd = vn", ALU, Y),
    fp("0q001110_1y_10000_01110_10_nnnnn_ddddd no1d", "vd = vn", ALU, Y),
    fp("0qu01110_1y_10000_01111_10_nnnnn_ddddd no1d", "vd = vn", ALU, Y),
    fp("0q101110_1y_10000_11111_10_nnnnn_ddddd no1d", "vd = vn", FSQRT, Y),
    // Scalar: FCVTXN; conversions; FRECPE, FRSQRTE; FRECPX; compares with zero
    fp("01111110_01_10000_10110_10_nnnnn_ddddd", "vd = vn", FCVT, D),
    fp("01u11110_oy_10000_1101k_10_nnnnn_ddddd", "vd = vn", CONVERT, Y),
    fp("01u11110_0y_10000_11100_10_nnnnn_ddddd", "vd = vn", CONVERT, Y),
    fp("01u11110_oy_10000_11101_10_nnnnn_ddddd", "vd = vn", CONVERT, Y),
    fp("01011110_1y_10000_11111_10_nnnnn_ddddd", "vd = vn", CONVERT, Y),
    fp("01u11110_1y_10000_0110o_10_nnnnn_ddddd", "vd = vn", ALU, Y),
    fp("01011110_1y_10000_01110_10_nnnnn_ddddd", "vd = vn", ALU, Y),
    // Two registers, half -------------------------------------------------------------------------
    fp("0q001110_o1_11100_1100k_10_nnnnn_ddddd", "vd = vn", CONVERT, H),
    fp("0q101110_01_11100_11000_10_nnnnn_ddddd", "vd = vn", CONVERT, H),
    fp("0q101110_o1_11100_11001_10_nnnnn_ddddd", "vd = vn", CONVERT, H),
    fp("0qu01110_o1_11100_1101k_10_nnnnn_ddddd", "vd = vn", CONVERT, H),
    fp("0qu01110_01_11100_11100_10_nnnnn_ddddd", "vd = vn", CONVERT, H),
    fp("0qu01110_o1_11100_11101_10_nnnnn_ddddd", "vd = vn", CONVERT, H),
    fp("0qu01110_11_11100_0110o_10_nnnnn_ddddd", "vd = vn", ALU, H),
    fp("0q001110_11_11100_01110_10_nnnnn_ddddd", "vd = vn", ALU, H),
    fp("0qu01110_11_11100_01111_10_nnnnn_ddddd", "vd = vn", ALU, H),
    fp("0q101110_11_11100_11111_10_nnnnn_ddddd", "vd = vn", FSQRT_H, H),
    fp("01u11110_o1_11100_1101k_10_nnnnn_ddddd", "vd = vn", CONVERT, H),
    fp("01u11110_01_11100_11100_10_nnnnn_ddddd", "vd = vn", CONVERT, H),
    fp("01u11110_o1_11100_11101_10_nnnnn_ddddd", "vd = vn", CONVERT, H),
    fp("01011110_11_11100_11111_10_nnnnn_ddddd", "vd = vn", CONVERT, H),
    fp("01u11110_11_11100_0110o_10_nnnnn_ddddd", "vd = vn", ALU, H),
    fp("01011110_11_11100_01110_10_nnnnn_ddddd", "vd = vn", ALU, H),
    // Across lanes: FMAXNMV, FMINNMV, FMAXV, FMINV of halves; of four singles ---------------------
    fp("0q001110_o0_11000_01100_10_nnnnn_ddddd", "vd = vn", FMAXV, H),
    fp("0q001110_o0_11000_01111_10_nnnnn_ddddd", "vd = vn", FMAXV, H),
    fp("01101110_o0_11000_01100_10_nnnnn_ddddd", "vd = vn", FMAXV, S),
    fp("01101110_o0_11000_01111_10_nnnnn_ddddd", "vd = vn", FMAXV, S),
    // Of a pair: FADDP; FMAXNMP, FMINNMP, FMAXP, FMINP
    fp("01111110_0y_11000_01101_10_nnnnn_ddddd", "vd = vn", ALU, Y),
    fp("01111110_oy_11000_01100_10_nnnnn_ddddd", "vd = vn", ALU, Y),
    fp("01111110_oy_11000_01111_10_nnnnn_ddddd", "vd = vn", ALU, Y),
    fp("01011110_00_11000_01101_10_nnnnn_ddddd", "vd = vn", ALU, H),
    fp("01011110_o0_11000_01100_10_nnnnn_ddddd", "vd = vn", ALU, H),
    fp("01011110_o0_11000_01111_10_nnnnn_ddddd", "vd = vn", ALU, H),
    // By element; bit 28 is the scalar form -------------------------------------------------------
    // FMLA, FMLS; FMUL, FMULX
    fma("0q001111_00lhmmmm_0o01_k0_nnnnn_ddddd", "vd = +vd vn vm", FMLA, H),
    fma("0q001111_10lmmmmm_0o01_k0_nnnnn_ddddd", "vd = +vd vn vm", FMLA, S),
    fma("01001111_110mmmmm_0o01_k0_nnnnn_ddddd", "vd = +vd vn vm", FMLA, D),
    fp("0qu01111_00lhmmmm_1001_k0_nnnnn_ddddd", "vd = vn vm", FMUL, H),
    fp("0qu01111_10lmmmmm_1001_k0_nnnnn_ddddd", "vd = vn vm", FMUL, S),
    fp("01u01111_110mmmmm_1001_k0_nnnnn_ddddd", "vd = vn vm", FMUL, D),
    fma("01011111_00lhmmmm_0o01_k0_nnnnn_ddddd", "vd = +vd vn vm", FMLA, H),
    fma("01011111_10lmmmmm_0o01_k0_nnnnn_ddddd", "vd = +vd vn vm", FMLA, S),
    fma("01011111_110mmmmm_0o01_k0_nnnnn_ddddd", "vd = +vd vn vm", FMLA, D),
    fp("01u11111_00lhmmmm_1001_k0_nnnnn_ddddd", "vd = vn vm", FMUL, H),
    fp("01u11111_10lmmmmm_1001_k0_nnnnn_ddddd", "vd = vn vm", FMUL, S),
    fp("01u11111_110mmmmm_1001_k0_nnnnn_ddddd", "vd = vn vm", FMUL, D),
    // FMLAL, FMLSL; FMLAL2, FMLSL2; FCMLA
    fma("0q001111_10lhmmmm_0o00_k0_nnnnn_ddddd", "vd = +vd vn vm", FMLAL, S),
    fma("0q101111_10lhmmmm_1o00_k0_nnnnn_ddddd", "vd = +vd vn vm", FMLAL, S),
    fma("0q101111_01lmmmmm_0rr1_k0_nnnnn_ddddd", "vd = +vd vn vm", FCMLA, H),
    fma("01101111_10lmmmmm_0rr1_k0_nnnnn_ddddd", "vd = +vd vn vm", FCMLA, S),
    // BFDOT; BFMLALB, BFMLALT
    fp_ops("0q001111_01lmmmmm_1111_k0_nnnnn_ddddd", "vd = +vd vn vm", BFDOT, S, 4),
    fp_ops("00001111_11lhmmmm_1111_k0_nnnnn_ddddd", "vd = +vd vn vm", BFMLAL, S, 4),
    fp_ops("01001111_11lhmmmm_1111_k0_nnnnn_ddddd", "vd = +vd vn vm", BFMLAL, S, 2),
    // Fixed point: SCVTF, UCVTF; FCVTZS, FCVTZU ---------------------------------------------------
    fp("01.0111101iiiiii_11100_1_nnnnn_ddddd", "vd = vn", CONVERT, D),
    fp("0q.01111001iiiii_11100_1_nnnnn_ddddd", "vd = vn", CONVERT, S),
    fp("0q.011110001iiii_11100_1_nnnnn_ddddd", "vd = vn", CONVERT, H),
    fp("01.0111101iiiiii_11111_1_nnnnn_ddddd", "vd = vn", CONVERT, D),
    fp("0q.01111001iiiii_11111_1_nnnnn_ddddd", "vd = vn", CONVERT, S),
    fp("0q.011110001iiii_11111_1_nnnnn_ddddd", "vd = vn", CONVERT, H),
    fp("01.1111101iiiiii_11100_1_nnnnn_ddddd", "vd = vn", CONVERT, D),
    fp("01.11111001iiiii_11100_1_nnnnn_ddddd", "vd = vn", CONVERT, S),
    fp("01.111110001iiii_11100_1_nnnnn_ddddd", "vd = vn", CONVERT, H),
    fp("01.1111101iiiiii_11111_1_nnnnn_ddddd", "vd = vn", CONVERT, D),
    fp("01.11111001iiiii_11111_1_nnnnn_ddddd", "vd = vn", CONVERT, S),
    fp("01.111110001iiii_11111_1_nnnnn_ddddd", "vd = vn", CONVERT, H),
];
