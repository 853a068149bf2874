//! Performs steps that access a register of the PMU or of the profiling unit.

use super::error::CaseError;
use super::recorded::Tally;
use super::stepper::Stepper;
use super::{pmu_registers, profiling};
use crate::language::{Action, Join, Step};

/// `psb csync`
const PSB_CSYNC: u32 = 0xD503_223F;

impl<T: Tally> Stepper<T> {
    /// Performs the access of a step to a PMU register, with the program's current privilege.
    pub(super) fn access_pmu(&mut self, step: &Step, xt: Option<u64>) -> Result<(), CaseError> {
        let Some((register, is_write)) = pmu_registers::access(step) else { return Ok(()) };
        // The access sees the current value of the cycle counter.
        self.pipeline.settle_clocks(&mut self.sink);
        let recorded = self.sink.recorded_mut();
        let Some(pmu) = &mut recorded.pmu else { return Ok(()) };
        let result = match is_write {
            true => pmu.msr(register, xt.unwrap_or(0)),
            false => pmu.mrs(register).map(drop),
        };
        let written = is_write.then(|| xt.unwrap_or(0));
        let result = result.and_then(|()| recorded.others.access(register, written));
        result.map_err(|source| CaseError::Refused { step: step.text.clone(), source })?;
        if is_write {
            profiling::share(register, xt.unwrap_or(0), self.sink.recorded_mut());
        }
        Ok(())
    }

    /// Performs the access of a step to a register of the profiling unit, with the program's
    /// current privilege. If the step waits for the one before it, all records are written first.
    pub(super) fn access_spe(&mut self, step: &Step, xt: Option<u64>) -> Result<(), CaseError> {
        let barrier = matches!(step.action, Action::Execute { word: PSB_CSYNC, .. });
        let accessed = profiling::access(step);
        if barrier || accessed.is_some() && step.join == Join::After {
            self.sink.profile(|spe, sink| spe.synchronize(sink));
        }
        let (Some((register, is_write)), Some(spe)) = (accessed, &mut self.sink.recorded_mut().spe)
        else {
            return Ok(());
        };
        let result = match is_write {
            true => spe.msr(register, xt.unwrap_or(0)),
            false => spe.mrs(register).map(drop),
        };
        result.map_err(|source| CaseError::Refused { step: step.text.clone(), source })
    }
}
