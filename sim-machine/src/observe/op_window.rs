//! Collector of the operations of a window of a run.

use std::ops::Range;

use sim_core::{EventSink, Lost, Notice, Operation, PmuEvent};
use sim_isa::Program;

use super::dataflow::{Dataflow, Need};

/// Operation of the window.
#[derive(Clone, Debug, Default)]
pub struct SeenOp {
    /// Report of the core.
    pub operation: Operation,
    /// Instruction word; `None` if the trace has no code.
    pub word: Option<u32>,
    /// Rename slots that stayed empty because of it.
    pub lost: Vec<Lost>,
    /// Operations of the window whose results it reads, each once: places in [`SeenOps::ops`].
    pub needs: Vec<Need>,
}

/// Operations of a window in the order of rename, on correct and wrong paths.
#[derive(Clone, Debug, Default)]
pub struct SeenOps {
    /// Operations.
    pub ops: Vec<SeenOp>,
    /// Rename slots that stayed empty before a squash and belong to no operation.
    pub lost_to_none: u64,
}

/// Observer of one core that collects the operations of a window.
pub struct OpWindow<'p> {
    core: usize,
    current: usize,
    window: Range<u64>,
    program: &'p mut Program,
    /// Instructions that the trace numbers; later numbers are instructions of wrong paths.
    known: usize,
    seen: SeenOps,
    lost: Vec<Lost>,
    /// Whether the next operation is in the window.
    is_inside: bool,
    dataflow: Dataflow,
}

impl<'p> OpWindow<'p> {
    /// Creates an observer of the instructions `window` of a core, counted from 0. `program` is the
    /// code of the trace.
    pub fn new(core: usize, window: Range<u64>, program: &'p mut Program) -> OpWindow<'p> {
        OpWindow {
            core,
            current: 0,
            known: program.len(),
            is_inside: window.start == 0,
            window,
            program,
            seen: SeenOps::default(),
            lost: Vec::new(),
            dataflow: Dataflow::default(),
        }
    }

    /// Returns the collected operations.
    pub fn finish(self) -> SeenOps {
        self.seen
    }

    /// Returns the number of the instruction, found by its number in the trace or by its address
    /// on a wrong path.
    fn inst(&mut self, operation: &Operation) -> Option<u32> {
        let id = operation.timeline.inst;
        match (id as usize) < self.known {
            true => Some(id),
            false => self.program.fetch(operation.timeline.pc),
        }
    }

    fn keep(&mut self, operation: &Operation) {
        let inst = self.inst(operation).map(|id| self.program.inst(id));
        let needs = self.dataflow.take(operation, inst);
        let (word, lost) = (inst.map(|inst| inst.word), std::mem::take(&mut self.lost));
        self.seen.ops.push(SeenOp { operation: *operation, word, lost, needs });
    }

    fn add_lost(&mut self, lost: Lost) {
        let same = |known: &&mut Lost| (known.cause, known.root) == (lost.cause, lost.root);
        match self.lost.iter_mut().find(same) {
            Some(known) => known.slots += lost.slots,
            None => self.lost.push(lost),
        }
    }

    fn squash(&mut self) {
        let slots: u64 = self.lost.drain(..).map(|lost| lost.slots).sum();
        if !self.seen.ops.is_empty() {
            self.seen.lost_to_none += slots;
        }
    }
}

impl EventSink for OpWindow<'_> {
    const OBSERVES_OPS: bool = true;

    #[inline]
    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        if let Notice::Core(core) = notice {
            self.current = core;
        }
        if self.current != self.core {
            return;
        }
        match notice {
            Notice::Operation(operation) => {
                if self.window.contains(&operation.number) {
                    self.keep(operation);
                } else {
                    self.lost.clear();
                }
                // Slots lost by the first operation of the window are reported before it.
                self.is_inside =
                    (self.window.start..=self.window.end).contains(&(operation.number + 1));
            }
            Notice::Lost(lost) if self.is_inside => self.add_lost(lost),
            Notice::Squashed => self.squash(),
            _ => {}
        }
    }
}
