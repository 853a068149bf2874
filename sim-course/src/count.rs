//! Counts of the traces that lessons run.

use sim_core::PmuEvent;
use sim_machine::{Outcome, RunOptions, Session};
use sim_pmu::counter::CounterCount;
use sim_pmu::perf::{Group, PerfSession, PerfSetup};

use crate::setup::{Sharing, TraceRun, overrides};
use crate::solve::TraceCounts;

impl TraceRun {
    /// Returns the changed keys of the configuration as assignments `key=value`.
    pub fn overrides(&self) -> Vec<String> {
        overrides(&self.set)
    }

    /// Counts the run's part of an opened trace: all events exactly, and the events of `estimate`
    /// on counters that they share. The machine of `session` is that of [`TraceRun::overrides`].
    ///
    /// # Errors
    /// A trace that cannot run, as a sentence.
    pub fn count(&self, session: &Session) -> Result<TraceCounts, String> {
        let options = RunOptions { limit: Some(self.instructions), ..RunOptions::default() };
        let counted = match self.sharing.filter(|_| !self.events.is_empty()) {
            Some(sharing) => self.shared(session, &options, sharing)?,
            None => TraceCounts {
                counts: outcome(session.run(&options, &mut |_| {}))?.total(),
                ..TraceCounts::default()
            },
        };
        Ok(counted)
    }

    /// Counts with counters that take turns. Each event is a group of its own, as for a tool that
    /// is given a plain list.
    fn shared(
        &self,
        session: &Session,
        options: &RunOptions,
        sharing: Sharing,
    ) -> Result<TraceCounts, String> {
        let events = self.events.iter().map(|name| PmuEvent::from_name(name));
        let events: Vec<PmuEvent> =
            events.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        let groups: Vec<Group> = events.iter().map(|event| Group::single(*event)).collect();
        let counters = CounterCount::new(sharing.counters).unwrap_or_default();
        let cycles = u128::from(sharing.interval) * u128::from(session.clock_hz()) / 1_000_000;
        let cycles = u64::try_from(cycles).unwrap_or(u64::MAX);
        let mut turns = PerfSession::new(PerfSetup::new(&groups, counters), cycles);
        let counts = outcome(session.run_deferred(options, &mut |_| {}, &mut turns))?.total();
        // The readings of all cores are added before they are scaled, as `perf stat` does.
        let scaled = events.into_iter().zip(turns.readings());
        let scaled = scaled.filter_map(|(event, reading)| Some((event, reading.scaled()? as f64)));
        Ok(TraceCounts { counts, estimates: scaled.collect() })
    }
}

fn outcome<E: std::fmt::Display>(ran: Result<Outcome, E>) -> Result<Outcome, String> {
    ran.map_err(|error| error.to_string())
}
