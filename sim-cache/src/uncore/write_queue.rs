//! The queue of writes of a memory channel (key `memory.dram.write-entries`).
//!
//! A write is done for its home node as soon as it has an entry. Its line goes to memory when the
//! entry is needed: only then does the channel book its transfer, in the first cycle that has been
//! free since the line came. So a line uses cycles that no read needed, a read waits for no line
//! in the queue, and a write that finds the queue full waits until the oldest line leaves.
//!
//! Every wait ends: the oldest line needs nothing but a cycle of the channel, of which reads have
//! booked a finite number. Each write beyond the depth sends one line off, so that no more lines
//! than the depth ever wait.
//!
//! Requests do not come in time order. The line that came first leaves first, whatever its turn
//! was here, and a write that came before all waiting ones is itself that line. Entries that lines
//! of later cycles take were free when a write came, so that it waits for none of these.

use sim_core::{Cycle, LineAddr};

/// Line that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) line: LineAddr,
    /// Cycle in which its write reached the controller.
    came: Cycle,
    /// Cycle since which it can be transferred.
    pub(crate) ready: Cycle,
}

/// Queue of one channel.
#[derive(Clone, Debug)]
pub(crate) struct WriteQueue {
    /// One for each entry; the first `used` of them wait, in the order in which the model meets
    /// them.
    waiting: Box<[Waiting]>,
    used: usize,
}

impl WriteQueue {
    /// Creates an empty queue.
    pub(crate) fn new(depth: u32) -> WriteQueue {
        let none = Waiting { line: LineAddr(0), came: 0, ready: 0 };
        WriteQueue { waiting: vec![none; depth as usize].into(), used: 0 }
    }

    /// Returns whether every entry is taken.
    pub(crate) fn is_full(&self) -> bool {
        self.used == self.waiting.len()
    }

    /// Returns whether lines that came no later than `at` take every entry.
    pub(crate) fn is_full_at(&self, at: Cycle) -> bool {
        self.is_full() && self.waiting.iter().all(|waiting| waiting.came <= at)
    }

    /// Removes the line that came first, so that it is transferred. Returns `None` if all came
    /// after `at`.
    pub(crate) fn take_first(&mut self, at: Cycle) -> Option<Waiting> {
        let places = self.waiting[..self.used].iter().enumerate();
        let (place, first) = places.min_by_key(|(_, waiting)| waiting.came)?;
        let first = *first;
        if first.came > at {
            return None;
        }
        self.waiting.copy_within(place + 1..self.used, place);
        self.used -= 1;
        Some(first)
    }

    /// Adds a line whose write came at `came` and that has its entry from `ready` on. An entry must
    /// be free.
    pub(crate) fn push(&mut self, line: LineAddr, came: Cycle, ready: Cycle) {
        self.waiting[self.used] = Waiting { line, came, ready };
        self.used += 1;
    }
}
