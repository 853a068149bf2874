//! Parts of an instruction word by their place: numbers of bits, registers.

/// Returns bits `low..low + bits` of `word`.
pub(crate) const fn field(word: u32, low: u32, bits: u32) -> u32 {
    word >> low & ((1 << bits) - 1)
}

/// Returns bits `low..low + bits` of `word` as a signed number.
pub(crate) const fn signed(word: u32, low: u32, bits: u32) -> i64 {
    ((word << (32 - low - bits)).cast_signed() >> (32 - bits)) as i64
}

/// Returns true if bit `at` of `word` is set.
pub(crate) const fn bit(word: u32, at: u32) -> bool {
    word >> at & 1 == 1
}

/// Returns the register number whose lowest bit is bit `low` of `word`.
pub(crate) const fn register(word: u32, low: u32) -> usize {
    field(word, low, 5) as usize
}
