//! Decodes the words of one thread into block executions of the trace.
//!
//! The plugin reports a block when it begins and its accesses as they succeed. A block is therefore
//! complete only when the next block of the same thread begins, because that one shows how the
//! block ended.

mod plain;

use super::block::{BlockInfo, Run};
use super::elements;
use super::ending::{After, Ending, judge};
use super::output::Output;
use super::rebuild;
use super::recording_state::Shared;
use super::registers::KnownRegisters;
use super::shared_memory::Damage;
use super::system::ending::Processor;
use super::tally::Tally;
use super::wire::{self, SYSCALL_ARGS, Word};
use anyhow::{Result, bail};
use sim_isa::{Ordering, always_accesses};
use sim_trace::{Access, StreamEvent};

/// Block executions kept to rebuild addresses from.
const HISTORY: usize = 128;

/// The decoder of one thread.
#[derive(Debug)]
pub(crate) struct Stream {
    number: u32,
    /// Recent runs, the running one at `at`.
    history: Vec<Run>,
    at: usize,
    runs: u64,
    is_running: bool,
    started: Option<u32>,
    syscall: Option<(u64, [u64; SYSCALL_ARGS], Option<i64>)>,
    /// Tickets of the first instruction of the next block.
    next_tickets: Vec<(u16, u64)>,
    /// Tickets of the running block that were taken before its first instruction.
    entries: usize,
    registers: KnownRegisters,
    /// Number of the first run that `registers` has not followed.
    followed: u64,
    /// The processor of a whole system whose stream this is.
    processor: Processor,
}

impl Stream {
    /// Returns the decoder of stream `number`.
    pub(crate) fn new(number: u32) -> Stream {
        Stream {
            number,
            history: vec![Run::default(); HISTORY],
            at: 0,
            runs: 0,
            is_running: false,
            started: None,
            syscall: None,
            next_tickets: Vec::new(),
            entries: 0,
            registers: KnownRegisters::default(),
            followed: 0,
            processor: Processor::default(),
        }
    }

    /// Takes the next words of the stream.
    pub(crate) fn take(
        &mut self,
        words: &[u64],
        shared: &mut Shared,
        writer: &mut Output,
    ) -> Result<()> {
        let mut position = 0;
        while let Some(&bits) = words.get(position) {
            position += 1;
            match Word::decode(bits) {
                Some(Word::Access { index, addr }) => self.access(index, addr, shared),
                Some(Word::Block(block)) => {
                    self.begin(block, shared, writer)?;
                    position += self.take_plain(&words[position..], shared, writer)?;
                }
                Some(Word::Started(n)) => self.started = Some(n),
                Some(Word::SyscallEnter(number)) => {
                    self.enter_syscall(number, &words[position..])?;
                    position += SYSCALL_ARGS;
                }
                Some(Word::SyscallReturn(number)) => {
                    let result = words.get(position).copied().unwrap_or(0).cast_signed();
                    position += 1;
                    self.return_from_syscall(number.into(), result);
                }
                Some(Word::Handler(signal)) => {
                    let handler = words.get(position).copied().unwrap_or(0);
                    position += 1;
                    shared.handlers.insert(handler, signal);
                }
                Some(Word::Ticket(index)) => {
                    self.ticket(index, words.get(position).copied().unwrap_or(0), shared);
                    position += 1;
                }
                Some(Word::Predicate(index)) => {
                    let bits = words.get(position).copied().unwrap_or(0) as u16;
                    position += 1;
                    self.history[self.at].predicates.push((index as u16, bits));
                }
                Some(
                    word @ (Word::Operand(_) | Word::Exception(_) | Word::Page(_) | Word::Table),
                ) => {
                    let values = words.get(position..).unwrap_or_default();
                    let block = self.history[self.at].block;
                    let (taken, access) =
                        shared.take_system(&mut self.processor, word, values, block);
                    position += taken;
                    if let Some((index, addr)) = access {
                        self.access(index, addr, shared);
                    }
                }
                Some(Word::Paused(block)) => {
                    let next = shared.blocks.get(block as usize).map_or(0, |info| info.pc);
                    self.end(After::Block(next), shared, writer)?;
                    shared.is_over |= shared.ends_for_good;
                }
                Some(Word::Resumed) => {
                    let count = words.get(position).copied().filter(|n| *n != wire::UNKNOWN);
                    position += 1;
                    self.resume(count, shared, writer)?;
                }
                None => {
                    bail!(Damage(format!("thread {} has the unknown word {bits:#x}", self.number)))
                }
            }
        }
        Ok(())
    }

