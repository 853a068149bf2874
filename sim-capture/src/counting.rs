//! The places in a block where the counter of started instructions is increased.

/// Bit that is set in every instruction that calculates with floating-point or vector registers
/// (Arm ARM C4.1), and in no other that [`sim_isa::never_faults`] accepts.
const VECTOR: u32 = 1 << 26;

/// Returns the indexes of the instructions of `words` that count, each with the number that it adds
/// when it starts. Together these are the instructions of the block. If control leaves the block
/// early, the count so far is that of the started ones: an instruction that may fault has counted
/// itself and all before it. With `vectors_may_trap`, an operating system may trap instructions
/// that calculate with floating-point and vector registers.
pub(crate) fn points(words: &[u32], vectors_may_trap: bool) -> Vec<(usize, u64)> {
    let mut points = Vec::new();
    let mut next = 0;
    for (index, word) in words.iter().enumerate() {
        let may_trap = vectors_may_trap && word & VECTOR != 0;
        if may_trap || !sim_isa::never_faults(*word) {
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

    const ADD: u32 = 0x9100_0421;
    const FADD: u32 = 0x1e62_2820;
    const LDR: u32 = 0xf940_0041;
    const RET: u32 = 0xd65f_03c0;

    #[test]
    fn all_that_began_is_counted_where_a_block_may_end_early() {
        assert_eq!(points(&[ADD, ADD, LDR, ADD, LDR, ADD, ADD], false), [(2, 3), (4, 2), (5, 2)]);
        assert_eq!(points(&[ADD, LDR, RET], false), [(1, 2), (2, 1)]);
        assert_eq!(points(&[ADD, ADD], false), [(0, 2)]);
        assert_eq!(points(&[], false), []);
        assert_eq!(points(&[ADD, FADD, ADD], false), [(0, 3)]);
        assert_eq!(points(&[ADD, FADD, ADD], true), [(1, 2), (2, 1)]);
    }
}
