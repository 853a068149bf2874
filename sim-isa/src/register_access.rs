//! The system register that an `MRS` or `MSR` names (Arm ARM C6.2).

use sim_core::RegisterAccess;

/// Returns the access of this word to a system register, with `value`. Returns `None` if the word
/// is neither `MRS` nor `MSR` (register).
///
/// ```
/// let write = sim_isa::register_access(0xd51b_9c01, 7).expect("MSR PMCR_EL0, X1");
/// assert!(write.is_write);
/// assert_eq!((write.encoding, write.value), (0xdce0, 7));
/// ```
pub fn register_access(word: u32, value: u64) -> Option<RegisterAccess> {
    let is_write = match word >> 20 {
        0xd51 => true,
        0xd53 => false,
        _ => return None,
    };
    Some(RegisterAccess { encoding: (word >> 5) as u16, value, is_write })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words are those that GNU as 2.40 assembles: `msr pmcr_el0, x1`, `mrs x0, pmevcntr5_el0`.
    #[test]
    fn a_word_names_its_register() {
        for (word, is_write, encoding) in
            [(0xd51b_9c01, true, 0xdce0), (0xd53b_e8a0, false, 0xdf45)]
        {
            let access = register_access(word, 7).expect("an access");
            assert_eq!(access, RegisterAccess { encoding, value: 7, is_write });
        }
        assert_eq!(register_access(0xd503_201f, 0), None, "nop");
        assert_eq!(register_access(0xd50b_7420, 0), None, "dc zva");
    }
}