    /// Handles a system call with its arguments, the next words.
    fn enter_syscall(&mut self, number: u32, words: &[u64]) -> Result<()> {
        let Some(args) = words.first_chunk::<SYSCALL_ARGS>() else {
            bail!(Damage(format!("the record of system call {number} is cut")));
        };
        self.syscall = Some((u64::from(number), *args, None));
        Ok(())
    }

    /// Adds a ticket of an instruction of the running block, or of the first of the next one. An
    /// engine may report an atomic as a load and a store, and a pair as two accesses, each with a
    /// ticket. The last one remains: only then the instruction has read all of its value.
    fn ticket(&mut self, index: u32, order: u64, shared: &Shared) {
        if index == wire::NEXT_BLOCK {
            return self.next_tickets.push((0, order));
        }
        let index = index as u16;
        let run = &mut self.history[self.at];
        let own = run.tickets.iter().skip(self.entries).rev();
        let own = own.take_while(|ticket| ticket.0 == index).count();
        let info = shared.blocks.get(run.block as usize);
        if own > 0 && info.is_none_or(|info| own >= tickets_of(info.word(index.into()))) {
            run.tickets.pop();
        }
        run.tickets.push((index, order));
    }

    /// Resumes recording the thread after `count` instructions that were not recorded.
    fn resume(
        &mut self,
        count: Option<u64>,
        shared: &mut Shared,
        writer: &mut Output,
    ) -> Result<()> {
        // The unrecorded instructions may have changed every register.
        self.registers.forget();
        self.followed = self.runs;
        let before = if shared.tally.pauses == 0 { Some(0) } else { shared.tally.unrecorded };
        shared.tally.unrecorded =
            before.zip(count).and_then(|(before, count)| before.checked_add(count));
        shared.tally.pauses += 1;
        if self.runs > 0 && shared.tally.instructions > 0 {
            let gap = StreamEvent::Gap { instructions: count };
            writer.trace.push_event(self.number, gap)?;
        }
        Ok(())
    }

    /// Adds an access of the running block. If an instruction has several accesses, a gather or
    /// scatter keeps all of them, any other instruction the lowest.
    fn access(&mut self, index: u32, addr: u64, shared: &Shared) {
        let index = index as u16;
        let Run { block, accesses, further, .. } = &mut self.history[self.at];
        match accesses.last_mut() {
            Some(last) if last.index == index => {
                let info = shared.blocks.get(*block as usize);
                if info.is_some_and(|info| info.elements(index).is_some()) {
                    further.push(Access { index, addr });
                } else {
                    last.addr = last.addr.min(addr);
                }
            }
            Some(last) if last.index > index => {}
            _ => accesses.push(Access { index, addr }),
        }
    }

    fn begin(&mut self, block: u32, shared: &mut Shared, writer: &mut Output) -> Result<()> {
        let Some(info) = shared.blocks.get(block as usize) else {
            bail!(Damage(format!(
                "thread {} runs block {block}, which is not defined",
                self.number
            )));
        };
        let next = info.pc;
        self.end(After::Block(next), shared, writer)?;
        self.next_run(block);
        std::mem::swap(&mut self.history[self.at].tickets, &mut self.next_tickets);
        self.entries = self.history[self.at].tickets.len();
        self.next_tickets.clear();
        self.is_running = true;
        Ok(())
    }

