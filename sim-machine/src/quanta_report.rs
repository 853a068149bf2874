//! Statistics of a run whose threads run at the same time on CPUs of the host, quantum by quantum.

use sim_cache::quantum::{Conflict, QuantumAnswers};
use sim_core::Cycle;

/// Reason why a quantum cannot be run in groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Cores did something that all cores see at once.
    Broadcast,
    /// More than half of the threads are in conflict.
    Conflict(Conflict),
    /// All groups waited for memory.
    Memory,
}

/// Result of a quantum.
pub(crate) struct Done {
    pub(crate) answers: QuantumAnswers,
    /// Length of the quantum.
    pub(crate) cycles: Cycle,
    /// Threads that ran in groups of several.
    pub(crate) grouped: u64,
    /// Conflicts of two groups, by kind.
    pub(crate) conflicts: [u64; 2],
}

/// Statistics of a run in quanta.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuantaReport {
    /// Quanta that cores ran at the same time.
    pub quanta: u64,
    /// Instructions of these quanta, of all threads.
    pub instructions: u64,
    /// Pairs of groups that requested one line, and quanta taken back because of it.
    pub lines: u64,
    /// Pairs of groups of which one took a line that the other used, and quanta taken back because
    /// of it.
    pub snoops: u64,
    /// Quanta in which cores in conflict ran in exact order among themselves, and the sum of
    /// these cores.
    pub grouped: (u64, u64),
    /// Quanta taken back because most cores were in conflict.
    pub crowded: u64,
    /// Quanta taken back because of maintenance that all cores see at once.
    pub broadcasts: u64,
    /// Quanta taken back because the cores waited for the same channels of memory.
    pub memory: u64,
    /// Answers of the home nodes in the quanta, and those that differ.
    pub answers: QuantumAnswers,
}

impl QuantaReport {
    /// Returns the number of quanta that were taken back as a whole.
    pub fn taken_back(&self) -> u64 {
        self.crowded + self.broadcasts + self.memory
    }

    /// Notes a quantum that was taken back.
    pub(crate) fn refused(&mut self, refusal: Refusal) {
        *match refusal {
            Refusal::Broadcast => &mut self.broadcasts,
            Refusal::Conflict(Conflict::Line) => {
                self.lines += 1;
                &mut self.crowded
            }
            Refusal::Conflict(Conflict::Snoop) => {
                self.snoops += 1;
                &mut self.crowded
            }
            Refusal::Memory => &mut self.memory,
        } += 1;
    }

    /// Adds a quantum.
    pub(crate) fn add(&mut self, done: &Done) {
        self.quanta += 1;
        self.lines += done.conflicts[Conflict::Line as usize];
        self.snoops += done.conflicts[Conflict::Snoop as usize];
        if done.grouped > 0 {
            self.grouped.0 += 1;
            self.grouped.1 += done.grouped;
        }
        self.answers.reads += done.answers.reads;
        self.answers.other_source += done.answers.other_source;
        self.answers.cycles_off += done.answers.cycles_off;
    }
}
