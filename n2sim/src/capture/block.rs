//! Blocks as the plugin defined them, and their executions.

use sim_isa::{Exit, Governing, always_accesses, is_return, is_sve};
use sim_trace::{Access, BlockId};

use super::unreported::{Unreported, elements, may_stay_silent};

/// A block as the plugin defined it, with the properties of its words that the recorder uses.
#[derive(Debug)]
pub(crate) struct BlockInfo {
    /// Number of the block in the trace.
    pub(crate) id: BlockId,
    pub(crate) pc: u64,
    pub(crate) words: Vec<u32>,
    exit: Exit,
    /// Indexes of instructions whose address is rebuilt where the engine does not report it.
    pub(crate) unreported: Vec<(u16, Unreported)>,
    /// Instructions that access memory whenever they complete.
    pub(crate) sure_accesses: usize,
    /// Other instructions may access memory too.
    pub(crate) has_unsure_accesses: bool,
    pub(crate) has_sve: bool,
    /// Every access is one that the engine reports and that cannot stay away: a run that has all of
    /// them and goes on legally is whole.
    pub(crate) is_plain: bool,
    /// The last instruction is a return, which may lead to a signal handler.
    pub(crate) ends_in_return: bool,
    /// Indexes of gathers and scatters, with the numbers of their vectors' elements.
    scattered: Vec<(u16, u8)>,
    /// Indexes of predicated SVE instructions, in order.
    pub(crate) governed: Vec<(u16, Governing)>,
}

impl BlockInfo {
    /// Returns the block of these words.
    pub(crate) fn new(id: BlockId, pc: u64, words: Vec<u32>) -> BlockInfo {
        let count = |is: fn(u32) -> bool| words.iter().filter(|word| is(**word)).count();
        let last = words.len() - 1;
        let has_unsure_accesses = words.iter().any(|word| may_stay_silent(*word));
        let has_sve = words.iter().any(|word| is_sve(*word));
        let mut info = BlockInfo {
            id,
            pc,
            exit: Exit::of(pc + 4 * last as u64, words[last]),
            unreported: (0u16..)
                .zip(&words)
                .filter_map(|(index, word)| Some((index, Unreported::of(*word)?)))
                .collect(),
            sure_accesses: count(always_accesses),
            has_unsure_accesses,
            has_sve,
            is_plain: false,
            ends_in_return: is_return(words[last]),
            scattered: (0u16..).zip(&words).filter_map(elements).collect(),
            governed: (0u16..)
                .zip(&words)
                .filter_map(|(index, word)| Some((index, Governing::of(*word)?)))
                .collect(),
            words,
        };
        let is_special = info.has_unsure_accesses || info.has_sve || !info.unreported.is_empty();
        info.is_plain = !is_special && info.scattered.is_empty() && info.governed.is_empty();
        info
    }

    /// Returns the number of elements of the gather or scatter `index`; `None` for another
    /// instruction.
    pub(crate) fn elements(&self, index: u16) -> Option<u8> {
        self.scattered.iter().find(|(at, _)| *at == index).map(|(_, elements)| *elements)
    }

    pub(crate) fn pc_of(&self, index: usize) -> u64 {
        self.pc + 4 * index as u64
    }

    /// Returns the number of instructions.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns instruction `index`; 0 beyond the end.
    pub(crate) fn word(&self, index: usize) -> u32 {
        self.words.get(index).copied().unwrap_or(0)
    }

    /// Returns whether control may go to `next` after the whole block.
    #[inline]
    pub(crate) fn allows(&self, next: u64) -> bool {
        self.exit.allows(next)
    }
}

/// One execution of a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    /// The block, by the plugin's number.
    pub(crate) block: u32,
    /// Instructions that were executed.
    pub(crate) executed: u16,
    /// One address for each instruction that has any.
    pub(crate) accesses: Vec<Access>,
    /// Further addresses of gathers and scatters after their first.
    pub(crate) further: Vec<Access>,
    /// Synchronization tickets by index of the instruction.
    pub(crate) tickets: Vec<(u16, u64)>,
    /// A signal was delivered after this run.
    pub(crate) is_left: bool,
    /// Governing predicates that the engine reported, by index of the instruction.
    pub(crate) predicates: Vec<(u16, u16)>,
}

impl Run {
    /// Returns a run of `executed` instructions.
    #[cfg(test)]
    pub(crate) fn of(executed: u16) -> Run {
        Run { executed, ..Run::default() }
    }
}
