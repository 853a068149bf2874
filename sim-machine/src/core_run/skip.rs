//! Passes a stretch of a thread without running it. Of its first part only the last touches go through the
//! memory system; from some place on every fetch, access and branch does, in order. Or it goes on somewhere else in a
//! state that was kept. What is in the pipeline stays as it was.

use super::{CoreRun, Source};
use crate::approach::{Approach, Places, show_state};
use crate::error::MachineError;
use crate::touches::Touches;
use sim_cache::MemorySystem;
use sim_core::{Cycle, Giver, NullSink, StateVisitor, WarmState};
use sim_isa::Program;
use sim_trace::{Skim, StatePlace, StreamReader};

/// Stretches of fewer instructions are run.
const SHORTEST: u64 = 2_000;
/// Instructions between two looks at how full the table of touches is.
const STEP: u64 = 250_000;
/// The latest cycle at which a state may have been taken: far from the end of the clocks.
const LATEST: Cycle = 1 << 40;

/// Nobody hears what lies on the way.
struct Unheard;

impl Skim for Unheard {
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
        let (cycle, last) = approach.place();
        self.pipeline.idle_until(cycle, &mut self.totals);
        self.go_on_behind(last, program)
    }

    /// Room for the guesses of so many instructions, before a state is shown.
    pub(crate) fn reserve_insts(&mut self, insts: usize) {
        self.pipeline.reserve_insts(insts);
    }

    /// Goes on at another place of its stream, where `reader` will be, in the state of these words. None if
    /// there is no such place: not the end of a block, or not of this trace.
    pub(crate) fn jump_to(
        &mut self,
        mut reader: StreamReader,
        place: &StatePlace,
        words: &[u64],
        program: &Program,
        memory: &mut MemorySystem,
    ) -> Result<Option<()>, MachineError> {
        reader.skim(place.position, &mut Unheard)?;
        let is_known = place.last.is_none_or(|last| (last as usize) < program.len());
        if reader.position() != place.position || place.cycle > LATEST || !is_known {
            return Ok(None);
        }
        show_state(memory, &mut self.pipeline, &mut Giver::new(words));
        self.pipeline.idle_until(place.cycle, &mut self.totals);
        self.reader = Source::Here(Box::new(reader));
        self.batch.clear();
        self.go_on_behind(place.last, program)?;
        Ok(Some(()))
    }

    /// Begins to run where the reader is; the instruction in front of that ran last.
    fn go_on_behind(&mut self, last: Option<u32>, program: &Program) -> Result<(), MachineError> {
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
