//! Write-back: groups leave in order. A load that misses, a store without room in the store buffer
//! and a barrier hold their group there, and with it all younger ones.

use super::Core;
use crate::event::{A53Event, A53Sink};
use crate::memory::{ClusterMemory, DataAccess};
use crate::seen::Seen;
use crate::slots::LostTo;
use crate::timing::{Timing, Unit, Work};
use sim_core::{InstFlags, TraceInst};

/// Cycles from issue to write-back: two execution stages.
pub(super) const STAGES: u64 = 2;
/// Cycles from the issue of a mispredicted branch to the first fetch of the correct path: the
/// branch resolves in write-back.
pub(super) const RESTART: u64 = STAGES + 1;
/// Cycles from the issue of an access to the lookup of the L1 data cache.
pub(super) const LOOKUP: u64 = 1;
/// Groups between issue and the end of write-back.
const GROUPS: usize = 3;

/// Cycles in which write-back is held.
#[derive(Clone, Copy, Debug)]
struct Stall {
    begin: u64,
    end: u64,
    cause: LostTo,
}

/// Number of remembered stalls: no more groups than these are in flight.
const STALLS: usize = 2 * GROUPS;

/// The stages from issue to write-back.
#[derive(Clone, Debug)]
pub(super) struct WriteBack {
    /// Cycles in which the last groups leave write-back, the newest first.
    leaves: [u64; GROUPS],
    /// The last stalls, the newest first.
    stalls: [Stall; STALLS],
}

impl Default for WriteBack {
    fn default() -> WriteBack {
        let none = Stall { begin: 0, end: 0, cause: LostTo::LoadMiss };
        WriteBack { leaves: [0; GROUPS], stalls: [none; STALLS] }
    }
}

impl WriteBack {
    /// Returns the earliest cycle in which the next group issues: the third group before it has
    /// left write-back by then.
    #[inline]
    pub(super) fn room_for_next(&self) -> u64 {
        self.leaves[GROUPS - 1]
    }

    /// Adds a group that issues in `cycle`.
    #[inline]
    pub(super) fn begin(&mut self, cycle: u64) {
        let leaves = (cycle + STAGES + 1).max(self.leaves[0] + 1);
        self.leaves = [leaves, self.leaves[0], self.leaves[1]];
    }

    /// Holds the newest group in write-back until `until`.
    fn hold<S: A53Sink>(&mut self, until: u64, cause: LostTo, sink: &mut S) {
        let begin = self.leaves[0];
        if until <= begin {
            return;
        }
        let event = match cause {
            LostTo::Store => A53Event::ST_DEP_STALL,
            _ => A53Event::LD_DEP_STALL,
        };
        sink.raise(event, begin, until - begin);
        self.leaves[0] = until;
        self.stalls.rotate_right(1);
        self.stalls[0] = Stall { begin, end: until, cause };
    }

    /// Returns the cycle in which the newest group, which issued in the cycle `issue`, is in
    /// write-back: the groups before it have left.
    pub(super) fn begins(&self, issue: u64) -> u64 {
        (issue + STAGES).max(self.leaves[1])
    }

    /// Returns the cycle after the last group has left.
    pub(super) fn end(&self) -> u64 {
        self.leaves[0]
    }

    /// Returns whether there may be a stall in this cycle or a later one.
    #[inline]
    pub(super) fn may_stall_from(&self, cycle: u64) -> bool {
        cycle < self.stalls[0].end
    }

    /// Returns the cause and the end of the stall in this cycle.
    #[inline]
    pub(super) fn stall_at(&self, cycle: u64) -> Option<(LostTo, u64)> {
        if !self.may_stall_from(cycle) {
            return None;
        }
        let is_in = |stall: &&Stall| stall.begin <= cycle && cycle < stall.end;
        self.stalls.iter().find(is_in).map(|stall| (stall.cause, stall.end))
    }

    /// Returns the first cycle of the next stall after `cycle`; `u64::MAX` if there is none.
    #[inline]
    pub(super) fn next_stall(&self, cycle: u64) -> u64 {
        if cycle >= self.stalls[0].begin {
            return u64::MAX;
        }
        let later = self.stalls.iter().map(|stall| stall.begin).filter(|begin| *begin > cycle);
        later.min().unwrap_or(u64::MAX)
    }

    /// Returns the cause of the latest stall.
    pub(super) fn last_cause(&self) -> LostTo {
        self.stalls[0].cause
    }
}

