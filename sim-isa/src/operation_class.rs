//! Kind of work of an instruction, in the classes that manuals and compiler models of in-order
//! cores use (Arm ARM C4.1, "A64 instruction set encoding").

use crate::inst::{BranchKind, Inst, StaticEvents};
use crate::vector_steps::{
    VectorSteps, changes_width, is_float_comparison, is_newton_step, lookup_steps, vector_steps,
};
use sim_core::PmuEvent;

/// Kind of work of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OperationClass {
    /// A constant, an address of code, or a left shift by a constant.
    Move,
    /// Addition, logic, comparison or selection of unshifted operands.
    #[default]
    Alu,
    /// Addition or logic with a shifted or extended operand.
    ShiftedAlu,
    /// Bit field, extraction or reversal.
    BitField,
    /// Shift by a register.
    Shift,
    /// CRC32.
    Crc,
    /// Multiplication, with or without an addition.
    Multiply(MultiplyKind),
    /// Integer division; `is_64` for 64-bit operands.
    Divide {
        /// True for X registers.
        is_64: bool,
    },
    /// Any branch.
    Branch,
    /// Load, store, atomic or prefetch.
    Memory,
    /// Barrier, hint, exception or access to a system register.
    System,
    /// Floating-point or vector operation.
    Vector(VectorKind),
}

/// Kind of an integer multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MultiplyKind {
    /// Operands of 32 bits: `MADD W`, `SMADDL`, `UMADDL` and their relatives.
    Word,
    /// `MADD X`, `MSUB X`; `adds` is false for `MUL` and `MNEG`.
    Doubleword {
        /// True if an accumulator other than the zero register is added.
        adds: bool,
    },
    /// `SMULH`, `UMULH`.
    High,
}

/// Kind of a floating-point or vector operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorKind {
    /// Logic, and moves of registers.
    Logic,
    /// Additions and shifts of integers, comparisons, selections, permutations.
    Simple,
    /// Addition that saturates, widens, narrows, rounds or accumulates, or that adds neighbors.
    Collect,
    /// Multiplication, saturating shift, maximum of all elements.
    Long,
    /// Integer work that passes through the pipeline twice: differences and pairs that accumulate.
    Twice,
    /// Lookup in a table of registers.
    Lookup {
        /// Registers of the table, and one more if the other elements stay.
        steps: u8,
    },
    /// `FRECPS` and `FRSQRTS`.
    NewtonStep,
    /// Floating-point addition, multiplication or conversion.
    Float,
    /// Fused multiply-add.
    MultiplyAdd,
    /// Division or square root; `is_64` for double precision.
    Divide {
        /// True for double precision.
        is_64: bool,
        /// True for a square root.
        is_root: bool,
    },
    /// `AESE` and `AESD`.
    AesRound,
    /// `AESMC` and `AESIMC`.
    AesMix,
    /// A round of SHA-1 or SHA-256.
    HashRound,
    /// `SHA1SU0` and `SHA1SU1`.
    HashSchedule,
    /// Other cryptography.
    Crypto,
    /// From a general register to a vector register.
    FromGeneral {
        /// True for a conversion between integers and floating point.
        converts: bool,
    },
    /// From a vector register to a general register.
    ToGeneral {
        /// True for a conversion between integers and floating point.
        converts: bool,
    },
}

impl Inst {
    /// Returns the class of the instruction.
    pub fn operation_class(&self) -> OperationClass {
        if self.branch != BranchKind::None {
            return OperationClass::Branch;
        }
        match self.word >> 25 & 0xf {
            0b1000 | 0b1001 => immediate(self.word),
            0b1010 | 0b1011 => OperationClass::System,
            0b0101 | 0b1101 => register(self.word),
            0b0100 | 0b0110 | 0b1100 | 0b1110 => OperationClass::Memory,
            _ if self.mem.bytes > 0 => OperationClass::Memory,
            _ => OperationClass::Vector(vector(self)),
        }
    }

    /// Returns true for a vector operation on all 128 bits or with a result of 128 bits, but not
    /// for one that narrows them; true for SVE.
    pub fn is_full_vector(&self) -> bool {
        match self.word >> 25 & 0xf {
            0b0111 | 0b1111 => {
                let is_scalar = self.word >> 28 & 1 == 1;
                let is_crypto = self.events.contains(PmuEvent::CRYPTO_SPEC);
                let is_wide = changes_width(self.word).unwrap_or(self.word >> 30 & 1 == 1);
                is_crypto || !is_scalar && is_wide && !is_element_copy(self.word)
            }
            0b0010 => true,
            _ => false,
        }
    }
}

