//! The value that an instruction gives to a general register, as an expression of other registers.

/// A general register as an operand, 0 to 30, and 31 for SP. `None` is the zero register.
pub type GeneralRegister = Option<usize>;

/// The value of a general register after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterValue {
    /// The address of the instruction, or of its page, plus an offset: `ADR`, `ADRP`.
    Address {
        /// The low 12 bits of the address are left out.
        of_page: bool,
        /// Bytes added.
        offset: i64,
    },
    /// This number: `MOVZ`, `MOVN`.
    Constant(u64),
    /// The old value with other bits in one place: `MOVK`.
    Insert {
        /// The register.
        into: GeneralRegister,
        /// Bits that stay.
        kept: u64,
        /// The other bits.
        bits: u64,
    },
    /// Two operands combined.
    Binary {
        /// The operation.
        operation: Operation,
        /// The first operand.
        n: GeneralRegister,
        /// The second operand.
        second: Second,
        /// Not only the low 32 bits count.
        is_64: bool,
    },
    /// A part of a register: shifts by a constant, extensions.
    Part(BitField, GeneralRegister),
    /// A product added to a register or subtracted from it.
    Product {
        /// The factors.
        factors: [GeneralRegister; 2],
        /// Extension of the factors.
        extension: Extension,
        /// The addend.
        addend: GeneralRegister,
        /// The product is subtracted.
        is_sub: bool,
        /// Not only the low 32 bits count.
        is_64: bool,
    },
    /// Not followed.
    Unknown,
}

/// An operation on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `ADD`.
    Add,
    /// `SUB`.
    Sub,
    /// `AND`, `BIC`.
    And,
    /// `ORR`, `ORN`.
    Or,
    /// `EOR`, `EON`.
    Xor,
}

/// The second operand of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Second {
    /// A number in the word.
    Constant(u64),
    /// A register that is shifted.
    Shifted {
        /// The register.
        m: GeneralRegister,
        /// The shift.
        shift: Shift,
        /// Its distance, in bits.
        amount: u32,
        /// The result is inverted.
        is_inverted: bool,
    },
    /// A register that is extended and then shifted left.
    Extended {
        /// The register.
        m: GeneralRegister,
        /// The extension.
        extension: Extension,
        /// The distance of the shift, in bits.
        amount: u32,
    },
}

/// A shift of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// `LSL`.
    Left,
    /// `LSR`.
    Right,
    /// `ASR`.
    Arithmetic,
}

/// The low bits of a register that an operand uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// All 64 bits.
    Whole,
    /// This many low bits, filled up with zeros.
    Zero(u32),
    /// This many low bits, filled up with the sign.
    Sign(u32),
}

/// The bits of a register that `UBFM` or `SBFM` moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitField {
    /// The lowest bit.
    pub lowest: u32,
    /// Number of bits, 1 to 64.
    pub length: u32,
    /// The lowest bit in the result.
    pub place: u32,
    /// The sign fills the bits above.
    pub is_signed: bool,
    /// Not only the low 32 bits count.
    pub is_64: bool,
}

impl RegisterValue {
    /// Returns the value after the instruction at `pc`. `known` returns the value of a register
    /// before it, or `None` if the caller does not know it.
    ///
    /// ```
    /// use sim_isa::RegisterEffect;
    /// let add = RegisterEffect::of(0x9101_0002); // ADD X2, X0, #0x40
    /// let RegisterEffect::Set { to: Some(2), value } = add else { panic!("it sets X2") };
    /// assert_eq!(value.evaluate(0x1000, |n| (n == 0).then_some(0x8000)), Some(0x8040));
    /// ```
    pub fn evaluate(self, pc: u64, known: impl Fn(usize) -> Option<u64>) -> Option<u64> {
        let of = |register: GeneralRegister| register.map_or(Some(0), &known);
        match self {
            RegisterValue::Address { of_page, offset } => {
                Some(if of_page { pc & !0xfff } else { pc }.wrapping_add_signed(offset))
            }
            RegisterValue::Constant(value) => Some(value),
            RegisterValue::Insert { into, kept, bits } => Some(of(into)? & kept | bits),
            RegisterValue::Binary { operation, n, second, is_64 } => {
                let (n, m) = (of(n)?, second.evaluate(is_64, of)?);
                Some(narrowed(operation.apply(n, m), is_64))
            }
            RegisterValue::Part(part, n) => Some(part.apply(of(n)?)),
            RegisterValue::Product { factors: [n, m], extension, addend, is_sub, is_64 } => {
                let product = extension.apply(of(n)?).wrapping_mul(extension.apply(of(m)?));
                let operation = if is_sub { Operation::Sub } else { Operation::Add };
                Some(narrowed(operation.apply(of(addend)?, product), is_64))
            }
            RegisterValue::Unknown => None,
        }
    }
}

