//! The end of blocks of a whole system: whole, at an exception, or because the engine ran an
//! instruction again.

use super::super::block::{BlockInfo, Run};
use super::super::ending::{Ending, is_incomplete};
use super::super::wire::is_interrupt;
use super::pages::{Pages, Space};
use sim_isa::{ContextRegister, is_zero_line, register_access};
use sim_trace::StreamEvent;
use std::collections::BTreeSet;

/// Bytes of a vector table.
const VECTORS_BYTES: u64 = 0x800;
/// Bytes of one entry.
const VECTOR_BYTES: u64 = 0x80;

/// The known state of a processor beyond its blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Processor {
    /// An exception that the engine reported; it arrives with the next block.
    pub(crate) arrival: Option<Arrival>,
    /// Writes of registers by the running block: index of the instruction, value.
    pub(crate) operands: Vec<(u16, u64)>,
    /// The present address space.
    pub(crate) space: Space,
}

/// The known state that all processors of a recorded system share.
#[derive(Clone, Debug, Default)]
pub(crate) struct SystemStream {
    /// Pages of all address spaces.
    pub(crate) pages: Pages,
    /// The known vector tables, for engines that report no exceptions.
    tables: BTreeSet<u64>,
    /// Counts for the summary.
    pub(crate) tally: SystemTally,
}

/// Counts of a recorded system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SystemTally {
    /// Exceptions of instructions: calls, faults, traps.
    pub(crate) synchronous: u64,
    /// Interrupts, and errors of the system.
    pub(crate) interrupts: u64,
    /// Instructions in the kernel's half of the addresses.
    pub(crate) kernel_instructions: u64,
    /// Writes of `TTBR0_EL1` and `TTBR1_EL1`.
    pub(crate) table_writes: u64,
    /// Writes of `CONTEXTIDR_EL1`.
    pub(crate) context_writes: u64,
}

/// An exception that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// Offset in the vector table.
    pub(crate) vector: u32,
    /// `ESR_EL1`, if the engine gave it.
    pub(crate) syndrome: u64,
    /// `ELR_EL1`, if the engine gave it.
    pub(crate) link: Option<u64>,
}

impl Arrival {
    fn is_interrupt(self) -> bool {
        is_interrupt(self.vector)
    }

    /// Returns whether the exception came with an instruction that did not complete: not with a
    /// call, a fetch that failed, or an interrupt.
    fn ends_an_instruction(self) -> bool {
        let class = self.syndrome >> 26 & 0x3f;
        !self.is_interrupt() && !matches!(class, 0x15..=0x17 | 0x20..=0x22 | 0x32 | 0x33)
    }
}

impl Processor {
    /// Discards reports on code before the recording.
    pub(crate) fn forget(&mut self) {
        self.arrival = None;
        self.operands.clear();
    }
}

impl SystemStream {
    /// Handles the value that instruction `index`, `word`, of the running block of `processor`
    /// uses.
    pub(crate) fn operand(&mut self, processor: &mut Processor, index: u16, word: u32, value: u64) {
        let register = ContextRegister::written_by(word);
        if register == Some(ContextRegister::TableBase0) {
            processor.space.enter(value);
        }
        if register.is_some() {
            processor.operands.push((index, value));
        } else if is_zero_line(word) {
            self.pages.note_zeroed(processor.space, value);
        }
    }

    /// Returns the end of `run`, which began `started` of its instructions if the engine reported
    /// it. `next` is the address of the next block, or `None` at the end of the recording.
    pub(crate) fn judge(
        &mut self,
        processor: &mut Processor,
        info: &BlockInfo,
        run: &Run,
        started: Option<u32>,
        next: Option<u64>,
    ) -> Ending {
        let begun = started.map_or(info.len(), |n| (n as usize).min(info.len()));
        let last = begun.saturating_sub(1);
        let message = processor.arrival.take();
        let Some(next) = next else { return Ending { executed: begun, signal: None } };
        let Some(arrival) = message.or_else(|| self.infer(info, next)) else {
            // The engine runs an instruction by itself: again, or (of a device) only with its
            // access.
            let is_again = begun < info.len() && next == info.pc_of(last);
            return Ending { executed: if is_again { last } else { begun }, signal: None };
        };
        let at_last = match arrival.link {
            Some(link) => link == info.pc_of(last),
            None => is_incomplete(info, run, last),
        };
        let abandoned = begun > 0 && at_last && arrival.ends_an_instruction();
        // An interrupt that returns to the last instruction came before it.
        let is_before = at_last && arrival.is_interrupt() && !info.allows(info.pc_of(last));
        if arrival.is_interrupt() {
            self.tally.interrupts += 1;
        } else {
            self.tally.synchronous += 1;
        }
        let signal = Some(StreamEvent::Exception {
            vector: arrival.vector,
            abandoned,
            // The machine has no level above it.
            level: 1,
            syndrome: if arrival.is_interrupt() { 0 } else { arrival.syndrome },
            state: 0,
        });
        Ending { executed: if is_before { last } else { begun }, signal }
    }

    /// Infers an exception for engines that give no registers: from a block at a vector's place
    /// that the previous block does not lead to. Such an entry stays known.
    fn infer(&mut self, info: &BlockInfo, next: u64) -> Option<Arrival> {
        let (table, vector) = (next & !(VECTORS_BYTES - 1), next & (VECTORS_BYTES - 1));
        let is_place = next >> 63 == 1 && vector.is_multiple_of(VECTOR_BYTES) && vector >= 0x200;
        if is_place && !info.allows(next) {
            self.tables.insert(table);
        }
        let is_entry = is_place && self.tables.contains(&table);
        is_entry.then_some(Arrival { vector: vector as u32, syndrome: 0, link: None })
    }

