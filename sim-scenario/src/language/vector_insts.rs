//! Vector instructions that steps call by name for guide 4.13: predicated operations of SVE, its
//! accesses, first-fault loads, and instructions of two operations.
//!
//! Registers are fixed as in [`super::named_insts`]: addresses are in X1 (offsets in Z3), the
//! governing predicate is P0, data come from Z2, Z3 and W2, results go to Z0 and W0.

use super::operand::{NamedInst, Operand};

/// Named vector instructions. The words were assembled with binutils 2.40.
#[rustfmt::skip]
pub const VECTOR_INSTS: [NamedInst; 27] = [
    NamedInst { name: "FRINTA V.8H", word: 0x6E79_8840, operand: Operand::Nothing }, // frinta v0.8h, v2.8h
    NamedInst { name: "ADD Z.B P", word: 0x0400_0060, operand: Operand::Predicate }, // add z0.b, p0/m, z0.b, z3.b
    NamedInst { name: "ADD Z.S P", word: 0x0480_0060, operand: Operand::Predicate }, // add z0.s, p0/m, z0.s, z3.s
    NamedInst { name: "ADD Z.D P", word: 0x04C0_0060, operand: Operand::Predicate }, // add z0.d, p0/m, z0.d, z3.d
    NamedInst { name: "SADDV D Z.S", word: 0x0480_2040, operand: Operand::Predicate }, // saddv d0, p0, z2.s
    NamedInst { name: "FRINTA Z.H", word: 0x6544_A040, operand: Operand::Predicate }, // frinta z0.h, p0/m, z2.h
    NamedInst { name: "DUP Z.S W", word: 0x05A0_3840, operand: Operand::Nothing }, // mov z0.s, w2
    NamedInst { name: "CPY Z.S W", word: 0x05A8_A040, operand: Operand::Predicate }, // mov z0.s, p0/m, w2
    NamedInst { name: "LASTB W Z.S", word: 0x05A1_A040, operand: Operand::Predicate }, // lastb w0, p0, z2.s
    NamedInst { name: "INSR Z.S W", word: 0x05A4_3840, operand: Operand::Nothing }, // insr z0.s, w2
    NamedInst { name: "LD1B Z.B", word: 0xA400_A020, operand: Operand::Elements }, // ld1b {z0.b}, p0/z, [x1]
    NamedInst { name: "LD1W Z.S", word: 0xA540_A020, operand: Operand::Elements }, // ld1w {z0.s}, p0/z, [x1]
    NamedInst { name: "LD1D Z.D", word: 0xA5E0_A020, operand: Operand::Elements }, // ld1d {z0.d}, p0/z, [x1]
    NamedInst { name: "LD2W Z.S", word: 0xA520_E020, operand: Operand::Elements }, // ld2w {z0.s, z1.s}, p0/z, [x1]
    NamedInst { name: "ST1W Z.S", word: 0xE540_E022, operand: Operand::Elements }, // st1w {z2.s}, p0, [x1]
    NamedInst { name: "ST1D Z.D", word: 0xE5E0_E022, operand: Operand::Elements }, // st1d {z2.d}, p0, [x1]
    NamedInst { name: "LDFF1W Z.S", word: 0xA55F_6020, operand: Operand::Elements }, // ldff1w {z0.s}, p0/z, [x1, xzr, lsl #2]
    NamedInst { name: "LDNF1W Z.S", word: 0xA550_A020, operand: Operand::Elements }, // ldnf1w {z0.s}, p0/z, [x1]
    NamedInst { name: "LD1W GATHER", word: 0x8503_4020, operand: Operand::Elements }, // ld1w {z0.s}, p0/z, [x1, z3.s, uxtw]
    NamedInst { name: "LD1D GATHER", word: 0xC5C3_C020, operand: Operand::Elements }, // ld1d {z0.d}, p0/z, [x1, z3.d]
    NamedInst { name: "LDFF1W GATHER", word: 0x8503_6020, operand: Operand::Elements }, // ldff1w {z0.s}, p0/z, [x1, z3.s, uxtw]
    NamedInst { name: "LDFF1D GATHER", word: 0xC5C3_E020, operand: Operand::Elements }, // ldff1d {z0.d}, p0/z, [x1, z3.d]
    NamedInst { name: "ST1W SCATTER", word: 0xE543_8022, operand: Operand::Elements }, // st1w {z2.s}, p0, [x1, z3.s, uxtw]
    NamedInst { name: "ST1D SCATTER", word: 0xE583_A022, operand: Operand::Elements }, // st1d {z2.d}, p0, [x1, z3.d]
    NamedInst { name: "SETFFR", word: 0x252C_9000, operand: Operand::Nothing }, // setffr
    NamedInst { name: "RDFFR", word: 0x2519_F000, operand: Operand::Nothing }, // rdffr p0.b
    NamedInst { name: "WRFFR", word: 0x2528_9000, operand: Operand::Nothing }, // wrffr p0.b
];
