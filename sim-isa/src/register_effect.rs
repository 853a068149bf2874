//! Effects of an instruction on general registers, for a recorder that follows their values without
//! executing the program. Common forms are described exactly; of others only which registers they
//! write is known, from [`decode`](crate::decode()).

use crate::addressing::Addressing;
use crate::bits::{bit, field, register, signed};
use crate::decode;
use crate::inst::MemOp;
use crate::register_value::{
    BitField, Extension, GeneralRegister, Operation, RegisterValue, Second, Shift, narrowed,
};
use crate::word_class::{is_prefetch, is_sve_access};

/// The effect of an instruction on general registers, and on pointers in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterEffect {
    /// Nothing, or only flags.
    Nothing,
    /// A register gets a value that depends on other registers.
    Set {
        /// The register.
        to: GeneralRegister,
        /// Its value.
        value: RegisterValue,
    },
    /// A register gets the 64 bits of another one: `MOV`.
    Copy {
        /// The copy.
        to: GeneralRegister,
        /// The original, 0 to 30.
        from: usize,
    },
    /// A register gets a constant that lies near the instruction: `LDR` (literal).
    Literal {
        /// The register.
        to: GeneralRegister,
        /// Distance of the constant from the instruction, in bytes.
        offset: i64,
        /// Size of the constant.
        kind: LiteralKind,
    },
    /// X30 gets the address of the next instruction: `BL`, `BLR`.
    Call,
    /// The kernel handles a system call: `SVC`.
    SupervisorCall,
    /// A load or store.
    Access(Addressing),
    /// The registers that it writes get values that are not followed.
    Unknown(Writes),
}

/// Size of the constant that a load of a literal reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralKind {
    /// 32 bits, filled up with zeros.
    Word,
    /// 32 bits, filled up with the sign.
    SignedWord,
    /// 64 bits.
    DoubleWord,
}

/// The memory that an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// None.
    Nothing,
    /// A few bytes at its address.
    AtAddress,
    /// Any.
    Anywhere,
}

impl RegisterEffect {
    /// Returns the effect of `word`.
    ///
    /// ```
    /// use sim_isa::RegisterEffect;
    /// let mov = RegisterEffect::of(0xaa03_03e4); // MOV X4, X3
    /// assert_eq!(mov, RegisterEffect::Copy { to: Some(4), from: 3 });
    /// assert_eq!(RegisterEffect::of(0xd400_0001), RegisterEffect::SupervisorCall); // SVC #0
    /// ```
    pub fn of(word: u32) -> RegisterEffect {
        match field(word, 25, 4) {
            0b1000 | 0b1001 => immediate(word),
            0b0101 | 0b1101 => by_register(word),
            0b1010 | 0b1011 => system(word),
            0b0100 | 0b0110 | 0b1100 | 0b1110 => memory(word),
            _ if is_sve_access(word) => RegisterEffect::Unknown(Writes::Anywhere),
            // Conversions and moves from vectors, SVE.
            _ => RegisterEffect::Unknown(Writes::Nothing),
        }
    }
}

/// Returns the register at bit `low`, where 31 is the zero register.
fn x(word: u32, low: u32) -> GeneralRegister {
    Some(register(word, low)).filter(|n| *n != 31)
}

/// Returns the register at bit `low`, where 31 is SP.
fn x_or_sp(word: u32, low: u32) -> GeneralRegister {
    Some(register(word, low))
}

/// Returns the destination of a form with SP that may set flags; then 31 is the zero register.
fn destination(word: u32, sets_flags: bool) -> GeneralRegister {
    if sets_flags { x(word, 0) } else { x_or_sp(word, 0) }
}

fn is_64(word: u32) -> bool {
    bit(word, 31)
}

fn add_or_sub(word: u32) -> Operation {
    if bit(word, 30) { Operation::Sub } else { Operation::Add }
}

