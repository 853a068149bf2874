//! Fast path for runs of plain blocks.
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

#[cfg(test)]
mod tests {
    use super::super::super::ending::After;
    use super::*;
    use sim_trace::{Meta, TraceWriter, WriterOptions};

    const ADD: u32 = 0x9100_0421;
    const LDR: u32 = 0xf940_0041;
    const STP: u32 = 0xa900_0861;
    const B_EQ: u32 = 0x5400_0080; // b.eq +16
    const RET: u32 = 0xd65f_03c0;
    const PRFM: u32 = 0xf980_0020;
    const HANDLER: u64 = 0x40_0040;

    /// Addresses and words of the blocks. The third follows the first two; the last two have a
    /// return, and an access that is not sure.
    const BLOCKS: [(u64, &[u32]); 5] = [
        (0x40_0000, &[LDR, ADD, STP, B_EQ]),
        (0x40_0010, &[ADD, LDR, LDR, B_EQ]),
        (0x40_0020, &[LDR, B_EQ]),
        (HANDLER, &[ADD, RET]),
        (0x40_0028, &[PRFM, LDR, RET]),
    ];

    /// Numbers that are the same in every run of the test.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) % end
        }
    }

    /// Returns the words of blocks that mostly follow each other legally. Some lack an access, or
    /// have one of an instruction that does not exist, or end early.
    fn words(numbers: &mut Numbers) -> Vec<u64> {
        let mut words = Vec::new();
        let mut block = 0;
        for _ in 0..200 {
            words.push(Word::Block(block as u32).encode());
            let accesses =
                BLOCKS[block].1.iter().enumerate().filter(|(_, word)| **word & ADD != ADD);
            for (index, word) in accesses.filter(|(_, word)| [LDR, STP].contains(word)) {
                let times = if *word == STP { 2 } else { 1 };
                for _ in 0..if numbers.below(20) == 0 { numbers.below(3) } else { times } {
                    let index = if numbers.below(60) == 0 { 9 } else { index as u32 };
                    let addr = 0x1000 + 8 * numbers.below(50);
                    words.push(Word::Access { index, addr }.encode());
                }
            }
            if numbers.below(30) == 0 {
                words.push(Word::Started(numbers.below(4) as u32).encode());
            }
            block = match numbers.below(10) {
                0 => numbers.below(BLOCKS.len() as u64) as usize,
                n => (block + 1 + n as usize % 2) % BLOCKS.len(),
            };
        }
        words
    }

    /// Returns the trace and the counts of a recording, whose words come in parts of this length.
    fn recorded(words: &[u64], length: usize, has_handler: bool) -> (Vec<u8>, String) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("t.n2t");
        let trace = TraceWriter::create_with(&path, Meta::default(), WriterOptions::default());
        let mut output = Output { trace: trace.expect("room"), skip: 30 };
        let mut shared = Shared { is_exact: true, ..Shared::default() };
        for (pc, words) in BLOCKS {
            let id = output.trace.define_block(pc, words).expect("a block");
            shared.blocks.push(BlockInfo::new(id, pc, words.to_vec()));
        }
        if has_handler {
            shared.handlers.insert(HANDLER, 11);
        }
        let mut stream = Stream::new(0);
        let mut outcome = Ok(());
        for part in words.chunks(length) {
            outcome = outcome.and_then(|()| stream.take(part, &mut shared, &mut output));
        }
        let end = outcome.and_then(|()| stream.end(After::Death(None), &mut shared, &mut output));
        let end = end.map_err(|error| format!("{error:#}"));
        output.trace.finish().expect("room");
        (std::fs::read(&path).expect("the trace"), format!("{end:?} {:?}", shared.tally))
    }

    /// Given the words one by one, the fast path never sees the next one and takes no block.
    #[test]
    fn runs_of_plain_blocks_are_recorded_as_single_words_are() {
        let mut numbers = Numbers(7);
        for has_handler in [false, true] {
            for round in 0..40 {
                let words = words(&mut numbers);
                let slow = recorded(&words, 1, has_handler);
                assert!(slow.0.len() > 300, "{}", slow.1);
                for length in [2, 7, words.len()] {
                    let fast = recorded(&words, length, has_handler);
                    assert_eq!(slow.1, fast.1, "round {round}, {length} words at once");
                    assert!(slow.0 == fast.0, "round {round}, {length} words at once");
                }
            }
        }
    }
}