impl Core {
    /// Performs the access or the other work of an instruction that issued in `cycle`. Returns the
    /// additional latency of its results.
    pub(super) fn perform<S: A53Sink>(
        &mut self,
        inst: &TraceInst,
        more: &[u64],
        timing: &Timing,
        cycle: u64,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) -> u64 {
        let core = self.number;
        let now = cycle + LOOKUP;
        let addr = inst.flags.has(InstFlags::HAS_ADDR).then_some(inst.addr);
        match (timing.work, addr) {
            (Work::Load, Some(_)) => return self.load(inst, more, timing, cycle, memory, sink),
            (Work::Atomic, Some(_)) => {
                let delay = self.load(inst, &[], timing, cycle, memory, sink);
                self.store(inst, &[], timing, memory, sink);
                return delay;
            }
            (Work::Store, Some(_)) => self.store(inst, more, timing, memory, sink),
            (Work::LoadExclusive | Work::StoreExclusive | Work::ClearExclusive, _) => {
                return self.exclusive(inst, timing, cycle, memory, sink);
            }
            (Work::Prefetch { for_write }, Some(addr)) => {
                memory.prefetch(core, addr, for_write, now, sink);
            }
            (Work::ZeroLine, Some(addr)) => {
                let at = self.write_back.end() - 1;
                let accepted = memory.zero_line(core, addr, at, sink).accepted;
                self.hold_store(at, accepted, sink);
            }
            (Work::Maintain { what, operand }, _) => {
                if let Some(operand) = addr.or(operand) {
                    let done = memory.maintain(core, what, operand, now, sink);
                    self.write_back.hold(done, LostTo::Store, sink);
                }
            }
            (Work::Barrier, _) => {
                let done = memory.drain(core, cycle + STAGES, sink);
                self.write_back.hold(done + 1, LostTo::Store, sink);
            }
            // The others do no work here; an access without an address did not happen.
            _ => {}
        }
        0
    }

    /// Performs a load-exclusive, a store-exclusive or `CLREX`. A store-exclusive that fails opens
    /// the monitor and accesses no memory.
    fn exclusive<S: A53Sink>(
        &mut self,
        inst: &TraceInst,
        timing: &Timing,
        cycle: u64,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) -> u64 {
        let performs =
            inst.flags.has(InstFlags::HAS_ADDR) && !inst.flags.has(InstFlags::EXCLUSIVE_FAILED);
        match timing.work {
            Work::LoadExclusive if performs => {
                let delay = self.load(inst, &[], timing, cycle, memory, sink);
                memory.mark_exclusive(self.number, inst.addr);
                return delay;
            }
            Work::StoreExclusive if performs => {
                let at = self.write_back.end() - 1;
                let store = access(timing, inst.addr);
                let reply = memory.store_exclusive(self.number, store, at, sink);
                self.hold_store(at, reply.accepted, sink);
                self.write_back.hold(reply.known + 1, LostTo::Store, sink);
                // The caches answer at once, with the latency of the instruction.
                let waits = reply.known > reply.accepted;
                return if waits { reply.known - (cycle + LOOKUP) } else { 0 };
            }
            Work::LoadExclusive => {}
            _ => {
                if inst.flags.has(InstFlags::EXCLUSIVE_FAILED) {
                    sink.see(Seen::FailedExclusive);
                }
                memory.clear_exclusive(self.number);
            }
        }
        0
    }

    fn load<S: A53Sink>(
        &mut self,
        inst: &TraceInst,
        more: &[u64],
        timing: &Timing,
        cycle: u64,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) -> u64 {
        if let Some(last) = self.accessed.get_mut(inst.id as usize) {
            last.add(inst.addr);
        }
        let now = cycle + LOOKUP;
        let first = memory.load(self.number, access(timing, inst.addr), now, sink);
        let (mut ready, mut missed) = (first.ready, first.missed);
        for addr in more {
            let reply = memory.load(self.number, access(timing, *addr), now, sink);
            ready = ready.max(reply.ready);
            missed |= reply.missed;
        }
        if missed {
            sink.see(Seen::LoadMissed);
        }
        let delay = ready - now;
        self.write_back.hold(cycle + STAGES + 1 + delay, LostTo::LoadMiss, sink);
        let align = u64::from(timing.align.max(1));
        if inst.addr & (align - 1) != 0 {
            // An unaligned load takes the address unit twice (IB).
            self.units[Unit::Address as usize] = cycle + 2;
            return delay + self.unaligned_load;
        }
        delay
    }

    fn store<S: A53Sink>(
        &mut self,
        inst: &TraceInst,
        more: &[u64],
        timing: &Timing,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) {
        for addr in std::iter::once(inst.addr).chain(more.iter().copied()) {
            // The store buffer takes a store in the last cycle of its write-back.
            let at = self.write_back.end() - 1;
            let accepted = memory.store(self.number, access(timing, addr), at, sink).accepted;
            self.hold_store(at, accepted, sink);
        }
    }

    /// Holds a store, offered in the cycle `at`, until the store buffer accepts it.
    fn hold_store<S: A53Sink>(&mut self, at: u64, accepted: u64, sink: &mut S) {
        if accepted > at {
            sink.raise(A53Event::STALL_SB_FULL, at, accepted - at);
            self.write_back.hold(accepted + 1, LostTo::Store, sink);
        }
    }
}

pub(super) fn access(timing: &Timing, addr: u64) -> DataAccess {
    DataAccess {
        addr,
        bytes: timing.bytes.into(),
        non_temporal: timing.is_non_temporal,
        exclusive: timing.is_exclusive,
    }
}
