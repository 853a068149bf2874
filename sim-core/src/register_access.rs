//! An `MRS` or `MSR` of the recorded program to a PMU register (Arm ARM C6.2 and D13.5).

/// A read or write of a system register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterAccess {
    /// `op0`, `op1`, `CRn`, `CRm` and `op2`, in this order, as in bits 20 to 5 of the instruction
    /// word.
    pub encoding: u16,
    /// Value written, or value that the recorded machine returned. 0 if the recorder does not know
    /// it.
    pub value: u64,
    /// True for `MSR`.
    pub is_write: bool,
}

impl RegisterAccess {
    /// Returns the access of this instruction word, with `value`. Returns `None` if the word is
    /// neither `MRS` nor `MSR` (register).
    pub fn of_word(word: u32, value: u64) -> Option<RegisterAccess> {
        let is_write = match word >> 20 {
            0xD51 => true,
            0xD53 => false,
            _ => return None,
        };
        Some(RegisterAccess { encoding: (word >> 5) as u16, value, is_write })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words are those that GNU as 2.40 assembles: `msr pmcr_el0, x1`, `mrs x0, pmevcntr5_el0`.
    #[test]
    fn a_word_names_its_register() {
        for (word, is_write, encoding) in
            [(0xD51B_9C01, true, 0xDCE0), (0xD53B_E8A0, false, 0xDF45)]
        {
            let access = RegisterAccess::of_word(word, 7).expect("an access");
            assert_eq!(access, RegisterAccess { encoding, value: 7, is_write });
        }
        assert_eq!(RegisterAccess::of_word(0xD503_201F, 0), None, "nop");
        assert_eq!(RegisterAccess::of_word(0xD50B_7420, 0), None, "dc zva");
    }
}
