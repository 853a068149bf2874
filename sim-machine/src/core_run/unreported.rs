//! Runs instructions without reports while the observer needs none, such as between two samples.

use super::CoreRun;
use crate::erratum::Erratum;
use crate::run_sink::{RunSink, Unobserved};
use sim_cache::MemorySystem;
use sim_core::{Cycle, Notice, PmuEvent, TraceInst};
use sim_isa::{BranchKind, MemOp, Program};

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
        if observer.attributes() {
            return self.run_part(until, program, memory, observer);
        }
        if !observer.skips_ops() {
            return self.run_stretch(until, program, memory, observer);
        }
        let mops = self.unneeded_mops(observer);
        let cycles = self.pipeline.cycles_within(mops);
        // The last instruction of the stretch is reported: it sets the time of what follows.
        let (whole, most) = (self.stretch, self.stretch - 1);
        let (unreported, end) = match cycles {
            0 => (self.without_wrong_path(mops, most, program), Cycle::MAX),
            _ => (most, self.pipeline.cycle().saturating_add(cycles)),
        };
        if unreported > 0 {
            self.stretch = unreported;
            self.run_unreported(until.min(end), program, memory, observer);
            self.stretch += whole - unreported;
        } else {
            self.stretch = if mops > 0 { 1 } else { whole.min(REPORTED) };
            let rest = whole - self.stretch;
            self.run_stretch(until, program, memory, observer);
            self.stretch += rest;
        }
    }

    /// Returns how many of the next MOPs the observer does not need.
    fn unneeded_mops<S: RunSink>(&mut self, observer: &mut S) -> u64 {
        let changes_level = self.pipeline.privilege() != self.privilege;
        if changes_level || self.opens_after || !self.pipeline.has_reported_level() {
            return 0;
        }
        observer.next_unneeded_mops()
    }

    /// Returns how many of the next `most` instructions have at most this number of MOPs together.
    /// Ends before an instruction that may bring a wrong path with it: a branch, or a load that may
    /// pass an older store.
    fn without_wrong_path(&self, mut mops: u64, most: usize, program: &Program) -> usize {
        let mut loads_may_pass = self.pipeline.loads_may_pass();
        let mut fits = |record: &&TraceInst| {
            let inst = program.inst(record.id);
            let left = mops.checked_sub(inst.n_mops.into());
            mops = left.unwrap_or(0);
            let may_squash =
                inst.branch != BranchKind::None || inst.mem.op == MemOp::Load && loads_may_pass;
            loads_may_pass |= !matches!(inst.mem.op, MemOp::None | MemOp::Load);
            left.is_some() && !may_squash
        };
        self.batch[self.at..self.at + most].iter().take_while(&mut fits).count()
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
