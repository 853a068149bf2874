//! Reads and writes of the PMU's registers by the steps of a case.

use crate::language::{Action, Case, ExpectedRegister, GivenCounter, RegisterRead, Step};
use sim_pmu::counter::EVENT_BITS;
use sim_pmu::{AccessError, CounterIndex, Encoding, Pmu, PmuVersion, Register, SpeRegister};

use super::profiling;
use super::recorded::Recorded;
use super::statements::looks_at_interrupt;

/// `MSR` and `MRS` of a register, without the fields that name it and Rt.
const MSR: u32 = 0xD510_0000;
const MRS: u32 = 0xD530_0000;
const INST_BITS: u32 = 0xFFF0_0000;

/// The PMU of a case: with its given counters, after reset if its steps alone program it, none if
/// nothing looks at it.
pub(super) fn pmu_for(case: &Case, version: PmuVersion) -> Option<Box<Pmu>> {
    let uses_it = case.steps.iter().any(|step| access(step).is_some())
        || !case.expect.registers.is_empty()
        || !case.silicon.registers.is_empty()
        || looks_at_interrupt(case);
    let after_reset = || Box::new(Pmu::with_version(version));
    pmu_of(&case.given.counters, version).or_else(|| uses_it.then(after_reset))
}

/// The register that a step accesses, and whether it writes it. A write of `PMSWINC_EL0` reaches
/// the PMU when it retires, as its event does.
pub(super) fn access(step: &Step) -> Option<(Register, bool)> {
    let Action::Execute { word, .. } = step.action else { return None };
    let is_write = match word & INST_BITS {
        MSR => true,
        MRS => false,
        _ => return None,
    };
    let register = Register::from_encoding(Encoding::of_word(word))?;
    (register != Register::PMSWINC_EL0 && !step.wrong_path).then_some((register, is_write))
}

/// A PMU whose given counters run; none if no counters are given.
fn pmu_of(counters: &[GivenCounter], version: PmuVersion) -> Option<Box<Pmu>> {
    if counters.is_empty() {
        return None;
    }
    let mut pmu = Box::new(Pmu::with_version(version));
    pmu.control(true, true);
    for given in counters {
        let Some(counter) = CounterIndex::new(given.counter) else { continue };
        pmu.program(counter, given.event);
        pmu.write(counter, given.value);
        pmu.start(counter.bit() & EVENT_BITS);
    }
    Some(pmu)
}

/// What reading a register gives now.
pub(super) fn read(recorded: &Recorded, expected: &ExpectedRegister) -> RegisterRead {
    let result = match SpeRegister::from_name(&expected.name) {
        Some(register) => profiling::unit_of(recorded).mrs(register),
        None => read_pmu(recorded, &expected.name),
    };
    match result {
        Ok(value) => RegisterRead::Value(value),
        Err(AccessError::Undefined) => RegisterRead::Undefined,
        Err(AccessError::Trap { to }) => RegisterRead::TrappedTo(to as u8),
    }
}

fn read_pmu(recorded: &Recorded, name: &str) -> Result<u64, AccessError> {
    let pmu = recorded.pmu.as_ref().expect("a case that looks at registers has a PMU");
    // A counter that the architecture has no name for does not exist either.
    let register = Register::from_name(name);
    register.map_or(Err(AccessError::Undefined), |register| pmu.mrs(register))
}
