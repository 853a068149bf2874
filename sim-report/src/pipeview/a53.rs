//! Collector of the instructions of a window on a Cortex-A53, with the stages of this core.

use std::collections::BTreeMap;
use std::ops::Range;

use sim_a53::seen::Seen as Step;
use sim_a53::slots::LostTo;
use sim_a53::{A53Condition, A53Counts, A53Event, A53Sink, Issued};
use sim_core::op_stage::Cutter;
use sim_core::{OpTimeline, Operation, Span, Stage};
use sim_isa::{Program, Reg};
use sim_machine::observe::Need;
use sim_trace::TraceFile;

use super::{InOrder, PipeView, TracedOp};

/// Cycles from issue to write-back of an instruction that nothing delays.
const EXECUTION: u64 = 2;

/// Record of an instruction in the window.
#[derive(Clone, Debug, Default)]
struct Seen {
    inst: u32,
    issued: Issued,
    /// Slots that it lost, by cause.
    lost: BTreeMap<u8, (&'static str, u64)>,
    /// Latest issue before its own.
    before: u64,
    /// Misses and other events with a note, each once.
    events: Vec<A53Event>,
    /// Instruction of the window that wrote the operand it waited for.
    awaited: Option<usize>,
    /// It has issued: what is fetched from now on is a wrong path.
    has_issued: bool,
    /// It does not retire.
    is_abandoned: bool,
}

/// Observer of one core that collects the instructions of a window.
#[derive(Debug)]
pub struct A53Watch {
    counts: A53Counts,
    window: Range<u64>,
    /// Number of the instruction in progress, plus one.
    begun: u64,
    seen: Vec<Seen>,
    /// Cycle of the latest issue.
    last: u64,
    /// A wrong path executes, which the view does not show.
    is_wrong: bool,
    /// Writer of each register, if it is in the window.
    writers: Vec<Option<usize>>,
    /// Registers that each static instruction writes; empty on a core that is not watched.
    writes: Vec<Vec<u8>>,
}

impl A53Watch {
    /// Creates an observer of the instructions `window` of a core, counted from 0. `None` observes
    /// nothing.
    pub fn new(trace: &TraceFile, window: Option<Range<u64>>) -> A53Watch {
        let writes = if window.is_some() { written_registers(trace) } else { Vec::new() };
        A53Watch {
            counts: A53Counts::default(),
            window: window.unwrap_or(0..0),
            begun: 0,
            seen: Vec::new(),
            last: 0,
            is_wrong: false,
            writers: vec![None; Reg::COUNT],
            writes,
        }
    }

    /// Returns the instruction in progress, if it is in the window.
    #[inline]
    fn current(&mut self) -> Option<&mut Seen> {
        let number = self.begun.checked_sub(1)?;
        if self.window.contains(&number) { self.seen.last_mut() } else { None }
    }

    /// Returns the view of the window. `name` is the name of the trace, `thread` the stream.
    pub fn finish(self, trace: &TraceFile, name: String, thread: u32) -> PipeView {
        let A53Watch { window, seen, .. } = self;
        let mut lost: BTreeMap<&str, u64> = BTreeMap::new();
        for (cause, slots) in seen.iter().flat_map(|seen| seen.lost.values()) {
            *lost.entry(cause).or_default() += slots;
        }
        let mut lost: Vec<(String, u64)> =
            lost.into_iter().map(|(cause, slots)| (cause.to_owned(), slots)).collect();
        lost.sort_by_key(|(_, slots)| std::cmp::Reverse(*slots));
        let op = |(place, own): (usize, &Seen)| traced(own, place, window.start, trace);
        let ops = seen.iter().enumerate().map(op).collect();
        let in_order = Some(lost);
        PipeView { trace: name, thread, window, ops, in_order, ..PipeView::default() }
    }
}

impl AsRef<A53Counts> for A53Watch {
    fn as_ref(&self) -> &A53Counts {
        &self.counts
    }
}

impl A53Sink for A53Watch {
    const OBSERVES_ISSUE: bool = true;

    #[inline]
    fn raise(&mut self, event: A53Event, cycle: u64, times: u64) {
        self.counts.raise(event, cycle, times);
        let is_fetch = matches!(event, A53Event::L1I_CACHE_REFILL | A53Event::L1I_TLB_REFILL);
        if note_of(event).is_some()
            && !self.is_wrong
            && let Some(seen) = self.current()
            && !seen.events.contains(&event)
            && !(is_fetch && seen.has_issued)
        {
            seen.events.push(event);
        }
    }

    fn signal(&mut self, condition: A53Condition, cycle: u64, times: u64) {
        self.counts.signal(condition, cycle, times);
    }

    #[inline]
    fn begin(&mut self, inst: u32, _: u64) {
        if self.window.contains(&self.begun) {
            self.seen.push(Seen { inst, before: self.last, ..Seen::default() });
        }
        self.begun += 1;
    }

    fn see(&mut self, step: Step) {
        match step {
            Step::WrongPath(begins) => self.is_wrong = begins,
            Step::Abandoned => {
                if let Some(seen) = self.current() {
                    seen.is_abandoned = true;
                }
            }
            _ => {}
        }
    }

    fn lose(&mut self, cause: LostTo, _: u64, slots: u64) {
        // Slots at the end of the program belong to no instruction.
        if let Some(seen) = self.current().filter(|_| cause != LostTo::End) {
            seen.lost.entry(cause as u8).or_insert((cause.title(), 0)).1 += slots;
        }
    }

