//! Runs a thread without the pipeline, in program order: `--mode memory` and `--mode frontend`.
//!
//! The stream is divided into stretches without exceptions, changes of the counted window and
//! changes of level. [`InOrderEngine`] runs each stretch.

use super::CoreRun;
use crate::error::MachineError;
use crate::run_sink::RunSink;
use sim_cache::MemorySystem;
use sim_core::{Cycle, Notice};
use sim_isa::{BranchKind, Program};
use sim_pipeline::{InOrderEngine, InstSpan, Part};

impl CoreRun {
    /// Runs as [`CoreRun::advance`] does, but in program order.
    pub(crate) fn advance_in_order<S: RunSink>(
        &mut self,
        part: Part,
        until: Cycle,
        program: &Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) -> Result<(), MachineError> {
        observer.notify(Notice::Core(self.thread));
        let mut engine = self.engine.take().unwrap_or_else(|| {
            let mut engine = InOrderEngine::new(program, part);
            engine.wait_until(self.start);
            engine
        });
        if self.at >= self.batch.len() && !self.next_batch()? {
            let sink = &mut (&mut self.totals, &mut *observer);
            engine.resolve_pending_branch(None, &mut self.pipeline, program, sink);
            self.engine = Some(engine);
            self.end(memory, observer);
            return Ok(());
        }
        let wait = std::mem::take(&mut self.wait);
        if wait > 0 && self.is_away(program) {
            self.waits.away += wait.saturating_sub(engine.cycle());
        } else {
            self.note_wait(engine.cycle(), wait);
        }
        engine.wait_until(wait);
        while self.at < self.stop && !self.ended && engine.cycle() <= until {
            let next = Some(self.batch[self.at].id);
            let sink = &mut (&mut self.totals, &mut *observer);
            engine.resolve_pending_branch(next, &mut self.pipeline, program, sink);
            if self.stretch == 0 {
                let most = self.undisturbed();
                self.poll_exceptions(program, observer);
                let most = self.until_kernel(most, program);
                self.stretch = self.find_stretch(most, program, memory, observer);
            }
            if self.stretch > 0 {
                self.run_stretch_in_order(until, &mut engine, program, memory, observer);
            }
        }
        self.engine = Some(engine);
        if self.at >= self.batch.len() {
            for recorded in self.exceptions_after() {
                self.pipeline.take_recorded(recorded, &mut (&mut self.totals, &mut *observer));
            }
        }
        Ok(())
    }

    /// Runs instructions of the stretch until one needs the machine's attention, or the clock
    /// passes `until`.
    fn run_stretch_in_order<S: RunSink>(
        &mut self,
        until: Cycle,
        engine: &mut InOrderEngine,
        program: &Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) {
        if std::mem::take(&mut self.returns) {
            self.pipeline.return_to(Some(program.pc(self.batch[self.at].id)));
        }
        if self.pipeline.privilege() != self.privilege {
            self.change_level(observer);
        }
        let insts = &self.batch[self.at..self.at + self.stretch];
        let more = &self.reader.more()[self.more_at..];
        let stretch = InstSpan { insts, more, until };
        let mut port = memory.port(self.core);
        let sink = &mut (&mut self.totals, &mut *observer);
        let core = &mut self.pipeline;
        let (ran, used) = engine.run(&stretch, core, program, &mut port, sink);
        self.at += ran;
        self.more_at += used;
        self.done += ran as u64;
        self.stretch -= ran;
        self.after_inst_in_order(engine, program, memory, observer);
    }

    /// Performs the work of the machine and of the in-order engine after an instruction.
    fn after_inst_in_order<S: RunSink>(
        &mut self,
        engine: &mut InOrderEngine,
        program: &Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) {
        let id = self.batch[self.at - 1].id;
        let inst = program.inst(id);
        self.returns = inst.branch == BranchKind::ExceptionReturn;
        let sink = &mut (&mut self.totals, &mut *observer);
        if self.pipeline.take_expected(inst, sink) {
            self.returns = false;
            engine.restart();
        }
        self.after_inst(id, program, memory, observer);
    }
}
