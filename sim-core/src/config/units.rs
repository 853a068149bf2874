//! Numbers with a K, M or G suffix. Sizes of memories and tables are powers of two, so K is 1024
//! there: `128K` of `size-bytes`, `8K` of `btb-entries`. Everywhere else K is 1000: `3G` of
//! `clock-hz`. `KiB`, `MiB` and `GiB` are powers of 1024 for every key.

/// Last words of keys that hold sizes.
const SIZES: [&str; 2] = ["bytes", "entries"];

/// Returns the number that `text` means for `key`. Returns `None` unless `text` is a whole number
/// with a unit.
pub fn resolve(key: &str, text: &str) -> Option<u64> {
    let (text, base) = match text.strip_suffix("iB") {
        Some(number) => (number, 1024),
        None => (text, base(key)),
    };
    let unit = text.chars().next_back()?;
    let power = match unit.to_ascii_uppercase() {
        'K' => 1,
        'M' => 2,
        'G' => 3,
        _ => return None,
    };
    let digits = text[..text.len() - unit.len_utf8()].replace('_', "");
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let number: u64 = is_number.then(|| digits.parse().ok())??;
    number.checked_mul(base.pow(power))
}

/// Reads a number of instructions: digits, `_` between them, and a final k, M or G for a
/// power of 1000.
///
/// # Errors
/// The text is something else, or the number has more than 64 bits.
pub fn instructions(text: &str) -> Result<u64, String> {
    let (digits, scale) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        Some((at, 'g' | 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    let number: Option<u64> = digits.replace('_', "").parse().ok();
    number
        .and_then(|number| number.checked_mul(scale))
        .ok_or_else(|| String::from("give a number of instructions, such as 2000000 or 2M"))
}

/// Returns the value of K for a key.
fn base(key: &str) -> u64 {
    let last = key.rsplit(['.', '-']).next().unwrap_or_default();
    if SIZES.contains(&last) { 1024 } else { 1000 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_is_a_power_of_two_for_sizes_and_of_ten_for_the_rest() {
        for (key, text, number) in [
            ("memory.l1d.size-bytes", "128K", 131_072),
            ("memory.l2.size-bytes", "1M", 1_048_576),
            ("memory.l1d.size-bytes", "64KiB", 65_536),
            ("run.seed", "2KiB", 2048),
            ("pipeline.branch.btb-entries", "8k", 8192),
            ("memory.l2-tlb.entries", "2K", 2048),
            ("core.clock-hz", "3G", 3_000_000_000),
            ("run.seed", "1_0k", 10_000),
        ] {
            assert_eq!(resolve(key, text), Some(number), "{key}={text}");
        }
    }

    #[test]
    fn text_other_than_a_whole_number_with_a_unit_is_not_resolved() {
        for text in ["128", "K", "", "1.5K", "-1K", "12KB", "12iB", "tageK", "99999999999G", "1é"]
        {
            assert_eq!(resolve("memory.l1d.size-bytes", text), None, "{text}");
        }
    }
}
