//! Steps of integer vector operations, by their encoding: how much work a core with a short vector
//! pipeline has with each (Arm ARM C4.1, "Advanced SIMD").

/// Work of an integer vector operation, in the classes that such cores distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VectorSteps {
    /// Logic of two registers, and moves.
    Logic,
    /// Additions, shifts, comparisons, selections.
    One,
    /// Additions that saturate, widen, narrow, round or accumulate; sums of neighbors.
    Two,
    /// Multiplication; shifts and narrowing that saturate; maximum of all elements.
    Three,
    /// Two passes: differences, pairs and rounded shifts that accumulate, rounded halves of sums.
    Twice,
}

/// Returns the steps of an integer vector operation; `None` for other instructions, and for those
/// whose steps follow from the tables of costs.
pub(crate) fn vector_steps(word: u32) -> Option<VectorSteps> {
    let is_scalar = word >> 28 & 1 == 1;
    if !is_simd(word) {
        return None;
    }
    let form = word & 0x0f00_0000;
    let unsigned = word >> 29 & 1;
    let size = word >> 22 & 3;
    match form {
        0x0e00_0000 if word >> 21 & 1 == 0 => None,
        0x0e00_0000 if word >> 10 & 1 == 1 => three_same(unsigned, word >> 11 & 0x1f, size),
        0x0e00_0000 if word >> 10 & 3 == 0 && !is_scalar => {
            three_different(unsigned, word >> 12 & 0xf)
        }
        0x0e00_0000 if word >> 17 & 0xf == 0 && word >> 10 & 3 == 2 => {
            one_register(unsigned, word >> 12 & 0x1f, size)
        }
        0x0e00_0000 if word >> 17 & 0xf == 8 && word >> 10 & 3 == 2 => across(word >> 12 & 0x1f),
        0x0f00_0000 if word >> 10 & 1 == 1 && word >> 19 & 0xf != 0 => {
            shift_by_constant(unsigned, word >> 11 & 0x1f)
        }
        _ => None,
    }
}

/// Returns true for Advanced SIMD: scalar forms have bit 30 set, those of floating point have not.
fn is_simd(word: u32) -> bool {
    word >> 31 == 0 && (word >> 28 & 1 == 0 || word >> 30 & 1 == 1)
}

fn three_same(unsigned: u32, opcode: u32, size: u32) -> Option<VectorSteps> {
    Some(match (opcode, unsigned) {
        (0b0_0011, 0) => VectorSteps::Logic,
        (0b0_0011, _) if size == 0 => VectorSteps::Logic,
        (0b0_0001 | 0b0_0101 | 0b0_1010 | 0b0_1110 | 0b1_0111, _) => VectorSteps::Two,
        (0b1_0001, 0) | (0b1_0011, 1) => VectorSteps::Two,
        (0b0_1001 | 0b0_1011, _) => VectorSteps::Three,
        (0b0_1111, _) => VectorSteps::Twice,
        (0b1_0010 | 0b1_0011 | 0b1_0110, _) => VectorSteps::Three,
        (0b1_1000.., _) => return None,
        _ => VectorSteps::One,
    })
}

fn three_different(unsigned: u32, opcode: u32) -> Option<VectorSteps> {
    Some(match (opcode, unsigned) {
        (0b0000..=0b0011 | 0b0111 | 0b1110, _) | (0b0100 | 0b0110, 0) => VectorSteps::Two,
        (0b0100..=0b0110, _) => VectorSteps::Twice,
        _ => VectorSteps::Three,
    })
}

fn one_register(unsigned: u32, opcode: u32, size: u32) -> Option<VectorSteps> {
    Some(match (opcode, unsigned) {
        (0b0_0101, 1) if size == 0 => VectorSteps::Logic,
        (0b0_0010 | 0b0_0011, _) | (0b0_0100 | 0b0_1011, 0) | (0b0_0111, 1) => VectorSteps::Two,
        (0b0_0110, _) => VectorSteps::Twice,
        (0b0_0111, 0) | (0b1_0010, 1) | (0b1_0100, _) => VectorSteps::Three,
        (0b0_0000..=0b0_1011 | 0b1_0010 | 0b1_0011, _) => VectorSteps::One,
        _ => return None,
    })
}

fn across(opcode: u32) -> Option<VectorSteps> {
    match opcode {
        0b0_0011 | 0b1_1011 => Some(VectorSteps::Two),
        0b0_1010 | 0b1_1010 => Some(VectorSteps::Three),
        _ => None,
    }
}

