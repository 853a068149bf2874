//! One core that runs one thread of a trace: feeds the pipeline and tracks the counted window.

mod cut;
mod deferred;
mod in_order;
mod parts;
mod quantum;
mod records;
mod registers;
mod results;
mod seat;
mod skip;
mod source;
mod unreported;
mod wait;

use crate::error::MachineError;
use crate::levels::{Level, Levels};
use crate::outcome::Waits;
use crate::region::{Change, RegionWatch};
use crate::run_sink::RunSink;
use crate::thread_scheduler::ThreadState;
use crate::totals::Totals;
use deferred::Deferred;
use parts::Counting;
use records::{Feed, Stops, run_records};
use sim_cache::{MemoryStats, MemorySystem, PrefetchStats};
use sim_core::{Counts, Cycle, InstId, LostSlots, MAX_FURTHER, Notice, Privilege, TraceInst};
use sim_isa::{Program, Special};
use sim_pipeline::{InOrderEngine, Pipeline, RecordedException};
use sim_trace::StreamEvent;
use source::Unshared;
pub(crate) use source::{Returning, Source};
use std::collections::BTreeMap;

/// Counts and lost slots at one point of the run.
#[derive(Clone, Debug, Default)]
struct Snapshot {
    counts: Counts,
    lost: LostSlots,
    prefetches: PrefetchStats,
    memory: MemoryStats,
}

/// Value of `exception_at` when the batch has no further exception.
const NO_EXCEPTION: u32 = u32::MAX;

/// Returns true if an address is in the upper half, where the kernel is.
fn is_upper(pc: u64) -> bool {
    pc >> 63 == 1
}

/// Converts a recorded exception to the pipeline's form. Returns `None` for other events.
fn exception_of(event: &StreamEvent) -> Option<RecordedException> {
    let StreamEvent::Exception { vector, abandoned, level, syndrome, state } = *event else {
        return None;
    };
    let bit = |n: u8| state >> n & 1 == 1;
    let to = Privilege { level: level.min(3), e2h: bit(0), tge: bit(1), secure: bit(2) };
    Some(RecordedException { vector, abandoned, to: (level > 0).then_some(to), syndrome })
}

/// A thread on its core. A copy lacks the reader.
#[derive(Clone)]
pub(crate) struct CoreRun {
    /// Number of the thread, under which observers get its reports.
    thread: usize,
    /// The core whose memory it uses; another number than the thread's only if threads share cores.
    core: usize,
    stream: u32,
    pipeline: Pipeline,
    reader: Unshared<Source>,
    batch: Vec<TraceInst>,
    at: usize,
    /// Number of instructions of the batch that may run.
    stop: usize,
    /// Stream position of the first instruction that may not run yet.
    hold_at: u64,
    /// Cycle until which the thread waits for another thread; 0 if it does not wait.
    wait: Cycle,
    /// Time spent waiting for other threads.
    waits: Waits,
    /// Cycle in which a window began while the thread waited; 0 for none.
    waits_from: Cycle,
    /// Clock at which the thread left a core that it shares; at first the start of the run.
    left: Cycle,
    /// First cycle of the thread on the core that it shares.
    start: Cycle,
    /// The thread left its core while it was counted.
    is_interrupted: bool,
    /// Last instruction of the previous batch.
    before: Option<u32>,
    /// Number of side events of the batch that were searched for exceptions.
    events_seen: usize,
    /// Number of side events of the batch that were searched for register accesses.
    registers_seen: usize,
    /// Place in the batch of the next recorded exception; [`NO_EXCEPTION`] if there is none.
    exception_at: u32,
    /// The trace includes the kernel.
    full_system: bool,
    /// The trace includes the kernel, and the exception level is not sure: the stream began in the
    /// lower half of the addresses, without an exception since.
    begins_somewhere: bool,
    /// Number of the batch's further element addresses that are used.
    more_at: usize,
    watch: RegionWatch,
    totals: Totals,
    deferred: Deferred,
    levels: Levels,
    /// State of the core at the current exception level.
    privilege: Privilege,
    opened: Option<Snapshot>,
    measured: Snapshot,
    /// Number of executions of each static instruction that the decoder does not know.
    unknown: BTreeMap<u32, u64>,
    done: u64,
    ended: bool,
    /// The stream ended inside the counted region.
    ended_inside: bool,
    /// In-order engine; set once the core runs in program order.
    engine: Option<InOrderEngine>,
    /// In program order: instructions left before the next check by the machine.
    stretch: usize,
    /// In program order: the last instruction was an exception return.
    returns: bool,
    /// In program order: counting begins after the next instruction.
    opens_after: bool,
}

