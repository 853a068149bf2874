//! The results of a thread.

use super::CoreRun;
use crate::outcome::{CoreOutcome, UnknownWord, Waits};
use sim_core::Packed;
use sim_isa::Program;

impl CoreRun {
    /// Counts an execution of an instruction that the decoder does not know.
    #[cold]
    pub(super) fn note_unknown(&mut self, id: u32) {
        *self.unknown.entry(id).or_default() += 1;
    }

    /// Returns the result of the core.
    pub(crate) fn outcome(&self, program: &Program) -> CoreOutcome {
        let mut unknown_words: Vec<UnknownWord> = self
            .unknown
            .iter()
            .map(|(id, executions)| UnknownWord {
                pc: program.pc(*id),
                word: program.inst(*id).word,
                executions: *executions,
            })
            .collect();
        unknown_words.sort_by_key(|word| (std::cmp::Reverse(word.executions), word.pc));
        CoreOutcome {
            stream: self.stream,
            is_counted: self.ever_counted(),
            counts: Packed::from(&self.measured.counts),
            levels: self.levels.packed(),
            stalls: Packed::from(&self.measured.lost),
            prefetches: self.measured.prefetches,
            memory: self.measured.memory,
            waits: Waits { end: self.clock().max(self.left), ..self.waits },
            unknown_words: unknown_words.into_boxed_slice(),
            instructions: self.done,
        }
    }

    /// Returns the requested number of warm-up instructions.
    pub(crate) fn warmup(&self) -> u64 {
        self.watch.warmup()
    }
}