    fn issued(&mut self, issued: &Issued) {
        self.last = issued.issue;
        let place = self.seen.len().wrapping_sub(1);
        let awaited = issued.awaited.and_then(|reg| *self.writers.get(usize::from(reg))?);
        let Some(seen) = self.current() else { return };
        seen.issued = *issued;
        seen.has_issued = true;
        // A result that was ready before the instruction could issue otherwise is no wait.
        let earliest = issued.arrived.max(seen.before);
        seen.awaited = awaited.filter(|_| issued.operands > earliest);
        let inst = seen.inst as usize;
        if issued.is_second && place > 0 {
            // The second holds its group, so that the first leaves with it.
            let first = &mut self.seen[place - 1].issued;
            first.leaves = first.leaves.max(issued.leaves);
        }
        for reg in &self.writes[inst] {
            if let Some(writer) = self.writers.get_mut(usize::from(*reg)) {
                *writer = Some(place);
            }
        }
    }
}

/// Returns the registers that each static instruction of a trace writes.
fn written_registers(trace: &TraceFile) -> Vec<Vec<u8>> {
    let mut program = Program::new();
    let insts = trace.statics().insts().iter();
    let registers = insts.map(|inst| {
        let id = program.intern(inst.pc, inst.word);
        program.inst(id).dsts().iter().map(|reg| reg.0).collect()
    });
    registers.collect()
}

/// Returns the operation of the view. `first` is the number of the first instruction.
fn traced(seen: &Seen, place: usize, first: u64, trace: &TraceFile) -> TracedOp {
    let Issued { fetch, arrived, issue, write_back, leaves, operands, .. } = seen.issued;
    let code = trace.statics().insts().get(seen.inst as usize);
    let timeline = OpTimeline {
        inst: seen.inst,
        pc: code.map_or(0, |code| code.pc),
        fetch,
        front_end: arrived,
        rename: arrived,
        issue,
        complete: write_back,
        retire: leaves.saturating_sub(1),
        retired: !seen.is_abandoned,
        mispredicted: seen.events.contains(&A53Event::BR_MIS_PRED),
        mops: 1,
        ..OpTimeline::default()
    };
    let number = first + place as u64;
    let needs = seen.awaited.map(|place| Need { place, ready: operands }).into_iter().collect();
    TracedOp {
        operation: Operation { timeline, number, ..Operation::default() },
        word: code.map(|code| code.word),
        lost: Vec::new(),
        needs,
        in_order: Some(InOrder { spans: spans(&seen.issued), notes: notes(seen, first) }),
    }
}

/// Returns the stages of an instruction, without gaps from its fetch to its retirement.
fn spans(own: &Issued) -> Vec<Span> {
    let mut cutter = Cutter::new(own.fetch, own.leaves);
    cutter.cut(Stage::Fetch, own.fetched + 1);
    cutter.cut(Stage::Decode, own.arrived);
    cutter.cut(Stage::InOrderQueue, own.issue);
    cutter.cut(if own.is_second { Stage::Issue1 } else { Stage::Issue0 }, own.issue + 1);
    cutter.cut(Stage::Stages, own.issue + EXECUTION);
    cutter.cut(Stage::WaitsForOlder, own.write_back);
    cutter.cut(Stage::Held, own.leaves.saturating_sub(1));
    cutter.cut(Stage::Retire, own.leaves);
    cutter.spans()
}

fn notes(seen: &Seen, first: u64) -> Vec<String> {
    let own = &seen.issued;
    let mut notes = Vec::new();
    if let Some(place) = seen.awaited {
        let cycles = own.operands - own.arrived.max(seen.before);
        let noun = if cycles == 1 { "cycle" } else { "cycles" };
        notes.push(format!("waited {cycles} {noun} for {}", first + place as u64));
    }
    for (cause, slots) in seen.lost.values() {
        let noun = if *slots == 1 { "slot" } else { "slots" };
        notes.push(format!("{slots} {noun} lost: {cause}"));
    }
    if own.delay > 0 {
        notes.push(format!("data {} cycles later than a hit", own.delay));
    }
    let held = own.leaves.saturating_sub(own.write_back + 1);
    if held > 0 {
        notes.push(format!("held in write-back for {held} cycles"));
    }
    let is_late = own.delay > 0 || held > 0;
    let named = seen.events.iter().filter(|event| is_own(**event, is_late, &seen.events));
    notes.extend(named.filter_map(|event| note_of(*event)).map(str::to_owned));
    notes
}

/// Returns whether an event that was raised while an instruction was in progress is its own: stores
/// drain, and tables are walked, while others issue. `is_late` is true of an access that waited.
fn is_own(event: A53Event, is_late: bool, events: &[A53Event]) -> bool {
    match event {
        A53Event::L1D_CACHE_REFILL | A53Event::L1D_TLB_REFILL | A53Event::STALL_SB_FULL => is_late,
        A53Event::L2D_CACHE_REFILL => is_late || events.contains(&A53Event::L1I_CACHE_REFILL),
        _ => true,
    }
}

/// Returns the note of an event, if it has one.
#[inline]
fn note_of(event: A53Event) -> Option<&'static str> {
    Some(match event {
        A53Event::BR_MIS_PRED => "mispredicted",
        A53Event::EXC_TAKEN => "takes an exception",
        A53Event::L1I_CACHE_REFILL => "L1I miss",
        A53Event::L1I_TLB_REFILL => "instruction micro-TLB miss",
        A53Event::L1D_CACHE_REFILL => "L1D miss",
        A53Event::L1D_TLB_REFILL => "data micro-TLB miss",
        A53Event::L2D_CACHE_REFILL => "L2 miss",
        A53Event::STALL_SB_FULL => "store buffer full",
        A53Event::UNALIGNED_LDST_RETIRED => "unaligned",
        _ => return None,
    })
}
