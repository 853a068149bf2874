//! Runs a thread without the pipeline, in program order: what `--mode memory` and `--mode frontend` do.
//!
//! The stream is cut into stretches in which nothing concerns the machine: no exception, no begin or end of
//! what is counted, no change of level. [`InOrderEngine`] runs them.

use super::CoreRun;
use crate::error::MachineError;
use sim_cache::MemorySystem;
use sim_core::{Cycle, EventSink};
use sim_isa::{BranchKind, Program};
use sim_pipeline::{InOrderEngine, InstSpan, Part};

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
        let mut order = self.order.take().unwrap_or_else(|| InOrderEngine::new(program, part));
        if self.at >= self.batch.len() && !self.next_batch()? {
            let sink = &mut (&mut self.totals, &mut *listener);
            order.resolve_pending_branch(None, &mut self.pipeline, program, sink);
            self.order = Some(order);
            self.end(memory, listener);
            return Ok(());
        }
        let wait = std::mem::take(&mut self.wait);
        if wait > 0 && self.is_away(program) {
            self.waits.away += wait.saturating_sub(order.cycle());
        } else {
            self.note_wait(order.cycle(), wait);
        }
        order.wait_until(wait);
        while self.at < self.stop && !self.ended && order.cycle() <= until {
            let next = Some(self.batch[self.at].id);
            let sink = &mut (&mut self.totals, &mut *listener);
            order.resolve_pending_branch(next, &mut self.pipeline, program, sink);
            if self.stretch == 0 {
                let most = self.undisturbed();
                self.meet_exceptions(program, listener);
                self.stretch = self.find_stretch(most, program, memory, listener);
            }
            if self.stretch > 0 {
                self.run_stretch_in_order(until, &mut order, program, memory, listener);
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

    /// Runs instructions of the stretch, up to one behind which the machine has something to do or to where the
    /// clock passes `until`.
    fn run_stretch_in_order<S: EventSink>(
        &mut self,
        until: Cycle,
        order: &mut InOrderEngine,
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
        let stretch = InstSpan { insts, more, until };
        let mut port = memory.port(self.core);
        let sink = &mut (&mut self.totals, &mut *listener);
        let core = &mut self.pipeline;
        let (ran, used) = order.run(&stretch, core, program, &mut port, sink);
        self.at += ran;
        self.more_at += used;
        self.done += ran as u64;
        self.stretch -= ran;
        self.look_behind_in_order(order, program, memory, listener);
    }

    /// What the machine does behind the instruction that ran last, and who goes in order.
    fn look_behind_in_order<S: EventSink>(
        &mut self,
        order: &mut InOrderEngine,
        program: &Program,
        memory: &MemorySystem,
        listener: &mut S,
    ) {
        let id = self.batch[self.at - 1].id;
        let inst = program.inst(id);
        self.returns = inst.branch == BranchKind::ExceptionReturn;
        let sink = &mut (&mut self.totals, &mut *listener);
        if self.pipeline.take_expected(inst, sink) {
            self.returns = false;
            order.restart();
        }
        self.look_behind(id, program, memory, listener);
    }
}
