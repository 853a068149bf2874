//! Passes a stretch of a thread without running it. Of its first part only the last touches go through the
//! memory system; from some place on every fetch, access and branch does, in order. What is in the pipeline
//! stays as it was.

use super::CoreRun;
use crate::approach::{Approach, Places};
use crate::error::MachineError;
use crate::touches::Touches;
use sim_cache::MemorySystem;
use sim_core::{Cycle, NullSink};
use sim_isa::Program;

/// Stretches of fewer instructions are run.
const SHORTEST: u64 = 2_000;
/// Instructions between two looks at how full the table of touches is.
const STEP: u64 = 250_000;

impl CoreRun {
    /// Where it stands in its stream: instructions run or passed so far.
    pub(crate) fn position(&self) -> u64 {
        match self.batch.get(self.at) {
            Some(_) => self.reader.batch_start() + self.at as u64,
            None => self.reader.position(),
        }
    }

    /// Goes on to the first end of a block at or behind instruction `to`, or to the end of the stream; from
    /// instruction `learn_from` on in order. A short way is not taken: what lies there can as well be run.
    pub(crate) fn skip_to(
        &mut self,
        to: u64,
        learn_from: u64,
        places: &Places,
        touches: &mut Touches,
        program: &mut Program,
        memory: &mut MemorySystem,
    ) -> Result<(), MachineError> {
        if to < self.reader.position().saturating_add(SHORTEST) {
            return Ok(());
        }
        let mut cycle = self.pipeline.idle_until(0, &mut self.totals);
        if learn_from >= self.reader.position() {
            cycle = self.pass(learn_from, cycle, touches, program, memory)?;
        }
        let pipeline = &mut self.pipeline;
        let mut approach =
            Approach::new(self.core, places, program, pipeline, memory, cycle, NullSink);
        self.batch.iter().skip(self.at).for_each(|inst| approach.record(inst));
        self.reader.skim(to, &mut approach)?;
        let (cycle, last) = approach.leave();
        self.pipeline.idle_until(cycle, &mut self.totals);
        self.begins_somewhere = self.full_system;
        if let (true, Some(last)) = (self.next_batch()?, last) {
            let next = program.pc(self.batch[0].id);
            self.pipeline.learn_branch(program.pc(last), program.inst(last), next);
        }
        Ok(())
    }

    /// Goes on to the first end of a block at or behind instruction `to`; its last touches go through the
    /// memory system. When they have.
    fn pass(
        &mut self,
        to: u64,
        mut cycle: Cycle,
        touches: &mut Touches,
        program: &Program,
        memory: &mut MemorySystem,
    ) -> Result<Cycle, MachineError> {
        for inst in self.batch.drain(..).skip(self.at) {
            touches.record(&inst, program);
        }
        loop {
            let before = self.reader.position();
            self.reader.skim(to.min(before + STEP), touches)?;
            let ends = self.reader.position() >= to || self.reader.position() == before;
            if ends || touches.is_full() {
                cycle = touches.replay(self.core, memory, cycle);
            }
            if ends {
                return Ok(cycle);
            }
        }
    }
}
