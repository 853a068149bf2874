//! Runs instructions without reports while the observer needs none, such as between two samples.

use super::CoreRun;
use crate::erratum::Erratum;
use crate::run_sink::{RunSink, Unobserved};
use sim_cache::MemorySystem;
use sim_core::{Cycle, Notice, PmuEvent};
use sim_isa::Program;

/// Instructions that run with reports before the observer is asked again.
const REPORTED: usize = 16;

impl CoreRun {
    /// Runs instructions of the stretch as [`CoreRun::run_stretch`] does. An observer that can do
    /// without some operations does not get them.
    pub(super) fn run_next<S: RunSink>(
        &mut self,
        until: Cycle,
        program: &mut Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) {
        if !observer.skips_ops() {
            return self.run_stretch(until, program, memory, observer);
        }
        let cycles = self.unreported_cycles(observer);
        let whole = self.stretch;
        if cycles > 0 && whole > 1 {
            // The last instruction of the stretch is reported: it sets the time of what follows.
            self.stretch = whole - 1;
            let end = self.pipeline.cycle().saturating_add(cycles);
            self.run_unreported(until.min(end), program, memory, observer);
            self.stretch += 1;
        } else {
            self.stretch = whole.min(REPORTED);
            let rest = whole - self.stretch;
            self.run_stretch(until, program, memory, observer);
            self.stretch += rest;
        }
    }

    /// Returns for how many cycles the observer needs no report.
    fn unreported_cycles<S: RunSink>(&mut self, observer: &mut S) -> Cycle {
        let changes_level = self.pipeline.privilege() != self.privilege;
        if changes_level || self.opens_after || !self.pipeline.has_reported_level() {
            return 0;
        }
        self.pipeline.cycles_within(observer.next_unneeded_mops())
    }

    fn run_unreported<S: RunSink>(
        &mut self,
        until: Cycle,
        program: &mut Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) {
        let (done, mops) = (self.done, self.mops());
        // A plain run has an observer of this type, so that both share one compiled copy.
        let no_sink = &mut Erratum { has_erratum: false, observer: &mut Unobserved::default() };
        self.run_stretch(until, program, memory, no_sink);
        self.pipeline.note_unreported(self.done - done);
        observer.notify(Notice::Skipped(self.mops() - mops));
    }

    /// Returns the number of MOPs renamed so far, wrong paths included.
    fn mops(&mut self) -> u64 {
        self.totals.counts().raised(PmuEvent::OP_SPEC)
    }
}
