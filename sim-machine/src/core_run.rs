//! One core that runs one thread of a trace: feeds the pipeline and keeps the counted window.

mod in_order;
mod skip;
mod source;
mod wait;

use crate::error::MachineError;
use crate::levels::{Level, Levels};
use crate::outcome::{CoreOutcome, UnknownWord, Waits};
use crate::region::{Change, RegionWatch};
use crate::thread_scheduler::ThreadState;
use crate::totals::Totals;
use sim_cache::{MemorySystem, MemoryTally, PrefetchStats};
use sim_core::{
    Counts, Cycle, EventSink, InstId, LostSlots, MAX_FURTHER, Packed, Privilege, RegisterAccess,
    TraceInst,
};
use sim_isa::{Program, Special};
use sim_pipeline::{Pipeline, ProgramOrder, RecordedException, Step};
use sim_trace::StreamEvent;
pub(crate) use source::Source;
use std::collections::BTreeMap;

/// Counts and lost slots at one moment.
#[derive(Clone, Debug, Default)]
struct Snapshot {
    counts: Counts,
    lost: LostSlots,
    prefetches: PrefetchStats,
    memory: MemoryTally,
}

/// Place of an exception that no batch has.
const NO_EXCEPTION: u32 = u32::MAX;

/// What the pipeline is told of a recorded exception.
fn exception_of(event: &StreamEvent) -> Option<RecordedException> {
    let StreamEvent::Exception { vector, abandoned, level, syndrome, state } = *event else {
        return None;
    };
    let bit = |n: u8| state >> n & 1 == 1;
    let to = Privilege { level: level.min(3), e2h: bit(0), tge: bit(1), secure: bit(2) };
    Some(RecordedException { vector, abandoned, to: (level > 0).then_some(to), syndrome })
}

/// The access to a register that an event tells of.
fn register_access_of(event: &StreamEvent) -> Option<RegisterAccess> {
    match *event {
        StreamEvent::Register { encoding, value, is_write } => {
            Some(RegisterAccess { encoding, value, is_write })
        }
        _ => None,
    }
}

/// A thread on its core.
pub(crate) struct CoreRun {
    core: usize,
    stream: u32,
    pipeline: Pipeline,
    reader: Source,
    batch: Vec<TraceInst>,
    at: usize,
    /// How many instructions of the batch may run.
    stop: usize,
    /// Number in the stream of the first instruction that may not run yet.
    hold_at: u64,
    /// Until when the thread waits for another one; 0 once it has.
    wait: Cycle,
    /// How long it waited for other threads.
    waits: Waits,
    /// The last instruction of the batch before.
    before: Option<u32>,
    /// Side events of the batch that were looked at.
    events_seen: usize,
    /// Side events of the batch that were looked at for accesses to registers.
    registers_seen: usize,
    /// Place in the batch of the next recorded exception; [`NO_EXCEPTION`] without one.
    exception_at: u32,
    /// The kernel is in the trace.
    full_system: bool,
    /// It is, and the level at which it begins is to be found out.
    begins_somewhere: bool,
    /// How many of the further element addresses of the batch are used.
    more_at: usize,
    watch: RegionWatch,
    totals: Totals,
    levels: Levels,
    /// The state of the core to which the level belongs.
    privilege: Privilege,
    opened: Option<Snapshot>,
    measured: Snapshot,
    /// Executions of words that the decoder does not know, by static instruction.
    unknown: BTreeMap<u32, u64>,
    done: u64,
    ended: bool,
    /// The stream ran out inside the counted region.
    ended_inside: bool,
    /// The core, once it runs in program order.
    order: Option<ProgramOrder>,
    /// In program order: so many instructions come before the machine has to look again.
    stretch: usize,
    /// In program order: the instruction before the next one was an exception return.
    returns: bool,
    /// In program order: counting begins behind the next instruction.
    opens_after: bool,
}

impl CoreRun {
    /// The thread `stream` at the start of its reader, on core `core`.
    pub(crate) fn new(
        core: usize,
        stream: u32,
        pipeline: Pipeline,
        reader: Source,
        watch: RegionWatch,
        full_system: bool,
    ) -> CoreRun {
        CoreRun {
            core,
            stream,
            pipeline,
            reader,
            batch: Vec::new(),
            at: 0,
            stop: 0,
            hold_at: u64::MAX,
            wait: 0,
            waits: Waits::default(),
            before: None,
            events_seen: 0,
            registers_seen: 0,
            exception_at: NO_EXCEPTION,
            full_system,
            begins_somewhere: full_system,
            more_at: 0,
            watch,
            totals: Totals::default(),
            levels: Levels::default(),
            privilege: Privilege::default(),
            opened: None,
            measured: Snapshot::default(),
            unknown: BTreeMap::new(),
            done: 0,
            ended: false,
            ended_inside: false,
            order: None,
            stretch: 0,
            returns: false,
            opens_after: false,
        }
    }

