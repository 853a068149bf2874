//! A thread's run during a quantum, in which cores run at the same time on CPUs of the host
//! ([`crate::quanta`]), and the return to its beginning.

use super::CoreRun;
use crate::error::MachineError;
use crate::run_sink::RunSink;
use sim_cache::MemorySystem;
use sim_core::Cycle;
use sim_isa::Program;

impl CoreRun {
    /// Returns a copy of everything but the reader, which marks its place.
    pub(crate) fn save(&mut self) -> CoreRun {
        self.reader.mark();
        self.clone()
    }

    /// Returns to a saved state.
    pub(crate) fn restore(&mut self, saved: CoreRun) {
        let mut now = std::mem::replace(self, saved);
        std::mem::swap(&mut self.reader, &mut now.reader);
        self.reader.return_to_mark();
    }

    /// Runs until the clock passes `until`, the thread must wait or it ends.
    pub(crate) fn run_quantum<S: RunSink>(
        &mut self,
        until: Cycle,
        program: &mut Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) -> Result<(), MachineError> {
        while !self.stops(until) {
            self.advance(until, program, memory, observer)?;
        }
        Ok(())
    }

    /// Returns whether a quantum that lasts until `until` is over.
    fn stops(&self, until: Cycle) -> bool {
        self.ended || self.cycle() > until || self.position() >= self.hold_at
    }
}
