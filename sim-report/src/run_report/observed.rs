//! Run of a session with all observers of a report: exact counts, profile, and six multiplexed
//! counters.

use sim_core::PmuEvent;
use sim_lab::TruthSink;
use sim_lab::evidence::evidence;
use sim_machine::{MachineError, Outcome, RunObserver, RunOptions, Session};
use sim_metrics::validator::Evidence;
use sim_pmu::counter::{CounterCount, EVENT_COUNTERS};
use sim_pmu::perf::{Group, PerfSession, PerfSetup, Reading};

use super::line_sharing::LineSharing;
use crate::stat;

/// Run with everything that was observed.
pub struct Observed<'a> {
    /// Session.
    pub session: &'a Session,
    /// Counted part of the run.
    pub options: &'a RunOptions,
    /// Exact counts and the stall ledger.
    pub outcome: Outcome,
    /// Evidence against which formulas are checked.
    pub evidence: Evidence,
    pub(super) observer: RunObserver,
    pub(super) sharing: LineSharing,
    pub(super) tick_ns: Option<u64>,
    /// Readings of the six counters for each event, in the order of [`PmuEvent::ALL`], summed over
    /// all cores.
    pub(super) readings: Vec<Reading>,
}

/// Time slices that each event should have on the six counters.
const SLICES: u64 = 8;
/// Time slice of perf, for runs that are long enough: 4 ms.
const LONGEST_TICK_NS: u64 = 4_000_000;
/// Shortest time slice that Linux accepts: 1 ms (`perf_event_mux_interval_ms`).
const SHORTEST_TICK_NS: u64 = 1_000_000;

/// Returns the time slices after which every event has been on a counter once.
pub(crate) fn slices_per_round() -> u64 {
    (PmuEvent::ALL.len() as u64).div_ceil(EVENT_COUNTERS as u64)
}

/// Returns a time slice that perf accepts and that gives every event several slices in this run, or
/// `None` if the run is too short.
pub fn fitting_tick(session: &Session, options: &RunOptions) -> Option<u64> {
    let streams = session.trace().streams().iter().map(|stream| stream.instructions);
    let longest = streams.max().unwrap_or(0).saturating_sub(options.warmup);
    let counted = options.limit.map_or(longest, |limit| limit.min(longest));
    // Assumes one instruction per cycle.
    fitting(stat::nanoseconds(counted, session.clock_hz()))
}

fn fitting(run_ns: u64) -> Option<u64> {
    let tick = run_ns / (slices_per_round() * SLICES);
    (tick >= SHORTEST_TICK_NS).then_some(tick.min(LONGEST_TICK_NS))
}

impl Observed<'_> {
    /// Runs a session once. All events are multiplexed on the six counters with time slices of
    /// `tick_ns`. Without a time slice nothing is estimated.
    ///
    /// # Errors
    /// Fails as [`Session::run`] does.
    pub fn run<'a>(
        session: &'a Session,
        options: &'a RunOptions,
        tick_ns: Option<u64>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Observed<'a>, MachineError> {
        let mut observer = RunObserver::new(session.config().memory.pages.page_bytes);
        let (mut sharing, mut truth) = (LineSharing::default(), TruthSink::default());
        let mut counters = tick_ns.map(|tick| six_counters(tick, session.clock_hz()));
        let outcome = match &mut counters {
            Some(counters) => {
                let observers = &mut ((&mut observer, &mut sharing), (&mut truth, counters));
                session.run_with_sink(options, progress, observers)?
            }
            None => {
                let observers = &mut ((&mut observer, &mut sharing), &mut truth);
                session.run_with_sink(options, progress, observers)?
            }
        };
        let evidence = evidence(session, &outcome, truth.ledger(&outcome));
        let readings = counters.map(|mut counters| stat::sum(&counters.readings_by_core()));
        let readings = readings.unwrap_or_default();
        Ok(Observed { session, options, outcome, evidence, observer, sharing, tick_ns, readings })
    }

    /// Returns the reading of the six counters for an event.
    pub(super) fn reading(&self, event: PmuEvent) -> Reading {
        self.readings.get(event as usize).copied().unwrap_or_default()
    }
}

/// Returns counters that all events share, each event in a separate group.
fn six_counters(tick_ns: u64, clock_hz: u64) -> PerfSession {
    let groups: Vec<Group> = PmuEvent::ALL.into_iter().map(Group::single).collect();
    let tick = u128::from(tick_ns) * u128::from(clock_hz) / 1_000_000_000;
    PerfSession::new(
        PerfSetup::new(&groups, CounterCount::default()),
        u64::try_from(tick).unwrap_or(u64::MAX),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_has_time_slices_and_a_short_run_has_none() {
        let round = slices_per_round() * SLICES;
        assert_eq!(fitting(round * 1_000_000 - 1), None, "shorter than Linux accepts");
        assert_eq!(fitting(round * 1_000_000), Some(1_000_000));
        assert_eq!(fitting(round * 2_500_000), Some(2_500_000));
        assert_eq!(fitting(round * 9_000_000), Some(4_000_000), "as long as perf's time slice");
    }
}
