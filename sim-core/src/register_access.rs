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
