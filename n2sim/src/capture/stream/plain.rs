//! Runs of plain blocks, one after the other: nearly all that a program does.
//!
//! A block is plain if its own words decide how a whole run looks: all of its accesses are sure,
//! and the engine reports each. The rules of [`Stream::end`] then come down to two: every
//! access is there, and control goes on legally.

use anyhow::Result;

use super::super::block::BlockInfo;
use super::super::output::Output;
use super::super::recording_state::Shared;
use super::super::wire::Word;
use super::Stream;
use sim_trace::Access;

impl Stream {
    /// Takes words of plain blocks and their accesses, the first of them those of the running
    /// block, which has just begun. Returns the number of words taken. The others are for
    /// [`Stream::take`]; so is the end of the running block.
    pub(super) fn take_plain(
        &mut self,
        words: &[u64],
        shared: &mut Shared,
        writer: &mut Output,
    ) -> Result<usize> {
        let Shared { blocks, tally, handlers, follows, system, .. } = shared;
        let is_special = *follows || system.is_some() || self.started.is_some();
        if is_special || self.syscall.is_some() || !self.history[self.at].tickets.is_empty() {
            return Ok(0);
        }
        let Some(mut info) = blocks.get(self.history[self.at].block as usize) else { return Ok(0) };
        let mut taken = 0;
        while info.is_plain {
            let run = &mut self.history[self.at];
            taken += take_accesses(&words[taken..], &mut run.accesses);
            let next = words.get(taken).and_then(|bits| Word::decode(*bits));
            let Some(Word::Block(block)) = next else { break };
            let Some(next) = blocks.get(block as usize) else { break };
            let may_be_handler = info.ends_in_return && !handlers.is_empty();
            if !is_whole(info, &run.accesses)
                || !info.allows(next.pc)
                || may_be_handler && handlers.contains_key(&next.pc)
            {
                break;
            }
            run.executed = info.len() as u16;
            run.is_left = false;
            self.runs += 1;
            if writer.admits(u64::from(run.executed), tally) {
                let trace = &mut writer.trace;
                trace.push_block(self.number, info.id, run.executed, &run.accesses, None)?;
            }
            self.next_run(block);
            info = next;
            taken += 1;
        }
        Ok(taken)
    }
}

/// Returns whether these are all accesses of a plain block, each of an instruction that it has.
#[inline]
fn is_whole(info: &BlockInfo, accesses: &[Access]) -> bool {
    accesses.len() == info.sure_accesses
        && accesses.last().is_none_or(|last| usize::from(last.index) < info.len())
}

/// Appends the accesses at the start of `words`, and returns their number. An instruction of
/// several keeps the lowest.
#[inline]
fn take_accesses(words: &[u64], accesses: &mut Vec<Access>) -> usize {
    let mut taken = 0;
    for bits in words {
        let Some(Word::Access { index, addr }) = Word::decode(*bits) else { break };
        let index = index as u16;
        taken += 1;
        match accesses.last_mut() {
            Some(last) if last.index == index => last.addr = last.addr.min(addr),
            Some(last) if last.index > index => {}
            _ => accesses.push(Access { index, addr }),
        }
    }
    taken
}
