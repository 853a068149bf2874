//! The state in which each window begins: what the machine without a pipeline has in its caches, TLBs,
//! prefetchers and predictors there, behind everything that comes before (live-points: Wenisch and others,
//! "TurboSMARTS", 2005).
//!
//! Windows that begin so need no way to them, and find what they would find behind all of it. What only a pipeline has
//! (MOP cache, memory that was found to depend on stores, what is on its way) they find as the window before left it.

use std::io::Write;

use sim_core::{NullSink, Taker};
use sim_pipeline::Pipeline;
use sim_trace::{StatePlace, StatesError, StatesHeader, StatesReader, StatesWriter};
use xxhash_rust::xxh3::Xxh3Default;

use super::{Region, Regions, only_thread};
use crate::approach::{Approach, Places};
use crate::error::MachineError;
use crate::session::Session;

impl Region {
    /// Where it is reached: so many instructions in front of it run without being counted.
    fn begins_behind(&self, warmup: u64) -> u64 {
        self.begin.saturating_sub(warmup)
    }

    /// True if the state was taken there: at the end of the block that reaches it.
    pub(crate) fn has_place(&self, warmup: u64, place: &StatePlace) -> bool {
        let begin = self.begins_behind(warmup);
        (begin..=begin.saturating_add(u16::MAX.into())).contains(&place.position)
    }
}

impl Regions {
    /// Sends the trace through the machine without a pipeline and writes its state in front of each window.
    /// `file` is the name of `out`, for messages; `progress` hears the instructions read so far.
    ///
    /// # Errors
    /// If the trace is damaged or has instructions of several threads, or if `out` does not take it.
    pub fn write_states(
        &self,
        session: &Session,
        out: impl Write,
        file: &str,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), MachineError> {
        let io = |source| StatesError::Io { file: file.to_owned(), source };
        let trace = session.trace();
        let stream = only_thread(trace)?;
        let (mut program, mut memory) = (session.program()?, session.memory_of_one()?);
        let mut pipeline = Pipeline::new(&session.config().pipeline);
        pipeline.reserve_insts(trace.statics().insts().len());
        let places = Places::new(trace.statics(), &program);
        let (program, pipeline, memory) = (&mut program, &mut pipeline, &mut memory);
        // As a core that stands still at the begin, whose way this is.
        let begin = pipeline.idle_until(0, &mut NullSink);
        let mut machine = Approach::new(0, &places, program, pipeline, memory, begin, NullSink);
        let mut taker = Taker::default();
        machine.show_state(&mut taker);
        let header = self.states_header(session, taker.words.len() as u64);
        let mut writer = StatesWriter::new(out, &header).map_err(io)?;
        let mut reader = trace.reader(stream.stream)?;
        for window in &self.windows {
            reader.skim(window.begins_behind(self.warmup), &mut machine)?;
            let (cycle, last) = machine.place();
            taker.words.clear();
            machine.show_state(&mut taker);
            let place = StatePlace { position: reader.position(), cycle, last };
            writer.add(&place, &taker.words).map_err(io)?;
            progress(reader.position());
        }
        writer.into_inner().flush().map_err(io)?;
        Ok(())
    }

    /// What the states of these windows belong to.
    fn states_header(&self, session: &Session, words: u64) -> StatesHeader {
        let mut places = Xxh3Default::new();
        for window in &self.windows {
            for number in [window.begins_behind(self.warmup), window.begin, window.length] {
                places.update(&number.to_le_bytes());
            }
        }
        StatesHeader {
            count: self.windows.len() as u32,
            trace: session.trace().hash(),
            machine: session.config().warm_hash(),
            places: places.digest(),
            words,
        }
    }

    /// Whether windows can begin in these states: not if they were taken on another machine.
    ///
    /// # Errors
    /// If they are of another trace or of other windows.
    pub fn fit_states(
        &self,
        session: &Session,
        states: &StatesReader,
    ) -> Result<bool, StatesError> {
        let found = states.header();
        let wanted = self.states_header(session, found.words);
        let wrong = |what| StatesError::Damaged {
            file: states.file().to_owned(),
            place: "its first bytes".to_owned(),
            what,
        };
        if found.trace != wanted.trace {
            return Err(wrong("these states are of another trace"));
        }
        if (found.count, found.places) != (wanted.count, wanted.places) {
            return Err(wrong(
                "these states are of other windows: take the line `states` out of the file of windows",
            ));
        }
        Ok(found.machine == wanted.machine)
    }
}
