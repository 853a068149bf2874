//! Data processing with immediates (Arm ARM C4.1, "Data Processing -- Immediate").

use crate::inst::Rename;
use crate::row::{Row, dp};
use crate::uops::{ALU, ALU_FLAGS, BFM, EXTRACT, NONE, TAG};

pub(super) const ROWS: &[Row] = &[
    // ADR, ADRP
    dp("oll10000hhhhhhhhhhhhhhhhhhhddddd", "xd =", ALU),
    // ADD, SUB; with flags ADDS, SUBS, CMP, CMN
    dp("xo0100010hiiiiiiiiiiiinnnnnddddd", "sd = sn", ALU),
    dp("xo1100010hiiiiiiiiiiiinnnnnddddd", "xd f = sn", ALU_FLAGS),
    // ADDG, SUBG
    dp("1o01000110iiiiii00uuuunnnnnddddd", "sd = sn", TAG),
    // AND, ORR, EOR; ANDS, TST. Only the 64-bit form has N.
    dp("111100100aiiiiiissssssnnnnnddddd mask", "xd f = xn", ALU_FLAGS),
    dp("0111001000iiiiiissssssnnnnnddddd mask", "xd f = xn", ALU_FLAGS),
    dp("1oo100100aiiiiiissssssnnnnnddddd mask", "sd = xn", ALU),
    dp("0oo1001000iiiiiissssssnnnnnddddd mask", "sd = xn", ALU),
    // MOVZ #0 completes at rename; MOVN, MOVZ; MOVK
    dp("x10100101000000000000000000ddddd", "xd =", NONE).renamed(Rename::Zero),
    dp("1o0100101hhiiiiiiiiiiiiiiiiddddd", "xd =", ALU),
    dp("0o01001010hiiiiiiiiiiiiiiiiddddd", "xd =", ALU),
    dp("111100101hhiiiiiiiiiiiiiiiiddddd", "xd = xd", ALU),
    dp("0111001010hiiiiiiiiiiiiiiiiddddd", "xd = xd", ALU),
    // SBFM, UBFM and BFM: shifts, extracts, extensions; inserts
    dp("1011001101iiiiiissssssnnnnnddddd", "xd = xd xn", BFM),
    dp("0011001100iiiiiissssssnnnnnddddd i<32 s<32", "xd = xd xn", BFM),
    dp("1o01001101iiiiiissssssnnnnnddddd", "xd = xn", ALU),
    dp("0o01001100iiiiiissssssnnnnnddddd i<32 s<32", "xd = xn", ALU),
    // EXTR of one register is a rotate
    dp("10010011110mmmmmssssssnnnnnddddd n==m", "xd = xn", ALU),
    dp("00010011100mmmmmssssssnnnnnddddd n==m s<32", "xd = xn", ALU),
    dp("10010011110mmmmmssssssnnnnnddddd", "xd = xn xm", EXTRACT),
    dp("00010011100mmmmmssssssnnnnnddddd s<32", "xd = xn xm", EXTRACT),
];