    /// Counts the effects of `run`. Returns the register write that it ended with.
    pub(crate) fn register_writes(
        &mut self,
        processor: &mut Processor,
        info: &BlockInfo,
        run: &Run,
    ) -> Option<StreamEvent> {
        let executed = run.executed;
        if info.pc_of(0) >> 63 == 1 {
            self.tally.kernel_instructions += u64::from(executed);
        }
        let mut written = None;
        for (index, value) in processor.operands.drain(..).filter(|(index, _)| *index < executed) {
            let word = info.word(index.into());
            match ContextRegister::written_by(word) {
                Some(ContextRegister::ContextId) => self.tally.context_writes += 1,
                _ => self.tally.table_writes += 1,
            }
            if index + 1 == executed {
                written = register_access(word, value).map(|access| StreamEvent::Register {
                    encoding: access.encoding,
                    value: access.value,
                    is_write: access.is_write,
                });
            }
        }
        written
    }
}

/// Returns whether a word writes `CONTEXTIDR_EL1`, whose value no instruction uses as an address.
pub(crate) fn is_context_only(word: u32) -> bool {
    ContextRegister::written_by(word) == Some(ContextRegister::ContextId)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_trace::BlockId;

    const PC: u64 = 0xffff_8000_0800_0000;
    const VECTORS: u64 = 0xffff_8000_0801_0800;
    const ADD: u32 = 0x9100_0421;
    const LDR: u32 = 0xf940_0041;
    const SVC: u32 = 0xd400_0001;
    const RET: u32 = 0xd65f_03c0;
    const MSR_TTBR1: u32 = 0xd518_2023; // msr ttbr1_el1, x3

    /// Returns the number of instructions that ran and, if an event followed, whether the last was
    /// abandoned.
    fn judged(
        (system, processor): &mut (SystemStream, Processor),
        words: &[u32],
        started: Option<u32>,
        next: u64,
    ) -> (usize, Option<bool>) {
        let info = BlockInfo::new(BlockId(0), PC, words.to_vec());
        let ending = system.judge(processor, &info, &Run::default(), started, Some(next));
        (ending.executed, ending.signal.map(|signal| signal.abandons()))
    }

    fn message(vector: u32, class: u64, link: u64) -> (SystemStream, Processor) {
        let arrival = Arrival { vector, syndrome: class << 26, link: Some(link) };
        (SystemStream::default(), Processor { arrival: Some(arrival), ..Processor::default() })
    }

    #[test]
    fn a_fault_abandons_the_instruction_that_it_returns_to() {
        let fault = &mut message(0x200, 0x25, PC + 4);
        assert_eq!(judged(fault, &[ADD, LDR, ADD], Some(2), VECTORS + 0x200), (2, Some(true)));
        assert_eq!((fault.0.tally.synchronous, fault.0.tally.interrupts), (1, 0));
    }

    #[test]
    fn a_call_a_failed_fetch_and_an_interrupt_abandon_nothing() {
        let call = &mut message(0x400, 0x15, PC + 8);
        assert_eq!(judged(call, &[ADD, SVC], None, VECTORS + 0x400), (2, Some(false)));
        let fetch = &mut message(0x200, 0x21, PC + 0x1000);
        assert_eq!(judged(fetch, &[ADD, RET], None, VECTORS + 0x200), (2, Some(false)));
        // Whatever the last syndrome was.
        let interrupt = &mut message(0x280, 0x25, PC + 8);
        assert_eq!(judged(interrupt, &[ADD, LDR], None, VECTORS + 0x280), (2, Some(false)));
        assert_eq!(interrupt.0.tally.interrupts, 1);
    }

    #[test]
    fn an_instruction_of_a_device_runs_once() {
        let system = &mut Default::default();
        // The engine left the block to run the load alone, and continued after it; or ran it again
        // in the next block.
        assert_eq!(judged(system, &[ADD, LDR, ADD], Some(2), PC + 8), (2, None));
        assert_eq!(judged(system, &[ADD, LDR, ADD], Some(2), PC + 4), (1, None));
        assert_eq!(judged(system, &[ADD, LDR, ADD], None, PC + 12), (3, None));
    }

    #[test]
    fn without_registers_an_entry_is_known_once_nothing_else_explains_it() {
        let system = &mut Default::default();
        // A return may go anywhere, so the first entry looks like one.
        assert_eq!(judged(system, &[ADD, RET], None, VECTORS + 0x280), (2, None));
        assert_eq!(judged(system, &[ADD, SVC], None, VECTORS + 0x400), (2, Some(false)));
        assert_eq!(judged(system, &[ADD, RET], None, VECTORS + 0x280), (2, Some(false)));
        // A load that shows no access is the one that faulted.
        assert_eq!(judged(system, &[ADD, LDR], None, VECTORS + 0x200), (2, Some(true)));
        assert_eq!(
            judged(system, &[ADD, RET], None, 0x400),
            (2, None),
            "the lower half has no vectors"
        );
    }

    #[test]
    fn the_last_instruction_of_a_block_may_write_a_register() {
        let (mut system, mut processor) = (SystemStream::default(), Processor::default());
        let words = [ADD, MSR_TTBR1];
        system.operand(&mut processor, 1, words[1], 0x42);
        system.operand(&mut processor, 0, ADD, 7);
        let info = BlockInfo::new(BlockId(0), PC, words.to_vec());
        let run = Run::of(2);
        let written = system.register_writes(&mut processor, &info, &run);
        let encoding = 0xc101;
        assert_eq!(written, Some(StreamEvent::Register { encoding, value: 0x42, is_write: true }));
        assert_eq!((system.tally.table_writes, system.tally.kernel_instructions), (1, 2));
        let again = system.register_writes(&mut processor, &info, &run);
        assert_eq!(again, None, "each write is reported once");
    }
}
