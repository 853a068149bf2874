//! Call stacks of counter overflows, for viewers other than perf.
//!
//! [`Stacks`] names the addresses of an [`OverflowProfile`] once and shares the stacks of its
//! samples. [`firefox`] writes them for the Firefox Profiler, [`speedscope`] for speedscope,
//! [`folded`] for flamegraph.pl and inferno.

pub mod firefox;
pub mod folded;
pub mod speedscope;

use std::collections::HashMap;
use std::ops::Range;

use sim_core::Shown;

use crate::perf_data::overflow::{OverflowProfile, OverflowSample};
use crate::symbols::Symbols;

/// Bytes of an instruction.
const INST_BYTES: u64 = 4;
/// Linux maps its own code in the upper half of the addresses.
const KERNEL_BIT: u64 = 1 << 63;

/// Function of a stack at one address, or a function inlined there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackFrame {
    /// Name of the function, or the address if no function is known.
    pub name: String,
    /// Source file, if the program contains it.
    pub file: Option<String>,
    /// Line in this file, from 1.
    pub line: Option<u32>,
    /// Address of the instruction: for a caller, that of its call.
    pub address: u64,
    /// Functions that this one is inlined into at this address; 0 for a function itself.
    pub inline_depth: usize,
}

impl StackFrame {
    /// Returns whether the address is one of the kernel.
    pub fn is_kernel(&self) -> bool {
        self.address & KERNEL_BIT != 0
    }
}

/// A frame and the stack that called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stack {
    /// The stack below: an index of [`Stacks::stacks`], smaller than its own. `None` at a root.
    pub parent: Option<usize>,
    /// Index of [`Stacks::frames`].
    pub frame: usize,
}

/// Overflow of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackSample {
    /// Time in nanoseconds, as in a perf.data file.
    pub time: u64,
    /// Index of [`Stacks::stacks`].
    pub stack: usize,
    /// Events since the previous sample.
    pub weight: u64,
}

/// Samples of one event on one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// Name of the event.
    pub event: String,
    /// Number of the thread.
    pub tid: u32,
    /// Samples, in order of time.
    pub samples: Vec<StackSample>,
}

/// Call stacks of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stacks {
    /// Name of the program, safe to print.
    pub program: String,
    /// Number of the process.
    pub pid: u32,
    /// Times of the program's start and end, in nanoseconds.
    pub times: (u64, u64),
    /// Frames, each once.
    pub frames: Vec<StackFrame>,
    /// Stacks, each once, and each after its parent.
    pub stacks: Vec<Stack>,
    /// Tracks, thread by thread, with the events in the order of the profile.
    pub tracks: Vec<Track>,
}

impl Stacks {
    /// Names and shares the stacks of a profile.
    pub fn new(profile: &OverflowProfile, symbols: &Symbols) -> Stacks {
        let track = |tid: u32| {
            let events = profile.events.iter();
            events.map(move |event| Track { event: event.name.clone(), tid, samples: Vec::new() })
        };
        let mut stacks = Stacks {
            program: profile.comm.shown().to_string(),
            pid: profile.tids.first().copied().unwrap_or_default(),
            times: profile.times,
            tracks: profile.tids.iter().copied().flat_map(track).collect(),
            ..Stacks::default()
        };
        let mut known = Known::default();
        for overflow in &profile.samples {
            let Some(stack) = stacks.stack_of(overflow, symbols, &mut known) else { continue };
            let OverflowSample { event, thread, time, sample } = overflow;
            if let Some(track) = stacks.tracks.get_mut(thread * profile.events.len() + event) {
                track.samples.push(StackSample { time: *time, stack, weight: sample.period });
            }
        }
        stacks
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        let mut tids: Vec<u32> = self.tracks.iter().map(|track| track.tid).collect();
        tids.dedup();
        tids.len()
    }

    /// Returns the name of a track: its event, and its thread where there are several.
    pub fn track_name(&self, track: &Track) -> String {
        match self.threads() {
            0 | 1 => track.event.clone(),
            _ => format!("{}, thread {}", track.event, track.tid),
        }
    }

    /// Returns the indices of the frames of a stack, the root first.
    pub fn path(&self, stack: usize) -> Vec<usize> {
        let mut path = Vec::new();
        let mut next = Some(stack);
        while let Some(Stack { parent, frame }) = next.and_then(|at| self.stacks.get(at)) {
            path.push(*frame);
            next = *parent;
        }
        path.reverse();
        path
    }

    fn stack_of(
        &mut self,
        overflow: &OverflowSample,
        symbols: &Symbols,
        known: &mut Known,
    ) -> Option<usize> {
        // A return address may belong to the next line or function; the call is before it.
        let callers = overflow.sample.callers.iter().rev();
        let calls = callers.map(|address| address.wrapping_sub(INST_BYTES));
        let mut stack = None;
        for address in calls.chain([overflow.sample.ip]) {
            for frame in self.frames_at(address, symbols, known) {
                stack = Some(self.stack(Stack { parent: stack, frame }, known));
            }
        }
        stack
    }

    /// Returns the frames of an address, the function itself first.
    fn frames_at(&mut self, address: u64, symbols: &Symbols, known: &mut Known) -> Range<usize> {
        if let Some(range) = known.frames.get(&address) {
            return range.clone();
        }
        let first = self.frames.len();
        for (inline_depth, frame) in symbols.frames(address).into_iter().rev().enumerate() {
            let (file, line) = frame.line.map(|line| (line.file, line.line)).unzip();
            let name = frame.function;
            self.frames.push(StackFrame { name, file, line, address, inline_depth });
        }
        if self.frames.len() == first {
            let name = format!("{address:#x}");
            self.frames.push(StackFrame { name, file: None, line: None, address, inline_depth: 0 });
        }
        let range = first..self.frames.len();
        known.frames.insert(address, range.clone());
        range
    }

    fn stack(&mut self, stack: Stack, known: &mut Known) -> usize {
        *known.stacks.entry(stack).or_insert_with(|| {
            self.stacks.push(stack);
            self.stacks.len() - 1
        })
    }
}

/// Addresses and stacks that have an index.
#[derive(Default)]
struct Known {
    frames: HashMap<u64, Range<usize>>,
    stacks: HashMap<Stack, usize>,
}

#[cfg(test)]
mod tests;