impl CoreRun {
    /// Creates thread `thread`, on the core of this number, at the start of the reader of `stream`.
    pub(crate) fn new(
        thread: usize,
        stream: u32,
        pipeline: Pipeline,
        reader: Source,
        watch: RegionWatch,
        full_system: bool,
    ) -> CoreRun {
        CoreRun {
            left: pipeline.cycle(),
            start: 0,
            thread,
            core: thread,
            stream,
            pipeline,
            reader: Unshared::new(reader),
            batch: Vec::new(),
            at: 0,
            stop: 0,
            hold_at: u64::MAX,
            wait: 0,
            waits: Waits::default(),
            waits_from: 0,
            is_interrupted: false,
            before: None,
            events_seen: 0,
            registers_seen: 0,
            exception_at: NO_EXCEPTION,
            full_system,
            begins_somewhere: full_system,
            more_at: 0,
            watch,
            totals: Totals::default(),
            deferred: Deferred::default(),
            levels: Levels::default(),
            privilege: Privilege::default(),
            opened: None,
            measured: Snapshot::default(),
            unknown: BTreeMap::new(),
            done: 0,
            ended: false,
            ended_inside: false,
            engine: None,
            stretch: 0,
            returns: false,
            opens_after: false,
        }
    }

    /// Continues after a counted window and counts the next one from zero.
    pub(crate) fn begin_window(&mut self, watch: RegionWatch) {
        self.watch = watch;
        self.measured = Snapshot::default();
        self.levels.forget_totals();
        (self.ended, self.ended_inside) = (false, false);
    }

    /// Returns true when the thread has ended.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Returns true if the stream ended while it was counted.
    pub(crate) fn ended_inside(&self) -> bool {
        self.ended_inside
    }

    /// Returns the stream number.
    pub(crate) fn stream(&self) -> u32 {
        self.stream
    }

    /// Returns the core's rename clock, or the clock of its in-order engine.
    pub(crate) fn cycle(&self) -> Cycle {
        match &self.engine {
            Some(engine) => engine.cycle(),
            None => self.pipeline.cycle(),
        }
    }

    /// Returns the position and clock for the thread scheduler.
    pub(crate) fn state(&self) -> ThreadState {
        ThreadState { ended: self.ended, position: self.position(), cycle: self.cycle() }
    }

    /// Returns the number of instructions run so far, counted or not.
    pub(crate) fn done(&self) -> u64 {
        self.done
    }

    /// Returns true once counting has begun.
    pub(crate) fn ever_counted(&self) -> bool {
        self.watch.ever_open()
    }

    /// Runs until the clock passes `until`, the batch is used up or the thread ends. `observer`
    /// receives everything, counted or not.
    pub(crate) fn advance<S: RunSink>(
        &mut self,
        until: Cycle,
        program: &mut Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) -> Result<(), MachineError> {
        observer.notify(Notice::Core(self.thread));
        if self.at >= self.batch.len() && !self.next_batch()? {
            self.end(memory, observer);
            return Ok(());
        }
        if self.wait > 0 {
            self.wait_for_other(program, memory, observer);
        }
        // The instruction at `stop` may be the last of the batch.
        let run_to = self.batch.len().min(self.stop + 1);
        while self.at + 1 < run_to {
            let most = self.undisturbed().min(run_to - 1 - self.at);
            if self.stretch == 0 && !self.look_ahead(most, program, memory, observer) {
                return Ok(());
            }
            self.run_next(until, program, memory, observer);
            if self.ended || self.pipeline.cycle() > until {
                return Ok(());
            }
        }
        if self.at >= self.stop {
            return Ok(());
        }
        // The last instruction of a batch needs the address of the next batch's first one.
        if !self.look_ahead(1, program, memory, observer) {
            return Ok(());
        }
        self.stretch = 0;
        let (inst, more) = self.take_record();
        let exceptions = self.exceptions_after();
        let accesses = self.registers_after::<S>();
        let goes_on = self.next_batch()?;
        let next_pc = goes_on.then(|| program.pc(self.batch[0].id));
        let feed = Feed { records: &[inst], more: &more, next_pc };
        self.run_last(&feed, program, memory, observer);
        accesses.into_iter().for_each(|access| observer.notify(Notice::RegisterAccess(access)));
        for recorded in exceptions {
            self.pipeline.take_recorded(recorded, &mut (&mut self.totals, &mut *observer));
        }
        if !goes_on && !self.ended {
            self.end(memory, observer);
        }
        Ok(())
    }

