//! The places in a block where the counter of started instructions is increased.

/// Returns the indexes of the instructions of `words` that count, each with the number that it adds
/// when it starts. Together these are the instructions of the block. If control leaves the block
/// early, the count so far is that of the started ones: an instruction that may fault has counted
/// itself and all before it. `is_safe` is true for those that never fault.
pub(crate) fn points(words: &[u32], is_safe: fn(u32) -> bool) -> Vec<(usize, u64)> {
    let mut points = Vec::new();
    let mut next = 0;
    for (index, word) in words.iter().enumerate() {
        if !is_safe(*word) {
            points.push((index, (index + 1 - next) as u64));
            next = index + 1;
        }
    }
    if next < words.len() {
        points.push((next, (words.len() - next) as u64));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_isa::{never_faults, never_traps};

    const ADD: u32 = 0x9100_0421;
    const FADD: u32 = 0x1e62_2820;
    const LDR: u32 = 0xf940_0041;
    const RET: u32 = 0xd65f_03c0;

    #[test]
    fn all_that_began_is_counted_where_a_block_may_end_early() {
        assert_eq!(
            points(&[ADD, ADD, LDR, ADD, LDR, ADD, ADD], never_faults),
            [(2, 3), (4, 2), (5, 2)]
        );
        assert_eq!(points(&[ADD, LDR, RET], never_faults), [(1, 2), (2, 1)]);
        assert_eq!(points(&[ADD, ADD], never_faults), [(0, 2)]);
        assert_eq!(points(&[], never_faults), []);
        assert_eq!(points(&[ADD, FADD, ADD], never_faults), [(0, 3)]);
        assert_eq!(points(&[ADD, FADD, ADD], never_traps), [(1, 2), (2, 1)]);
    }
}