/// Returns the class of a data-processing instruction with a constant.
fn immediate(word: u32) -> OperationClass {
    let (first, last) = (word >> 16 & 0x3f, word >> 10 & 0x3f);
    match word >> 23 & 7 {
        0b000 | 0b001 => OperationClass::Move,
        // `MOVK` keeps the other bits of its destination.
        0b101 if word >> 29 & 3 != 3 => OperationClass::Move,
        // `LSL` is the `UBFM` that rotates by one more than the last bit.
        0b110 if word >> 29 & 3 == 2 && first == last + 1 => OperationClass::Move,
        0b110 | 0b111 => OperationClass::BitField,
        _ => OperationClass::Alu,
    }
}

/// Returns the class of a data-processing instruction with registers.
fn register(word: u32) -> OperationClass {
    let is_64 = word >> 31 == 1;
    if word >> 28 & 1 == 0 {
        let is_extended = word >> 24 & 1 == 1 && word >> 21 & 1 == 1;
        let is_shifted = !is_extended && word >> 10 & 0x3f != 0;
        return match is_extended || is_shifted {
            true => OperationClass::ShiftedAlu,
            false => OperationClass::Alu,
        };
    }
    let has_accumulator = word >> 10 & 0x1f != 0x1f;
    match (word >> 21 & 0xf, word >> 30 & 1) {
        (0b0110, 0) => match word >> 10 & 0x3f {
            0b00_0010 | 0b00_0011 => OperationClass::Divide { is_64 },
            0b01_0000..=0b01_0111 => OperationClass::Crc,
            0b00_1000..=0b00_1011 => OperationClass::Shift,
            _ => OperationClass::Alu,
        },
        // Of the operations on one register, `CLZ` and `CLS` are plain.
        (0b0110, _) if word >> 10 & 0x3e == 0b100 => OperationClass::Alu,
        (0b0110, _) => OperationClass::BitField,
        (0b1000, _) if is_64 => {
            OperationClass::Multiply(MultiplyKind::Doubleword { adds: has_accumulator })
        }
        (0b1010 | 0b1110, _) => OperationClass::Multiply(MultiplyKind::High),
        (0b1000.., _) => OperationClass::Multiply(MultiplyKind::Word),
        _ => OperationClass::Alu,
    }
}

/// Returns the kind of a floating-point or vector operation, from its events and its cost.
fn vector(inst: &Inst) -> VectorKind {
    let is_float = [PmuEvent::FP_HP_SPEC, PmuEvent::FP_SP_SPEC, PmuEvent::FP_DP_SPEC];
    let is_float = is_float.iter().any(|event| inst.events.contains(*event));
    let is_general = |regs: &[crate::inst::Reg]| regs.iter().any(|reg| reg.0 < 32);
    match () {
        () if inst.word & 0xffff_ec00 == 0x4e28_4800 => VectorKind::AesRound,
        () if inst.word & 0xffff_ec00 == 0x4e28_6800 => VectorKind::AesMix,
        () if is_hash_round(inst.word) => VectorKind::HashRound,
        () if is_sha1_schedule(inst.word) => VectorKind::HashSchedule,
        () if inst.events.contains(PmuEvent::CRYPTO_SPEC) => VectorKind::Crypto,
        // `FCSEL` selects, without arithmetic.
        () if inst.word & 0xff20_0c00 == 0x1e20_0c00 => VectorKind::Simple,
        () if is_general(inst.dsts()) => VectorKind::ToGeneral { converts: is_float },
        () if is_general(inst.srcs()) => VectorKind::FromGeneral { converts: is_float },
        () if is_division(inst.word) || is_root(inst.word) => VectorKind::Divide {
            is_64: inst.events.contains(PmuEvent::FP_DP_SPEC),
            is_root: is_root(inst.word),
        },
        () if inst.fp_element_ops > 0 && is_multiply_add(inst) => VectorKind::MultiplyAdd,
        () if is_newton_step(inst.word) => VectorKind::NewtonStep,
        // A comparison makes a mask, without arithmetic.
        () if is_float_comparison(inst.word) => VectorKind::Simple,
        () if is_float || inst.events.0 & StaticEvents::bit(PmuEvent::VFP_SPEC).0 != 0 => {
            VectorKind::Float
        }
        () => integer_vector(inst),
    }
}

/// Returns the kind of an integer operation.
fn integer_vector(inst: &Inst) -> VectorKind {
    if let Some(steps) = lookup_steps(inst.word) {
        return VectorKind::Lookup { steps };
    }
    match vector_steps(inst.word) {
        Some(VectorSteps::Logic) => VectorKind::Logic,
        Some(VectorSteps::One) => VectorKind::Simple,
        Some(VectorSteps::Two) => VectorKind::Collect,
        Some(VectorSteps::Three) => VectorKind::Long,
        Some(VectorSteps::Twice) => VectorKind::Twice,
        // The tables of costs distinguish the others.
        None if inst.uops().first().is_some_and(|group| group.latency > 2) => VectorKind::Long,
        None => VectorKind::Simple,
    }
}

