//! The lives of a window's operations: stage by stage, with what held them up, where their data came
//! from, and what was executed in vain.
//!
//! * [`Watch`] collects them from a run; [`stage`] cuts a life into stages; [`notes`] says the rest;
//! * [`text`] for terminals, [`svg`] as a picture;
//! * [`kanata`] for the viewer Konata, [`o3`] as gem5's out-of-order core writes it.

pub mod axis;
pub mod kanata;
pub mod notes;
pub mod o3;
pub mod stage;
pub mod svg;
pub mod text;
mod watch;

use std::collections::BTreeMap;
use std::ops::Range;

use sim_core::{Cycle, Lost, Operation};

use crate::disassembly;
use crate::stalls;
use crate::symbols::Symbols;

pub use watch::Watch;

/// One operation of the window.
#[derive(Clone, Debug)]
pub struct TracedOp {
    /// What the core told of it.
    pub operation: Operation,
    /// The instruction word; `None` where the trace has no code.
    pub word: Option<u32>,
    /// Rename slots that stayed empty because of it.
    pub lost: Vec<Lost>,
    /// Operations of the window whose results it reads, each once.
    pub needs: Vec<Need>,
}

/// A result that an operation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Who makes it: a place in [`PipeView::ops`].
    pub place: usize,
    /// First cycle in which it can be read; of an updated base register long before a load has its data.
    pub ready: Cycle,
}

/// The operations of a window in the order of rename, right and wrong paths alike.
#[derive(Clone, Debug, Default)]
pub struct PipeView {
    /// The trace's name.
    pub trace: String,
    /// The thread's stream.
    pub thread: u32,
    /// Places of the thread's instructions, from 0.
    pub window: Range<u64>,
    /// The operations.
    pub ops: Vec<TracedOp>,
    /// Rename slots that stayed empty for what was thrown away before it got one.
    pub lost_to_none: u64,
    /// What the trace lacks so that cycles are doubtful.
    pub doubt: Option<&'static str>,
}

impl TracedOp {
    /// The cycle in which it left the core: the one behind its retirement, or that of the squash. Always
    /// behind its fetch.
    pub fn end(&self) -> Cycle {
        let life = &self.operation.life;
        let end = if life.wrong_path { life.retire } else { life.retire + 1 };
        end.max(life.fetch + 1)
    }

    /// The last cycle that concerns it: a store may be written long after it retired.
    pub fn last(&self) -> Cycle {
        self.end().max(self.operation.life.written)
    }

    /// It was thrown away, or ended in an exception.
    pub fn is_flushed(&self) -> bool {
        !self.operation.life.retired
    }

    /// The instruction as text.
    pub fn instruction(&self) -> String {
        match self.word {
            Some(word) => disassembly::text(self.operation.life.pc, word),
            None => String::from("(no code in the trace)"),
        }
    }

    /// Its number in the stream; on a wrong path it has none.
    pub fn number(&self) -> Option<u64> {
        (!self.operation.life.wrong_path).then_some(self.operation.number)
    }
}

impl PipeView {
    /// The result that an operation waited for: the last to be there of those that it reads, if that was
    /// after its rename.
    pub fn waited_for(&self, op: &TracedOp) -> Option<Need> {
        let last = op.needs.iter().copied().max_by_key(|need| need.ready)?;
        (last.ready > op.operation.life.rename + 1).then_some(last)
    }

    /// First and last cycle.
    pub fn cycles(&self) -> Range<Cycle> {
        let first = self.ops.iter().map(|op| op.operation.life.fetch).min().unwrap_or(0);
        let last = self.ops.iter().map(TracedOp::last).max().unwrap_or(0);
        first..last.max(first)
    }

    /// How many operations did not retire.
    pub fn flushed(&self) -> usize {
        self.ops.iter().filter(|op| op.operation.life.wrong_path).count()
    }

    /// Slots lost by the operations of the window, by reason, the largest first.
    pub fn lost(&self) -> Vec<(String, u64)> {
        let mut sums = BTreeMap::new();
        for lost in self.ops.iter().flat_map(|op| &op.lost) {
            *sums.entry((lost.cause, lost.root)).or_insert(0) += lost.slots;
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by_key(|&(reason, slots)| (std::cmp::Reverse(slots), reason));
        let named = |((cause, root), slots)| (stalls::reason(cause, root), slots);
        sums.into_iter().map(named).collect()
    }

    /// What it shows, in one line.
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

    /// Where an operation stands in the program.
    pub fn place(&self, op: &TracedOp, symbols: &Symbols) -> String {
        symbols.name(op.operation.life.pc)
    }
}
