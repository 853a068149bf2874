//! Parts of a trace. Each is a run of its own, so that one long trace spreads over machines.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;

use sim_lab::{Region, Regions};
use sim_machine::Window;

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
    /// Some windows of the trace's file of windows, one after the other.
    Windows(Range<usize>),
}

impl Part {
    /// Returns the number of windows whose counts the run keeps apart.
    pub(crate) fn windows(&self) -> usize {
        match self {
            Part::Windows(windows) => windows.len(),
            _ => 1,
        }
    }
}

/// Cuts windows into at most `parts` groups of about equal number.
pub(crate) fn groups(windows: usize, parts: usize) -> Vec<Part> {
    let parts = parts.clamp(1, windows.max(1));
    let begin = |group: usize| windows * group / parts;
    (0..parts).map(|group| Part::Windows(begin(group)..begin(group + 1))).collect()
}

/// All that determines which instructions a chunk counts, and what warms the machine before them.
impl Display for Part {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Part::Whole => write!(f, "whole"),
            Part::Chunk(Window { begin, length, warmup, functional_warmup }) => {
                write!(f, "chunk {begin} {length} {warmup} {functional_warmup}")
            }
            Part::A53Chunk { part, .. } => {
                let span = part.span.clone().unwrap_or_default();
                write!(f, "chunk {} {} {}", span.start, span.end, part.warmup)
            }
            Part::Windows(windows) => write!(f, "windows {} {}", windows.start, windows.end),
        }
    }
}

/// Places of windows, for the key of a run.
pub(crate) fn places(regions: &Regions, windows: &Range<usize>) -> String {
    let Regions { warmup, functional_warmup, .. } = regions;
    let place = |Region { begin, length, .. }: &Region| format!(" {begin}+{length}");
    let places: String = regions.windows[windows.clone()].iter().map(place).collect();
    format!("windows {warmup} {functional_warmup}{places}")
}