    /// Notes the result of the system call that the thread is in.
    fn return_from_syscall(&mut self, number: u64, result: i64) {
        if let Some((entered, _, slot)) = &mut self.syscall
            && *entered == number
        {
            *slot = Some(result);
        }
    }

    /// Replaces the oldest run of the history with one of `block`, which is the running one now.
    #[inline]
    fn next_run(&mut self, block: u32) {
        self.at = (self.at + 1) % HISTORY;
        let run = &mut self.history[self.at];
        run.block = block;
        run.accesses.clear();
        run.further.clear();
        run.tickets.clear();
        self.entries = 0;
        run.predicates.clear();
    }

    /// Writes the running block.
    pub(crate) fn end(
        &mut self,
        after: After,
        shared: &mut Shared,
        writer: &mut Output,
    ) -> Result<()> {
        if !self.is_running {
            // Reports before the first block are not recorded.
            self.processor.forget();
            return Ok(());
        }
        self.is_running = false;
        let started = self.started.take();
        let run = &mut self.history[self.at];
        let info = &shared.blocks[run.block as usize];
        let ending = match &mut shared.system {
            Some(system) => system.judge(&mut self.processor, info, run, started, after.block()),
            None => judge(info, run, started, after, shared),
        };
        run.executed = ending.executed as u16;
        run.accesses.retain(|access| access.index < run.executed);
        let system = shared.system.as_mut();
        let processor = &mut self.processor;
        let written = system.and_then(|system| system.register_writes(processor, info, run));
        let executed = run.executed;
        run.is_left = ending.signal.is_some();
        let has_unreported = info.unreported.iter().any(|(index, _)| *index < executed);
        if shared.system.is_none() && (shared.follows || has_unreported) {
            shared.tally.is_rebuilt |= has_unreported;
            self.rebuild(shared);
        }
        self.runs += 1;
        let run = &self.history[self.at];
        let info = &shared.blocks[run.block as usize];
        tally(&mut shared.tally, info, run, &ending);
        let id = info.id;
        let syscall = self.syscall.take().map(|(number, args, result)| {
            shared.tally.syscalls += 1;
            shared.tally.is_replaced |= number == 221 && result.is_none();
            StreamEvent::Syscall { number, args, result }
        });
        if writer.admits(u64::from(run.executed), &mut shared.tally) {
            writer.trace.push_block(self.number, id, run.executed, &run.accesses, None)?;
            let executed = run.executed;
            let tickets = run.tickets.iter().filter(|(index, _)| *index < executed);
            let tickets = tickets
                .map(|&(index, order)| StreamEvent::Ticket { order, back: executed - index });
            for event in tickets.chain(elements::events(info, run)).chain(syscall) {
                writer.trace.push_event(self.number, event)?;
            }
            if let Some(written) = written {
                writer.trace.push_event(self.number, written)?;
            }
            if let Some(signal) = ending.signal {
                writer.trace.push_event(self.number, signal)?;
            }
        }
        Ok(())
    }

    /// Follows the registers over the recent blocks and adds the addresses that the engine does not
    /// report.
    fn rebuild(&mut self, shared: &mut Shared) {
        self.registers.is_alone = shared.is_exact;
        let oldest = self.runs.saturating_sub(HISTORY as u64 - 1);
        if self.followed < oldest {
            self.registers.forget();
            self.followed = oldest;
        }
        let mut found = Vec::new();
        while self.followed <= self.runs {
            let back = (self.runs - self.followed) as usize;
            let run = &self.history[(self.at + HISTORY - back) % HISTORY];
            let info = &shared.blocks[run.block as usize];
            let mut accesses = run.accesses.iter().peekable();
            for (index, &word) in info.words.iter().enumerate().take(run.executed.into()) {
                let (at, pc) = (index as u16, info.pc_of(index));
                if back == 0 && info.unreported.iter().any(|(one, _)| *one == at) {
                    let addr = self.registers.operand(pc, word).or_else(|| {
                        let base = rebuild::base_of(word)?;
                        let value = rebuild::reveal(info, run, at, base)?;
                        self.registers.learn(base, value);
                        self.registers.operand(pc, word)
                    });
                    found.extend(addr.map(|addr| Access { index: at, addr }));
                }
                let access = accesses.next_if(|access| access.index == at);
                self.registers.step(pc, word, access.map(|access| access.addr), &shared.code);
            }
            if run.is_left {
                // A handler has registers of its own.
                self.registers.forget();
            }
            self.followed += 1;
        }
        shared.tally.predictions += std::mem::take(&mut self.registers.checked);
        shared.tally.wrong_predictions += std::mem::take(&mut self.registers.wrong);
        let accesses = &mut self.history[self.at].accesses;
        // An engine that does report the operation has already given the address; the stable sort
        // keeps that one first.
        accesses.extend(found);
        accesses.sort_by_key(|access| access.index);
        accesses.dedup_by_key(|access| access.index);
    }
}

