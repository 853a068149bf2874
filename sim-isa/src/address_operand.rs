//! Words for which an engine reports no address, and the registers that hold the address (Arm ARM
//! C4.1, "Loads and stores", "System instructions").

use crate::ContextRegister;
use crate::bits::{bit, field, signed};

/// Location of the operand of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressOperand {
    /// The full value of Xt: for `DC`, `IC`, `AT`, `TLBI`, and for writes of translation table
    /// bases and context IDs.
    Register(u32),
    /// Xn or SP, plus an offset in bytes.
    Offset(u32, i64),
    /// Xn or SP, plus an index register that is extended and shifted.
    Indexed {
        /// Xn or SP.
        base: u32,
        /// Xm or Wm.
        index: u32,
        /// Bits 15 to 13 of the word.
        option: u32,
        /// Left shift of the index, in bits.
        shift: u32,
    },
    /// The address of the word, plus an offset in bytes.
    Literal(i64),
}

impl AddressOperand {
    /// Returns the operand of `word` if engines do not report its address.
    ///
    /// ```
    /// use sim_isa::AddressOperand;
    /// let prfm = AddressOperand::of(0xf980_0420); // PRFM PLDL1KEEP, [X1, #8]
    /// assert_eq!(prfm, Some(AddressOperand::Offset(1, 8)));
    /// ```
    pub fn of(word: u32) -> Option<AddressOperand> {
        let (low, base) = (field(word, 0, 5), field(word, 5, 5));
        let is_system = word & 0xfff8_0000 == 0xd508_0000 && matches!(field(word, 12, 4), 7 | 8);
        if is_system && low != 31 || ContextRegister::written_by(word).is_some() {
            return Some(AddressOperand::Register(low));
        }
        // PRFM: unsigned offset, unscaled, by register, literal.
        match word {
            w if w & 0xffc0_0000 == 0xf980_0000 => {
                Some(AddressOperand::Offset(base, i64::from(field(w, 10, 12)) * 8))
            }
            w if w & 0xffe0_0c00 == 0xf880_0000 => {
                Some(AddressOperand::Offset(base, signed(w, 12, 9)))
            }
            w if w & 0xffe0_0c00 == 0xf8a0_0800 => Some(AddressOperand::Indexed {
                base,
                index: field(w, 16, 5),
                option: field(w, 13, 3),
                shift: 3 * u32::from(bit(w, 12)),
            }),
            w if w & 0xff00_0000 == 0xd800_0000 => {
                Some(AddressOperand::Literal(signed(w, 5, 19) * 4))
            }
            _ => None,
        }
    }

    /// Returns the value of the operand of the word at `pc`. `x` reads an X register or the zero
    /// register; `x_or_sp` reads an X register or the stack pointer.
    pub fn value(
        self,
        pc: u64,
        x: impl Fn(u32) -> Option<u64>,
        x_or_sp: impl Fn(u32) -> Option<u64>,
    ) -> Option<u64> {
        match self {
            AddressOperand::Register(number) => x(number),
            AddressOperand::Offset(base, bytes) => Some(x_or_sp(base)?.wrapping_add_signed(bytes)),
            AddressOperand::Indexed { base, index, option, shift } => {
                let index = extend(x(index)?, option) << shift;
                Some(x_or_sp(base)?.wrapping_add(index))
            }
            AddressOperand::Literal(bytes) => Some(pc.wrapping_add_signed(bytes)),
        }
    }
}

/// Extends a register value by `UXTW` or `SXTW`. Returns it unchanged for other options.
fn extend(value: u64, option: u32) -> u64 {
    match option {
        2 => u64::from(value as u32),
        6 => i64::from(value as u32 as i32).cast_unsigned(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_decoded_from_the_word() {
        let cases = [
            (0xd50b_7423, Some(AddressOperand::Register(3))), // dc zva, x3
            (0xd508_8725, Some(AddressOperand::Register(5))), // tlbi vae1, x5
            (0xd508_871f, None),                              // tlbi vmalle1
            (0xd518_2001, Some(AddressOperand::Register(1))), // msr ttbr0_el1, x1
            (0xd518_2020, Some(AddressOperand::Register(0))), // msr ttbr1_el1, x0
            (0xd518_d022, Some(AddressOperand::Register(2))), // msr contextidr_el1, x2
            (0xd518_1000, None),                              // msr sctlr_el1, x0
            (0xd503_3fdf, None),                              // isb
            (0xf980_0420, Some(AddressOperand::Offset(1, 8))), // prfm pldl1keep, [x1, #8]
            (0xf89f_8020, Some(AddressOperand::Offset(1, -8))), // prfum pldl1keep, [x1, #-8]
            (0xd8ff_ffe0, Some(AddressOperand::Literal(-4))), // prfm pldl1keep, .-4
            (0xf940_0420, None),                              // ldr x0, [x1, #8]
        ];
        for (word, operand) in cases {
            assert_eq!(AddressOperand::of(word), operand, "{word:#x}");
        }
    }

    #[test]
    fn an_index_is_extended_and_shifted() {
        let x = |number: u32| Some(if number == 2 { 0xffff_ffff } else { 0x1000 });
        let value =
            |word: u32| AddressOperand::of(word).and_then(|operand| operand.value(0x40, x, x));
        assert_eq!(value(0xf8a2_d820), Some(0x1000 - 8)); // prfm pldl1keep, [x1, w2, sxtw #3]
        assert_eq!(value(0xf8a2_4820), Some(0x1_0000_0fff)); // prfm pldl1keep, [x1, w2, uxtw]
        assert_eq!(value(0xf8a2_6820), Some(0x1_0000_0fff)); // prfm pldl1keep, [x1, x2]
        assert_eq!(value(0xd800_0040), Some(0x48));
    }
}
