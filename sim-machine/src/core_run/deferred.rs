//! Sums of counts for a sink that may get them late ([`sim_core::DeferredSink`]).
//!
//! An observer receives the clocks after each instruction. A deferred sink gets the totals instead,
//! when the clock has passed its deadline, in the order in which an observer would have seen the
//! clocks reach it: all events, the clocks up to the instruction before, the clocks of the last
//! instruction.

use super::CoreRun;
use crate::run_sink::RunSink;
use crate::totals::Totals;
use sim_core::{Counts, Cycle, PmuEvent};

/// Events that count time.
pub(super) const CLOCKS: [PmuEvent; 2] = [PmuEvent::CPU_CYCLES, PmuEvent::CNT_CYCLES];

/// State of the sums that a deferred sink gets from one core.
#[derive(Clone, Debug)]
pub(super) struct Deferred {
    /// Totals that the sink has.
    passed: Counts,
    /// Clock after the last instruction.
    settled: Cycle,
    /// Clock at which the sink must have all counts.
    due: Cycle,
    /// Part of the program that new counts belong to, for a sink that attributes them.
    pub(super) part: Option<u32>,
    /// Part that the correct path is in.
    pub(super) correct_part: Option<u32>,
}

impl Default for Deferred {
    fn default() -> Deferred {
        Deferred {
            passed: Counts::default(),
            settled: 0,
            due: Cycle::MAX,
            part: None,
            correct_part: None,
        }
    }
}

impl Deferred {
    /// Returns the clock at which the sink must have all counts.
    #[inline]
    pub(super) fn due(&self) -> Cycle {
        self.due
    }

    /// Returns the totals that the sink does not have, and notes that it has them.
    pub(super) fn take_new(&mut self, totals: &mut Totals) -> Counts {
        let totals = totals.counts();
        let new = totals.since(&self.passed);
        self.passed.clone_from(totals);
        new
    }
}

/// Counts of both clocks that came before the last change.
#[derive(Default)]
pub(super) struct EarlyClocks([u64; CLOCKS.len()]);

impl CoreRun {
    /// Passes on the counts if the clock has reached the deadline. `before` is the clock before the
    /// last instruction.
    #[inline]
    pub(super) fn note_clock<S: RunSink>(&mut self, before: Cycle, observer: &mut S) {
        let clock = self.pipeline.clock();
        self.deferred.settled = clock;
        if clock >= self.deferred.due {
            self.pass_at_deadline(before, observer);
        }
    }

    #[cold]
    fn pass_at_deadline<S: RunSink>(&mut self, before: Cycle, observer: &mut S) {
        let early = self.clocks_until(before);
        self.pipeline.settle_clocks(&mut self.totals);
        self.pass_counts(&early, observer);
    }

    /// Counts the clocks up to the last instruction for the deferred sink, if there is one, before
    /// something else advances them.
    pub(super) fn early_clocks<S: RunSink>(&mut self, observer: &S) -> EarlyClocks {
        match observer.is_deferred() {
            true => self.clocks_until(self.deferred.settled),
            false => EarlyClocks::default(),
        }
    }

    fn clocks_until(&mut self, cycle: Cycle) -> EarlyClocks {
        self.pipeline.settle_clocks_to(cycle, &mut self.totals);
        let passed = &self.deferred.passed;
        let counts = self.totals.counts();
        EarlyClocks(CLOCKS.map(|event| counts.raised(event) - passed.raised(event)))
    }

    /// Passes all counts that the deferred sink, if there is one, does not have, and asks for the
    /// next deadline.
    pub(super) fn pass_counts<S: RunSink>(&mut self, early: &EarlyClocks, observer: &mut S) {
        if !observer.is_deferred() {
            return;
        }
        let new = self.deferred.take_new(&mut self.totals);
        observer.pass_all(&new.map_events(|event, n| if CLOCKS.contains(&event) { 0 } else { n }));
        for (event, n) in CLOCKS.into_iter().zip(early.0) {
            observer.pass(event, n);
        }
        for (event, n) in CLOCKS.into_iter().zip(early.0) {
            observer.pass(event, new.raised(event) - n);
        }
        self.find_deadline(observer);
    }

    /// Asks the deferred sink for its next deadline.
    pub(super) fn find_deadline<S: RunSink>(&mut self, observer: &S) {
        let clock = self.pipeline.clock();
        self.deferred.settled = clock;
        self.deferred.due = clock.saturating_add(observer.cycles_to_deadline());
    }
}