    /// Finds the next stretch, of at most `most` instructions. Returns false if the thread ends.
    fn look_ahead<S: RunSink>(
        &mut self,
        most: usize,
        program: &Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) -> bool {
        self.report_registers(observer);
        self.poll_exceptions(program, observer);
        let most = most.min(self.until_access::<S>());
        let most = self.until_kernel(most, program);
        self.stretch = self.find_stretch(most, program, memory, observer);
        // Run one instruction after a window, uncounted, so that predictors see every branch.
        self.stretch = self.stretch.max(usize::from(self.watch.goes_on()));
        self.stretch > 0
    }

    /// Returns the number of instructions before the one with the next recorded exception; at least
    /// 1.
    fn undisturbed(&self) -> usize {
        let before = (self.exception_at as usize).saturating_sub(self.at + 1).max(1);
        before.min(self.stop - self.at)
    }

    /// Returns the number of the next `most` instructions before the one that shows that a stream
    /// which seemed to begin at EL0 runs at EL1: a processor that starts in the lower half, with
    /// translation off.
    fn until_kernel(&self, most: usize, program: &Program) -> usize {
        if !self.begins_somewhere {
            return most;
        }
        let following = self.batch.iter().skip(self.at + 1).take(most.saturating_sub(1));
        let shown = following.into_iter().position(|inst| is_upper(program.pc(inst.id)));
        shown.map_or(most, |before| before + 1)
    }

    /// Returns how many of the next `most` instructions run without a change of the counted window.
    /// Performs a change that is due before them. Returns 0 if the thread ends.
    fn find_stretch<S: RunSink>(
        &mut self,
        most: usize,
        program: &Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) -> usize {
        let quiet = self.watch.pass_quiet(most);
        if quiet > 0 {
            return quiet;
        }
        match self.watch.before(self.batch[self.at].id, program) {
            Change::None => {}
            Change::OpenBefore => self.open(memory, observer),
            Change::CloseBefore => self.close(false, memory, observer),
            Change::OpenAfter => self.opens_after = true,
            Change::Stop => {
                let drains = !self.watch.goes_on();
                if drains {
                    self.push_stores(memory, observer);
                }
                self.close(drains, memory, observer);
                self.end(memory, observer);
                return 0;
            }
        }
        1
    }

    /// Runs instructions of the stretch until one needs the machine's attention, or the clock
    /// passes `until`.
    fn run_stretch<S: RunSink>(
        &mut self,
        until: Cycle,
        program: &mut Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) {
        if self.pipeline.privilege() != self.privilege {
            self.change_level(observer);
        }
        let (records, after) = self.batch[self.at..=self.at + self.stretch].split_at(self.stretch);
        let stops = Stops { until, due: self.deferred.due() };
        let feed = Feed {
            records,
            more: &self.reader.more()[self.more_at..],
            next_pc: Some(program.pc(after[0].id)),
        };
        let port = &mut memory.port(self.core);
        let sink = &mut Counting::new(&mut self.totals, &mut self.deferred, observer);
        let ran = run_records(&mut self.pipeline, &feed, stops, program, port, sink);
        self.at += ran.records;
        self.more_at += ran.more;
        self.stretch -= ran.records;
        self.done += ran.records as u64;
        self.note_clock(ran.before, observer);
        self.after_inst(self.batch[self.at - 1].id, program, memory, observer);
    }

