//! Collector of the operations of a window during a run.

use std::cmp::Reverse;
use std::ops::Range;

use sim_core::{
    DataSource, EventSink, Lost, Notice, Operation, OperationKind, PmuEvent, operation::AccessShape,
};
use sim_isa::{Program, Reg, Rename};

use super::{Need, PipeView, TracedOp};

/// Operations searched for the store that a load read from: more than a reorder buffer holds.
const STORES_BACK: usize = 1024;

/// Writer of each register, if it is an operation of the window.
type Writers = [Option<Need>; Reg::COUNT];

/// Observer of one core that collects the operations of the window.
pub struct Watch<'p> {
    core: usize,
    current: usize,
    window: Range<u64>,
    program: &'p mut Program,
    /// Instructions that the trace numbers; later numbers are instructions of wrong paths.
    known: usize,
    ops: Vec<TracedOp>,
    lost: Vec<Lost>,
    lost_to_none: u64,
    /// Whether the next operation is in the window.
    is_inside: bool,
    writers: Writers,
    /// Writers before the present wrong path.
    before: Option<Box<Writers>>,
}

impl<'p> Watch<'p> {
    /// Creates an observer of the instructions `window` of a core, counted from 0. `program` is the
    /// code of the trace.
    pub fn new(core: usize, window: Range<u64>, program: &'p mut Program) -> Watch<'p> {
        Watch {
            core,
            current: 0,
            known: program.len(),
            is_inside: window.start == 0,
            window,
            program,
            ops: Vec::new(),
            lost: Vec::new(),
            lost_to_none: 0,
            writers: [None; Reg::COUNT],
            before: None,
        }
    }

    /// Returns the collected operations.
    pub fn finish(self, trace: String, thread: u32) -> PipeView {
        let Watch { window, ops, lost_to_none, .. } = self;
        PipeView { trace, thread, window, ops, lost_to_none, doubt: None, in_order: None }
    }

    /// Returns number and word of the instruction, found by its number in the trace or by its
    /// address on a wrong path.
    fn word(&mut self, operation: &Operation) -> Option<(u32, u32)> {
        let id = operation.timeline.inst;
        let id = match (id as usize) < self.known {
            true => id,
            false => self.program.fetch(operation.timeline.pc)?,
        };
        Some((id, self.program.inst(id).word))
    }

    fn keep(&mut self, operation: &Operation) {
        if operation.timeline.wrong_path && self.before.is_none() {
            self.before = Some(Box::new(self.writers));
        }
        let place = self.ops.len();
        let mut needs = Vec::new();
        let found = self.word(operation);
        if let Some((id, _)) = found {
            let inst = self.program.inst(id);
            needs.extend(inst.srcs().iter().filter_map(|reg| self.writers[usize::from(reg.0)]));
            needs.extend(forwarded_from(&self.ops, operation));
            needs.sort_unstable_by_key(|need: &Need| (need.place, Reverse(need.ready)));
            needs.dedup_by_key(|need| need.place);
            // A move eliminated at rename gives a register another name.
            let is_alias = inst.rename == Rename::Move
                && operation.timeline.complete <= operation.timeline.rename + 1;
            let source = inst.srcs().first().filter(|_| is_alias);
            let own = Need { place, ready: operation.timeline.complete };
            let writer = source.map_or(Some(own), |reg| self.writers[usize::from(reg.0)]);
            for reg in inst.dsts() {
                self.writers[usize::from(reg.0)] = writer;
            }
            if let (Some(base), true) = (inst.dsts().last(), operation.base_ready > 0) {
                let ready = operation.base_ready;
                self.writers[usize::from(base.0)] = Some(Need { place, ready });
            }
        }
        let (word, lost) = (found.map(|(_, word)| word), std::mem::take(&mut self.lost));
        self.ops.push(TracedOp { operation: *operation, word, lost, needs, in_order: None });
    }
}

/// Returns the store that a load read its data from: the youngest older store that overlaps it.
fn forwarded_from(ops: &[TracedOp], operation: &Operation) -> Option<Need> {
    let OperationKind::Access(AccessShape { bytes, .. }) = operation.kind else { return None };
    let timeline = &operation.timeline;
    if timeline.source != DataSource::StoreQueue || timeline.written != 0 {
        return None;
    }
    let writes_it = |op: &TracedOp| {
        let OperationKind::Access(other) = op.operation.kind else { return false };
        let addr = op.operation.timeline.addr;
        let is_store = op.operation.timeline.written != 0 || op.operation.timeline.wrong_path;
        is_store
            && addr < timeline.addr.saturating_add(bytes.into())
            && timeline.addr < addr.saturating_add(other.bytes.into())
    };
    let youngest = ops.iter().rev().take(STORES_BACK).position(writes_it)?;
    let place = ops.len() - 1 - youngest;
    Some(Need { place, ready: ops[place].operation.timeline.complete })
}

impl EventSink for Watch<'_> {
    const OBSERVES_OPS: bool = true;

