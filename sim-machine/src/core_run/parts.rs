//! Counts of each part of the program, such as a function, for a sink that attributes them
//! ([`sim_core::DeferredSink::ATTRIBUTES`]).
//!
//! The run is one without observer. Its totals are passed on whenever an operation of another part
//! begins: on the correct path between two instructions, on a wrong path inside the pipeline.

use super::CoreRun;
use super::deferred::{CLOCKS, Deferred, EarlyClocks};
use crate::run_sink::RunSink;
use crate::totals::Totals;
use sim_cache::MemorySystem;
use sim_core::{Counts, Cycle, EventSink, EventTally, InstId, Notice, PmuEvent};
use sim_isa::Program;

/// Instructions whose part is looked up at once. With several threads, a core may run only a few of
/// them in its turn.
const LOOKED_AT: usize = 64;

impl CoreRun {
    /// Runs instructions of the stretch as [`CoreRun::run_stretch`] does, up to the first one of
    /// another part.
    pub(super) fn run_part<S: RunSink>(
        &mut self,
        until: Cycle,
        program: &mut Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) {
        let whole = self.stretch;
        let records = &self.batch[self.at..self.at + whole.min(LOOKED_AT)];
        let mut part_of = |inst: InstId| observer.part_of(inst, program.pc(inst));
        let part = part_of(records[0].id);
        let same = records.iter().take_while(|record| part_of(record.id) == part).count();
        self.begin_part(part, observer);
        self.stretch = same;
        self.run_stretch(until, program, memory, observer);
        self.stretch += whole - same;
    }

    /// Passes on all counts, the clocks included, if the next correct-path instruction is in
    /// another part.
    pub(super) fn begin_part<S: RunSink>(&mut self, part: u32, observer: &mut S) {
        if self.deferred.part == Some(part) {
            return;
        }
        self.pipeline.settle_clocks(&mut self.totals);
        self.pass_counts(&EarlyClocks::default(), observer);
        (self.deferred.part, self.deferred.correct_part) = (Some(part), Some(part));
        observer.pass_part(part, false);
    }
}

impl Deferred {
    /// Passes on all counts if a wrong path enters an operation of another part.
    #[inline(never)]
    fn begin_on_wrong_path<S: RunSink>(
        &mut self,
        (inst, pc): (InstId, u64),
        totals: &mut Totals,
        observer: &mut S,
    ) {
        let part = observer.part_of(inst, pc);
        if self.part != Some(part) {
            observer.pass_all(&self.take_unclocked(totals));
            self.part = Some(part);
            observer.pass_part(part, true);
        }
    }

    /// Passes on all counts if a wrong path ends in another part than that of the correct path.
    #[inline(never)]
    fn end_wrong_path<S: RunSink>(&mut self, totals: &mut Totals, observer: &mut S) {
        if let Some(part) = self.correct_part.filter(|_| self.part != self.correct_part) {
            observer.pass_all(&self.take_unclocked(totals));
            self.part = Some(part);
            observer.pass_part(part, false);
        }
    }

    /// Returns the new totals inside of a run of instructions, which advances no clock.
    fn take_unclocked(&mut self, totals: &mut Totals) -> Counts {
        let new = self.take_new(totals);
        debug_assert_eq!(CLOCKS.map(|event| new.raised(event)), [0; CLOCKS.len()]);
        new
    }
}

/// Sink of a core's events: its totals, the observer, and what the deferred sink needs to know of
/// wrong paths.
pub(super) struct Counting<'a, S> {
    totals: &'a mut Totals,
    deferred: &'a mut Deferred,
    observer: &'a mut S,
    attributes: bool,
}

impl<'a, S: RunSink> Counting<'a, S> {
    pub(super) fn new(
        totals: &'a mut Totals,
        deferred: &'a mut Deferred,
        observer: &'a mut S,
    ) -> Counting<'a, S> {
        let attributes = observer.attributes();
        Counting { totals, deferred, observer, attributes }
    }
}

impl<S: RunSink> EventSink for Counting<'_, S> {
    const OBSERVES_OPS: bool = S::OBSERVES_OPS;
    const COUNTS_ONLY: bool = S::COUNTS_ONLY;

    #[inline]
    fn counts_only(&self) -> bool {
        self.observer.counts_only()
    }

    #[inline]
    #[track_caller]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.totals.count(event, n);
        self.observer.count(event, n);
    }

    #[inline(always)]
    fn add_tally(&mut self, tally: &EventTally) {
        self.totals.add_tally(tally);
        self.observer.add_tally(tally);
    }

    #[inline(always)]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::BeginsOnWrongPath { inst, pc } if self.attributes => {
                self.deferred.begin_on_wrong_path((inst, pc), self.totals, self.observer);
            }
            Notice::Squashed if self.attributes => {
                self.deferred.end_wrong_path(self.totals, self.observer);
            }
            _ => self.observer.notify(notice),
        }
    }
}
