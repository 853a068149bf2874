//! Integers in decimal, hexadecimal and binary.

/// Returns the value of digits such as `42`, `0x2a`, `0b10_1010`, at most 64 bits.
pub(super) fn number(word: &str) -> Option<i128> {
    let word = word.to_ascii_lowercase().replace('_', "");
    let (digits, radix) = if let Some(digits) = word.strip_prefix("0x") {
        (digits, 16)
    } else if let Some(digits) = word.strip_prefix("0b") {
        (digits, 2)
    } else {
        (word.as_str(), 10)
    };
    let is_clean = digits.chars().all(|c| c.is_digit(radix));
    u64::from_str_radix(digits, radix).ok().filter(|_| is_clean).map(i128::from)
}
