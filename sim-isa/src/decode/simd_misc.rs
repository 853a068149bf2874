//! Advanced SIMD logic, permutation, copies, immediates and cryptography (Arm ARM C4.1, "Data
//! Processing -- Scalar Floating-Point and Advanced SIMD").

use crate::inst::Rename;
use crate::row::{Row, crypto, other, plain};
use crate::uops::simd::*;
use crate::uops::{FROM_GENERAL, INSERT_GENERAL, NONE, TO_GENERAL};

pub(super) const ROWS: &[Row] = &[
    // MOV of a whole register; AND, BIC, ORR, ORN; EOR; BSL, BIT, BIF
    other("0q001110_101_mmmmm_00011_1_nnnnn_ddddd n==m", "vd = vn", ALU),
    plain("0q001110_oo1_mmmmm_00011_1_nnnnn_ddddd", "vd = vn vm", ALU),
    plain("0q101110_001_mmmmm_00011_1_nnnnn_ddddd", "vd = vn vm", ALU),
    plain("0q101110_oo1_mmmmm_00011_1_nnnnn_ddddd", "vd = vd vn vm", ALU),
    // REV64, REV32, REV16; NOT, RBIT
    plain("0q001110_zz_10000_00000_10_nnnnn_ddddd z<3", "vd = vn", ALU),
    plain("0q101110_0z_10000_00000_10_nnnnn_ddddd", "vd = vn", ALU),
    plain("0q001110_00_10000_00001_10_nnnnn_ddddd", "vd = vn", ALU),
    plain("0q101110_0o_10000_00101_10_nnnnn_ddddd", "vd = vn", ALU),
    // DUP of an element; of a general register; INS of a general register; SMOV, UMOV; INS of an
    // element
    plain("0q001110_000_iiiii_0_0000_1_nnnnn_ddddd i!=0 i!=16", "vd = vn", ALU),
    plain("01011110_000_iiiii_0_0000_1_nnnnn_ddddd i!=0 i!=16", "vd = vn", ALU),
    other("0q001110_000_iiiii_0_0001_1_nnnnn_ddddd i!=0 i!=16", "vd = xn", FROM_GENERAL),
    other("01001110_000_iiiii_0_0011_1_nnnnn_ddddd i!=0 i!=16", "vd = xn vd", INSERT_GENERAL),
    other("00001110_000_iiill_0_0101_1_nnnnn_ddddd l!=0", "xd = vn", TO_GENERAL),
    other("01001110_000_iilll_0_0101_1_nnnnn_ddddd l!=0", "xd = vn", TO_GENERAL),
    other("00001110_000_iilll_0_0111_1_nnnnn_ddddd l!=0", "xd = vn", TO_GENERAL),
    other("01001110_000_i1000_0_0111_1_nnnnn_ddddd", "xd = vn", TO_GENERAL),
    plain("01101110_000_iiiii_0_kkkk_1_nnnnn_ddddd i!=0 i!=16", "vd = vd vn", ALU),
    // MOVI of 64 zero bits, completed at rename
    other("0q10111100000_000_1110_01_00000_ddddd", "vd =", NONE).renamed(Rename::Zero),
    // ORR, BIC with an immediate; MOVI, MVNI, FMOV
    plain("0qo0111100000_iii_0cc1_01_iiiii_ddddd", "vd = vd", ALU),
    plain("0qo0111100000_iii_10c1_01_iiiii_ddddd", "vd = vd", ALU),
    plain("0qo0111100000_iii_cccc_01_iiiii_ddddd", "vd =", ALU),
    plain("0q00111100000_iii_1111_11_iiiii_ddddd", "vd =", ALU),
    // UZP, TRN, ZIP; EXT
    plain("0q001110_zz0_mmmmm_0_o01_10_nnnnn_ddddd no1d", "vd = vn vm", ALU),
    plain("0q001110_zz0_mmmmm_0_o1k_10_nnnnn_ddddd no1d", "vd = vn vm", ALU),
    plain("01101110_000_mmmmm_0_iiii_0_nnnnn_ddddd", "vd = vn vm", ALU),
    plain("00101110_000_mmmmm_0_0iii_0_nnnnn_ddddd", "vd = vn vm", ALU),
    // TBL and TBX of one to four registers
    plain("0q001110_000_mmmmm_0_00_000_nnnnn_ddddd", "vd = vn vm", ALU),
    plain("0q001110_000_mmmmm_0_01_000_nnnnn_ddddd", "vd = vn*2 vm", ALU),
    plain("0q001110_000_mmmmm_0_10_000_nnnnn_ddddd", "vd = vn*3 vm", TABLE_3),
    plain("0q001110_000_mmmmm_0_11_000_nnnnn_ddddd", "vd = vn*4 vm", TABLE_4),
    plain("0q001110_000_mmmmm_0_00_100_nnnnn_ddddd", "vd = vd vn vm", ALU),
    plain("0q001110_000_mmmmm_0_01_100_nnnnn_ddddd", "vd = vd vn*2 vm", TABLE_EXTEND_2),
    plain("0q001110_000_mmmmm_0_10_100_nnnnn_ddddd", "vd = vd vn*3 vm", TABLE_EXTEND_3),
    plain("0q001110_000_mmmmm_0_11_100_nnnnn_ddddd", "vd = vd vn*4 vm", TABLE_EXTEND_4),
    // AESE, AESD; AESMC, AESIMC
    crypto("0100111000_10100_0010o_10_nnnnn_ddddd", "vd = vd vn", AES),
    crypto("0100111000_10100_0011o_10_nnnnn_ddddd", "vd = vn", AES),
    // SHA1C, SHA1P, SHA1M; SHA1SU0; SHA256H, SHA256H2; SHA256SU1
    crypto("01011110_000_mmmmm_000000_nnnnn_ddddd", "vd = vd vn vm", HASH),
    crypto("01011110_000_mmmmm_000100_nnnnn_ddddd", "vd = vd vn vm", HASH),
    crypto("01011110_000_mmmmm_001000_nnnnn_ddddd", "vd = vd vn vm", HASH),
    crypto("01011110_000_mmmmm_001100_nnnnn_ddddd", "vd = vd vn vm", HASH_SCHEDULE),
    crypto("01011110_000_mmmmm_010o00_nnnnn_ddddd", "vd = vd vn vm", HASH),
    crypto("01011110_000_mmmmm_011000_nnnnn_ddddd", "vd = vd vn vm", HASH_SCHEDULE),
    // SHA1H; SHA1SU1, SHA256SU0
    crypto("0101111000_10100_00000_10_nnnnn_ddddd", "vd = vn", HASH_SCHEDULE),
    crypto("0101111000_10100_00001_10_nnnnn_ddddd", "vd = vd vn", HASH_SCHEDULE),
    crypto("0101111000_10100_00010_10_nnnnn_ddddd", "vd = vd vn", HASH_SCHEDULE),
    // SHA512H, SHA512H2; SHA512SU1; RAX1; SM3PARTW1, SM3PARTW2; SM4EKEY
    crypto("11001110_011_mmmmm_10000o_nnnnn_ddddd", "vd = vd vn vm", HASH_SCHEDULE),
    crypto("11001110_011_mmmmm_100010_nnnnn_ddddd", "vd = vd vn vm", HASH_SCHEDULE),
    crypto("11001110_011_mmmmm_100011_nnnnn_ddddd", "vd = vn vm", HASH_SCHEDULE),
    crypto("11001110_011_mmmmm_11000o_nnnnn_ddddd", "vd = vd vn vm", HASH_SCHEDULE),
    crypto("11001110_011_mmmmm_110010_nnnnn_ddddd", "vd = vn vm", HASH),
    // SHA512SU0; SM4E
    crypto("11001110_110_00000_100000_nnnnn_ddddd", "vd = vd vn", HASH_SCHEDULE),
    crypto("11001110_110_00000_100001_nnnnn_ddddd", "vd = vd vn", HASH),
    // EOR3, BCAX; SM3SS1; XAR; SM3TT1A..SM3TT2B
    crypto("11001110_00o_mmmmm_0_aaaaa_nnnnn_ddddd", "vd = vn vm va", HASH_SCHEDULE),
    crypto("11001110_010_mmmmm_0_aaaaa_nnnnn_ddddd", "vd = vn vm va", HASH_SCHEDULE),
    crypto("11001110_100_mmmmm_iiiiii_nnnnn_ddddd", "vd = vn vm", HASH_SCHEDULE),
    crypto("11001110_010_mmmmm_10iioo_nnnnn_ddddd", "vd = vd vn vm", HASH_SCHEDULE),
];
