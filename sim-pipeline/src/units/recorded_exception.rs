//! Exceptions from a full-system recorder, by vector and syndrome (Arm architecture, "Exception
//! vectors", `ESR_ELx.EC`; PMU guide 4.11).

use sim_core::{AbortCause, ExceptionKind, Privilege};
use sim_isa::{Inst, MemOp, Special};

/// Offset in the vector table of exceptions from a lower level.
const FROM_LOWER_LEVEL: u32 = 0x400;

/// Exception in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedException {
    /// Offset of its vector.
    pub vector: u32,
    /// Set if the previous instruction did not complete.
    pub abandoned: bool,
    /// Target level and state; `None` if the recorder does not know them.
    pub to: Option<Privilege>,
    /// `ESR_ELx`; 0 if it is not known.
    pub syndrome: u64,
}

impl RecordedException {
    /// Returns the kind of the exception, which was taken after this instruction.
    pub(crate) fn kind(&self, inst: Option<&Inst>) -> ExceptionKind {
        match self.vector & 0x180 {
            0x080 => ExceptionKind::Irq,
            0x100 => ExceptionKind::Fiq,
            0x180 => ExceptionKind::SystemError,
            _ => self.by_syndrome().unwrap_or_else(|| self.by_instruction(inst)),
        }
    }

    /// Returns the kind of a synchronous exception, if the recorder gives its syndrome.
    fn by_syndrome(&self) -> Option<ExceptionKind> {
        if self.syndrome == 0 {
            return None;
        }
        let kind = match self.syndrome >> 26 & 0x3F {
            0x11 | 0x15 => ExceptionKind::SupervisorCall,
            0x12 | 0x16 => ExceptionKind::HypervisorCall,
            0x13 | 0x17 => ExceptionKind::SecureMonitorCall,
            0x20 | 0x21 => ExceptionKind::InstructionAbort(AbortCause::Stage1),
            0x24 | 0x25 => ExceptionKind::DataAbort(AbortCause::Stage1),
            0x38 | 0x3C => ExceptionKind::Breakpoint,
            0x01..=0x0C | 0x18..=0x1A => ExceptionKind::Trap,
            _ => ExceptionKind::Undefined,
        };
        Some(kind)
    }

    /// Returns the exception that the previous instruction can have generated. A complete
    /// instruction that is not a call did not cause it: the next instruction could not be fetched.
    fn by_instruction(&self, inst: Option<&Inst>) -> ExceptionKind {
        let aborted = ExceptionKind::InstructionAbort(AbortCause::Stage1);
        let Some(inst) = inst else { return aborted };
        match inst.special {
            Special::SupervisorCall => ExceptionKind::SupervisorCall,
            Special::HypervisorCall => ExceptionKind::HypervisorCall,
            Special::SecureMonitorCall => ExceptionKind::SecureMonitorCall,
            Special::Breakpoint => ExceptionKind::Breakpoint,
            _ if !self.abandoned => aborted,
            _ if inst.mem.op != MemOp::None => ExceptionKind::DataAbort(AbortCause::Stage1),
            _ => ExceptionKind::Undefined,
        }
    }

    /// Returns the target of the exception. If the recorder does not give it, vector and kind
    /// determine the level.
    pub(crate) fn target(&self, kind: ExceptionKind, from: Privilege) -> Privilege {
        if let Some(to) = self.to {
            return to;
        }
        let level = match kind {
            _ if self.vector < FROM_LOWER_LEVEL => from.level.max(1),
            ExceptionKind::HypervisorCall => 2,
            ExceptionKind::SecureMonitorCall => 3,
            _ => (from.level + 1).min(3),
        };
        Privilege { level, ..from }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sync(syndrome: u64, abandoned: bool) -> RecordedException {
        RecordedException { vector: 0x400, abandoned, to: None, syndrome }
    }

    #[test]
    fn the_vector_distinguishes_the_interrupts() {
        let kind = |vector| RecordedException { vector, ..Default::default() }.kind(None);
        assert_eq!([0x080, 0x280, 0x480, 0x680].map(kind), [ExceptionKind::Irq; 4]);
        assert_eq!([0x100, 0x500].map(kind), [ExceptionKind::Fiq; 2]);
        assert_eq!([0x180, 0x380].map(kind), [ExceptionKind::SystemError; 2]);
    }

    #[test]
    fn the_syndrome_or_the_instruction_gives_the_kind_of_a_synchronous_exception() {
        let load = sim_isa::decode(0xF940_0020);
        let call = sim_isa::decode(0xD400_0001);
        let data = ExceptionKind::DataAbort(AbortCause::Stage1);
        let fetch = ExceptionKind::InstructionAbort(AbortCause::Stage1);
        assert_eq!(sync(0x25 << 26, false).kind(None), data);
        assert_eq!(sync(0x3C << 26, true).kind(Some(&load)), ExceptionKind::Breakpoint);
        assert_eq!(sync(0, true).kind(Some(&load)), data);
        assert_eq!(sync(0, false).kind(Some(&load)), fetch);
        assert_eq!(sync(0, false).kind(Some(&call)), ExceptionKind::SupervisorCall);
        assert_eq!(sync(0x18 << 26, true).kind(None), ExceptionKind::Trap);
        let undefined = sync(1 << 25, true);
        assert_eq!(
            undefined.kind(Some(&load)),
            ExceptionKind::Undefined,
            "class 0 is recorded too"
        );
    }

    #[test]
    fn the_level_comes_from_the_recorder_or_from_vector_and_kind() {
        let at = |level| Privilege { level, ..Privilege::default() };
        let target = |recorded: RecordedException, kind, level| recorded.target(kind, at(level));
        let lower = sync(0, false);
        let own = RecordedException { vector: 0x280, ..lower };
        assert_eq!(target(lower, ExceptionKind::SupervisorCall, 0), at(1));
        assert_eq!(target(lower, ExceptionKind::HypervisorCall, 1), at(2));
        assert_eq!(target(lower, ExceptionKind::SecureMonitorCall, 1), at(3));
        assert_eq!(target(own, ExceptionKind::Irq, 1), at(1));
        let given = RecordedException { to: Some(at(2)), ..lower };
        assert_eq!(target(given, ExceptionKind::SupervisorCall, 0), at(2));
    }
}
