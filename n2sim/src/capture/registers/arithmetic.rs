//! The results of arithmetic instructions on known values.

use crate::capture::addressing::field;

/// Returns the second operand of an ADD or logical instruction with a shift.
pub(super) fn shifted(word: u32, m: u64) -> Option<u64> {
    let (is_64, amount) = (word >> 31 == 1, field(word, 10, 6) as u32);
    let m = if is_64 { m } else { m & 0xffff_ffff };
    match (field(word, 22, 2), is_64) {
        (0b00, _) => Some(m << amount),
        (0b01, _) => Some(m >> amount),
        (0b10, true) => Some((m.cast_signed() >> amount).cast_unsigned()),
        _ => None,
    }
}

/// Returns the second operand of an ADD of an extended register.
pub(super) fn extended(word: u32, m: u64) -> u64 {
    let m = match field(word, 13, 3) {
        0b000 => m & 0xff,
        0b001 => m & 0xffff,
        0b010 => m & 0xffff_ffff,
        0b100 => i64::from(m as i8).cast_unsigned(),
        0b101 => i64::from(m as i16).cast_unsigned(),
        0b110 => i64::from(m as i32).cast_unsigned(),
        _ => m,
    };
    m << field(word, 10, 3)
}

/// Returns the result of ADD or SUB, by bit 30.
pub(super) fn add(word: u32, n: u64, m: u64) -> u64 {
    if field(word, 30, 1) == 1 { n.wrapping_sub(m) } else { n.wrapping_add(m) }
}

/// Returns the result of AND, ORR, EOR or ANDS, with bit 21 of the complement.
pub(super) fn logical(word: u32, n: u64, m: u64) -> u64 {
    let m = if field(word, 21, 1) == 1 { !m } else { m };
    match field(word, 29, 2) {
        0b01 => n | m,
        0b10 => n ^ m,
        _ => n & m,
    }
}

/// Returns the result of MADD, SMADDL, UMADDL or their SUB forms; `None` for high halves.
pub(super) fn multiplied(word: u32, n: u64, m: u64, a: u64) -> Option<u64> {
    let signed = |value: u64| i64::from(value as i32).cast_unsigned();
    let (n, m) = match field(word, 21, 3) {
        0b000 => (n, m),
        0b001 => (signed(n), signed(m)),
        0b101 => (n & 0xffff_ffff, m & 0xffff_ffff),
        _ => return None,
    };
    let product = n.wrapping_mul(m);
    let is_sub = field(word, 15, 1) == 1;
    Some(if is_sub { a.wrapping_sub(product) } else { a.wrapping_add(product) })
}

/// Returns the result of UBFM or SBFM: shifts by a constant, parts of a register, extensions.
pub(super) fn bit_field(word: u32, value: u64) -> Option<u64> {
    let (from, to) = (field(word, 16, 6) as u32, field(word, 10, 6) as u32);
    let width = if word >> 31 == 1 { 64 } else { 32 };
    if from >= width || to >= width {
        return None;
    }
    // The part, at the top of 64 bits, and where its lowest bit goes.
    let (length, place) = if to >= from { (to - from + 1, 0) } else { (to + 1, width - from) };
    let lowest = if to >= from { from } else { 0 };
    let top = value >> lowest << (64 - length);
    let is_signed = field(word, 29, 2) == 0;
    let part = match is_signed {
        true => (top.cast_signed() >> (64 - length)).cast_unsigned(),
        false => top >> (64 - length),
    };
    let moved = part << place;
    Some(if width == 64 { moved } else { moved & 0xffff_ffff })
}

/// Returns the mask of a logical immediate.
pub(super) fn bit_mask(word: u32) -> Option<u64> {
    let (n, immr, imms) = (field(word, 22, 1), field(word, 16, 6), field(word, 10, 6));
    let length_bits = (n << 6 | !imms & 0x3f) as u32;
    let size = 1u32 << length_bits.checked_ilog2()?;
    let ones = (imms as u32 & (size - 1)) + 1;
    let rotate = immr as u32 & (size - 1);
    if size < 2 || ones == size {
        return None;
    }
    let element = (1u64 << ones) - 1;
    let all = if size == 64 { u64::MAX } else { (1 << size) - 1 };
    let rotated =
        if rotate == 0 { element } else { (element >> rotate | element << (size - rotate)) & all };
    Some((0..64 / size).fold(0, |mask, copy| mask | rotated << (copy * size)))
}
