//! Formation of the addresses of elements by SVE loads and stores (Arm ARM, SVE addressing).

use crate::Inst;
use crate::bits::{bit, field, signed};

/// The address formation of an SVE load or store, with vectors of 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SveAddressing {
    /// Consecutive bytes from Xn (31 is SP) plus an offset.
    Offset {
        /// Xn.
        base: u32,
        /// Bytes added.
        offset: i64,
    },
    /// Consecutive bytes from Xn (31 is SP) plus Xm (31 is the zero register).
    Indexed {
        /// Xn.
        base: u32,
        /// Xm.
        index: u32,
        /// Left shift of Xm, in bits.
        scale: u32,
    },
    /// An address in each element of Zn, plus an offset.
    VectorBase {
        /// Zn.
        vector: u32,
        /// Bytes added.
        offset: u64,
    },
    /// Xn (31 is SP) plus an offset in each element of Zm.
    VectorOffsets {
        /// Xn.
        base: u32,
        /// Zm.
        vector: u32,
        /// Meaning of an element.
        offset: VectorOffset,
        /// Left shift of an offset, in bits.
        scale: u32,
    },
}

/// Meaning of an element as an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorOffset {
    /// All of it counts.
    Whole,
    /// Its low 32 bits are an unsigned number.
    Unsigned,
    /// Its low 32 bits are a signed number.
    Signed,
}

impl SveAddressing {
    /// Returns the address formation of `inst`, an SVE load or store. Returns `None` for a form
    /// that this function does not know.
    ///
    /// ```
    /// use sim_isa::{SveAddressing, decode};
    /// let ld1w = SveAddressing::of(&decode(0xa541_a060)); // LD1W {Z0.S}, P0/Z, [X3, #1, MUL VL]
    /// assert_eq!(ld1w, Some(SveAddressing::Offset { base: 3, offset: 16 }));
    /// ```
    pub fn of(inst: &Inst) -> Option<SveAddressing> {
        if inst.mem.scattered { scattered(inst) } else { contiguous(inst) }
    }
}

fn contiguous(inst: &Inst) -> Option<SveAddressing> {
    let word = inst.word;
    let base = field(word, 5, 5);
    let whole = i64::from(inst.mem.bytes);
    let offset = match (word >> 25, field(word, 13, 3)) {
        // LDR, STR of a vector or predicate: nine bits of offset in two fields.
        (0b100_0010 | 0b111_0010, _) if field(word, 22, 3) == 0b110 && inst.mem.elements == 0 => {
            (signed(word, 16, 6) * 8 + i64::from(field(word, 10, 3))) * whole
        }
        // LD1R.
        (0b100_0010, 0b100..) if bit(word, 22) => i64::from(field(word, 16, 6)) * whole,
        (0b101_0010, 0b101 | 0b111 | 0b001) | (0b111_0010, 0b111) => signed(word, 16, 4) * whole,
        (0b101_0010, 0b010 | 0b011 | 0b110 | 0b000) | (0b111_0010, 0b010 | 0b011) => {
            let (index, scale) = (field(word, 16, 5), inst.mem.align.trailing_zeros());
            return Some(SveAddressing::Indexed { base, index, scale });
        }
        _ => return None,
    };
    Some(SveAddressing::Offset { base, offset })
}

fn scattered(inst: &Inst) -> Option<SveAddressing> {
    let word = inst.word;
    let (n, m) = (field(word, 5, 5), field(word, 16, 5));
    let form = field(word, 13, 3);
    let is_store = word >> 25 == 0b111_0010;
    let is_based_on_vector = match is_store {
        true => form == 0b101 && bit(word, 22),
        false => form >= 0b100 && field(word, 21, 2) == 0b01,
    };
    if is_based_on_vector {
        let offset = u64::from(m) * u64::from(inst.mem.align);
        return Some(SveAddressing::VectorBase { vector: n, offset });
    }
    let is_wide = if is_store { form == 0b101 } else { form >= 0b100 };
    if form == 0b001 && is_store || !is_store && is_wide && !bit(word, 22) {
        return None;
    }
    let is_signed = bit(word, if is_store { 14 } else { 22 });
    let offset = match (is_wide, is_signed) {
        (true, _) => VectorOffset::Whole,
        (false, true) => VectorOffset::Signed,
        (false, false) => VectorOffset::Unsigned,
    };
    let scale = if bit(word, 21) { inst.mem.align.trailing_zeros() } else { 0 };
    Some(SveAddressing::VectorOffsets { base: n, vector: m, offset, scale })
}

impl VectorOffset {
    /// Returns the offset that the element `value` is, before it is shifted.
    pub fn of(self, value: u64) -> u64 {
        match self {
            VectorOffset::Whole => value,
            VectorOffset::Signed => i64::from(value as u32 as i32).cast_unsigned(),
            VectorOffset::Unsigned => u64::from(value as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode;

    #[test]
    fn every_form_is_described() {
        let offset = |base, offset| Some(SveAddressing::Offset { base, offset });
        let vector = |scale, offset| {
            Some(SveAddressing::VectorOffsets { base: 4, vector: 0, offset, scale })
        };
        let cases = [
            (0x8580_4000u32, offset(0, 0)),    // ldr z0, [x0]
            (0x8581_5c20, offset(1, 15 * 16)), // ldr z0, [x1, #15, mul vl]
            (0xa540_a060, offset(3, 0)),       // ld1w {z0.s}, p0/z, [x3]
            (0xa54f_a060, offset(3, -16)),     // ld1w {z0.s}, p0/z, [x3, #-1, mul vl]
            (0x8541_c060, offset(3, 4)),       // ld1rw {z0.s}, p0/z, [x3, #4]
            (0xa541_4060, Some(SveAddressing::Indexed { base: 3, index: 1, scale: 2 })),
            (0x8520_4080, vector(2, VectorOffset::Unsigned)), // ld1w, [x4, z0.s, uxtw #2]
            (0x8540_4080, vector(0, VectorOffset::Signed)),   // ld1w, [x4, z0.s, sxtw]
            (0xc540_c080, vector(0, VectorOffset::Whole)),    // ld1w, [x4, z0.d]
            (0x8522_c080, Some(SveAddressing::VectorBase { vector: 4, offset: 8 })),
        ];
        for (word, expected) in cases {
            assert_eq!(SveAddressing::of(&decode(word)), expected, "{word:#x}");
        }
        assert_eq!(VectorOffset::Signed.of(0xffff_ffff), u64::MAX);
        assert_eq!(VectorOffset::Unsigned.of(1 << 32 | 7), 7);
    }
}
