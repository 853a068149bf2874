//! Accesses of the program to the registers of its PMU, which an observer receives between the
//! instructions.

use super::CoreRun;
use crate::run_sink::RunSink;
use sim_core::{Notice, RegisterAccess};
use sim_trace::StreamEvent;

/// Returns the register access that an event records.
fn register_access_of(event: &StreamEvent) -> Option<RegisterAccess> {
    match *event {
        StreamEvent::Register { encoding, value, is_write } => {
            Some(RegisterAccess { encoding, value, is_write })
        }
        _ => None,
    }
}

impl CoreRun {
    /// Reports the register accesses of all instructions before the next one.
    #[inline]
    pub(super) fn report_registers<S: RunSink>(&mut self, observer: &mut S) {
        if !S::OBSERVES_OPS {
            return;
        }
        while let Some(at) = self.reader.events().get(self.registers_seen)
            && at.position as usize <= self.at
        {
            if let Some(access) = register_access_of(&at.event) {
                observer.notify(Notice::RegisterAccess(access));
            }
            self.registers_seen += 1;
        }
    }

    /// Returns the register accesses of the last instruction of the batch.
    pub(super) fn registers_after<S: RunSink>(&mut self) -> Vec<RegisterAccess> {
        if !S::OBSERVES_OPS {
            return Vec::new();
        }
        let events = &self.reader.events()[self.registers_seen..];
        events.iter().filter_map(|at| register_access_of(&at.event)).collect()
    }

    /// Returns the number of instructions before the next access that an observer receives.
    pub(super) fn until_access<S: RunSink>(&self) -> usize {
        let next = self.reader.events().get(self.registers_seen).filter(|_| S::OBSERVES_OPS);
        next.map_or(usize::MAX, |next| next.position as usize - self.at)
    }
}
