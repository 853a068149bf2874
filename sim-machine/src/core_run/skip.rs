//! Skips part of a thread. In its first part, only the last access to each line goes through the
//! memory system. From `warm_from` on, every fetch, access and branch does, in order. A core can
//! also continue at a later place in a saved state. The pipeline keeps its contents.

use super::{CoreRun, Source};
use crate::error::MachineError;
use crate::functional_warming::{BlockTable, FunctionalWarming, visit_state};
use crate::last_access::LastAccesses;
use sim_cache::MemorySystem;
use sim_core::{Cycle, NullSink, StateLoader, StateVisitor, WarmState};
use sim_isa::Program;
use sim_trace::{BlockVisitor, StatePlace, StreamReader};

/// Fewest instructions that are skipped; a shorter part runs.
const SHORTEST: u64 = 2_000;
/// Instructions between two checks of the table of last accesses.
const STEP: u64 = 250_000;
/// Latest cycle of a saved state; well below the largest clock value.
const LATEST: Cycle = 1 << 40;

/// Visitor that ignores all blocks.
struct Ignore;

impl BlockVisitor for Ignore {
    const ACCESSES: bool = true;

    #[inline]
    fn block(&mut self, _block: u32, _place: u32, _executed: u16) {}

    #[inline]
    fn access(&mut self, _place: u32, _addr: u64) {}
}

impl WarmState for CoreRun {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        self.pipeline.visit(visitor);
    }
}

impl CoreRun {
    /// Returns the position in the stream: the number of instructions run or skipped so far.
    pub(crate) fn position(&self) -> u64 {
        match self.batch.get(self.at) {
            Some(_) => self.reader.batch_start() + self.at as u64,
            None => self.reader.position(),
        }
    }

    /// Skips to the first end of a block at or after instruction `to`, or to the end of the stream.
    /// From instruction `warm_from` on, functional warming runs. A short distance is not skipped.
    pub(crate) fn skip_to(
        &mut self,
        to: u64,
        warm_from: u64,
        blocks: &BlockTable,
        accesses: &mut LastAccesses,
        program: &mut Program,
        memory: &mut MemorySystem,
    ) -> Result<(), MachineError> {
        if to < self.reader.position().saturating_add(SHORTEST) {
            return Ok(());
        }
        let mut cycle = self.pipeline.idle_until(0, &mut self.totals);
        if warm_from >= self.reader.position() {
            cycle = self.pass(warm_from, cycle, accesses, program, memory)?;
        }
        let pipeline = &mut self.pipeline;
        let mut warming =
            FunctionalWarming::new(self.core, blocks, program, pipeline, memory, cycle, NullSink);
        self.batch.iter().skip(self.at).for_each(|inst| warming.run_inst(inst));
        self.reader.skim(to, &mut warming)?;
        let (cycle, last) = warming.now_and_last();
        self.pipeline.idle_until(cycle, &mut self.totals);
        self.resume_after(last, program)
    }

    /// Reserves predictor entries for this many instructions before the state is visited.
    pub(crate) fn reserve_insts(&mut self, insts: usize) {
        self.pipeline.reserve_insts(insts);
    }

    /// Continues at another place of the stream, which `reader` will reach, in the state of
    /// `words`. Returns `None` if the trace has no such place or it is not the end of a block.
    pub(crate) fn jump_to(
        &mut self,
        mut reader: StreamReader,
        place: &StatePlace,
        words: &[u64],
        program: &Program,
        memory: &mut MemorySystem,
    ) -> Result<Option<()>, MachineError> {
        reader.skim(place.position, &mut Ignore)?;
        let is_known = place.last.is_none_or(|last| (last as usize) < program.len());
        if reader.position() != place.position || place.cycle > LATEST || !is_known {
            return Ok(None);
        }
        visit_state(memory, &mut self.pipeline, &mut StateLoader::new(words));
        self.pipeline.idle_until(place.cycle, &mut self.totals);
        *self.reader = Source::Here(Box::new(reader));
        self.batch.clear();
        self.resume_after(place.last, program)?;
        Ok(Some(()))
    }

    /// Continues at the reader's position; `last` is the instruction before it.
    fn resume_after(&mut self, last: Option<u32>, program: &Program) -> Result<(), MachineError> {
        self.begins_somewhere = self.full_system;
        if let (true, Some(last)) = (self.next_batch()?, last) {
            let next = program.pc(self.batch[0].id);
            self.pipeline.learn_branch(program.pc(last), program.inst(last), next);
        }
        Ok(())
    }

    /// Skips to the first end of a block at or after instruction `to` and replays the last
    /// accesses. Returns the cycle after them.
    fn pass(
        &mut self,
        to: u64,
        mut cycle: Cycle,
        accesses: &mut LastAccesses,
        program: &Program,
        memory: &mut MemorySystem,
    ) -> Result<Cycle, MachineError> {
        for inst in self.batch.drain(..).skip(self.at) {
            accesses.record(&inst, program);
        }
        loop {
            let before = self.reader.position();
            self.reader.skim(to.min(before + STEP), accesses)?;
            let ends = self.reader.position() >= to || self.reader.position() == before;
            if ends || accesses.is_full() {
                cycle = accesses.replay(self.core, memory, cycle);
            }
            if ends {
                return Ok(cycle);
            }
        }
    }
}
