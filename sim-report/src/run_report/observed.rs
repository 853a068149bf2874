//! One run with all that a report asks of it: seen from all sides, counted exactly and with six counters.

use sim_core::PmuEvent;
use sim_lab::TruthSink;
use sim_lab::evidence::evidence;
use sim_machine::{MachineError, Outcome, RunObserver, RunOptions, Session};
use sim_metrics::judge::Evidence;
use sim_pmu::counter::EVENT_COUNTERS;
use sim_pmu::perf::{Group, PerfSession, PerfSetup, Reading};

use crate::stat;

/// A run, and everything that was seen of it.
pub struct Observed<'a> {
    /// What ran.
    pub session: &'a Session,
    /// Which part of it was counted.
    pub options: &'a RunOptions,
    /// Exact counts and the ledger of slots.
    pub outcome: Outcome,
    /// What formulas are held against.
    pub evidence: Evidence,
    pub(super) observer: RunObserver,
    pub(super) tick_ns: Option<u64>,
    /// What six counters read of each event, in the order of [`PmuEvent::ALL`], of all cores together.
    pub(super) readings: Vec<Reading>,
}

/// Turns that each event should have on the six counters.
const TURNS: u64 = 8;
/// The turns of perf, for runs that are long enough: 4 ms.
const LONGEST_TICK_NS: u64 = 4_000_000;
/// The shortest turns that Linux can be told to take: 1 ms (`perf_event_mux_interval_ms`).
const SHORTEST_TICK_NS: u64 = 1_000_000;

/// Turns until all events were on a counter once.
pub(crate) fn turns_of_a_round() -> u64 {
    (PmuEvent::ALL.len() as u64).div_ceil(EVENT_COUNTERS as u64)
}

/// A turn that perf can take and that gives every event several in this run; none if the run is too short.
pub fn fitting_tick(session: &Session, options: &RunOptions) -> Option<u64> {
    let streams = session.trace().streams().iter().map(|stream| stream.instructions);
    let longest = streams.max().unwrap_or(0).saturating_sub(options.warmup);
    let counted = options.limit.map_or(longest, |limit| limit.min(longest));
    // At one instruction per cycle.
    fitting(stat::nanoseconds(counted, session.clock_hz()))
}

fn fitting(run_ns: u64) -> Option<u64> {
    let tick = run_ns / (turns_of_a_round() * TURNS);
    (tick >= SHORTEST_TICK_NS).then_some(tick.min(LONGEST_TICK_NS))
}

impl Observed<'_> {
    /// Runs a session once. All events together take turns of `tick_ns` on the six counters; without turns
    /// nothing is estimated.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn run<'a>(
        session: &'a Session,
        options: &'a RunOptions,
        tick_ns: Option<u64>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Observed<'a>, MachineError> {
        let mut observer = RunObserver::new(session.config().memory.pages.page_bytes);
        let mut truth = TruthSink::default();
        let mut counters = tick_ns.map(|tick| six_counters(tick, session.clock_hz()));
        let outcome = match &mut counters {
            Some(counters) => {
                let heard = &mut (&mut observer, (&mut truth, counters));
                session.run_with_sink(options, progress, heard)?
            }
            None => session.run_with_sink(options, progress, &mut (&mut observer, &mut truth))?,
        };
        let evidence = evidence(session, &outcome, truth.ledger(&outcome));
        let readings = counters.map(|mut counters| stat::sum(&counters.readings_by_core()));
        let readings = readings.unwrap_or_default();
        Ok(Observed { session, options, outcome, evidence, observer, tick_ns, readings })
    }

    /// What six counters read of an event.
    pub(super) fn reading(&self, event: PmuEvent) -> Reading {
        self.readings.get(event as usize).copied().unwrap_or_default()
    }
}

/// Counters that all events share, each in a group of its own.
fn six_counters(tick_ns: u64, clock_hz: u64) -> PerfSession {
    let groups: Vec<Group> = PmuEvent::ALL.into_iter().map(Group::single).collect();
    let tick = u128::from(tick_ns) * u128::from(clock_hz) / 1_000_000_000;
    PerfSession::new(PerfSetup::new(&groups), u64::try_from(tick).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_fit_a_long_run_and_a_short_one_has_none() {
        let round = turns_of_a_round() * TURNS;
        assert_eq!(fitting(round * 1_000_000 - 1), None, "shorter turns than Linux takes");
        assert_eq!(fitting(round * 1_000_000), Some(1_000_000));
        assert_eq!(fitting(round * 2_500_000), Some(2_500_000));
        assert_eq!(fitting(round * 9_000_000), Some(4_000_000), "as long as those of perf");
    }
}
