//! A thread in a window of a trace of several threads: it begins at its place in a cut, and counts
//! from one cycle of all threads to another. A thread that waits on its core then has its share of
//! the wait in the window.

use super::{CoreRun, NO_EXCEPTION, Source};
use crate::error::MachineError;
use crate::region::RegionWatch;
use crate::run_sink::RunSink;
use crate::thread_cut::Place;
use sim_cache::MemorySystem;
use sim_core::{Cycle, EventSink, NullSink, PmuEvent, RootCause, StallCause};
use sim_isa::Program;
use sim_pipeline::Pipeline;
use sim_trace::StreamReader;

/// Rename slots of a cycle.
const SLOTS: u64 = sim_pipeline::SLOTS as u64;

impl CoreRun {
    /// Continues at a place of the stream that `reader` will reach, and not before `cycle`. Returns
    /// `None` if the trace has no such place.
    pub(crate) fn begin_at(
        &mut self,
        mut reader: StreamReader,
        place: &Place,
        cycle: Cycle,
        program: &Program,
    ) -> Result<Option<()>, MachineError> {
        let mut batch = Vec::new();
        while reader.position() <= place.position {
            if !reader.next_batch(&mut batch)? {
                return Ok(None);
            }
        }
        self.at = (place.position - reader.batch_start()) as usize;
        self.more_at = batch[..self.at].iter().map(|inst| inst.flags.further()).sum();
        let next = program.pc(batch[self.at].id);
        *self.reader = Source::Here(Box::new(reader));
        (self.batch, self.before) = (batch, place.last);
        (self.events_seen, self.registers_seen) = (0, 0);
        self.find_exception();
        while self.exception_at != NO_EXCEPTION && self.exception_at as usize <= self.at {
            self.events_seen += 1;
            self.find_exception();
        }
        self.pipeline.idle_until(cycle, &mut NullSink);
        if let Some(last) = place.last {
            let Some(inst) = ((last as usize) < program.len()).then(|| program.inst(last)) else {
                return Ok(None);
            };
            self.pipeline.learn_branch(program.pc(last), inst, next);
        }
        self.find_stop();
        Ok(Some(()))
    }

    /// Counts nothing from now on, or all from the next instruction on.
    pub(crate) fn watch(&mut self, watch: RegionWatch) {
        self.watch = watch;
        self.stretch = 0;
    }

    /// Answers the snoops that wait for the core. Those of before a window count before it, also if
    /// the thread does nothing for long, and those of the window count in it.
    pub(crate) fn answer_snoops(&mut self, memory: &mut MemorySystem) {
        memory.answer_snoops(self.core, &mut self.totals);
    }

    /// Begins to count: in cycle `from` if the thread waits on its core then.
    pub(crate) fn open_at<S: RunSink>(
        &mut self,
        from: Cycle,
        program: &Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) {
        if !self.is_away(program) && self.pipeline.clock() < from {
            self.pipeline.idle_until(from, &mut self.totals);
            self.waits_from = from;
        }
        self.watch(RegionWatch::counted());
        self.open(memory, observer);
    }

    /// Ends counting: in cycle `until` if the thread waits on its core then.
    pub(crate) fn close_at<S: RunSink>(
        &mut self,
        until: Cycle,
        program: &Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) {
        self.pipeline.settle_wait(&mut self.totals);
        let waited = until.saturating_sub(self.pipeline.clock().max(self.waits_from));
        if self.opened.is_some() && waited > 0 && !self.is_away(program) {
            self.totals.count(PmuEvent::CPU_CYCLES, waited);
            self.totals.count(PmuEvent::CNT_CYCLES, self.pipeline.ticks_in(waited));
            self.totals.count(PmuEvent::STALL_BACKEND, waited);
            self.totals.count(PmuEvent::STALL_SLOT_BACKEND, SLOTS * waited);
            let lost = &mut self.measured.lost;
            lost.add(StallCause::Serialize, RootCause::OtherThread, SLOTS * waited);
            self.waits.on_core += waited;
        }
        self.close(false, memory, observer);
    }

    /// Returns the pipeline, without operations in flight.
    pub(crate) fn into_pipeline(mut self, memory: &mut MemorySystem) -> Pipeline {
        self.pipeline.push_stores(0, &mut memory.port(self.core), &mut NullSink);
        self.pipeline.finish(&mut NullSink);
        self.pipeline
    }
}
