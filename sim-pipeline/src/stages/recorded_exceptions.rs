//! Exceptions that a full-system recorder saw: what was taken, by vector and syndrome (Arm architecture,
//! "Exception vectors", `ESR_ELx.EC`; PMU guide 4.11).

use crate::pipeline::Pipeline;
use crate::units::recorded_exception::RecordedException;
use sim_core::EventSink;

impl Pipeline {
    /// The recorder saw this exception behind the instruction that is run next.
    pub fn expect_exception(&mut self, recorded: RecordedException) {
        self.exceptions.recorded = Some(recorded);
    }

    /// The recorder saw this exception with no instruction between it and what came before.
    pub fn take_recorded<S: EventSink>(&mut self, recorded: RecordedException, sink: &mut S) {
        let at = self.retire.cycle().max(self.clocks.awake_from());
        self.take_recorded_behind(recorded, None, at, sink);
    }
}
