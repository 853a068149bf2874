//! Runs the windows of a file and scales their counts up to the whole trace.

use super::windows::Regions;
use crate::estimate::Estimate;
use crate::regression::Machine;
use sim_machine::{MachineError, Session};
use sim_trace::StatesReader;

impl Regions {
    /// Runs the windows, each after functional warming or in its saved state, and estimates the
    /// counts of the whole trace. Returns `None` if there is no window. The caller has checked the
    /// states with [`Regions::fit_states`].
    ///
    /// # Errors
    /// As [`Session::run_windows`], or if the states are damaged.
    pub fn run(
        &self,
        session: &Session,
        states: Option<&mut StatesReader>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Option<Estimate>, MachineError> {
        let machine = Machine { warm: session.config().warm_hash(), is_warm: states.is_some() };
        let windows = self.windows();
        let outcomes = match states {
            Some(states) => session.run_windows_in_states(&windows, states, progress)?,
            None => session.run_windows(&windows, progress)?,
        };
        Ok(Estimate::new(&outcomes, self, machine))
    }
}