    /// Goes on behind the end of the part that was counted; what comes is counted anew.
    pub(crate) fn begin_window(&mut self, watch: RegionWatch) {
        self.watch = watch;
        self.measured = Snapshot::default();
        self.levels.forget_totals();
        (self.ended, self.ended_inside) = (false, false);
    }

    /// True when the thread has nothing left to run.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// True when the stream ran out while it was counted.
    pub(crate) fn ended_inside(&self) -> bool {
        self.ended_inside
    }

    /// Number of its stream.
    pub(crate) fn stream(&self) -> u32 {
        self.stream
    }

    /// The core's rename clock, or the clock of its program order.
    pub(crate) fn cycle(&self) -> Cycle {
        match &self.order {
            Some(order) => order.cycle(),
            None => self.pipeline.cycle(),
        }
    }

    /// Where it stands, for those who say whose turn it is.
    pub(crate) fn state(&self) -> ThreadState {
        ThreadState { ended: self.ended, position: self.position(), cycle: self.cycle() }
    }

    /// Instructions run so far, counted or not.
    pub(crate) fn done(&self) -> u64 {
        self.done
    }

    /// True once its counting has begun.
    pub(crate) fn ever_counted(&self) -> bool {
        self.watch.ever_open()
    }

    /// Runs until the clock passes `until`, the batch is used up or the thread ends. `listener` hears
    /// everything, whether it is counted or not.
    pub(crate) fn advance<S: EventSink>(
        &mut self,
        until: Cycle,
        program: &mut Program,
        memory: &mut MemorySystem,
        listener: &mut S,
    ) -> Result<(), MachineError> {
        listener.core(self.core);
        if self.at >= self.batch.len() && !self.next_batch()? {
            self.end(memory, listener);
            return Ok(());
        }
        if self.wait > 0 {
            self.wait_for_other(program, memory, listener);
        }
        // The one at which it is held may be the last of the batch.
        let run_to = self.batch.len().min(self.stop + 1);
        while self.at + 1 < run_to {
            let most = self.undisturbed().min(run_to - 1 - self.at);
            if self.stretch == 0 && !self.look_ahead(most, program, memory, listener) {
                return Ok(());
            }
            self.run_stretch(until, program, memory, listener);
            if self.ended || self.pipeline.cycle() > until {
                return Ok(());
            }
        }
        if self.at >= self.stop {
            return Ok(());
        }
        // The last instruction of a batch needs the first of the next one, to know where it went.
        if !self.look_ahead(1, program, memory, listener) {
            return Ok(());
        }
        self.stretch = 0;
        let (inst, more) = self.take_record();
        let behind = self.exceptions_after();
        let accesses = self.registers_after::<S>();
        let goes_on = self.next_batch()?;
        let next_pc = goes_on.then(|| program.pc(self.batch[0].id));
        let step = Step { inst, more: &more[..inst.flags.further()], next_pc };
        self.run_last(&step, program, memory, listener);
        accesses.into_iter().for_each(|access| listener.register_access(access));
        for recorded in behind {
            self.pipeline.take_recorded(recorded, &mut (&mut self.totals, &mut *listener));
        }
        if !goes_on && !self.ended {
            self.end(memory, listener);
        }
        Ok(())
    }

    /// Tells those who follow the run what the instructions before the next one did to registers.
    #[inline]
    fn report_registers<S: EventSink>(&mut self, listener: &mut S) {
        if !S::FOLLOWS_RUN {
            return;
        }
        while let Some(at) = self.reader.events().get(self.registers_seen)
            && at.position as usize <= self.at
        {
            if let Some(access) = register_access_of(&at.event) {
                listener.register_access(access);
            }
            self.registers_seen += 1;
        }
    }

    /// What the last instruction of the batch did to registers.
    fn registers_after<S: EventSink>(&mut self) -> Vec<RegisterAccess> {
        if !S::FOLLOWS_RUN {
            return Vec::new();
        }
        let events = &self.reader.events()[self.registers_seen..];
        events.iter().filter_map(|at| register_access_of(&at.event)).collect()
    }

    /// Finds the next stretch, of so many instructions at most; false where the thread ends.
    fn look_ahead<S: EventSink>(
        &mut self,
        most: usize,
        program: &Program,
        memory: &mut MemorySystem,
        listener: &mut S,
    ) -> bool {
        self.report_registers(listener);
        self.poll_exceptions(program, listener);
        // Who follows the run is told between any two of them what they did to registers.
        let most = if S::FOLLOWS_RUN { 1 } else { most };
        self.stretch = self.find_stretch(most, program, memory, listener);
        // Behind a window one runs without being counted: predictors are not to miss a branch.
        self.stretch = self.stretch.max(usize::from(self.watch.goes_on()));
        self.stretch > 0
    }