/// Returns the largest number of tickets of an instruction.
fn tickets_of(word: u32) -> usize {
    Ordering::of(word).map_or(0, |order| usize::from(order.before) + usize::from(order.after))
}

fn tally(tally: &mut Tally, info: &BlockInfo, run: &Run, ending: &Ending) {
    let is_abandoned = ending.signal.as_ref().is_some_and(StreamEvent::abandons);
    tally.signals += u64::from(ending.signal.is_some());
    tally.abandoned += u64::from(is_abandoned);
    let is_whole = ending.executed == info.words.len() && !is_abandoned;
    // The last instruction of a block that was left early may not have completed.
    let completed = if is_whole { run.executed } else { run.executed.saturating_sub(1) };
    for (_, kind) in info.unreported.iter().filter(|(index, _)| *index < completed) {
        kind.counted(tally).executed += 1;
    }
    for access in run.accesses.iter().filter(|access| access.index < completed) {
        if let Some((_, kind)) = info.unreported.iter().find(|(index, _)| *index == access.index) {
            kind.counted(tally).known += 1;
        }
    }
    if !is_whole || info.has_unsure_accesses || run.accesses.len() < info.sure_accesses {
        tally.lost_accesses += lost_accesses(info, run, completed);
    }
    if info.has_sve {
        let sve = elements::account(info, run, completed);
        tally.sve_accesses += sve.accesses;
        tally.sve_lost += sve.lost;
        tally.untold_predicates += sve.untold;
    }
}

/// Returns the number of instructions that must have accessed memory but have no address.
fn lost_accesses(info: &BlockInfo, run: &Run, completed: u16) -> u64 {
    let words = &info.words[..usize::from(completed)];
    let sure = words.iter().filter(|word| always_accesses(**word)).count();
    let seen = run.accesses.iter().filter(|access| access.index < completed);
    let seen = seen.filter(|access| always_accesses(info.words[usize::from(access.index)]));
    sure.saturating_sub(seen.count()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_trace::BlockId;

    #[test]
    fn a_gather_keeps_every_access_and_another_instruction_the_lowest() {
        const GATHER: u32 = 0x8520_4080; // ld1w {z0.s}, p0/z, [x4, z0.s, uxtw #2]
        const LD1W: u32 = 0xa540_a060; // ld1w {z0.s}, p0/z, [x3]
        let mut shared = Shared::default();
        shared.blocks.push(BlockInfo::new(BlockId(0), 0x40_0000, vec![LD1W, GATHER, GATHER]));
        let mut stream = Stream::new(0);
        for (index, addr) in [(0, 20), (0, 16), (1, 96), (1, 32), (2, 8), (2, 4), (2, 0), (2, 12)] {
            stream.access(index, addr, &shared);
        }
        let run = &stream.history[0];
        let addrs = |list: &[Access]| list.iter().map(|access| access.addr).collect::<Vec<u64>>();
        assert_eq!(addrs(&run.accesses), [16, 96, 8]);
        assert_eq!(addrs(&run.further), [32, 4, 0, 12]);
    }
}
