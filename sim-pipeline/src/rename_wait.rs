//! What rename waits for when a structure is full: asks the entry that is freed next, and keeps the answer for the
//! slots that are lost meanwhile ([`crate::critical_path`], [`crate::wait_timeline`]).

use crate::issue_queue::IssueWait;
use crate::op::Op;
use crate::pipeline::Pipeline;
use crate::stamp::Stamp;
use crate::wait_timeline::Segment;
use crate::window::Blocked;
use sim_core::time::NEVER;
use sim_core::{Cycle, EventSink, MemoryPort, PmuEvent, RootCause, StallCause};

impl Pipeline {
    /// Finds what the operation that leaves rename in `slot`, or is squashed before, waited for since `from`,
    /// where no older one has waited in the same cycles.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_wait(&mut self, from: Cycle, squash: Cycle, slot: Blocked) {
        let from = from.max(self.window.cycle());
        let end = slot.until.min(squash.saturating_add(1));
        if end <= from {
            return;
        }
        let waits = &mut self.waits;
        match slot.by {
            StallCause::DispatchWidth => {
                waits.push(Segment { end, root: RootCause::Dispatch, owner: None });
            }
            _ if slot.awaited.is_floor() => {
                let (root, owner) = self.window.held_for(end);
                waits.push(Segment { end, root, owner });
            }
            StallCause::StoreQueue => {
                self.path.trace_store(self.window.oldest_store(), (from, end), waits);
            }
            StallCause::IssueQueueInt | StallCause::IssueQueueMem | StallCause::IssueQueueVec => {
                let IssueWait { input, for_pipe } = slot.awaited.of_issue();
                self.path.trace_issue(input, for_pipe, (from, end), waits);
            }
            _ => self.path.trace(slot.awaited.of_retirement(), from, end, waits),
        }
    }

    /// `cycle`, in which entries that are held until retirement are free, and who decides it: on a wrong
    /// path the operation itself.
    #[inline(always)]
    pub(crate) fn free_at(&self, op: &Op<'_>, cycle: Cycle) -> Stamp {
        if op.squash == NEVER {
            self.retire.stamp(cycle)
        } else {
            Stamp::new(cycle, self.path.now())
        }
    }
}

/// Of the cycles that the back end lost, those in which a miss was on its way outside the core.
#[inline(never)]
pub(crate) fn raise_memory_stall<M: MemoryPort, S: EventSink>(
    (from, to): (Cycle, Cycle),
    memory: &M,
    sink: &mut S,
) {
    sink.count(PmuEvent::STALL_BACKEND_MEM, memory.l2_miss_pending(from, to));
}
