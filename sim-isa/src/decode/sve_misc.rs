//! SVE moves, permutations, predicates and counters (Arm ARM C4.1, "SVE encodings").

use crate::row::{Row, other, plain, unallocated};
use crate::uops::sve::*;

pub(super) const ROWS: &[Row] = &[
    // Moves and logic -----------------------------------------------------------------------------
    // MOVPRFX: zeroing, merging, unpredicated
    other("00000100_zz_0_10000_001_ggg_nnnnn_ddddd", "vd = vn pg", ALU),
    other("00000100_zz_0_10001_001_ggg_nnnnn_ddddd", "vd = vd vn pg", ALU),
    other("00000100_00_1_00000_101111_nnnnn_ddddd", "vd = vn", ALU),
    // MOV of a whole register; AND, ORR, EOR, BIC; with an immediate; DUPM
    other("00000100_01_1_mmmmm_001100_nnnnn_ddddd n==m", "vd = vn", ALU),
    plain("00000100_oo_1_mmmmm_001100_nnnnn_ddddd", "vd = vn vm", ALU),
    plain("00000101_11_0000_aiiiiiissssss_ddddd mask", "vd =", ALU),
    plain("00000101_oo_0000_aiiiiiissssss_ddddd mask", "vd = vd", ALU),
    // A shifted immediate of bytes is unallocated
    unallocated("00000101_00_01_gggg_0k_1iiiiiiii_ddddd"),
    unallocated("00100101_00_111_000_111iiiiiiii_ddddd"),
    // CPY of an immediate: zeroing, merging; FCPY; DUP, FDUP of an immediate
    plain("00000101_zz_01_gggg_00_siiiiiiii_ddddd", "vd = pg", ALU),
    plain("00000101_zz_01_gggg_01_siiiiiiii_ddddd", "vd = vd pg", ALU),
    plain("00000101_zz_01_gggg_110_iiiiiiii_ddddd z>0", "vd = vd pg", ALU),
    plain("00100101_zz_111_000_11siiiiiiii_ddddd", "vd =", ALU),
    plain("00100101_zz_111_001_110iiiiiiii_ddddd z>0", "vd =", ALU),
    // Permutations --------------------------------------------------------------------------------
    // DUP, INSR of a general register; INSR of a scalar; SUNPK, UUNPK; REV; DUP of an element
    other("00000101_zz_1_00000_001110_nnnnn_ddddd", "vd = sn", DUP_GENERAL),
    other("00000101_zz_1_00100_001110_nnnnn_ddddd", "vd = vd xn", TRANSFER),
    plain("00000101_zz_1_10100_001110_nnnnn_ddddd", "vd = vd vn", EXTRACT_LAST),
    plain("00000101_zz_1_100oo_001110_nnnnn_ddddd z>0", "vd = vn", ALU),
    plain("00000101_zz_1_11000_001110_nnnnn_ddddd", "vd = vn", ALU),
    plain("00000101_ii_1_iiiii_001000_nnnnn_ddddd", "vd = vn", ALU),
    // TBL of two registers; TBX; TBL; EXT; EXT of a pair; ZIP, UZP, TRN
    plain("00000101_zz_1_mmmmm_001010_nnnnn_ddddd", "vd = vn*2 vm", ALU),
    plain("00000101_zz_1_mmmmm_001011_nnnnn_ddddd", "vd = vd vn vm", ALU),
    plain("00000101_zz_1_mmmmm_001100_nnnnn_ddddd", "vd = vn vm", ALU),
    plain("00000101_00_1_iiiii_000iii_mmmmm_ddddd", "vd = vd vm", ALU),
    plain("00000101_01_1_iiiii_000iii_nnnnn_ddddd", "vd = vn*2", ALU),
    plain("00000101_zz_1_mmmmm_011ooo_nnnnn_ddddd o<6", "vd = vn vm", ALU),
    // Predicated: CPY of a scalar; COMPACT; LASTA, LASTB to a scalar, to a general register
    plain("00000101_zz_1_00000_100_ggg_nnnnn_ddddd", "vd = vd vn pg", ALU),
    plain("00000101_1z_1_00001_100_ggg_nnnnn_ddddd", "vd = vn pg", EXTRACT_LAST),
    plain("00000101_zz_1_0001o_100_ggg_nnnnn_ddddd", "vd = vn pg", EXTRACT_LAST),
    other("00000101_zz_1_0000o_101_ggg_nnnnn_ddddd", "xd = vn pg", TRANSFER),
    // REVB, REVH, REVW, RBIT; CPY of a general register; CLASTA, CLASTB to vector, scalar, general
    plain("00000101_zz_1_001oo_100_ggg_nnnnn_ddddd", "vd = vd vn pg", ALU),
    other("00000101_zz_1_01000_101_ggg_nnnnn_ddddd", "vd = vd sn pg", CPY_GENERAL),
    plain("00000101_zz_1_010ko_100_ggg_mmmmm_ddddd", "vd = vd vm pg", EXTRACT_LAST),
    other("00000101_zz_1_1000o_101_ggg_mmmmm_ddddd", "xd = xd vm pg", CLAST_GENERAL),
    // SPLICE; SPLICE of a pair; SEL
    plain("00000101_zz_1_01100_100_ggg_mmmmm_ddddd", "vd = vd vm pg", EXTRACT_LAST),
    plain("00000101_zz_1_01101_100_ggg_nnnnn_ddddd", "vd = vn*2 pg", EXTRACT_LAST),
    plain("00000101_zz_1_mmmmm_11_kkkk_nnnnn_ddddd", "vd = vn vm pk", ALU),
    // Predicates ----------------------------------------------------------------------------------
    // ZIP, UZP, TRN; REV; PUNPKLO, PUNPKHI
    plain("00000101_zz_10_mmmm_010ooo_0_nnnn_0_dddd o<6", "pd = pn pm", PREDICATE_PERMUTE),
    plain("00000101_zz_110100_0100000_nnnn_0_dddd", "pd = pn", PREDICATE_PERMUTE),
    plain("00000101_00_11000o_0100000_nnnn_0_dddd", "pd = pn", PREDICATE_PERMUTE),
    // SEL; AND, BIC, EOR, ORR, ORN, NOR, NAND; with flags
    plain("00100101_00_00_mmmm_01_kkkk_1_nnnn_1_dddd", "pd = pn pm pk", PREDICATE_LOGIC),
    plain("00100101_o0_00_mmmm_01_gggg_l_nnnn_k_dddd", "pd = pn pm pg", PREDICATE_LOGIC),
    plain("00100101_01_00_mmmm_01_gggg_0_nnnn_k_dddd", "pd f = pn pm pg", PREDICATE_LOGIC_FLAGS),
    plain("00100101_01_00_mmmm_01_gggg_1_nnnn_0_dddd", "pd f = pn pm pg", PREDICATE_LOGIC_FLAGS),
    plain("00100101_11_00_mmmm_01_gggg_l_nnnn_k_dddd", "pd f = pn pm pg", PREDICATE_LOGIC_FLAGS),
    // BRKPA, BRKPB; with flags; BRKN; with flags
    plain("00100101_00_00_mmmm_11_gggg_0_nnnn_o_dddd", "pd = pn pm pg", BREAK_PAIR),
    plain("00100101_01_00_mmmm_11_gggg_0_nnnn_o_dddd", "pd f = pn pm pg", BREAK_PAIR_FLAGS),
    plain("00100101_00_011000_01_gggg_0_nnnn_0_dddd", "pd = pn pd pg", BREAK_PAIR),
    plain("00100101_01_011000_01_gggg_0_nnnn_0_dddd", "pd f = pn pd pg", BREAK_PAIR_FLAGS),
    // BRKA, BRKB: zeroing, merging; with flags
    plain("00100101_o0_010000_01_gggg_0_nnnn_0_dddd", "pd = pn pg", BREAK),
    plain("00100101_o0_010000_01_gggg_0_nnnn_1_dddd", "pd = pd pn pg", BREAK),
    plain("00100101_o1_010000_01_gggg_0_nnnn_0_dddd", "pd f = pn pg", BREAK_FLAGS),
    // PTEST; PFIRST; PNEXT; PTRUE; PTRUES; PFALSE
    plain("00100101_01_010000_11_gggg_0_nnnn_00000", "f = pn pg", PREDICATE_TEST),
    plain("00100101_01_011000_1100000_gggg_0_dddd", "pd f = pd pg", PREDICATE_STEP),
    plain("00100101_zz_011001_1100010_gggg_0_dddd", "pd f = pd pg", PREDICATE_STEP),
    plain("00100101_zz_011000_111000_kkkkk_0_dddd", "pd =", PREDICATE_PERMUTE),
    plain("00100101_zz_011001_111000_kkkkk_0_dddd", "pd f =", PREDICATE_STEP),
    plain("00100101_00_011000_111001_00000_0_dddd", "pd =", PREDICATE_PERMUTE),
    // RDFFR; predicated; with flags; WRFFR; SETFFR
    plain("00100101_00_011001_1111000_0000_0_dddd", "pd = ffr", FAULT_READ),
    plain("00100101_00_011000_1111000_gggg_0_dddd", "pd = ffr pg", FAULT_READ_PREDICATED),
    plain("00100101_01_011000_1111000_gggg_0_dddd", "pd f = ffr pg", FAULT_READ_FLAGS),
    plain("00100101_00_101000_1001000_nnnn_00000", "ffr = pn", FAULT_WRITE),
    plain("00100101_00_101100_1001000_0000_00000", "ffr =", FAULT_WRITE),
    // WHILE of two registers, 64 and 32 bits; WHILEWR, WHILERW; CTERMEQ, CTERMNE
    plain("00100101_zz_1_mmmmm_000sul_nnnnn_e_dddd", "pd f = xn xm", PREDICATE_STEP),
    plain("00100101_zz_1_mmmmm_001100_nnnnn_e_dddd", "pd f = xn xm", PREDICATE_STEP),
    plain("00100101_1s_1_mmmmm_001000_nnnnn_e_0000", "f = xn xm f", PREDICATE_TEST),
    // Counters ------------------------------------------------------------------------------------
    // CNTP; INCP, DECP of a scalar, of a vector; SQINCP family
    plain("00100101_zz_100000_10_gggg_0_nnnn_ddddd", "xd = pn pg", COUNT),
    plain("00100101_zz_10110o_1000100_mmmm_ddddd", "xd = xd pm", COUNT),
    plain("00100101_zz_10110o_1000000_mmmm_ddddd z>0", "vd = vd pm", COUNT_PREDICATE_VECTOR),
    plain("00100101_zz_1010oo_10001s0_mmmm_ddddd", "xd = xd pm", COUNT),
    plain("00100101_zz_1010oo_1000000_mmmm_ddddd z>0", "vd = vd pm", COUNT_PREDICATE_VECTOR),
    // CNTB, CNTH, CNTW, CNTD; INCB family; SQINCB family
    plain("00000100_zz_10_iiii_111000_kkkkk_ddddd", "xd =", COUNT),
    plain("00000100_zz_11_iiii_11100o_kkkkk_ddddd", "xd = xd", COUNT),
    plain("00000100_zz_1s_iiii_1111oo_kkkkk_ddddd", "xd = xd", COUNT),
    // ADDVL, ADDPL; RDVL
    plain("00000100_0o_1_nnnnn_01010iiiiii_ddddd", "sd = sn", COUNT),
    plain("00000100_10_1_11111_01010iiiiii_ddddd", "xd =", COUNT),
];
