//! Advanced SIMD integer arithmetic, vector and scalar forms (Arm ARM C4.1, "Data Processing --
//! Scalar Floating-Point and Advanced SIMD").

use crate::row::Elem::{B, D, H, S, Tsz, TszWide, Wide, Z};
use crate::row::{Row, int};
use crate::uops::simd::*;

pub(super) const ROWS: &[Row] = &[
    // Three registers of the same type -----------------------------------------------------------
    // SHADD, UHADD; SQADD, UQADD; SRHADD, URHADD; SHSUB, UHSUB; SQSUB, UQSUB
    int("0qu01110_zz1_mmmmm_00000_1_nnnnn_ddddd z<3", "vd = vn vm", ALU, Z),
    int("0qu01110_zz1_mmmmm_00001_1_nnnnn_ddddd no1d", "vd = vn vm", ALU, Z),
    int("0qu01110_zz1_mmmmm_00010_1_nnnnn_ddddd z<3", "vd = vn vm", ALU, Z),
    int("0qu01110_zz1_mmmmm_00100_1_nnnnn_ddddd z<3", "vd = vn vm", ALU, Z),
    int("0qu01110_zz1_mmmmm_00101_1_nnnnn_ddddd no1d", "vd = vn vm", ALU, Z),
    // CMGT, CMHI; CMGE, CMHS
    int("0qu01110_zz1_mmmmm_0011o_1_nnnnn_ddddd no1d", "vd = vn vm", ALU, Z),
    // SSHL, USHL; SQSHL, UQSHL, SRSHL, URSHL, SQRSHL, UQRSHL
    int("0qu01110_zz1_mmmmm_01000_1_nnnnn_ddddd no1d", "vd = vn vm", SHIFT, Z),
    int("0qu01110_zz1_mmmmm_010oo_1_nnnnn_ddddd no1d", "vd = vn vm", SHIFT_ROUND, Z),
    // SMAX, UMAX, SMIN, UMIN; SABD, UABD; SABA, UABA
    int("0qu01110_zz1_mmmmm_0110o_1_nnnnn_ddddd z<3", "vd = vn vm", ALU, Z),
    int("0qu01110_zz1_mmmmm_01110_1_nnnnn_ddddd z<3", "vd = vn vm", ALU, Z),
    int("0qu01110_zz1_mmmmm_01111_1_nnnnn_ddddd z<3", "vd = +vd vn vm", ABA, Z),
    // ADD, SUB; CMTST, CMEQ; MLA, MLS; MUL, PMUL
    int("0qu01110_zz1_mmmmm_10000_1_nnnnn_ddddd no1d", "vd = vn vm", ALU, Z),
    int("0qu01110_zz1_mmmmm_10001_1_nnnnn_ddddd no1d", "vd = vn vm", ALU, Z),
    int("0qu01110_zz1_mmmmm_10010_1_nnnnn_ddddd z<3", "vd = +vd vn vm", MLA, Z),
    int("0q001110_zz1_mmmmm_10011_1_nnnnn_ddddd z<3", "vd = vn vm", MUL, Z),
    int("0q101110_001_mmmmm_10011_1_nnnnn_ddddd", "vd = vn vm", PMUL, B),
    // SMAXP, UMAXP, SMINP, UMINP; SQDMULH, SQRDMULH; ADDP
    int("0qu01110_zz1_mmmmm_1010o_1_nnnnn_ddddd z<3", "vd = vn vm", ALU, Z),
    int("0qu01110_zz1_mmmmm_10110_1_nnnnn_ddddd z<3 z>0", "vd = vn vm", MUL, Z),
    int("0q001110_zz1_mmmmm_10111_1_nnnnn_ddddd no1d", "vd = vn vm", ALU, Z),
    // Scalar: SQADD, UQADD, SQSUB, UQSUB; compares; shifts; ADD, SUB; SQDMULH, SQRDMULH
    int("01u11110_zz1_mmmmm_00o01_1_nnnnn_ddddd", "vd = vn vm", ALU, Z),
    int("01u11110_111_mmmmm_0011o_1_nnnnn_ddddd", "vd = vn vm", ALU, D),
    int("01u11110_111_mmmmm_01000_1_nnnnn_ddddd", "vd = vn vm", SHIFT, D),
    int("01u11110_111_mmmmm_01010_1_nnnnn_ddddd", "vd = vn vm", SHIFT_ROUND, D),
    int("01u11110_zz1_mmmmm_010o1_1_nnnnn_ddddd", "vd = vn vm", SHIFT_ROUND, Z),
    int("01u11110_111_mmmmm_1000o_1_nnnnn_ddddd", "vd = vn vm", ALU, D),
    int("01u11110_zz1_mmmmm_10110_1_nnnnn_ddddd z<3 z>0", "vd = vn vm", MUL, Z),
    // Three registers, extra ----------------------------------------------------------------------
    // SQRDMLAH, SQRDMLSH; SDOT, UDOT; USDOT; SMMLA, UMMLA; USMMLA
    int("0q101110_zz0_mmmmm_1000o_1_nnnnn_ddddd z<3 z>0", "vd = +vd vn vm", SQRDMLAH, Z),
    int("01111110_zz0_mmmmm_1000o_1_nnnnn_ddddd z<3 z>0", "vd = +vd vn vm", SQRDMLAH, Z),
    int("0qu01110_100_mmmmm_10010_1_nnnnn_ddddd", "vd = +vd vn vm", DOT, S),
    int("0q001110_100_mmmmm_10011_1_nnnnn_ddddd", "vd = +vd vn vm", DOT, S),
    int("01u01110_100_mmmmm_10100_1_nnnnn_ddddd", "vd = +vd vn vm", MMLA, S),
    int("01001110_100_mmmmm_10101_1_nnnnn_ddddd", "vd = +vd vn vm", MMLA, S),
    // Two registers -------------------------------------------------------------------------------
    // SADDLP, UADDLP; SUQADD, USQADD; CLS, CLZ; CNT
    int("0qu01110_zz_10000_00010_10_nnnnn_ddddd z<3", "vd = vn", ALU, Wide),
    int("0qu01110_zz_10000_00011_10_nnnnn_ddddd no1d", "vd = vd vn", ALU, Z),
    int("0qu01110_zz_10000_00100_10_nnnnn_ddddd z<3", "vd = vn", ALU, Z),
    int("0q001110_00_10000_00101_10_nnnnn_ddddd", "vd = vn", ALU, B),
    // SADALP, UADALP; SQABS, SQNEG; compares with zero; ABS, NEG
    int("0qu01110_zz_10000_00110_10_nnnnn_ddddd z<3", "vd = +vd vn", ADALP, Wide),
    int("0qu01110_zz_10000_00111_10_nnnnn_ddddd no1d", "vd = vn", ALU, Z),
    int("0qu01110_zz_10000_0100o_10_nnnnn_ddddd no1d", "vd = vn", ALU, Z),
    int("0q001110_zz_10000_01010_10_nnnnn_ddddd no1d", "vd = vn", ALU, Z),
    int("0qu01110_zz_10000_01011_10_nnnnn_ddddd no1d", "vd = vn", ALU, Z),
    // XTN; SHLL; SQXTN, UQXTN; SQXTUN; the second half keeps the first
    int("00001110_zz_10000_10010_10_nnnnn_ddddd z<3", "vd = vn", ALU, Wide),
    int("01001110_zz_10000_10010_10_nnnnn_ddddd z<3", "vd = vd vn", ALU, Wide),
    int("0q101110_zz_10000_10011_10_nnnnn_ddddd z<3", "vd = vn", SHIFT, Wide),
    int("00u01110_zz_10000_10100_10_nnnnn_ddddd z<3", "vd = vn", SHIFT_ROUND, Wide),
    int("01u01110_zz_10000_10100_10_nnnnn_ddddd z<3", "vd = vd vn", SHIFT_ROUND, Wide),
    int("00101110_zz_10000_10010_10_nnnnn_ddddd z<3", "vd = vn", SHIFT_ROUND, Wide),
    int("01101110_zz_10000_10010_10_nnnnn_ddddd z<3", "vd = vd vn", SHIFT_ROUND, Wide),
    // URECPE, URSQRTE
    int("0qu01110_10_10000_11100_10_nnnnn_ddddd", "vd = vn", CONVERT, S),
    // Scalar: SUQADD, USQADD; SQABS, SQNEG; compares; ABS, NEG; SQXTN, UQXTN; SQXTUN
    int("01u11110_zz_10000_00011_10_nnnnn_ddddd", "vd = vd vn", ALU, Z),
    int("01u11110_zz_10000_00111_10_nnnnn_ddddd", "vd = vn", ALU, Z),
    int("01u11110_11_10000_0100o_10_nnnnn_ddddd", "vd = vn", ALU, D),
    int("01011110_11_10000_01010_10_nnnnn_ddddd", "vd = vn", ALU, D),
    int("01u11110_11_10000_01011_10_nnnnn_ddddd", "vd = vn", ALU, D),
    int("01u11110_zz_10000_10100_10_nnnnn_ddddd z<3", "vd = vn", SHIFT_ROUND, Wide),
    int("01111110_zz_10000_10010_10_nnnnn_ddddd z<3", "vd = vn", SHIFT_ROUND, Wide),
    // Across lanes: SADDLV, UADDLV; SMAXV, UMAXV, SMINV, UMINV; ADDV; ADDP of a pair
    int("0qu01110_zz_11000_00011_10_nnnnn_ddddd z<2", "vd = vn", ADDLV, Wide),
    int("01u01110_10_11000_00011_10_nnnnn_ddddd", "vd = vn", ADDLV, D),
    int("0qu01110_zz_11000_o1010_10_nnnnn_ddddd z<2", "vd = vn", MAXV, Z),
    int("01u01110_10_11000_o1010_10_nnnnn_ddddd", "vd = vn", MAXV, S),
    int("0q001110_zz_11000_11011_10_nnnnn_ddddd z<2", "vd = vn", ADDV, Z),
    int("01001110_10_11000_11011_10_nnnnn_ddddd", "vd = vn", ADDV, S),
    int("01011110_11_11000_11011_10_nnnnn_ddddd", "vd = vn", ALU, D),
    // Three registers of different types ----------------------------------------------------------
    // ADDL, ADDW, SUBL, SUBW
    int("0qu01110_zz1_mmmmm_00oo_00_nnnnn_ddddd z<3", "vd = vn vm", ALU, Wide),
    // ADDHN, RADDHN, SUBHN, RSUBHN; the second half keeps the first
    int("00u01110_zz1_mmmmm_01o0_00_nnnnn_ddddd z<3", "vd = vn vm", ALU, Wide),
    int("01u01110_zz1_mmmmm_01o0_00_nnnnn_ddddd z<3", "vd = vd vn vm", ALU, Wide),
    // SABAL, UABAL; SABDL, UABDL
    int("0qu01110_zz1_mmmmm_0101_00_nnnnn_ddddd z<3", "vd = +vd vn vm", ABA, Wide),
    int("0qu01110_zz1_mmmmm_0111_00_nnnnn_ddddd z<3", "vd = vn vm", ALU, Wide),
    // SMLAL, UMLAL, SMLSL, UMLSL; SQDMLAL, SQDMLSL; SMULL, UMULL; SQDMULL
    int("0qu01110_zz1_mmmmm_10o0_00_nnnnn_ddddd z<3", "vd = +vd vn vm", MLAL, Wide),
    int("0q001110_zz1_mmmmm_10o1_00_nnnnn_ddddd z<3 z>0", "vd = vd vn vm", SQDMLAL, Wide),
    int("0qu01110_zz1_mmmmm_1100_00_nnnnn_ddddd z<3", "vd = vn vm", MULL, Wide),
    int("0q001110_zz1_mmmmm_1101_00_nnnnn_ddddd z<3 z>0", "vd = vn vm", MULL, Wide),
    // PMULL of bytes; of doublewords
    int("0q001110_001_mmmmm_1110_00_nnnnn_ddddd", "vd = vn vm", PMUL, H),
    int("0q001110_111_mmmmm_1110_00_nnnnn_ddddd", "vd = vn vm", PMULL_D, D),
    // Scalar: SQDMLAL, SQDMLSL; SQDMULL
    int("01011110_zz1_mmmmm_10o1_00_nnnnn_ddddd z<3 z>0", "vd = vd vn vm", SQDMLAL, Wide),
    int("01011110_zz1_mmmmm_1101_00_nnnnn_ddddd z<3 z>0", "vd = vn vm", MULL, Wide),
    // By element: halves have sixteen registers, words have all -----------------------------------
    // MUL; MLA, MLS; SMULL, UMULL; SMLAL, UMLAL, SMLSL, UMLSL
    int("0q001111_01lhmmmm_1000_k0_nnnnn_ddddd", "vd = vn vm", MUL, H),
    int("0q001111_10lmmmmm_1000_k0_nnnnn_ddddd", "vd = vn vm", MUL, S),
    int("0q101111_01lhmmmm_0o00_k0_nnnnn_ddddd", "vd = +vd vn vm", MLA, H),
    int("0q101111_10lmmmmm_0o00_k0_nnnnn_ddddd", "vd = +vd vn vm", MLA, S),
    int("0qu01111_01lhmmmm_1010_k0_nnnnn_ddddd", "vd = vn vm", MULL, S),
    int("0qu01111_10lmmmmm_1010_k0_nnnnn_ddddd", "vd = vn vm", MULL, D),
    int("0qu01111_01lhmmmm_0o10_k0_nnnnn_ddddd", "vd = +vd vn vm", MLAL, S),
    int("0qu01111_10lmmmmm_0o10_k0_nnnnn_ddddd", "vd = +vd vn vm", MLAL, D),
    // SQDMLAL, SQDMLSL; SQDMULL; SQDMULH, SQRDMULH; SQRDMLAH, SQRDMLSH, each with its scalar form
    int("0q001111_01lhmmmm_0o11_k0_nnnnn_ddddd", "vd = vd vn vm", SQDMLAL, S),
    int("01011111_01lhmmmm_0o11_k0_nnnnn_ddddd", "vd = vd vn vm", SQDMLAL, S),
    int("0q001111_10lmmmmm_0o11_k0_nnnnn_ddddd", "vd = vd vn vm", SQDMLAL, D),
    int("01011111_10lmmmmm_0o11_k0_nnnnn_ddddd", "vd = vd vn vm", SQDMLAL, D),
    int("0q001111_01lhmmmm_1011_k0_nnnnn_ddddd", "vd = vn vm", MULL, S),
    int("01011111_01lhmmmm_1011_k0_nnnnn_ddddd", "vd = vn vm", MULL, S),
    int("0q001111_10lmmmmm_1011_k0_nnnnn_ddddd", "vd = vn vm", MULL, D),
    int("01011111_10lmmmmm_1011_k0_nnnnn_ddddd", "vd = vn vm", MULL, D),
    int("0q001111_01lhmmmm_110o_k0_nnnnn_ddddd", "vd = vn vm", MUL, H),
    int("01011111_01lhmmmm_110o_k0_nnnnn_ddddd", "vd = vn vm", MUL, H),
    int("0q001111_10lmmmmm_110o_k0_nnnnn_ddddd", "vd = vn vm", MUL, S),
    int("01011111_10lmmmmm_110o_k0_nnnnn_ddddd", "vd = vn vm", MUL, S),
    int("0q101111_01lhmmmm_11o1_k0_nnnnn_ddddd", "vd = +vd vn vm", SQRDMLAH, H),
    int("01111111_01lhmmmm_11o1_k0_nnnnn_ddddd", "vd = +vd vn vm", SQRDMLAH, H),
    int("0q101111_10lmmmmm_11o1_k0_nnnnn_ddddd", "vd = +vd vn vm", SQRDMLAH, S),
    int("01111111_10lmmmmm_11o1_k0_nnnnn_ddddd", "vd = +vd vn vm", SQRDMLAH, S),
    // SDOT, UDOT; SUDOT, USDOT
    int("0qu01111_10lmmmmm_1110_k0_nnnnn_ddddd", "vd = +vd vn vm", DOT, S),
    int("0q001111_o0lmmmmm_1111_k0_nnnnn_ddddd", "vd = +vd vn vm", DOT, S),
    // Shifts by immediate -------------------------------------------------------------------------
    // SSHR, USHR; SSRA, USRA; SRSHR, URSHR; SRSRA, URSRA
    int("0qu011110_zzzziii_00000_1_nnnnn_ddddd z>0 no1d", "vd = vn", SHIFT, Tsz),
    int("0qu011110_zzzziii_00o10_1_nnnnn_ddddd z>0 no1d", "vd = +vd vn", SHIFT_ADD, Tsz),
    int("0qu011110_zzzziii_00100_1_nnnnn_ddddd z>0 no1d", "vd = vn", SHIFT_ROUND, Tsz),
    // SRI; SHL; SLI; SQSHLU; SQSHL, UQSHL
    int("0q1011110_zzzziii_01000_1_nnnnn_ddddd z>0 no1d", "vd = vd vn", SHIFT, Tsz),
    int("0q0011110_zzzziii_01010_1_nnnnn_ddddd z>0 no1d", "vd = vn", SHIFT, Tsz),
    int("0q1011110_zzzziii_01010_1_nnnnn_ddddd z>0 no1d", "vd = vd vn", SHIFT, Tsz),
    int("0q1011110_zzzziii_01100_1_nnnnn_ddddd z>0 no1d", "vd = vn", SHIFT_ROUND, Tsz),
    int("0qu011110_zzzziii_01110_1_nnnnn_ddddd z>0 no1d", "vd = vn", SHIFT_ROUND, Tsz),
    // SHRN; RSHRN, SQSHRUN, SQRSHRUN, SQSHRN, UQSHRN, SQRSHRN, UQRSHRN; the second half keeps the
    // first
    int("000011110_zzzziii_10000_1_nnnnn_ddddd z>0 z<8", "vd = vn", SHIFT, TszWide),
    int("010011110_zzzziii_10000_1_nnnnn_ddddd z>0 z<8", "vd = vd vn", SHIFT, TszWide),
    int("00u011110_zzzziii_100oo_1_nnnnn_ddddd z>0 z<8", "vd = vn", SHIFT_ROUND, TszWide),
    int("01u011110_zzzziii_100oo_1_nnnnn_ddddd z>0 z<8", "vd = vd vn", SHIFT_ROUND, TszWide),
    // SSHLL, USHLL
    int("0qu011110_zzzziii_10100_1_nnnnn_ddddd z>0 z<8", "vd = vn", SHIFT, TszWide),
    // Scalar: the same shifts on doublewords, the saturating ones on all sizes
    int("01u111110_1iiiiii_00000_1_nnnnn_ddddd", "vd = vn", SHIFT, D),
    int("01u111110_1iiiiii_00o10_1_nnnnn_ddddd", "vd = +vd vn", SHIFT_ADD, D),
    int("01u111110_1iiiiii_00100_1_nnnnn_ddddd", "vd = vn", SHIFT_ROUND, D),
    int("011111110_1iiiiii_01000_1_nnnnn_ddddd", "vd = vd vn", SHIFT, D),
    int("010111110_1iiiiii_01010_1_nnnnn_ddddd", "vd = vn", SHIFT, D),
    int("011111110_1iiiiii_01010_1_nnnnn_ddddd", "vd = vd vn", SHIFT, D),
    int("011111110_zzzziii_01100_1_nnnnn_ddddd z>0", "vd = vn", SHIFT_ROUND, Tsz),
    int("01u111110_zzzziii_01110_1_nnnnn_ddddd z>0", "vd = vn", SHIFT_ROUND, Tsz),
    int("01u111110_zzzziii_1001o_1_nnnnn_ddddd z>0 z<8", "vd = vn", SHIFT_ROUND, TszWide),
    int("011111110_zzzziii_1000o_1_nnnnn_ddddd z>0 z<8", "vd = vn", SHIFT_ROUND, TszWide),
];
