//! Wrong path: instructions that issue after a mispredicted branch before it resolves.
//!
//! A branch resolves in write-back, two cycles after its issue. Instructions of its own cycle and
//! of the next one have looked up the data cache by then, and their linefills continue. Later ones
//! have not. Nothing of the wrong path retires, and a store that does not retire never reaches the
//! store buffer. Assumed: the events of accesses and branches count them, as their names say that
//! they are speculative or count accesses.

use super::write_back::{LOOKUP, access};
use super::{Core, Written};
use crate::code::{Code, WRONG_PATH};
use crate::event::A53Sink;
use crate::memory::ClusterMemory;
use crate::seen::Seen;
use crate::slots::SLOTS;
use crate::timing::{Timing, Work};
use sim_isa::BranchKind;
use sim_isa::inst::MAX_DSTS;

/// Path after a mispredicted branch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrongPath {
    /// Address of its first instruction.
    pub(super) pc: u64,
    /// Earliest issue of that instruction.
    pub(super) arrival: u64,
}

/// Largest distance of an access from the last one of the same instruction that counts as a stride.
const STRIDE_MAX: u64 = 4096;

/// The two last addresses of a static instruction, the newest last; 0 for none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Accessed([u64; 2]);

impl Accessed {
    /// Adds an address.
    #[inline(always)]
    pub(super) fn add(&mut self, addr: u64) {
        self.0 = [self.0[1], addr];
    }

    /// Returns the address that follows: a stride further if there is one. A trace does not say
    /// where a wrong path accesses memory.
    fn next(self) -> Option<u64> {
        let [before, last] = self.0;
        if last == 0 {
            return None;
        }
        let stride = if before == 0 { 0 } else { last.wrapping_sub(before) as i64 };
        let stride = if stride.unsigned_abs() <= STRIDE_MAX { stride } else { 0 };
        Some(last.wrapping_add_signed(stride))
    }
}

impl Core {
    /// Executes what issues of a wrong path, after the branch that issued last.
    #[inline(never)]
    pub(crate) fn execute_wrong_path<S: A53Sink>(
        &mut self,
        path: WrongPath,
        code: &Code,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) {
        let mut group = self.group;
        let last = group.cycle + 1;
        let (mut pc, mut undo) = (path.pc, Undo::default());
        sink.see(Seen::WrongPath(true));
        for number in 0..WRONG_PATH {
            let Some((id, timing)) = code.at(pc) else { break };
            let arrival = path.arrival + number as u64 / self.front_end.width();
            let wanted = arrival.max(self.operands(timing).0);
            let is_second = group.insts < SLOTS
                && wanted <= group.cycle
                && timing.needs.has_none_of(group.excludes);
            if is_second {
                group.insts = SLOTS;
            } else {
                group.cycle = wanted.max(group.next).max(self.write_back.room_for_next());
                group.insts = 1;
                group.excludes = timing.excludes.with(self.never_pairs);
                group.next = group.cycle + 1 + u64::from(timing.more_cycles);
            }
            if group.cycle > last {
                break;
            }
            if timing.branch != BranchKind::None {
                self.count_prediction(timing.branch, group.cycle, sink);
                break;
            }
            let delay = self.access_on_wrong_path(id, timing, group.cycle, memory, sink);
            undo.keep(self, timing);
            self.write_results(timing, group.cycle, delay);
            pc = pc.wrapping_add(4);
        }
        undo.restore(self);
        sink.see(Seen::WrongPath(false));
    }

    /// Performs the load of a wrong path. Returns the time of its miss.
    fn access_on_wrong_path<S: A53Sink>(
        &mut self,
        id: u32,
        timing: &Timing,
        cycle: u64,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) -> u64 {
        let addr = self.accessed.get(id as usize).and_then(|last| last.next());
        let (Some(addr), Work::Load) = (addr, timing.work) else { return 0 };
        if memory.is_device(addr) {
            return 0;
        }
        let now = cycle + LOOKUP;
        memory.load(self.number, access(timing, addr), now, sink).ready - now
    }
}

/// Writes of registers that a wrong path replaced.
struct Undo {
    kept: [(u8, Written); WRONG_PATH * MAX_DSTS],
    number: usize,
}

impl Default for Undo {
    fn default() -> Undo {
        Undo { kept: [(0, Written::NONE); WRONG_PATH * MAX_DSTS], number: 0 }
    }
}

impl Undo {
    /// Keeps the registers that an instruction writes.
    fn keep(&mut self, core: &Core, timing: &Timing) {
        for (reg, _) in &timing.dsts[..usize::from(timing.n_dsts)] {
            self.kept[self.number] = (*reg, core.results[usize::from(*reg)]);
            self.number += 1;
        }
    }

    /// Restores them, the last one first.
    fn restore(&self, core: &mut Core) {
        for (reg, written) in self.kept[..self.number].iter().rev() {
            core.results[usize::from(*reg)] = *written;
        }
    }
}
