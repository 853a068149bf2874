//! Numbers as fields of a word, each with the check of its range.

use std::fmt;

/// An operand that no word of the instruction can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unencodable(pub String);

impl fmt::Display for Unencodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unencodable {}

/// The range of a field in the unit of its operand.
fn outside(what: &str, value: i64, [low, high]: [i64; 2], scale: i64) -> Unencodable {
    let multiple = if scale > 1 { format!("a multiple of {scale} ") } else { String::new() };
    Unencodable(format!("{what} {value} must be {multiple}from {low} to {high}"))
}

/// Returns a field of `bits` bits that holds `value / scale`, without a sign.
pub(super) fn unsigned(what: &str, value: i64, bits: u32, scale: i64) -> Result<u32, Unencodable> {
    let high = ((1_i64 << bits) - 1) * scale;
    if (0..=high).contains(&value) && value % scale == 0 {
        return Ok(u32::try_from(value / scale).unwrap_or_default());
    }
    Err(outside(what, value, [0, high], scale))
}

/// Returns a field of `bits` bits that holds `value / scale`, with its sign.
pub(super) fn signed(what: &str, value: i64, bits: u32, scale: i64) -> Result<u32, Unencodable> {
    let half = 1_i64 << (bits - 1);
    let (low, high) = (-half * scale, (half - 1) * scale);
    if (low..=high).contains(&value) && value % scale == 0 {
        let digits = (value / scale) & (2 * half - 1);
        return Ok(u32::try_from(digits).unwrap_or_default());
    }
    Err(outside(what, value, [low, high], scale))
}

/// Returns a register number in the field whose lowest bit is `low`.
pub(super) fn at(register: u8, low: u32) -> u32 {
    u32::from(register & 31) << low
}

/// Returns a condition in the bit `place`.
pub(super) fn flag(is_set: bool, place: u32) -> u32 {
    u32::from(is_set) << place
}
