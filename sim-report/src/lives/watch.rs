//! Collects the operations of a window while the trace runs.

use std::ops::Range;

use sim_core::{
    DataSource, EventSink, Operation, OperationKind, PmuEvent, StallCause, operation::AccessShape,
};
use sim_isa::{Program, Reg, Rename};

use super::{Lives, TracedOp};

/// Operations that are looked at for the store that a load read from: more than a reorder buffer holds.
const STORES_BACK: usize = 1024;

/// The operation that wrote each register last, by its place in the window.
type Writers = [Option<usize>; Reg::COUNT];

/// Follows one core of a run and keeps what falls into the window.
pub struct Watch {
    core: usize,
    current: usize,
    window: Range<u64>,
    program: Program,
    /// Instructions that the trace numbers; those behind are found on wrong paths.
    known: usize,
    ops: Vec<TracedOp>,
    lost: Vec<(StallCause, u64)>,
    lost_to_none: u64,
    /// The window was reached, and is not behind.
    is_inside: bool,
    writers: Writers,
    /// The same before the present wrong path.
    before: Option<Box<Writers>>,
}

impl Watch {
    /// Watches instructions `window` of a core, counted from 0. `program` is the code of the trace.
    pub fn new(core: usize, window: Range<u64>, program: Program) -> Watch {
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

    /// What was seen.
    pub fn finish(self, trace: String, thread: u32) -> Lives {
        let Watch { window, ops, lost_to_none, .. } = self;
        Lives { trace, thread, window, ops, lost_to_none, doubt: None }
    }

    /// The instruction, by the number that the trace gives it or by its address on a wrong path.
    fn word(&mut self, operation: &Operation) -> Option<(u32, u32)> {
        let id = operation.life.inst;
        let id = match (id as usize) < self.known {
            true => id,
            false => self.program.fetch(operation.life.pc)?,
        };
        Some((id, self.program.inst(id).word))
    }

    fn keep(&mut self, operation: &Operation) {
        if operation.life.wrong_path && self.before.is_none() {
            self.before = Some(Box::new(self.writers));
        }
        let place = self.ops.len();
        let mut needs = Vec::new();
        let found = self.word(operation);
        if let Some((id, _)) = found {
            let inst = self.program.inst(id);
            needs.extend(inst.srcs().iter().filter_map(|reg| self.writers[usize::from(reg.0)]));
            needs.extend(forwarded_from(&self.ops, operation));
            needs.sort_unstable();
            needs.dedup();
            // A move that rename does itself gives a register another name.
            let is_alias =
                inst.rename == Rename::Move && operation.life.complete <= operation.life.rename + 1;
            let source = inst.srcs().first().filter(|_| is_alias);
            let writer = source.map_or(Some(place), |reg| self.writers[usize::from(reg.0)]);
            for reg in inst.dsts() {
                self.writers[usize::from(reg.0)] = writer;
            }
        }
        let (word, lost) = (found.map(|(_, word)| word), std::mem::take(&mut self.lost));
        self.ops.push(TracedOp { operation: *operation, word, lost, needs });
    }
}

/// The store that a load read its data from: the youngest older one with a byte of it.
fn forwarded_from(ops: &[TracedOp], operation: &Operation) -> Option<usize> {
    let OperationKind::Access(AccessShape { bytes, .. }) = operation.kind else { return None };
    let life = &operation.life;
    if life.source != DataSource::StoreQueue || life.written != 0 {
        return None;
    }
    let writes_it = |op: &TracedOp| {
        let OperationKind::Access(other) = op.operation.kind else { return false };
        let addr = op.operation.life.addr;
        let is_store = op.operation.life.written != 0 || op.operation.life.wrong_path;
        is_store
            && addr < life.addr.saturating_add(bytes.into())
            && life.addr < addr.saturating_add(other.bytes.into())
    };
    let youngest = ops.iter().rev().take(STORES_BACK).position(writes_it)?;
    Some(ops.len() - 1 - youngest)
}

impl EventSink for Watch {
    const FOLLOWS_RUN: bool = true;

    #[inline]
    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    fn core(&mut self, core: usize) {
        self.current = core;
    }

    fn lost(&mut self, cause: StallCause, slots: u64) {
        if self.current != self.core || !self.is_inside {
            return;
        }
        match self.lost.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, sum)) => *sum += slots,
            None => self.lost.push((cause, slots)),
        }
    }

    fn operation(&mut self, operation: &Operation) {
        if self.current != self.core {
            return;
        }
        if self.window.contains(&operation.number) {
            self.keep(operation);
        } else {
            self.lost.clear();
        }
        // What the first one of the window loses is told before it.
        self.is_inside = (self.window.start..=self.window.end).contains(&(operation.number + 1));
    }

    fn squashed(&mut self) {
        if self.current != self.core {
            return;
        }
        let slots: u64 = self.lost.drain(..).map(|(_, slots)| slots).sum();
        if !self.ops.is_empty() {
            self.lost_to_none += slots;
        }
        if let Some(before) = self.before.take() {
            self.writers = *before;
        }
    }
}