fn shift_by_constant(unsigned: u32, opcode: u32) -> Option<VectorSteps> {
    Some(match (opcode, unsigned) {
        (0b0_0010 | 0b0_0100, _) | (0b1_0001, 0) => VectorSteps::Two,
        (0b0_0110, _) => VectorSteps::Twice,
        (0b0_1100 | 0b0_1110, _) | (0b1_0000, 1) | (0b1_0001..=0b1_0011, _) => VectorSteps::Three,
        (0b0_0000 | 0b0_1000 | 0b0_1010 | 0b1_0000 | 0b1_0100, _) => VectorSteps::One,
        _ => return None,
    })
}

/// Returns whether an operation has 128 bits on one side although bit 30 is clear (`true`: it
/// widens), or 64 bits on the other although it is set (`false`: it narrows by a shift).
pub(crate) fn changes_width(word: u32) -> Option<bool> {
    let is_vector = word >> 28 & 9 == 0;
    let last = word >> 10 & 3;
    match word >> 24 & 0xf {
        0xe if is_vector && word >> 21 & 1 == 1 && last == 0 => Some(true),
        0xe if is_vector && word >> 17 & 0xf == 0 && last == 2 => match word >> 12 & 0x1f {
            0b1_0011 | 0b1_0110 | 0b1_0111 => Some(true),
            0b1_0010 | 0b1_0100 => Some(false),
            _ => None,
        },
        0xf if is_vector && word >> 10 & 1 == 0 => {
            let is_long = matches!(word >> 12 & 0xf, 0x2 | 0x3 | 0x6 | 0x7 | 0xa | 0xb);
            is_long.then_some(true)
        }
        0xf if is_vector && word >> 19 & 0xf != 0 => match word >> 11 & 0x1f {
            0b1_0100 => Some(true),
            0b1_0000..=0b1_0011 => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the cycles of a table lookup, if it is one: its registers, and one more for `TBX`.
pub(crate) fn lookup_steps(word: u32) -> Option<u8> {
    let is_lookup = word & 0xbfe0_8c00 == 0x0e00_0000;
    is_lookup.then_some((1 + (word >> 13 & 3) + (word >> 12 & 1)) as u8)
}

/// Returns true for a comparison of floating-point elements with a vector of masks as its result.
pub(crate) fn is_float_comparison(word: u32) -> bool {
    let is_three_same = word & 0x8f20_0400 == 0x0e20_0400;
    let of_three = word >> 11 & 0x1f == 0b1_1100 || word >> 11 & 0x1f == 0b1_1101;
    let is_with_zero = word & 0x8f3e_0c00 == 0x0e20_0800;
    is_simd(word) && is_three_same && of_three
        || is_simd(word) && is_with_zero && matches!(word >> 12 & 0x1f, 0b0_1100..=0b0_1110)
}

/// Returns true for `FRECPS` and `FRSQRTS`.
pub(crate) fn is_newton_step(word: u32) -> bool {
    is_simd(word) && word & 0xaf20_fc00 == 0x0e20_fc00
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_has_the_steps_of_its_form() {
        use VectorSteps::{Logic, One, Three, Twice, Two};
        let cases = [
            (0x4e22_1c20, "and v0.16b, v1.16b, v2.16b", Logic),
            (0x6e22_1c20, "eor v0.16b, v1.16b, v2.16b", Logic),
            (0x6e20_5820, "mvn v0.16b, v1.16b", Logic),
            (0x6e62_1c20, "bsl v0.16b, v1.16b, v2.16b", One),
            (0x6e60_5820, "rbit v0.16b, v1.16b", One),
            (0x6ea0_4820, "clz v0.4s, v1.4s", One),
            (0x6ea0_b820, "neg v0.4s, v1.4s", One),
            (0x6ea2_8c20, "cmeq v0.4s, v1.4s, v2.4s", One),
            (0x4ea2_0420, "shadd v0.4s, v1.4s, v2.4s", One),
            (0x4f3e_0420, "sshr v0.4s, v1.4s, #2", One),
            (0x0e61_2820, "xtn v0.4h, v1.4s", One),
            (0x5ee2_8420, "add d0, d1, d2", One),
            (0x4ea2_0c20, "sqadd v0.4s, v1.4s, v2.4s", Two),
            (0x4ea2_8c20, "cmtst v0.4s, v1.4s, v2.4s", Two),
            (0x6e22_9c20, "pmul v0.16b, v1.16b, v2.16b", Two),
            (0x4ea2_bc20, "addp v0.4s, v1.4s, v2.4s", Two),
            (0x6ea2_7420, "uabd v0.4s, v1.4s, v2.4s", Two),
            (0x4ea2_5420, "srshl v0.4s, v1.4s, v2.4s", Two),
            (0x0e62_0020, "saddl v0.4s, v1.4h, v2.4h", Two),
            (0x0e62_4020, "addhn v0.4h, v1.4s, v2.4s", Two),
            (0x2e62_7020, "uabdl v0.4s, v1.4h, v2.4h", Two),
            (0x4e60_2820, "saddlp v0.4s, v1.8h", Two),
            (0x4ea0_4820, "cls v0.4s, v1.4s", Two),
            (0x4ea0_b820, "abs v0.4s, v1.4s", Two),
            (0x6ea0_7820, "sqneg v0.4s, v1.4s", Two),
            (0x4eb1_b820, "addv s0, v1.4s", Two),
            (0x4eb0_3820, "saddlv d0, v1.4s", Two),
            (0x4f3e_1420, "ssra v0.4s, v1.4s, #2", Two),
            (0x4f3e_2420, "srshr v0.4s, v1.4s, #2", Two),
            (0x0f1e_8c20, "rshrn v0.4h, v1.4s, #2", Two),
            (0x4ea2_9420, "mla v0.4s, v1.4s, v2.4s", Three),
            (0x4ea2_4c20, "sqshl v0.4s, v1.4s, v2.4s", Three),
            (0x0e62_c020, "smull v0.4s, v1.4h, v2.4h", Three),
            (0x0e62_9020, "sqdmlal v0.4s, v1.4h, v2.4h", Three),
            (0x4eb0_a820, "smaxv s0, v1.4s", Three),
            (0x4ea0_7820, "sqabs v0.4s, v1.4s", Three),
            (0x0e61_4820, "sqxtn v0.4h, v1.4s", Three),
            (0x0f1e_9420, "sqshrn v0.4h, v1.4s, #2", Three),
            (0x4ea2_7c20, "saba v0.4s, v1.4s, v2.4s", Twice),
            (0x0e62_5020, "sabal v0.4s, v1.4h, v2.4h", Twice),
            (0x2e62_4020, "raddhn v0.4h, v1.4s, v2.4s", Twice),
            (0x4e60_6820, "sadalp v0.4s, v1.8h", Twice),
            (0x4f3e_3420, "srsra v0.4s, v1.4s, #2", Twice),
        ];
        for (word, text, steps) in cases {
            assert_eq!(vector_steps(word), Some(steps), "{text}");
        }
        for (word, text) in [(0x8b02_0020, "add x0, x1, x2"), (0x4e22_d420, "fadd v0.4s, ...")] {
            assert_eq!(vector_steps(word), None, "{text}");
        }
    }

    #[test]
    fn widening_and_narrowing_are_recognized() {
        let cases = [
            (0x0e62_0020, "saddl v0.4s, v1.4h, v2.4h", Some(true)),
            (0x0f10_a420, "sxtl v0.4s, v1.4h", Some(true)),
            (0x4f1e_8420, "shrn2 v0.8h, v1.4s, #2", Some(false)),
            (0x0e61_7820, "fcvtl v0.2d, v1.2s", Some(true)),
            (0x4ea2_8420, "add v0.4s, v1.4s, v2.4s", None),
        ];
        for (word, text, width) in cases {
            assert_eq!(changes_width(word), width, "{text}");
        }
    }

    #[test]
    fn lookups_comparisons_and_steps_are_recognized() {
        assert_eq!(lookup_steps(0x4e02_0020), Some(1), "tbl of one register");
        assert_eq!(lookup_steps(0x4e02_7020), Some(5), "tbx of four registers");
        assert!(is_float_comparison(0x4e22_e420), "fcmeq v0.4s, v1.4s, v2.4s");
        assert!(is_float_comparison(0x4ea0_d820), "fcmeq v0.4s, v1.4s, #0.0");
        assert!(is_newton_step(0x4e22_fc20) && is_newton_step(0x5ee2_fc20), "frecps, frsqrts");
        assert!(!is_newton_step(0x6e22_fc20), "fdiv v0.4s, v1.4s, v2.4s");
    }
}
