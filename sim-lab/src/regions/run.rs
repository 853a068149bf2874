//! Runs the windows of a file and scales their counts up to the whole trace.

use std::ops::Range;

use super::windows::Regions;
use crate::estimate::{Estimate, NORMAL_95};
use crate::regression::Machine;
use crate::thread_errors::{ThreadErrors, check_windows};
use sim_machine::{MachineError, Outcome, Session};
use sim_trace::StatesReader;

impl Regions {
    /// Runs the windows, each after functional warming or in its saved state, and estimates the
    /// counts of the whole trace. Returns `None` if there is no window. The caller has checked the
    /// states with [`Regions::fit_states`].
    ///
    /// # Errors
    /// As [`Session::run_windows`], if the states are damaged, or if several threads compete so
    /// much that windows cannot represent the run.
    pub fn run(
        &self,
        session: &Session,
        states: Option<&mut StatesReader>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Option<Estimate>, MachineError> {
        let machine = Machine { warm: session.warm_hash(), is_warm: states.is_some() };
        if session.has_threads() {
            check_windows(self, session)?;
        }
        let outcomes = self.count(session, states, 0..self.windows.len(), progress)?;
        if !session.has_threads() {
            return Ok(Estimate::new(&outcomes, self, machine));
        }
        let threads = session.instructions_of_threads();
        let shared = ThreadErrors::checked(&outcomes, self, session)?;
        let mut estimate = Estimate::of_threads(&outcomes, self, machine, &threads);
        estimate.iter_mut().for_each(|estimate| shared.widen(estimate, NORMAL_95));
        Ok(estimate)
    }

    /// Runs some of the windows, one after the other on a machine that begins with the first of
    /// them, and returns an outcome for each. `states` has the states of all windows.
    ///
    /// # Errors
    /// As [`Session::run_windows`], or if the states are damaged.
    pub fn count(
        &self,
        session: &Session,
        states: Option<&mut StatesReader>,
        windows: Range<usize>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Outcome>, MachineError> {
        let chosen = &self.windows()[windows.clone()];
        let Some(states) = states else { return session.run_windows(chosen, progress) };
        session.run_windows_in_states(chosen, states, windows.start, progress)
    }
}