/// Returns AND (also of ANDS), ORR or EOR.
fn logical(word: u32) -> Operation {
    match field(word, 29, 2) {
        0b01 => Operation::Or,
        0b10 => Operation::Xor,
        _ => Operation::And,
    }
}

fn immediate(word: u32) -> RegisterEffect {
    let (to, value) = match field(word, 23, 3) {
        0b000 | 0b001 => (x(word, 0), address(word)),
        0b010 => {
            let constant = u64::from(field(word, 10, 12)) << (12 * field(word, 22, 1));
            let sum = RegisterValue::Binary {
                operation: add_or_sub(word),
                n: x_or_sp(word, 5),
                second: Second::Constant(constant),
                is_64: is_64(word),
            };
            (destination(word, bit(word, 29)), sum)
        }
        0b100 => {
            let masked = |mask| RegisterValue::Binary {
                operation: logical(word),
                n: x(word, 5),
                second: Second::Constant(mask),
                is_64: is_64(word),
            };
            let value = bit_mask(word).map_or(RegisterValue::Unknown, masked);
            (destination(word, field(word, 29, 2) == 0b11), value)
        }
        0b101 => (x(word, 0), wide_move(word)),
        0b110 if field(word, 29, 2) != 0b01 => {
            let part = |part| RegisterValue::Part(part, x(word, 5));
            (x(word, 0), bit_field(word).map_or(RegisterValue::Unknown, part))
        }
        _ => return RegisterEffect::Unknown(Writes::Nothing),
    };
    RegisterEffect::Set { to, value }
}

/// Returns the value of ADR or ADRP.
fn address(word: u32) -> RegisterValue {
    let imm = signed(word, 5, 19) << 2 | i64::from(field(word, 29, 2));
    let of_page = bit(word, 31);
    RegisterValue::Address { of_page, offset: if of_page { imm << 12 } else { imm } }
}

/// Returns the value of MOVN, MOVZ or MOVK.
fn wide_move(word: u32) -> RegisterValue {
    let shift = 16 * field(word, 21, 2);
    let bits = u64::from(field(word, 5, 16)) << shift;
    let narrow = |value| narrowed(value, is_64(word));
    match field(word, 29, 2) {
        0b00 => RegisterValue::Constant(narrow(!bits)),
        0b10 => RegisterValue::Constant(narrow(bits)),
        _ => RegisterValue::Insert {
            into: x(word, 0),
            kept: narrow(!(0xffff << shift)),
            bits: narrow(bits),
        },
    }
}

/// Returns the bits that UBFM or SBFM moves: shifts by a constant, parts of a register, extensions.
fn bit_field(word: u32) -> Option<BitField> {
    let (from, to) = (field(word, 16, 6), field(word, 10, 6));
    let is_64 = is_64(word);
    let width = if is_64 { 64 } else { 32 };
    if from >= width || to >= width {
        return None;
    }
    let (lowest, length, place) =
        if to >= from { (from, to - from + 1, 0) } else { (0, to + 1, width - from) };
    Some(BitField { lowest, length, place, is_signed: field(word, 29, 2) == 0, is_64 })
}

/// Returns the mask of a logical immediate.
fn bit_mask(word: u32) -> Option<u64> {
    let (n, immr, imms) = (field(word, 22, 1), field(word, 16, 6), field(word, 10, 6));
    let length_bits = n << 6 | !imms & 0x3f;
    let size = 1u32 << length_bits.checked_ilog2()?;
    let ones = (imms & (size - 1)) + 1;
    let rotate = immr & (size - 1);
    if size < 2 || ones == size {
        return None;
    }
    let element = (1u64 << ones) - 1;
    let all = if size == 64 { u64::MAX } else { (1 << size) - 1 };
    let rotated =
        if rotate == 0 { element } else { (element >> rotate | element << (size - rotate)) & all };
    Some((0..64 / size).fold(0, |mask, copy| mask | rotated << (copy * size)))
}

