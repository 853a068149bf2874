//! The immediates of `AND`, `ORR`, `EOR` and `ANDS`: a run of ones, rotated and repeated.

use super::operand::Width;

/// Returns the thirteen bits `N:immr:imms` of a value, or `None` if it has no such form.
///
/// ```
/// use sim_isa::encode::{Width, bitmask};
/// assert_eq!(bitmask(Width::X, 0xff), Some(0b1_000000_000111));
/// assert_eq!(bitmask(Width::W, 0x5555_5555), Some(0b0_000000_111100));
/// assert_eq!(bitmask(Width::X, 0), None);
/// assert_eq!(bitmask(Width::X, 5), None);
/// ```
pub fn bitmask(width: Width, value: u64) -> Option<u32> {
    let value = match width {
        Width::X => value,
        Width::W if value >> 32 == 0 => value | value << 32,
        Width::W => return None,
    };
    if value == 0 || value == u64::MAX {
        return None;
    }
    let mut size = 64;
    while size > 2 && value.rotate_right(size / 2) == value {
        size /= 2;
    }
    let mask = u64::MAX >> (64 - size);
    let element = value & mask;
    let ones = element.count_ones();
    let run = (1_u64 << ones) - 1;
    let rotated = |by: u32| (run >> by | run << ((size - by) % size)) & mask;
    let rotation = (0..size).find(|by| rotated(*by) == element)?;
    let is_64 = u32::from(size == 64);
    let lengths = (!(2 * size - 1) & 0x3f) | (ones - 1);
    Some(is_64 << 12 | rotation << 6 | lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_immediates_as_the_architecture_has() {
        // Elements of 2 to 64 bits, each with every length of run and every rotation.
        let mut found = std::collections::BTreeSet::new();
        for size in [2_u32, 4, 8, 16, 32, 64] {
            for ones in 1..size {
                let run = (1_u64 << ones) - 1;
                let mut value = (0..64 / size).fold(0, |value, at| value | run << (at * size));
                for _ in 0..size {
                    found.insert(bitmask(Width::X, value).expect("a run of ones has a form"));
                    value = value.rotate_right(1);
                }
            }
        }
        assert_eq!(found.len(), 5334);
    }
}
