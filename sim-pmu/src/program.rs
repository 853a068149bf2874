//! PMU as the traced program uses it (PMU guide 3.1; Arm ARM D13.5). Each core has one unit, which
//! the program's own `MSR` and `MRS` drive and which counts the events of the model.

use sim_core::{EventSink, Notice, PmuEvent, RegisterAccess};

use crate::access::AccessError;
use crate::pe_state::PeState;
use crate::pmu::Pmu;
use crate::register::{Encoding, Register};
use crate::routes::{EventRoutes, N2Routes};
use crate::version::PmuVersion;

/// Outcome of one register access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramAccess {
    /// Core, counted from 0.
    pub core: usize,
    /// Instructions retired on the core so far, including the access.
    pub retired: u64,
    /// Exception level and security state of the program.
    pub state: PeState,
    /// Access as recorded.
    pub access: RegisterAccess,
    /// Accessed register; `None` if it does not belong to the PMU.
    pub register: Option<Register>,
    /// Result in the modeled unit: the value that was read or written, or the reason for a refusal.
    pub outcome: Result<u64, AccessError>,
}

/// Unit of one core that the program alone drives, with the interrupts that it requests.
#[derive(Clone, Debug)]
pub struct ProgramUnit<R = N2Routes> {
    pmu: Pmu<R>,
    retired: u64,
    /// Level of the interrupt request when it was last checked.
    interrupt: bool,
    requests: u64,
}

/// Final state of a core.
#[derive(Clone, Debug)]
pub struct ProgramEnd<'a> {
    /// PMU of the core.
    pub pmu: &'a Pmu,
    /// Number of overflow interrupt requests.
    pub requests: u64,
}

/// PMUs of all cores of a run, used by the program alone.
#[derive(Clone, Debug)]
pub struct ProgramPmu {
    version: PmuVersion,
    cores: Vec<ProgramUnit>,
    current: usize,
    accesses: Vec<ProgramAccess>,
}

impl ProgramPmu {
    /// Creates the units in their reset state.
    pub fn new(version: PmuVersion) -> ProgramPmu {
        let mut program =
            ProgramPmu { version, cores: Vec::new(), current: 0, accesses: Vec::new() };
        program.notify(Notice::Core(0));
        program
    }

    /// Returns every access, in the order in which they were reported.
    pub fn accesses(&self) -> &[ProgramAccess] {
        &self.accesses
    }

    /// Returns the final state of each core.
    pub fn ends(&self) -> impl Iterator<Item = ProgramEnd<'_>> {
        self.cores.iter().map(|core| ProgramEnd { pmu: &core.pmu, requests: core.requests })
    }
}

impl<R: EventRoutes> ProgramUnit<R> {
    /// Gives the unit to a program.
    pub fn new(pmu: Pmu<R>) -> ProgramUnit<R> {
        let interrupt = pmu.interrupt();
        ProgramUnit { pmu, retired: 0, interrupt, requests: 0 }
    }

    /// Returns the unit.
    pub fn pmu(&self) -> &Pmu<R> {
        &self.pmu
    }

    /// Returns the number of overflow interrupt requests so far.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Returns the number of instructions that retired so far.
    pub fn retired(&self) -> u64 {
        self.retired
    }

    /// Retires `n` more instructions.
    #[inline]
    pub fn retire(&mut self, n: u64) {
        self.retired += n;
    }

    /// Sets the program's exception level and security state.
    pub fn set_state(&mut self, state: PeState) {
        self.pmu.set_state(state);
    }

    /// Adds `n` to each counter in `counters` that counts in the present state.
    #[inline]
    pub fn increment(&mut self, counters: u32, n: u64) {
        let before = self.pmu.overflowed();
        self.pmu.increment(counters, n);
        if self.pmu.overflowed() != before {
            self.watch_interrupt();
        }
    }

    fn watch_interrupt(&mut self) {
        let interrupt = self.pmu.interrupt();
        self.requests += u64::from(interrupt && !self.interrupt);
        self.interrupt = interrupt;
    }

    /// Performs an access of the program on core number `core`.
    pub fn access(&mut self, core: usize, access: RegisterAccess) -> ProgramAccess {
        let register = Register::from_encoding(Encoding::of_bits(access.encoding));
        let state = self.pmu.state();
        let outcome = match register {
            Some(register) if access.is_write => {
                self.pmu.msr(register, access.value).map(|()| access.value)
            }
            Some(register) => self.pmu.mrs(register),
            None => Err(AccessError::Undefined),
        };
        self.watch_interrupt();
        ProgramAccess { core, retired: self.retired, state, access, register, outcome }
    }
}

impl EventSink for ProgramPmu {
    const OBSERVES_OPS: bool = true;

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        let core = &mut self.cores[self.current];
        if event == PmuEvent::INST_RETIRED {
            core.retire(n);
        }
        core.increment(core.pmu.routes().of(event), n);
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::RegisterAccess(access) => {
                let done = self.cores[self.current].access(self.current, access);
                self.accesses.push(done);
            }
            Notice::Core(core) => {
                while self.cores.len() <= core {
                    self.cores.push(ProgramUnit::new(Pmu::with_version(self.version)));
                }
                self.current = core;
            }
            Notice::Privilege(privilege) => {
                self.cores[self.current].set_state(privilege.into());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pe_state::ExceptionLevel;
    use sim_core::Privilege;

    fn access(register: Register, value: u64, is_write: bool) -> RegisterAccess {
        RegisterAccess { encoding: register.encoding().bits(), value, is_write }
    }

    #[test]
    fn a_program_counts_its_own_instructions_and_traps_at_el0() {
        use Register::*;
        let mut program = ProgramPmu::new(PmuVersion::V8p4);
        let at = |level| Privilege { level, ..Privilege::default() };
        program.notify(Notice::Privilege(at(1)));
        for (register, value) in [
            (PMEVTYPER_EL0(0), 0x08),
            (PMEVCNTR_EL0(0), 0xFFFF_FFFF),
            (PMINTENSET_EL1, 1),
            (PMCNTENSET_EL0, 1),
            (PMCR_EL0, 1),
        ] {
            program.notify(Notice::RegisterAccess(access(register, value, true)));
        }
        program.raise(PmuEvent::INST_RETIRED);
        program.notify(Notice::Privilege(at(0)));
        program.notify(Notice::RegisterAccess(access(PMEVCNTR_EL0(0), 0, false)));
        program.count(PmuEvent::INST_RETIRED, 4);
        program.notify(Notice::Core(1));
        program.count(PmuEvent::INST_RETIRED, 100);
        program.notify(Notice::Core(0));
        program.notify(Notice::Privilege(at(1)));
        program.notify(Notice::RegisterAccess(access(PMEVCNTR_EL0(0), 0, false)));
        let outcomes: Vec<_> =
            program.accesses()[5..].iter().map(|seen| (seen.retired, seen.outcome)).collect();
        let trap = Err(AccessError::Trap { to: ExceptionLevel::El1 });
        assert_eq!(outcomes, [(1, trap), (5, Ok(4))]);
        assert_eq!(program.ends().map(|end| end.requests).collect::<Vec<_>>(), [1, 0]);
    }

    #[test]
    fn other_registers_are_refused() {
        let mut program = ProgramPmu::new(PmuVersion::V8p4);
        // TTBR0_EL1.
        program.notify(Notice::RegisterAccess(RegisterAccess {
            encoding: 0xC100,
            value: 0,
            is_write: true,
        }));
        assert_eq!(program.accesses()[0].register, None);
        assert_eq!(program.accesses()[0].outcome, Err(AccessError::Undefined));
    }
}