/// Returns the value that a register of 64 or 32 bits keeps.
pub(crate) fn narrowed(value: u64, is_64: bool) -> u64 {
    if is_64 { value } else { value & 0xffff_ffff }
}

impl Operation {
    fn apply(self, n: u64, m: u64) -> u64 {
        match self {
            Operation::Add => n.wrapping_add(m),
            Operation::Sub => n.wrapping_sub(m),
            Operation::And => n & m,
            Operation::Or => n | m,
            Operation::Xor => n ^ m,
        }
    }
}

impl Second {
    fn evaluate(self, is_64: bool, of: impl Fn(GeneralRegister) -> Option<u64>) -> Option<u64> {
        match self {
            Second::Constant(value) => Some(value),
            Second::Shifted { m, shift, amount, is_inverted } => {
                let value = shift.apply(narrowed(of(m)?, is_64), amount);
                Some(if is_inverted { !value } else { value })
            }
            Second::Extended { m, extension, amount } => Some(extension.apply(of(m)?) << amount),
        }
    }
}

impl Shift {
    fn apply(self, value: u64, amount: u32) -> u64 {
        match self {
            Shift::Left => value << amount,
            Shift::Right => value >> amount,
            Shift::Arithmetic => (value.cast_signed() >> amount).cast_unsigned(),
        }
    }
}

impl Extension {
    fn apply(self, value: u64) -> u64 {
        match self {
            Extension::Whole => value,
            Extension::Zero(bits) => value & ((1 << bits) - 1),
            Extension::Sign(bits) => {
                let top = (value << (64 - bits)).cast_signed();
                (top >> (64 - bits)).cast_unsigned()
            }
        }
    }
}

impl BitField {
    fn apply(self, value: u64) -> u64 {
        let above = 64 - self.length;
        let top = value >> self.lowest << above;
        let part = match self.is_signed {
            true => (top.cast_signed() >> above).cast_unsigned(),
            false => top >> above,
        };
        narrowed(part << self.place, self.is_64)
    }
}

#[cfg(test)]
mod tests {
    use crate::RegisterEffect;

    /// Returns the value that a word at 0x1000 computes from X0 and X1, the only known registers.
    fn value(word: u32, x0: u64, x1: u64) -> Option<u64> {
        let known = |n: usize| [x0, x1].get(n).copied();
        match RegisterEffect::of(word) {
            RegisterEffect::Set { value, .. } => value.evaluate(0x1000, known),
            other => panic!("{word:#x} is {other:?}"),
        }
    }

    #[test]
    fn arithmetic_is_followed() {
        let cases = [
            (0x1000_0042u32, Some(0x1008)),     // adr x2, .+8
            (0xb000_0002, Some(0x2000)),        // adrp x2, of the next page
            (0xd290_0002, Some(0x8000)),        // mov x2, #0x8000
            (0x9280_0002, Some(u64::MAX)),      // mov x2, #-1
            (0xf2a0_0020, Some(0x1_8000)),      // movk x0, #1, lsl #16
            (0x9101_0002, Some(0x8040)),        // add x2, x0, #0x40
            (0xd100_4002, Some(0x7ff0)),        // sub x2, x0, #0x10
            (0x8b21_c802, Some(0x7ffc)),        // add x2, x0, w1, sxtw #2
            (0x8b21_4002, Some(0x1_0000_7fff)), // add x2, x0, w1, uxtw
            (0xd344_fc02, Some(0x800)),         // lsr x2, x0, #4
            (0xd37a_e402, Some(0x20_0000)),     // lsl x2, x0, #6
            (0x9340_7c22, Some(u64::MAX)),      // sxtw x2, w1
            (0x9b00_0402, Some(0x3fff_ffff)),   // madd x2, x0, x0, x1
            (0x8b40_0c02, Some(0x9000)),        // add x2, x0, x0, lsr #3
            (0x1b00_7c22, Some(0xffff_8000)),   // mul w2, w1, w0
            (0x8a21_0002, Some(0)),             // bic x2, x0, x1
            (0x4b00_0022, Some(0xffff_7fff)),   // sub w2, w1, w0
            (0x9ac1_0c02, None),                // sdiv x2, x0, x1
            (0x8b03_0002, None),                // add x2, x0, x3
            (0x0a80_0002, None),                // and w2, w0, w0, asr #0: not followed
        ];
        for (word, expected) in cases {
            assert_eq!(value(word, 0x8000, u64::MAX), expected, "{word:#x}");
        }
    }

    #[test]
    fn logical_immediates_repeat_their_element() {
        assert_eq!(value(0x927a_e402, u64::MAX, 0), Some(!0x3f)); // and x2, x0, #~0x3f
        let fives = 0x5555_5555_5555_5555;
        assert_eq!(value(0x9200_f002, u64::MAX, 0), Some(fives)); // and x2, x0, #0x55..
        assert_eq!(value(0x9240_0c02, u64::MAX, 0), Some(0xf)); // and x2, x0, #0xf
    }
}