    /// Runs an instruction whose batch was already replaced.
    #[inline(never)]
    fn run_last<S: RunSink>(
        &mut self,
        feed: &Feed<'_>,
        program: &mut Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) {
        if self.pipeline.privilege() != self.privilege {
            self.change_level(observer);
        }
        if observer.attributes() {
            let id = feed.records[0].id;
            self.begin_part(observer.part_of(id, program.pc(id)), observer);
        }
        let port = &mut memory.port(self.core);
        let sink = &mut Counting::new(&mut self.totals, &mut self.deferred, observer);
        let stops = Stops { until: Cycle::MAX, due: Cycle::MAX };
        let ran = run_records(&mut self.pipeline, feed, stops, program, port, sink);
        self.done += 1;
        self.note_clock(ran.before, observer);
        self.after_inst(feed.records[0].id, program, memory, observer);
    }

    /// Performs the machine's work after an instruction: unknown words, and a window that opens.
    fn after_inst<S: RunSink>(
        &mut self,
        id: InstId,
        program: &Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) {
        if program.inst(id).special == Special::Unknown {
            self.note_unknown(id);
        }
        if std::mem::take(&mut self.opens_after) {
            self.open(memory, observer);
        }
    }

    /// Reports the recorded exceptions that are due up to the end of the next instruction.
    #[inline]
    fn poll_exceptions<S: RunSink>(&mut self, program: &Program, observer: &mut S) {
        if self.at as u32 + 1 >= self.exception_at || self.begins_somewhere {
            self.report_exceptions(program, observer);
        }
    }

    /// Makes the pipeline expect the exception after the next instruction, and take earlier ones.
    #[cold]
    fn report_exceptions<S: RunSink>(&mut self, program: &Program, observer: &mut S) {
        if self.begins_somewhere {
            let is_kernel = is_upper(program.pc(self.batch[self.at].id));
            let level = u8::from(is_kernel);
            self.pipeline.set_privilege(Privilege { level, ..Privilege::default() });
            self.pipeline.set_kernel_above();
            self.begins_somewhere = !is_kernel;
        }
        let next = self.at as u32 + 1;
        while self.exception_at <= next {
            let recorded = exception_of(&self.reader.events()[self.events_seen].event);
            let recorded = recorded.expect("exception_at names an exception");
            let is_expected = self.exception_at == next;
            self.events_seen += 1;
            self.begins_somewhere = false;
            self.find_exception();
            if is_expected {
                self.pipeline.expect_exception(recorded);
                return;
            }
            let sink = &mut (&mut self.totals, &mut *observer);
            self.pipeline.take_recorded(recorded, sink);
        }
    }

    /// Returns the recorded exceptions after the last instruction of the batch, beyond the expected
    /// one.
    fn exceptions_after(&mut self) -> Vec<RecordedException> {
        let mut found = Vec::new();
        while self.exception_at != NO_EXCEPTION {
            found.extend(exception_of(&self.reader.events()[self.events_seen].event));
            self.events_seen += 1;
            self.begins_somewhere = false;
            self.find_exception();
        }
        found
    }

    /// Finds the next recorded exception of the batch.
    fn find_exception(&mut self) {
        let events = &self.reader.events()[self.events_seen..];
        let skipped = events.iter().position(|at| exception_of(&at.event).is_some());
        self.exception_at = skipped.map_or(NO_EXCEPTION, |n| events[n].position);
        self.events_seen += skipped.unwrap_or(events.len());
    }

    /// Takes the current record of the batch, with its further addresses.
    #[inline]
    fn take_record(&mut self) -> (TraceInst, [u64; MAX_FURTHER]) {
        let inst = self.batch[self.at];
        let count = inst.flags.further();
        let mut more = [0; MAX_FURTHER];
        if count > 0 {
            let end = self.more_at + count;
            more[..count].copy_from_slice(&self.reader.more()[self.more_at..end]);
            self.more_at = end;
        }
        (inst, more)
    }

