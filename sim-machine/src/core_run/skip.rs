//! Passes a stretch of a thread without running it: its last touches go through the memory system, the
//! rest of the core stays as it was.
//!
//! At the end of the stretch the branch predictors learn as well. What prefetchers would have seen is not known
//! afterwards; instructions that run without being counted in front of a window make up for that.

use super::CoreRun;
use crate::error::MachineError;
use crate::touches::Touches;
use sim_cache::MemorySystem;
use sim_isa::Program;
use sim_pipeline::Pipeline;
use sim_trace::Skim;

/// Stretches of fewer instructions are run.
const SHORTEST: u64 = 2_000;
/// Instructions between two looks at how full the table of touches is.
const STEP: u64 = 250_000;

/// Branches of a stretch, for the predictors; everything else is touched.
struct Lesson<'a> {
    touches: &'a mut Touches,
    pipeline: &'a mut Pipeline,
    program: &'a Program,
    /// The instruction that ran last.
    last: Option<u32>,
}

impl Skim for Lesson<'_> {
    const ACCESSES: bool = true;

    #[inline]
    fn block(&mut self, block: u32, place: u32, executed: u16) {
        if let Some(last) = self.last {
            let next = self.program.pc(self.touches.inst_at(place));
            self.pipeline.learn_branch(self.program.pc(last), self.program.inst(last), next);
        }
        self.last = Some(self.touches.inst_at(place + u32::from(executed.max(1)) - 1));
        self.touches.block(block, place, executed);
    }

    #[inline]
    fn access(&mut self, place: u32, addr: u64) {
        self.touches.access(place, addr);
    }
}

impl CoreRun {
    /// Where it stands in its stream: instructions run or passed so far.
    pub(crate) fn position(&self) -> u64 {
        match self.batch.get(self.at) {
            Some(_) => self.reader.batch_start() + self.at as u64,
            None => self.reader.position(),
        }
    }

    /// Goes on to the first end of a block at or behind instruction `to`, or to the end of the stream. A
    /// short way is not taken: what lies there can as well be run. Branches from instruction `learn_from` on
    /// teach the predictors.
    pub(crate) fn skip_to(
        &mut self,
        to: u64,
        learn_from: u64,
        touches: &mut Touches,
        program: &Program,
        memory: &mut MemorySystem,
    ) -> Result<(), MachineError> {
        if to < self.reader.position().saturating_add(SHORTEST) {
            return Ok(());
        }
        for inst in self.batch.iter().skip(self.at) {
            touches.record(inst, program);
        }
        self.batch.clear();
        let mut cycle = self.pipeline.idle_until(0, &mut self.counts);
        let mut last = None;
        loop {
            let before = self.reader.position();
            let next = to.min(before + STEP);
            if before >= learn_from {
                let pipeline = &mut self.pipeline;
                let mut lesson = Lesson { touches: &mut *touches, pipeline, program, last };
                self.reader.skim(next, &mut lesson)?;
                last = lesson.last;
            } else {
                self.reader.skim(next.min(learn_from), touches)?;
            }
            let ends = self.reader.position() >= to || self.reader.position() == before;
            if ends || touches.is_full() {
                cycle = touches.replay(self.core, memory, cycle);
            }
            if ends {
                break;
            }
        }
        self.pipeline.idle_until(cycle, &mut self.counts);
        self.begins_somewhere = self.full_system;
        Ok(())
    }
}
