//! Exceptions by kind, and the control bits that route them (Arm architecture; PMU guide 4.11).

/// Kind of an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExceptionKind {
    /// `SVC`.
    SupervisorCall,
    /// `HVC`.
    HypervisorCall,
    /// `SMC`.
    SecureMonitorCall,
    /// `BRK` and `BKPT`.
    Breakpoint,
    /// An undefined instruction, and every synchronous exception that has no kind of its own.
    Undefined,
    /// An instruction that a control of EL2 traps.
    Trap,
    /// A failed instruction fetch.
    InstructionAbort(AbortCause),
    /// A failed load or store.
    DataAbort(AbortCause),
    /// SError: an error that belongs to no instruction; the inputs nREI and nSEI.
    SystemError,
    /// Physical IRQ.
    Irq,
    /// Physical FIQ.
    Fiq,
    /// IRQ that a hypervisor delivers to its guest.
    VirtualIrq,
    /// FIQ that a hypervisor delivers to its guest.
    VirtualFiq,
}

impl ExceptionKind {
    /// Returns true when the generating instruction is complete. Its handler then returns to the
    /// next instruction.
    pub fn completes(self) -> bool {
        use ExceptionKind::{HypervisorCall, SecureMonitorCall, SupervisorCall};
        matches!(self, SupervisorCall | HypervisorCall | SecureMonitorCall)
    }
}

/// Cause of a failed fetch or access, as far as it affects the routing of the abort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum AbortCause {
    /// Stage 1 translation or permission fault, alignment fault, or failed tag check.
    #[default]
    Stage1,
    /// Stage 2 fault: translation, permission or memory type.
    Stage2,
    /// The memory system could not deliver the data (an uncorrectable error).
    External,
}

/// Bits of `HCR_EL2`.
pub mod hcr_el2 {
    /// Stage 2 of translation.
    pub const VM: u64 = 1;
    /// Physical FIQs go to EL2.
    pub const FMO: u64 = 1 << 3;
    /// Physical IRQs go to EL2.
    pub const IMO: u64 = 1 << 4;
    /// SErrors go to EL2.
    pub const AMO: u64 = 1 << 5;
    /// `WFI` of lower levels traps.
    pub const TWI: u64 = 1 << 13;
    /// `WFE` of lower levels traps.
    pub const TWE: u64 = 1 << 14;
    /// `SMC` of EL1 traps.
    pub const TSC: u64 = 1 << 19;
    /// Implementation defined registers trap.
    pub const TIDCP: u64 = 1 << 20;
    /// Writes to EL1's translation registers trap.
    pub const TVM: u64 = 1 << 26;
    /// Exceptions of EL0 go to EL2.
    pub const TGE: u64 = 1 << 27;
    /// `HVC` is undefined.
    pub const HCD: u64 = 1 << 29;
    /// EL2 is a host.
    pub const E2H: u64 = 1 << 34;
    /// Synchronous external aborts go to EL2.
    pub const TEA: u64 = 1 << 37;

    /// The bits with their names.
    pub const NAMED: [(&str, u64); 13] = [
        ("VM", VM),
        ("FMO", FMO),
        ("IMO", IMO),
        ("AMO", AMO),
        ("TWI", TWI),
        ("TWE", TWE),
        ("TSC", TSC),
        ("TIDCP", TIDCP),
        ("TVM", TVM),
        ("TGE", TGE),
        ("HCD", HCD),
        ("E2H", E2H),
        ("TEA", TEA),
    ];
}

/// Bits of `SCR_EL3`.
pub mod scr_el3 {
    /// Physical IRQs go to EL3.
    pub const IRQ: u64 = 1 << 1;
    /// Physical FIQs go to EL3.
    pub const FIQ: u64 = 1 << 2;
    /// External aborts and SErrors go to EL3.
    pub const EA: u64 = 1 << 3;
    /// `SMC` is undefined.
    pub const SMD: u64 = 1 << 7;
    /// EL2 exists in Secure state too.
    pub const EEL2: u64 = 1 << 18;

    /// The bits with their names.
    pub const NAMED: [(&str, u64); 5] =
        [("IRQ", IRQ), ("FIQ", FIQ), ("EA", EA), ("SMD", SMD), ("EEL2", EEL2)];
}

/// Control registers that route exceptions. [`crate::Privilege`] holds `HCR_EL2.E2H` and `TGE`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExceptionControls {
    /// `HCR_EL2`.
    pub hcr_el2: u64,
    /// `SCR_EL3`.
    pub scr_el3: u64,
}

impl ExceptionControls {
    /// Returns true when a bit of `HCR_EL2` is set.
    pub fn hypervisor(self, bit: u64) -> bool {
        self.hcr_el2 & bit != 0
    }

    /// Returns true when a bit of `SCR_EL3` is set.
    pub fn monitor(self, bit: u64) -> bool {
        self.scr_el3 & bit != 0
    }
}
