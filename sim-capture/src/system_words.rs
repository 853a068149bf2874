//! A64 words that the engine reports no address for, and which registers have it (Arm architecture,
//! "Loads and stores", "System instructions").
#![cfg_attr(test, allow(unreachable_pub, reason = "only tests use it then"))]

/// Where the operand of a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// The whole of Xt: of `DC`, `IC`, `AT`, `TLBI`, and of a write to a register that names tables or contexts.
    Register(u32),
    /// Xn or SP, plus so many bytes.
    Offset(u32, i64),
    /// Xn or SP, plus the second register as the option says (0 to 7), shifted.
    Indexed {
        /// Xn or SP.
        base: u32,
        /// Xm or Wm.
        index: u32,
        /// Bits 15 to 13 of the word.
        option: u32,
        /// Bits that the index is shifted by.
        shift: u32,
    },
    /// The address of the word, plus so many bytes.
    Literal(i64),
}

impl Operand {
    /// The operand of `word`, if the engine does not report it by itself.
    pub(crate) fn of(word: u32) -> Option<Operand> {
        let (low, base) = (word & 31, word >> 5 & 31);
        let field =
            |at: u32, bits: u32| i64::from((word << (32 - at - bits)).cast_signed() >> (32 - bits));
        let is_system = word & 0xfff8_0000 == 0xd508_0000 && matches!(word >> 12 & 15, 7 | 8);
        if is_system && low != 31 || is_context_write(word) {
            return Some(Operand::Register(low));
        }
        // PRFM: unsigned offset, unscaled, by register, literal.
        match word {
            w if w & 0xffc0_0000 == 0xf980_0000 => {
                Some(Operand::Offset(base, i64::from(w >> 10 & 0xfff) * 8))
            }
            w if w & 0xffe0_0c00 == 0xf880_0000 => Some(Operand::Offset(base, field(12, 9))),
            w if w & 0xffe0_0c00 == 0xf8a0_0800 => Some(Operand::Indexed {
                base,
                index: w >> 16 & 31,
                option: w >> 13 & 7,
                shift: 3 * (w >> 12 & 1),
            }),
            w if w & 0xff00_0000 == 0xd800_0000 => Some(Operand::Literal(field(5, 19) * 4)),
            _ => None,
        }
    }

    /// Its value at `pc`, given what reads X or the zero register, and X or the stack pointer.
    pub(crate) fn value(
        self,
        pc: u64,
        x: impl Fn(u32) -> Option<u64>,
        x_or_sp: impl Fn(u32) -> Option<u64>,
    ) -> Option<u64> {
        match self {
            Operand::Register(number) => x(number),
            Operand::Offset(base, bytes) => Some(x_or_sp(base)?.wrapping_add_signed(bytes)),
            Operand::Indexed { base, index, option, shift } => {
                let index = extend(x(index)?, option) << shift;
                Some(x_or_sp(base)?.wrapping_add(index))
            }
            Operand::Literal(bytes) => Some(pc.wrapping_add_signed(bytes)),
        }
    }
}

/// `UXTW`, `SXTW`, or the whole register.
fn extend(value: u64, option: u32) -> u64 {
    match option {
        2 => u64::from(value as u32),
        6 => i64::from(value as u32 as i32).cast_unsigned(),
        _ => value,
    }
}

/// Writes of `TTBR0_EL1`, `TTBR1_EL1` and `CONTEXTIDR_EL1`.
fn is_context_write(word: u32) -> bool {
    matches!(word & 0xffff_ffe0, 0xd518_2000 | 0xd518_2020 | 0xd518_d020)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_where_the_words_say() {
        let cases = [
            (0xd50b_7423, Some(Operand::Register(3))),   // dc zva, x3
            (0xd508_8725, Some(Operand::Register(5))),   // tlbi vae1, x5
            (0xd508_871f, None),                         // tlbi vmalle1
            (0xd518_2001, Some(Operand::Register(1))),   // msr ttbr0_el1, x1
            (0xd518_2020, Some(Operand::Register(0))),   // msr ttbr1_el1, x0
            (0xd518_d022, Some(Operand::Register(2))),   // msr contextidr_el1, x2
            (0xd518_1000, None),                         // msr sctlr_el1, x0
            (0xd503_3fdf, None),                         // isb
            (0xf980_0420, Some(Operand::Offset(1, 8))),  // prfm pldl1keep, [x1, #8]
            (0xf89f_8020, Some(Operand::Offset(1, -8))), // prfum pldl1keep, [x1, #-8]
            (0xd8ff_ffe0, Some(Operand::Literal(-4))),   // prfm pldl1keep, .-4
            (0xf940_0420, None),                         // ldr x0, [x1, #8]
        ];
        for (word, operand) in cases {
            assert_eq!(Operand::of(word), operand, "{word:#x}");
        }
    }

    #[test]
    fn an_index_is_extended_and_shifted() {
        let x = |number: u32| Some(if number == 2 { 0xffff_ffff } else { 0x1000 });
        let value = |word: u32| Operand::of(word).and_then(|operand| operand.value(0x40, x, x));
        assert_eq!(value(0xf8a2_d820), Some(0x1000 - 8)); // prfm pldl1keep, [x1, w2, sxtw #3]
        assert_eq!(value(0xf8a2_4820), Some(0x1_0000_0fff)); // prfm pldl1keep, [x1, w2, uxtw]
        assert_eq!(value(0xf8a2_6820), Some(0x1_0000_0fff)); // prfm pldl1keep, [x1, x2]
        assert_eq!(value(0xd800_0040), Some(0x48));
    }
}