fn by_register(word: u32) -> RegisterEffect {
    let (to, m) = (x(word, 0), x(word, 16));
    // MOV.
    if let (0xaa00_03e0, Some(from)) = (word & 0xffe0_ffe0, m) {
        return RegisterEffect::Copy { to, from };
    }
    match word {
        // CCMP and CCMN write flags only.
        w if w & 0x3fe0_0000 == 0x3a40_0000 => RegisterEffect::Nothing,
        // ADD and SUB of an extended register.
        w if w & 0x1f20_0000 == 0x0b20_0000 => RegisterEffect::Set {
            to: destination(w, bit(w, 29)),
            value: RegisterValue::Binary {
                operation: add_or_sub(w),
                n: x_or_sp(w, 5),
                second: Second::Extended { m, extension: extension(w), amount: field(w, 10, 3) },
                is_64: is_64(w),
            },
        },
        w if w & 0x1f20_0000 == 0x0b00_0000 => {
            RegisterEffect::Set { to, value: shifted(w, add_or_sub(w), false) }
        }
        w if w & 0x1f00_0000 == 0x0a00_0000 => {
            RegisterEffect::Set { to, value: shifted(w, logical(w), bit(w, 21)) }
        }
        w if w & 0x1f00_0000 == 0x1b00_0000 => RegisterEffect::Set { to, value: product(w) },
        _ => RegisterEffect::Set { to, value: RegisterValue::Unknown },
    }
}

/// Returns the value of an operation whose second operand is a shifted register.
fn shifted(word: u32, operation: Operation, is_inverted: bool) -> RegisterValue {
    let is_64 = is_64(word);
    let shift = match (field(word, 22, 2), is_64) {
        (0b00, _) => Shift::Left,
        (0b01, _) => Shift::Right,
        (0b10, true) => Shift::Arithmetic,
        _ => return RegisterValue::Unknown,
    };
    let (m, amount) = (x(word, 16), field(word, 10, 6));
    let second = Second::Shifted { m, shift, amount, is_inverted };
    RegisterValue::Binary { operation, n: x(word, 5), second, is_64 }
}

/// Returns the extension of the second operand of an ADD or SUB.
fn extension(word: u32) -> Extension {
    match field(word, 13, 3) {
        size @ 0b000..=0b010 => Extension::Zero(8 << size),
        size @ 0b100..=0b110 => Extension::Sign(8 << (size - 0b100)),
        _ => Extension::Whole,
    }
}

/// Returns the value of MADD, SMADDL, UMADDL or their SUB forms; the high halves of products are
/// not followed.
fn product(word: u32) -> RegisterValue {
    let extension = match field(word, 21, 3) {
        0b000 => Extension::Whole,
        0b001 => Extension::Sign(32),
        0b101 => Extension::Zero(32),
        _ => return RegisterValue::Unknown,
    };
    RegisterValue::Product {
        factors: [x(word, 5), x(word, 16)],
        extension,
        addend: x(word, 10),
        is_sub: bit(word, 15),
        is_64: is_64(word),
    }
}

fn system(word: u32) -> RegisterEffect {
    let is_call = word & 0xfc00_0000 == 0x9400_0000;
    let is_call_by_register = word & 0xfeff_f000 == 0xd63f_0000;
    match word {
        _ if is_call || is_call_by_register => RegisterEffect::Call,
        w if w & 0xffe0_001f == 0xd400_0001 => RegisterEffect::SupervisorCall,
        w if w >> 26 != 0b11_0101 => RegisterEffect::Nothing,
        w if decode(w).mem.op == MemOp::ZeroLine => RegisterEffect::Unknown(Writes::Anywhere),
        _ => RegisterEffect::Unknown(Writes::Nothing),
    }
}