/// Returns true for `INS`, `SMOV` and `UMOV`, whose bit 30 does not mean 128 bits.
fn is_element_copy(word: u32) -> bool {
    let is_copy = word & 0x9fe0_8400 == 0x0e00_0400;
    let is_duplication = word >> 29 & 1 == 0 && matches!(word >> 11 & 0xf, 0b0000 | 0b0001);
    is_copy && !is_duplication
}

/// Returns true for `SHA1C`, `SHA1P`, `SHA1M`, `SHA256H` and `SHA256H2`.
fn is_hash_round(word: u32) -> bool {
    let is_hash = word & 0xffe0_8c00 == 0x5e00_0000;
    is_hash && matches!(word >> 12 & 7, 0b000 | 0b001 | 0b010 | 0b100 | 0b101)
}

/// Returns true for `SHA1SU0` and `SHA1SU1`.
fn is_sha1_schedule(word: u32) -> bool {
    word & 0xffe0_fc00 == 0x5e00_3000 || word & 0xffff_fc00 == 0x5e28_1800
}

/// Returns true for `FDIV`, scalar or vector.
fn is_division(word: u32) -> bool {
    word & 0xff20_fc00 == 0x1e20_1800 || word & 0xbfa0_fc00 == 0x2e20_fc00
}

/// Returns true for `FSQRT`, scalar or vector.
fn is_root(word: u32) -> bool {
    word & 0xff3f_fc00 == 0x1e21_c000 || word & 0xbfbf_fc00 == 0x2ea1_f800
}

