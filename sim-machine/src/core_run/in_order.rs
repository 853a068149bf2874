//! Runs a thread without the pipeline, in program order: what `--mode memory` and `--mode frontend` do.
//!
//! The stream is cut into stretches in which nothing concerns the machine: no exception, no begin or end of
//! what is counted, no change of level. [`ProgramOrder`] runs them.

use super::CoreRun;
use crate::error::MachineError;
use crate::region::Change;
use sim_cache::MemorySystem;
use sim_core::{Cycle, EventSink};
use sim_isa::{BranchKind, Program, Special};
use sim_pipeline::{Part, ProgramOrder, Stretch};

impl CoreRun {
    /// As [`CoreRun::advance`], in program order.
    pub(crate) fn advance_in_order<S: EventSink>(
        &mut self,
        part: Part,
        until: Cycle,
        program: &Program,
        memory: &mut MemorySystem,
        listener: &mut S,
    ) -> Result<(), MachineError> {
        listener.core(self.core);
        let mut order = self.order.take().unwrap_or_else(|| ProgramOrder::new(program, part));
        if self.at >= self.batch.len() && !self.next_batch()? {
            let sink = &mut (&mut self.totals, &mut *listener);
            order.meet_next(None, &mut self.pipeline, program, sink);
            self.order = Some(order);
            self.end(memory, listener);
            return Ok(());
        }
        order.wait_until(std::mem::take(&mut self.wait));
        while self.at < self.stop && !self.ended && order.cycle() <= until {
            let next = Some(self.batch[self.at].id);
            let sink = &mut (&mut self.totals, &mut *listener);
            order.meet_next(next, &mut self.pipeline, program, sink);
            if self.stretch == 0 {
                let most = self.undisturbed();
                self.meet_exceptions(program, listener);
                self.stretch = self.find_stretch(most, program, memory, listener);
            }
            if self.stretch > 0 {
                self.run_stretch(until, &mut order, program, memory, listener);
            }
        }
        self.order = Some(order);
        if self.at >= self.batch.len() {
            for recorded in self.exceptions_behind() {
                self.pipeline.take_recorded(recorded, &mut (&mut self.totals, &mut *listener));
            }
        }
        Ok(())
    }

    /// How many instructions come before the one behind which an exception was recorded, that one if it is
    /// the next.
    fn undisturbed(&self) -> usize {
        let before = (self.exception_at as usize).saturating_sub(self.at + 1).max(1);
        before.min(self.stop - self.at)
    }

    /// How many of these instructions come in which nothing changes; what changes in front of them does so
    /// now.
    fn find_stretch<S: EventSink>(
        &mut self,
        most: usize,
        program: &Program,
        memory: &MemorySystem,
        listener: &mut S,
    ) -> usize {
        let quiet = self.watch.pass_quiet(most);
        if quiet > 0 {
            return quiet;
        }
        match self.watch.before(self.batch[self.at].id, program) {
            Change::None => 1,
            Change::OpenBefore => {
                self.open(memory, listener);
                1
            }
            Change::CloseBefore => {
                self.close(false, memory, listener);
                1
            }
            Change::OpenAfter => {
                self.opens_behind = true;
                1
            }
            Change::Stop => {
                self.close(!self.watch.goes_on(), memory, listener);
                self.end(memory, listener);
                0
            }
        }
    }

    /// Runs instructions of the stretch, up to one behind which the machine has something to do or to where the
    /// clock passes `until`.
    fn run_stretch<S: EventSink>(
        &mut self,
        until: Cycle,
        order: &mut ProgramOrder,
        program: &Program,
        memory: &mut MemorySystem,
        listener: &mut S,
    ) {
        if std::mem::take(&mut self.returns) {
            self.pipeline.return_to(Some(program.pc(self.batch[self.at].id)));
        }
        if self.pipeline.privilege() != self.privilege {
            self.change_level(listener);
        }
        let insts = &self.batch[self.at..self.at + self.stretch];
        let more = &self.reader.more()[self.more_at..];
        let stretch = Stretch { insts, more, until };
        let mut port = memory.port(self.core);
        let sink = &mut (&mut self.totals, &mut *listener);
        let core = &mut self.pipeline;
        let (ran, used) = order.run(&stretch, core, program, &mut port, sink);
        self.at += ran;
        self.more_at += used;
        self.done += ran as u64;
        self.stretch -= ran;
        self.look_behind(order, program, memory, listener);
    }

    /// What the machine does behind the instruction that ran last.
    fn look_behind<S: EventSink>(
        &mut self,
        order: &mut ProgramOrder,
        program: &Program,
        memory: &MemorySystem,
        listener: &mut S,
    ) {
        let id = self.batch[self.at - 1].id;
        let inst = program.inst(id);
        if inst.special == Special::Unknown {
            self.note_unknown(id);
        }
        self.returns = inst.branch == BranchKind::ExceptionReturn;
        let sink = &mut (&mut self.totals, &mut *listener);
        if self.pipeline.take_expected(inst, sink) {
            self.returns = false;
            order.restart();
        }
        if std::mem::take(&mut self.opens_behind) {
            self.open(memory, listener);
        }
    }
}