    #[inline]
    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => {
                self.current = core;
            }
            Notice::Operation(operation) => {
                if self.current != self.core {
                    return;
                }
                if self.window.contains(&operation.number) {
                    self.keep(operation);
                } else {
                    self.lost.clear();
                }
                // Slots lost by the first operation of the window are reported before it.
                self.is_inside =
                    (self.window.start..=self.window.end).contains(&(operation.number + 1));
            }
            Notice::Lost(lost) => {
                if self.current != self.core || !self.is_inside {
                    return;
                }
                let same = |known: &&mut Lost| (known.cause, known.root) == (lost.cause, lost.root);
                match self.lost.iter_mut().find(same) {
                    Some(known) => known.slots += lost.slots,
                    None => self.lost.push(lost),
                }
            }
            Notice::Squashed => {
                if self.current != self.core {
                    return;
                }
                let slots: u64 = self.lost.drain(..).map(|lost| lost.slots).sum();
                if !self.ops.is_empty() {
                    self.lost_to_none += slots;
                }
                if let Some(before) = self.before.take() {
                    self.writers = *before;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeview::notes::notes;
    use sim_core::LoadWait;
    use sim_machine::ConfigSource;
    use sim_scenario::{configure, parse_steps, walk_case};

    /// `ldr x1, [x0], #8`, `cmp x0, x2`, `add x3, x1, x2`.
    const WORDS: [u32; 3] = [0xF840_8401, 0xEB02_001F, 0x8B02_0023];

    /// Returns a load that misses and updates its base, an operation that reads the base, and one
    /// that reads the data.
    fn post_indexed() -> PipeView {
        let [load, compare, add] = WORDS;
        let steps = format!("word {load:#x} 0x8000 & word {compare:#x} & word {add:#x}");
        let case = parse_steps(("given", "K1"), ("do", &steps)).expect("steps");
        let config = configure(&case, &ConfigSource::default()).expect("a machine");
        let walked = walk_case(&case, &config).expect("it runs");
        let operations: Vec<Operation> =
            walked.iter().flat_map(|step| step.operations.iter().copied()).collect();
        let mut program = Program::new();
        for (operation, word) in operations.iter().zip(WORDS) {
            assert_eq!(program.intern(operation.timeline.pc, word), operation.timeline.inst);
        }
        let mut watch = Watch::new(0, 0..3, &mut program);
        operations.iter().for_each(|operation| watch.notify(Notice::Operation(operation)));
        watch.finish(String::from("t"), 0)
    }

    #[test]
    fn a_reader_of_an_updated_base_does_not_wait_for_the_data() {
        let view = post_indexed();
        let [load, compare, add] = &view.ops[..] else { panic!("three operations") };
        let (issue, data) = (load.operation.timeline.issue, load.operation.timeline.complete);
        assert!(data > issue + 300, "the data comes from memory");
        assert_eq!(compare.needs.len(), 1);
        assert!(compare.needs[0].ready <= issue + 1, "{:?}", compare.needs);
        assert!(compare.operation.timeline.issue <= issue + 2, "{:?}", compare.operation.timeline);
        assert_eq!(notes(&view, compare), Vec::<String>::new());
        assert_eq!(view.waited_for(add), Some(Need { place: 0, ready: data }));
        let waited = data - (add.operation.timeline.rename + 1);
        assert_eq!(notes(&view, add), [format!("waited {waited} cycles for 0")]);
    }

    /// Returns the operations of steps on warm TLBs and a machine with one refill buffer.
    fn with_one_buffer(steps: &str) -> Vec<Operation> {
        let case = parse_steps(("given", "K1"), ("do", steps)).expect("steps");
        let overrides = [String::from("memory.l1d.mshrs=1")];
        let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
        let config = configure(&case, &source).expect("a machine");
        let walked = walk_case(&case, &config).expect("it runs");
        walked.iter().flat_map(|step| step.operations.iter().copied()).collect()
    }

    #[test]
    fn a_load_reports_whether_it_waited_for_a_buffer_or_for_a_line() {
        let other_line = with_one_buffer("LD8 0x8000 & LD8 0x9000");
        assert_eq!(other_line[0].wait, LoadWait::default(), "the first finds all free");
        let first = other_line[0].timeline.complete - other_line[0].timeline.issue;
        let LoadWait { buffer, line } = other_line[1].wait;
        assert!(line == 0 && u64::from(buffer) + 10 > first, "{buffer} of {first}");
        let same_line = with_one_buffer("LD8 0x8000 & LD8 0x8008");
        let LoadWait { buffer, line } = same_line[1].wait;
        assert!(buffer == 0 && u64::from(line) + 10 > first, "{line} of {first}");
        let forwarded = with_one_buffer("LD8 0x8000 & ST8 0x8000 & LD8 0x8000");
        assert_eq!(forwarded[2].timeline.source, DataSource::StoreQueue);
        assert_eq!(forwarded[2].wait, LoadWait::default(), "its data never left the core");
    }

    #[test]
    fn arrows_end_at_operations_that_waited() {
        let view = post_indexed();
        let figure = super::super::svg::draw(&view, &crate::Symbols::default());
        // The legend has one too, and each line is drawn a second time, below all bars.
        let arrow = "<path class=\"need stroke-orange\"";
        let rows = figure.lines().filter(|line| line.starts_with("<g class=\"row\">"));
        let ends = rows.filter(|line| line.contains(arrow)).count();
        assert_eq!(ends, 2, "{figure}");
        assert_eq!(figure.matches(arrow).count(), 2 * ends + 1, "{figure}");
    }
}