/// Returns true if one operand is an accumulator.
fn is_multiply_add(inst: &Inst) -> bool {
    inst.accumulate.family != 0 && usize::from(inst.accumulate.src) < inst.srcs().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode;

    #[test]
    fn each_word_has_the_class_of_its_form() {
        use OperationClass::{
            Alu, BitField, Branch, Crc, Divide, Memory, Move, Multiply, Shift, ShiftedAlu, System,
        };
        let cases = [
            (0xd280_0020, "mov x0, #1", Move),
            (0xf280_0020, "movk x0, #1", Alu),
            (0x1000_0000, "adr x0, .", Move),
            (0xd37c_ec20, "lsl x0, x1, #4", Move),
            (0xd344_fc20, "lsr x0, x1, #4", BitField),
            (0x93c1_2820, "ror x0, x1, #10", BitField),
            (0x9100_0420, "add x0, x1, #1", Alu),
            (0x8b02_0020, "add x0, x1, x2", Alu),
            (0x8b02_0c20, "add x0, x1, x2, lsl #3", ShiftedAlu),
            (0x8b22_4020, "add x0, x1, w2, uxtw", ShiftedAlu),
            (0xca82_2820, "eor x0, x1, x2, asr #10", ShiftedAlu),
            (0x9ac2_2020, "lsl x0, x1, x2", Shift),
            (0x9ac2_0c20, "sdiv x0, x1, x2", Divide { is_64: true }),
            (0x1ac2_4820, "crc32w w0, w1, w2", Crc),
            (0xdac0_1020, "clz x0, x1", Alu),
            (0xdac0_0c20, "rev x0, x1", BitField),
            (0x9a82_0020, "csel x0, x1, x2, eq", Alu),
            (0x9b02_7c20, "mul x0, x1, x2", Multiply(MultiplyKind::Doubleword { adds: false })),
            (0x9b02_0c20, "madd x0, x1, x2, x3", Multiply(MultiplyKind::Doubleword { adds: true })),
            (0x1b02_7c20, "mul w0, w1, w2", Multiply(MultiplyKind::Word)),
            (0x9b22_7c20, "smull x0, w1, w2", Multiply(MultiplyKind::Word)),
            (0x9bc2_7c20, "umulh x0, x1, x2", Multiply(MultiplyKind::High)),
            (0x1400_0002, "b +8", Branch),
            (0xd65f_03c0, "ret", Branch),
            (0xf940_0020, "ldr x0, [x1]", Memory),
            (0xd503_201f, "nop", System),
            (0xd503_3bbf, "dmb ish", System),
        ];
        for (word, text, class) in cases {
            assert_eq!(decode(word).operation_class(), class, "{text}");
        }
    }

    #[test]
    fn each_vector_word_has_the_kind_of_its_form() {
        use OperationClass::Vector;
        let cases = [
            (0x1e62_2820, "fadd d0, d1, d2", Vector(VectorKind::Float)),
            (0x1e62_0820, "fmul d0, d1, d2", Vector(VectorKind::Float)),
            (0x1f42_0c20, "fmadd d0, d1, d2, d3", Vector(VectorKind::MultiplyAdd)),
            (0x4e22_cc20, "fmla v0.4s, v1.4s, v2.4s", Vector(VectorKind::MultiplyAdd)),
            (
                0x1e62_1820,
                "fdiv d0, d1, d2",
                Vector(VectorKind::Divide { is_64: true, is_root: false }),
            ),
            (
                0x1e21_c020,
                "fsqrt s0, s1",
                Vector(VectorKind::Divide { is_64: false, is_root: true }),
            ),
            (
                0x6ee1_f820,
                "fsqrt v0.2d, v1.2d",
                Vector(VectorKind::Divide { is_64: true, is_root: true }),
            ),
            (0x4ea2_8420, "add v0.4s, v1.4s, v2.4s", Vector(VectorKind::Simple)),
            (0x4ea2_9c20, "mul v0.4s, v1.4s, v2.4s", Vector(VectorKind::Long)),
            (0x4e22_1c20, "and v0.16b, v1.16b, v2.16b", Vector(VectorKind::Logic)),
            (0x4ea2_7c20, "saba v0.4s, v1.4s, v2.4s", Vector(VectorKind::Twice)),
            (0x4e02_2020, "tbl v0.16b, ...", Vector(VectorKind::Lookup { steps: 2 })),
            (0x5e62_fc20, "frecps d0, d1, d2", Vector(VectorKind::NewtonStep)),
            (0x4e22_e420, "fcmeq v0.4s, v1.4s, v2.4s", Vector(VectorKind::Simple)),
            (0x4e28_4820, "aese v0.16b, v1.16b", Vector(VectorKind::AesRound)),
            (0x4e28_6820, "aesmc v0.16b, v1.16b", Vector(VectorKind::AesMix)),
            (0x5e02_4020, "sha256h q0, q1, v2.4s", Vector(VectorKind::HashRound)),
            (0x5e02_0020, "sha1c q0, s1, v2.4s", Vector(VectorKind::HashRound)),
            (0x5e02_3020, "sha1su0 v0.4s, v1.4s, v2.4s", Vector(VectorKind::HashSchedule)),
            (0x5e28_1820, "sha1su1 v0.4s, v1.4s", Vector(VectorKind::HashSchedule)),
            (0x5e28_2820, "sha256su0 v0.4s, v1.4s", Vector(VectorKind::Crypto)),
            (0x5e28_0820, "sha1h s0, s1", Vector(VectorKind::Crypto)),
            (0x1e62_0c20, "fcsel d0, d1, d2, eq", Vector(VectorKind::Simple)),
            (0x4ea2_bc20, "addp v0.4s, v1.4s, v2.4s", Vector(VectorKind::Collect)),
            (0x4ea2_0c20, "sqadd v0.4s, v1.4s, v2.4s", Vector(VectorKind::Collect)),
            (0x4eb1_b820, "addv s0, v1.4s", Vector(VectorKind::Collect)),
            (0x9e62_0020, "scvtf d0, x1", Vector(VectorKind::FromGeneral { converts: true })),
            (0x9e78_0020, "fcvtzs x0, d1", Vector(VectorKind::ToGeneral { converts: true })),
            (0x9e66_0020, "fmov x0, d1", Vector(VectorKind::ToGeneral { converts: false })),
            (0x9e67_0020, "fmov d0, x1", Vector(VectorKind::FromGeneral { converts: false })),
        ];
        for (word, text, class) in cases {
            assert_eq!(decode(word).operation_class(), class, "{text}");
        }
    }

    #[test]
    fn full_vectors_have_128_bits() {
        for (word, text, is_full) in [
            (0x4ea2_8420, "add v0.4s, v1.4s, v2.4s", true),
            (0x0ea2_8420, "add v0.2s, v1.2s, v2.2s", false),
            (0x1e62_2820, "fadd d0, d1, d2", false),
            (0x5ee2_8420, "add d0, d1, d2", false),
            (0x4e28_4820, "aese v0.16b, v1.16b", true),
            (0x6e04_0420, "ins v0.s[0], v1.s[0]", false),
            (0x4e08_1c20, "ins v0.d[0], x1", false),
            (0x4e04_0420, "dup v0.4s, v1.s[0]", true),
            (0x0e62_0020, "saddl v0.4s, v1.4h, v2.4h", true),
            (0x4f1e_8420, "shrn2 v0.8h, v1.4s, #2", false),
            (0x8b02_0020, "add x0, x1, x2", false),
        ] {
            assert_eq!(decode(word).is_full_vector(), is_full, "{text}");
        }
    }
}
