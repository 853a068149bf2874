//! Exceptions from a full-system recorder, by vector and syndrome (Arm architecture, "Exception
//! vectors", `ESR_ELx.EC`; PMU guide 4.11).

use crate::pipeline::Pipeline;
use crate::units::recorded_exception::RecordedException;
use sim_core::EventSink;

impl Pipeline {
    /// Announces an exception that was recorded after the next instruction.
    pub fn expect_exception(&mut self, recorded: RecordedException) {
        self.exceptions.recorded = Some(recorded);
    }

    /// Takes an exception that was recorded with no instruction since the previous exception.
    pub fn take_recorded<S: EventSink>(&mut self, recorded: RecordedException, sink: &mut S) {
        let at = self.retire.cycle().max(self.clocks.awake_from());
        self.take_recorded_after(recorded, None, at, sink);
    }
}
