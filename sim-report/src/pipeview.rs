//! Pipeline view of the operations of a window: stages, stall causes, data sources and wrong-path
//! work.
//!
//! * [`OpWindow`](sim_machine::observe::OpWindow) collects the operations of a run, and
//!   [`sim_core::op_stage`] divides a timeline into stages; [`notes`] describes
//!   everything else;
//! * [`text`] writes for terminals, [`svg`] draws a figure;
//! * [`a53`] collects the instructions of a Cortex-A53, with the stages of a core in order;
//! * [`kanata`] writes for the viewer Konata, [`o3`] in the format of gem5's out-of-order core,
//!   [`perfetto`] for Perfetto.

pub mod a53;
pub mod axis;
pub mod kanata;
pub mod notes;
pub mod o3;
pub mod perfetto;
mod protobuf;
pub mod svg;
#[cfg(test)]
mod tests;
pub mod text;

use std::collections::BTreeMap;
use std::ops::Range;

use sim_asm::disassembly;
use sim_core::{Cycle, Lost, Operation, Span, Stage, op_stage};
use sim_machine::observe::{Need, SeenOp, SeenOps};

use crate::stalls;
use crate::symbols::Symbols;

/// Operation of the window.
#[derive(Clone, Debug, Default)]
pub struct TracedOp {
    /// Report of the core.
    pub operation: Operation,
    /// Instruction word; `None` if the trace has no code.
    pub word: Option<u32>,
    /// Rename slots that stayed empty because of it.
    pub lost: Vec<Lost>,
    /// Operations of the window whose results it reads, each once: places in [`PipeView::ops`].
    pub needs: Vec<Need>,
    /// Stages and notes of an instruction of a core in order; `None` on the Neoverse N2.
    pub in_order: Option<InOrder>,
}

/// An instruction of a core in order.
#[derive(Clone, Debug, Default)]
pub struct InOrder {
    /// Stages, without gaps.
    pub spans: Vec<Span>,
    /// Notes, the most important first.
    pub notes: Vec<String>,
}

/// Operations of a window in the order of rename, on correct and wrong paths.
#[derive(Clone, Debug, Default)]
pub struct PipeView {
    /// Name of the trace.
    pub trace: String,
    /// Stream of the thread.
    pub thread: u32,
    /// Instruction numbers of the thread, from 0.
    pub window: Range<u64>,
    /// Operations.
    pub ops: Vec<TracedOp>,
    /// Rename slots that stayed empty before a squash and belong to no operation.
    pub lost_to_none: u64,
    /// Data missing from the trace that makes cycles doubtful.
    pub doubt: Option<&'static str>,
    /// Slots that a core in order lost in the window, by cause, the largest first; `None` on the
    /// Neoverse N2.
    pub in_order: Option<Vec<(String, u64)>>,
}

impl TracedOp {
    /// Returns the cycle in which it left the core: after its retirement, or the cycle of its
    /// squash. The result is always after its fetch.
    pub fn end(&self) -> Cycle {
        self.operation.timeline.end()
    }

    /// Returns its last cycle: a store may be written long after it retires.
    pub fn last(&self) -> Cycle {
        self.operation.timeline.last()
    }

    /// Returns its stages, in order and without gaps from its fetch to [`TracedOp::end`].
    /// [`Stage::Drain`] follows for a store.
    pub fn spans(&self) -> Vec<Span> {
        match &self.in_order {
            Some(own) => own.spans.clone(),
            None => op_stage::spans(&self.operation),
        }
    }

    /// Returns whether it was squashed or ended in an exception.
    pub fn is_flushed(&self) -> bool {
        !self.operation.timeline.retired
    }

    /// Returns the instruction as text.
    pub fn instruction(&self) -> String {
        match self.word {
            Some(word) => disassembly::text(self.operation.timeline.pc, word),
            None => String::from("(no code in the trace)"),
        }
    }

    /// Returns its number in the stream, or `None` on a wrong path.
    pub fn number(&self) -> Option<u64> {
        (!self.operation.timeline.wrong_path).then_some(self.operation.number)
    }
}

impl PipeView {
    /// Creates the view of the operations of a Neoverse N2 in `window`.
    pub fn new(trace: String, thread: u32, window: Range<u64>, seen: SeenOps) -> PipeView {
        let SeenOps { ops, lost_to_none } = seen;
        let traced = |op: SeenOp| {
            let SeenOp { operation, word, lost, needs } = op;
            TracedOp { operation, word, lost, needs, in_order: None }
        };
        let ops = ops.into_iter().map(traced).collect();
        PipeView { trace, thread, window, ops, lost_to_none, ..PipeView::default() }
    }

    /// Returns the result that an operation waited for: the last of its inputs to be ready, if that
    /// was after its rename.
    pub fn waited_for(&self, op: &TracedOp) -> Option<Need> {
        let last = op.needs.iter().copied().max_by_key(|need| need.ready)?;
        if op.in_order.is_some() {
            // Only the result that decided the issue is listed.
            return Some(last);
        }
        (last.ready > op.operation.timeline.rename + 1).then_some(last)
    }

    /// Returns the range from the first to the last cycle.
    pub fn cycles(&self) -> Range<Cycle> {
        let first = self.ops.iter().map(|op| op.operation.timeline.fetch).min().unwrap_or(0);
        let last = self.ops.iter().map(TracedOp::last).max().unwrap_or(0);
        first..last.max(first)
    }

    /// Returns the number of operations on wrong paths.
    pub fn flushed(&self) -> usize {
        self.ops.iter().filter(|op| op.operation.timeline.wrong_path).count()
    }

    /// Returns the slots lost by the operations of the window, by reason, the largest first.
    pub fn lost(&self) -> Vec<(String, u64)> {
        if let Some(lost) = &self.in_order {
            return lost.clone();
        }
        let mut sums = BTreeMap::new();
        for lost in self.ops.iter().flat_map(|op| &op.lost) {
            *sums.entry((lost.cause, lost.root)).or_insert(0) += lost.slots;
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by_key(|&(reason, slots)| (std::cmp::Reverse(slots), reason));
        let named = |((cause, root), slots)| (stalls::reason(cause, root), slots);
        sums.into_iter().map(named).collect()
    }

    /// Returns the stages of the core.
    pub fn stages(&self) -> &'static [Stage] {
        if self.in_order.is_some() { &Stage::IN_ORDER } else { &Stage::ALL }
    }

    /// Returns the title, in one line.
    pub fn title(&self) -> String {
        let Range { start, end } = self.window;
        let cycles = self.cycles();
        let last = end.saturating_sub(1);
        let doubt = self.doubt.map(|lack| format!(" (doubtful: {lack})")).unwrap_or_default();
        format!(
            "{}, thread {}, instructions {start} to {last}: cycles {} to {}{doubt}",
            self.trace, self.thread, cycles.start, cycles.end
        )
    }

    /// Returns the location of an operation in the program.
    pub fn place(&self, op: &TracedOp, symbols: &Symbols) -> String {
        symbols.name(op.operation.timeline.pc)
    }
}
