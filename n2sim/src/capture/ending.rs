//! The end of a block's run: whole, left early, or abandoned by a signal.

use super::block::{BlockInfo, Run};
use super::recording_state::Shared;
use sim_isa::{always_accesses, is_return, never_completes};
use sim_trace::StreamEvent;

/// The continuation after a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// A block at this address.
    Block(u64),
    /// The thread ended; if the whole program was killed, by which signal.
    Death(Option<u32>),
}

impl After {
    /// Returns the address of the next block.
    pub(crate) fn block(self) -> Option<u64> {
        match self {
            After::Block(pc) => Some(pc),
            After::Death(_) => None,
        }
    }

    /// Returns whether the program died of what an instruction did: ILL, TRAP, BUS, FPE, SEGV.
    fn is_fault(self) -> bool {
        matches!(self, After::Death(Some(4 | 5 | 7 | 8 | 11)))
    }
}

/// The end of a block.
pub(crate) struct Ending {
    /// Instructions of the block that were executed, one that did not complete included.
    pub(crate) executed: usize,
    /// The event after them.
    pub(crate) signal: Option<StreamEvent>,
}

/// Returns how far `run` got, and the signal that ended it.
pub(crate) fn judge(
    info: &BlockInfo,
    run: &Run,
    started: Option<u32>,
    after: After,
    shared: &Shared,
) -> Ending {
    let length = info.len();
    let (is_explained, handler) = match after {
        After::Block(next) => (info.allows(next), shared.handlers.get(&next).copied()),
        After::Death(signal) => (false, signal),
    };
    let begun = match started {
        Some(n) => (n as usize).min(length),
        None if is_explained => length,
        None if shared.is_exact && after != After::Death(None) && !after.is_fault() => length,
        None => infer_started(info, run),
    };
    let last = begun.saturating_sub(1);
    let signal = |abandoned| StreamEvent::Signal { number: handler.unwrap_or(0), abandoned };
    if begun < length || !is_explained && is_incomplete(info, run, last) {
        let is_cut = matches!(after, After::Death(_)) && !after.is_fault();
        // Or the engine left the block before its last begun instruction, to run it by itself.
        if is_cut || after == After::Block(info.pc_of(last)) {
            return Ending { executed: last, signal: None };
        }
        return Ending { executed: begun, signal: Some(signal(true)) };
    }
    // A handler is entered by no branch but a call.
    let is_delivered = handler.is_some() && (!is_explained || is_return(info.word(last)));
    Ending { executed: length, signal: is_delivered.then(|| signal(false)) }
}

/// Returns whether instruction `last`, although begun, shows no sign of completion.
pub(crate) fn is_incomplete(info: &BlockInfo, run: &Run, last: usize) -> bool {
    let word = info.word(last);
    let has_access = run.accesses.last().is_some_and(|access| usize::from(access.index) == last);
    never_completes(word) || always_accesses(word) && !has_access
}

/// Returns the number of started instructions where the engine does not count for each thread: a
/// block that control left irregularly ended at its first missing access.
fn infer_started(info: &BlockInfo, run: &Run) -> usize {
    let from = run.accesses.last().map_or(0, |access| usize::from(access.index) + 1);
    let missing = (from..info.len()).find(|&index| always_accesses(info.word(index)));
    missing.map_or(info.len(), |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_trace::{Access, BlockId};
    use std::collections::HashMap;

    const LDR: u32 = 0xf940_0041; // ldr x1, [x2]
    const ADD: u32 = 0x9100_0421; // add x1, x1, #1
    const STXR: u32 = 0xc800_7c41; // stxr w0, x1, [x2]
    const BRK: u32 = 0xd420_0000;
    const RET: u32 = 0xd65f_03c0;
    const PC: u64 = 0x40_0000;

    fn ending(
        words: &[u32],
        accesses: &[u16],
        after: After,
        shared: &Shared,
    ) -> (usize, Option<StreamEvent>) {
        let info = BlockInfo::new(BlockId(0), PC, words.to_vec());
        let accesses = accesses.iter().map(|&index| Access { index, addr: 8 }).collect();
        let run = Run { accesses, ..Run::default() };
        let ending = judge(&info, &run, None, after, shared);
        (ending.executed, ending.signal)
    }

    /// Returns the state of several threads, without a count for each of them.
    fn inexact() -> Shared {
        Shared { is_exact: false, handlers: HashMap::from([(0x9000, 11)]), ..Shared::default() }
    }

    #[test]
    fn a_block_that_goes_on_legally_ran_to_its_end() {
        let next = After::Block(PC + 12);
        assert_eq!(ending(&[ADD, STXR, ADD], &[], next, &inexact()), (3, None));
    }

    #[test]
    fn a_missing_access_before_a_handler_is_the_fault() {
        let signal = StreamEvent::Signal { number: 11, abandoned: true };
        let found = ending(&[ADD, LDR, LDR, ADD], &[1], After::Block(0x9000), &inexact());
        assert_eq!(found, (3, Some(signal)));
    }

    #[test]
    fn a_block_left_before_an_instruction_that_runs_again_ends_before_it() {
        let found = ending(&[ADD, LDR, ADD], &[], After::Block(PC + 4), &inexact());
        assert_eq!(found, (1, None));
    }

    #[test]
    fn a_handler_that_comes_after_a_whole_block_abandons_nothing() {
        let signal = StreamEvent::Signal { number: 11, abandoned: false };
        let found = ending(&[ADD, LDR, RET], &[1], After::Block(0x9000), &inexact());
        assert_eq!(found, (3, Some(signal)));
    }

    #[test]
    fn a_breakpoint_never_completes() {
        let exact = Shared { is_exact: true, ..Shared::default() };
        let signal = StreamEvent::Signal { number: 5, abandoned: true };
        assert_eq!(ending(&[ADD, BRK], &[], After::Death(Some(5)), &exact), (2, Some(signal)));
    }

    #[test]
    fn a_program_killed_from_outside_loses_only_what_it_had_not_done() {
        assert_eq!(ending(&[LDR, LDR, ADD], &[0], After::Death(None), &inexact()), (1, None));
        assert_eq!(ending(&[LDR, ADD, ADD], &[0], After::Death(None), &inexact()), (3, None));
    }
}
