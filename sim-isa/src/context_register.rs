//! Registers of EL1 that select the running process. A recorder of a whole system follows their
//! writes (Arm ARM D17.2).

/// A register that selects the address space or names the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextRegister {
    /// `TTBR0_EL1`: the tables of the lower half of the addresses.
    TableBase0,
    /// `TTBR1_EL1`: the tables of the upper half.
    TableBase1,
    /// `CONTEXTIDR_EL1`: a number for debuggers, which no instruction uses as an address.
    ContextId,
}

impl ContextRegister {
    /// Returns the register that `word` writes. Returns `None` for other words.
    ///
    /// ```
    /// use sim_isa::ContextRegister;
    /// let write = ContextRegister::written_by(0xd518_2003); // MSR TTBR0_EL1, X3
    /// assert_eq!(write, Some(ContextRegister::TableBase0));
    /// assert_eq!(ContextRegister::written_by(0xd538_2003), None); // MRS X3, TTBR0_EL1
    /// ```
    pub fn written_by(word: u32) -> Option<ContextRegister> {
        match word & 0xffff_ffe0 {
            0xd518_2000 => Some(ContextRegister::TableBase0),
            0xd518_2020 => Some(ContextRegister::TableBase1),
            0xd518_d020 => Some(ContextRegister::ContextId),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BankName, ContextWrite, decode};

    #[test]
    fn the_decoder_names_the_same_registers() {
        let cases = [
            (0xd518_2001u32, ContextRegister::TableBase0, ContextWrite::TableBase(BankName::El1)),
            (0xd518_2020, ContextRegister::TableBase1, ContextWrite::TableBase(BankName::El1)),
            (0xd518_d022, ContextRegister::ContextId, ContextWrite::ContextId(BankName::El1)),
        ];
        for (word, register, write) in cases {
            assert_eq!(ContextRegister::written_by(word), Some(register), "{word:#x}");
            assert_eq!(decode(word).context_write, Some(write), "{word:#x}");
        }
        // msr sctlr_el1, x0; msr ttbr0_el2, x0; isb.
        for word in [0xd518_1000u32, 0xd51c_2000, 0xd503_3fdf] {
            assert_eq!(ContextRegister::written_by(word), None, "{word:#x}");
        }
    }
}
