//! Performs interrupts, idle time, and A32 instructions.

use crate::language::{Action, Step};
use sim_core::{Cycle, InstFlags, TraceInst};
use sim_isa::decode_a32;

use super::cut_short::CutShort;
use super::recorded::Tally;
use super::stepper::Stepper;

/// `eret`
const ERET: u32 = 0xD69F_03E0;

impl<T: Tally> Stepper<T> {
    /// Returns the record of an A32 instruction at the current address, and the next address.
    pub(super) fn a32(&mut self, word: u32, addr: Option<u64>) -> (TraceInst, u64) {
        let inst = decode_a32(word).expect("the language names only words that are known");
        let id = self.program.intern_inst(self.pc, inst);
        let flags = if addr.is_some() { InstFlags::HAS_ADDR } else { InstFlags::default() };
        (TraceInst { addr: addr.unwrap_or(0), id, flags }, self.pc + 8)
    }

    /// Runs a step that an interrupt cuts short: it executes, does not retire, and runs again
    /// later.
    pub(super) fn execute_cut_short(&mut self, step: &Step, addr: Option<u64>) {
        self.cut_short.push(CutShort { step: step.clone(), addr });
        self.execute_with(step, addr, InstFlags::ABANDONED);
    }

    /// After an exception return, repeats the instruction that its interrupt cut short.
    pub(super) fn resume(&mut self, step: &Step) {
        let returns = matches!(step.action, Action::Execute { word: ERET, .. });
        if returns
            && !step.wrong_path
            && let Some(CutShort { step, addr }) = self.cut_short.pop()
        {
            self.execute_with(&step, addr, InstFlags::default());
        }
    }

    /// Performs an interrupt or an idle time. Returns the cycle after it.
    pub(super) fn pass(&mut self, action: Action) -> Cycle {
        match action {
            Action::Interrupt(kind) => {
                self.pipeline.interrupt(kind, self.group_start, &mut self.sink)
            }
            Action::Idle { until } => {
                let until = until.saturating_add(self.uncounted);
                self.idle_memory(until);
                self.pipeline.idle_until(until, &mut self.sink)
            }
            _ => 0,
        }
    }

    /// Passes the privilege of the program to the PMU.
    pub(super) fn update_pmu(&mut self) {
        let state = self.pipeline.privilege().into();
        if self.sink.recorded().pmu.as_ref().is_some_and(|pmu| pmu.state() != state) {
            self.pipeline.settle_clocks(&mut self.sink);
        }
        let recorded = self.sink.recorded_mut();
        if let Some(pmu) = &mut recorded.pmu {
            pmu.set_state(state);
        }
        if !recorded.others.is_empty() {
            recorded.others.set_state(state);
        }
    }
}
