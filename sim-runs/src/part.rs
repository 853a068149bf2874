//! Parts of a trace. Each is a run of its own, so that one long trace spreads over machines.

use std::ops::Range;
use std::sync::Arc;

use sim_machine::Window;

use crate::windows::Windows;

/// Part of a trace that one run counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of the trace, or as much of it as the grid says.
    Whole,
    /// A chunk of the only thread.
    Chunk(Window),
    /// A chunk of the only thread on a Cortex-A53.
    A53Chunk {
        /// Stream of the thread.
        stream: u32,
        /// Its counted part.
        part: sim_a53::Part,
    },
    /// Some of the windows that stand for the trace, one after the other.
    Windows(Arc<Windows>, Range<usize>),
}

impl Part {
    /// Returns the number of windows whose counts the run keeps apart.
    pub(crate) fn windows(&self) -> usize {
        match self {
            Part::Windows(_, windows) => windows.len(),
            _ => 1,
        }
    }

    /// Returns, for the key of a run, all that determines which instructions count and what warms
    /// the machine before them. `warm` is the hash of the machine that states must have.
    pub(crate) fn key_text(&self, warm: u64) -> String {
        match self {
            Part::Whole => String::from("whole"),
            // Nothing comes before the first chunk.
            Part::Chunk(Window { begin: 0, length, .. }) => format!("chunk 0 {length}"),
            Part::Chunk(Window { begin, length, warmup, functional_warmup }) => {
                format!("chunk {begin} {length} {warmup} {functional_warmup}")
            }
            Part::A53Chunk { part, .. } => {
                let span = part.span.clone().unwrap_or_default();
                format!("chunk {} {} {}", span.start, span.end, part.warmup)
            }
            Part::Windows(windows, range) => windows.key_text(range, warm),
        }
    }
}

/// Cuts windows into at most `parts` groups of about equal number.
pub(crate) fn groups(windows: &Arc<Windows>, parts: usize) -> Vec<Part> {
    let count = windows.regions.windows.len();
    let parts = parts.clamp(1, count.max(1));
    let begin = |group: usize| count * group / parts;
    let group = |group| Part::Windows(Arc::clone(windows), begin(group)..begin(group + 1));
    (0..parts).map(group).collect()
}
