//! Snoops on their way to the cores. The home node decides at once. A core answers before its next
//! memory access and counts its own events.

use crate::units::request::SnoopRequest;

/// One queue for each core.
#[derive(Clone, Debug)]
pub(crate) struct SnoopQueues {
    /// Bit `core % 64` is set if a snoop may wait for that core.
    flags: u64,
    queues: Box<[Vec<SnoopRequest>]>,
    /// Cores that never read their queue again.
    closed: Box<[bool]>,
}

impl SnoopQueues {
    /// Creates empty queues.
    pub(crate) fn new(cores: usize) -> SnoopQueues {
        SnoopQueues {
            flags: 0,
            queues: vec![Vec::new(); cores].into(),
            closed: vec![false; cores].into(),
        }
    }

    /// Returns `false` if no snoop waits for a core. Every access of a core makes this check.
    #[inline(always)]
    pub(crate) fn may_have(&self, core: usize) -> bool {
        self.flags & 1 << (core % 64) != 0
    }

    /// Queues a snoop for a core. Returns `false` if the core never reads its queue again.
    pub(crate) fn send(&mut self, core: usize, request: SnoopRequest) -> bool {
        if self.closed[core] {
            return false;
        }
        self.flags |= 1 << (core % 64);
        self.queues[core].push(request);
        true
    }

    /// Moves the snoops of a core to the queue of another object.
    pub(crate) fn move_to(&mut self, core: usize, to: &mut SnoopQueues) {
        for request in self.take(core) {
            to.send(core, request);
        }
    }

    /// Returns the snoops that wait for a core.
    pub(crate) fn of(&self, core: usize) -> &[SnoopRequest] {
        &self.queues[core]
    }

    /// Refuses all later snoops of a core. Returns those that wait.
    pub(crate) fn close(&mut self, core: usize) -> Vec<SnoopRequest> {
        self.closed[core] = true;
        self.take(core)
    }

    /// Returns the number of snoops that wait for all cores, and of those whose answer takes a line
    /// to another core.
    pub(crate) fn waiting(&self) -> (usize, usize) {
        let all = || self.queues.iter().flatten();
        (all().count(), all().filter(|request| request.requester.is_some()).count())
    }

    /// Returns the snoops that wait for a core, the oldest first.
    pub(crate) fn waiting_for(&self, core: usize) -> &[SnoopRequest] {
        &self.queues[core]
    }

    /// Empties a queue. The caller returns the list with [`SnoopQueues::put_back`].
    pub(crate) fn take(&mut self, core: usize) -> Vec<SnoopRequest> {
        let taken = std::mem::take(&mut self.queues[core]);
        let same_flag = self.queues.iter().skip(core % 64).step_by(64);
        if same_flag.map(Vec::len).sum::<usize>() == 0 {
            self.flags &= !(1 << (core % 64));
        }
        taken
    }

    /// Returns the list for reuse of its memory.
    pub(crate) fn put_back(&mut self, core: usize, mut list: Vec<SnoopRequest>) {
        list.clear();
        if self.queues[core].is_empty() {
            self.queues[core] = list;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::{LineAddr, Snoop};

    #[test]
    fn a_queue_is_emptied_once_and_cores_that_share_a_flag_keep_theirs() {
        let mut snoops = SnoopQueues::new(66);
        let request = SnoopRequest::new(Snoop::Shared, LineAddr(1), 0);
        snoops.send(1, request);
        snoops.send(65, request);
        assert!(snoops.may_have(1) && snoops.may_have(65) && !snoops.may_have(0));
        assert_eq!(snoops.take(1), [request]);
        assert!(snoops.may_have(65), "core 65 has a snoop");
        assert_eq!(snoops.take(65), [request]);
        assert!(!snoops.may_have(1) && !snoops.may_have(65));
    }

    #[test]
    fn a_closed_queue_accepts_nothing() {
        let mut snoops = SnoopQueues::new(2);
        let request = SnoopRequest::new(Snoop::Shared, LineAddr(1), 0);
        snoops.send(1, request);
        snoops.close(1);
        snoops.send(1, request);
        assert!(!snoops.may_have(1));
        assert_eq!(snoops.take(1), []);
    }
}