    /// How many instructions come before the one behind which an exception was recorded, that one if it is
    /// the next.
    fn undisturbed(&self) -> usize {
        let before = (self.exception_at as usize).saturating_sub(self.at + 1).max(1);
        before.min(self.stop - self.at)
    }

    /// How many of these instructions come in which nothing changes; what changes in front of them does so
    /// now. None where the thread ends.
    fn find_stretch<S: EventSink>(
        &mut self,
        most: usize,
        program: &Program,
        memory: &mut MemorySystem,
        listener: &mut S,
    ) -> usize {
        let quiet = self.watch.pass_quiet(most);
        if quiet > 0 {
            return quiet;
        }
        match self.watch.before(self.batch[self.at].id, program) {
            Change::None => {}
            Change::OpenBefore => self.open(memory, listener),
            Change::CloseBefore => self.close(false, memory, listener),
            Change::OpenAfter => self.opens_after = true,
            Change::Stop => {
                let drains = !self.watch.goes_on();
                if drains {
                    self.push_stores(memory, listener);
                }
                self.close(drains, memory, listener);
                self.end(memory, listener);
                return 0;
            }
        }
        1
    }

    /// Runs instructions of the stretch, up to one behind which the machine has something to do or to where the
    /// clock passes `until`.
    fn run_stretch<S: EventSink>(
        &mut self,
        until: Cycle,
        program: &mut Program,
        memory: &mut MemorySystem,
        listener: &mut S,
    ) {
        if self.pipeline.privilege() != self.privilege {
            self.change_level(listener);
        }
        let mut port = memory.port(self.core);
        let sink = &mut (&mut self.totals, &mut *listener);
        let first = self.at;
        for pair in self.batch[first..=first + self.stretch].windows(2) {
            let (inst, next_pc) = (pair[0], Some(program.pc(pair[1].id)));
            let mut more: &[u64] = &[];
            if inst.flags.further() > 0 {
                more = &self.reader.more()[self.more_at..][..inst.flags.further()];
                self.more_at += more.len();
            }
            let step = Step { inst, more, next_pc };
            self.pipeline.run_inst(&step, program, &mut port, sink);
            self.at += 1;
            let is_known = program.inst(inst.id).special != Special::Unknown;
            let stays = self.pipeline.privilege() == self.privilege;
            if !is_known || !stays || self.pipeline.cycle() > until {
                break;
            }
        }
        self.stretch -= self.at - first;
        self.done += (self.at - first) as u64;
        self.after_inst(self.batch[self.at - 1].id, program, memory, listener);
    }

    /// Runs the instruction of which the batch is gone already.
    #[inline(never)]
    fn run_last<S: EventSink>(
        &mut self,
        step: &Step<'_>,
        program: &mut Program,
        memory: &mut MemorySystem,
        listener: &mut S,
    ) {
        if self.pipeline.privilege() != self.privilege {
            self.change_level(listener);
        }
        let sink = &mut (&mut self.totals, &mut *listener);
        self.pipeline.run_inst(step, program, &mut memory.port(self.core), sink);
        self.done += 1;
        self.after_inst(step.inst.id, program, memory, listener);
    }

    /// What the machine does behind the instruction that ran last.
    fn after_inst<S: EventSink>(
        &mut self,
        id: InstId,
        program: &Program,
        memory: &MemorySystem,
        listener: &mut S,
    ) {
        if program.inst(id).special == Special::Unknown {
            self.note_unknown(id);
        }
        if std::mem::take(&mut self.opens_after) {
            self.open(memory, listener);
        }
    }

    /// Looks out for exceptions that the recorder saw up to the end of the next instruction.
    #[inline]
    fn poll_exceptions<S: EventSink>(&mut self, program: &Program, listener: &mut S) {
        if self.at as u32 + 1 >= self.exception_at || self.begins_somewhere {
            self.report_exceptions(program, listener);
        }
    }

    /// Tells the pipeline: the one behind the next instruction is expected, any before it is taken.
    #[cold]
    fn report_exceptions<S: EventSink>(&mut self, program: &Program, listener: &mut S) {
        if std::mem::take(&mut self.begins_somewhere) {
            let is_kernel = program.pc(self.batch[self.at].id) >> 63 == 1;
            let level = u8::from(is_kernel);
            self.pipeline.set_privilege(Privilege { level, ..Privilege::default() });
            self.pipeline.set_kernel_above();
        }
        let behind = self.at as u32 + 1;
        while self.exception_at <= behind {
            let recorded = exception_of(&self.reader.events()[self.events_seen].event);
            let recorded = recorded.expect("exception_at names an exception");
            let is_behind = self.exception_at == behind;
            self.events_seen += 1;
            self.find_exception();
            if is_behind {
                self.pipeline.expect_exception(recorded);
                return;
            }
            let sink = &mut (&mut self.totals, &mut *listener);
            self.pipeline.take_recorded(recorded, sink);
        }
    }