    /// Fills the batch with the next instructions. Returns false at the end of the stream.
    fn next_batch(&mut self) -> Result<bool, MachineError> {
        self.at = 0;
        self.more_at = 0;
        self.before = self.batch.last().map(|inst| inst.id);
        loop {
            if !self.reader.next_batch(&mut self.batch)? {
                self.batch.clear();
                return Ok(false);
            }
            if !self.batch.is_empty() {
                self.events_seen = 0;
                self.registers_seen = 0;
                self.find_exception();
                self.find_stop();
                return Ok(true);
            }
        }
    }

    /// Changes the exception level. Counts so far, clocks included, belong to the previous level.
    #[cold]
    fn change_level<S: RunSink>(&mut self, observer: &mut S) {
        let early = self.early_clocks(observer);
        self.privilege = self.pipeline.privilege();
        let level = Level::from(self.privilege);
        if level != self.levels.current() {
            self.pipeline.settle_clocks(&mut (&mut self.totals, &mut *observer));
            self.levels.change(level, self.totals.counts());
        }
        self.pass_counts(&early, observer);
        observer.pass_privilege(self.privilege);
    }

    fn open<S: RunSink>(&mut self, memory: &mut MemorySystem, observer: &mut S) {
        let early = self.early_clocks(observer);
        self.pipeline.cut_window(&mut (&mut self.totals, &mut *observer));
        self.pass_counts(&early, observer);
        self.opened = Some(self.snapshot(memory));
        memory.begin_counting(self.counted_from());
        let clock = self.clock();
        self.waits.first_counted.get_or_insert(clock);
        self.levels.open(self.totals.counts());
        observer.notify(Notice::Counting(true));
        self.find_deadline(observer);
    }

    /// Adds the open window to the measured counts. At the end of the stream the pipeline drains
    /// first.
    fn close<S: RunSink>(&mut self, drains: bool, memory: &mut MemorySystem, observer: &mut S) {
        let Some(opened) = self.opened.take() else { return };
        let early = self.early_clocks(observer);
        if drains {
            self.pipeline.finish(&mut (&mut self.totals, &mut *observer));
        } else {
            self.pipeline.cut_window(&mut (&mut self.totals, &mut *observer));
        }
        self.pass_counts(&early, observer);
        observer.notify(Notice::Counting(false));
        self.find_deadline(observer);
        self.levels.close(self.totals.counts());
        memory.end_counting(self.cycle());
        self.waits.last_counted = self.clock();
        let now = self.snapshot(memory);
        self.measured.counts.add(&now.counts.since(&opened.counts));
        self.measured.lost.plus(&now.lost.since(&opened.lost));
        let prefetches = now.prefetches.since(&opened.prefetches);
        self.measured.prefetches = self.measured.prefetches.plus(&prefetches);
        let memory = now.memory.since(&opened.memory);
        self.measured.memory = self.measured.memory.plus(&memory);
    }

    fn snapshot(&mut self, memory: &MemorySystem) -> Snapshot {
        Snapshot {
            counts: self.totals.counts().clone(),
            lost: self.pipeline.lost_slots().clone(),
            prefetches: memory.prefetch_stats(self.core),
            memory: memory.memory_stats(self.core),
        }
    }

    /// Performs stores that wait for the rest of their line, if the stream ends inside a window.
    fn push_stores<S: RunSink>(&mut self, memory: &mut MemorySystem, observer: &mut S) {
        if self.opened.is_some() {
            let sink = &mut (&mut self.totals, &mut *observer);
            self.pipeline.push_stores(0, &mut memory.port(self.core), sink);
        }
    }

    /// Ends the thread at its current position, if it has not ended.
    pub(crate) fn end_here<S: RunSink>(&mut self, memory: &mut MemorySystem, observer: &mut S) {
        if !self.ended {
            observer.notify(Notice::Core(self.thread));
            self.end(memory, observer);
        }
    }

    fn end<S: RunSink>(&mut self, memory: &mut MemorySystem, observer: &mut S) {
        self.ended_inside = self.opened.is_some() || self.is_interrupted;
        self.push_stores(memory, observer);
        self.close(true, memory, observer);
        self.ended = true;
    }
}