fn memory(word: u32) -> RegisterEffect {
    if let Some(kind) = literal_kind(word) {
        return RegisterEffect::Literal { to: x(word, 0), offset: signed(word, 5, 19) << 2, kind };
    }
    if is_prefetch(word) {
        return RegisterEffect::Nothing;
    }
    if let Some(form) = Addressing::of(word) {
        return RegisterEffect::Access(form);
    }
    let is_literal = word & 0x3b00_0000 == 0x1800_0000;
    let is_indexed = word & 0x3b20_0c00 == 0x3820_0800;
    // Of a vector bit 22 says it, of a general register either of two.
    let is_load = bit(word, 22) || !bit(word, 26) && bit(word, 23);
    let is_read = is_literal || is_indexed && is_load;
    RegisterEffect::Unknown(if is_read { Writes::Nothing } else { Writes::AtAddress })
}

fn literal_kind(word: u32) -> Option<LiteralKind> {
    match word >> 24 {
        0x18 => Some(LiteralKind::Word),
        0x58 => Some(LiteralKind::DoubleWord),
        0x98 => Some(LiteralKind::SignedWord),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn register_31_is_sp_or_zero_as_the_form_says() {
        let set = |word| match RegisterEffect::of(word) {
            RegisterEffect::Set { to, value: RegisterValue::Binary { n, .. } } => (to, n),
            other => panic!("{word:#x} is {other:?}"),
        };
        assert_eq!(set(0x9100_43ff), (Some(31), Some(31))); // add sp, sp, #16
        assert_eq!(set(0xf100_43ff), (None, Some(31))); // cmp sp, #16
        assert_eq!(set(0x927a_e7ff), (Some(31), None)); // and sp, xzr, #~0x3f
        assert_eq!(set(0xf27a_e7ff), (None, None)); // tst xzr, #~0x3f
        assert_eq!(set(0x8b21_63ff), (Some(31), Some(31))); // add sp, sp, x1
        assert_eq!(set(0x8b01_03e2), (Some(2), None)); // add x2, xzr, x1
    }

    #[test]
    fn effects_beside_arithmetic_are_distinguished() {
        let (to, offset) = (Some(0), 8);
        let literal = |kind| RegisterEffect::Literal { to, offset, kind };
        let cases = [
            (0x1800_0040u32, literal(LiteralKind::Word)), // ldr w0, .+8
            (0x5800_0040, literal(LiteralKind::DoubleWord)), // ldr x0, .+8
            (0x9800_0040, literal(LiteralKind::SignedWord)), // ldrsw x0, .+8
            (0xfa41_0000, RegisterEffect::Nothing),       // ccmp x0, x1, #0, eq
            (0xf980_0020, RegisterEffect::Nothing),       // prfm pldl1keep, [x1]
            (0x5400_0040, RegisterEffect::Nothing),       // b.eq .+8
            (0x9400_0001, RegisterEffect::Call),          // bl .+4
            (0xd63f_0020, RegisterEffect::Call),          // blr x1
            (0xd400_0001, RegisterEffect::SupervisorCall), // svc #0
            (0xd50b_7423, RegisterEffect::Unknown(Writes::Anywhere)), // dc zva, x3
            (0xd503_201f, RegisterEffect::Unknown(Writes::Nothing)), // nop
            (0xf862_6820, RegisterEffect::Unknown(Writes::Nothing)), // ldr x0, [x1, x2]
            (0xf822_6820, RegisterEffect::Unknown(Writes::AtAddress)), // str x0, [x1, x2]
            (0xe400_e000, RegisterEffect::Unknown(Writes::Anywhere)), // st1b {z0.b}, p0, [x0]
            (0x9e66_0020, RegisterEffect::Unknown(Writes::Nothing)), // fmov x0, d1
        ];
        for (word, expected) in cases {
            assert_eq!(RegisterEffect::of(word), expected, "{word:#x}");
        }
        assert!(matches!(RegisterEffect::of(0xf940_0041), RegisterEffect::Access(_)));
    }
}
