//! Saved state before each window: caches, TLBs, prefetchers and predictors after functional
//! warming over everything before it (live-points: Wenisch and others, "TurboSMARTS", 2005).
//!
//! Windows that start in saved states need no functional warming. State that only a pipeline has
//! stays as the previous window left it: MOP cache, memory dependences, requests in flight.

use std::io::Write;

use sim_core::{NullSink, StateSaver};
use sim_pipeline::Pipeline;
use sim_trace::{MOST_WORDS, StatePlace, StatesError, StatesHeader, StatesReader, StatesWriter};
use xxhash_rust::xxh3::Xxh3Default;

use super::windows::Regions;
use sim_machine::functional_warming::{BlockTable, FunctionalWarming};
use sim_machine::{MachineError, Session, ThreadWarming, only_thread};

impl Regions {
    /// Runs functional warming over the trace and writes its state before each window. `file` is
    /// the name of `out` in messages; `progress` receives the number of instructions read so far.
    ///
    /// # Errors
    /// If the trace is damaged, if threads share cores, or if `out` cannot be written.
    pub fn write_states(
        &self,
        session: &Session,
        out: impl Write,
        file: &str,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), MachineError> {
        let io = |source| StatesError::Io { file: file.to_owned(), source };
        let trace = session.trace();
        if session.has_threads() {
            return self.write_thread_states(session, out, file, progress);
        }
        let stream = only_thread(trace)?;
        let (mut program, mut memory) = (session.program()?, session.memory_of_one()?);
        let mut pipeline = Pipeline::new(&session.config().pipeline);
        pipeline.reserve_insts(trace.statics().insts().len());
        let blocks = BlockTable::new(trace.statics(), &program);
        let (program, pipeline, memory) = (&mut program, &mut pipeline, &mut memory);
        // Start in the same cycle as a core that idles before a skip.
        let begin = pipeline.idle_until(0, &mut NullSink);
        let mut machine =
            FunctionalWarming::new(0, &blocks, program, pipeline, memory, begin, NullSink);
        let mut saver = StateSaver::default();
        machine.visit_state(&mut saver);
        let machine_hash = session.warm_hash();
        let header = self.states_header(trace.hash(), machine_hash, saver.words.len() as u64);
        let mut writer = StatesWriter::new(out, &header).map_err(io)?;
        let mut reader = trace.reader(stream.stream)?;
        for window in self.windows() {
            reader.skim(window.first_run(), &mut machine)?;
            let (cycle, last) = machine.now_and_last();
            saver.words.clear();
            machine.visit_state(&mut saver);
            let place = StatePlace { position: reader.position(), cycle, last };
            writer.add(&place, &saver.words).map_err(io)?;
            progress(reader.position());
        }
        writer.into_inner().flush().map_err(io)?;
        Ok(())
    }

    /// Writes the states of a run of several threads: that of each core, of what they share, and
    /// the place of each thread.
    fn write_thread_states(
        &self,
        session: &Session,
        out: impl Write,
        file: &str,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), MachineError> {
        let io = |source| StatesError::Io { file: file.to_owned(), source };
        let mut warming = ThreadWarming::new(session)?;
        let mut words = Vec::new();
        warming.save(0, &mut words)?;
        let (trace, machine) = (session.trace().hash(), session.warm_hash());
        let size = words.len() as u64;
        if size > MOST_WORDS {
            let threads = session.instructions_of_threads().len();
            let trace = session.header().trace.clone();
            return Err(MachineError::LargeState { trace, threads, words: size, most: MOST_WORDS });
        }
        let header = self.states_header(trace, machine, size);
        let mut writer = StatesWriter::new(out, &header).map_err(io)?;
        for window in self.windows() {
            let needed = window.first_run();
            warming.run_to(needed, &mut |_, _| {})?;
            if warming.done() < needed {
                return Err(warming.ends_before(needed));
            }
            warming.save(window.instructions(), &mut words)?;
            let (position, cycle) = (warming.done(), warming.cut().now);
            writer.add(&StatePlace { position, cycle, last: None }, &words).map_err(io)?;
            progress(position);
        }
        writer.into_inner().flush().map_err(io)?;
        Ok(())
    }

    /// Returns the header that identifies the trace, the machine and the windows of the states.
    fn states_header(&self, trace: u64, machine: u64, words: u64) -> StatesHeader {
        let mut places = Xxh3Default::new();
        for window in self.windows() {
            for number in [window.first_run(), window.begin, window.length] {
                places.update(&number.to_le_bytes());
            }
        }
        StatesHeader {
            count: self.windows.len() as u32,
            trace,
            machine,
            places: places.digest(),
            words,
        }
    }

    /// Returns true if windows of a trace can start in these states, false if the states are of
    /// another machine. `trace` is the hash of the trace, `warm` that of the machine
    /// ([`Session::warm_hash`]).
    ///
    /// # Errors
    /// If the states are of another trace or of other windows.
    pub fn fit_states(
        &self,
        trace: u64,
        warm: u64,
        states: &StatesReader,
    ) -> Result<bool, StatesError> {
        let found = states.header();
        let wanted = self.states_header(trace, warm, found.words);
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
                "these states are of other windows; remove the line `states` from the file of windows",
            ));
        }
        Ok(found.machine == wanted.machine)
    }
}
