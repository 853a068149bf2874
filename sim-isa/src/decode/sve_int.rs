//! SVE and SVE2 integer arithmetic, shifts, compares and cryptography (Arm ARM C4.1, "SVE
//! encodings").

use crate::row::Elem::{B, D, H, S, Tsz, TszWide, Z};
use crate::row::{Row, crypto, int, plain, unallocated};
use crate::uops::simd;
use crate::uops::sve::*;

pub(super) const ROWS: &[Row] = &[
    // Predicated, two vectors ---------------------------------------------------------------------
    // ADD, SUB, SUBR; SMAX, UMAX, SMIN, UMIN, SABD, UABD; MUL; SMULH, UMULH; SDIV, UDIV and
    // reversed
    int("00000100_zz_0_0000o_000_ggg_mmmmm_ddddd", "vd = vd vm pg", ALU, Z),
    int("00000100_zz_0_00011_000_ggg_mmmmm_ddddd", "vd = vd vm pg", ALU, Z),
    int("00000100_zz_0_010oo_000_ggg_mmmmm_ddddd", "vd = vd vm pg", ALU, Z),
    int("00000100_zz_0_0110o_000_ggg_mmmmm_ddddd", "vd = vd vm pg", ALU, Z),
    int("00000100_zz_0_10000_000_ggg_mmmmm_ddddd", "vd = vd vm pg", MUL, Z),
    int("00000100_zz_0_1001o_000_ggg_mmmmm_ddddd", "vd = vd vm pg", MUL, Z),
    int("00000100_zz_0_101oo_000_ggg_mmmmm_ddddd z>1", "vd = vd vm pg", DIV, Z),
    // ORR, EOR, AND, BIC
    plain("00000100_zz_0_110oo_000_ggg_mmmmm_ddddd", "vd = vd vm pg", ALU),
    // Reductions: SADDV, UADDV by source element; SMAXV, UMAXV, SMINV, UMINV; ORV, EORV, ANDV
    int("00000100_00_0_0000o_001_ggg_nnnnn_ddddd", "vd = vn pg", REDUCE_B, D),
    int("00000100_01_0_0000o_001_ggg_nnnnn_ddddd", "vd = vn pg", REDUCE_H, D),
    int("00000100_10_0_0000o_001_ggg_nnnnn_ddddd", "vd = vn pg", REDUCE_SD, D),
    int("00000100_11_0_00001_001_ggg_nnnnn_ddddd", "vd = vn pg", REDUCE_SD, D),
    int("00000100_zz_0_010oo_001_ggg_nnnnn_ddddd", "vd = vn pg", REDUCE, Z),
    plain("00000100_zz_0_110oo_001_ggg_nnnnn_ddddd o<3", "vd = vn pg", REDUCE_LOGIC),
    // Shifts by immediate: ASR, LSR; LSL; ASRD; SQSHL, UQSHL; SRSHR, URSHR; SQSHLU
    int("00000100_zz_0_0000o_100_ggg_zziii_ddddd z>0", "vd = vd pg", SHIFT, Tsz),
    int("00000100_zz_0_00011_100_ggg_zziii_ddddd z>0", "vd = vd pg", SHIFT, Tsz),
    int("00000100_zz_0_00100_100_ggg_zziii_ddddd z>0", "vd = vd pg", SHIFT_ROUND, Tsz),
    int("00000100_zz_0_0011o_100_ggg_zziii_ddddd z>0", "vd = vd pg", SHIFT_ROUND, Tsz),
    int("00000100_zz_0_0110o_100_ggg_zziii_ddddd z>0", "vd = vd pg", SHIFT_ROUND, Tsz),
    int("00000100_zz_0_01111_100_ggg_zziii_ddddd z>0", "vd = vd pg", SHIFT_ROUND, Tsz),
    // Shifts by vector: ASR, LSR; LSL; reversed; by wide elements
    int("00000100_zz_0_10o0u_100_ggg_mmmmm_ddddd", "vd = vd vm pg", SHIFT, Z),
    int("00000100_zz_0_10o11_100_ggg_mmmmm_ddddd", "vd = vd vm pg", SHIFT, Z),
    int("00000100_zz_0_1100u_100_ggg_mmmmm_ddddd z<3", "vd = vd vm pg", SHIFT, D),
    int("00000100_zz_0_11011_100_ggg_mmmmm_ddddd z<3", "vd = vd vm pg", SHIFT, D),
    // Predicated, one vector: SXTB, UXTB; SXTH, UXTH; SXTW, UXTW; ABS, NEG; CLS, CLZ, CNT, CNOT;
    // NOT
    int("00000100_zz_0_1000u_101_ggg_nnnnn_ddddd z>0", "vd = vd vn pg", SHIFT, Z),
    int("00000100_zz_0_1001u_101_ggg_nnnnn_ddddd z>1", "vd = vd vn pg", SHIFT, Z),
    int("00000100_11_0_1010u_101_ggg_nnnnn_ddddd", "vd = vd vn pg", SHIFT, D),
    int("00000100_zz_0_1011o_101_ggg_nnnnn_ddddd", "vd = vd vn pg", ALU, Z),
    int("00000100_zz_0_110oo_101_ggg_nnnnn_ddddd", "vd = vd vn pg", ALU, Z),
    plain("00000100_zz_0_11110_101_ggg_nnnnn_ddddd", "vd = vd vn pg", ALU),
    // MLA, MLS; MAD, MSB
    int("00000100_zz_0_mmmmm_01o_ggg_nnnnn_ddddd", "vd = +vd vn vm pg", MLA, Z),
    int("00000100_zz_0_mmmmm_11o_ggg_aaaaa_ddddd", "vd = vd vm +va pg", MLA, Z),
    // Unpredicated --------------------------------------------------------------------------------
    // ADD, SUB; SQADD, UQADD, SQSUB, UQSUB; XAR; EOR3, BCAX; BSL, BSL1N, BSL2N, NBSL
    int("00000100_zz_1_mmmmm_00000o_nnnnn_ddddd", "vd = vn vm", ALU, Z),
    int("00000100_zz_1_mmmmm_0001oo_nnnnn_ddddd", "vd = vn vm", ALU, Z),
    plain("00000100_zz_1_zziii_001101_mmmmm_ddddd z>0", "vd = vd vm", simd::HASH_SCHEDULE),
    plain("00000100_0o_1_mmmmm_001110_kkkkk_ddddd", "vd = vd vm vk", simd::HASH_SCHEDULE),
    plain("00000100_oo_1_mmmmm_001111_kkkkk_ddddd", "vd = vd vm vk", ALU),
    // INDEX of immediates, of general registers
    int("00000100_zz_1_iiiii_010000_iiiii_ddddd", "vd =", INDEX, Z),
    int("00000100_zz_1_iiiii_010001_nnnnn_ddddd", "vd = xn", INDEX_GENERAL, Z),
    int("00000100_zz_1_mmmmm_010010_iiiii_ddddd", "vd = xm", INDEX_GENERAL, Z),
    int("00000100_zz_1_mmmmm_010011_nnnnn_ddddd", "vd = xn xm", INDEX_GENERAL, Z),
    // MUL; PMUL; SMULH, UMULH; SQDMULH, SQRDMULH
    int("00000100_zz_1_mmmmm_011000_nnnnn_ddddd", "vd = vn vm", MUL, Z),
    int("00000100_00_1_mmmmm_011001_nnnnn_ddddd", "vd = vn vm", PMUL, B),
    int("00000100_zz_1_mmmmm_01101o_nnnnn_ddddd", "vd = vn vm", MUL, Z),
    int("00000100_zz_1_mmmmm_01110o_nnnnn_ddddd", "vd = vn vm", MUL, Z),
    // Shifts by wide elements, by immediate; ADR
    int("00000100_zz_1_mmmmm_10000u_nnnnn_ddddd z<3", "vd = vn vm", SHIFT, D),
    int("00000100_zz_1_mmmmm_100011_nnnnn_ddddd z<3", "vd = vn vm", SHIFT, D),
    int("00000100_zz_1_zziii_10010u_nnnnn_ddddd z>0", "vd = vn", SHIFT, Tsz),
    int("00000100_zz_1_zziii_100111_nnnnn_ddddd z>0", "vd = vn", SHIFT, Tsz),
    int("00000100_10_1_mmmmm_1010kk_nnnnn_ddddd", "vd = vn vm", ALU, S),
    int("00000100_oo_1_mmmmm_1010kk_nnnnn_ddddd", "vd = vn vm", ALU, D),
    // Vectors by element count: saturating; INC, DEC
    int("00000100_zz_10_iiii_1100oo_ppppp_ddddd z>0", "vd = vd", COUNT_VECTOR, Z),
    int("00000100_zz_11_iiii_11000o_ppppp_ddddd z>0", "vd = vd", COUNT_VECTOR, Z),
    // A shifted immediate of bytes is unallocated
    unallocated("00100101_00_100_ooo_111iiiiiiii_ddddd"),
    // Wide immediates: ADD, SUB; SUBR; SQADD, UQADD, SQSUB, UQSUB; SMAX, UMAX, SMIN, UMIN; MUL
    int("00100101_zz_100_00o_11siiiiiiii_ddddd", "vd = vd", ALU, Z),
    int("00100101_zz_100_011_11siiiiiiii_ddddd", "vd = vd", ALU, Z),
    int("00100101_zz_100_1oo_11siiiiiiii_ddddd", "vd = vd", ALU, Z),
    int("00100101_zz_101_0oo_110iiiiiiii_ddddd", "vd = vd", ALU, Z),
    int("00100101_zz_110_000_110iiiiiiii_ddddd", "vd = vd", MUL, Z),
    // Compares to predicate and flags: vectors; wide; immediates
    int("00100100_zz_0_mmmmm_001_ggg_nnnnn_e_dddd z<3", "pd f = vn vm pg", COMPARE, D),
    int("00100100_zz_0_mmmmm_01o_ggg_nnnnn_e_dddd z<3", "pd f = vn vm pg", COMPARE, D),
    int("00100100_zz_0_mmmmm_11o_ggg_nnnnn_e_dddd z<3", "pd f = vn vm pg", COMPARE, D),
    int("00100100_zz_0_mmmmm_000_ggg_nnnnn_e_dddd", "pd f = vn vm pg", COMPARE, Z),
    int("00100100_zz_0_mmmmm_10o_ggg_nnnnn_e_dddd", "pd f = vn vm pg", COMPARE, Z),
    int("00100100_zz_1_iiiiiii_o_ggg_nnnnn_e_dddd", "pd f = vn pg", COMPARE, Z),
    int("00100101_zz_0_iiiii_00k_ggg_nnnnn_e_dddd", "pd f = vn pg", COMPARE, Z),
    int("00100101_zz_0_iiiii_100_ggg_nnnnn_e_dddd", "pd f = vn pg", COMPARE, Z),
    // MATCH, NMATCH
    int("01000101_zz_1_mmmmm_100_ggg_nnnnn_e_dddd z<2", "pd f = vn vm pg", MATCH, Z),
    // SVE2 multiply-add, unpredicated -------------------------------------------------------------
    // SDOT, UDOT; SQDMLALBT, SQDMLSLBT; CDOT; CMLA; SQRDCMLAH
    int("01000100_zz_0_mmmmm_00000u_nnnnn_ddddd z>1", "vd = +vd vn vm", DOT, Z),
    int("01000100_zz_0_mmmmm_00001o_nnnnn_ddddd z>0", "vd = +vd vn vm", SQDMLAL, Z),
    int("01000100_zz_0_mmmmm_0001rr_nnnnn_ddddd z>1", "vd = +vd vn vm", DOT, Z),
    int("01000100_zz_0_mmmmm_0010rr_nnnnn_ddddd", "vd = +vd vn vm", CMLA, Z),
    int("01000100_zz_0_mmmmm_0011rr_nnnnn_ddddd", "vd = +vd vn vm", SQRDMLAH, Z),
    // SMLALB, UMLALB, SMLSLB, UMLSLB and top; SQDMLALB, SQDMLSLB and top; SQRDMLAH, SQRDMLSH; USDOT
    int("01000100_zz_0_mmmmm_010ook_nnnnn_ddddd z>0", "vd = +vd vn vm", MLAL, Z),
    int("01000100_zz_0_mmmmm_0110ok_nnnnn_ddddd z>0", "vd = +vd vn vm", SQDMLAL, Z),
    int("01000100_zz_0_mmmmm_01110o_nnnnn_ddddd", "vd = +vd vn vm", SQRDMLAH, Z),
    int("01000100_10_0_mmmmm_011110_nnnnn_ddddd", "vd = +vd vn vm", DOT, S),
    // By element: SDOT, UDOT; MLA, MLS; SQRDMLAH, SQRDMLSH; USDOT, SUDOT
    int("01000100_10_1_ii_mmm_00000u_nnnnn_ddddd", "vd = +vd vn vm", DOT, S),
    int("01000100_11_1_i_mmmm_00000u_nnnnn_ddddd", "vd = +vd vn vm", DOT, D),
    int("01000100_0i_1_ii_mmm_00001o_nnnnn_ddddd", "vd = +vd vn vm", MLA, H),
    int("01000100_10_1_ii_mmm_00001o_nnnnn_ddddd", "vd = +vd vn vm", MLA, S),
    int("01000100_11_1_i_mmmm_00001o_nnnnn_ddddd", "vd = +vd vn vm", MLA, D),
    int("01000100_0i_1_ii_mmm_00010o_nnnnn_ddddd", "vd = +vd vn vm", SQRDMLAH, H),
    int("01000100_10_1_ii_mmm_00010o_nnnnn_ddddd", "vd = +vd vn vm", SQRDMLAH, S),
    int("01000100_11_1_i_mmmm_00010o_nnnnn_ddddd", "vd = +vd vn vm", SQRDMLAH, D),
    int("01000100_10_1_ii_mmm_00011o_nnnnn_ddddd", "vd = +vd vn vm", DOT, S),
    // SQDMLALB, SQDMLSLB and top; CDOT; CMLA; SQRDCMLAH
    int("01000100_10_1_ii_mmm_001oik_nnnnn_ddddd", "vd = +vd vn vm", SQDMLAL, S),
    int("01000100_11_1_i_mmmm_001oik_nnnnn_ddddd", "vd = +vd vn vm", SQDMLAL, D),
    int("01000100_10_1_ii_mmm_0100rr_nnnnn_ddddd", "vd = +vd vn vm", DOT, S),
    int("01000100_11_1_i_mmmm_0100rr_nnnnn_ddddd", "vd = +vd vn vm", DOT, D),
    int("01000100_10_1_ii_mmm_0110rr_nnnnn_ddddd", "vd = +vd vn vm", CMLA, H),
    int("01000100_11_1_i_mmmm_0110rr_nnnnn_ddddd", "vd = +vd vn vm", CMLA, S),
    int("01000100_10_1_ii_mmm_0111rr_nnnnn_ddddd", "vd = +vd vn vm", SQRDMLAH, H),
    int("01000100_11_1_i_mmmm_0111rr_nnnnn_ddddd", "vd = +vd vn vm", SQRDMLAH, S),
    // SMLALB and related instructions; SMULLB, UMULLB and top; SQDMULLB, SQDMULLT; SQDMULH,
    // SQRDMULH; MUL
    int("01000100_10_1_ii_mmm_10ooik_nnnnn_ddddd", "vd = +vd vn vm", MLAL, S),
    int("01000100_11_1_i_mmmm_10ooik_nnnnn_ddddd", "vd = +vd vn vm", MLAL, D),
    int("01000100_10_1_ii_mmm_110uik_nnnnn_ddddd", "vd = vn vm", MULL, S),
    int("01000100_11_1_i_mmmm_110uik_nnnnn_ddddd", "vd = vn vm", MULL, D),
    int("01000100_10_1_ii_mmm_1110ik_nnnnn_ddddd", "vd = vn vm", MULL, S),
    int("01000100_11_1_i_mmmm_1110ik_nnnnn_ddddd", "vd = vn vm", MULL, D),
    int("01000100_0i_1_ii_mmm_11110o_nnnnn_ddddd", "vd = vn vm", MUL, H),
    int("01000100_10_1_ii_mmm_11110o_nnnnn_ddddd", "vd = vn vm", MUL, S),
    int("01000100_11_1_i_mmmm_11110o_nnnnn_ddddd", "vd = vn vm", MUL, D),
    int("01000100_0i_1_ii_mmm_111110_nnnnn_ddddd", "vd = vn vm", MUL, H),
    int("01000100_10_1_ii_mmm_111110_nnnnn_ddddd", "vd = vn vm", MUL, S),
    int("01000100_11_1_i_mmmm_111110_nnnnn_ddddd", "vd = vn vm", MUL, D),
    // SVE2 predicated -----------------------------------------------------------------------------
    // SADALP, UADALP; URECPE, URSQRTE; SQABS, SQNEG
    int("01000100_zz_0_0010u_101_ggg_nnnnn_ddddd z>0", "vd = +vd vn pg", ADALP, Z),
    int("01000100_10_0_0000o_101_ggg_nnnnn_ddddd", "vd = vd vn pg", ESTIMATE, S),
    int("01000100_zz_0_0100o_101_ggg_nnnnn_ddddd", "vd = vd vn pg", ALU, Z),
    // SRSHL, URSHL and reversed; SQSHL, UQSHL, SQRSHL, UQRSHL and reversed
    int("01000100_zz_0_00o1u_100_ggg_mmmmm_ddddd", "vd = vd vm pg", SHIFT_ROUND, Z),
    int("01000100_zz_0_01oou_100_ggg_mmmmm_ddddd", "vd = vd vm pg", SHIFT_ROUND, Z),
    // SHADD and SQADD families; ADDP; SMAXP, UMAXP, SMINP, UMINP
    int("01000100_zz_0_10ooo_100_ggg_mmmmm_ddddd", "vd = vd vm pg", ALU, Z),
    int("01000100_zz_0_11ooo_100_ggg_mmmmm_ddddd", "vd = vd vm pg", ALU, Z),
    int("01000100_zz_0_10001_101_ggg_mmmmm_ddddd", "vd = vd vm pg", ALU, Z),
    int("01000100_zz_0_101oo_101_ggg_mmmmm_ddddd", "vd = vd vm pg", ALU, Z),
    // SVE2 widening, narrowing, accumulating ------------------------------------------------------
    // SADDLB .. USUBLT; SABDLB .. UABDLT; SADDWB .. USUBWT; SADDLBT, SSUBLBT, SSUBLTB
    int("01000101_zz_0_mmmmm_000ook_nnnnn_ddddd z>0", "vd = vn vm", ALU, Z),
    int("01000101_zz_0_mmmmm_0011ok_nnnnn_ddddd z>0", "vd = vn vm", ALU, Z),
    int("01000101_zz_0_mmmmm_010ook_nnnnn_ddddd z>0", "vd = vn vm", ALU, Z),
    int("01000101_zz_0_mmmmm_100000_nnnnn_ddddd z>0", "vd = vn vm", ALU, Z),
    int("01000101_zz_0_mmmmm_10001k_nnnnn_ddddd z>0", "vd = vn vm", ALU, Z),
    // SQDMULLB, SQDMULLT; PMULLB, PMULLT of bytes and words, of doublewords; SMULLB .. UMULLT
    int("01000101_zz_0_mmmmm_01100k_nnnnn_ddddd z>0", "vd = vn vm", MULL, Z),
    int("01000101_00_0_mmmmm_01101k_nnnnn_ddddd", "vd = vn vm", PMUL, D),
    int("01000101_z1_0_mmmmm_01101k_nnnnn_ddddd", "vd = vn vm", PMUL, D),
    int("01000101_zz_0_mmmmm_0111uk_nnnnn_ddddd z>0", "vd = vn vm", MULL, Z),
    // EORBT, EORTB; SMMLA, USMMLA, UMMLA; BEXT, BDEP, BGRP; SSHLLB .. USHLLT; CADD, SQCADD
    plain("01000101_zz_0_mmmmm_10010k_nnnnn_ddddd", "vd = vd vn vm", ALU),
    int("01000101_uu_0_mmmmm_100110_nnnnn_ddddd u!=1", "vd = +vd vn vm", simd::MMLA, S),
    int("01000101_zz_0_mmmmm_1011oo_nnnnn_ddddd o<3", "vd = vn vm", BIT_PERMUTE, Z),
    int("01000101_0z_0_zziii_1010uk_nnnnn_ddddd z>0", "vd = vn", SHIFT, TszWide),
    int("01000101_zz_0_0000o_11011r_mmmmm_ddddd", "vd = vd vm", ALU, Z),
    // SABALB .. UABALT; ADCLB, ADCLT, SBCLB, SBCLT
    int("01000101_zz_0_mmmmm_1100uk_nnnnn_ddddd z>0", "vd = +vd vn vm", simd::ABA, Z),
    int("01000101_o0_0_mmmmm_11010k_nnnnn_ddddd", "vd = vd vn vm", ALU, S),
    int("01000101_o1_0_mmmmm_11010k_nnnnn_ddddd", "vd = vd vn vm", ALU, D),
    // SSRA, USRA, SRSRA, URSRA; SRI, SLI; SABA, UABA
    int("01000101_zz_0_zziii_1110ou_nnnnn_ddddd z>0", "vd = +vd vn", simd::SHIFT_ADD, Tsz),
    int("01000101_zz_0_zziii_11110o_nnnnn_ddddd z>0", "vd = vd vn", SHIFT, Tsz),
    int("01000101_zz_0_mmmmm_11111u_nnnnn_ddddd", "vd = +vd vn vm", simd::ABA, Z),
    // SQXTNB, UQXTNB, SQXTUNB; top; the z field has one bit set
    int("01000101_0z_1_zz000_010oo0_nnnnn_ddddd z>0 z!=3 z<5 o<3", "vd = vn", SHIFT_ROUND, TszWide),
    int(
        "01000101_0z_1_zz000_010oo1_nnnnn_ddddd z>0 z!=3 z<5 o<3",
        "vd = vd vn",
        SHIFT_ROUND,
        TszWide,
    ),
    // SHRNB; SHRNT; RSHRN, SQSHRUN, SQRSHRUN, SQSHRN, UQSHRN, SQRSHRN, UQRSHRN: bottom; top
    int("01000101_0z_1_zziii_000100_nnnnn_ddddd z>0", "vd = vn", SHIFT, TszWide),
    int("01000101_0z_1_zziii_000101_nnnnn_ddddd z>0", "vd = vd vn", SHIFT, TszWide),
    int("01000101_0z_1_zziii_00ooo0_nnnnn_ddddd z>0", "vd = vn", SHIFT_ROUND, TszWide),
    int("01000101_0z_1_zziii_00ooo1_nnnnn_ddddd z>0", "vd = vd vn", SHIFT_ROUND, TszWide),
    // ADDHNB, RADDHNB, SUBHNB, RSUBHNB; top
    int("01000101_zz_1_mmmmm_011oo0_nnnnn_ddddd z>0", "vd = vn vm", ALU, Z),
    int("01000101_zz_1_mmmmm_011oo1_nnnnn_ddddd z>0", "vd = vd vn vm", ALU, Z),
    // HISTSEG; HISTCNT
    int("01000101_00_1_mmmmm_101000_nnnnn_ddddd", "vd = vn vm", ALU, B),
    int("01000101_zz_1_mmmmm_110_ggg_nnnnn_ddddd z>1", "vd = vn vm pg", ALU, Z),
    // Cryptography --------------------------------------------------------------------------------
    // AESMC, AESIMC; AESE, AESD; SM4E; SM4EKEY; RAX1
    crypto("01000101001_00000_11100o_00000_ddddd", "vd = vd", simd::AES),
    crypto("01000101001_00010_11100o_mmmmm_ddddd", "vd = vd vm", simd::AES),
    crypto("01000101001_00011_111000_mmmmm_ddddd", "vd = vd vm", simd::HASH),
    crypto("01000101001_mmmmm_111100_nnnnn_ddddd", "vd = vn vm", simd::HASH),
    crypto("01000101001_mmmmm_111101_nnnnn_ddddd", "vd = vn vm", simd::HASH_SCHEDULE),
];
