//! Accesses of the steps of a case to PMU registers.

use crate::language::{Action, Case, ExpectedRegister, GivenCounter, RegisterRead, Step};
use sim_core::RegisterAccess;
use sim_isa::register_access;
use sim_pmu::counter::EVENT_BITS;
use sim_pmu::{AccessError, CounterIndex, Encoding, Pmu, PmuVersion, Register, SpeRegister};

use super::profiling;
use super::recorded::Recorded;
use super::statements::looks_at_interrupt;

/// Returns the PMU of a case. It has the given counters, or is in reset state if only steps
/// program it. Returns `None` if nothing uses it.
pub(super) fn pmu_for(case: &Case, version: PmuVersion) -> Option<Box<Pmu>> {
    let uses_it = case.steps.iter().any(|step| access(step).is_some())
        || !case.expect.registers.is_empty()
        || !case.silicon.registers.is_empty()
        || looks_at_interrupt(case);
    let after_reset = || Box::new(Pmu::with_version(version));
    pmu_of(&case.given.counters, version).or_else(|| uses_it.then(after_reset))
}

/// Returns the register that a step accesses, and whether it writes it. A write of `PMSWINC_EL0`
/// is left out, because it reaches the PMU as an event when it retires.
pub(super) fn access(step: &Step) -> Option<(Register, bool)> {
    let Action::Execute { word, .. } = step.action else { return None };
    let RegisterAccess { encoding, is_write, .. } = register_access(word, 0)?;
    let register = Register::from_encoding(Encoding::of_bits(encoding))?;
    (register != Register::PMSWINC_EL0 && !step.wrong_path).then_some((register, is_write))
}

/// Returns a PMU with the given counters running; `None` without given counters.
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

/// Returns the result of reading a register now.
pub(super) fn read(recorded: &Recorded, expected: &ExpectedRegister) -> RegisterRead {
    let result = match SpeRegister::from_name(&expected.name) {
        Some(register) => profiling::unit_of(recorded).mrs(register),
        None => read_pmu(recorded, &expected.name),
    };
    match result {
        Ok(value) => RegisterRead::Value(value),
        // The Neoverse N2 is described in full.
        Err(AccessError::Undefined | AccessError::NotDescribed) => RegisterRead::Undefined,
        Err(AccessError::Trap { to }) => RegisterRead::TrappedTo(to as u8),
    }
}

fn read_pmu(recorded: &Recorded, name: &str) -> Result<u64, AccessError> {
    let pmu = recorded.pmu.as_ref().expect("a case that looks at registers has a PMU");
    // A counter without an architectural name does not exist.
    let register = Register::from_name(name);
    register.map_or(Err(AccessError::Undefined), |register| pmu.mrs(register))
}
