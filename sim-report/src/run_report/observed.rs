//! One run with all that a report asks of it: seen from all sides, counted exactly and with six counters.

use sim_core::PmuEvent;
use sim_machine::evidence::evidence;
use sim_machine::{MachineError, Outcome, RunObserver, RunOptions, Session, TruthSink};
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
    pub(super) tick_ns: u64,
    /// What six counters read of each event, in the order of [`PmuEvent::ALL`], of all cores together.
    pub(super) readings: Vec<Reading>,
}

/// Turns that each event should have on the six counters.
const TURNS: u64 = 8;
/// The turns of perf, for runs that are long enough: 4 ms.
const LONGEST_TICK_NS: u64 = 4_000_000;
/// Turns of a few thousand cycles; shorter ones would end before a miss does.
const SHORTEST_TICK_NS: u64 = 1_000;

/// A turn short enough for all events to have some in this run, at most that of perf.
pub fn fitting_tick(session: &Session, options: &RunOptions) -> u64 {
    let streams = session.trace().streams().iter().map(|stream| stream.instructions);
    let longest = streams.max().unwrap_or(0).saturating_sub(options.warmup);
    let counted = options.limit.map_or(longest, |limit| limit.min(longest));
    // At one instruction per cycle.
    let ns = stat::nanoseconds(counted, session.clock_hz());
    let turns = (PmuEvent::ALL.len() as u64).div_ceil(EVENT_COUNTERS as u64) * TURNS;
    (ns / turns).clamp(SHORTEST_TICK_NS, LONGEST_TICK_NS)
}

impl Observed<'_> {
    /// Runs a session once. All events together take turns of `tick_ns` on the six counters.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn run<'a>(
        session: &'a Session,
        options: &'a RunOptions,
        tick_ns: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Observed<'a>, MachineError> {
        let mut observer = RunObserver::new(session.config().memory.pages.page_bytes);
        let mut truth = TruthSink::default();
        let mut counters = six_counters(tick_ns, session.clock_hz());
        let heard = &mut (&mut observer, (&mut truth, &mut counters));
        let outcome = session.run_heard(options, progress, heard)?;
        let evidence = evidence(session, &outcome, truth.ledger(&outcome));
        let readings = stat::sum(&counters.readings_by_core());
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