    /// Exceptions that the recorder saw behind the last instruction of the batch and the one expected
    /// there, with no instruction between them.
    fn exceptions_after(&mut self) -> Vec<RecordedException> {
        let mut behind = Vec::new();
        while self.exception_at != NO_EXCEPTION {
            behind.extend(exception_of(&self.reader.events()[self.events_seen].event));
            self.events_seen += 1;
            self.find_exception();
        }
        behind
    }

    /// Finds the next recorded exception of the batch.
    fn find_exception(&mut self) {
        let events = &self.reader.events()[self.events_seen..];
        let skipped = events.iter().position(|at| exception_of(&at.event).is_some());
        self.exception_at = skipped.map_or(NO_EXCEPTION, |n| events[n].position);
        self.events_seen += skipped.unwrap_or(events.len());
    }

    /// The record at which the batch stands, with its further addresses.
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

    /// Fills the batch with the next instructions; false at the end of the stream.
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

    /// What was counted so far, the clocks included, belongs to the level before.
    #[cold]
    fn change_level<S: EventSink>(&mut self, listener: &mut S) {
        self.privilege = self.pipeline.privilege();
        let level = Level::from(self.privilege);
        if level != self.levels.current() {
            self.pipeline.settle_clocks(&mut (&mut self.totals, listener));
            self.levels.change(level, self.totals.counts());
        }
    }

    fn open<S: EventSink>(&mut self, memory: &MemorySystem, listener: &mut S) {
        self.pipeline.cut_window(&mut (&mut self.totals, &mut *listener));
        self.opened = Some(self.snapshot(memory));
        self.levels.open(self.totals.counts());
        listener.counting(true);
    }

    /// Adds the open window to what was measured. At the end of the stream the window drains.
    fn close<S: EventSink>(&mut self, drains: bool, memory: &MemorySystem, listener: &mut S) {
        let Some(opened) = self.opened.take() else { return };
        if drains {
            self.pipeline.finish(&mut (&mut self.totals, &mut *listener));
        } else {
            self.pipeline.cut_window(&mut (&mut self.totals, &mut *listener));
        }
        listener.counting(false);
        self.levels.close(self.totals.counts());
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
            memory: memory.tally(self.core),
        }
    }

    /// The stream ends inside a window: stores that wait for the rest of their line belong to it.
    fn push_stores<S: EventSink>(&mut self, memory: &mut MemorySystem, listener: &mut S) {
        if self.opened.is_some() {
            let sink = &mut (&mut self.totals, &mut *listener);
            self.pipeline.push_stores(0, &mut memory.port(self.core), sink);
        }
    }

    /// Ends the thread where it is, if it has not ended.
    pub(crate) fn end_here<S: EventSink>(&mut self, memory: &mut MemorySystem, listener: &mut S) {
        if !self.ended {
            listener.core(self.core);
            self.end(memory, listener);
        }
    }

    fn end<S: EventSink>(&mut self, memory: &mut MemorySystem, listener: &mut S) {
        self.ended_inside = self.opened.is_some();
        self.push_stores(memory, listener);
        self.close(true, memory, listener);
        self.ended = true;
    }

    #[cold]
    fn note_unknown(&mut self, id: u32) {
        *self.unknown.entry(id).or_default() += 1;
    }

    /// The result.
    pub(crate) fn outcome(&self, program: &Program) -> CoreOutcome {
        let mut unknown_words: Vec<UnknownWord> = self
            .unknown
            .iter()
            .map(|(id, executions)| UnknownWord {
                pc: program.pc(*id),
                word: program.inst(*id).word,
                executions: *executions,
            })
            .collect();
        unknown_words.sort_by_key(|word| (std::cmp::Reverse(word.executions), word.pc));
        CoreOutcome {
            stream: self.stream,
            is_counted: self.ever_counted(),
            counts: Packed::from(&self.measured.counts),
            levels: self.levels.packed(),
            stalls: Packed::from(&self.measured.lost),
            prefetches: self.measured.prefetches,
            memory: self.measured.memory,
            waits: Waits { end: self.cycle(), ..self.waits },
            unknown_words: unknown_words.into_boxed_slice(),
        }
    }

    /// Instructions asked for as warm-up.
    pub(crate) fn warmup(&self) -> u64 {
        self.watch.warmup()
    }
}
